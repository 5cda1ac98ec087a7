import type { Report } from "../../src/cli/drift/report";
import { Stack } from "../support/Stack";
import { drift, svc, type Ended } from "../support/svc";

const DOMAINS = "/projects/{project_id}/auth/domains";

/** With a day, the domain is replaced by itself, and so deleted first. */
const program = (version: string, expiresOn?: string): string => `
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
for (const name of ["d", "e"]) {
  const domain = "https://" + name + "-${version}.example.com";
  const more = ${JSON.stringify({ expiresOn })};
  new svc.WhitelistDomain(name, { projectId: auth.projectId, domain, ...more }, { replaceOnChanges: ["expiresOn"] });
}
new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1, name: "api" }, { ignoreChanges: ["size"] });
`;

const found = ({ drift }: Report) =>
  drift.map(({ name, id, change, repair: { action } }) => [name, id, change, action]);
const idOf = (domain: string): string => `prj-demo/https://${domain}.example.com`;

const repair = (stack: Stack, ...args: string[]): Promise<Ended> => svc(stack, ["drift", "--repair", "--yes", ...args]);

/** An update in which the replacement of both domains fails halfway. */
async function failedUp(stack: Stack, method: "POST" | "DELETE", status: number): Promise<void> {
  await stack.service.fault({ method, path: DOMAINS, status, times: 2 });
  expect((await stack.up("--continue-on-error")).code).not.toBe(0);
}

async function domains(stack: Stack): Promise<string[]> {
  const { domains: all } = await stack.service.list("/projects/prj-demo/auth/domains");
  return (all as { domain: string }[])
    .map(({ domain }) => domain.replace(/^https:\/\/(.*)\.example\.com$/, "$1"))
    .toSorted();
}

test("what a replacement left is drift of its own: a repair of it, and the next up, delete what is old and create what is missing", async () => {
  const stack = await Stack.create({ program: program("one") });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });

  // Old objects that could not be deleted. Of one domain the new one is gone, too; and of the compute somebody changed what
  // is ignored and what is not.
  stack.program(program("two"));
  await failedUp(stack, "DELETE", 403);
  expect(await domains(stack)).toEqual(["d-one", "d-two", "e-one", "e-two"]);
  await service.edit({ kind: "domain", id: "https://d-two.example.com", delete: true });
  const { endpointId } = (await stack.resource("api")).outputs;
  await service.edit({ kind: "endpoint", id: endpointId, set: { autoscaling_limit_max_cu: 4, name: "theirs" } });
  const leftover = await drift(stack);
  expect(leftover.code).toBe(7);
  expect(found(leftover.report)).toEqual([
    ["api", `prj-demo/${String(endpointId)}`, "changed", "update"],
    ["d", idOf("d-one"), "leftover", "delete"],
    ["d", idOf("d-two"), "deleted", "create"],
    ["e", idOf("e-one"), "leftover", "delete"],
  ]);
  expect(leftover.report.drift[0]).toMatchObject({
    properties: [{ path: "name", declared: "api", found: "theirs" }],
    repair: { restarts: false, messages: [] },
  });
  expect(leftover.report.ignored).toMatchObject([{ name: "api", properties: [{ path: "size", declared: 1 }] }]);

  // A repair deletes the old one.
  expect(await repair(stack, "e", "--allow-replace")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/WhitelistDomain e .*one.* left over from a replacement\n  repair: delete\n/),
  });
  expect(await domains(stack)).toEqual(["d-one", "e-two"]);

  // An up --refresh does what the report says: the size stays.
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect(await domains(stack)).toEqual(["d-two", "e-two"]);
  expect((await service.endpoints()).find(({ id }) => id === endpointId)).toMatchObject({
    autoscaling_limit_max_cu: 4,
    name: "api",
  });

  // New objects that could not be created: nothing else differs by now.
  stack.program(program("two", "2999-12-31"));
  await failedUp(stack, "POST", 400);
  expect(await domains(stack)).toEqual([]);
  expect(JSON.parse(await stack.exported())).toMatchObject({
    deployment: { resources: expect.arrayContaining([expect.objectContaining({ pendingReplacement: true })]) },
  });
  const missing = await drift(stack);
  expect(missing.code).toBe(7);
  expect(found(missing.report)).toEqual([
    ["d", idOf("d-two"), "deleted", "create"],
    ["e", idOf("e-two"), "deleted", "create"],
  ]);
  // The state holds what was deployed last: neither the failed change nor a pending edit.
  expect(await repair(stack, "e")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/WhitelistDomain e .*.*\n  repair: create\n/),
  });
  expect(await domains(stack)).toEqual(["e-two"]);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await domains(stack)).toEqual(["d-two", "e-two"]);
  expect(await stack.drift()).toMatchObject({ code: 0 });
  await stack.end(before);
});
