import fc from "fast-check";
import { computes, EVERY, LEAST } from "../../support/computeCases";
import { CANARY, expectNoSecrets, thrownBy, UNKNOWN, type Harness } from "../../support/harness";

/** The list of docs/design/api.md, Compute sizes, written out: it shares nothing with the code. */
const SIZES = [
  0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42,
  44, 46, 48, 50, 52, 54, 56,
];

/** "Fixed size: any listed size. Autoscaling: a minimum and a maximum within 0.25 to 16 CU." (docs/design/api.md, Compute sizes) */
function mayHaveSize(size: unknown): boolean {
  if (typeof size === "number") return SIZES.includes(size);
  if (typeof size !== "object" || size === null || Array.isArray(size)) return false;
  const { min, max, ...rest } = size as { min?: unknown; max?: unknown };
  if (Object.keys(rest).length > 0 || typeof min !== "number" || typeof max !== "number") return false;
  return SIZES.includes(min) && SIZES.includes(max) && min <= max && max <= 16;
}

/** "0 = service default, -1 = never, else 60..604800" (docs/design/api.md, Compute record); true, false and {afterSeconds} here. */
function mayScaleToZero(value: unknown): boolean {
  if (typeof value === "boolean") return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { afterSeconds, ...rest } = value as { afterSeconds?: unknown };
  return (
    Object.keys(rest).length === 0 &&
    typeof afterSeconds === "number" &&
    Number.isInteger(afterSeconds) &&
    afterSeconds >= 60 &&
    afterSeconds <= 604_800
  );
}

/** "Sizes above 16 CU are fixed and cannot scale to zero" (docs/design/api.md, Compute sizes). */
function mayHaveBoth(size: unknown, scaleToZero: unknown): boolean {
  return !(typeof size === "number" && size > 16 && scaleToZero !== undefined && scaleToZero !== false);
}

const oneSize = fc.constantFrom(...SIZES);
const anyNumber = fc.oneof(
  oneSize,
  fc.integer({ min: -2, max: 60 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const anySize = fc.oneof(
  { weight: 4, arbitrary: fc.record({ min: oneSize, max: oneSize }) },
  { weight: 2, arbitrary: oneSize },
  anyNumber,
  fc.record({ min: anyNumber, max: anyNumber }),
  fc.record({ min: oneSize, max: oneSize, step: oneSize }, { requiredKeys: [] }),
  fc.constantFrom("2", "auto", true, [1, 2], {}, { min: "1", max: 2 }),
);
const seconds = fc.oneof(
  fc.integer({ min: -2, max: 604_802 }),
  fc.constantFrom(0, 59, 60, 61, 604_799, 604_800, 604_801, 60.5, -1),
);
const anyScaleToZero = fc.oneof(
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 2, arbitrary: fc.record({ afterSeconds: seconds }) },
  seconds,
  fc.constantFrom("never", {}, [300], { afterSeconds: "300" }, { afterSeconds: 300, after: 1 }),
);

let compute: Harness;
// Checks send nothing, so one provider serves them all.
beforeEach(async () => {
  compute = await computes();
});

test("a size passes exactly when the service offers it", async () => {
  await fc.assert(
    fc.asyncProperty(anySize, async (size) => {
      expect((await compute.check({ ...LEAST, size })).length === 0).toBe(mayHaveSize(size));
    }),
    { numRuns: 500 },
  );
});

test("every listed size passes as a fixed one, and every pair of them exactly when it may scale", async () => {
  for (const min of SIZES) {
    expect([min, await compute.check({ ...LEAST, size: min })]).toEqual([min, []]);
    for (const max of SIZES) {
      const passes = (await compute.check({ ...LEAST, size: { min, max } })).length === 0;
      expect([min, max, passes]).toEqual([min, max, min <= max && max <= 16]);
    }
  }
});

test("scale to zero passes exactly when the service has such a time-out", async () => {
  await fc.assert(
    fc.asyncProperty(anyScaleToZero, async (scaleToZero) => {
      expect((await compute.check({ ...LEAST, scaleToZero })).length === 0).toBe(mayScaleToZero(scaleToZero));
    }),
    { numRuns: 300 },
  );
});

test("a size and scale to zero pass together exactly when the service allows both", async () => {
  await fc.assert(
    fc.asyncProperty(anySize, anyScaleToZero, async (size, scaleToZero) => {
      const allowed = mayHaveSize(size) && mayScaleToZero(scaleToZero) && mayHaveBoth(size, scaleToZero);
      expect((await compute.check({ ...LEAST, size, scaleToZero })).length === 0).toBe(allowed);
    }),
    { numRuns: 500 },
  );
});

describe("with svc:allowUnlistedSizes", () => {
  const NAME = "SVC_ALLOW_UNLISTED_SIZES";
  beforeEach(() => void (process.env[NAME] = "true"));
  afterEach(() => void delete process.env[NAME]);
  const warnings = () => compute.log.map(({ severity, message }) => `${severity}: ${message}`);

  test.each([
    [{ size: 17 }, "size: 17 CU is not a size of the service"],
    [{ size: 64 }, "size: 64 CU is not a size of the service"],
    [{ size: { min: 0.75, max: 4 } }, "size.min: 0.75 CU is not a size of the service"],
    [{ size: { min: 1, max: 32 } }, "size.max: 32 CU is too large to scale"],
    [{ size: 32, scaleToZero: true }, "scaleToZero: must be false or left out for a size above 16 CU"],
  ])("%j passes with a warning, once it is new or something changes", async (given, words) => {
    const inputs = { ...LEAST, ...given };
    expect(await compute.check(inputs)).toEqual([]);
    expect(warnings()).toContainEqual(
      expect.stringMatching(`^warning: ${words}.*; it is sent, because svc:allowUnlistedSizes is set$`),
    );
    compute.log.splice(0);
    compute.restart();
    expect(await compute.check(inputs, inputs)).toEqual([]);
    expect(warnings()).toEqual([]);
  });

  test.each([
    [{ size: 0 }, /more than 0 CU/],
    [{ size: -1 }, /more than 0 CU/],
    [{ size: { min: 0, max: 1 } }, /more than 0 CU/],
    [{ size: { min: 17, max: 4 } }, /min must not be larger than max/],
    [{ size: "17" }, /must be a number/],
    [{ size: 17, name: "" }, /^name: /],
  ])("%j is refused anyway", async (given, words) => {
    expect(await compute.check({ ...LEAST, ...given })).toEqual([expect.stringMatching(words)]);
  });

  test("it is sent as it is given, and what the service says is the end of it", async () => {
    const { message } = await thrownBy(compute.create({ ...LEAST, size: { min: 17, max: 17 } }));
    expect(message).toMatch(/-> 400/);
    expect((await compute.mutations()).map(({ body }) => body)).toEqual([
      {
        endpoint: {
          branch_id: "br-dev",
          type: "read_write",
          autoscaling_limit_min_cu: 17,
          autoscaling_limit_max_cu: 17,
        },
      },
    ]);
  });
});

test("a size that is not listed is refused with the setting that lets it through, and false is no such setting", async () => {
  process.env["SVC_ALLOW_UNLISTED_SIZES"] = "false";
  try {
    const [problem] = await compute.check({ ...LEAST, size: 17 });
    expect(problem).toMatch(/ is not a size .*\. If the service supports it, set svc:allowUnlistedSizes to true$/);
    await expect(compute.create({ ...LEAST, size: 17 })).rejects.toThrow(/17 CU is not a size/);
    expect(await compute.mutations()).toEqual([]);
  } finally {
    delete process.env["SVC_ALLOW_UNLISTED_SIZES"];
  }
});

describe("with svc:maxSizeCu", () => {
  const NAME = "SVC_MAX_SIZE_CU";
  beforeEach(() => void (process.env[NAME] = "2"));
  afterEach(() => void delete process.env[NAME]);

  test.each([
    [{ size: 3 }, "size: 3 CU is above the limit of svc:maxSizeCu, which is 2 CU"],
    [{ size: { min: 0.5, max: 4 } }, "size.max: 4 CU is above the limit of svc:maxSizeCu, which is 2 CU"],
    [{ size: { min: 4, max: 4 } }, "size.max: 4 CU is above the limit of svc:maxSizeCu, which is 2 CU"],
  ])("%j fails the plan, and nothing is sent", async (given, problem) => {
    const inputs = { ...LEAST, ...given };
    expect(await compute.check(inputs)).toEqual([problem]);
    // Also if the compute has that size already.
    expect(await compute.check(inputs, inputs)).toEqual([problem]);
    expect(await compute.mutations()).toEqual([]);
  });

  test.each(["size", "size.max", "*"])("a size that %j ignores is that of the state, and passes", async (path) => {
    const inputs = { ...LEAST, size: { min: 0.5, max: 4 } };
    expect(await compute.check({ ...inputs, __ignoreChanges: [path] }, inputs)).toEqual([]);
  });

  test.each([
    ["ignores the other limit", { __ignoreChanges: ["size.min"] }, true],
    ["ignores its size, but is new", { __ignoreChanges: ["size"] }, false],
  ])("a compute that %s is not above it", async (_, ignoring, isStored) => {
    const inputs = { ...LEAST, size: { min: 0.5, max: 4 } };
    const olds = isStored ? { ...inputs, size: { min: 0.5, max: 2 } } : {};
    expect(await compute.check({ ...inputs, ...ignoring }, olds)).toEqual([
      "size.max: 4 CU is above the limit of svc:maxSizeCu, which is 2 CU",
    ]);
  });

  test.each([{}, { size: 2 }, { size: 0.25 }, { size: { min: 0.25, max: 2 } }, { size: UNKNOWN }])(
    "%j passes",
    async (given) => expect(await compute.check({ ...LEAST, ...given })).toEqual([]),
  );

  test("a limit that is no number is a problem of the settings, and no limit", async () => {
    process.env[NAME] = "small";
    expect(await compute.check({ ...LEAST, size: 4 })).toEqual([expect.stringMatching(/^svc:maxSizeCu .* must be/)]);
  });
});

test("what passes is sent, and the service takes it", async () => {
  const good = fc
    .tuple(anySize, anyScaleToZero)
    .filter(
      ([size, scaleToZero]) => mayHaveSize(size) && mayScaleToZero(scaleToZero) && mayHaveBoth(size, scaleToZero),
    );
  await fc.assert(
    fc.asyncProperty(good, async ([size, scaleToZero]) => {
      const inputs = { ...LEAST, type: "read_only", size, scaleToZero };
      const state = await compute.create(inputs);
      compute.restart();
      const found = await compute.read(state);
      expect((await compute.diff(found ?? state, inputs)).changes).toBe(false);
    }),
    { numRuns: 40 },
  );
}, 30_000);

test.each([
  [
    "size",
    17,
    /^size: 17 CU is not a size of the service \(0\.25, 0\.5, 1 to 16, and the even numbers from 18 to 56\)\. If the service supports it, set svc:allowUnlistedSizes to true$/,
  ],
  ["size", { min: 1, max: 18 }, /^size\.max: 18 CU is too large to scale: autoscaling goes up to 16 CU/],
  ["size", { min: 4, max: 2 }, /^size\.min: min must not be larger than max$/],
  [
    "size",
    "2",
    /^size: must be a number of compute units \(CU\), or \{min, max\}, not the string "2"\. The configuration/,
  ],
  ["size", { min: "0.25", max: 2 }, /^size\.min: must be .*, not the string "0\.25"\..*--path --type float`$/],
  ["scaleToZero", { afterSeconds: 59 }, /^scaleToZero\.afterSeconds: must be at least 60 seconds$/],
  ["scaleToZero", 300, /^scaleToZero: must be true, false or \{afterSeconds\}, not a number$/],
  ["scaleToZero", -1, /, not a number\. Never, which is -1 at the service, is scaleToZero: false$/],
  ["scaleToZero", 0, /, not a number\. The default of .* is 0 there, is scaleToZero: true, or leaving it out$/],
  ["scaleToZero", "-1", /, not a string\. .*\. Never, which is -1 at the service, is scaleToZero: false$/],
  ["scaleToZero", { afterSeconds: -1 }, /^scaleToZero\.afterSeconds: must be at least 60 seconds\. Never, which is -1/],
  ["scaleToZero", { afterSeconds: 0 }, /^scaleToZero\.afterSeconds: must be at least 60 seconds\. The default of/],
  ["branchId", "main", /^branchId: must be the id of a branch, which begins with "br-" \(not its name\)$/],
  ["projectId", "no/such", /^projectId: must be the id of a project/],
  ["type", "primary", /^type: must be "read_write" or "read_only"$/],
  ["name", "", /^name: must have 1 to 64 characters$/],
  ["name", "x".repeat(65), /^name: must have 1 to 64 characters$/],
  ["poolerMode", "session", /^poolerMode: must be "transaction"$/],
  ["disabled", "yes", /^disabled: must be true or false, not a string\. .*config\.requireBoolean.*--type bool`$/],
  ["disabled", "true", /^disabled: must be true or false, not the string "true"\. /],
  ["settings", { pgSettings: { work_mem: 8 } }, /^settings\.pgSettings\.work_mem: must be a string/],
  ["settings", { pg_settings: {} }, /^settings\.pg_settings: unknown property\. Did you mean "pgSettings"\?$/],
  [
    "settings",
    { pgSettings: { "": "x" } },
    /^settings\.pgSettings\[""\]: must have a name, without blanks around it and line breaks$/,
  ],
  [
    "settings",
    { pgSettings: { " work_mem": "x" } },
    /^settings\.pgSettings\. work_mem: must have a name, without blanks around it and line breaks$/,
  ],
  [
    "settings",
    { preloadLibraries: { enabledLibraries: ["a\n"] } },
    /\[0\]: must not contain a line break or another control character$/,
  ],
  ["size", { min: 1, max: 2, maximum: 2 }, /^size\.maximum: unknown property\. Did you mean "max"\?$/],
  ["size", { min: 1, max: 2, sizes: UNKNOWN }, /^size\.sizes: unknown property\. Known: min, max$/],
  [
    "scaleToZero",
    { afterSeconds: 60, after: 60 },
    /^scaleToZero\.after: unknown property\. Did you mean "afterSeconds"\?$/,
  ],
  [
    "settings",
    "fast",
    /^settings: must be an object with pgSettings and preloadLibraries, not a string\. .*config\.requireObject$/,
  ],
  ["restartTriggers", "v1", /^restartTriggers: must be a list of any values, not a string\. .*config\.requireObject$/],
  ["adopt", "br-1", /^adopt: must be true, false or the id of a compute/],
  ["tags", {}, /^tags: is not an argument of ComputeEndpoint\..*transformation/],
])("%s %j is refused with a message that begins with its path", async (name, value, words) => {
  expect(await compute.check({ ...LEAST, [name]: value })).toEqual([expect.stringMatching(words)]);
});

test("a large fixed size with scale to zero is one problem, at the argument that can be changed", async () => {
  expect(await compute.check({ ...LEAST, size: 18, scaleToZero: true })).toEqual([
    "scaleToZero: must be false or left out for a size above 16 CU, which cannot scale to zero. If the service supports it, set svc:allowUnlistedSizes to true",
  ]);
});

test("a replica is adopted by its id alone, since a branch can have several", async () => {
  expect(await compute.check({ ...LEAST, type: "read_only", adopt: true })).toEqual([
    expect.stringMatching(/^adopt: must name a read replica by its id/),
  ]);
  expect(await compute.check({ ...LEAST, type: "read_only", adopt: "ep-1" })).toEqual([]);
});

test("all problems come at once, and none shows the text that was given", async () => {
  const problems = await compute.check({ name: CANARY.repeat(20), size: CANARY, branchId: CANARY, settings: CANARY });
  expect(problems.map((problem) => problem.split(":")[0]).sort()).toEqual([
    "branchId",
    "name",
    "projectId",
    "settings",
    "size",
  ]);
  expectNoSecrets(compute);
  expect(await compute.requests()).toEqual([]);
});

test("what is not known yet passes at every depth, and what is known beside it is still checked", async () => {
  const unknown = { size: { min: UNKNOWN, max: 2 }, scaleToZero: { afterSeconds: UNKNOWN } };
  expect(await compute.check({ ...EVERY, ...unknown, branchId: UNKNOWN, restartTriggers: [UNKNOWN] })).toEqual([]);
  expect(await compute.check({ ...LEAST, size: { min: UNKNOWN, max: 17 } })).toEqual([
    expect.stringMatching(/^size\.max: 17 CU/),
  ]);
});
