/**
 * `drift --accept` in a program that reads its values from the configuration, and whose computes belong to a component.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { acceptSchema } from "../../src/cli/drift/accept/result";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

const PROGRAM = `import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = "prj-demo";
const size = config.requireObject("size");

new svc.ComputeEndpoint("api", { projectId, branchId: "br-dev", size });
new svc.ComputeGroup("db", {
  projectId,
  branchId: "br-test",
  primary: { size: config.requireNumber("primary") }, // see Pulumi.yaml
  replicas: [{ key: "reports", name: "reports", size: 1 }],
});
new svc.ProjectAuth("auth", { projectId, redirectDomains: ["https://a.example.com"], exclusiveDomains: true });
`;
const PROJECT = "name: proj\nruntime:\n  name: nodejs\n  options:\n    typescript: false\nconfig:\n  primary: 1\n";

const read = (stack: Stack, file: string): string => readFileSync(join(stack.folder, "program", file), "utf8");
const sized = (min: number, max: number) => ({ autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max });

test("values of the configuration are edited for the stack alone, and those of a component in its arguments", async () => {
  const stack = await Stack.create({ program: "" });
  const before = await stack.service.state();
  stack.write("Pulumi.yaml", PROJECT);
  stack.write("package.json", '{ "name": "proj", "private": true, "type": "module" }');
  stack.write("index.js", PROGRAM);
  const secret = "canary-of-a-config-value";
  await stack.config("token", secret, true);
  for (const [path, value] of Object.entries({ "size.min": "0.5", "size.max": "2" }))
    expect(await stack.run("config", "set", "--path", path, value, "--type", "float")).toMatchObject({ code: 0 });
  // What `pulumi config set` would write.
  appendFileSync(join(stack.folder, "program", "Pulumi.dev.yaml"), "\n  # kept\n  proj:other:   0.50   # kept, too\n");
  const written = read(stack, "Pulumi.dev.yaml");
  expect(await stack.up()).toMatchObject({ code: 0 });

  const found = { api: sized(0.5, 4), "db-primary": sized(2, 2), "db-replica-reports": sized(4, 4) };
  for (const [name, set] of Object.entries(found)) {
    const [, id] = (await stack.resource(name)).id.split("/");
    await stack.service.edit({ kind: "endpoint", id, set });
  }
  await stack.service.edit({ kind: "domain", create: { domain: "https://b.example.com" } });

  const dry = await svc(stack, ["drift", "--accept", "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("+++ b/Pulumi.dev.yaml") });
  expect([read(stack, "index.js"), read(stack, "Pulumi.dev.yaml")]).toEqual([PROGRAM, written]);

  const { code, stdout, stderr } = await svc(stack, ["drift", "--accept", "--force", "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { accepted, left, files } = acceptSchema.parse(JSON.parse(stdout));
  expect(left).toEqual([]);
  expect(accepted.map(({ name, path, file }) => [name, path, file]).toSorted()).toEqual([
    ["api", "size.max", "Pulumi.dev.yaml"],
    ["auth-domains", "domains", "index.js"],
    ["db-primary", "size", "Pulumi.dev.yaml"],
    ["db-replica-reports", "size", "index.js"],
  ]);
  expect(files.toSorted()).toEqual(["Pulumi.dev.yaml", "index.js"]);
  expect(read(stack, "index.js")).toBe(
    PROGRAM.replace("size: 1 }", "size: 4 }").replace('a.example.com"', 'a.example.com", "https://b.example.com"'),
  );
  expect(read(stack, "Pulumi.dev.yaml")).toBe(`${written.replace("max: 2", "max: 4")}  proj:primary: 2\n`);
  expect(read(stack, "Pulumi.yaml")).toBe(PROJECT);
  expect(await stack.run("config", "get", "token")).toMatchObject({ code: 0, stdout: `${secret}\n` });

  await stack.service.clearRequests();
  expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
  await stack.end(before);
});
