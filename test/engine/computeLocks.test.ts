import { Stack } from "../support/Stack";

const BRANCHES = Array.from({ length: 10 }, (_, index) => ({
  id: `br-${index}`,
  ...(index === 0 && { default: true }),
}));

test.each([423, 409] as const)(
  "ten computes of a project that locks with %d are created at the first try, and each is refused once at most",
  async (lockStatus) => {
    const stack = await Stack.create({
      emulator: { lockProjects: true, lockStatus, activationMs: 150 },
      program: `for (let i = 0; i < 10; i++) new svc.ComputeEndpoint("c" + i, { projectId: "prj-ten", branchId: "br-" + i, size: 1 });`,
    });
    const { service } = stack;
    await service.addProject({ id: "prj-ten", branches: BRANCHES });
    const before = await service.state();
    const run = await stack.up();
    expect(run).toMatchObject({ code: 0 });
    const refused = (await service.requests()).filter(({ status }) => status === lockStatus);
    expect(refused.length).toBeLessThan(BRANCHES.length);
    expect(await service.endpoints("prj-ten")).toHaveLength(10);
    await stack.finish(before);
  },
);

interface Span {
  readonly projectId: unknown;
  readonly from: number;
  readonly to: number;
}

/** When the service worked on which object, in order of the start. */
async function operations(stack: Stack): Promise<Span[]> {
  const { projects } = await stack.service.state();
  const records = projects.flatMap((project) => project["operations"] as Record<string, unknown>[]);
  const time = (moment: unknown) => Date.parse(String(moment));
  const spans = records.map(({ project_id, created_at, updated_at }) => ({
    projectId: project_id,
    from: time(created_at),
    to: time(updated_at),
  }));
  return spans.sort((left, right) => left.from - right.from);
}

const overlapsAnother = (span: Span, spans: readonly Span[]) =>
  spans.some((other) => other !== span && other.from < span.to && span.from < other.to);

test("computes of five projects, and of one that does not lock, are created side by side", async () => {
  const stack = await Stack.create({
    // Far longer than the engine needs between two creations, on a slow machine too.
    emulator: { activationMs: 6_000 },
    program: `for (let i = 0; i < 5; i++) new svc.ComputeEndpoint("c" + i, { projectId: "prj-" + i, branchId: "br-1", size: 1 });
      for (let i = 1; i < 6; i++) new svc.ComputeEndpoint("same" + i, { projectId: "prj-same", branchId: "br-" + i, size: 1 });`,
  });
  const { service } = stack;
  for (const id of ["prj-0", "prj-1", "prj-2", "prj-3", "prj-4", "prj-same"]) {
    await service.addProject({ id, branches: BRANCHES.slice(0, 6) });
  }
  const before = await service.state();
  expect(await stack.up("--parallel", "16")).toMatchObject({ code: 0 });
  expect((await service.requests()).filter(({ method }) => method === "POST")).toHaveLength(10);

  const all = await operations(stack);
  // One creation in each of the five projects; the project with five creations cannot replace another.
  const apart = all.filter(({ projectId }) => projectId !== "prj-same");
  expect(new Set(apart.map(({ projectId }) => projectId)).size).toBe(5);
  expect(apart.filter((span) => !overlapsAnother(span, apart))).toEqual([]);
  const same = all.filter(({ projectId }) => projectId === "prj-same");
  expect(same).toHaveLength(5);
  expect(same.filter((span) => !overlapsAnother(span, same))).toEqual([]);
  await stack.finish(before);
});
