import { KINDS, type Kind } from "../../src/contract/pointer";
import { KIND_CASES } from "../kinds";
import { DEMO, wholeIn } from "../kinds/KindCase";
import { CANARY } from "../support/harness";
import { Stack } from "../support/Stack";

/* The classes of the entry pulumi-svc/native, with the real engine: a program changes its import, and nothing else. */

const NATIVE = "pulumi-svc/native";
const DYNAMIC = "pulumi-svc";

const declared = (kind: Kind, more: object = {}, options = "{}"): string =>
  `new svc.${kind}("${kind}", ${JSON.stringify({ ...wholeIn(KIND_CASES[kind], DEMO), ...more })}, ${options});`;
const compute = (name: string, args = "", options = "{}"): string =>
  `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "br-dev", size: 1 ${args} }, ${options});`;

/** The plan and the run after a change of the import alone: nothing is created, replaced, deleted or sent. */
async function moves(stack: Stack, program: string, entry: string): Promise<void> {
  const before = await stack.resources();
  await stack.service.clearRequests();
  stack.program(program, entry);
  const plan = await stack.preview("--json");
  expect(plan).toMatchObject({ code: 0 });
  const { changeSummary } = JSON.parse(plan.stdout) as { changeSummary: Record<string, number> };
  expect(Object.keys(changeSummary).filter((step) => !["same", "update", "read"].includes(step))).toEqual([]);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
  const after = await stack.resources();
  expect(after.map(({ id }) => id).toSorted()).toEqual(before.map(({ id }) => id).toSorted());
  const begin = entry === NATIVE ? "svc:index:" : "pulumi-nodejs:dynamic/svc:";
  expect(after.filter(({ type }) => !type.startsWith(begin))).toEqual([]);
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.refresh("--expect-no-changes")).toMatchObject({ code: 0 });
}

test("every kind, both components and an explicit Provider move to the other door and back", async () => {
  const inIntegration = (kind: Kind, more: object = {}): string => declared(kind, more, "{ dependsOn: auth }");
  const program = [
    `const auth = ${declared("AuthIntegration")}`,
    declared("ComputeEndpoint"),
    inIntegration("AuthKeys"),
    inIntegration("AuthOwnershipTransfer"),
    inIntegration("AuthUser"),
    inIntegration("EmailServer", { password: `${CANARY}-password` }),
    inIntegration("OAuthProvider", { clientSecret: `${CANARY}-client` }),
    inIntegration("WhitelistDomain"),
    'const other = new svc.ProjectAuth("other", { projectId: "prj-2", redirectDomains: ["https://a.example.com"], exclusiveDomains: true, oauth: { google: "shared" } });',
    'const provider = new svc.Provider("account", { maxSizeCu: 8 });',
    'const group = new svc.ComputeGroup("group", { projectId: "prj-demo", branchId: "br-test", primary: { size: 1 }, replicas: 1 }, { providers: [provider] });',
    "exports.hosts = group.hosts;",
  ].join("\n");
  const stack = await Stack.create({ native: true, program, emulator: { projects: ["prj-demo", "prj-2"] } });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(new Set((await stack.resources()).map(({ type }) => type)).size).toBe(KINDS.length);
  const { hosts } = await stack.outputs();

  await moves(stack, program, NATIVE);
  expect((await stack.outputs())["hosts"]).toEqual(hosts);
  await moves(stack, program, DYNAMIC);
  expect((await stack.outputs())["hosts"]).toEqual(hosts);
  await moves(stack, program, NATIVE);
  expect(await stack.leaks([CANARY])).toEqual([]);
  await stack.end(before);
});
