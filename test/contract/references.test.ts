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

test.each([
  ["one\n", "one"],
  ["one\r\n", "one"],
  ["one\n\n", "one\n"],
  ["one", "one"],
  [" one ", " one "],
  ["\uFEFFone", "\uFEFFone"],
  ["x".repeat(65_536), "x".repeat(65_536)],
])("of a file one line break at the end is cut (%#)", (content, value) => {
  expect(resolveReference(written(content), folder)).toEqual({ value });
});

test.each([
  ["", "is empty"],
  ["\n", "is empty"],
  ["x".repeat(65_537), "is larger than 64 kB"],
  [Buffer.from([0xff, 0xfe, 0x41]), "is no text (UTF-8)"],
  ["a\0b", "is no text (UTF-8)"],
])("a file that is no secret has none (%#)", (content, problem) => {
  expect(resolveReference(written(content), folder)).toEqual({ problem });
});

test("a path that is no file says what it is", () => {
  expect(resolveReference(fromFile("."), folder)).toEqual({ problem: "is a folder" });
  expect(resolveReference(fromFile("nowhere"), folder)).toEqual({ problem: "does not exist" });
  expect(resolveReference(fromFile(join(folder, "secret/below")))).toEqual({ problem: "does not exist" });
  expect(resolveReference(fromFile("/dev/zero"))).toEqual({ problem: "is no regular file" });
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

  test("begins at the folder of the process where there is no project around it", () => {
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
])("what is wrong with a reference is said without it (%#)", (reference, words) => {
  // As a program without types gives it.
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
    new TypeError('fromEnv: takes the name of an environment variable, not its value: fromEnv("NAME")'),
  );
  expect(String(refused("canary value"))).toMatch(/^TypeError: fromEnv: must be the name/);
  expect(String(refused("canary value"))).not.toContain("canary");
  expect(() => fromFile("")).toThrow("fromFile: must be the path of a file, not its text");
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
