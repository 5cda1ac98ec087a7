import { Stack } from "../support/Stack";

const program = (options: string) =>
  `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 }, { ${options} });`;
const SHORT = 'customTimeouts: { create: "2s" }';

describe("a compute that is not ready in time", () => {
  test("is kept with its id and pointer, also over a refresh, and finished by the next up", async () => {
    // Without a list of operations, only the state shows it, and somebody may edit that.
    const stack = await Stack.create({ program: program(SHORT), emulator: { seedOnly: true } });
    const { service } = stack;
    const before = await service.state();
    await service.fault({ stuck: true, times: 1 });

    const failed = await stack.up();
    expect(failed.code).not.toBe(0);
    expect(failed.text).toMatch(/ComputeEndpoint prj-demo\/ep-\S+ exists, but still "init" after 2 s\. It is kept/);
    const kept = await stack.resource("api");
    expect(kept.outputs).toMatchObject({ __provider: expect.any(String), __unfinished: expect.any(String), size: 1 });

    expect(await stack.refresh()).toMatchObject({ code: 0 });
    expect((await stack.resource("api")).outputs).toHaveProperty("__unfinished");
    expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 7 });

    await service.edit({
      kind: "endpoint",
      id: kept.outputs["endpointId"],
      set: { current_state: "active", pending_state: null },
    });
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect((await stack.resource("api")).id).toBe(kept.id);
    expect((await stack.resource("api")).outputs).not.toHaveProperty("__unfinished");
    await stack.finish(before);
  });

  test("is destroyed straight after the failed creation", async () => {
    const stack = await Stack.create({ program: program(SHORT) });
    const { service } = stack;
    await service.fault({ stuck: true, times: 1 });
    const failed = await stack.up();
    expect(failed.code).not.toBe(0);
    expect(failed.text).toMatch(
      /ComputeEndpoint prj-demo\/ep-\S+ exists, but still "init" after 2 s \(operation \S+ start_compute running\)\. It is kept in the stack: run pulumi up again\. To wait longer, raise "customTimeouts\.create"\./,
    );
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    expect((await service.endpoints()).map(({ branch_id }) => branch_id)).toEqual(["br-main"]);
  });
});

test("a failed operation fails at once with its action, id and error, and the next up starts the compute again", async () => {
  const stack = await Stack.create({ program: program("") });
  const { service } = stack;
  const before = await service.state();
  await service.fault({ operation: { action: "start_compute", status: "failed", error: "no capacity left" } });
  const failed = await stack.up();
  expect(failed.code).not.toBe(0);
  expect(failed.text).toMatch(/exists, but operation \S+ start_compute failed: no capacity left/);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await service.endpoints()).toContainEqual(
    expect.objectContaining({ branch_id: "br-dev", current_state: "active" }),
  );
  await stack.finish(before);
});
