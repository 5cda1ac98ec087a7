import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { harness, PROJECT, UNKNOWN, type Harness, type Json } from "../support/harness";

const BRANCHES = ["br-dev", "br-test", "br-main"];
// What nobody waits for any more ends soon after the test.
const QUICK = { lookAheadMs: 2_000, attemptTimeoutMs: 1_800, readDeadlineMs: 2_500 };
/** For a response that decides at once: a slow machine must not change the result. */
const PATIENT = { lookAheadMs: 20_000, attemptTimeoutMs: 20_000, readDeadlineMs: 20_000 };

/** The plans of three computes of one program. */
async function plans(given: Harness) {
  const said = { failures: [] as string[], warnings: [] as string[] };
  for (const branchId of BRANCHES) {
    const { failures, warnings } = await given.plan({ projectId: PROJECT, branchId }, {}, branchId);
    said.failures.push(...failures);
    said.warnings.push(...warnings);
  }
  return said;
}

const NOT_ASKED =
  /^127\.0\.0\.1:\d+ could not be queried, so this plan does not show what would make pulumi up fail: (.*)\. pulumi up needs the service\./;

const TROUBLE: readonly (readonly [string, Json, RegExp, object])[] = [
  ["a service that fails", { status: 503, times: 0 }, /the service failed.*503/, QUICK],
  ["a service that hangs", { drop: "hang", times: 0 }, /no (complete )?response within/, QUICK],
  [
    "a service that asks to wait",
    { status: 429, headers: { "retry-after": "1" }, times: 6 },
    /too many requests|no response/,
    QUICK,
  ],
  ["a web page", { status: 200, body: "<html>log in</html>", contentType: "text/html", times: 0 }, /web page/, PATIENT],
  ["a list without its items", { status: 200, body: {}, times: 0 }, /an unexpected shape/, PATIENT],
  [
    "a gateway's 404",
    { status: 404, body: "default backend - 404", contentType: "text/plain", times: 0 },
    /does not have the service.s error format/,
    PATIENT,
  ],
];

test.each(TROUBLE)("%s is one warning of the whole plan, within its time", async (_what, fault, words, times) => {
  const given = await harness(computeEndpoint, {}, times);
  await given.fault(fault);
  const { failures, warnings } = await plans(given);
  expect(failures).toEqual([]);
  expect(warnings).toEqual([expect.stringMatching(NOT_ASKED)]);
  expect(NOT_ASKED.exec(warnings[0] ?? "")?.[1]).toMatch(words);
  expect(warnings.join()).not.toMatch(/no project|no branch/);
});

test("a port where nothing listens is told long before the time of the looks is over", async () => {
  const closed = () => "http://127.0.0.1:1/api/v2";
  const given = await harness(computeEndpoint, {}, { lookAheadMs: 60_000, attemptTimeoutMs: 1_800 }, closed);
  const { failures, warnings } = await plans(given);
  expect(failures).toEqual([]);
  expect(warnings).toEqual([expect.stringMatching(NOT_ASKED)]);
  expect(warnings.join()).toMatch(/cannot be reached at 127\.0\.0\.1:\d+: ECONNREFUSED \(.*Nothing listens there/);
  expect(warnings.join()).not.toContain("still failing");
});

test("with strictPlan a service that cannot be asked fails the plan, once", async () => {
  const given = await harness(computeEndpoint, {}, QUICK);
  await given.fault({ status: 503, times: 0 });
  process.env["SVC_STRICT_PLAN"] = "1";
  try {
    expect(await plans(given)).toEqual({ failures: [expect.stringMatching(NOT_ASKED)], warnings: [] });
  } finally {
    delete process.env["SVC_STRICT_PLAN"];
  }
});

test("a bad minute that ends in time is not said", async () => {
  const given = await harness(computeEndpoint, {}, { attemptTimeoutMs: 1_000 });
  await given.fault({ status: 503, times: 2 });
  const { failures, warnings } = await given.plan({ projectId: PROJECT, branchId: "br-dev" });
  expect([...failures, ...warnings]).toEqual([]);
});

test("what takes a while shows on the line of the resource, which is clear at the end", async () => {
  const given = await harness(computeEndpoint, { latencyMs: 1_200 }, { attemptTimeoutMs: 5_000 });
  await given.plan({ projectId: PROJECT, branchId: "br-dev" });
  const shown = given.log.filter(({ ephemeral }) => ephemeral).map(({ message }) => message);
  expect(shown).toEqual([expect.stringMatching(/^checking 127\.0\.0\.1:\d+ for conflicts$/), ""]);
});

test("two looks at the same time share a list and the clock", async () => {
  const given = await harness(computeEndpoint, { latencyMs: 100 });
  const plan = (branchId: string) => given.plan({ projectId: PROJECT, branchId }, {}, branchId);
  await Promise.all(["br-dev", "br-test"].map(plan));
  expect((await given.requests()).map(({ path }) => path.split("/").at(-1)).sort()).toEqual(["branches", "endpoints"]);
});

test("what is refused without the service, and what is not known yet, is not looked for", async () => {
  const given = await harness(computeEndpoint);
  expect((await given.plan({ projectId: PROJECT, branchId: "dev" })).failures).toHaveLength(1);
  expect((await given.plan({ projectId: UNKNOWN, branchId: "br-none" })).warnings).toEqual([]);
  expect(await given.requests()).toEqual([]);
  expect(await given.plan({ projectId: PROJECT, branchId: UNKNOWN })).toEqual({ failures: [], warnings: [] });
  const open = { projectId: PROJECT, branchId: "br-main" };
  expect((await given.plan({ ...open, adopt: UNKNOWN })).warnings).toEqual([]);
  expect((await given.plan({ ...open, type: UNKNOWN })).warnings).toEqual([]);
});

test("a key without the right to read fails the plan, too", async () => {
  const given = await harness(computeEndpoint);
  await given.fault({ status: 403, times: 0, body: { code: "forbidden", message: "read-only key" } });
  const { failures } = await given.plan({ projectId: PROJECT, branchId: "br-dev" });
  expect(failures).toEqual([
    expect.stringMatching(/refused a request of this plan: the API key does not permit this: read-only key/),
  ]);
});
