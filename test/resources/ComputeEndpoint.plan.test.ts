import { computes, endpointId, LEAST, URN, warningsOf } from "./computeCases";
import { UNKNOWN, type Harness, type State } from "./harness";

const OLDS = { ...LEAST, size: 2, restartTriggers: ["v1"] };

async function declared(): Promise<{ compute: Harness; state: State; id: string }> {
  const compute = await computes();
  const state = await compute.create(OLDS);
  return { compute, state, id: endpointId(state) };
}

const plan = async (news: object) => {
  const { compute, state, id } = await declared();
  return { id, warnings: await warningsOf(compute, state, OLDS, { ...OLDS, ...news }) };
};

test.each([
  ["known", 4],
  ["not known yet", UNKNOWN],
])("a size that is %s and changes: it restarts, connections are dropped", async (_what, size) => {
  const { id, warnings } = await plan({ size });
  expect(warnings).toEqual([`a change of "size" restarts compute ${id}: open connections are dropped`]);
});

test("a restart trigger: an active compute restarts", async () => {
  const { id, warnings } = await plan({ restartTriggers: ["v2"] });
  expect(warnings).toEqual([
    `a changed restart trigger restarts compute ${id} when it is active: open connections are dropped`,
  ]);
});

test("a move: from where to where, and what stays", async () => {
  const { id, warnings } = await plan({ branchId: "br-test" });
  expect(warnings).toEqual([
    `compute ${id} moves from br-dev to br-test: it keeps its id and host, and serves the data of the other branch from then on`,
  ]);
});

test("a move to a branch that is not known yet", async () => {
  const { id, warnings } = await plan({ branchId: UNKNOWN });
  expect(warnings).toEqual([
    `compute ${id} moves from br-dev to another branch: it keeps its id and host, and serves the data of the other branch from then on`,
  ]);
});

test.each([
  [{ type: "read_only" }, '"type"'],
  [{ projectId: "prj-other" }, '"projectId"'],
  [{ projectId: "prj-other", type: "read_only", size: 4 }, '"projectId", "type"'],
])("a replacement by %j: another host, and nothing else is worth saying", async (news, names) => {
  const { id, warnings } = await plan(news);
  expect(warnings).toEqual([
    `a change of ${names} replaces compute ${id}: it is deleted first, and the new one has another id and another host`,
  ]);
});

test.each([
  ["the compute itself: a new one is made", true],
  ["another compute: nothing of that", false],
])("a replacement while adopt names %s", async (_what, itself) => {
  const { compute, state, id } = await declared();
  const news = { ...OLDS, type: "read_only", adopt: itself ? id : "ep-other-1" };
  const [warning, ...more] = await warningsOf(compute, state, OLDS, news);
  expect(more).toEqual([]);
  expect(warning).toBe(
    `a change of "type" replaces compute ${id}: it is deleted first, and the new one has another id and another host` +
      (itself ? '; "adopt", which names the old one, has no effect then' : ""),
  );
});

test("an argument that is taken out: it is no longer managed", async () => {
  const { compute, state } = await declared();
  expect(await warningsOf(compute, state, OLDS, LEAST)).toEqual([
    `"size" of ComputeEndpoint ${state.id} is no longer managed: it stays as it is at the service, and a change of it there is not found any more`,
    `"restartTriggers" of ComputeEndpoint ${state.id} is no longer managed`,
  ]);
});

test("an autoscaling span wider than 8 CU: newer rules of the service", async () => {
  const { id, warnings } = await plan({ size: { min: 1, max: 10 } });
  expect(warnings).toEqual([
    `a change of "size" restarts compute ${id}: open connections are dropped`,
    `compute ${id} would scale over 9 CU: newer rules of the service allow 8 CU between min and max`,
  ]);
  expect((await plan({ size: { min: 8, max: 16 } })).warnings).toHaveLength(1);
});

test("a wide span of a compute that is to be created is told as well, and not again once it stands", async () => {
  const compute = await computes();
  const wide = { ...LEAST, size: { min: 1, max: 10 } };
  expect(await compute.check(wide)).toEqual([]);
  expect(compute.log).toEqual([
    {
      severity: "warning",
      message:
        "the new compute on br-dev would scale over 9 CU: newer rules of the service allow 8 CU between min and max",
      urn: URN,
      ephemeral: false,
    },
  ]);
  const state = await compute.create(wide);
  compute.restart();
  expect(await warningsOf(compute, state, wide, wide)).toEqual([]);
});

test("disabling it: it is suspended, connections are dropped; enabling it says nothing", async () => {
  const { compute, state, id } = await declared();
  const disabled = { ...OLDS, disabled: true };
  expect(await warningsOf(compute, state, OLDS, disabled)).toEqual([
    `"disabled" suspends compute ${id}: open connections are dropped, and no query wakes it`,
  ]);
  const off = await compute.update(state, disabled);
  expect(await warningsOf(compute, off, disabled, { ...OLDS, disabled: false })).toEqual([]);
});

test("nothing is said of what drops no connection, nor where nothing changes", async () => {
  expect((await plan({ name: "reports", scaleToZero: false, poolerEnabled: true })).warnings).toEqual([]);
  expect((await plan({})).warnings).toEqual([]);
});

test("beginning to give restart triggers restarts nothing, and nothing is said", async () => {
  const compute = await computes();
  const state = await compute.create(LEAST);
  expect(await warningsOf(compute, state, LEAST, { ...LEAST, restartTriggers: ["v1"] })).toEqual([]);
});

test("each warning is said once in a process, and never in a refresh", async () => {
  const { compute, state } = await declared();
  const news = { ...OLDS, size: 4 };
  await compute.diff(state, news);
  expect(compute.log.filter(({ severity }) => severity === "warning")).toEqual([]);
  expect(await warningsOf(compute, state, OLDS, news)).toHaveLength(1);
  expect(await warningsOf(compute, state, OLDS, news)).toEqual([]);
});
