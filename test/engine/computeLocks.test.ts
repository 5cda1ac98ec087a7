import { Stack } from "./Stack";

const BRANCHES = Array.from({ length: 10 }, (_, index) => ({
  id: `br-${index}`,
  ...(index === 0 && { default: true }),
}));

test("ten computes of a project that locks are created at the first try, with one refusal at most", async () => {
  const stack = await Stack.create({
    emulator: { lockProjects: true, activationMs: 150 },
    program: `for (let i = 0; i < 10; i++) new svc.ComputeEndpoint("c" + i, { projectId: "prj-ten", branchId: "br-" + i, size: 1 });`,
  });
  const { service } = stack;
  await service.addProject({ id: "prj-ten", branches: BRANCHES });
  const before = await service.state();
  const run = await stack.up();
  expect(run).toMatchObject({ code: 0 });
  const refused = (await service.requests()).filter(({ status }) => status === 423);
  expect(refused.length).toBeLessThanOrEqual(1);
  expect(await service.endpoints("prj-ten")).toHaveLength(10);
  await stack.finish(before);
});

test("computes of five projects, and of one that does not lock, are created side by side", async () => {
  const stack = await Stack.create({
    emulator: { activationMs: 4_000 },
    program: `for (let i = 0; i < 5; i++) new svc.ComputeEndpoint("c" + i, { projectId: "prj-" + i, branchId: "br-1", size: 1 });
      for (let i = 1; i < 4; i++) new svc.ComputeEndpoint("same" + i, { projectId: "prj-same", branchId: "br-" + i, size: 1 });`,
  });
  const { service } = stack;
  for (const id of ["prj-0", "prj-1", "prj-2", "prj-3", "prj-4", "prj-same"]) {
    await service.addProject({ id, branches: BRANCHES.slice(0, 4) });
  }
  const before = await service.state();
  expect(await stack.up("--parallel", "16")).toMatchObject({ code: 0 });
  const posts = (await service.requests()).filter(({ method }) => method === "POST");
  expect(posts).toHaveLength(8);
  // One after the other, eight starts of 4 s each would lie 28 s apart at least.
  const sentAt = posts.map(({ at }) => Date.parse(at));
  expect(Math.max(...sentAt) - Math.min(...sentAt)).toBeLessThan(7 * 4_000);
  await stack.finish(before);
});
