/** What the request of a change sets beside what has changed, and what its plan says of that (docs/design/rules.md, 5). */
import type { Properties } from "../../../src/contract/hiddenKeys";
import { hashed } from "../../../src/emulator/model/records";
import {
  allAtService,
  atService,
  computes,
  DEMO_PRIMARY,
  editByHand,
  endpointId,
  LEAST,
} from "../../support/computeCases";
import { PROJECT, UNKNOWN, type Harness, type Json, type State } from "../../support/harness";

const THEIRS = { work_mem: "4MB", "app.tenant_key": "k-1234567", max_connections: "200" };

async function deployed(args: Properties = {}, set: Json = {}) {
  const given = await computes();
  const program = { ...LEAST, ...args };
  const state = await given.create(program);
  const id = endpointId(state);
  await editByHand(given, id, set);
  await given.forgetRequests();
  return { given, state, id, program };
}

/** The lines of a plan about the service, in a command of its own. */
async function planned(given: Harness, state: State, olds: Properties, news: Properties): Promise<string[]> {
  given.restart();
  const before = given.log.length;
  expect((await given.plan(news, olds)).failures).toEqual([]);
  await given.diff(state, news);
  return given.log
    .slice(before)
    .flatMap(({ severity, message }) => (severity === "warning" && /^pulumi up/.test(message) ? [message] : []));
}

async function up(given: Harness, state: State, olds: Properties, news: Properties): Promise<State> {
  given.restart();
  expect(await given.check(news, olds)).toEqual([]);
  await given.diff(state, news);
  return given.update(state, news);
}

/** The attributes of each PATCH. */
const patches = async (given: Harness) => (await given.requests("PATCH")).map(({ body }) => body["endpoint"]);

const settings = (pgSettings: Properties, more: Properties = {}) => ({ settings: { pgSettings, ...more } });
const ofPostgres = (pg_settings: Json) => ({ settings: { pg_settings } });

describe("the settings of Postgres are sent as a whole", () => {
  test("the first ones name those that the compute has, and that go: the state does not know them", async () => {
    const { given, state, id, program } = await deployed({}, ofPostgres(THEIRS));
    const news = { ...program, ...settings({ statement_timeout: "60s" }) };
    expect(await planned(given, state, program, news)).toEqual([
      `pulumi up clears "settings.pgSettings.max_connections", "settings.pgSettings.work_mem", "settings.pgSettings["app.tenant_key"]" of compute ${id} ("thing"): the program does not list them`,
    ]);
    await up(given, state, program, news);
    expect(await atService(given, id)).toMatchObject(ofPostgres({ statement_timeout: "60s" }));
    // An effect, which nobody can remove from the plan.
    process.env["SVC_STRICT_PLAN"] = "1";
    await expect(
      planned(given, state, program, news).finally(() => delete process.env["SVC_STRICT_PLAN"]),
    ).resolves.toEqual([]);
  });

  test("one that has another value there is named too", async () => {
    const { given, state, id, program } = await deployed({}, ofPostgres({ work_mem: "4MB", jit: "off" }));
    const news = { ...program, ...settings({ work_mem: "64MB", jit: "false" }) };
    expect(await planned(given, state, program, news)).toEqual([
      `pulumi up overwrites "settings.pgSettings.work_mem" of compute ${id} ("thing"): the service has another value there than the state`,
    ]);
  });

  test("one that was added or changed by hand since the state was read is named beside the one that changes", async () => {
    const before = { work_mem: "4MB", jit: "off" };
    const { given, state, id, program } = await deployed(
      settings(before),
      ofPostgres({ ...before, jit: "on", geqo: "off" }),
    );
    const news = { ...program, ...settings({ ...before, work_mem: "8MB" }) };
    expect(await planned(given, state, program, news)).toEqual([
      `pulumi up clears "settings.pgSettings.geqo" of compute ${id} ("thing"): the program does not list it`,
      `pulumi up overwrites "settings.pgSettings.jit" of compute ${id} ("thing"): the service has another value there than the state`,
    ]);
  });

  test("one that the program drops is in the plan already", async () => {
    const { given, state, program } = await deployed(settings({ work_mem: "4MB", jit: "off" }));
    expect(await planned(given, state, program, { ...program, ...settings({ work_mem: "4MB" }) })).toEqual([]);
  });

  test("where they are not known yet, all that the compute has may go", async () => {
    const { given, state, id, program } = await deployed({}, ofPostgres(THEIRS));
    expect(await planned(given, state, program, { ...program, settings: UNKNOWN })).toEqual([
      `pulumi up may clear settings of compute ${id} ("thing"): "settings" is not known yet, and the service has "settings.pgSettings.work_mem", "settings.pgSettings["app.tenant_key"]", "settings.pgSettings.max_connections"`,
    ]);
  });

  test("a change of something else clears nothing, and says nothing", async () => {
    const { given, state, id, program } = await deployed(settings({ work_mem: "4MB" }), ofPostgres({ jit: "off" }));
    expect(await planned(given, state, program, { ...program, name: "new" })).toEqual([]);
    await up(given, state, program, { ...program, name: "new" });
    expect(await atService(given, id)).toMatchObject({ name: "new", ...ofPostgres({ jit: "off" }) });
  });
});

test("the first libraries name those that are no longer loaded", async () => {
  const theirs = { use_defaults: true, enabled_libraries: ["pg_cron", "timescaledb"] };
  const { given, state, id, program } = await deployed({}, { settings: { preload_libraries: theirs } });
  const news = { ...program, settings: { preloadLibraries: { enabledLibraries: ["timescaledb"] } } };
  expect(await planned(given, state, program, news)).toEqual([
    `pulumi up clears "pg_cron" in "settings.preloadLibraries.enabledLibraries" of compute ${id} ("thing"): the program does not list it`,
  ]);
});

test("of a size, what is only sent along with the other limit is named", async () => {
  const { given, state, id, program } = await deployed(
    { size: { min: 1, max: 2 } },
    { autoscaling_limit_min_cu: 0.25 },
  );
  expect(await planned(given, state, program, { ...program, size: { min: 1, max: 4 } })).toEqual([
    `pulumi up overwrites "size.min" of compute ${id} ("thing"): the service has another value there than the state`,
  ]);
  // A fixed size and its limits are the same.
  const fixed = await deployed({ size: 2 });
  expect(
    await planned(fixed.given, fixed.state, fixed.program, { ...fixed.program, size: { min: 1, max: 4 } }),
  ).toEqual([]);
});

test("a value that was changed by hand and changes in the program is named: the plan compares with the state", async () => {
  const { given, state, id, program } = await deployed({ name: "ours" }, { name: "theirs" });
  expect(await planned(given, state, program, { ...program, name: "new" })).toEqual([
    `pulumi up overwrites "name" of compute ${id} ("thing"): the service has another value there than the state`,
  ]);
});

test("an adopted compute: the plan names what it gets, and what it loses", async () => {
  const given = await computes();
  await editByHand(given, DEMO_PRIMARY, ofPostgres(THEIRS));
  const program = {
    ...LEAST,
    branchId: "br-main",
    adopt: true,
    name: "reports",
    scaleToZero: false,
    disabled: false,
    ...settings({ work_mem: "4MB" }),
  };
  const { warnings } = await given.plan(program);
  expect(warnings).toEqual([
    `pulumi up takes over ${DEMO_PRIMARY} on br-main instead of creating a compute: it gets "name", "scaleToZero", "settings" of the program; ` +
      `"settings.pgSettings.max_connections", "settings.pgSettings["app.tenant_key"]" are cleared; destroying deletes it, unless retainOnDelete is set`,
  ]);
  given.restart();
  const open = await given.plan({ ...program, settings: UNKNOWN });
  expect(open.warnings.join()).toMatch(
    /it gets "name", "scaleToZero" of the program; it may get "settings", which is not known yet/,
  );
});

describe("ignoreChanges leaves to the service", () => {
  const ignoring = (program: Properties, ...paths: string[]) => ({ ...program, __ignoreChanges: paths });

  test.each([["settings.pgSettings.work_mem"], ['settings["pgSettings"]["work_mem"]']])(
    "a setting, when another one changes: %s",
    async (path) => {
      const { given, state, id, program } = await deployed(settings({ work_mem: "4MB", jit: "off" }));
      await editByHand(given, id, ofPostgres({ work_mem: "128MB", jit: "off" }));
      const news = ignoring({ ...program, ...settings({ work_mem: "4MB", jit: "on" }) }, path);
      expect(await planned(given, state, program, news)).toEqual([]);
      const next = await up(given, state, program, news);
      expect(await patches(given)).toEqual([ofPostgres({ work_mem: "128MB", jit: "on" })]);
      expect(await given.diff(next, news)).toMatchObject({ changes: false });
      given.restart();
      // After a refresh the engine hands over what was found.
      const { inputs, ...found } = (await given.read(next)) ?? { ...next, inputs: {} };
      expect(inputs).toMatchObject(settings({ work_mem: "128MB", jit: "on" }));
      expect(await given.diff(found, ignoring(inputs, path))).toMatchObject({ changes: false });
    },
  );

  test("a setting that somebody has cleared: it does not come back", async () => {
    const { given, state, id, program } = await deployed(settings({ work_mem: "4MB", jit: "off" }));
    await editByHand(given, id, ofPostgres({ jit: "off" }));
    const news = ignoring({ ...program, ...settings({ work_mem: "4MB", jit: "on" }) }, "settings.pgSettings.work_mem");
    await up(given, state, program, news);
    expect(await patches(given)).toEqual([ofPostgres({ jit: "on" })]);
  });

  test("all settings, when the libraries change: also those that somebody has added", async () => {
    const libraries = (useDefaults: boolean) => ({ preloadLibraries: { useDefaults } });
    const { given, state, id, program } = await deployed(settings({ work_mem: "4MB" }, libraries(true)));
    await editByHand(given, id, ofPostgres(THEIRS));
    const news = ignoring({ ...program, ...settings({ work_mem: "4MB" }, libraries(false)) }, "settings.pgSettings");
    expect(await planned(given, state, program, news)).toEqual([]);
    await up(given, state, program, news);
    expect(await patches(given)).toEqual([
      {
        settings: {
          pg_settings: { ...THEIRS, "app.tenant_key": hashed(THEIRS["app.tenant_key"]) },
          preload_libraries: { use_defaults: false },
        },
      },
    ]);
  });

  test.each([
    [0.5, { min: 0.5, max: 4 }],
    // Both limits are the same there now.
    [2, { min: 2, max: 4 }],
  ])("the smallest size (%d), when the largest one changes", async (min, expected) => {
    const { given, state, id, program } = await deployed({ size: { min: 1, max: 2 } });
    await editByHand(given, id, { autoscaling_limit_min_cu: min });
    const news = ignoring({ ...program, size: { min: 1, max: 4 } }, "size.min");
    expect(await planned(given, state, program, news)).toEqual([]);
    await up(given, state, program, news);
    expect(await patches(given)).toEqual([
      { autoscaling_limit_min_cu: expected.min, autoscaling_limit_max_cu: expected.max },
    ]);
  });

  test("what a change that failed had sent: it is not sent again, and the plan says so", async () => {
    const { given, state, id, program } = await deployed({ name: "ours", size: 2 }, { name: "by hand" });
    const open = { ...state, outs: { ...state.outs, __unfinished: "update", __sent: ["name", "size"] } };
    const news = ignoring(program, "name");
    const before = given.log.length;
    await planned(given, open, program, news);
    expect(given.log.slice(before).map(({ message }) => message)).toContainEqual(
      expect.stringContaining(
        'This update resumes it: "size" is sent again if the service shows another value; "name" is not sent again, because of ignoreChanges; if',
      ),
    );
    const next = await up(given, open, program, news);
    expect(await atService(given, id)).toMatchObject({ name: "by hand" });
    expect(next.outs).not.toHaveProperty("__unfinished");
  });

  test("what is changed by hand while the change waits for its turn", async () => {
    const { given, state, id, program } = await deployed(settings({ work_mem: "4MB", jit: "off" }));
    await given.fault({ method: "PATCH", path: "/projects/{project_id}/endpoints/{endpoint_id}", status: 423 });
    const path = "settings.pgSettings.work_mem";
    const news = ignoring({ ...program, ...settings({ work_mem: "4MB", jit: "on" }) }, path);
    const going = up(given, state, program, news);
    // Between the update's first look and its second attempt.
    const edited = editByHand(given, id, ofPostgres({ work_mem: "128MB", jit: "off" }));
    await Promise.all([going, edited]);
    expect((await patches(given)).at(-1)).toEqual(ofPostgres({ work_mem: "128MB", jit: "on" }));
  });
});

test("a compute that nobody changes is left alone by all of this", async () => {
  const { given, state, program } = await deployed(settings({ work_mem: "4MB" }));
  expect(await planned(given, state, program, program)).toEqual([]);
  expect(await given.mutations()).toEqual([]);
  expect(await allAtService(given)).toHaveLength(2);
  expect(state.id).toContain(PROJECT);
});
