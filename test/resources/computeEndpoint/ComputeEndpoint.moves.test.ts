import {
  allAtService,
  atService,
  computes,
  DEMO_PRIMARY,
  endpointId,
  ENDPOINTS,
  LEAST,
  put,
  sent,
} from "../../support/computeCases";
import { PROJECT, thrownBy, urnOf, type Harness, type State } from "../../support/harness";

const on = (branchId: string, more: object = {}) => ({ ...LEAST, branchId, ...more });

/** Where each primary is, by its id. */
const places = async (compute: Harness): Promise<Record<string, unknown>> =>
  Object.fromEntries((await allAtService(compute)).map(({ id, branch_id }) => [id, branch_id]));

const demo: State = {
  id: `${PROJECT}/${DEMO_PRIMARY}`,
  outs: { projectId: PROJECT, branchId: "br-main", __args: ["projectId", "branchId"], __version: 1 },
};

const patches = async (compute: Harness) =>
  (await compute.requests("PATCH")).map(({ path, body }) => [path.slice(ENDPOINTS.length + 1), body?.["endpoint"]]);

test("a move is one request, and the compute keeps its id and host", async () => {
  const compute = await computes();
  const state = await compute.create(on("br-dev", { size: 2 }));
  const after = await compute.update(state, on("br-test", { size: 2 }));
  expect(await patches(compute)).toEqual([[endpointId(state), { branch_id: "br-test" }]]);
  expect(after.id).toBe(state.id);
  expect(after.outs).toMatchObject({ branchId: "br-test", host: state.outs["host"], endpointId: endpointId(state) });
});

test("an idle compute moves as it is", async () => {
  const compute = await computes();
  const state = await compute.create(on("br-dev"));
  await put(compute, endpointId(state), "suspend");
  await compute.update(state, on("br-test"));
  expect(await atService(compute, endpointId(state))).toMatchObject({ branch_id: "br-test", current_state: "idle" });
});

test("a replica moves to a branch that has a primary", async () => {
  const compute = await computes();
  const state = await compute.create(on("br-dev", { type: "read_only" }));
  await compute.update(state, on("br-main", { type: "read_only" }));
  expect((await places(compute))[endpointId(state)]).toBe("br-main");
});

test("a move to a branch that has a primary is an error before anything else is changed, and names the two steps", async () => {
  const compute = await computes();
  const state = await compute.create(on("br-dev"));
  await compute.forgetRequests();
  const error = await thrownBy(compute.update(state, on("br-main", { size: 4, name: "reports" })));
  expect(error.message).toBe(
    `Could not update ComputeEndpoint ${state.id} ("thing"): br-main already has a primary compute (${DEMO_PRIMARY}), and a branch can have only one. Nothing was changed. ` +
      `Use two steps: first move ${DEMO_PRIMARY} to a free branch, or remove it from the program, and run pulumi up; ` +
      "then move this one and run pulumi up again",
  );
  expect(error).not.toHaveProperty("id");
  expect(await compute.mutations()).toEqual([]);
});

test("a compute that somebody moves to its new branch at the same moment is not in its own way", async () => {
  const compute = await computes();
  const state = await compute.create(on("br-dev"));
  const before = await compute.get(ENDPOINTS);
  await compute.edit({ kind: "endpoint", id: endpointId(state), set: { branch_id: "br-test" } });
  // The list in which the update finds it.
  await compute.fault({ method: "GET", path: ENDPOINTS, status: 200, body: before });
  expect((await compute.update(state, on("br-test"))).outs).toMatchObject({ branchId: "br-test" });
});

test("a move to a branch that is gone leaves the compute where it is", async () => {
  const compute = await computes();
  const state = await compute.create(on("br-dev"));
  expect((await thrownBy(compute.update(state, on("br-nowhere")))).message).toMatch(/404/);
  expect((await places(compute))[endpointId(state)]).toBe("br-dev");
});

describe("in one up", () => {
  test.each([
    ["the one in front first", true],
    ["the one behind first", false],
  ])("a chain of moves works, whichever the engine begins with: %s", async (_which, frontFirst) => {
    const compute = await computes();
    const state = await compute.create(on("br-dev"));
    await compute.forgetRequests();
    const moves = [() => compute.update(demo, on("br-dev")), () => compute.update(state, on("br-test"))];
    await Promise.all((frontFirst ? moves.reverse() : moves).map((move) => move()));
    expect(await places(compute)).toEqual({ [DEMO_PRIMARY]: "br-dev", [endpointId(state)]: "br-test" });
    expect(await patches(compute)).toHaveLength(2);
  });

  test("a chain works when the engine begins with the one in front a second later", async () => {
    const compute = await computes({}, { siblingStartsMs: 1_500 });
    const state = await compute.create(on("br-dev"));
    const behind = compute.update(demo, on("br-dev"));
    await new Promise((resolve) => setTimeout(resolve, 700));
    await Promise.all([behind, compute.update(state, on("br-test"))]);
    expect(await places(compute)).toEqual({ [DEMO_PRIMARY]: "br-dev", [endpointId(state)]: "br-test" });
  });

  test("a chain works on a project that locks", async () => {
    const compute = await computes({ lockProjects: true });
    const state = await compute.create(on("br-dev"));
    await Promise.all([compute.update(demo, on("br-dev")), compute.update(state, on("br-test"))]);
    expect(await places(compute)).toEqual({ [DEMO_PRIMARY]: "br-dev", [endpointId(state)]: "br-test" });
  });

  test("a new compute takes the branch that another one leaves", async () => {
    const compute = await computes();
    const [made] = await Promise.all([compute.create(on("br-main")), compute.update(demo, on("br-dev"))]);
    expect(await places(compute)).toEqual({ [DEMO_PRIMARY]: "br-dev", [endpointId(made)]: "br-main" });
  });

  test("a compute takes the branch whose primary is being deleted", async () => {
    const compute = await computes();
    const state = await compute.create(on("br-dev"));
    await Promise.all([compute.update(state, on("br-main")), compute.delete(demo)]);
    expect(await places(compute)).toEqual({ [endpointId(state)]: "br-main" });
  });

  describe("a read replica of the name of one that is being deleted", () => {
    const replica = on("br-main", { type: "read_only", name: "reports" });
    const other = { ...replica, __urn: urnOf("ComputeEndpoint", "other"), __provider: "pointer" };

    /** The deletion, and the creation of another resource while it is on its way. */
    async function replaced(fault: object) {
      const compute = await computes();
      const old = await compute.create(replica);
      compute.restart();
      await compute.fault({ method: "DELETE", path: `${ENDPOINTS}/${endpointId(old)}`, delayMs: 300, ...fault });
      const [, made] = await Promise.allSettled([compute.delete(old), compute.provider.create(other)]);
      return { compute, old, made };
    }

    test("waits for that", async () => {
      const { compute, old, made } = await replaced({});
      expect(made).toMatchObject({ status: "fulfilled" });
      const replicas = Object.keys(await places(compute)).filter((id) => id !== DEMO_PRIMARY);
      expect(replicas).toHaveLength(1);
      expect(replicas).not.toContain(endpointId(old));
    });

    test("is refused if the deletion fails", async () => {
      const { compute, old, made } = await replaced({ status: 403 });
      const words = `the branch already has a read replica of this name: ${endpointId(old)} on br-main`;
      expect(made).toMatchObject({ reason: { message: expect.stringContaining(words) } });
      expect(Object.keys(await places(compute))).toEqual([DEMO_PRIMARY, endpointId(old)]);
    });
  });

  test("a compute takes the branch of one that was deleted, also while a list still shows that", async () => {
    const compute = await computes();
    const state = await compute.create(on("br-dev"));
    const before = await compute.get(ENDPOINTS);
    await compute.delete(demo);
    // Once for the compute itself, and once for its new branch.
    await compute.fault({ method: "GET", path: ENDPOINTS, status: 200, body: before, times: 2 });
    await compute.update(state, on("br-main"));
    expect(await places(compute)).toEqual({ [endpointId(state)]: "br-main" });
  });

  test("who waits for another compute says for which one", async () => {
    const compute = await computes();
    const state = await compute.create(on("br-dev"));
    await Promise.all([compute.update(demo, on("br-dev")), compute.update(state, on("br-test"))]);
    const waits = compute.log.filter(({ ephemeral }) => ephemeral).map(({ message }) => message);
    expect(waits).toContainEqual(expect.stringContaining(`waiting for ${endpointId(state)} to leave br-dev`));
  });

  test("a chain whose front fails leaves the rest where it is, with words", async () => {
    const compute = await computes();
    const state = await compute.create(on("br-dev"));
    const [behind, front] = await Promise.all([
      thrownBy(compute.update(demo, on("br-dev"))),
      thrownBy(compute.update(state, on("br-nowhere"))),
    ]);
    expect(front.message).toMatch(/404/);
    expect(behind.message).toMatch(/br-dev already has a primary compute.*Use two steps/);
    expect(await places(compute)).toEqual({ [DEMO_PRIMARY]: "br-main", [endpointId(state)]: "br-dev" });
  });

  test("two that swap branches both stay where they are, and the message says how to proceed", async () => {
    const compute = await computes();
    const state = await compute.create(on("br-dev"));
    await compute.forgetRequests();
    const errors = await Promise.all([
      thrownBy(compute.update(demo, on("br-dev", { size: 4 }))),
      thrownBy(compute.update(state, on("br-main", { size: 4 }))),
    ]);
    for (const { message } of errors) expect(message).toMatch(/Nothing was changed\. Use two steps: first move /);
    expect(errors.some(({ message }) => message.includes("computes cannot swap branches in one step"))).toBe(true);
    expect(await compute.mutations()).toEqual([]);
  });

  test("three that move in a circle end with a message too, not with a wait", async () => {
    const compute = await computes();
    const dev = await compute.create(on("br-dev"));
    const third = await compute.create(on("br-test"));
    await compute.forgetRequests();
    const errors = await Promise.all([
      thrownBy(compute.update(demo, on("br-dev"))),
      thrownBy(compute.update(dev, on("br-test"))),
      thrownBy(compute.update(third, on("br-main"))),
    ]);
    for (const { message } of errors) expect(message).toMatch(/Use two steps/);
    expect(await compute.mutations()).toEqual([]);
  });

  test("who waits for a compute that does not get away gives up at his own deadline", async () => {
    const compute = await computes({ activationMs: 2_000 });
    await compute.edit({ kind: "endpoint", create: { branch_id: "br-dev", type: "read_write" } });
    const front = (await allAtService(compute)).find(({ branch_id }) => branch_id === "br-dev");
    const state = { id: `${PROJECT}/${String(front?.["id"])}`, outs: { ...demo.outs, branchId: "br-dev" } };
    // The PATCH itself hangs, so that the branch stays occupied.
    await compute.fault({ method: "PATCH", delayMs: 2_000 });
    const moving = compute.update(state, on("br-test", { __timeouts: { update: 20 } }));
    const error = await thrownBy(compute.update(demo, on("br-dev", { __timeouts: { update: 1 } })));
    expect(error.message).toMatch(
      /ep-\S+ was still leaving br-dev after 1 s\. To wait longer, raise "customTimeouts\.update"\.$/,
    );
    await moving;
  }, 20_000);
});

test("the plan of a move sends nothing and reads nothing", async () => {
  const compute = await computes();
  const state = await compute.create(on("br-dev"));
  await compute.forgetRequests();
  expect((await compute.diff(state, on("br-main"))).replaces).toEqual([]);
  expect(await compute.requests()).toEqual([]);
  expect(sent(await compute.mutations())).toEqual([]);
});
