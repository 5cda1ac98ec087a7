import { Stack } from "../support/Stack";

const program = (args: string) =>
  `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 ${args} });`;

/** Whether the creation has reached the service. */
const posted = (stack: Stack) => async () => (await stack.service.mutations()).length > 0;

describe("an up that is interrupted while a compute is created", () => {
  test("once, waits for it and keeps it: the next plan is empty", async () => {
    const stack = await Stack.create({ program: program(""), emulator: { activationMs: 6_000 } });
    const before = await stack.service.state();
    expect((await stack.interruptedUp(1, posted(stack))).code).not.toBe(0);
    expect((await stack.resource("api")).id).toMatch(/^prj-demo\/ep-/);
    await stack.finish(before);
  });

  test("twice, leaves one that the next up names, and adopts when told to", async () => {
    const stack = await Stack.create({ program: program(""), emulator: { activationMs: 10_000 } });
    const { service } = stack;
    const before = await service.state();
    expect((await stack.interruptedUp(2, posted(stack))).code).not.toBe(0);
    expect(await stack.resources()).toEqual([]);
    const [left] = (await service.endpoints()).filter(({ branch_id }) => branch_id === "br-dev");

    await service.clearRequests();
    const again = await stack.up();
    expect(again.code).not.toBe(0);
    expect(again.text).toMatch(
      new RegExp(
        `${String(left?.["id"])} on br-dev, created .* ago\\. An interrupted pulumi up may have created it.*adopt: true`,
      ),
    );
    expect(await service.mutations()).toEqual([]);

    stack.program(program(", adopt: true"));
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect((await stack.resource("api")).id).toBe(`prj-demo/${String(left?.["id"])}`);
    expect(await stack.refresh("--clear-pending-creates")).toMatchObject({ code: 0 });
    await stack.finish(before);
  });
});
