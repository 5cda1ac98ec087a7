import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findKey, givenProblem, KEY_FORMS, type KeyForm, keyName, keySource, placeOf } from "../../src/contract/apiKey";
import { UNKNOWN_VALUE } from "../../src/contract/hiddenKeys";

const NAMES = ["SVC_API_KEY", "SVC_API_KEY_FILE", "PROD_KEY", "prod_key", "OTHER"];
const saved = NAMES.map((name) => [name, process.env[name]] as const);
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-key-"));
  NAMES.forEach((name) => delete process.env[name]);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
afterAll(() =>
  saved.forEach(([name, value]) => (value === undefined ? delete process.env[name] : (process.env[name] = value))),
);

type Configured = Partial<Record<KeyForm, string>>;
const from = (configured: Configured) => findKey((form) => configured[form]);
const sourceOf = (configured: Configured) => {
  const source = keySource((form) => configured[form]);
  return source && `${keyName(source)} of ${placeOf(source)}`;
};
const file = (name: string, text: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test("the precedence: what is configured in any form, then SVC_API_KEY, then SVC_API_KEY_FILE", () => {
  expect(sourceOf({})).toBeUndefined();
  expect(from({}).problem).toMatch(
    /^no API key: name the variable .* svc:apiKeyEnv.* set it in the environment as SVC_API_KEY, /,
  );

  process.env["SVC_API_KEY_FILE"] = file("environment", "key-of-the-file-of-the-environment\n");
  expect(from({}).key?.apiKey).toBe("key-of-the-file-of-the-environment");
  expect(sourceOf({})).toBe(`the file ${process.env["SVC_API_KEY_FILE"]} of SVC_API_KEY_FILE`);

  process.env["SVC_API_KEY"] = " \n";
  expect(from({}).key?.apiKey).toBe("key-of-the-file-of-the-environment");
  process.env["SVC_API_KEY"] = "key-of-the-environment";
  expect(from({}).key?.apiKey).toBe("key-of-the-environment");
  expect(sourceOf({})).toBe("SVC_API_KEY of SVC_API_KEY");

  process.env["PROD_KEY"] = "key-of-the-variable";
  expect(from({ apiKeyEnv: "PROD_KEY" }).key?.apiKey).toBe("key-of-the-variable");
  expect(sourceOf({ apiKeyEnv: "PROD_KEY" })).toBe(
    "PROD_KEY of svc:apiKeyEnv (or the apiKeyEnv of an explicit svc.Provider)",
  );
  expect(from({ apiKeyFile: file("configured", "key-of-the-file\r\n") }).key?.apiKey).toBe("key-of-the-file");
  expect(from({ apiKey: "key-itself" }).key?.apiKey).toBe("key-itself");
  expect(from({ apiKey: "key-itself", apiKeyEnv: "  " }).key?.apiKey).toBe("key-itself");
});

test("what is configured and has no value is a problem, also where the environment has a key", () => {
  process.env["SVC_API_KEY"] = "key-of-the-environment";
  expect(from({ apiKeyEnv: "PROD_KEY" })).toEqual({
    problem: "no API key: PROD_KEY is not set; svc:apiKeyEnv (or the apiKeyEnv of an explicit svc.Provider) names it",
  });
  for (const empty of ["", "  \n"]) {
    process.env["PROD_KEY"] = empty;
    expect(from({ apiKeyEnv: "PROD_KEY" }).problem).toMatch(/^no API key: PROD_KEY is empty; /);
  }
  const path = join(folder, "none");
  expect(from({ apiKeyFile: path }).problem).toBe(
    `no API key: the file ${path} does not exist; svc:apiKeyFile (or the apiKeyFile of an explicit svc.Provider) names it`,
  );
  expect(from({ apiKeyFile: folder }).problem).toMatch(/is a folder; svc:apiKeyFile/);
  expect(from({ apiKeyFile: file("long", "k".repeat(70_000)) }).problem).toMatch(/is larger than 64 kB; /);
  expect(from({ apiKeyFile: file("binary", Buffer.from([0xff, 0xfe])) }).problem).toMatch(/is not UTF-8 text; /);
});

test.each(KEY_FORMS)("%s that is configured as a blank text is not replaced by the environment", (form) => {
  process.env["SVC_API_KEY"] = "key-of-the-environment";
  for (const blank of ["", " \n"]) {
    expect(from({ [form]: blank })).toEqual({
      problem: `svc:${form} (or the ${form} of an explicit svc.Provider) is set, but has no value. Set it, or remove it with \`pulumi config rm svc:${form}\``,
    });
    // With another form in the same place, nothing is ambiguous.
    const other = form === "apiKey" ? "apiKeyEnv" : "apiKey";
    process.env["PROD_KEY"] = "PROD_KEY";
    expect(from({ [form]: blank, [other]: "PROD_KEY" }).key?.apiKey).toBe("PROD_KEY");
  }
});

test("what is no text, such as a number of a program without types, is not replaced by the environment", () => {
  process.env["SVC_API_KEY"] = "key-of-the-environment";
  for (const form of ["apiKey", "apiKeyEnv", "apiKeyFile"] as const) {
    for (const odd of [5, 0, false, { canary: 1 }, ["canary"]]) {
      // As the engine passes it on.
      const { key, problem } = findKey((name) => (name === form ? (odd as unknown as string) : undefined));
      expect(key).toBeUndefined();
      expect(problem).toBe(`svc:${form} (or the ${form} of an explicit svc.Provider) must be a string`);
    }
  }
});

test("a problem of the environment's file names its variable", () => {
  process.env["SVC_API_KEY_FILE"] = join(folder, "none");
  expect(from({}).problem).toMatch(/^no API key: the file .* does not exist; SVC_API_KEY_FILE names it$/);
});

test.each<[string, Configured, RegExp]>([
  [
    "the key and a name",
    { apiKey: "canary-key", apiKeyEnv: "PROD_KEY" },
    /^svc:apiKey and svc:apiKeyEnv are set in the same place/,
  ],
  [
    "two names",
    { apiKeyEnv: "PROD_KEY", apiKeyFile: "canary" },
    /^svc:apiKeyEnv and svc:apiKeyFile are set in the same place/,
  ],
  ["all", { apiKey: "canary", apiKeyEnv: "PROD_KEY", apiKeyFile: "canary" }, /^svc:apiKey and svc:apiKeyEnv and svc:/],
])("%s at one place are an error with a message", (_which, configured, words) => {
  process.env["PROD_KEY"] = "canary-value";
  const { key, problem } = from(configured);
  expect(key).toBeUndefined();
  expect(problem).toMatch(words);
  expect(problem).not.toContain("canary");
});

test("a name that is not known yet in a preview is neither a key nor a problem", () => {
  expect(from({ apiKeyEnv: UNKNOWN_VALUE })).toEqual({});
  expect(from({ apiKeyEnv: UNKNOWN_VALUE, apiKey: "key" })).toEqual({});
});

describe("a key that was given in place of a name", () => {
  test.each<Configured>([
    { apiKeyEnv: "canary_k3y" },
    { apiKeyEnv: "canary-k3y/abc" },
    { apiKeyEnv: `canary${"x".repeat(300)}` },
    { apiKeyFile: "canary_k3y" },
    { apiKeyFile: "canary\u0007" },
  ])("is in no message: %j", (configured) => {
    const { key, problem } = from(configured);
    expect(key).toBeUndefined();
    expect(problem).toMatch(/svc:apiKey(Env|File)/);
    expect(problem).not.toContain("canary");
    expect(sourceOf(configured)).not.toContain("canary");
  });

  test("is found where a variable has it", () => {
    process.env["OTHER"] = "CANARY_KEY";
    const { problem } = from({ apiKeyEnv: "CANARY_KEY" });
    expect(problem).toMatch(/^svc:apiKeyEnv \(.*\) must be the name of an environment variable, not its value$/);
    expect(problem).not.toContain("CANARY");
  });
});

test("a key that no header can carry is refused without showing it, wherever it comes from", () => {
  process.env["PROD_KEY"] = "canary ключ";
  const path = file("key", "canary key\nof two lines\n");
  for (const configured of [{ apiKeyEnv: "PROD_KEY" }, { apiKeyFile: path }, { apiKey: "canary key" }]) {
    const { problem } = from(configured);
    expect(problem).toMatch(/contains a space or a character that an HTTP header cannot carry$/);
    expect(problem).not.toContain("canary");
  }
  expect(from({ apiKeyEnv: "PROD_KEY" }).problem).toMatch(/^PROD_KEY, which svc:apiKeyEnv /);
});

test("a file is read again on request, and gives nothing while it holds no key", () => {
  const path = file("key", "first\n");
  const renew = from({ apiKeyFile: path }).key?.renewKey;
  expect(renew?.()).toBe("first");
  file("key", "second");
  expect(renew?.()).toBe("second");
  file("key", "no key\n");
  expect(renew?.()).toBeUndefined();
  rmSync(path);
  expect(renew?.()).toBeUndefined();
  process.env["PROD_KEY"] = "key";
  expect(from({ apiKeyEnv: "PROD_KEY" }).key?.renewKey).toBeUndefined();
  expect(from({ apiKey: "key" }).key?.renewKey).toBeUndefined();
});

describe("a form of a key that a program gives", () => {
  test.each([undefined, null, "", " \n\t"])("has no value as %j", (given) => {
    for (const form of KEY_FORMS)
      expect(givenProblem(form, given)).toBe(
        `${form}: is given, but has no value. Set it, or leave it out to use the key of the stack`,
      );
  });

  test.each([7, false, {}, ["canary"]])("is a text, unlike %j", (given) => {
    for (const form of KEY_FORMS) expect(givenProblem(form, given)).toBe(`${form}: must be a string`);
  });

  test("is a name or a path, and not what a variable holds", () => {
    process.env["OTHER"] = "CANARY_KEY";
    expect(givenProblem("apiKey", "CANARY_KEY")).toBeUndefined();
    expect(givenProblem("apiKeyEnv", "CANARY_KEY")).toBe(
      "apiKeyEnv: must be the name of an environment variable, not its value",
    );
    expect(givenProblem("apiKeyFile", " CANARY_KEY")).toMatch(/^apiKeyFile: must be the path of a file, not the value/);
    expect(givenProblem("apiKeyFile", "keys\n")).toBe("apiKeyFile: must be the path of a file, not its content");
    expect(givenProblem("apiKeyEnv", "PROD_KEY")).toBeUndefined();
    expect(givenProblem("apiKeyFile", "keys/prod")).toBeUndefined();
  });
});
