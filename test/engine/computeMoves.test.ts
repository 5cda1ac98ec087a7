import { Stack } from "../support/Stack";

const two = (a: string, b: string) => `
  ${a && `new svc.ComputeEndpoint("a", { projectId: "prj-demo", branchId: "${a}", size: 1 });`}
  ${b && `new svc.ComputeEndpoint("b", { projectId: "prj-demo", branchId: "${b}", size: 1 });`}`;

const placed = async (stack: Stack) =>
  Object.fromEntries(
    (await stack.resources()).map(({ urn, outputs }) => [urn.split("::").at(-1), outputs["branchId"]]),
  );

test("a chain of moves with one slot: in the order of dependsOn it works, else it works or the words say what to do", async () => {
  const chain = (by: number, ordered: boolean): string =>
    [3, 2, 1]
      .map((n) => {
        const options = ordered && n < 3 ? `, { dependsOn: [r${n + 1}] }` : "";
        return `const r${n} = new svc.ComputeEndpoint("r${n}", { projectId: "prj-demo", branchId: "br-${n + by}", size: 1 }${options});`;
      })
      .join("\n");
  const stack = await Stack.create({ program: chain(0, false) });
  for (const n of [1, 2, 3, 4]) await stack.service.edit({ kind: "branch", create: { id: `br-${n}`, name: `n${n}` } });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });

  // The engine takes them in any order, mostly the last one first.
  stack.program(chain(1, false));
  const any = await stack.up("--parallel", "1");
  if (any.code !== 0) {
    // If the engine has not compared the occupant yet, only the occupied branch is known.
    expect(any.text).toMatch(
      /"r\d" of this program manages ep-\S+, whose move has failed or has not started: with --parallel 1|already has a primary compute .* Use two steps/,
    );
    expect(await stack.up()).toMatchObject({ code: 0 });
  }
  expect(await placed(stack)).toEqual({ r1: "br-2", r2: "br-3", r3: "br-4" });

  stack.program(chain(0, false).replace(/br-1/, "br-5"));
  await stack.service.edit({ kind: "branch", create: { id: "br-5", name: "n5" } });
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(chain(1, true));
  expect(await stack.up("--parallel", "1")).toMatchObject({ code: 0 });
  expect(await placed(stack)).toEqual({ r1: "br-2", r2: "br-3", r3: "br-4" });
  await stack.finish(before);
});

test("a move to the branch that another compute leaves works; a swap, or one that goes last, fails with the two-step way", async () => {
  const stack = await Stack.create({ program: two("br-dev", "br-test") });
  await stack.service.edit({ kind: "branch", create: { id: "br-free", name: "free" } });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });

  stack.program(two("br-test", "br-free"));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await placed(stack)).toEqual({ a: "br-test", b: "br-free" });

  // Two that swap branches.
  await stack.service.clearRequests();
  stack.program(two("br-free", "br-test"));
  const swap = await stack.up();
  expect(swap.code).not.toBe(0);
  expect(swap.text).toMatch(/br-(test|free) already has a primary compute \(ep-\S+\).*[Tt]wo steps/s);
  expect(await stack.service.mutations()).toEqual([]);

  // A move onto a branch whose primary goes last.
  stack.program(two("br-free", ""));
  const onto = await stack.up();
  expect(onto.code).not.toBe(0);
  expect(onto.text).toMatch(/br-free already has a primary compute.*[Tt]wo steps/s);

  // The two steps: first the one in the way, then the move.
  stack.program(two("br-test", ""));
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(two("br-free", ""));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await placed(stack)).toEqual({ a: "br-free" });
  await stack.finish(before);
});
