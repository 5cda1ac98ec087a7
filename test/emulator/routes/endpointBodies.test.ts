import fc from "fast-check";
import type { Emulator } from "../../../src/emulator";
import { startEmulator } from "../../../src/emulator";
import { api, DEMO, ERROR_BODY, type Json } from "../../support/emulator";

/** Written out from docs/design/api.md, Compute sizes, so that it shares nothing with the code. */
const SIZES = [
  0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42,
  44, 46, 48, 50, 52, 54, 56,
];

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ activationMs: 0 });
});
afterAll(() => emulator.close());

/** What the service says to these attributes. Replicas, because a branch may have any number. */
const status = async (attributes: Json): Promise<number> =>
  (
    await api(emulator, "POST", `${DEMO}/endpoints`, {
      endpoint: { branch_id: "br-dev", type: "read_only", ...attributes },
    })
  ).status;

const sized = (min: number, max: number, more: Json = {}): Promise<number> =>
  status({ autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max, ...more });

test("every size of the table can be had as a fixed size", async () => {
  for (const size of SIZES) expect([size, await sized(size, size)]).toEqual([size, 201]);
});

test("a size that is not in the table is refused", async () => {
  const other = fc.oneof(fc.double({ min: -10, max: 80, noNaN: true }), fc.integer({ min: -10, max: 80 }));
  await fc.assert(
    fc.asyncProperty(
      other.filter((size) => !SIZES.includes(size)),
      async (size) => (await sized(size, size)) === 400,
    ),
    { numRuns: 60 },
  );
});

test("autoscaling needs min below max and ends at 16 CU", async () => {
  const size = fc.constantFrom(...SIZES);
  await fc.assert(
    fc.asyncProperty(size, size, async (min, max) => {
      const allowed = min === max || (min < max && max <= 16);
      return (await sized(min, max)) === (allowed ? 201 : 400);
    }),
    { numRuns: 80 },
  );
});

test("above 16 CU scale to zero is refused, and off by default", async () => {
  for (const seconds of [0, 60, 300]) expect(await sized(18, 18, { suspend_timeout_seconds: seconds })).toBe(400);
  expect(await sized(18, 18, { suspend_timeout_seconds: -1 })).toBe(201);
  const { body } = await api(emulator, "POST", `${DEMO}/endpoints`, {
    endpoint: {
      branch_id: "br-dev",
      type: "read_only",
      autoscaling_limit_min_cu: 18,
      autoscaling_limit_max_cu: 18,
    },
  });
  expect(body).toMatchObject({ endpoint: { suspend_timeout_seconds: -1 } });
});

test("the suspend timeout is 0, -1 or 60 to 604800 whole seconds", async () => {
  for (const seconds of [0, -1, 60, 300, 604_800]) expect(await status({ suspend_timeout_seconds: seconds })).toBe(201);
  for (const seconds of [-2, 1, 59, 604_801, 60.5, "60", null]) {
    expect([seconds, await status({ suspend_timeout_seconds: seconds })]).toEqual([seconds, 400]);
  }
});

test("the rules bind the result of a PATCH, whichever part was sent", async () => {
  const { body } = await api(emulator, "POST", `${DEMO}/endpoints`, {
    endpoint: { branch_id: "br-test", type: "read_only", autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 4 },
  });
  const id = String((body.endpoint as Json).id); // a 201 answers the compute
  const patch = async (attributes: Json) =>
    (await api(emulator, "PATCH", `${DEMO}/endpoints/${id}`, { endpoint: attributes })).status;
  expect(await patch({ autoscaling_limit_max_cu: 1 })).toBe(400);
  expect(await patch({ autoscaling_limit_min_cu: 5 })).toBe(400);
  expect(await patch({ autoscaling_limit_max_cu: 20 })).toBe(400);
  expect(await patch({ autoscaling_limit_min_cu: 4 })).toBe(200);
});

test.each([
  ["no branch", { branch_id: undefined }],
  ["a branch id of the wrong shape", { branch_id: "main" }],
  ["no type", { type: undefined }],
  ["an unknown type", { type: "read_mostly" }],
  ["an unknown field", { colour: "red" }],
  ["a number as text", { autoscaling_limit_max_cu: "2" }],
  ["an empty name", { name: "" }],
  ["a name of 65 characters", { name: "n".repeat(65) }],
  ["an unknown pooler mode", { pooler_mode: "session" }],
  ["a flag as text", { disabled: "true" }],
  ["a Postgres setting that is no text", { settings: { pg_settings: { work_mem: 4 } } }],
  ["an unknown part of settings", { settings: { limits: {} } }],
])("a compute with %s is refused with the error body", async (_what, attributes) => {
  const answer = await api(emulator, "POST", `${DEMO}/endpoints`, {
    endpoint: { branch_id: "br-dev", type: "read_only", ...attributes },
  });
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual(ERROR_BODY);
});

test("an update takes neither type nor region", async () => {
  for (const attributes of [{ type: "read_write" }, { region_id: "aws-us-east-1" }]) {
    const { status: answered } = await api(emulator, "PATCH", `${DEMO}/endpoints/ep-demo-main-10000001`, {
      endpoint: attributes,
    });
    expect(answered).toBe(400);
  }
});
