import {
  allAtService,
  atService,
  computes,
  DEMO_PRIMARY,
  endpointId,
  EVERY,
  EVERY_ATTRIBUTE,
  ENDPOINTS,
  LEAST,
  sent,
} from "../../support/computeCases";
import { expectNoSecrets, PROJECT, thrownBy } from "../../support/harness";

describe("creating", () => {
  test("sends every argument in the words of the service, and stands there as declared", async () => {
    const compute = await computes();
    const state = await compute.create(EVERY);
    expect(sent(await compute.mutations())).toEqual([EVERY_ATTRIBUTE]);
    expect(await atService(compute, endpointId(state))).toMatchObject({
      ...EVERY_ATTRIBUTE,
      current_state: "active",
    });
  });

  test("its outs are complete: every argument, every output, plain JSON", async () => {
    const compute = await computes();
    const { id, outs } = await compute.create(EVERY);
    const [record] = (await allAtService(compute)).filter(({ id: other }) => other !== DEMO_PRIMARY);
    expect(id).toBe(`${PROJECT}/${String(record?.["id"])}`);
    expect(outs).toEqual({
      ...EVERY,
      endpointId: record?.["id"],
      host: record?.["host"],
      pooledHost: String(record?.["host"]).replace(".", "-pooler."),
      proxyHost: record?.["proxy_host"],
      autoscalingLimitMinCu: 1,
      autoscalingLimitMaxCu: 4,
      suspendTimeoutSeconds: 900,
      maxConnections: { min: 450, max: 1802 },
      creationSource: "console",
      createdAt: record?.["created_at"],
      __urn: expect.any(String),
      __provider: "pointer",
      __args: Object.keys(EVERY).sort(),
      __version: 1,
    });
  });

  test("what is left out is not sent, and the compute is a primary", async () => {
    const compute = await computes();
    const state = await compute.create(LEAST);
    expect(sent(await compute.mutations())).toEqual([{ branch_id: "br-dev", type: "read_write" }]);
    expect(state.outs["__args"]).toEqual(["branchId", "projectId"]);
    // Not managed, but it can be read off the resource.
    expect(state.outs).toMatchObject({ size: { min: 0.25, max: 2 }, scaleToZero: true, poolerEnabled: false });
  });

  test.each([
    [0.25, 112],
    [20, 4000],
    [40, undefined],
  ])("a fixed size of %d CU is sent as both limits, and %p is its number of connections", async (size, connections) => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, size });
    expect(sent(await compute.mutations())).toEqual([
      { branch_id: "br-dev", type: "read_write", autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size },
    ]);
    expect(state.outs["maxConnections"]).toBe(connections);
    expect(state.outs["size"]).toBe(size);
  });

  test.each([
    [true, 0],
    [false, -1],
    [{ afterSeconds: 60 }, 60],
    [{ afterSeconds: 604_800 }, 604_800],
  ])("scaleToZero %p is %d seconds at the service", async (scaleToZero, seconds) => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, scaleToZero });
    expect((await atService(compute, endpointId(state)))["suspend_timeout_seconds"]).toBe(seconds);
    expect(state.outs).toMatchObject({ scaleToZero, suspendTimeoutSeconds: seconds });
  });

  test("a read replica that is created idle is ready", async () => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, branchId: "br-main", type: "read_only" });
    expect(await atService(compute, endpointId(state))).toMatchObject({ type: "read_only", current_state: "idle" });
    expect(state.outs).not.toHaveProperty("__unfinished");
  });

  test("a disabled compute is ready when it is idle", async () => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, disabled: true });
    expect(await atService(compute, endpointId(state))).toMatchObject({ disabled: true, current_state: "idle" });
    expect(state.outs).not.toHaveProperty("__unfinished");
  });

  test("a primary is not ready before it is active", async () => {
    const compute = await computes({ activationMs: 300 });
    const state = await compute.create(LEAST);
    expect((await atService(compute, endpointId(state)))["current_state"]).toBe("active");
  });

  test("works on a service that has the documented routes alone, and with fields that nobody lists", async () => {
    const compute = await computes({ seedOnly: true, variants: { extraFields: true } });
    const state = await compute.create(EVERY);
    const larger = await compute.update(state, { ...EVERY, size: 8 });
    compute.restart();
    expect((await compute.diff((await compute.read(larger)) ?? larger, { ...EVERY, size: 8 })).changes).toBe(false);
    await compute.delete(larger);
    expect(await allAtService(compute)).toHaveLength(1);
  });

  test.each([
    ["a branch that does not exist", { branchId: "br-nowhere" }, /404/],
    ["a region that is not the project's", { regionId: "elsewhere" }, /400/],
    ["a project that does not exist", { projectId: "prj-nowhere" }, /404/],
  ])("%s is an error with a message, and nothing is in the state", async (_what, wrong, words) => {
    const compute = await computes();
    const error = await thrownBy(compute.create({ ...LEAST, ...wrong }));
    expect(error.message).toMatch(/^Could not create ComputeEndpoint \("thing"\): /);
    expect(error.message).toMatch(words);
    expect(error).not.toHaveProperty("id");
    expectNoSecrets(compute);
  });
});

describe("a plan", () => {
  test("a replica whose type is taken out of the program becomes a primary: it is replaced", async () => {
    const compute = await computes();
    const { type: _type, ...rest } = { ...LEAST, type: "read_only" };
    const state = await compute.create({ ...rest, type: "read_only" });
    expect((await compute.diff(state, rest)).replaces).toEqual(["type"]);
  });

  test("a primary whose type is taken out of the program, or put into it, stays what it is", async () => {
    const compute = await computes();
    const plain = await compute.create(LEAST);
    expect((await compute.diff(plain, { ...LEAST, type: "read_write" })).replaces).toEqual([]);
    const typed = await compute.update(plain, { ...LEAST, type: "read_write" });
    expect((await compute.diff(typed, LEAST)).replaces).toEqual([]);
  });

  test.each([
    [2, { min: 2, max: 2 }],
    [{ min: 2, max: 2 }, 2],
  ])("a size of %j is the same as %j", async (before, after) => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, size: before });
    expect((await compute.diff(state, { ...LEAST, size: after })).changes).toBe(false);
  });

  test("scale to zero after 300 s is the service's default, so both are the same", async () => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, scaleToZero: true });
    expect((await compute.diff(state, { ...LEAST, scaleToZero: { afterSeconds: 300 } })).changes).toBe(false);
    expect((await compute.diff(state, { ...LEAST, scaleToZero: { afterSeconds: 301 } })).changes).toBeUndefined();
    expect((await compute.diff(state, { ...LEAST, scaleToZero: false })).changes).toBeUndefined();
  });
});

describe("reading", () => {
  test("one list answers for every compute of the project", async () => {
    const compute = await computes();
    const made = [];
    for (const name of ["a", "b", "c"]) made.push(await compute.create({ ...LEAST, type: "read_only", name }));
    compute.restart();
    await compute.forgetRequests();
    await Promise.all(made.map((state) => compute.read(state)));
    expect((await compute.requests()).map(({ method, path }) => `${method} ${path}`)).toEqual([`GET ${ENDPOINTS}`]);
  });

  test("one that is only looked up needs no arguments", async () => {
    const compute = await computes();
    const found = await compute.read({ id: `${PROJECT}/${DEMO_PRIMARY}`, outs: {} });
    expect(found?.outs).toMatchObject({ endpointId: DEMO_PRIMARY, branchId: "br-main", size: { min: 0.25, max: 2 } });
  });

  test("an id of another shape is an error, not a compute that is gone", async () => {
    const compute = await computes();
    expect((await thrownBy(compute.read({ id: DEMO_PRIMARY, outs: {} }))).message).toMatch(/must have the form/);
  });
});

describe("deleting", () => {
  test("takes it away, and waits until it is gone", async () => {
    const compute = await computes();
    const state = await compute.create(LEAST);
    await compute.delete(state);
    expect((await allAtService(compute)).map(({ id }) => id)).toEqual([DEMO_PRIMARY]);
  });

  test.each([{ goneEndpointDelete: 204 }, { goneEndpointDelete: 404 }] as const)(
    "a second time succeeds, on a service with %j",
    async (variants) => {
      const compute = await computes({ variants });
      const state = await compute.create(LEAST);
      await compute.delete(state);
      await compute.delete(state);
    },
  );

  test("fails when the service refuses, and can be tried again", async () => {
    const compute = await computes();
    const state = await compute.create(LEAST);
    await compute.fault({ method: "DELETE", status: 403 });
    expect((await thrownBy(compute.delete(state))).message).toMatch(/^Could not delete ComputeEndpoint .*403/);
    await compute.delete(state);
    expect(await allAtService(compute)).toHaveLength(1);
  });
});
