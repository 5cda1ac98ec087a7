/**
 * `drift --accept` in a program that reads its values from the configuration, and whose computes belong to a component.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
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

test("for values of the configuration the commands are shown, and those of a component are edited in its arguments", async () => {
  const stack = await Stack.create({ program: "" });
  const before = await stack.service.state();
  stack.write("Pulumi.yaml", PROJECT);
  stack.write("package.json", '{ "name": "proj", "private": true, "type": "module" }');
  stack.write("index.js", PROGRAM);
  for (const [path, value] of Object.entries({ "size.min": "0.5", "size.max": "2" }))
    expect(await stack.run("config", "set", "--path", path, value, "--type", "float")).toMatchObject({ code: 0 });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const written = read(stack, "Pulumi.dev.yaml");

  const found = { api: sized(0.25, 4), "db-primary": sized(2, 2), "db-replica-reports": sized(4, 4) };
  for (const [name, set] of Object.entries(found)) {
    const [, id] = (await stack.resource(name)).id.split("/");
    await stack.service.edit({ kind: "endpoint", id, set });
  }
  await stack.service.edit({ kind: "domain", create: { domain: "https://b.example.com" } });

  const { code, stdout, stderr } = await svc(stack, ["drift", "--accept", "--force", "--json"]);
  expect({ code, stderr }).toEqual({ code: 7, stderr: "" });
  const { accepted, left, files } = acceptSchema.parse(JSON.parse(stdout));
  expect(accepted.map(({ name, path, file }) => [name, path, file]).toSorted()).toEqual([
    ["auth-domains", "domains", "index.js"],
    ["db-replica-reports", "size", "index.js"],
  ]);
  expect(left.map(({ name, path, code: command }) => [name, path, command]).toSorted()).toEqual([
    ["api", "size.max", "pulumi config set --path --type int --stack dev 'proj:size.max' -- 4"],
    ["api", "size.min", "pulumi config set --path --type float --stack dev 'proj:size.min' -- 0.25"],
    ["db-primary", "size", "pulumi config set --stack dev 'proj:primary' -- 2"],
  ]);
  expect(files).toEqual(["index.js"]);
  expect(read(stack, "index.js")).toBe(
    PROGRAM.replace("size: 1 }", "size: 4 }").replace('a.example.com"', 'a.example.com", "https://b.example.com"'),
  );
  expect([read(stack, "Pulumi.dev.yaml"), read(stack, "Pulumi.yaml")]).toEqual([written, PROJECT]);

  // The commands of the report, as a person copies them.
  const script = left.map(({ code: command }) => command).join("\n");
  execFileSync("sh", ["-ec", script], { cwd: join(stack.folder, "program"), env: stack.env, stdio: "ignore" });
  await stack.service.clearRequests();
  expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
  await stack.end(before);
});
