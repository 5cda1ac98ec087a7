import fc from "fast-check";
import { KnownValues } from "../../../src/client/http/knownValues";
import { messages } from "../../support/messages";

const SHOWN = "[secret]";

function hidden(value: string | readonly string[], text: string): string {
  const known = new KnownValues();
  for (const one of [value].flat()) known.add(one);
  return known.hide(text);
}

type Encoder = (value: string) => string;

const units = (value: string): string[] => value.split("");
const fourDigits = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, "0");
const inJson: Encoder = (value) => JSON.stringify(value).slice(1, -1);
const bytesOf = (value: string): string[] => Buffer.from(value).toString("hex").match(/../g) ?? [];
const entities = (value: string, entity: (character: string) => string): string =>
  value.replace(/[^\w\s]/gu, (character) => entity(character));
const codeOf = (character: string): number => character.codePointAt(0) ?? 0;
const NAMES: Record<string, string> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
  "/": "sol",
  ä: "auml",
  ü: "uuml",
};
const inLines = (text: string): string => text.replace(/.{76}(?=.)/g, "$&\r\n");

/** That of the value alone, so that nothing else is hidden. */
const ENCODERS: Record<string, Encoder> = {
  "as it is": (value) => value,
  "in JSON": inJson,
  "in JSON of Go": (value) => inJson(value).replace(/[<>&]/g, (unit) => `\\u${fourDigits(unit)}`),
  "in JSON with \\/": (value) => inJson(value).replaceAll("/", "\\/"),
  "in JSON of ASCII": (value) => inJson(value).replace(/[^\0-\x7f]/g, (unit) => `\\u${fourDigits(unit)}`),
  "in \\uXXXX": (value) =>
    units(value)
      .map((unit) => `\\u${fourDigits(unit)}`)
      .join(""),
  "in \\uXXXX of capitals": (value) =>
    units(value)
      .map((unit) => `\\u${fourDigits(unit).toUpperCase()}`)
      .join(""),
  "in bytes of Python": (value) =>
    bytesOf(value)
      .map((byte) => `\\x${byte}`)
      .join(""),
  "in an address": encodeURIComponent,
  "in an address of small letters": (value) =>
    encodeURIComponent(value).replace(/%../g, (escape) => escape.toLowerCase()),
  "in an address twice": (value) => encodeURIComponent(encodeURIComponent(value)),
  "in an address of escapes": (value) =>
    bytesOf(value)
      .map((byte) => `%${byte}`)
      .join(""),
  "in a form": (value) => new URLSearchParams([["", value]]).toString().slice(1),
  "in HTML by name": (value) => entities(value, (char) => (NAMES[char] === undefined ? char : `&${NAMES[char]};`)),
  "in HTML by number": (value) => entities(value, (char) => `&#${codeOf(char)};`),
  "in HTML by hex": (value) => entities(value, (char) => `&#x${codeOf(char).toString(16)};`),
  "in HTML by hex of capitals": (value) => entities(value, (char) => `&#X${codeOf(char).toString(16).toUpperCase()};`),
  "in HTML twice": (value) => value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("&", "&amp;"),
  "in SQL": (value) => value.replaceAll("'", "''"),
  "in CSV": (value) => value.replaceAll('"', '""'),
  "in base64": (value) => Buffer.from(value).toString("base64"),
  "in base64 for addresses": (value) => Buffer.from(value).toString("base64url"),
  "in base64 of mail": (value) => inLines(Buffer.from(value).toString("base64")),
  "in hex": (value) => bytesOf(value).join(""),
  "in hex of capitals": (value) => bytesOf(value).join("").toUpperCase(),
  "in hex with colons": (value) => bytesOf(value).join(":"),
  "in one line": (value) => value.replace(/\s+/g, " "),
};

/** Lines of base64, the same in each run. */
const linesOf = (count: number): string =>
  Array.from({ length: count }, (_, line) =>
    Buffer.from(`${Math.sin(line) * 1e16}`.repeat(3))
      .toString("base64")
      .slice(0, 44),
  ).join("\n");
const LONG = linesOf(60);
const SECRETS: Record<string, string> = {
  quotes: `it's "quoted" \\ and 'it''s' too`,
  unicode: "pässwörd-日本-😀ü",
  slashes: "a/b//c\\d<e>&f;%41",
  "line breaks": "the first line\nthe second one\r\nthe third\tone",
  "plus and equals": "ab+cd/ef==&x=1 y%2B",
  short: "k9/Z",
  long: LONG,
};
const CONTEXTS: Record<string, Encoder> = {
  "a sentence": (text) => `cannot log in to smtp.example.com as "mailer" with "${text}", try again`,
  JSON: (text) => JSON.stringify({ code: "refused", detail: { host: "smtp.example.com", password: text } }),
  "JSON in JSON": (text) => JSON.stringify({ message: JSON.stringify({ cause: [text], at: 7 }) }),
};
const cells = Object.keys(ENCODERS).flatMap((encoder) =>
  Object.keys(SECRETS).map((secret) => [encoder, secret] as const),
);

test.each(cells)("%s a secret with %s is hidden, and nothing else", (encoder, name) => {
  const [encode = String, secret = ""] = [ENCODERS[encoder], SECRETS[name]];
  for (const context of Object.values(CONTEXTS)) {
    expect(hidden(secret, context(encode(secret)))).toBe(context(SHOWN));
  }
});

test.each([
  ["AUTH PLAIN", (value: string) => `\0mailer\0${value}`],
  ["AUTH PLAIN for another user", (value: string) => `boss\0mailer\0${value}`],
  ["Basic", (value: string) => `mailer:${value}`],
  ["a body", (value: string) => JSON.stringify({ username: "mailer", password: value })],
])("in base64 as %s has it, what was beside the secret is all that is left", (_, plain) => {
  for (const secret of [...Object.values(SECRETS), "k9"]) {
    for (const form of ["base64", "base64url", "hex"] as const) {
      const encoded = Buffer.from(plain(secret)).toString(form);
      for (const context of Object.values(CONTEXTS)) {
        const [before = "", after = ""] = hidden(secret, context(encoded)).split(SHOWN);
        const [left, right] = context("|").split("|");
        expect(before.slice(0, left?.length) + after.slice(-(right?.length ?? 0))).toBe(context(""));
        // The bits of a neighbour share one digit with its own.
        const kept = before.slice(left?.length) + after.slice(0, -(right?.length ?? 0));
        expect(kept.length).toBeLessThan(encoded.length - secret.length);
        expect(Buffer.from(kept, form).toString()).not.toContain(secret);
      }
    }
  }
});

test("a secret is hidden wherever a path or an assignment stands before its base64", () => {
  const secret = "canary-Secret-1";
  for (const before of ["/v2/", "/x/y/", "token=", "-", "_", "++", "id:"]) {
    const text = `${before}${Buffer.from(`u:${secret}`).toString("base64")}`;
    expect(hidden(secret, text)).toMatch(/^\S{3,12}\[secret\]=*$/);
  }
});

test("a secret is hidden as often as it is there, also in equal encodings", () => {
  const secret = "canary-Secret-1";
  const base64 = Buffer.from(secret).toString("base64");
  expect(hidden(secret, `${base64} and ${base64}, ${secret}${secret}`)).toBe(`${SHOWN} and ${SHOWN}, ${SHOWN}${SHOWN}`);
  expect(hidden("abab", "ababab")).toBe(SHOWN);
});

test("of secrets that overlap, nothing is left", () => {
  expect(hidden(["canary-one", "one-and-two"], "(canary-one-and-two)")).toBe(`(${SHOWN})`);
  expect(hidden(["canary", "canary-longer"], "canary-longer canary")).toBe(`${SHOWN} ${SHOWN}`);
});

test("of a value with blanks around it, the value alone is hidden as well", () => {
  for (const value of [" canary secret\n", "\tcanary secret  ", "canary secret\r\n"]) {
    expect(hidden(value, '"canary secret"')).toBe(`"${SHOWN}"`);
    expect(hidden(value, `"${encodeURIComponent(value)}"`)).toBe(`"${SHOWN}"`);
  }
});

test("a long line of a value is hidden by itself, and a short one is not", () => {
  const value = "the long line\r\n  indented-line\nshort\n";
  expect(hidden(value, "the long line, indented-line, short")).toBe(`${SHOWN}, ${SHOWN}, short`);
});

test("a value that was cut is hidden from half of it on", () => {
  const value = "Canary-0123456789-abcdefghij-klmnopqrst";
  expect(hidden(value, `"${value.slice(0, 20)}…"`)).toBe(`"${SHOWN}…"`);
  expect(hidden(value, `"${value.slice(0, 30)}..."`)).toBe(`"${SHOWN}..."`);
  expect(hidden(LONG, `"${LONG.slice(0, 32)}`)).toBe(`"${SHOWN}`);
  expect(hidden(LONG, JSON.stringify({ key: LONG.slice(0, 500) }))).toBe(JSON.stringify({ key: SHOWN }));
  expect(hidden(LONG, Buffer.from(`u:${LONG}`).toString("base64").slice(0, 400))).toMatch(/^dT?\[secret\]$/);
});

test("a piece from the middle or the end of a value is not recognized, as SECURITY.md says", () => {
  const value = "Canary-0123456789-abcdefghij-klmnopqrst";
  for (const piece of [value.slice(10, 36), value.slice(8)]) expect(hidden(value, piece)).toBe(piece);
});

test("words that a value begins with stay", () => {
  expect(hidden("password1", "the password is wrong")).toBe("the password is wrong");
  expect(hidden("production-secret", "no such stack: production")).toBe("no such stack: production");
  expect(hidden("https://app.example.com/transfer?code=0123456789", "see https://app.example.com/docs")).toBe(
    "see https://app.example.com/docs",
  );
});

test("no message of this package is changed by secrets that are in none", () => {
  const secrets = [
    ...Object.values(SECRETS),
    "on",
    "k9",
    "a1b2c3d4",
    "hunter2",
    "postgres://u:p@db.example.com/app",
    LONG.slice(0, 44),
  ];
  const all = messages();
  expect(all.length).toBeGreaterThan(1_000);
  const known = new KnownValues();
  for (const secret of secrets) known.add(secret);
  const isWord = /(?<![\p{L}\p{N}])on(?![\p{L}\p{N}])/u;
  for (const message of all.filter((one) => !isWord.test(one))) expect(known.hide(message)).toBe(message);
});

test("a text that cannot be searched is not shown, and neither is one that is no message", () => {
  const known = new KnownValues();
  known.add("canary");
  jest.spyOn(String.prototype, "matchAll").mockImplementationOnce(() => {
    throw new Error("canary");
  });
  expect(known.hide("canary")).toBe("[a text that could not be searched for secrets]");
  jest.restoreAllMocks();
  expect(known.hide("canary ".repeat(100_000))).toBe("[a text that could not be searched for secrets]");
});

test.each(["as it is", "in JSON", "in \\uXXXX", "in an address", "in base64", "in hex"])(
  "a secret of 40 kB is hidden %s, also in JSON in JSON",
  (encoder) => {
    const secret = linesOf(900);
    const encode = ENCODERS[encoder] ?? String;
    expect(hidden(secret, inJson(inJson(`"${encode(secret)}"`)))).toBe(inJson(inJson(`"${SHOWN}"`)));
  },
);

test.each([
  ["of one letter", "a".repeat(65_536)],
  ["of escapes", "%2525252525".repeat(6_000)],
  ["of backslashes", "\\".repeat(65_536)],
  ["of words", 'the compute ep-cool-1 of a/path was refused, as it\'s "off" '.repeat(1_100)],
  ["of lines of base64", inLines(Buffer.from(linesOf(500)).toString("base64")).repeat(2)],
  ["of JSON in JSON", JSON.stringify(JSON.stringify(Array(700).fill({ "a+b": '"c" & d', "e%20": "f&amp;g" })))],
])("a text of 64 kB %s is searched for many and long secrets in seconds", (_, text) => {
  const secrets = Array.from({ length: 200 }, (__, index) => Buffer.from(`${Math.sin(index)}`).toString("base64"));
  const long = [linesOf(700), "a".repeat(60_000), "aaaab".repeat(9_000)];
  // Processor time: other processes may be running.
  const began = process.cpuUsage();
  hidden([...secrets, ...long], text);
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1_000).toBeLessThan(5_000);
});

describe("whatever a secret is, and however it is encoded twice,", () => {
  // Nothing here is a part of an encoding.
  const between = (text: string): string => `the password ⟨${text}⟩ is refused`;
  // Shorter ones are words, which base64 and hex do not show.
  const secrets = fc
    .oneof(
      fc.string({ minLength: 6, unit: "grapheme" }),
      fc.string({ minLength: 6, unit: "grapheme-ascii" }),
      fc.base64String({ minLength: 8 }),
    )
    .filter(
      (text) => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim().length >= 6 && !between("").includes(text.trim()),
    );
  const encoders = fc.constantFrom(...Object.keys(ENCODERS).filter((name) => name !== "in one line"));

  test("it is hidden", () => {
    fc.assert(
      fc.property(secrets, encoders, encoders, (secret, first, second) => {
        const [encode = String, again = String] = [ENCODERS[first], ENCODERS[second]];
        expect(hidden(secret, between(again(encode(secret))))).toBe(between(SHOWN));
      }),
      { numRuns: 2_000 },
    );
  });
});
