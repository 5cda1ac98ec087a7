/** Values that come from the configuration of the stack: they are edited there. The form of the file: test/cli/stack/configFile.test.ts. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acceptDrift, type Asked } from "../../../../src/cli/drift/accept/accept";
import type { AcceptResult } from "../../../../src/cli/drift/accept/result";
import { StackState } from "../../../../src/cli/stack/state";
import { typeToken } from "../../../../src/contract/pointer";
import { ROOT } from "../../../support/cli";
import { refreshedOf, type Refresh } from "../../../support/refreshes";

const HEAD = `import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";
const config = new pulumi.Config();
`;
const PLACE = 'projectId: "prj-demo", branchId: "br-dev"';
const STACK = "encryptionsalt: v1:canary-salt\nconfig:\n  proj:other: 7\n";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "accept-configured-")));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Scene {
  /** Below the head. */
  readonly program: string;
  readonly more?: Readonly<Record<string, string>>;
  /** Below `config:` and an entry of it; null: the stack has no file. */
  readonly config?: string | null;
  /** The default values in Pulumi.yaml. */
  readonly defaults?: Readonly<Record<string, string>>;
  readonly drift: readonly Pick<Refresh, "name" | "declared" | "found">[];
  readonly asked?: Partial<Asked>;
}

const file = (): string => join(folder, "Pulumi.dev.yaml");
const stackText = (): string => (existsSync(file()) ? readFileSync(file(), "utf8") : "");

/** As the CLI reads the forms of these tests. */
function configured(defaults: Scene["defaults"] = {}) {
  const lines = stackText().matchAll(/^ {2}([\w:]+): (.+?)(?: #.*)?$/gm);
  const values = Object.entries(defaults).concat([...lines].map(([, key = "", value = ""]) => [key, value]));
  return Object.fromEntries(
    values.map(([key, value]) => {
      if (value === "[secret]") return [key, { secret: true }];
      const objectValue: unknown = value.startsWith("{") ? JSON.parse(value) : undefined;
      return [
        key,
        { value: value.replaceAll('"', ""), secret: false, ...(objectValue !== undefined && { objectValue }) },
      ];
    }),
  );
}

type Result = AcceptResult & { readonly yaml: string };

async function accepted({ program, more = {}, config = "", defaults, drift, asked }: Scene): Promise<Result> {
  if (config === null) rmSync(file(), { force: true });
  else writeFileSync(file(), STACK + config);
  const texts = { "index.ts": HEAD + program, ...more };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  const type = typeToken("ComputeEndpoint");
  const refreshes = drift.map((one) => ({
    ...one,
    declared: { projectId: "prj-demo", branchId: "br-dev", ...one.declared },
    differing: Object.keys(one.found ?? {}),
  }));
  const urn = (name = "") => `urn:pulumi:dev::proj::${type}::${name}`;
  const before = stackText();
  // The plan of a program that declares what the stack's file says.
  const argsOf = ({ declared, found }: (typeof drift)[number]) => (stackText() === before ? declared : found) ?? {};
  const result = await acceptDrift(
    {
      resources: refreshedOf(...refreshes),
      state: new StackState(
        JSON.stringify({
          deployment: { resources: drift.map(({ name, declared }) => ({ urn: urn(name), type, inputs: declared })) },
        }),
      ),
    },
    {
      names: [],
      folder,
      ignored: { name: "svc-drift.json", entries: [] },
      force: true,
      planned: () => Promise.resolve(new Map(drift.map((one) => [urn(one.name), argsOf(one)]))),
      configured: () => Promise.resolve(configured(defaults)),
      others: () => Promise.resolve(["prod"]),
      ...asked,
    },
  );
  // The program stays as it is in all of them.
  for (const [name, text] of Object.entries(texts)) expect(readFileSync(join(folder, name), "utf8")).toBe(text);
  return { ...result, yaml: stackText() };
}

const compute = (name: string, args: string): string => `new svc.ComputeEndpoint("${name}", { ${PLACE}, ${args} });\n`;
const resized = (name: string, found: unknown = 4, declared: unknown = 2) => ({
  name,
  declared: { size: declared },
  found: { size: found },
});
const told = ({ left }: AcceptResult) => left.map(({ name, path, reason, code }) => [name, path, reason, code]);

test.each([
  ["a constant", `const size = config.requireNumber("size");\n${compute("api", "size")}`],
  ["inline", compute("api", 'size: config.requireNumber("size")')],
  [
    "with a type, in a constant of a constant",
    `const cu = config.requireNumber("size") as svc.AutoscalingCu;\nconst size = cu;\n${compute("api", "size: (size)")}`,
  ],
  ["with a default that does not count", compute("api", 'size: config.getNumber("size") ?? 1')],
  ["of a namespace", compute("api", 'size: new pulumi.Config("proj").requireNumber("size")')],
])(
  "a value that comes straight from the configuration is edited there, for this stack alone: %s",
  async (_what, program) => {
    const result = await accepted({
      program,
      config: "  proj:size: 2 # CU\n  proj:more: 2\n",
      drift: [resized("api")],
    });
    expect(result).toMatchObject({
      accepted: [{ name: "api", path: "size", declared: 2, found: 4, file: "Pulumi.dev.yaml", line: 4 }],
      left: [],
      files: ["Pulumi.dev.yaml"],
      otherStacks: [],
    });
    expect(result.yaml).toBe(`${STACK}  proj:size: 4 # CU\n  proj:more: 2\n`);
  },
);

test("a value of Pulumi.yaml, or of the program, is set in the file of the stack, also where there is none", async () => {
  const program = compute("api", 'size: config.requireNumber("size")');
  const defaulted = await accepted({ program, defaults: { "proj:size": "2" }, drift: [resized("api")] });
  expect(defaulted.yaml).toBe(`${STACK}  proj:size: 4\n`);
  expect(defaulted.accepted).toMatchObject([{ file: "Pulumi.dev.yaml", line: 4 }]);
  const none = await accepted({ program, defaults: { "proj:size": "2" }, config: null, drift: [resized("api")] });
  expect(none.yaml).toBe("config:\n  proj:size: 4\n");
  const fallback = compute("api", 'size: config.getNumber("size") ?? 2');
  expect((await accepted({ program: fallback, drift: [resized("api")] })).yaml).toBe(`${STACK}  proj:size: 4\n`);
});

test("a part of an object is edited, several at once", async () => {
  const program = `const size = config.requireObject<svc.ComputeSize>("size");\n${compute("api", "size")}`;
  const drift = [resized("api", { min: 1, max: 8 }, { min: 0.5, max: 2 })];
  const there = await accepted({ program, config: '  proj:size: {"min":0.5,"max":2}\n', drift });
  expect([told(there), there.accepted.map(({ path }) => path)]).toEqual([[], ["size.max", "size.min"]]);
  expect(there.yaml).toBe(`${STACK}  proj:size: {"min":1,"max":8}\n`);
  const defaults = { "proj:size": '{"min":0.5,"max":2}' };
  const elsewhere = await accepted({ program, defaults, drift });
  expect(elsewhere.yaml).toBe(`${STACK}  proj:size: {"min":1,"max":8}\n`);
});

test("a value that several resources use is edited where all of them differ in the same way, and reported otherwise", async () => {
  const program = `const size = config.requireNumber("size");\n${compute("api", "size")}${compute("jobs", "size: size")}`;
  const config = "  proj:size: 2\n";
  const both = await accepted({ program, config, drift: [resized("api"), resized("jobs")] });
  expect([told(both), both.accepted.length, both.yaml]).toEqual([[], 2, `${STACK}  proj:size: 4\n`]);

  const one = await accepted({ program, config, drift: [resized("api")] });
  const reason = (where: string): string =>
    `the value is "proj:size" of the stack's configuration, which the program uses elsewhere, too: ${where}`;
  expect([told(one), one.yaml]).toEqual([[["api", "size", reason("index.ts:6"), "size: 4"]], STACK + config]);

  const unlike = await accepted({ program, config, drift: [resized("api"), resized("jobs", 8)] });
  expect(told(unlike).map(([name, , why]) => [name, why])).toEqual(
    ["api", "jobs"].map((name) => [
      name,
      expect.stringMatching(/several resources use, and they differ in different ways$/),
    ]),
  );
  expect(unlike.yaml).toBe(STACK + config);
});

test.each([
  ["index.ts", "", `export const shown = config.requireNumber("size");\n`, "index.ts:5"],
  ["index.ts", "", `export const text = pulumi.interpolate\`\${config.require("size")}\`;\n`, "index.ts:5"],
  ["other.ts", `import { config } from "./config";\nconsole.log(config.getNumber("size"));\n`, "", "other.ts:2"],
  [
    "other.ts",
    `import * as pulumi from "@pulumi/pulumi";\nconst { size } = { size: new pulumi.Config().get("size", {}) };\n`,
    "",
    "other.ts:2",
  ],
])("a value that is used elsewhere is reported: in %s", async (name, other, below, where) => {
  const result = await accepted({
    program: compute("api", 'size: config.requireNumber("size")') + below,
    ...(other !== "" && { more: { [name]: other } }),
    config: "  proj:size: 2\n",
    drift: [resized("api")],
  });
  expect(told(result)).toEqual([
    ["api", "size", expect.stringMatching(new RegExp(`uses elsewhere, too: ${where}$`)), "size: 4"],
  ]);
  expect(result.files).toEqual([]);
});

test("the same name in another namespace is another value", async () => {
  const result = await accepted({
    program:
      compute("api", 'size: config.requireNumber("size")') +
      compute("jobs", 'size: new pulumi.Config("team").requireNumber("size")'),
    config: "  proj:size: 2\n  team:size: 2\n",
    drift: [resized("api"), resized("jobs", 8)],
  });
  expect([told(result), result.yaml]).toEqual([[], `${STACK}  proj:size: 4\n  team:size: 8\n`]);
});

test.each([
  [
    "a secret of the configuration",
    'name: config.require("name")',
    "  proj:name: [secret]\n",
    "a",
    /^the value is a value of the stack's configuration$/,
  ],
  [
    "what is read as a secret",
    'name: config.requireSecret("name")',
    "  proj:name: a\n",
    "a",
    /^the value is a secret$/,
  ],
  ["an edit that is not deployed", 'name: config.require("name")', "  proj:name: b\n", "a", /not deployed/],
  [
    "an option of the call",
    'name: config.require("name", { maxLength: 2 })',
    "  proj:name: a\n",
    "a",
    /stack's configuration$/,
  ],
  [
    "a name that is no literal",
    'name: config.require(process.argv[0] ?? "")',
    "  proj:name: a\n",
    "a",
    /stack's configuration$/,
  ],
  [
    "a form that is not known",
    'name: config.require("name")',
    "  proj:name: a\n  proj:name: a\n",
    "a",
    /in a form that cannot be edited$/,
  ],
  ["an expression", 'name: config.require("name") + "-x"', "  proj:name: a\n", "a-x", /an expression$/],
])("%s is reported", async (_what, args, config, declared, reason) => {
  const drift = [{ name: "api", declared: { name: declared }, found: { name: "theirs" } }];
  const result = await accepted({ program: compute("api", args), config, drift });
  expect(told(result)).toEqual([["api", "name", expect.stringMatching(reason), 'name: "theirs"']]);
  expect([result.files, result.yaml]).toEqual([[], STACK + config]);
});

test("another type than the program reads is reported", async () => {
  const result = await accepted({
    program: compute("api", 'size: config.requireNumber("size")'),
    config: "  proj:size: 2\n",
    drift: [resized("api", { min: 1, max: 2 })],
  });
  expect(told(result)).toEqual([
    ["api", "size", "the value is a value of the stack's configuration", "size: { min: 1, max: 2 }"],
  ]);
});

test("an edit that the plan does not show, or that changes another value, is taken back", async () => {
  const scene = { program: compute("api", 'size: config.requireNumber("size")'), drift: [resized("api")] };
  const planned = () => Promise.resolve(new Map());
  const disproved = await accepted({ ...scene, config: "  proj:size: 2\n", asked: { planned } });
  expect([told(disproved)[0]?.[2], disproved.yaml]).toEqual([
    expect.stringMatching(/undone/),
    `${STACK}  proj:size: 2\n`,
  ]);
  // Nor does a file stay that was not there.
  const fresh = await accepted({ ...scene, config: null, defaults: { "proj:size": "2" }, asked: { planned } });
  expect([fresh.left.length, existsSync(file())]).toEqual([1, false]);

  let look = 0;
  const other = () => Promise.resolve({ ...configured(), "proj:other": { value: String(look++), secret: false } });
  const changing = accepted({ ...scene, config: "  proj:size: 2\n", asked: { configured: other } });
  await expect(changing).rejects.toThrow(
    /^nothing was edited, .* would change another value of the stack's configuration$/,
  );
  expect(readFileSync(file(), "utf8")).toBe(`${STACK}  proj:size: 2\n`);
});

test("an edit that changes the plan of another resource is taken back, however that gets the value", async () => {
  const look = "const read = (name: string) => config.requireNumber(name);\n";
  const program = `${look}${compute("api", 'size: config.requireNumber("size")')}${compute("jobs", 'size: read("size")')}`;
  const urns: string[] = [];
  const planned: Asked["planned"] = (asked) => {
    urns.push(...asked.map((urn) => urn.split("::").at(-1) ?? ""));
    const size = Number(/proj:size: (\d)/.exec(readFileSync(file(), "utf8"))?.[1]);
    return Promise.resolve(new Map(asked.map((urn) => [urn, { size }])));
  };
  const scene = { program, config: "  proj:size: 2\n", asked: { planned } };
  const result = await accepted({ ...scene, drift: [resized("api"), { name: "jobs", declared: { size: 2 } }] });
  const reason = `the value is "proj:size" of the stack's configuration, which changes the plan of "jobs", too`;
  expect([told(result), result.yaml]).toEqual([[["api", "size", reason, "size: 4"]], `${STACK}  proj:size: 2\n`]);
  // Before the edit, and after it.
  expect(urns).toEqual(["api", "jobs", "api", "jobs"]);
});

test("a dry run shows the edit without what is encrypted or may be a secret, and writes nothing", async () => {
  const config = "  proj:size: 2\n  proj:apiToken: canary-token\n  proj:sec:\n    secure: v1:canary-sealed\n";
  const result = await accepted({
    program: compute("api", 'size: config.requireNumber("size")'),
    config,
    drift: [resized("api")],
    asked: { dryRun: true },
  });
  expect(result.patch).toContain("-  proj:size: 2\n+  proj:size: 4\n");
  expect(result.patch).not.toContain("canary");
  expect(result.yaml).toBe(STACK + config);
});
