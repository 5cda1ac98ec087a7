/** A service that answers 409 where a project is locked (docs/design/api.md, Operations), as it does to what exists. */
import {
  allAtService,
  atService,
  computes,
  DEMO_PRIMARY,
  endpointId,
  ENDPOINTS,
  LEAST,
} from "../../support/computeCases";
import { PROJECT, thrownBy, type Harness, type State } from "../../support/harness";

const LOCKING = { lockProjects: true, lockStatus: 409 as const, activationMs: 60 };
const OPERATIONS = "/projects/{project_id}/operations";
const ONE = "/projects/{project_id}/endpoints/{endpoint_id}";

/** Somebody else's operation, which locks the project for a while. */
const lock = (compute: Harness, endpoint_id: string, duration_ms = 1_000) =>
  compute.edit({ kind: "operation", create: { endpoint_id, duration_ms } });

/** The statuses of the changes that arrived, in order. */
const answers = async (compute: Harness): Promise<unknown[]> =>
  (await compute.mutations()).map((request) => `${request.method} ${Reflect.get(request, "status")}`);

const CHANGES: readonly (readonly [string, string, (compute: Harness, state: State) => Promise<unknown>])[] = [
  ["a creation", "POST 201", (compute) => compute.create({ ...LEAST, branchId: "br-test" })],
  ["a read replica", "POST 201", (compute) => compute.create({ ...LEAST, type: "read_only" })],
  ["an update", "PATCH 200", (compute, state) => compute.update(state, { ...LEAST, name: "later" })],
  ["a move", "PATCH 200", (compute, state) => compute.update(state, { ...LEAST, branchId: "br-test" })],
  ["a restart", "POST 200", (compute, state) => compute.update(state, { ...LEAST, restartTriggers: ["v1"] })],
  ["an adoption", "PATCH 200", (compute) => compute.create({ ...LEAST, adopt: true, size: 4 })],
  ["a deletion", "DELETE 200", (compute, state) => compute.delete(state)],
];

describe.each([
  ["that lists its operations", false],
  ["without a list of operations", true],
])("on a service %s", (_, isWithoutOperations) => {
  test.each(CHANGES)("%s waits for a lock that 409 tells of, and is sent again", async (_what, done, change) => {
    const compute = await computes(LOCKING);
    const state = await compute.create(LEAST);
    if (isWithoutOperations) await compute.fault({ method: "GET", path: OPERATIONS, status: 404, times: 0 });
    await lock(compute, DEMO_PRIMARY);
    await compute.forgetRequests();
    compute.restart();
    await change(compute, state);
    const all = await answers(compute);
    expect(all.at(-1)).toBe(done);
    const refused = all.slice(0, -1);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused)).toEqual(new Set([`${done.split(" ")[0]} 409`]));
  });

  test("a primary in the way is no lock, and the creation says so while the project is locked", async () => {
    const compute = await computes(LOCKING);
    await lock(compute, DEMO_PRIMARY, 5_000);
    if (isWithoutOperations) await compute.fault({ method: "GET", path: OPERATIONS, status: 404, times: 0 });
    // The list lags when the creation begins.
    await compute.fault({
      method: "GET",
      path: "/projects/{project_id}/endpoints",
      status: 200,
      body: { endpoints: [] },
    });
    const began = performance.now();
    const error = await thrownBy(compute.create({ projectId: PROJECT, branchId: "br-main" }));
    expect(error.message).toMatch(new RegExp(`the branch already has a primary compute: ${DEMO_PRIMARY}`));
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(await answers(compute)).toEqual(["POST 409"]);
  });
});

test("computes that are created together wait for each other's operations", async () => {
  const compute = await computes(LOCKING);
  const made = await Promise.all(
    ["br-dev", "br-test"].map((branchId) => compute.create({ projectId: PROJECT, branchId })),
  );
  const listed = (await allAtService(compute)).map(({ id }) => id);
  expect(listed).toEqual(expect.arrayContaining(made.map(endpointId)));
  expect(listed).toHaveLength(3);
});

test("a lock that stays is said at the deadline, and nothing was changed", async () => {
  const compute = await computes(LOCKING);
  const state = await compute.create(LEAST);
  await lock(compute, endpointId(state), 60_000);
  const inputs = { ...LEAST, name: "later", __timeouts: { update: 1 } };
  const { message } = await thrownBy(compute.update(state, inputs));
  expect(message).toMatch(/the project has a running operation; still locked after 1 s/);
  expect(await atService(compute, endpointId(state))).not.toHaveProperty("name");
});

test("a 409 for which nothing is shown, twice, is a refusal in the words of the service", async () => {
  const compute = await computes();
  const state = await compute.create(LEAST);
  await compute.forgetRequests();
  const refusal = { status: 409, body: { code: "", message: "not now" }, times: 0 };
  await compute.fault({ method: "PATCH", path: ONE, ...refusal });
  const { message } = await thrownBy(compute.update(state, { ...LEAST, name: "later" }));
  expect(message).toMatch(/it conflicts with an existing object: not now/);
  expect((await compute.requests("PATCH")).map(({ path }) => path)).toEqual(
    [1, 2].map(() => `${ENDPOINTS}/${endpointId(state)}`),
  );
});

test("a primary that came to the branch of a move is in its way, whatever runs", async () => {
  const compute = await computes(LOCKING);
  const state = await compute.create(LEAST);
  await compute.forgetRequests();
  compute.restart();
  // After the look before the move, a colleague takes the branch; its operation locks the project.
  await compute.edit({ kind: "endpoint", create: { branch_id: "br-test", type: "read_write" } });
  await lock(compute, DEMO_PRIMARY, 5_000);
  const listed = { endpoints: (await allAtService(compute)).filter(({ branch_id }) => branch_id !== "br-test") };
  await compute.fault({ method: "GET", path: "/projects/{project_id}/endpoints", status: 200, body: listed, times: 2 });
  const began = performance.now();
  const { message } = await thrownBy(compute.update(state, { ...LEAST, branchId: "br-test" }));
  expect(message).toMatch(/409/);
  expect(performance.now() - began).toBeLessThan(4_000);
});
