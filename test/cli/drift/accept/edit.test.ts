import { compute, edit, editFiles, IMPORT, targetOf, type Asked, type Change } from "../../../support/editedPrograms";

const list = (domains: string, before = ""): string =>
  `${IMPORT}${before}new svc.Whitelist("api", { projectId: "prj-demo", domains: ${domains} });\n`;

const A = "https://a.example.com";
const B = "https://b.example.com";
const C = "https://c.example.com";
const D = "https://d.example.com";

describe("edits", () => {
  test.each<[what: string, before: string, changes: Change[], after: string]>([
    ["a literal", compute("size: 2"), [["size", 2, 4]], compute("size: 4")],
    ["a boolean", compute("disabled: false"), [["disabled", false, true]], compute("disabled: true")],
    ["a text, in its quotes", compute("name: 'one'"), [["name", "one", "it's"]], compute("name: 'it\\'s'")],
    ["a template", compute("name: `one`"), [["name", "one", "a`${b}"]], compute("name: `a\\`\\${b}`")],
    [
      "a number with separators",
      compute("scaleToZero: { afterSeconds: 1_000 }"),
      [["scaleToZero.afterSeconds", 1000, 600]],
      compute("scaleToZero: { afterSeconds: 600 }"),
    ],
    ["a hexadecimal number", compute("size: 0x2"), [["size", 2, 0.25]], compute("size: 0.25")],
    [
      "a nested property",
      compute("size: { min: 1, max: 2 }"),
      [["size.max", 2, 8]],
      compute("size: { min: 1, max: 8 }"),
    ],
    ["a size to a range", compute("size: 2"), [["size", 2, { min: 1, max: 4 }]], compute("size: { min: 1, max: 4 }")],
    ["a range to a size", compute("size: { min: 1, max: 4 }"), [["size", { min: 1, max: 4 }, 2]], compute("size: 2")],
    [
      "a constant",
      compute("size: SIZE", "const SIZE = 2;\n"),
      [["size", 2, 4]],
      compute("size: SIZE", "const SIZE = 4;\n"),
    ],
    ["a shorthand", compute("size", "const size = 2;\n"), [["size", 2, 4]], compute("size", "const size = 4;\n")],
    [
      "as const",
      compute("type: 'read_only' as const, size: (2)"),
      [
        ["type", "read_only", "read_write"],
        ["size", 2, 4],
      ],
      compute("type: 'read_write' as const, size: (4)"),
    ],
  ])("%s", async (_what, before, changes, after) => {
    const { text, told, accepted } = await edit(before, changes);
    expect(told).toEqual([]);
    expect(text).toBe(after);
    expect(accepted.map(({ path }) => path)).toEqual(changes.map(([path]) => path));
  });

  test.each<[what: string, before: string, declared: string[], found: string[], after: string]>([
    ["adds", `["${A}"]`, [A], [A, B], `["${A}", "${B}"]`],
    ["removes the first", `["${A}", "${B}"]`, [A, B], [B], `["${B}"]`],
    ["removes the last", `["${A}", "${B}"]`, [A, B], [A], `["${A}"]`],
    ["removes all", `["${A}", "${B}"]`, [A, B], [], `[]`],
    ["fills", `[]`, [], [A, B], `["${A}", "${B}"]`],
    [
      "in lines",
      `[\n  "${A}",\n  "${B}", // b\n  "${C}",\n]`,
      [A, B, C],
      [A, C, D],
      `[\n  "${A}",\n  "${C}",\n  "${D}",\n]`,
    ],
    [
      "in lines without a last comma",
      `[\n  "${A}",\n  "${B}" // b\n]`,
      [A, B],
      [B, C],
      `[\n  "${B}", // b\n  "${C}"\n]`,
    ],
    ["the last line, without a comma", `[\n  "${A}", // a\n  "${B}"\n]`, [A, B], [A], `[\n  "${A}" // a\n]`],
    ["CRLF", `[\r\n\t'${A}',\r\n]`, [A], [A, B], `[\r\n\t'${A}',\r\n\t'${B}',\r\n]`],
  ])("a list: %s", async (_what, before, declared, found, after) => {
    const { text, told } = await edit(list(before), [["domains", declared, found]], { kind: "Whitelist" });
    expect(told).toEqual([]);
    expect(text).toBe(list(after));
  });

  test("a domain with a day stays as it is written; one that goes is reported with the code", async () => {
    // The engine sorts the keys.
    const dated = { expiresOn: "2999-01-31", origin: A };
    const written = `{ origin: "${A}", expiresOn: "2999-01-31" }`;
    const kept = await edit(list(`[${written}, "${B}"]`), [["domains", [dated, B], [dated, C]]], { kind: "Whitelist" });
    expect([kept.text, kept.told]).toEqual([list(`[${written}, "${C}"]`), []]);
    const gone = await edit(list(`["${B}", ${written}]`), [["domains", [B, dated], [B]]], { kind: "Whitelist" });
    expect(gone.told).toMatchObject([
      { reason: "an element of the list that differs is not a literal", code: `domains: ["${B}"]` },
    ]);
  });
});

const MAIL = { kind: "EmailServer", name: "mail" } as const;
const mail = (args: string, before = ""): string =>
  `${IMPORT}${before}new svc.EmailServer("mail", {\n  projectId: "prj-demo",\n${args}});\n`;
const SMTP = `  type: "standard",
  host: "smtp.example.com", // ours
  port: 587,
  username: "postmaster",
  password: config.requireSecret("smtpPassword"),
  senderEmail: "a@example.com",
  senderName: "A",
`;
const CONFIG =
  'import * as pulumi from "@pulumi/pulumi";\nconst config = new pulumi.Config();\nexport const stage = config.get("stage");\n';

describe("the forms of the mail server", () => {
  const toShared: Change[] = [
    ["type", "standard", "shared"],
    ["host", "smtp.example.com", null],
    ["port", 587, null],
    ["username", "postmaster", null],
    ["senderEmail", "a@example.com", null],
    ["senderName", "A", null],
  ];

  test("to the shared one: what it does not have goes, the password too", async () => {
    for (const changes of [toShared, [...toShared, ["password", "[secret]", null] as const]]) {
      const { text, told, accepted } = await edit(mail(SMTP, CONFIG), changes, MAIL);
      expect(told).toEqual([]);
      expect(text).toBe(mail('  type: "shared",\n', CONFIG));
      expect(accepted.map(({ path }) => path)).toContain("password");
    }
  });

  test("to the shared one: left as a whole where something of it is not edited", async () => {
    for (const before of [
      mail(SMTP.replace("587", "586"), CONFIG),
      mail(SMTP.replace('"standard"', 'config.require("type")'), CONFIG),
      mail(SMTP.replace("587", "587, ...extra"), `${CONFIG}import { extra } from "./extra";\n`),
    ]) {
      const { files, told, accepted } = await edit(before, toShared, MAIL);
      expect([...files]).toEqual([]);
      expect(accepted).toEqual([]);
      expect(told.length).toBeGreaterThanOrEqual(toShared.length);
    }
  });

  test("to one's own: the password is a secret, so nothing is edited", async () => {
    const before = mail('  type: "shared",\n');
    const changes: Change[] = [
      ["type", "shared", "standard"],
      ["host", null, "smtp.example.com"],
      ["port", null, 587],
      ["username", null, "postmaster"],
      ["senderEmail", null, "a@example.com"],
      ["senderName", null, "A"],
    ];
    const { files, told } = await edit(before, changes, MAIL);
    expect([...files]).toEqual([]);
    expect(told.map(({ reason }) => reason)).toEqual(
      changes.map(() => 'it changes together with password, which is required for the type "standard"'),
    );
    expect(told[1]?.code).toBe('host: "smtp.example.com"');
  });

  test("a change within a form is an edit like any other", async () => {
    const { text, told } = await edit(mail(SMTP, CONFIG), [["host", "smtp.example.com", "mail.example.com"]], MAIL);
    expect(told).toEqual([]);
    expect(text).toBe(mail(SMTP.replace("smtp.example", "mail.example"), CONFIG));
  });
});

describe("tells", () => {
  const reasonOf = async (text: string, change: Change = ["size", 2, 4], asked: Asked = {}) => {
    const { files, told, accepted } = await edit(text, [change], asked);
    expect([...files]).toEqual([]);
    expect(accepted).toEqual([]);
    expect(told).toHaveLength(1);
    return told[0];
  };

  test.each<[what: string, text: string, reason: string]>([
    ["an expression", compute("size: 1 + 1"), "the value is an expression"],
    ["a call", compute("size: Number('2')"), "the value is an expression"],
    ["an Output", compute("size: svc.output(2)"), "the value is an expression"],
    [
      "a conditional",
      compute("size: stage === 'x' ? 2 : 1", "declare const stage: string;\n"),
      "the value is a conditional expression",
    ],
    ["a template", compute("size: +`${1}2`"), "the value is an expression"],
    ["a let", compute("size", "let size = 2;\n"), 'the value is the variable "size", which may change'],
    ["a var", compute("size", "var size = 2;\n"), 'the value is the variable "size", which may change'],
    ["an import", compute("size", 'import { size } from "./size";\n'), 'the value is "size" from another file'],
    [
      "an exported constant",
      compute("size", "export const size = 2;\n"),
      'the value is the constant "size", which is exported',
    ],
    [
      "a constant exported by name",
      compute("size", "const size = 2;\nexport { size };\n"),
      'the value is the constant "size", which is used more than once',
    ],
    [
      "a constant used twice",
      compute("size", "const size = 2;\nconsole.log(size);\n"),
      'the value is the constant "size", which is used more than once',
    ],
    [
      "a configuration value",
      compute("size: config.requireNumber('size')", CONFIG),
      `the value is "proj:size" of the stack's configuration`,
    ],
    [
      "a constant from the configuration",
      compute("size", `${CONFIG}const size = config.requireNumber("size");\n`),
      `the value is "proj:size" of the stack's configuration`,
    ],
    ["the environment", compute("size: process.env.SIZE"), "the value is an environment variable"],
    ["an undeployed edit", compute("size: 3"), "the program has a change of it that is not deployed"],
    ["an undeployed removal", compute("disabled: true"), "the program has a change of it that is not deployed"],
    [
      "a spread before that may hold it",
      compute("...common", 'import { common } from "./common";\n'),
      'a spread or a computed name may hold "size"',
    ],
    ["a getter", compute("get size() { return 2; }"), '"size" is a getter or a method'],
    [
      "a type that may not allow it",
      compute("size", "const size: 2 = 2;\n"),
      "the program gives the value a type that may not allow the new one",
    ],
    [
      "a type of other values",
      compute("size", "const size: 2 | 8 = 2;\n"),
      "the program gives the value a type that may not allow the new one",
    ],
    [
      "a type of the program",
      compute("size", "type Two = 2;\nconst size: Two = 2;\n"),
      "the program gives the value a type that may not allow the new one",
    ],
    ["an assertion", compute("size: 2 as 2"), "the program gives the value a type that may not allow the new one"],
    [
      "arguments from a call",
      `${IMPORT}new svc.ComputeEndpoint("api", Object.assign({}, { size: 2 }));\n`,
      "the value is an expression",
    ],
    ["no arguments", `${IMPORT}new svc.ComputeEndpoint("api");\n`, "it has no arguments in the program"],
    [
      "two of them",
      `${IMPORT}new svc.ComputeEndpoint("api", { size: 2 });\nnew svc.ComputeEndpoint("api", { size: 2 });\n`,
      'the program has more than one `new ComputeEndpoint` with the name "api": index.ts:2, index.ts:3',
    ],
  ])("%s", async (_what, text, reason) => {
    expect((await reasonOf(text))?.reason).toBe(reason);
  });

  test.each([["a\\b"], ["a\\"], ['a\\"']])("a name whose path is ambiguous: %s", async (name) => {
    const path = `settings.pgSettings["${name.replaceAll('"', '\\"')}"]`;
    const told = await reasonOf(compute("settings: { pgSettings: { a: '1' } }"), [path, null, "1"]);
    expect(told).toMatchObject({ reason: "the name of the property cannot be read from its path", code: undefined });
  });

  test.each([
    ["number", 4, true],
    ["number", { min: 1, max: 4 }, false],
    ["number | svc.ComputeSize", { min: 1, max: 4 }, true],
    ["svc.AutoscalingCu", 4, true],
    ["svc.AutoscalingCu", { min: 1, max: 4 }, false],
    ["AutoscalingCu | ComputeSize", { min: 1, max: 4 }, true],
  ])("a type and another value: %s, %j", async (type, found, isAllowed) => {
    const { files } = await edit(compute("size", `const size: ${type} = 2;\n`), [["size", 2, found]]);
    expect(files.size).toBe(isAllowed ? 1 : 0);
  });

  test.each([
    ["readonly string[]", true],
    ["string[]", true],
    ["Origin[]", false],
  ])("a type of a list: %s", async (type, isAllowed) => {
    const before = list("domains", `const domains: ${type} = ["${A}"];\n`);
    const { files } = await edit(before, [["domains", [A], [A, B]]], { kind: "Whitelist" });
    expect(files.size).toBe(isAllowed ? 1 : 0);
  });

  test("a value that cannot be declared, with the value as code", async () => {
    const told = await reasonOf(compute('poolerMode: "transaction"'), ["poolerMode", "transaction", "session"]);
    expect(told).toMatchObject({
      reason: 'the value cannot be declared: it must be "transaction"',
      code: 'poolerMode: "session"',
      file: "index.ts",
      line: 2,
    });
  });

  test.each<[what: string, change: Change]>([
    ["that was deployed", ["name", "[secret]", "one"]],
    ["that was found", ["name", "one", "[secret]"]],
    ["that is gone", ["name", "[secret]", null]],
  ])("a secret %s, without its value", async (_what, change) => {
    const told = await reasonOf(compute('name: "canary"'), change);
    expect(told).toMatchObject({
      reason: expect.stringMatching(/^it is a secret, (or looks like|which is no longer)/),
      code: undefined,
    });
    expect(JSON.stringify(told)).not.toContain("canary");
  });

  test("a placeholder", async () => {
    const found = "(shared keys of the service: changed outside Pulumi)";
    const text = `${IMPORT}new svc.OAuthProvider("api", { clientId: "one" });\n`;
    const told = await reasonOf(text, ["clientId", "one", found], { kind: "OAuthProvider" });
    expect(told?.reason).toBe("the service does not show the value");
  });

  test.each([
    ["ownedBy", "svc", "user"],
    ["jwksUrl", "https://a.test/keys", "https://b.test/keys"],
  ])("an output that no argument declares: %s", async (path, declared, found) => {
    const text = `${IMPORT}new svc.AuthIntegration("api", { projectId: "prj-demo" });\n`;
    const told = await reasonOf(text, [path, declared, found], { kind: "AuthIntegration" });
    expect(told?.reason).toMatch(/^no argument declares it\. To tolerate it, run/);
    expect(told?.code).toBeUndefined();
  });

  test("what is given as a secret in the program, and never its value", async () => {
    const text = compute('name: pulumi.secret("canary")', 'import * as pulumi from "@pulumi/pulumi";\n');
    const told = await reasonOf(text, ["name", "one", "two"]);
    expect(told?.reason).toBe("the value is a secret");
    expect(JSON.stringify(told)).not.toContain("canary");
  });
});

test("what the program says as it was found is accepted, and nothing is written", async () => {
  const { files, told, accepted } = await edit(compute("size: 4"), [["size", 2, 4]]);
  expect([...files]).toEqual([]);
  expect(told).toEqual([]);
  expect(accepted).toMatchObject([{ path: "size", file: "index.ts", line: 2 }]);
});

test("one property is edited, and another one of the resource is reported", async () => {
  const { text, told, accepted } = await edit(compute("size: 2, name: `${1}`"), [
    ["size", 2, 4],
    ["name", "1", "2"],
  ]);
  expect(text).toBe(compute("size: 4, name: `${1}`"));
  expect(accepted.map(({ path }) => path)).toEqual(["size"]);
  expect(told.map(({ path }) => path)).toEqual(["name"]);
});

describe("a secret by reference", () => {
  const OTHER = "(another value: changed outside Pulumi)";
  const SEND = "run pulumi up --refresh or pulumi-svc drift --repair to send the declared value again";

  test.each<[what: string, args: string, change: Change, reason: string]>([
    [
      "that has another value",
      `settings: { pgSettings: { "app.token": svc.fromEnv("TOKEN") } }`,
      ['settings.pgSettings["app.token"]', { fromEnv: "TOKEN" }, OTHER],
      `it is a secret by reference. Set the variable TOKEN to the other value and run pulumi up, or ${SEND}`,
    ],
    [
      "that is written as an object",
      `settings: { pgSettings: { work_mem: { fromFile: "run/mem" } } }`,
      ["settings.pgSettings.work_mem", { fromFile: "run/mem" }, OTHER],
      `it is a secret by reference. Set the file run/mem to the other value and run pulumi up, or ${SEND}`,
    ],
    [
      "that the program gives as a literal by now",
      `settings: { pgSettings: { work_mem: "64MB" } }`,
      ["settings.pgSettings.work_mem", { fromEnv: "MEM" }, OTHER],
      `it is a secret by reference. Set the variable MEM to the other value and run pulumi up, or ${SEND}`,
    ],
    [
      "that is gone",
      `settings: { pgSettings: { work_mem: { fromEnv: "MEM" } } }`,
      ["settings.pgSettings.work_mem", { fromEnv: "MEM" }, null],
      `it is a secret by reference, which is no longer set. Remove it from the program, or ${SEND}`,
    ],
    [
      "that is gone with all that is around it",
      `settings: { pgSettings: { work_mem: { fromEnv: "MEM" } } }`,
      ["settings", { pgSettings: { work_mem: { fromEnv: "MEM" } } }, null],
      `it is a secret by reference, which is no longer set. Remove it from the program, or ${SEND}`,
    ],
  ])("%s is reported, and is not written as code", async (_what, args, change, reason) => {
    const before = compute(`size: 2, ${args}`);
    const { text, told, accepted } = await edit(before, [change, ["size", 2, 4]]);
    expect(told).toMatchObject([{ path: change[0], reason, code: undefined }]);
    // The rest is accepted.
    expect(accepted.map(({ path }) => path)).toEqual(["size"]);
    expect(text).toBe(before.replace("size: 2", "size: 4"));
  });

  test("goes with the form of a mail server that it belongs to", async () => {
    const given = `host: "smtp.example.com", password: svc.fromEnv("SMTP_PASSWORD")`;
    const mail = (args: string): string => `${IMPORT}new svc.EmailServer("api", { projectId: "prj-demo", ${args} });\n`;
    const changes: Change[] = [
      ["type", "standard", "shared"],
      ["host", "smtp.example.com", null],
      ["password", { fromEnv: "SMTP_PASSWORD" }, null],
    ];
    const { text, told } = await edit(mail(`type: "standard", ${given}`), changes, { kind: "EmailServer" });
    expect(told).toEqual([]);
    expect(text).toBe(mail(`type: "shared"`));
  });
});

test("a value of several resources of one place is left where they differ in different ways, in a part of it, too", async () => {
  const text = `${IMPORT}for (const name of ["a", "b"]) new svc.ComputeEndpoint(name, { size: { min: 1, max: 2 } });\n`;
  const place = { file: "index.ts", line: 2, column: 32 };
  const range = { min: 1, max: 2 };
  for (const other of [
    ["size.max", 2, 8],
    ["size", range, 2],
  ] satisfies Change[]) {
    const targets = [targetOf([["size", range, 4]], { name: "a", place }), targetOf([other], { name: "b", place })];
    const { files, told } = await editFiles(new Map([["index.ts", text]]), targets);
    expect([...files]).toEqual([]);
    expect(told.map(({ name, reason }) => [name, reason])).toEqual(
      ["a", "b"].map((name) => [name, expect.stringMatching(/^several resources get the value from here/)]),
    );
  }
});
