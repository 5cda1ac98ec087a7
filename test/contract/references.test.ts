import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findKey } from "../../src/contract/apiKey";
import {
  isReference,
  referenceName,
  referenceProblem,
  resolveReference,
  type SecretReference,
} from "../../src/contract/references";
import { fromEnv, fromFile } from "../../src/program/secretReferences";

const folder = mkdtempSync(join(tmpdir(), "references-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => delete process.env["SVC_TEST_SECRET"]);

const written = (content: string | Buffer): SecretReference => {
  writeFileSync(join(folder, "secret"), content);
  return fromFile("secret");
};

test("a variable is read when it is asked for", () => {
  const reference = fromEnv("SVC_TEST_SECRET");
  expect(reference).toEqual({ fromEnv: "SVC_TEST_SECRET" });
  expect(resolveReference(reference)).toEqual({ problem: "is not set" });
  process.env["SVC_TEST_SECRET"] = "";
  expect(resolveReference(reference)).toEqual({ problem: "is empty" });
  process.env["SVC_TEST_SECRET"] = " of\nlines\n";
  expect(resolveReference(reference)).toEqual({ value: " of\nlines\n" });
});

test.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
  "%s is no variable, although every object has one",
  (name) => {
    expect(resolveReference(fromEnv(name))).toEqual({ problem: "is not set" });
    expect(findKey((form) => (form === "apiKeyEnv" ? name : undefined)).problem).toMatch(
      /^no API key: .* is not set; /,
    );
  },
);

test("a variable with bytes that are no UTF-8 has no value, and its key is not replaced by another one", () => {
  // As Node shows such bytes.
  process.env["SVC_TEST_SECRET"] = "caf\uFFFD";
  expect(resolveReference(fromEnv("SVC_TEST_SECRET"))).toEqual({ problem: "is not UTF-8 text" });
  const ofKey = (name?: string) => findKey((form) => (form === "apiKeyEnv" ? name : undefined));
  expect(ofKey("SVC_TEST_SECRET").problem).toMatch(/^no API key: SVC_TEST_SECRET is not UTF-8 text; svc:apiKeyEnv /);
  const saved = { ...process.env };
  writeFileSync(join(folder, "other"), "key-of-another-account");
  Object.assign(process.env, { SVC_API_KEY: "caf\uFFFD", SVC_API_KEY_FILE: join(folder, "other") });
  try {
    expect(ofKey()).toEqual({ problem: "no API key: SVC_API_KEY is not UTF-8 text; SVC_API_KEY names it" });
  } finally {
    process.env = saved;
  }
});

test.each([
  ["one\n", "one"],
  ["one\r\n", "one"],
  ["one\n\n", "one\n"],
  ["one", "one"],
  [" one ", " one "],
  ["\uFEFFone\n", "one"],
  ["\uFEFF\uFEFFone", "\uFEFFone"],
  ["one\uFEFF", "one\uFEFF"],
  ["x".repeat(65_536), "x".repeat(65_536)],
])("of a file one line break at the end is cut (%#)", (content, value) => {
  expect(resolveReference(written(content), folder)).toEqual({ value });
});

test.each([
  ["", "is empty"],
  ["\n", "is empty"],
  ["x".repeat(65_537), "is larger than 64 kB"],
  [Buffer.from([0xff, 0xfe, 0x41]), "is not UTF-8 text"],
  ["a\0b", "is not UTF-8 text"],
])("a file that is no secret has none (%#)", (content, problem) => {
  expect(resolveReference(written(content), folder)).toEqual({ problem });
});

test("a path that is no file says what it is", () => {
  expect(resolveReference(fromFile("."), folder)).toEqual({ problem: "is a folder" });
  expect(resolveReference(fromFile("nowhere"), folder)).toEqual({ problem: "does not exist" });
  expect(resolveReference(fromFile(join(folder, "secret/below")))).toEqual({ problem: "does not exist" });
  expect(resolveReference(fromFile("/dev/zero"))).toEqual({ problem: "is not a regular file" });
  symlinkSync("itself", join(folder, "itself"));
  expect(resolveReference(fromFile("itself"), folder)).toEqual({ problem: "cannot be read (ELOOP)" });
});

describe("a relative path, and that of an API key,", () => {
  const cwd = process.cwd();
  beforeEach(() => {
    for (const [at, text] of [
      ["project", "of the project"],
      ["project/app/src", "of the program"],
      ["alone", "of the process"],
    ] as const) {
      mkdirSync(join(folder, at, "keys"), { recursive: true });
      writeFileSync(join(folder, at, "keys/prod"), text.replaceAll(" ", "-"));
    }
  });
  afterEach(() => {
    process.chdir(cwd);
    for (const at of ["project", "alone"]) rmSync(join(folder, at), { recursive: true });
  });
  const found = () => [
    resolveReference(fromFile("keys/prod")),
    findKey((form) => (form === "apiKeyFile" ? "keys/prod" : undefined)).key?.apiKey,
  ];

  test.each(["Pulumi.yaml", "Pulumi.yml"])("begins at the folder of %s, whatever folder `main` names", (file) => {
    writeFileSync(join(folder, "project", file), "name: proj\nruntime: nodejs\nmain: app/src\n");
    for (const at of ["project", "project/app/src"]) {
      process.chdir(join(folder, at));
      expect(found()).toEqual([{ value: "of-the-project" }, "of-the-project"]);
    }
  });

  test("begins at the folder of the process where there is no project around it, also if `main` of one leads there", () => {
    writeFileSync(join(folder, "project", "Pulumi.yaml"), "name: proj\nruntime: nodejs\nmain: ../alone\n");
    process.chdir(join(folder, "alone"));
    expect(found()).toEqual([{ value: "of-the-process" }, "of-the-process"]);
  });
});

test("a reference is an object with one of two names", () => {
  expect([{ fromEnv: "A" }, { fromFile: "a" }, { fromEnv: 1 }].map(isReference)).toEqual([true, true, true]);
  expect(["A", undefined, null, {}, [], { fromenv: "A" }].map(isReference)).toEqual(Array(6).fill(false));
  expect(referenceName(fromEnv("A"))).toBe("A");
  expect(referenceName(fromFile("a/b"))).toBe("the file a/b");
});

test.each([
  [{ fromEnv: "not a name" }, /name of an environment variable .* not its value/],
  [{ fromEnv: "" }, /name of an environment variable/],
  [{ fromEnv: 7 }, /name of an environment variable/],
  [{ fromFile: "" }, /path of a file/],
  [{ fromFile: "two\nlines" }, /path of a file/],
  [{ fromEnv: "A", fromFile: "a" }, /nothing else/],
  [{ fromEnv: "A", more: 1 }, /nothing else/],
])("what is wrong with a reference is reported without it (%#)", (reference, words) => {
  // From a program without types.
  expect(referenceProblem(reference as unknown as SecretReference)).toMatch(words);
});

test("fromEnv refuses the value of a variable, and shows it nowhere", () => {
  process.env["SVC_TEST_SECRET"] = "canary";
  const refused = (name: string): unknown => {
    try {
      return fromEnv(name);
    } catch (error) {
      return error;
    }
  };
  expect(refused("canary")).toEqual(
    new TypeError("fromEnv: must be the name of an environment variable (letters, digits and _), not its value"),
  );
  expect(String(refused("canary value"))).toMatch(/^TypeError: fromEnv: must be the name/);
  expect(String(refused("canary value"))).not.toContain("canary");
  expect(() => fromFile("")).toThrow("fromFile: must be the path of a file, not its content");
});

describe("where another variable holds the name of one that is not set", () => {
  test.each(["GOOGLE_SECRET", "S3_KEY", "AUTH0_CLIENT_SECRET_2", "TF_VAR_INTERNATIONALIZATION_KEY"])(
    "%s is a name by its form",
    (name) => {
      process.env["SVC_TEST_SECRET"] = name;
      expect(fromEnv(name)).toEqual({ fromEnv: name });
    },
  );

  test.each([
    "hunter2",
    "Google_Secret",
    // One word may be a password or a generated value.
    "HUNTER",
    "JBSWY3DPEHPK3PXP",
    "DEADBEEF0123456789",
    "SK_LIVE_4QX7M2ZP9KD3WB6TN8RC5VH1",
    "_SECRET",
    "A__SECRET",
    "SECRET_",
    "0XDEAD_BEEF",
  ])("%s may be the value", (name) => {
    process.env["SVC_TEST_SECRET"] = name;
    expect(() => fromEnv(name)).toThrow(TypeError);
  });
});

describe("a path that some variable holds", () => {
  const NAMES = ["SMTP_PASSWORD", "SMTP_PASSWORD_FILE", "smtp_path", "SECRETS_DIR", "PROFILES"] as const;
  const [SECRET] = NAMES;
  const PROBLEM = /^fromFile must be the path of a file, not the value of a variable: /;
  afterEach(() => NAMES.forEach((name) => delete process.env[name]));
  const problem = (value: string): string => referenceProblem({ fromFile: value }) ?? "none";

  test.each(["canary", "can/ary+base64==", "/canary/base64", "C:\\canary", "x".repeat(900), "ключ canary"])(
    "may be the secret, and is refused without it: %s",
    (value) => {
      process.env[SECRET] = value;
      expect(problem(value)).toMatch(PROBLEM);
      expect(problem(value)).not.toContain(value);
      expect(() => fromFile(value)).toThrow(TypeError);
      const key = findKey((form) => (form === "apiKeyFile" ? value : undefined));
      expect(key.problem).toMatch(/^svc:apiKeyFile \(.*\) must be the path of a file, not the value of a variable: /);
      expect(key.problem).not.toContain(value);
      expect(referenceName({ fromFile: value })).toBe("the file");
    },
  );

  test("is refused where blanks around it were cut", () => {
    process.env[SECRET] = " canary\n";
    expect(problem("canary")).toMatch(PROBLEM);
  });

  test("is one where the file is there", () => {
    const path = join(folder, "there");
    writeFileSync(path, "value");
    process.env[SECRET] = path;
    expect(fromFile(path)).toEqual({ fromFile: path });
    expect(referenceName({ fromFile: path })).toBe(`the file ${path}`);
    // A folder is not a file, and its name may be a word.
    process.env[SECRET] = folder;
    expect(problem(folder)).toMatch(PROBLEM);
  });

  test.each(["SMTP_PASSWORD_FILE", "smtp_path", "SECRETS_DIR"])("is one where %s holds it", (name) => {
    process.env[name] = "/run/secrets/smtp";
    expect(problem("/run/secrets/smtp")).toBe("none");
    process.env[SECRET] = "/run/secrets/smtp";
    expect(problem("/run/secrets/smtp")).toBe("none");
  });

  test("is none where the name of the variable only contains such a word", () => {
    process.env["PROFILES"] = "canary";
    expect(problem("canary")).toMatch(PROBLEM);
  });

  test("is looked for from the folder of the project", () => {
    const cwd = process.cwd();
    mkdirSync(join(folder, "shop/app"), { recursive: true });
    writeFileSync(join(folder, "shop/Pulumi.yaml"), "name: shop\nruntime: nodejs\nmain: app\n");
    writeFileSync(join(folder, "shop/smtp"), "value");
    process.env[SECRET] = "smtp";
    process.chdir(join(folder, "shop/app"));
    try {
      expect(problem("smtp")).toBe("none");
    } finally {
      process.chdir(cwd);
    }
  });
});

test("a path and a name that are nowhere in the environment are as before", () => {
  expect(referenceProblem({ fromFile: "secrets/smtp" })).toBeUndefined();
  expect(referenceProblem({ fromEnv: "SVC_TEST_NOWHERE" })).toBeUndefined();
  expect(referenceName({ fromEnv: "SVC_TEST_NOWHERE" })).toBe("SVC_TEST_NOWHERE");
});
