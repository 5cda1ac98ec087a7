import fc from "fast-check";
import { KnownValues } from "../../../src/client/http/knownValues";
import { messages } from "../../support/messages";

const HIDDEN = "[hidden]";
const NOT_SEARCHED = "[a text that could not be searched for secrets]";

function shown(value: string | readonly string[], text: string): string {
  const known = new KnownValues();
  for (const one of [value].flat()) known.add(one);
  return known.hide(text, HIDDEN);
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

test.each(cells)("a text that repeats, %s, a secret with %s is hidden, and another one is not", (encoder, name) => {
  const [encode = String, secret = ""] = [ENCODERS[encoder], SECRETS[name]];
  const others = Object.values(SECRETS).filter((other) => other !== secret);
  for (const context of Object.values(CONTEXTS)) {
    const text = context(encode(secret));
    expect(shown(secret, text)).toBe(HIDDEN);
    expect(shown(others, text)).toBe(text);
  }
});

test.each([
  ["AUTH PLAIN", (value: string) => `\0mailer\0${value}`],
  ["AUTH PLAIN for another user", (value: string) => `boss\0mailer\0${value}`],
  ["Basic", (value: string) => `mailer:${value}`],
  ["a body", (value: string) => JSON.stringify({ username: "mailer", password: value })],
])("a secret is found in base64 and hex as %s has it", (_, plain) => {
  for (const secret of [...Object.values(SECRETS), "k9"]) {
    for (const form of ["base64", "base64url", "hex"] as const) {
      const encoded = Buffer.from(plain(secret)).toString(form);
      for (const context of Object.values(CONTEXTS)) expect(shown(secret, context(encoded))).toBe(HIDDEN);
    }
  }
});

test("a secret is found wherever a path or an assignment stands before its base64", () => {
  const secret = "canary-Secret-1";
  for (const before of ["/v2/", "/x/y/", "token=", "-", "_", "++", "id:"]) {
    expect(shown(secret, `${before}${Buffer.from(`u:${secret}`).toString("base64")}`)).toBe(HIDDEN);
  }
});

test("bytes that are not UTF-8 are read as Latin-1, and those of UTF-8 are found beside others", () => {
  expect(shown("pässwörd", "user=%FC&password=p%E4ssw%F6rd")).toBe(HIDDEN);
  expect(shown("pässwörd", "\\xff\\xfep\\xc3\\xa4ssw\\xc3\\xb6rd")).toBe(HIDDEN);
  expect(shown("pässwörd", "\\377p\\303\\244ssw\\303\\266rd\\303")).toBe(HIDDEN);
  expect(shown("broken \ufffd password", Buffer.from("u:broken \ufffd password").toString("base64"))).toBe(HIDDEN);
});

test("blanks around a value may be missing", () => {
  for (const value of [" canary secret\n", "\tcanary secret  ", "canary secret\r\n"]) {
    for (const text of ["canary secret", encodeURIComponent(value)]) expect(shown(value, `"${text}"`)).toBe(HIDDEN);
  }
});

test("a long line of a value is found by itself, and a short one is not", () => {
  const value = "the long line\r\n  indented-line\nshort\n";
  for (const text of ["(the long line)", "indented-line,"]) expect(shown(value, text)).toBe(HIDDEN);
  expect(shown(value, "short")).toBe("short");
});

test("a value that was cut is found from half of it on", () => {
  const value = "Canary-0123456789-abcdefghij-klmnopqrst";
  for (const length of [20, 30]) expect(shown(value, `"${value.slice(0, length)}…"`)).toBe(HIDDEN);
  for (const text of [
    `"${LONG.slice(0, 32)}`,
    JSON.stringify({ key: LONG.slice(0, 500) }),
    Buffer.from(`u:${LONG}`).toString("base64").slice(0, 400),
  ])
    expect(shown(LONG, text)).toBe(HIDDEN);
});

test("a piece from the middle or the end of a value is not recognized, as SECURITY.md says", () => {
  const value = "Canary-0123456789-abcdefghij-klmnopqrst";
  for (const piece of [value.slice(10, 36), value.slice(8)]) expect(shown(value, piece)).toBe(piece);
});

test("a short value is found as a word, and not inside words", () => {
  expect(shown(["on", "ü-"], "the connection of xü-y")).toBe("the connection of xü-y");
  for (const text of ['it is "on"', "on=1", "of ü-"]) expect(shown(["on", "ü-"], text)).toBe(HIDDEN);
});

test("words that a value begins with stay", () => {
  expect(shown("password1", "the password is wrong")).toBe("the password is wrong");
  expect(shown("production-secret", "no such stack: production")).toBe("no such stack: production");
  expect(shown("https://app.example.com/transfer?code=0123456789", "see https://app.example.com/docs")).toBe(
    "see https://app.example.com/docs",
  );
});

test("no message of this package is hidden by secrets that are in none", () => {
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
  for (const message of all.filter((one) => !isWord.test(one))) expect(known.hide(message, HIDDEN)).toBe(message);
});

test("a text that cannot be searched is not shown, and neither is one that is no message", () => {
  const known = new KnownValues();
  known.add("canary");
  jest.spyOn(String.prototype, "match").mockImplementationOnce(() => {
    throw new Error("canary");
  });
  expect(known.hide("harmless", HIDDEN)).toBe(NOT_SEARCHED);
  jest.restoreAllMocks();
  expect(known.hide("harmless", HIDDEN)).toBe("harmless");
  expect(known.hide("harmless ".repeat(100_000), HIDDEN)).toBe(NOT_SEARCHED);
});

test.each(["as it is", "in JSON", "in \\uXXXX", "in an address", "in base64", "in hex"])(
  "a secret of 40 kB is found %s, also in JSON in JSON",
  (encoder) => {
    const secret = linesOf(900);
    const encode = ENCODERS[encoder] ?? String;
    expect(shown(secret, inJson(inJson(`"${encode(secret)}"`)))).toBe(HIDDEN);
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
  shown([...secrets, ...long], text);
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1_000).toBeLessThan(5_000);
});

describe("whatever a secret is, and however it is encoded twice,", () => {
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

  test("a text that repeats it is hidden", () => {
    fc.assert(
      fc.property(secrets, encoders, encoders, (secret, first, second) => {
        const [encode = String, again = String] = [ENCODERS[first], ENCODERS[second]];
        expect(shown(secret, between(again(encode(secret))))).toBe(HIDDEN);
      }),
      { numRuns: 2_000 },
    );
  });
});
