import type { Report } from "../../src/cli/drift/report";
import { Stack } from "../support/Stack";
import { drift } from "../support/svc";

const DOMAINS = "/projects/{project_id}/auth/domains";

const program = (domain: string, options = "{}"): string => `
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
new svc.WhitelistDomain("d", { projectId: auth.projectId, domain: "https://${domain}.example.com" }, ${options});
new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1, name: "api" }, { ignoreChanges: ["size"] });
`;

const found = ({ drift }: Report) =>
  drift.map(({ name, id, change, repair: { action } }) => [name, id, change, action]);
const idOf = (domain: string): string => `prj-demo/https://${domain}.example.com`;

test("drift tells of what a replacement deleted and could not create, and ends when the next up has created it", async () => {
  const stack = await Stack.create({ program: program("one") });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program("two"));
  await service.fault({ method: "POST", path: DOMAINS, status: 400 });
  expect((await stack.up()).code).not.toBe(0);
  expect(JSON.parse(await stack.exported())).toMatchObject({
    deployment: { resources: expect.arrayContaining([expect.objectContaining({ pendingReplacement: true })]) },
  });

  const { code, report } = await drift(stack);
  expect(code).toBe(7);
  expect(found(report)).toEqual([["d", idOf("one"), "deleted", "create"]]);

  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0, report: { drift: [] } });
  await stack.finish(before);
});

test("drift tells the old object of a replacement from the new one, and both from what ignoreChanges leaves alone", async () => {
  const stack = await Stack.create({ program: program("one", "{ deleteBeforeReplace: false }") });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program("two", "{ deleteBeforeReplace: false }"));
  await service.fault({ method: "DELETE", path: DOMAINS, status: 403 });
  expect((await stack.up()).code).not.toBe(0);

  const leftover = await drift(stack);
  expect(leftover.code).toBe(7);
  expect(found(leftover.report)).toEqual([["d", idOf("one"), "leftover", "delete"]]);

  // The new one is gone, too; and of the compute somebody changed what is ignored and what is not.
  await service.edit({ kind: "domain", id: "https://two.example.com", delete: true });
  const { endpointId } = (await stack.resource("api")).outputs;
  await service.edit({ kind: "endpoint", id: endpointId, set: { autoscaling_limit_max_cu: 4, name: "theirs" } });
  const { report } = await drift(stack);
  expect(found(report)).toEqual([
    ["api", `prj-demo/${String(endpointId)}`, "changed", "update"],
    ["d", idOf("one"), "leftover", "delete"],
    ["d", idOf("two"), "deleted", "create"],
  ]);
  expect(report.drift[0]).toMatchObject({
    properties: [{ path: "name", declared: "api", found: "theirs" }],
    repair: { restarts: false, messages: [] },
  });
  expect(report.ignored).toMatchObject([{ name: "api", properties: [{ path: "size", declared: 1 }] }]);

  // The repair does what the report messages: the size stays.
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect((await service.endpoints()).find(({ id }) => id === endpointId)).toMatchObject({
    autoscaling_limit_max_cu: 4,
    name: "api",
  });
  expect(await drift(stack)).toMatchObject({ code: 0, report: { drift: [] } });
  await stack.finish(before);
});
