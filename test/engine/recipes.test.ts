import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { type CodeBlock, codeBlocks } from "../support/codeBlocks";
import { Stack } from "../support/Stack";

/** Runs the code blocks of docs/recipes.md. */
const blocks = codeBlocks("docs/recipes.md");

function noted(note: string): CodeBlock[] {
  const found = blocks.filter((block) => block.note === note);
  if (found.length === 0) throw new Error(`docs/recipes.md has no block "${note}"`);
  return found;
}

function textOf(file: string): string {
  const found = blocks.find((block) => block.file === file);
  if (found === undefined) throw new Error(`docs/recipes.md shows no file ${file}`);
  return found.text;
}

/** As JavaScript, which starts faster; `test/docs` compiles the original text. */
const javaScript = (text: string): string =>
  ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true },
  }).outputText;

/** Joins several programs: each has its own names. */
const together = (texts: readonly string[]): string =>
  texts.map((text) => `(() => { const exports = {};\n${javaScript(text)}\n})();`).join("\n");

/** A block of commands, as a reader types it in the program's folder. */
async function type(stack: Stack, { text }: CodeBlock): Promise<void> {
  const said = await promisify(execFile)("bash", ["-e", "-c", text], {
    cwd: join(stack.folder, "program"),
    env: stack.env,
  });
  stack.said += said.stdout + said.stderr;
}

const BRANCHES = ["api", "orders", "web", "search", "billing", "shop", "reports"];
const seed = {
  projects: [
    {
      id: "prj-demo",
      branches: [{ id: "br-main", default: true }, ...BRANCHES.map((name) => ({ id: `br-${name}` }))],
    },
  ],
};

/** The settings are in the environment, since recipes create their own stacks. */
async function start(program: string, more: object = {}): Promise<Stack> {
  const stack = await Stack.create({ program, configured: false, emulator: { ...more } });
  Object.assign(stack.env, {
    SVC_BASE_URL: stack.service.emulator.baseUrl,
    SVC_API_KEY: stack.service.emulator.apiKey,
  });
  return stack;
}

test("renames, moves and other stacks keep every object, as docs/recipes.md has them", async () => {
  const befores = noted("before").map(({ text }) => text);
  const afters = noted("after").map(({ text }) => text);
  expect(afters).toHaveLength(befores.length);
  const stack = await start(together(befores), { seed });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const objects = async () => {
    const routes = ["integrations", "oauth_providers", "domains"];
    const computes = (await service.endpoints()).map(({ id, host, branch_id }) => ({ id, host, branch_id }));
    return [computes, ...(await Promise.all(routes.map((route) => service.list(`/projects/prj-demo/auth/${route}`))))];
  };
  const made = await objects();
  await service.clearRequests();

  // Without the aliases the components get into the state under their new names, although nothing in them can be made.
  const isOfComponents = (text: string) => text.includes("new svc.ProjectAuth(");
  const forgotten = afters.filter(isOfComponents).map((text) => text.replace(/\{ aliases: .* \},?/g, "{}"));
  stack.program(together([...befores.filter((text) => !isOfComponents(text)), ...forgotten]));
  const failed = await stack.up("--refresh");
  expect(failed.code).not.toBe(0);
  for (const line of [
    'If this plan deletes "orders-primary", the resource was renamed or moved: add aliases: [{ name: "orders" }] to the options of the ComputeGroup "sales"',
    'If this plan deletes "auth", the resource was renamed or moved: add aliases: [{ name: "auth" }] to the options of the ProjectAuth "login"',
  ])
    expect(failed.text).toContain(line);
  expect(failed.text).toContain('add an alias to its options: aliases: [{ name: "<old name>" }]');
  expect(await objects()).toEqual(made);

  stack.program(together(afters));
  await service.clearRequests();
  const renamed = await stack.up("--diff");
  expect(renamed).toMatchObject({ code: 0 });
  // A component that is new ("web") or removed has no object at the service.
  expect(renamed.text).toMatch(/\+ 1 created\s+~ 4 updated\s+- 3 deleted/);
  expect(renamed.text).not.toMatch(/replaced|__/);
  expect(await objects()).toEqual(made);
  // The names of replicas at the service, and the restart of a compute that is always on.
  const ONE = "/projects/{project_id}/endpoints/{endpoint_id}";
  expect(new Set(await service.mutations())).toEqual(new Set([`PATCH ${ONE}`, `POST ${ONE}/restart`]));

  await service.clearRequests();
  const [projectName] = blocks.filter(({ text }) => text.includes("pulumi stack rename organization/store"));
  if (projectName === undefined) throw new Error("docs/recipes.md has no other project name");
  await type(stack, projectName);
  // The second program is compiled as it stands.
  stack.write("web/Pulumi.yaml", textOf("web/Pulumi.yaml"));
  stack.write("web/index.ts", textOf("web/index.ts"));
  stack.program(together(afters.slice(1)));
  for (const block of noted("split")) await type(stack, block);
  stack.program(together(afters));
  for (const block of noted("merge")) await type(stack, block);
  expect(await service.mutations()).toEqual([]);
  expect(await objects()).toEqual(made);
  await stack.finish(before);
});

test("an inline program of docs/recipes.md is deployed and destroyed from another folder", async () => {
  const stack = await start("");
  const { service } = stack;
  stack.write("deploy.js", javaScript(textOf("deploy.ts")));
  const script = join(stack.folder, "program", "deploy.js");
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [script, ...args], { cwd: stack.folder, env: stack.env });
  const before = (await service.endpoints()).length;
  expect((await run()).stdout).toMatch(/^ep-/);
  expect(await service.endpoints()).toHaveLength(before + 1);
  await run("destroy");
  expect(await service.endpoints()).toHaveLength(before);

  // Without main, the reason is reported.
  stack.write("deploy.js", javaScript(textOf("deploy.ts").replace(", main: __dirname", "")));
  await expect(run()).rejects.toThrow(
    /the Pulumi engine starts the provider in \S+, and finds no @pulumi\/pulumi there/,
  );
});

test("the monorepo of docs/recipes.md is deployed", async () => {
  const stack = await start("");
  const before = await stack.service.state();
  for (const { file, text } of blocks) if (file?.startsWith("packages/") === true) stack.write(file, text);
  stack.write("Pulumi.yaml", textOf("Pulumi.yaml").replace("name: monorepo", "name: proj"));
  // Linked as the workspaces of a package manager are.
  const modules = join(stack.folder, "program", "packages", "infra", "node_modules");
  mkdirSync(modules);
  symlinkSync(join("..", "..", "computes"), join(modules, "computes"));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.outputs()).toEqual({ host: expect.stringMatching(/^ep-/) });
  await stack.finish(before);
});
