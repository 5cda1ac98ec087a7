/** A service that keeps its own value, shows another form of it, or adds something (docs/design/rules.md, 1). */
import type { Properties } from "../../../src/contract/hiddenKeys";
import { atService, editByHand, endpointId, LEAST, warningsOf } from "../../support/computeCases";
import {
  CANARY,
  expectNoSecrets,
  keptBy,
  planAfterRefresh,
  type Harness,
  type Json,
  type State,
} from "../../support/harness";
import type { Hostile } from "../../support/rules/hostile";
import { ENDPOINT, ENDPOINTS } from "../../support/rules/routes";
import { computeScene } from "../../support/rules/scenes";

type Attributes = Record<string, unknown>;

/** A service that stores other attributes than those that are sent. */
async function storing(alter: (sent: Attributes) => Attributes): Promise<{ given: Harness; network: Hostile }> {
  const { given, network } = await computeScene();
  // The bodies of these routes have this form.
  const rewrite = ({ endpoint }: Json): Json => ({ endpoint: alter(endpoint as Attributes) });
  network.on({ method: "POST", path: ENDPOINTS, rewrite });
  network.on({ method: "PATCH", path: ENDPOINT, rewrite });
  return { given, network };
}

const withSettings =
  (alter: (sent: Record<string, string>) => Record<string, string>) =>
  (attributes: Attributes): Attributes => {
    const settings = attributes["settings"] as { pg_settings?: Record<string, string> } | undefined;
    return settings?.pg_settings === undefined
      ? attributes
      : { ...attributes, settings: { ...settings, pg_settings: alter(settings.pg_settings) } };
  };

const settings = (pgSettings: Properties) => ({ settings: { pgSettings } });
const program = (more: Properties): Properties => ({ ...LEAST, ...more });

/** The next command of a user. */
async function up(given: Harness, state: State, olds: Properties, news: Properties): Promise<State> {
  given.restart();
  expect(await given.check(news, olds)).toEqual([]);
  await given.diff(state, news);
  return given.update(state, news);
}

/** A second `up`, a refresh and a plan after it change nothing. */
async function expectSettled(given: Harness, state: State, inputs: Properties): Promise<State> {
  given.restart();
  expect(await given.diff(state, inputs)).toMatchObject({ changes: false });
  given.restart();
  const { changes, found } = await planAfterRefresh(given, state, inputs);
  expect(changes).toBe(false);
  const { inputs: shown, ...refreshed } = found;
  expect(shown["settings"]).toEqual(inputs["settings"]);
  return refreshed;
}

const WAYS_OUT =
  "declare the value that it shows, leave the argument out, or add the path to ignoreChanges. The account may have a limit that excludes the declared value";

describe("a plan of the account that stores no other suspend timeout", () => {
  const never = (sent: Attributes): Attributes => ({ ...sent, suspend_timeout_seconds: 0 });
  const DECLARED = program({ scaleToZero: { afterSeconds: 120 } });
  const KEPT = 'the service still shows another "scaleToZero" after it accepted the change: ';
  const VALUES = '"scaleToZero" is true, and {"afterSeconds":120} was sent';

  test("is told with both values, and after the same result a second time as the service's own", async () => {
    const { given } = await storing(never);
    const first = await keptBy(given.create(DECLARED));
    expect(first.message).toContain(
      `${KEPT}${VALUES}. It is kept in the stack: run pulumi up again. If the service shows the same then, it keeps its own value: ${WAYS_OUT}.`,
    );
    const state = { id: first.id, outs: first.properties };
    const second = await keptBy(up(given, state, DECLARED, DECLARED));
    expect(second.message).toContain(
      `${KEPT}${VALUES}. The change is kept in the stack. It was so after the change before, too: the service keeps its own value. To go on, ${WAYS_OUT}.`,
    );
    expect(second.message).not.toContain("run pulumi up again");
  });

  test.each<[string, Properties, readonly string[]]>([
    ["declaring its value", { scaleToZero: true }, []],
    ["leaving the argument out", {}, []],
    ["ignoring its changes", { scaleToZero: { afterSeconds: 120 } }, ["scaleToZero"]],
    ["ignoring a part of it", { scaleToZero: { afterSeconds: 120 } }, ["scaleToZero.afterSeconds"]],
    ["ignoring everything", { scaleToZero: { afterSeconds: 120 } }, ["*"]],
  ])("is left behind by %s", async (_how, more, ignored) => {
    const { given } = await storing(never);
    const { id, properties } = await keptBy(given.create(DECLARED));
    const news = program(more);
    const next = await up(given, { id, outs: properties }, DECLARED, { ...news, __ignoreChanges: ignored });
    expect(next.outs).not.toHaveProperty("__unfinished");
    given.restart();
    expect(await given.diff(next, news)).toMatchObject({ changes: false });
  });

  test("is told of an update as well, which keeps what the service shows", async () => {
    const { given } = await storing(never);
    const olds = program({ name: "api" });
    const state = await given.create(olds);
    const news = { ...olds, scaleToZero: { afterSeconds: 120 } };
    const first = await keptBy(up(given, state, olds, news));
    expect(first.properties).toMatchObject({ scaleToZero: true, __unfinished: "update", __sent: ["scaleToZero"] });
    const second = await keptBy(up(given, { id: first.id, outs: first.properties }, olds, news));
    expect(second.message).toContain("the service keeps its own value. To go on, ");
    // Another value is another change.
    const other = { ...olds, scaleToZero: false };
    const third = await keptBy(up(given, { id: first.id, outs: { ...state.outs } }, olds, other));
    expect(third.message).toContain(
      '"scaleToZero" is true, and false was sent. The change is kept in the stack: run pulumi up',
    );
  });
});

describe("a setting that the service adds", () => {
  const adding = withSettings((sent) => ({ max_worker_processes: "8", ...sent }));
  const DECLARED = program(settings({ work_mem: "64MB" }));

  test("is neither a failure of the change nor drift, and no later change removes it", async () => {
    const { given } = await storing(adding);
    const state = await given.create(DECLARED);
    const { work_mem, max_worker_processes } = await pgSettings(given, state);
    expect([work_mem, max_worker_processes]).toEqual(["64MB", "8"]);
    const refreshed = await expectSettled(given, state, DECLARED);
    const news = program(settings({ work_mem: "32MB" }));
    // The plan has nothing to say of it.
    expect(await warningsOf(given, refreshed, DECLARED, { ...news, __preview: true })).toEqual([]);
    const next = await up(given, refreshed, DECLARED, news);
    await expectSettled(given, next, news);
    // Nothing is sent for it either.
    await given.forgetRequests();
    const renamed = await up(given, next, news, { ...news, name: "new" });
    expect((await given.requests("PATCH")).map(({ body }) => body["endpoint"])).toEqual([{ name: "new" }]);
    await expectSettled(given, renamed, { ...news, name: "new" });
  });

  test("to a compute without settings of ours is its own, too, when the program gives the first ones", async () => {
    const { given } = await storing((sent) => adding({ settings: { pg_settings: {} }, ...sent }));
    const state = await given.create(program({}));
    expect(await warningsOf(given, state, program({}), { ...DECLARED, __preview: true })).toEqual([]);
    const next = await up(given, state, program({}), DECLARED);
    expect(await pgSettings(given, next)).toEqual({ work_mem: "64MB", max_worker_processes: "8" });
    await expectSettled(given, next, DECLARED);
  });

  test("is shown beside a lost response as that of our compute", async () => {
    const { given, network } = await computeScene();
    const rewrite = ({ endpoint }: Json): Json => ({ endpoint: adding(endpoint as Attributes) });
    network.on({ method: "POST", path: ENDPOINTS, rewrite, answer: { status: 502, text: "" } });
    await expectSettled(given, await given.create(DECLARED), DECLARED);
  });

  test("to an adopted compute ends its adoption", async () => {
    const { given } = await storing(adding);
    const adopted = { ...DECLARED, branchId: "br-main", adopt: true };
    await expectSettled(given, await given.create(adopted), adopted);
  });

  test("is the program's once it declares it, and goes with it", async () => {
    const { given } = await storing(withSettings((sent) => ({ max_worker_processes: "8", ...sent })));
    const state = await given.create(DECLARED);
    const news = program(settings({ work_mem: "64MB", max_worker_processes: "4" }));
    const next = await up(given, state, DECLARED, news);
    expect(await pgSettings(given, next)).toEqual({ work_mem: "64MB", max_worker_processes: "4" });
    await expectSettled(given, next, news);
    expect(next.outs).not.toHaveProperty("__added");
  });

  test("by hand is drift as before, which a repair clears", async () => {
    const { given } = await storing(adding);
    const state = await given.create(DECLARED);
    const theirs = { work_mem: "64MB", max_worker_processes: "8", jit: "off" };
    await editByHand(given, endpointId(state), { settings: { pg_settings: theirs } });
    given.restart();
    const { found, changes } = await planAfterRefresh(given, state, DECLARED);
    expect(changes).not.toBe(false);
    expect(found.inputs).toMatchObject(settings({ work_mem: "64MB", jit: "off" }));
    const { inputs, ...refreshed } = found;
    const repaired = await up(given, refreshed, inputs, DECLARED);
    expect(await pgSettings(given, repaired)).toEqual({ work_mem: "64MB", max_worker_processes: "8" });
    await expectSettled(given, repaired, DECLARED);
  });

  test("and removes again is forgotten: whoever adds it then has added it by hand", async () => {
    const { given } = await storing(adding);
    const state = await given.create(DECLARED);
    const byHand = (pg_settings: Json) => editByHand(given, endpointId(state), { settings: { pg_settings } });
    await byHand({ work_mem: "64MB" });
    const { inputs: _inputs, ...refreshed } = (await planAfterRefresh(given, state, DECLARED)).found;
    expect(refreshed.outs).not.toHaveProperty("__added");
    await byHand({ work_mem: "64MB", max_worker_processes: "1" });
    given.restart();
    expect((await planAfterRefresh(given, refreshed, DECLARED)).changes).not.toBe(false);
  });
});

test("a setting that the service does not clear is a failure that names it, and ignoreChanges leaves it there", async () => {
  const { given } = await storing(withSettings((sent) => ({ jit: "off", ...sent })));
  const olds = program(settings({ jit: "off", work_mem: "64MB" }));
  const state = await given.create(olds);
  const news = program(settings({ work_mem: "64MB" }));
  const { message, id, properties } = await keptBy(up(given, state, olds, news));
  expect(message).toContain(
    'the service still shows another "settings" after it accepted the change: "settings.pgSettings.jit" is "off", and the program does not list it. The change is kept',
  );
  const ignoring = { ...olds, __ignoreChanges: ["settings.pgSettings.jit"] };
  const next = await up(given, { id, outs: properties }, olds, ignoring);
  expect(next.outs).not.toHaveProperty("__unfinished");
});

test("a value in another unit is the same one, and the program's spelling stays beside what does differ", async () => {
  const { given } = await storing(
    withSettings(({ shared_buffers, ...sent }) => ({
      ...sent,
      ...(shared_buffers !== undefined && { shared_buffers: "131072kB" }),
      ...(sent["jit"] !== undefined && { jit: "on" }),
    })),
  );
  const inputs = program(settings({ shared_buffers: "128MB", jit: "true", work_mem: "4MB" }));
  const state = await given.create(inputs);
  expect(await pgSettings(given, state)).toEqual({ shared_buffers: "131072kB", jit: "on", work_mem: "4MB" });
  const refreshed = await expectSettled(given, state, inputs);
  await editByHand(given, endpointId(state), {
    settings: { pg_settings: { shared_buffers: "131072kB", jit: "on", work_mem: "8MB" } },
  });
  given.restart();
  const { found } = await planAfterRefresh(given, refreshed, inputs);
  expect(found.inputs).toMatchObject(settings({ shared_buffers: "128MB", jit: "true", work_mem: "8MB" }));
});

test("a value that may be secret is in no message, whatever its name", async () => {
  const { given } = await storing(
    withSettings((sent) => ({ ...sent, "app.motto": `${CANARY}-theirs`, work_mem: "1MB" })),
  );
  const inputs = program({ ...settings({ "app.motto": `${CANARY}-ours`, work_mem: "64MB" }), name: `${CANARY}-name` });
  const { message } = await keptBy(given.create(inputs));
  expect(message).toContain(
    '"settings.pgSettings["app.motto"]" differs, whose values may be secret; "settings.pgSettings.work_mem" is "1MB", and "64MB" was sent',
  );
  expectNoSecrets(given);
});

test("an ignored setting is left out of what a change has to show", async () => {
  const { given } = await storing(withSettings((sent) => ({ ...sent, max_worker_processes: "8" })));
  const olds = program(settings({ max_worker_processes: "8", work_mem: "4MB" }));
  const state = await given.create(olds);
  // The engine restores the earlier input there.
  const news = { ...olds, ...settings({ max_worker_processes: "2", work_mem: "8MB" }) };
  const path = "settings.pgSettings.max_worker_processes";
  const { outs } = await up(given, state, olds, { ...news, __ignoreChanges: [path] });
  expect(outs).not.toHaveProperty("__unfinished");
});

async function pgSettings(given: Harness, state: State): Promise<Record<string, string>> {
  const { settings: shown } = await atService(given, endpointId(state));
  // The record of a compute has this form.
  return (shown as { pg_settings: Record<string, string> }).pg_settings;
}
