import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Stack, type StackOptions } from "../support/Stack";

/** Each explicit Provider has a process of its own. What they tell each other is docs/design/rules.md, 4. */

const PROVIDERS = 'const [one, two] = ["one", "two"].map((name) => new svc.Provider(name));';
const compute = (name: string, provider: string, more = ""): string =>
  `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "br-dev", size: 1${more} }, { provider: ${provider} });`;
const integration = (name: string, provider: string, more = ""): string =>
  `new svc.AuthIntegration("${name}", { projectId: "prj-demo"${more} }, { provider: ${provider} });`;

/** What the service shows of the integration, without the provider. */
async function shown({ service }: Stack): Promise<unknown[]> {
  return (await service.list("/projects/prj-demo/auth/integrations"))["data"] as unknown[];
}

/** The folder of the provider processes. */
const folderOf = ({ folder }: Stack): string => join(folder, "home", `pulumi-svc-${process.getuid?.() ?? ""}`);

type Entry = "pulumi-svc" | "pulumi-svc/native";

/** A stack whose Provider `one` has an integration, with a process for each Provider. */
async function withIntegration(options: Partial<StackOptions> = {}, entry?: Entry): Promise<Stack> {
  const program = `${PROVIDERS}\n${integration("former", "one")}`;
  const stack = await Stack.create({ program, ownProcess: true, ...options });
  if (entry !== undefined) stack.program(options.program ?? program, entry);
  expect(await stack.up()).toMatchObject({ code: 0 });
  return stack;
}

const MOVED = `${PROVIDERS}\n${integration("latter", "two", ", adopt: true")}`;

test("what one Provider takes over, another one does not delete", async () => {
  const stack = await Stack.create({ program: `${PROVIDERS}\n${compute("former", "one")}` });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { id } = await stack.resource("former");

  stack.program(`${PROVIDERS}\n${compute("latter", "two", ", adopt: true")}`);
  const up = await stack.up();
  expect(up).toMatchObject({ code: 0 });
  expect(up.text).toMatch(/former[\s\S]*is not deleted: \\?"latter\\?" of this program manages it now/);
  expect((await stack.resource("latter")).id).toBe(id);
  expect(await stack.drift()).toMatchObject({ code: 0 });
});

test("one object that two Providers declare is an error of the plan", async () => {
  const stack = await Stack.create({
    program: `${PROVIDERS}\n${compute("former", "one")}\n${compute("latter", "two", ", adopt: true")}`,
  });
  const plan = await stack.preview();
  expect(plan.code).not.toBe(0);
  expect(plan.text).toMatch(/"(former|latter)" of this program declares .* too\. Declare it once/);
});

test.each([
  ["depends on it, it is replaced with it", "integration.projectId", true],
  ["does not, it is lost until the next refresh", '"prj-demo"', false],
])("if what is in a replaced integration has another Provider and %s", async (_, projectId, isReplaced) => {
  const program = (databaseName: string) => `${PROVIDERS}
    const integration = new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "${databaseName}" }, { provider: one });
    new svc.WhitelistDomain("domain", { projectId: ${projectId}, domain: "https://app.example.com" }, { provider: two });`;
  const stack = await Stack.create({ program: `${PROVIDERS}\n` });
  // Without the dependency, the second one has to come later.
  stack.program(program("svcdb").replace(/new svc\.WhitelistDomain.*/, ""));
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program("svcdb"));
  expect(await stack.up()).toMatchObject({ code: 0 });
  const domains = async () => (await stack.service.list("/projects/prj-demo/auth/domains"))["domains"] as unknown[];
  expect(await domains()).toHaveLength(1);
  stack.program(program("other"));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await domains()).toHaveLength(isReplaced ? 1 : 0);
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect(await domains()).toHaveLength(1);
});

test("two Providers that spell the address of one service differently are of one service", async () => {
  const stack = await withIntegration();
  const before = await shown(stack);
  const address = stack.service.emulator.baseUrl.replace("http://127.0.0.1", "HTTP://LOCALHOST");
  stack.program(
    `const [one, two] = [new svc.Provider("one"), new svc.Provider("two", { baseUrl: "${address}/" })];\n` +
      integration("latter", "two", ", adopt: true"),
  );
  const up = await stack.up();
  expect(up).toMatchObject({ code: 0, text: expect.stringMatching(/is not deleted: \\?"latter\\?" of this program/) });
  expect(await shown(stack)).toEqual(before);
});

test("what was taken over before the folder was removed is not deleted by a Provider that begins after that", async () => {
  const stack = await withIntegration();
  const before = await shown(stack);
  const folder = JSON.stringify(folderOf(stack));
  // The engine deletes once the program has ended.
  const remove = `latter.id.apply(() => require("node:fs").rmSync(${folder}, { recursive: true }));`;
  stack.program(MOVED.replace("new svc.AuthIntegration", "const latter = new svc.AuthIntegration") + remove);
  const up = await stack.up();
  expect(up.code).not.toBe(0);
  expect(up.text).toMatch(/the provider process \d+ of this run has no file in \S+\. Let nothing clean that folder/);
  expect(await shown(stack)).toEqual(before);
  stack.program(MOVED);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await shown(stack)).toEqual(before);
});

const BROKEN: [how: string, spoil: (folder: string) => void, why: RegExp][] = [
  ["may be opened by others", (folder) => chmodSync(folder, 0o755), /its mode is 755\)\. Run chmod 700 \S+pulumi-svc-/],
  [
    "is a file",
    (folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, "");
    },
    /is not a folder\. Remove \S+pulumi-svc-\d+, or set TMPDIR/,
  ],
];

describe.each(BROKEN)("if the folder of the provider processes %s", (_how, spoil, why) => {
  test.each<[string, Entry]>([
    ["dynamic resources", "pulumi-svc"],
    ["the native plugin", "pulumi-svc/native"],
  ])("nothing that another Provider may hold is deleted, however often that is tried: %s", async (_, entry) => {
    const stack = await withIntegration({ native: entry === "pulumi-svc/native" }, entry);
    const before = await shown(stack);
    spoil(folderOf(stack));

    stack.program(MOVED, entry);
    const plan = await stack.preview();
    expect(plan.code).toBe(0);
    const up = await stack.up();
    expect(up.code).not.toBe(0);
    expect(up.text).toMatch(
      /Could not (create|delete) AuthIntegration.*it is not known whether (another Provider of this run manages|the program declares the same object)/,
    );
    expect(up.text).toMatch(why);
    expect(await shown(stack)).toEqual(before);
    // Whoever took it over holds it in the second run.
    const again = await stack.up();
    expect(again.code).not.toBe(0);
    expect(await shown(stack)).toEqual(before);

    rmSync(folderOf(stack), { recursive: true });
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await shown(stack)).toEqual(before);
    expect((await stack.resources()).map(({ urn }) => urn.split("::").at(-1))).toEqual(["latter"]);
  });

  test("a plan of two Providers says that it does not know of both", async () => {
    const stack = await withIntegration();
    spoil(folderOf(stack));
    stack.program(`${PROVIDERS}\n${integration("former", "one")}\n${compute("api", "two")}`);
    const plan = await stack.preview();
    expect(plan).toMatchObject({ code: 0, text: expect.stringMatching(why) });
    expect(plan.text).toMatch(/warning: it is not known whether two Providers of this run declare one object: /);
  });

  test("a destroy, which cannot know that it is the whole one, deletes nothing and says how to mend it", async () => {
    const stack = await withIntegration({
      program: `${PROVIDERS}\n${integration("auth", "one")}\n${compute("api", "two")}`,
    });
    const before = await shown(stack);
    spoil(folderOf(stack));
    const refused = await stack.destroy();
    expect(refused.code).not.toBe(0);
    expect(refused.text).toMatch(why);
    expect(await shown(stack)).toEqual(before);
    rmSync(folderOf(stack), { recursive: true });
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    expect(await shown(stack)).toEqual([]);
  });

  test("one Provider takes over as ever, also after a refresh in the same command, and deletes nothing else", async () => {
    const one = 'const one = new svc.Provider("one");';
    const stack = await withIntegration({ program: `${one}\n${integration("former", "one")}` });
    const before = await shown(stack);
    spoil(folderOf(stack));
    stack.program(`${one}\n${integration("latter", "one", ", adopt: true")}\n${compute("api", "one")}`);
    const up = await stack.up("--refresh");
    expect(up).toMatchObject({ code: 0 });
    expect(up.text).not.toMatch(/not known/);
    expect(await shown(stack)).toEqual(before);
    stack.program(`${one}\n${integration("latter", "one", ", adopt: true")}`);
    expect((await stack.up("--refresh")).text).toMatch(why);
    expect(await stack.resources()).toHaveLength(2);
    rmSync(folderOf(stack), { recursive: true });
    expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
    expect(await stack.resources()).toHaveLength(1);
  });
});
