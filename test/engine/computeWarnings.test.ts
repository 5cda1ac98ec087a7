import { Stack } from "../support/Stack";

const WIDE = "size: { min: 0.25, max: 10 }";

/** Three computes, each with an argument that changes. */
const program = (wide: string, off: string, region: string, more = "") => `
new svc.ComputeEndpoint("wide", { projectId: "prj-demo", branchId: "br-dev", ${wide} });
new svc.ComputeEndpoint("off", { projectId: "prj-demo", branchId: "br-test", size: 1, ${off} });
new svc.ComputeEndpoint("replica", { projectId: "prj-demo", branchId: "br-main", type: "read_only", size: 1, ${region} });
${more}`;

test("a preview says what a wide span, disabling, a replacement and a dropped argument do, naming the compute", async () => {
  const stack = await Stack.create({ program: program("size: 1", 'name: "off"', 'regionId: "aws-us-east-1"') });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const [wide, off, replica] = await Promise.all(
    ["wide", "off", "replica"].map(async (name) => String((await stack.resource(name)).outputs["endpointId"])),
  );

  const added = `new svc.ComputeEndpoint("added", { projectId: "prj-demo", branchId: "br-main", type: "read_only", ${WIDE} });`;
  stack.program(program(WIDE, "disabled: true", 'regionId: "aws-eu-west-1"', added));
  await service.clearRequests();
  const plan = await stack.preview();
  expect(plan.code).toBe(0);
  const span = "would scale over 9.75 CU: newer rules of the service allow 8 CU between min and max";
  for (const warning of [
    `compute ${wide} ("wide") ${span}`,
    `the new compute on br-main ("added") ${span}`,
    `"disabled" suspends compute ${off} ("off"): open connections are dropped, and no query wakes it`,
    `"name" of ComputeEndpoint prj-demo/${off} ("off") is no longer managed: the value is unchanged, and drift is no longer detected`,
    `ComputeEndpoint prj-demo/${replica} ("replica") is replaced, because "regionId" changes: it is deleted last, and the new one has another id and another host`,
  ]) {
    expect(plan.text).toContain(`warning: ${warning}`);
  }
  expect(plan.text).toMatch(/\+-1 to replace/);
  // A preview only says it.
  expect(await service.mutations()).toEqual([]);

  // It is said, not refused, and comes true.
  stack.program(program(WIDE, "disabled: true", 'regionId: "aws-us-east-1"'));
  expect(await stack.up()).toMatchObject({ code: 0 });
  const computes = new Map((await service.endpoints()).map((endpoint) => [endpoint["id"], endpoint]));
  expect(computes.get(wide)).toMatchObject({ autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 10 });
  expect(computes.get(off)).toMatchObject({ disabled: true, current_state: "idle", name: "off" });
  await stack.finish(before);
});
