import type { EndpointRecord } from "../../../src/client";
import { ruleOf, sameArgument } from "../../../src/runtime/arguments";
import { suspendTimeoutSeconds } from "../../../src/resources/computeEndpoint/computeEndpointDeclaration";
import { computeEndpoint } from "../../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { sendsUnmanaged, toArguments, toAttributes, toOutputs } from "../../../src/resources/computeEndpoint/mapping";

/** No argument of these tests is a reference. */
const LITERALS = { resolve: String };

// What is sent, what a record says, and what counts as the same: docs/design/api.md, written out.

const BARE: EndpointRecord = {
  id: "ep-1",
  host: "ep-1.aws-us-east-1.svc.localhost",
  branch_id: "br-1",
  type: "read_write",
  current_state: "active",
};
const RECORD: EndpointRecord = {
  ...BARE,
  name: "api",
  region_id: "aws-us-east-1",
  autoscaling_limit_min_cu: 0.5,
  autoscaling_limit_max_cu: 2,
  suspend_timeout_seconds: 600,
  pooler_enabled: true,
  pooler_mode: "transaction",
  disabled: false,
  passwordless_access: true,
  provisioner: "k8s-pod",
  creation_source: "api",
  created_at: "2026-01-01T00:00:00Z",
  settings: {
    pg_settings: { work_mem: "64MB", max_parallel_workers: 4 },
    preload_libraries: { use_defaults: false, enabled_libraries: ["pg_cron"] },
  },
};

/** What this record says of each argument but the settings. */
const ARGUMENTS = {
  projectId: "prj-1",
  branchId: "br-1",
  type: "read_write",
  name: "api",
  size: { min: 0.5, max: 2 },
  scaleToZero: { afterSeconds: 600 },
  poolerEnabled: true,
  poolerMode: "transaction",
  disabled: false,
  passwordlessAccess: true,
  regionId: "aws-us-east-1",
  provisioner: "k8s-pod",
} as const;

describe("what is sent", () => {
  test("is every argument under its name in the record, and nothing else", () => {
    const args = {
      ...ARGUMENTS,
      type: "read_only",
      settings: { pgSettings: { work_mem: "64MB" }, preloadLibraries: { useDefaults: true } },
      restartTriggers: ["one"],
      adopt: true,
    } as const;
    expect(toAttributes(LITERALS, { ...args, restartTriggers: [...args.restartTriggers] })).toEqual({
      branch_id: "br-1",
      type: "read_only",
      name: "api",
      region_id: "aws-us-east-1",
      autoscaling_limit_min_cu: 0.5,
      autoscaling_limit_max_cu: 2,
      suspend_timeout_seconds: 600,
      settings: { pg_settings: { work_mem: "64MB" }, preload_libraries: { use_defaults: true } },
      pooler_enabled: true,
      pooler_mode: "transaction",
      disabled: false,
      passwordless_access: true,
      provisioner: "k8s-pod",
    });
    expect(Object.keys(toAttributes(LITERALS, { projectId: "prj-1" }))).toEqual([]);
  });

  test.each([
    [2, { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }],
    [
      { min: 1, max: 4 },
      { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 4 },
    ],
  ])("the size %j", (size, sent) => {
    expect(toAttributes(LITERALS, { size })).toEqual(sent);
  });

  test.each([
    [true, 0],
    [false, -1],
    [{ afterSeconds: 90 }, 90],
  ])("scale to zero %j as %i seconds", (scaleToZero, seconds) => {
    expect(suspendTimeoutSeconds(scaleToZero)).toBe(seconds);
    expect(toAttributes(LITERALS, { scaleToZero })).toEqual({ suspend_timeout_seconds: seconds });
  });

  test("the settings with the parts that the program does not give, as they are now", () => {
    const sent = (settings: object, current?: EndpointRecord): unknown =>
      toAttributes(LITERALS, { settings }, current).settings;
    expect(sent({ pgSettings: { a: "1" } }, RECORD)).toEqual({
      pg_settings: { a: "1" },
      preload_libraries: { use_defaults: false, enabled_libraries: ["pg_cron"] },
    });
    expect(sent({ preloadLibraries: { useDefaults: true } }, RECORD)).toEqual({
      pg_settings: RECORD.settings?.pg_settings,
      preload_libraries: { use_defaults: true, enabled_libraries: ["pg_cron"] },
    });
    expect(sent({ preloadLibraries: { enabledLibraries: [] } }, RECORD)).toMatchObject({
      preload_libraries: { use_defaults: false, enabled_libraries: [] },
    });
    expect(sent({ pgSettings: { a: "1" } }, BARE)).toStrictEqual({ pg_settings: { a: "1" } });
    expect(sent({}, BARE)).toStrictEqual({});
    expect(sent({ preloadLibraries: {} })).toStrictEqual({});
    expect(toAttributes(LITERALS, { name: "x" }, RECORD)).not.toHaveProperty("settings");
  });
});

test.each([
  [undefined, false],
  [{}, true],
  [{ pgSettings: {} }, true],
  [{ preloadLibraries: { useDefaults: true, enabledLibraries: [] } }, true],
  [{ pgSettings: {}, preloadLibraries: { useDefaults: true } }, true],
  [{ pgSettings: {}, preloadLibraries: { enabledLibraries: [] } }, true],
  [{ pgSettings: {}, preloadLibraries: { useDefaults: true, enabledLibraries: [] } }, false],
])("of the settings %j a part is not managed, and read right before they are sent: %s", (settings, isRead) => {
  expect(sendsUnmanaged(settings === undefined ? {} : { settings })).toBe(isRead);
});

describe("a record says", () => {
  test("every argument", () => {
    const { settings, ...shown } = toArguments("prj-1", RECORD, undefined);
    expect(shown).toEqual(ARGUMENTS);
    expect(settings).toBeUndefined();
  });

  test.each<[Partial<EndpointRecord>, unknown]>([
    [{ autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }, 2],
    [
      { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2 },
      { min: 1, max: 2 },
    ],
    [{ autoscaling_limit_min_cu: 1 }, undefined],
    [{ autoscaling_limit_max_cu: 1 }, undefined],
    [{}, undefined],
  ])("by %j the size %j", (fields, size) => {
    expect(toArguments("p", { ...BARE, ...fields }, undefined).size).toEqual(size);
  });

  test.each<[number | undefined, unknown]>([
    [undefined, undefined],
    [-1, false],
    [0, true],
    [1, { afterSeconds: 1 }],
    [600, { afterSeconds: 600 }],
  ])("by %j seconds scale to zero %j", (seconds, scaleToZero) => {
    const record = { ...BARE, suspend_timeout_seconds: seconds };
    expect(toArguments("p", record, undefined).scaleToZero).toEqual(scaleToZero);
  });

  test.each<[string, object, unknown]>([
    ["no part", {}, {}],
    [
      "the Postgres settings, as text",
      { pgSettings: {} },
      { pgSettings: { work_mem: "64MB", max_parallel_workers: "4" } },
    ],
    ["the whole libraries", { preloadLibraries: {} }, { preloadLibraries: {} }],
    [
      "whether there are default ones",
      { preloadLibraries: { useDefaults: true } },
      { preloadLibraries: { useDefaults: false } },
    ],
    [
      "which are enabled",
      { preloadLibraries: { enabledLibraries: [] } },
      { preloadLibraries: { enabledLibraries: ["pg_cron"] } },
    ],
  ])("of the settings those that are managed: %s", (_, managed, settings) => {
    expect(toArguments("p", RECORD, managed).settings).toStrictEqual(settings);
  });

  test("of settings that it does not have what the service takes then", () => {
    const managed = { pgSettings: {}, preloadLibraries: { useDefaults: true, enabledLibraries: [] } };
    expect(toArguments("p", { ...BARE, settings: {} }, managed).settings).toStrictEqual({
      pgSettings: {},
      preloadLibraries: { useDefaults: true, enabledLibraries: [] },
    });
    expect(toArguments("p", BARE, managed).settings).toBeUndefined();
  });

  test.each([
    [1, 1, 450],
    [1, 4, { min: 450, max: 1802 }],
    // The service does not publish the limit of 48 CU.
    [48, 48, undefined],
    [1, 48, { min: 450 }],
    [48, 56, {}],
    // No sizes of this version.
    [72, 72, undefined],
    [1, 72, undefined],
    [0.1, 1, undefined],
  ])("from %d to %d CU the connection limit %j", (min, max, limit) => {
    const record = { ...BARE, autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max };
    expect(toOutputs("prj-1", record).maxConnections).toStrictEqual(limit);
  });

  test("all outputs", () => {
    expect(toOutputs("prj-1", RECORD)).toStrictEqual({
      ...ARGUMENTS,
      endpointId: "ep-1",
      host: "ep-1.aws-us-east-1.svc.localhost",
      pooledHost: "ep-1-pooler.aws-us-east-1.svc.localhost",
      proxyHost: "aws-us-east-1.svc.localhost",
      autoscalingLimitMinCu: 0.5,
      autoscalingLimitMaxCu: 2,
      suspendTimeoutSeconds: 600,
      maxConnections: { min: 225, max: 901 },
      creationSource: "api",
      createdAt: "2026-01-01T00:00:00Z",
    });
    const bare = toOutputs("prj-1", { ...BARE, proxy_host: "proxy.test" });
    expect(bare).toMatchObject({ proxyHost: "proxy.test" });
    for (const name of ["size", "maxConnections", "settings", "creationSource"]) expect(bare).not.toHaveProperty(name);
  });
});

describe("the same", () => {
  const same = (name: "size" | "scaleToZero" | "settings", left: unknown, right: unknown): boolean =>
    sameArgument(ruleOf(computeEndpoint.args, name) ?? {}, left, right);

  test.each([
    [2, { min: 2, max: 2 }, true],
    [{ min: 1, max: 2 }, { min: 1, max: 2 }, true],
    [{ min: 1, max: 2 }, { min: 1, max: 4 }, false],
    [{ min: 1, max: 2 }, { min: 0.5, max: 2 }, false],
    [2, { min: 1, max: 2 }, false],
    [2, { min: 2, max: 4 }, false],
  ])("the sizes %j and %j: %s", (left, right, expected) => {
    expect([same("size", left, right), same("size", right, left)]).toEqual([expected, expected]);
  });

  test.each([
    [true, { afterSeconds: 300 }, true],
    [true, { afterSeconds: 301 }, false],
    [true, false, false],
    [false, { afterSeconds: 300 }, false],
    [{ afterSeconds: 60 }, { afterSeconds: 60 }, true],
  ])("scale to zero %j and %j: %s", (left, right, expected) => {
    expect([same("scaleToZero", left, right), same("scaleToZero", right, left)]).toEqual([expected, expected]);
  });

  test.each([
    [{ pgSettings: { shared_buffers: "128MB" } }, { pgSettings: { shared_buffers: "131072kB" } }, true],
    [{ pgSettings: { jit: "off", work_mem: "1MB" } }, { pgSettings: { work_mem: "1024", jit: "no" } }, true],
    [{ pgSettings: { jit: "off" } }, { pgSettings: { jit: "off", work_mem: "1MB" } }, false],
    [{ pgSettings: {} }, {}, false],
    [{ pgSettings: { "app.token": { fromEnv: "A" } } }, { pgSettings: { "app.token": { fromEnv: "A" } } }, true],
    [{ pgSettings: { "app.token": { fromEnv: "A" } } }, { pgSettings: { "app.token": "A" } }, false],
    [{ preloadLibraries: { useDefaults: true } }, { preloadLibraries: { useDefaults: true } }, true],
    [{ preloadLibraries: { enabledLibraries: ["a"] } }, { preloadLibraries: { enabledLibraries: ["b"] } }, false],
    [{ preloadLibraries: { useDefaults: true } }, {}, false],
  ])("settings %j and %j: %s", (left, right, expected) => {
    expect([same("settings", left, right), same("settings", right, left)]).toEqual([expected, expected]);
  });
});

describe("together", () => {
  const wrong = (args: object): string[] =>
    (computeEndpoint.rules?.(args, new Set(Object.keys(args)), { maxSizeCu: undefined, ignored: [] }) ?? []).map(
      ({ path, reason }) => `${path}: ${reason}`,
    );

  test.each<[object]>([
    [{}],
    [{ size: 16, scaleToZero: true }],
    [{ size: 18 }],
    [{ size: 18, scaleToZero: false }],
    [{ size: { min: 1, max: 16 }, scaleToZero: true }],
    [{ type: "read_write", adopt: true }],
    [{ type: "read_only", adopt: "ep-1" }],
    [{ type: "read_only", adopt: false }],
    [{ adopt: true }],
  ])("%j is right", (args) => {
    expect(wrong(args)).toEqual([]);
  });

  test("every problem is reported", () => {
    const large = "scaleToZero: must be false or left out for a size above 16 CU, which cannot scale to zero";
    expect(wrong({ size: 18, scaleToZero: true })).toEqual([large]);
    expect(wrong({ size: 56, scaleToZero: { afterSeconds: 60 }, type: "read_only", adopt: true })).toEqual([
      large,
      'adopt: must name a read replica by its id ("ep-…"): a branch can have several',
    ]);
  });
});

describe("a value that is refused is refused with a message", () => {
  const wrong = (name: keyof typeof computeEndpoint.args, value: unknown): string[] =>
    (computeEndpoint.args[name].schema.safeParse(value).error?.issues ?? []).map(
      ({ path, message }) => `${path.join(".")}: ${message}`,
    );
  const CONFIGURED =
    "The configuration holds strings: read it with config.requireNumber. Inside an object, remove it with `pulumi config rm --path` and set it with `pulumi config set --path --type float`";
  const SIZES = "is not a size of the service (0.25, 0.5, 1 to 16, and the even numbers from 18 to 56)";

  test.each<[keyof typeof computeEndpoint.args, unknown, string[]]>([
    ["size", 2, []],
    ["size", 56, []],
    ["size", { min: 0.25, max: 16 }, []],
    ["size", { min: 2, max: 2 }, []],
    [
      "size",
      { min: 1, max: 16.5 },
      ["max: 16.5 CU is too large to scale: autoscaling goes up to 16 CU, larger sizes are fixed"],
    ],
    ["size", 17, [`: 17 CU ${SIZES}`]],
    ["size", "2", [`: must be a number of compute units (CU), or {min, max}, not the string "2". ${CONFIGURED}`]],
    ["size", null, [": must be a number of compute units (CU), or {min, max}, not null"]],
    ["size", { min: 0.3, max: 2 }, [`min: 0.3 CU ${SIZES}`]],
    [
      "size",
      { min: 1, max: 18 },
      ["max: 18 CU is too large to scale: autoscaling goes up to 16 CU, larger sizes are fixed"],
    ],
    ["size", { min: 4, max: 2 }, ["min: min must not be larger than max"]],
    [
      "size",
      { min: "0.25", max: 2 },
      [`min: must be a number of compute units (CU), not the string "0.25". ${CONFIGURED}`],
    ],
    ["scaleToZero", true, []],
    ["scaleToZero", { afterSeconds: 60 }, []],
    ["scaleToZero", { afterSeconds: 604_800 }, []],
    ["scaleToZero", { afterSeconds: 59 }, ["afterSeconds: must be at least 60 seconds"]],
    ["scaleToZero", { afterSeconds: 604_801 }, ["afterSeconds: must be at most 604800 seconds (a week)"]],
    ["scaleToZero", { afterSeconds: 60.5 }, ["afterSeconds: must be a whole number of seconds"]],
    ["scaleToZero", 60, [": must be true, false or {afterSeconds}, not a number"]],
    ["scaleToZero", null, [": must be true, false or {afterSeconds}, not null"]],
    [
      "settings",
      { pgSettings: { a: 1 } },
      [
        expect.stringMatching(
          /^pgSettings\.a: must be a string \(Postgres settings are sent as text\), not a number\. .*--type string`$/,
        ),
      ],
    ],
    [
      "settings",
      { pgSettings: { "": "1" } },
      ["pgSettings.: must have a name, without blanks around it and line breaks"],
    ],
    [
      "settings",
      { pgSettings: 1 },
      ["pgSettings: must be an object of Postgres settings, each a string, not a number"],
    ],
    ["adopt", true, []],
    ["adopt", "ep-a.b_c~d-1", []],
    ["adopt", "an ep-1", [': must be true, false or the id of a compute, which begins with "ep-"']],
    ["adopt", "ep-1/2", [': must be true, false or the id of a compute, which begins with "ep-"']],
    ["adopt", "br-1", [': must be true, false or the id of a compute, which begins with "ep-"']],
    ["adopt", 1, [': must be true, false or the id of a compute, which begins with "ep-", not a number']],
    ["adopt", "true", [expect.stringMatching(/"ep-", not the string "true"\. .*config\.requireBoolean/)]],
  ])("%s %j", (name, value, expected) => {
    expect(wrong(name, value)).toEqual(expected);
  });
});
