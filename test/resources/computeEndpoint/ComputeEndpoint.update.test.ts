import {
  atService,
  computes,
  editByHand,
  endpointId,
  ENDPOINTS,
  EVERY,
  LEAST,
  put,
  sent,
} from "../../support/computeCases";
import { thrownBy, type Json } from "../../support/harness";

describe("updating", () => {
  const others: readonly (readonly [name: string, value: unknown, attributes: Json])[] = [
    ["branchId", "br-test", { branch_id: "br-test" }],
    ["name", "billing", { name: "billing" }],
    ["size", 8, { autoscaling_limit_min_cu: 8, autoscaling_limit_max_cu: 8 }],
    ["size", { min: 0.5, max: 2 }, { autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 2 }],
    ["scaleToZero", false, { suspend_timeout_seconds: -1 }],
    ["scaleToZero", true, { suspend_timeout_seconds: 0 }],
    ["poolerEnabled", false, { pooler_enabled: false }],
    ["disabled", true, { disabled: true }],
    ["passwordlessAccess", true, { passwordless_access: true }],
    ["provisioner", "k8s-pod", { provisioner: "k8s-pod" }],
  ];
  test.each(others)("%s to %j sends that alone, and stands at the service", async (name, value, attributes) => {
    const compute = await computes();
    const state = await compute.create(EVERY);
    const before = await atService(compute, endpointId(state));
    await compute.forgetRequests();
    const after = await compute.update(state, { ...EVERY, [name]: value });
    const requests = await compute.mutations();
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `PATCH ${ENDPOINTS}/${endpointId(state)}`,
    ]);
    expect(sent(requests)).toEqual([attributes]);
    const now = await atService(compute, endpointId(state));
    const { updated_at: _a, last_active: _b, current_state, suspended_at: _c, ...rest } = { ...before, ...attributes };
    expect(now).toMatchObject(rest);
    expect(now["current_state"]).toBe(name === "disabled" ? "idle" : current_state);
    expect(after.outs).toMatchObject({ ...EVERY, [name]: value, host: state.outs["host"] });
    expect((await compute.diff(after, { ...EVERY, [name]: value })).changes).toBe(false);
  });

  test("several changes are one request", async () => {
    const compute = await computes();
    const state = await compute.create(EVERY);
    await compute.forgetRequests();
    await compute.update(state, { ...EVERY, name: "billing", size: 2, scaleToZero: false });
    expect(sent(await compute.mutations())).toEqual([
      { name: "billing", autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: -1 },
    ]);
  });

  test("an argument that is put into the program with another value is sent, with the same value it is not", async () => {
    const compute = await computes();
    const state = await compute.create(LEAST);
    await compute.forgetRequests();
    const managed = await compute.update(state, { ...LEAST, poolerEnabled: false });
    expect(await compute.mutations()).toEqual([]);
    await compute.update(managed, { ...LEAST, poolerEnabled: false, scaleToZero: false });
    expect(sent(await compute.mutations())).toEqual([{ suspend_timeout_seconds: -1 }]);
  });

  test("an argument that is removed is no longer managed: nothing is sent, and it does not drift any more", async () => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, name: "reports", size: 2 });
    await compute.forgetRequests();
    expect((await compute.diff(state, { ...LEAST, size: 2 })).changes).toBeUndefined();
    const after = await compute.update(state, { ...LEAST, size: 2 });
    expect(await compute.mutations()).toEqual([]);
    expect(after.outs["__args"]).toEqual(["branchId", "projectId", "size"]);
    await editByHand(compute, endpointId(state), { name: "by hand" });
    compute.restart();
    expect((await compute.diff((await compute.read(after)) ?? after, { ...LEAST, size: 2 })).changes).toBe(false);
  });

  test("an idle compute is changed as it is: it need not wake up for it", async () => {
    const compute = await computes();
    const state = await compute.create(LEAST);
    await put(compute, endpointId(state), "suspend");
    await compute.update(state, { ...LEAST, size: 4 });
    expect(await atService(compute, endpointId(state))).toMatchObject({
      current_state: "idle",
      autoscaling_limit_max_cu: 4,
    });
  });

  test("a compute that grows beyond what can sleep, and shrinks again, scales to zero as declared", async () => {
    const compute = await computes();
    const small = { ...LEAST, size: { min: 1, max: 2 }, scaleToZero: true };
    const large = { ...LEAST, size: 20, scaleToZero: false };
    const state = await compute.create(small);
    const grown = await compute.update(state, large);
    expect(await atService(compute, endpointId(state))).toMatchObject({ suspend_timeout_seconds: -1 });
    const shrunk = await compute.update(grown, small);
    expect(await atService(compute, endpointId(state))).toMatchObject({
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 2,
      suspend_timeout_seconds: 0,
    });
    expect((await compute.diff(shrunk, small)).changes).toBe(false);
  });

  test("one that is gone is an error that says how to go on", async () => {
    const compute = await computes();
    const state = await compute.create(LEAST);
    await compute.edit({ kind: "endpoint", id: endpointId(state), delete: true });
    const error = await thrownBy(compute.update(state, { ...LEAST, size: 4 }));
    expect(error.message).toMatch(/it no longer exists\. Run pulumi up --refresh/);
    expect(error).not.toHaveProperty("id");
  });
});

describe("settings", () => {
  const settings = (pgSettings?: Json, preloadLibraries?: Json) => ({
    ...LEAST,
    settings: { ...(pgSettings && { pgSettings }), ...(preloadLibraries && { preloadLibraries }) },
  });
  const stored = async (compute: Awaited<ReturnType<typeof computes>>, id: string) =>
    (await atService(compute, id))["settings"];

  test("a Postgres setting that is taken out is cleared at the service", async () => {
    const compute = await computes();
    const state = await compute.create(settings({ work_mem: "8MB", max_parallel_workers: "4" }));
    await compute.update(state, settings({ work_mem: "8MB" }));
    expect(await stored(compute, endpointId(state))).toEqual({ pg_settings: { work_mem: "8MB" } });
  });

  test("an empty map clears them all", async () => {
    const compute = await computes();
    const state = await compute.create(settings({ work_mem: "8MB" }));
    await compute.update(state, settings({}));
    expect(await stored(compute, endpointId(state))).toEqual({ pg_settings: {} });
  });

  test("the part that is not managed is carried along untouched", async () => {
    const compute = await computes();
    const state = await compute.create(settings({ work_mem: "8MB" }));
    const preload_libraries = { use_defaults: false, enabled_libraries: ["pg_cron"] };
    await editByHand(compute, endpointId(state), {
      settings: { pg_settings: { work_mem: "8MB" }, preload_libraries },
    });
    compute.restart();
    expect((await compute.diff((await compute.read(state)) ?? state, settings({ work_mem: "8MB" }))).changes).toBe(
      false,
    );
    await compute.forgetRequests();
    await compute.update(state, settings({ work_mem: "9MB" }));
    const after = { pg_settings: { work_mem: "9MB" }, preload_libraries };
    expect(sent(await compute.mutations())).toEqual([{ settings: after }]);
    expect(await stored(compute, endpointId(state))).toEqual(after);
  });

  test("each half of the preloaded libraries is managed alone", async () => {
    const compute = await computes();
    const state = await compute.create(settings(undefined, { enabledLibraries: ["a"] }));
    await editByHand(compute, endpointId(state), {
      settings: { preload_libraries: { use_defaults: false, enabled_libraries: ["a"] } },
    });
    await compute.update(state, settings(undefined, { enabledLibraries: ["a", "b"] }));
    expect(await stored(compute, endpointId(state))).toEqual({
      preload_libraries: { use_defaults: false, enabled_libraries: ["a", "b"] },
    });
  });

  test("settings that the program no longer gives stay as they are", async () => {
    const compute = await computes();
    const state = await compute.create(settings({ work_mem: "8MB" }));
    await compute.forgetRequests();
    await compute.update(state, LEAST);
    expect(await compute.mutations()).toEqual([]);
    expect(await stored(compute, endpointId(state))).toEqual({ pg_settings: { work_mem: "8MB" } });
  });
});
