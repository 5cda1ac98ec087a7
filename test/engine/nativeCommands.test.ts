/** The commands of `pulumi-svc` for a stack of the native plugin, with the real engine. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";
import type { FleetReport, StackReport } from "../../src/cli/fleet/report";

const SECRET = "canary-native-commands";
const PROGRAM = `
const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", branchId: "br-main" });
new svc.OAuthProvider("microsoft", {
  projectId: auth.projectId, providerId: "microsoft", clientId: "id", clientSecret: "${SECRET}",
});
new svc.WhitelistDomain("domain", { projectId: auth.projectId, domain: "https://a.example.com" }, { dependsOn: api });`;

const namesOf = (some: readonly { name: string }[]): string[] => some.map(({ name }) => name).toSorted();

async function started(program = PROGRAM): Promise<Stack> {
  const stack = await Stack.create({ native: true, program: "" });
  stack.program(program, "pulumi-svc/native");
  expect(await stack.up()).toMatchObject({ code: 0 });
  return stack;
}

/** What `fleet drift` says of this stack, as `drift` would say it. */
async function fleet(stack: Stack): Promise<{ code: number; report: Partial<StackReport> | undefined }> {
  const { code, stdout } = await svc(stack, ["fleet", "drift", "--json"]);
  const { stacks } = JSON.parse(stdout) as FleetReport;
  const { name: _name, project: _project, since: _since, ...report } = stacks[0] ?? {};
  return { code, report };
}

async function resized(stack: Stack, size: number): Promise<void> {
  const [, id] = (await stack.resource("api")).id.split("/");
  const set = { autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size };
  await stack.service.edit({ kind: "endpoint", id, set });
}

test("drift, fleet drift and its repair beside a dependant: a native stack is never one without resources", async () => {
  const stack = await started();
  const none = await drift(stack);
  expect(none).toMatchObject({ code: 0, report: { drift: [] } });
  expect(await fleet(stack)).toEqual(none);

  await resized(stack, 3);
  const found = await drift(stack);
  expect(found.code).toBe(7);
  expect(namesOf(found.report.drift)).toEqual(["api"]);
  expect(await fleet(stack)).toEqual(found);

  const repaired = await svc(stack, ["drift", "--repair", "--yes"]);
  expect(repaired).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0 });
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.leaks([SECRET])).toEqual([]);
});

test("drift --accept edits the program, --ignore tolerates, --unmanaged names what nobody declares", async () => {
  const stack = await started();
  await resized(stack, 2);
  expect(await svc(stack, ["drift", "--ignore", "api", "--reason", "a trial"])).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0 });
  await resized(stack, 4);
  const accepted = await svc(stack, ["drift", "--accept", "api", "--force"]);
  expect(accepted).toMatchObject({ code: 0 });
  expect(readFileSync(join(stack.folder, "program", "index.js"), "utf8")).toContain("size: 4");
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0 });
  const unmanaged = await svc(stack, ["drift", "--unmanaged"]);
  expect(unmanaged.stdout).toMatch(/br-main/);
  expect(unmanaged.stdout).not.toContain((await stack.resource("api")).id);
});

test("doctor, its audit and env know the resources of a native stack", async () => {
  const stack = await started(`${PROGRAM}
new svc.WhitelistDomain("open", { projectId: auth.projectId, domain: "https://*.example.com" });`);
  const doctor = await svc(stack, ["doctor"]);
  expect(doctor).toMatchObject({ code: 0 });
  expect(doctor.stdout).toMatch(/prj-demo/);
  const audit = await svc(stack, ["doctor", "--audit"]);
  expect(audit.stdout).toMatch(/open/);
  const env = await svc(stack, ["env"]);
  expect(env).toMatchObject({ code: 0 });
  expect(env.stdout).toMatch(/ep-/);
});
