import { DEMO_PRIMARY, ENDPOINTS as DEMO_ENDPOINTS, endpointId, sent } from "../support/computeCases";
import { thrownBy, type Harness, type Json } from "../support/harness";
import { COMPUTE } from "../kinds/ComputeEndpoint";
import { ENDPOINT } from "../support/rules/routes";
import { computeScene } from "../support/rules/scenes";

/** Changes of a colleague while our change waits for its turn, or between two of its attempts. */

const LOCKED = { status: 423, text: JSON.stringify({ code: "LOCKED", message: "another operation is running" }) };
const BROKEN = { status: 503, text: JSON.stringify({ code: "UNAVAILABLE", message: "try again" }) };

const byHand = (given: Harness, id: string, set: Json): Promise<void> => given.edit({ kind: "endpoint", id, set });
const atService = async (given: Harness, id: string): Promise<Json> =>
  // The route answers one record under this key.
  (await given.get(`${DEMO_ENDPOINTS}/${id}`))["endpoint"] as Json;

/** A promise, and the function that resolves it. */
function event(): [Promise<void>, () => void] {
  let happens = (): void => undefined;
  return [new Promise((resolve) => (happens = resolve)), () => happens()];
}

describe("the half of the settings that the program does not manage", () => {
  const libraries = (name: string) => ({ ...COMPUTE, settings: { preloadLibraries: { enabledLibraries: [name] } } });
  const postgres = (work_mem: string) => ({ ...COMPUTE, settings: { pgSettings: { work_mem } } });

  test.each([
    ["while the project is locked", LOCKED],
    ["while the service is broken", BROKEN],
  ])("is sent as a colleague has set it %s", async (_when, answer) => {
    const { given, network } = await computeScene();
    const state = await given.create(libraries("pg_cron"));
    const id = endpointId(state);
    const preload_libraries = { enabled_libraries: ["pg_cron"] };
    const theirs = (max_connections: string) => ({ settings: { pg_settings: { max_connections }, preload_libraries } });
    await byHand(given, id, theirs("10"));
    const before = () => byHand(given, id, theirs("77"));
    network.on({ method: "PATCH", path: ENDPOINT, nth: 1, executed: false, answer, before });
    await given.update(state, libraries("timescaledb"));
    expect((await atService(given, id))["settings"]).toEqual({
      pg_settings: { max_connections: "77" },
      preload_libraries: { enabled_libraries: ["timescaledb"] },
    });
  });

  test("is sent as set while the change waits in our own queue for another one", async () => {
    const { given, network } = await computeScene();
    const state = await given.create(postgres("4MB"));
    const id = endpointId(state);
    const theirs = (name: string) => ({
      pg_settings: { work_mem: "4MB" },
      preload_libraries: { use_defaults: false, enabled_libraries: [name] },
    });
    await byHand(given, id, { settings: theirs("timescaledb") });
    const [arrives, otherArrives] = event();
    const [edited, theyHaveEdited] = event();
    network.on({ method: "POST", path: DEMO_ENDPOINTS, nth: 1, before: () => (otherArrives(), edited) });
    network.on({ method: "PATCH", path: ENDPOINT, nth: 1, executed: false, answer: LOCKED });
    const other = given.create({ ...COMPUTE, branchId: "br-test" });
    await arrives;
    const ours = given.update(state, postgres("8MB"));
    const waits = () => given.log.some(({ message }) => message.includes("waiting for 1 other change"));
    while (!waits()) await new Promise((resolve) => setTimeout(resolve, 5));
    await byHand(given, id, { settings: theirs("pg_cron") });
    theyHaveEdited();
    await Promise.all([other, ours]);
    expect((await atService(given, id))["settings"]).toEqual({
      ...theirs("pg_cron"),
      pg_settings: { work_mem: "8MB" },
    });
  });

  test("costs one list for each attempt, and none where the program gives all of it", async () => {
    const { given } = await computeScene();
    const whole = (work_mem: string) => ({
      ...COMPUTE,
      settings: { pgSettings: { work_mem }, preloadLibraries: { useDefaults: true, enabledLibraries: [] } },
    });
    const lists = async (program: (value: string) => Json): Promise<number> => {
      const state = await given.create({ ...program("4MB"), type: "read_only" });
      await given.forgetRequests();
      await given.update(state, { ...program("8MB"), type: "read_only" });
      const all = (await given.requests()).map(({ method, path }) => `${method} ${path}`);
      const listed = all.slice(
        0,
        all.findIndex((request) => request.startsWith("PATCH")),
      );
      await given.delete(state);
      return listed.filter((request) => request === `GET ${DEMO_ENDPOINTS}`).length;
    };
    expect(await lists(whole)).toBe(1);
    expect(await lists(postgres)).toBe(2);
  });
});

describe("an adoption that waits for the lock of the project", () => {
  const declared = { ...COMPUTE, branchId: "br-main", adopt: true, name: "reports" };
  const resized = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 };
  const asDeclared = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 };

  test("looks again: a compute that was resized meanwhile is brought to the declared size", async () => {
    const { given, network } = await computeScene();
    await byHand(given, DEMO_PRIMARY, asDeclared);
    const before = () => byHand(given, DEMO_PRIMARY, resized);
    network.on({ method: "PATCH", path: ENDPOINT, nth: 1, executed: false, answer: LOCKED, before });
    const { outs } = await given.create(declared);
    expect(await atService(given, DEMO_PRIMARY)).toMatchObject({ ...asDeclared, name: "reports" });
    expect(outs).toMatchObject({ size: 2, autoscalingLimitMaxCu: 2, name: "reports" });
    expect(sent(await given.requests("PATCH"))).toEqual([{ name: "reports" }, asDeclared]);
  });

  test("records no size that is not there: one that is resized again and again is a failure which names it", async () => {
    const { given, network } = await computeScene();
    await byHand(given, DEMO_PRIMARY, asDeclared);
    network.on({
      method: "PATCH",
      path: ENDPOINT,
      rewrite: ({ endpoint }) => ({ endpoint: { ...(endpoint as Json), ...resized } }),
    });
    const error = await thrownBy(given.create(declared));
    expect(error.message).toMatch(/shows another "size"/);
    expect(error["properties"]).toMatchObject({ size: 4, __unfinished: "create" });
  });
});
