import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Stack } from "../support/Stack";

/** Forms of a program other than plain CommonJS. The examples use TypeScript. */

const compute = (size: number) =>
  `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: ${size} });`;

test("a native ES module imports the resources by name", async () => {
  const stack = await Stack.create({ program: "" });
  const before = await stack.service.state();
  stack.write("package.json", '{ "name": "proj", "private": true, "type": "module" }\n');
  stack.write(
    "index.js",
    `import { ComputeEndpoint, maxConnections } from "pulumi-svc";
     const api = new ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });
     export const host = api.host;
     export const connections = maxConnections(1);`,
  );
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.outputs()).toEqual({ host: expect.stringMatching(/^ep-/), connections: 450 });
  await stack.finish(before);
});

test("a program in a folder that main names resolves the package from there", async () => {
  const stack = await Stack.create({ program: "" });
  const before = await stack.service.state();
  stack.write("Pulumi.yaml", "name: proj\nmain: infra/\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n");
  stack.write("infra/index.js", `const svc = require("pulumi-svc");\n${compute(1)}\n`);
  stack.write("infra/package.json", '{ "name": "infra", "private": true }\n');
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("an inline program of the Automation API is deployed, found drifted by name and destroyed", async () => {
  const stack = await Stack.create({ program: "" });
  const { service } = stack;
  // It runs in the folder of the package: the provider process takes its place from there (docs/design/engine.md, Dynamic resources).
  stack.write(
    "automation.js",
    `const { LocalWorkspace } = require("@pulumi/pulumi/automation");
     const svc = require("pulumi-svc");
     const program = async () => { ${compute(1)} };
     (async () => {
       const stack = await LocalWorkspace.createOrSelectStack({ stackName: "inline", projectName: "automated", program });
       await stack.setConfig("svc:baseUrl", { value: process.env.BASE_URL });
       await stack.setConfig("svc:apiKey", { value: process.env.API_KEY, secret: true });
       const up = await stack.up();
       const edited = await fetch(process.env.CONTROL + "/_emulator/edit", { method: "POST", body: JSON.stringify({
         kind: "endpoint", project_id: "prj-demo", id: (await stack.exportStack()).deployment.resources.find(({ urn }) => urn.endsWith("::api")).outputs.endpointId,
         set: { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 } }) });
       const seen = [];
       await stack.previewRefresh({ onEvent: ({ resOutputsEvent }) => seen.push(Object.keys(resOutputsEvent?.metadata.detailedDiff ?? {})) });
       const drift = await stack.preview({ refresh: true, expectNoChanges: true }).then(() => undefined, (error) => error.name);
       await stack.destroy();
       console.log(JSON.stringify({ up: up.summary.resourceChanges, edited: edited.status, seen: seen.flat(), drift }));
     })().catch((error) => { console.error(error); process.exit(1); });`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, ["automation.js"], {
    cwd: join(stack.folder, "program"),
    env: {
      ...stack.env,
      BASE_URL: service.emulator.baseUrl,
      API_KEY: service.emulator.apiKey,
      CONTROL: service.emulator.url,
    },
  });
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toEqual({
    up: { create: 2 },
    edited: 200,
    seen: expect.arrayContaining(["size"]),
    drift: "CommandError",
  });
  expect((await service.endpoints()).map(({ branch_id }) => branch_id)).toEqual(["br-main"]);
  expect(await stack.leaks([service.emulator.apiKey])).toEqual([]);
});

test.each([
  ['nodeargs: "--there-is-no-such-option"', "--there-is-no-such-option"],
  ["nodeargs: [--no-warnings]", "the option nodeargs of the runtime"],
  ["typescript: perhaps", "the option typescript of the runtime"],
])(
  "the language host that the set-up gets acts on the options of the runtime: %s fails the plan",
  async (option, words) => {
    const stack = await Stack.create({ program: compute(1), ownProcess: true });
    const before = await stack.service.state();
    stack.write("Pulumi.yaml", `name: proj\nruntime:\n  name: nodejs\n  options:\n    ${option}\n`);
    const { code, text } = await stack.preview();
    expect(code).not.toBe(0);
    expect(text).toContain(words);
    expect(await stack.service.state()).toEqual(before);
  },
);
