import { Stack } from "../support/Stack";

const two = (a: string, b: string) => `
  ${a && `new svc.ComputeEndpoint("a", { projectId: "prj-demo", branchId: "${a}", size: 1 });`}
  ${b && `new svc.ComputeEndpoint("b", { projectId: "prj-demo", branchId: "${b}", size: 1 });`}`;

const placed = async (stack: Stack) =>
  Object.fromEntries(
    (await stack.resources()).map(({ urn, outputs }) => [urn.split("::").at(-1), outputs["branchId"]]),
  );

test("a compute moves to the branch that another one leaves in the same up", async () => {
  const stack = await Stack.create({ program: two("br-dev", "br-test") });
  await stack.service.edit({ kind: "branch", create: { id: "br-free", name: "free" } });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(two("br-test", "br-free"));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await placed(stack)).toEqual({ a: "br-test", b: "br-free" });
  await stack.finish(before);
});

test("two computes that swap branches, and a move onto a branch whose primary goes last, fail with the two-step way", async () => {
  const stack = await Stack.create({ program: two("br-dev", "br-test") });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.service.clearRequests();

  stack.program(two("br-test", "br-dev"));
  const swap = await stack.up();
  expect(swap.code).not.toBe(0);
  expect(swap.text).toMatch(/br-(test|dev) has a primary compute already \(ep-\S+\).*[Tt]wo steps/s);
  expect(await stack.service.mutations()).toEqual([]);

  stack.program(two("br-test", ""));
  const onto = await stack.up();
  expect(onto.code).not.toBe(0);
  expect(onto.text).toMatch(/br-test has a primary compute already.*[Tt]wo steps/s);

  // The two steps: first the one in the way, then the move.
  stack.program(two("br-dev", ""));
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(two("br-test", ""));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await placed(stack)).toEqual({ a: "br-test" });
  await stack.finish(before);
});
