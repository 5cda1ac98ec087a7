import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KIND_CASES } from "../kinds";
import { DEMO, wholeIn } from "../kinds/KindCase";
import type { Kind } from "../../src/contract/pointer";
import { SIGNATURE } from "../../src/contract/engineSecrets";
import { CANARY } from "../support/harness";
import { Stack } from "../support/Stack";

/* The native plugin with the real engine, by the entry `packages` of Pulumi.yaml. */

const declared = (kind: Kind, more: object = {}, options = "{}"): string =>
  `native("${kind}", "${kind}", ${JSON.stringify({ ...wholeIn(KIND_CASES[kind], DEMO), ...more })}, ${JSON.stringify(KIND_CASES[kind].secretOutputs)}, ${options});`;
const inIntegration = (kind: Kind, more: object = {}): string => declared(kind, more, "{ dependsOn: auth }");
const compute = (args = "", options = "{}"): string =>
  `const api = native("ComputeEndpoint", "api", { projectId: "prj-demo", branchId: "br-dev", size: 1 ${args} }, ["host", "endpointId"], ${options});`;
const dynamic = (name: string, args = "", options = "{}"): string =>
  `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "br-dev", size: 1 ${args} }, ${options});`;
const alias = (type: string): string => `{ aliases: [{ type: "${type}" }] }`;
const TO_NATIVE = alias("pulumi-nodejs:dynamic/svc:ComputeEndpoint");
const TO_DYNAMIC = alias("svc:index:ComputeEndpoint");

test("every kind: created, unchanged, refreshed without drift, destroyed, and no secret in clear", async () => {
  const others = [
    inIntegration("AuthKeys"),
    inIntegration("AuthOwnershipTransfer"),
    inIntegration("AuthUser"),
    inIntegration("EmailServer", { password: `${CANARY}-password` }),
    inIntegration("OAuthProvider", { clientSecret: `${CANARY}-client` }),
  ];
  const program = (domains: string): string =>
    [declared("ComputeEndpoint"), `const auth = ${declared("AuthIntegration")}`, ...others, domains].join("\n");
  const stack = await Stack.create({ native: true, program: program(inIntegration("WhitelistDomain")) });
  // For --event-log.
  stack.env["PULUMI_DEBUG_COMMANDS"] = "true";
  const before = await stack.service.state();
  expect(await stack.preview()).toMatchObject({ code: 0, text: expect.stringMatching(/\+ 9 to create/) });
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  // If a program runs, the SDK writes its inputs to the event log.
  const events = join(stack.folder, "events.json");
  expect(await stack.refresh("--expect-no-changes", "--event-log", events)).toMatchObject({ code: 0 });
  const keys = await stack.resource("AuthKeys");
  for (const name of KIND_CASES.AuthKeys.secretOutputs) expect(keys.outputs[name]).toHaveProperty([SIGNATURE]);

  stack.program(program(inIntegration("Whitelist")));
  const up = await stack.up();
  expect(up).toMatchObject({ code: 0 });
  expect((await stack.resources()).map(({ type }) => type)).toContain("svc:index:Whitelist");
  expect(await stack.leaks([CANARY])).toEqual([]);
  await stack.finish(before);
});

test("an update, a replacement and a refused argument, with what differs by name", async () => {
  const stack = await Stack.create({ native: true, program: `${compute()}\nexports.host = api.host;` });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { host } = await stack.outputs();
  expect(host).toMatch(/^ep-/);

  stack.program(`${compute(', size: 2, name: "reports"')}\nexports.host = api.host;`);
  const plan = await stack.preview("--diff");
  expect(plan.text).toMatch(/~ size *: 1 => 2/);
  expect(plan.text).toMatch(/\+ name *: "reports"/);
  expect(plan.text).toMatch(/restart/);
  // The host of a compute stays, so nothing that uses it has an unknown value.
  expect(plan.text).not.toMatch(/output<string>|\[unknown\]/);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.outputs())["host"]).toBe(host);

  stack.program(compute(', type: "read_only", sise: 2'));
  const refused = await stack.preview();
  expect(refused.code).not.toBe(0);
  expect(refused.text).toMatch(/sise: unknown property\. Did you mean "size"\?/);
  expect(refused.text).not.toMatch(/is not an argument of/);

  stack.program(compute(', type: "read_only"'));
  const replaced = await stack.preview("--diff");
  expect(replaced.text).toMatch(/replaced, because "type" changes/);
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("a plan asks the service what is in the way, and fails if it is strict", async () => {
  const stack = await Stack.create({ native: true, program: compute(', branchId: "br-main"') });
  const plan = await stack.preview();
  expect(plan).toMatchObject({ code: 0 });
  expect(plan.text).toMatch(/pulumi up will fail here/);
  await stack.config("svc:strictPlan", "true");
  stack.program(compute(', projectId: "prj-none"'));
  const strict = await stack.preview();
  expect(strict.code).not.toBe(0);
  expect(strict.text).toMatch(/project prj-none does not exist/);
});

test("get, import and an invoke", async () => {
  const stack = await Stack.create({
    native: true,
    program: [
      'const found = pulumi.runtime.invokeOutput?.("svc:index:getComputeEndpoints", { projectId: "prj-demo" }) ?? pulumi.output(pulumi.runtime.invoke("svc:index:getComputeEndpoints", { projectId: "prj-demo" }));',
      "exports.branches = found.results.apply((all) => all.map((one) => one.branchId));",
      'exports.host = native("ComputeEndpoint", "looked", {}, ["host", "size"], { id: found.results[0].endpointId.apply((id) => `prj-demo/${id}`) }).host;',
    ].join("\n"),
  });
  const up = await stack.up();
  expect(up).toMatchObject({ code: 0 });
  expect(up.text).not.toContain("was taken over");
  const { branches, host } = await stack.outputs();
  expect(branches).toContain("br-main");
  expect(host).toMatch(/^ep-/);
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });

  const [listed] = await stack.service.endpoints();
  const id = `prj-demo/${String(listed?.["id"])}`;
  stack.program("");
  expect(await stack.up()).toMatchObject({ code: 0 });
  const imported = await stack.run(
    ...["import", "svc:index:ComputeEndpoint", "main", id, "--yes", "--protect=false", "--generate-code=false"],
  );
  expect(imported).toMatchObject({ code: 0 });
  // Another entry may hold it, and the run does not look at that.
  expect(imported.text).toMatch(/ComputeEndpoint prj-demo\/ep-\S+ \("main"\) was taken over: .*pulumi state delete/);
  const { inputs } = await stack.resource("main");
  expect(inputs).toMatchObject({ projectId: "prj-demo", branchId: "br-main" });
  expect(inputs).not.toHaveProperty("settings");
  stack.program(`native("ComputeEndpoint", "main", ${JSON.stringify(inputs)});`);
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
});

test("a replacement without the value of its secret deletes nothing, also after a change of the protocol", async () => {
  const program = (providerId: string): string =>
    `const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
    new svc.OAuthProvider("own", { projectId: auth.projectId, providerId: "${providerId}", clientId: "id", clientSecret: svc.fromEnv("OWN") });`;
  const stack = await Stack.create({ native: true, program: program("microsoft") });
  stack.env["OWN"] = "canary-own";
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program("microsoft"), "pulumi-svc/native");
  expect(await stack.up()).toMatchObject({ code: 0 });
  delete stack.env["OWN"];
  await stack.service.clearRequests();
  stack.program(program("gitlab"), "pulumi-svc/native");
  const up = await stack.run("up", "--yes", "--skip-preview");
  expect(up.code).not.toBe(0);
  expect(up.text).toMatch(/the replacement needs "clientSecret", but OWN is not set.*Nothing is deleted/);
  expect(await stack.service.mutations()).toEqual([]);
});

test("what ignoreChanges names is no drift in a refresh, at any depth", async () => {
  const settings = (memory: string) => `, size: 1, settings: { pgSettings: { work_mem: "${memory}", jit: "on" } }`;
  const ignoring = "{ ignoreChanges: ['size', 'settings.pgSettings.work_mem'] }";
  const stack = await Stack.create({ native: true, program: compute(settings("64MB"), ignoring) });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const [, id] = (await stack.resource("api")).id.split("/");
  const theirs = { autoscaling_limit_max_cu: 3, settings: { pg_settings: { work_mem: "8MB", jit: "on" } } };
  await stack.service.edit({ kind: "endpoint", id, set: theirs });
  expect(await stack.run("refresh", "--preview-only", "--expect-no-changes")).toMatchObject({ code: 0 });
  await stack.service.edit({
    kind: "endpoint",
    id,
    set: { settings: { pg_settings: { work_mem: "8MB", jit: "off" } } },
  });
  const drifted = await stack.run("refresh", "--preview-only", "--diff", "--expect-no-changes");
  expect(drifted.code).toBe(7);
  expect(drifted.text).toMatch(/jit *: "on" *=> "off"/);
  expect(drifted.text).not.toMatch(/work_mem|size *:/);
});

test("a failed creation that left a compute is kept, and the next up goes on with it", async () => {
  const stack = await Stack.create({ native: true, program: compute() });
  const before = await stack.service.state();
  await stack.service.fault({ operation: { action: "start_compute", status: "failed" } });
  const up = await stack.up();
  expect(up.code).not.toBe(0);
  expect(up.text).toMatch(/exists, but .*It is kept in the stack: run pulumi up again/);
  const { id, outputs } = await stack.resource("api");
  expect(outputs).toMatchObject({ __unfinished: "create" });
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.resource("api")).id).toBe(id);
  await stack.finish(before);
});

test("Ctrl-C ends a wait at once, and the compute is kept: none is lost or doubled", async () => {
  const stack = await Stack.create({ native: true, program: compute(), emulator: { activationMs: 15_000 } });
  const before = await stack.service.state();
  const posted = async () => (await stack.service.mutations()).length > 0;
  const began = performance.now();
  const up = await stack.interruptedUp(1, posted);
  expect(up.code).not.toBe(0);
  expect(performance.now() - began).toBeLessThan(12_000);
  expect(up.text).toMatch(/exists, but the wait for it was interrupted/);
  const { id } = await stack.resource("api");
  const created = async () => (await stack.service.endpoints()).filter(({ branch_id }) => branch_id === "br-dev");
  expect((await created()).map((one) => `prj-demo/${String(one["id"])}`)).toEqual([id]);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.resource("api")).id).toBe(id);
  expect(await created()).toHaveLength(1);
  await stack.finish(before);
});

test("by an alias a resource changes its protocol and back: unchanged, then destroyed", async () => {
  const stack = await Stack.create({ native: true, program: dynamic("api") });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { id } = await stack.resource("api");
  await stack.service.clearRequests();

  stack.program(compute("", TO_NATIVE));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.resource("api")).toMatchObject({ id, type: "svc:index:ComputeEndpoint" });
  expect(await stack.drift()).toMatchObject({ code: 0 });
  expect(await stack.refresh("--expect-no-changes")).toMatchObject({ code: 0 });

  stack.program(dynamic("api", "", TO_DYNAMIC));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.resource("api")).toMatchObject({ id, type: "pulumi-nodejs:dynamic/svc:ComputeEndpoint" });
  expect(await stack.drift()).toMatchObject({ code: 0 });

  stack.program(compute("", TO_NATIVE));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
  await stack.finish(before);
});

test("without an alias and with adopt, what the native protocol has taken over is not deleted by the other", async () => {
  const stack = await Stack.create({ native: true, program: dynamic("former") });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { id } = await stack.resource("former");
  stack.program(compute(", adopt: true"));
  const up = await stack.up();
  expect(up).toMatchObject({ code: 0 });
  expect(up.text).toMatch(/former[\s\S]*is not deleted: \\?"api\\?" of this program manages it now/);
  expect((await stack.resource("api")).id).toBe(id);
  stack.program(compute());
  await stack.finish(before);
});

test("one program through both protocols is refused, whichever comes first", async () => {
  const after = (first: string): string => `{ dependsOn: ${first} }`;
  const other = (options?: string): string => dynamic("other", ', branchId: "br-test"', options);
  const program = `${compute()}\n${other(after("api"))}`;
  const stack = await Stack.create({ native: true, ownProcess: true, program });
  const refused =
    /it is a (native|dynamic) resource \(.*"(api|other)" of this program is a .* a program uses one kind of them/;
  const plan = await stack.preview();
  expect(plan.code).not.toBe(0);
  expect(plan.text).toMatch(refused);
  stack.program(`const first = ${other()}\n${compute("", after("first"))}`);
  const second = await stack.preview();
  expect(second.code).not.toBe(0);
  expect(second.text).toMatch(refused);
});

test("a project that is called svc, with a key of its own, and a rotated API key: nothing is replaced", async () => {
  const stack = await Stack.create({ native: true, ownProcess: true, program: "" });
  const { emulator } = stack.service;
  stack.program(compute());
  const yaml = readFileSync(join(stack.folder, "program", "Pulumi.yaml"), "utf8");
  stack.write("Pulumi.yaml", yaml.replace("name: proj", "name: svc"));
  rmSync(join(stack.folder, "program", "Pulumi.dev.yaml"));
  expect(await stack.run("stack", "init", "dev")).toMatchObject({ code: 0 });
  await stack.config("whatever", "7");
  await stack.config("svc:baseUrl", emulator.baseUrl);
  await stack.config("svc:apiKey", emulator.apiKey, true);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  await stack.config("svc:apiKey", `${emulator.apiKey}-other`, true);
  const rotated = await stack.preview("--json");
  expect(JSON.parse(rotated.stdout)).toMatchObject({ changeSummary: expect.not.objectContaining({ replace: 1 }) });
  await stack.config("svc:apiKey", emulator.apiKey, true);
  expect(await stack.destroy()).toMatchObject({ code: 0 });
});
