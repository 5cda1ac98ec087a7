import { computes, endpointId, LEAST, URN, warningsOf } from "../../support/computeCases";
import { offline, PROJECT, UNKNOWN, type Harness, type State } from "../../support/harness";

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

const RESTARTS = "when it is active: open connections are dropped";

test("a size: an active compute restarts, connections are dropped", async () => {
  const { id, warnings } = await plan({ size: 4 });
  expect(warnings).toEqual([`a change of "size" restarts compute ${id} ("thing") ${RESTARTS}`]);
});

test.each([
  ["size", UNKNOWN],
  ["size", { min: UNKNOWN, max: 4 }],
  ["restartTriggers", [UNKNOWN]],
])("%s that is not known yet (%j): it may restart", async (name, value) => {
  const { id, warnings } = await plan({ [name]: value });
  expect(warnings).toEqual([
    `compute ${id} ("thing") may restart, which drops open connections: its "${name}" is not known yet`,
  ]);
});

test("a restart trigger: an active compute restarts", async () => {
  const { id, warnings } = await plan({ restartTriggers: ["v2"] });
  expect(warnings).toEqual([`a changed restart trigger restarts compute ${id} ("thing") ${RESTARTS}`]);
});

test("a move: from where to where, and what stays", async () => {
  const { id, warnings } = await plan({ branchId: "br-test" });
  expect(warnings).toEqual([
    `compute ${id} ("thing") moves from br-dev to br-test: it keeps its id and host, and serves the data of the other branch from then on; expect open connections to be dropped`,
  ]);
});

test("a branch that is not known yet: it may move", async () => {
  const { id, warnings } = await plan({ branchId: UNKNOWN });
  expect(warnings).toEqual([
    `compute ${id} ("thing") may move from br-dev: its "branchId" is not known yet. It keeps its id and host, and serves the data of the other branch then; expect open connections to be dropped`,
  ]);
});

test.each([
  // Until it is known, it may be the same branch.
  ["projectId", "first"],
  ["type", "first"],
  ["regionId", "first"],
])("a %s that is not known yet: it may be replaced, and is deleted %s then", async (name, order) => {
  const { id, warnings } = await plan({ [name]: UNKNOWN });
  expect(warnings).toEqual([
    `ComputeEndpoint ${PROJECT}/${id} ("thing") may be replaced when "${name}" is known: it is deleted ${order}, and the new one has another id and another host`,
  ]);
});

test.each([
  [{ type: "read_only" }, '"type" changes', "last"],
  [{ projectId: "prj-other" }, '"projectId" changes', "last"],
  [{ regionId: "aws-eu-west-1" }, '"regionId" changes', "first"],
  [{ projectId: "prj-other", type: "read_only", size: 4 }, '"projectId", "type" change', "last"],
])("a replacement by %j: another host, the order, and nothing else", async (news, names, order) => {
  const { id, warnings } = await plan(news);
  expect(warnings).toEqual([
    `ComputeEndpoint ${PROJECT}/${id} ("thing") is replaced, because ${names}: it is deleted ${order}, and the new one has another id and another host`,
  ]);
});

test.each([
  ["the compute itself: a new one is made", true],
  ["another compute: it is taken over", false],
])("a replacement while adopt names %s", async (_what, itself) => {
  const { compute, state, id } = await declared();
  const news = { ...OLDS, type: "read_only", adopt: itself ? id : "ep-other-1" };
  const [warning, ...more] = await warningsOf(compute, state, OLDS, news);
  expect(more).toEqual([]);
  expect(warning).toBe(
    `ComputeEndpoint ${PROJECT}/${id} ("thing") is replaced, because "type" changes: it is deleted last, and the new one has another id and another host` +
      (itself
        ? '; "adopt", which names the old one, has no effect then'
        : '; "adopt" takes over ep-other-1 instead of creating one: if it is on another branch, it moves to br-dev: expect open connections to be dropped; if its size differs from the program, it restarts and drops open connections; it gets all arguments of the program, and Postgres settings that the program does not list are cleared if it lists any; destroying deletes it, unless retainOnDelete is set'),
  );
});

test("an argument that is taken out: it is no longer managed", async () => {
  const { compute, state } = await declared();
  expect(await warningsOf(compute, state, OLDS, LEAST)).toEqual([
    `"size" of ComputeEndpoint ${state.id} ("thing") is no longer managed: the value is unchanged, and drift is no longer detected`,
    `"restartTriggers" of ComputeEndpoint ${state.id} ("thing") is no longer managed`,
  ]);
});

test("an autoscaling span wider than 8 CU: newer rules of the service", async () => {
  const { id, warnings } = await plan({ size: { min: 1, max: 10 } });
  expect(warnings).toEqual([
    `a change of "size" restarts compute ${id} ("thing") ${RESTARTS}`,
    `compute ${id} ("thing") would scale over 9 CU: newer rules of the service allow 8 CU between min and max`,
  ]);
  expect((await plan({ size: { min: 8, max: 16 } })).warnings).toHaveLength(1);
});

test("a wide span of a compute that is to be created is reported as well, and not again once it stands", async () => {
  const compute = await computes();
  const wide = { ...LEAST, size: { min: 1, max: 10 } };
  expect(await compute.check(wide)).toEqual([]);
  expect(compute.log).toEqual([
    {
      severity: "warning",
      message:
        'the new compute on br-dev ("thing") would scale over 9 CU: newer rules of the service allow 8 CU between min and max',
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
    `"disabled" suspends compute ${id} ("thing"): open connections are dropped, and no query wakes it`,
  ]);
  const off = await compute.update(state, disabled);
  expect(await warningsOf(compute, off, disabled, { ...OLDS, disabled: false })).toEqual([]);
  expect(await warningsOf(compute, state, OLDS, { ...OLDS, disabled: UNKNOWN })).toEqual([
    `compute ${id} ("thing") may be suspended, which drops open connections: its "disabled" is not known yet`,
  ]);
});

test.each([
  [{ pgSettings: { work_mem: "1MB" } }, ["preloadLibraries"]],
  [{ preloadLibraries: { enabledLibraries: ["timescaledb"] } }, ["pgSettings", "preloadLibraries.useDefaults"]],
  [{ pgSettings: {}, preloadLibraries: { useDefaults: false } }, ["preloadLibraries.enabledLibraries"]],
])("settings with only %j left: the rest is no longer managed", async (settings, parts) => {
  const compute = await computes();
  const whole = {
    pgSettings: { work_mem: "1MB" },
    preloadLibraries: { useDefaults: false, enabledLibraries: ["timescaledb"] },
  };
  const state = await compute.create({ ...LEAST, settings: whole });
  expect(await warningsOf(compute, state, { ...LEAST, settings: whole }, { ...LEAST, settings })).toEqual(
    parts.map(
      (part) =>
        `"settings.${part}" of compute ${endpointId(state)} ("thing") is no longer managed: the value is unchanged`,
    ),
  );
});

describe("an adoption", () => {
  const createWarnings = async (inputs: object) => {
    const compute = await computes();
    const { failures, warnings } = await offline(() => compute.plan({ ...LEAST, ...inputs }));
    expect(failures).toEqual([]);
    return warnings;
  };
  const BROUGHT =
    "if its size differs from the program, it restarts and drops open connections; it gets all arguments of the program, and Postgres settings that the program does not list are cleared if it lists any; destroying deletes it, unless retainOnDelete is set";

  test("of a branch's primary: what it does to that, and to whom it belongs from then on", async () => {
    expect(await createWarnings({ adopt: true, size: 2 })).toEqual([
      `ComputeEndpoint ("thing") takes over the primary compute of br-dev, if there is one, instead of creating one: ${BROUGHT}`,
    ]);
    expect(await createWarnings({ adopt: true, branchId: UNKNOWN })).toEqual([
      `ComputeEndpoint ("thing") takes over the primary compute of its branch, if there is one, instead of creating one: ${BROUGHT}`,
    ]);
  });

  test("of one by its id: it may move", async () => {
    expect(await createWarnings({ adopt: "ep-there-1" })).toEqual([
      `ComputeEndpoint ("thing") takes over ep-there-1 instead of creating one: if it is on another branch, it moves to br-dev: expect open connections to be dropped; ${BROUGHT}`,
    ]);
    expect(await createWarnings({ adopt: "ep-there-1", branchId: UNKNOWN, type: "read_only" })).toEqual([
      `ComputeEndpoint ("thing") takes over ep-there-1 instead of creating one: if it is on another branch, it moves: expect open connections to be dropped; ${BROUGHT}`,
    ]);
  });

  test("of one that is to be disabled: connections are dropped", async () => {
    expect(await createWarnings({ adopt: true, disabled: true })).toEqual([
      expect.stringMatching(/^ComputeEndpoint \("thing"\) takes over the primary/),
      `"disabled" suspends the compute on br-dev ("thing"): open connections are dropped, and no query wakes it`,
    ]);
  });

  test("with a wide span: it is no new compute", async () => {
    expect(await createWarnings({ adopt: true, size: { min: 1, max: 10 } })).toContain(
      `the compute on br-dev ("thing") would scale over 9 CU: newer rules of the service allow 8 CU between min and max`,
    );
  });

  test("is not announced of a replacement, which has deleted what it names", async () => {
    const compute = await computes();
    const adopting = { ...LEAST, adopt: "ep-there-1" };
    await compute.check({ ...adopting, type: "read_only" }, adopting);
    await compute.check({ ...adopting, type: "read_only" });
    expect(compute.log).toEqual([]);
  });

  test("is not announced of a read replica without an id, which is refused", async () => {
    const compute = await computes();
    const problems = await compute.check({ ...LEAST, type: "read_only", adopt: true });
    expect(problems).toEqual([expect.stringMatching(/^adopt: must name a read replica by its id/)]);
    expect(compute.log).toEqual([]);
  });

  test("is not announced once it stands, nor where there is none", async () => {
    expect(await createWarnings({ adopt: false })).toEqual([]);
    const compute = await computes();
    const adopting = { ...LEAST, adopt: true };
    const state = await compute.create(adopting);
    expect(await warningsOf(compute, state, adopting, adopting)).toEqual([]);
  });
});

test("nothing is reported of what drops no connection, nor where nothing changes", async () => {
  expect((await plan({ name: "reports", scaleToZero: false, poolerEnabled: true })).warnings).toEqual([]);
  expect((await plan({})).warnings).toEqual([]);
});

test("a first restart trigger: an active compute restarts", async () => {
  const compute = await computes();
  const state = await compute.create(LEAST);
  expect(await warningsOf(compute, state, LEAST, { ...LEAST, restartTriggers: ["v1"] })).toEqual([
    `a first restart trigger restarts compute ${endpointId(state)} ("thing") ${RESTARTS}`,
  ]);
});

test("each warning is reported once in a process, and never in a refresh", async () => {
  const { compute, state } = await declared();
  const news = { ...OLDS, size: 4 };
  await compute.diff(state, news);
  expect(compute.log.filter(({ severity }) => severity === "warning")).toEqual([]);
  expect(await warningsOf(compute, state, OLDS, news)).toHaveLength(1);
  expect(await warningsOf(compute, state, OLDS, news)).toEqual([]);
});
