import {
  allAtService,
  atService,
  computes,
  DEMO_PRIMARY,
  editByHand,
  endpointId,
  ENDPOINTS,
  LEAST,
  put,
  sent,
} from "../../support/computeCases";
import { until } from "../../support/emulator";
import { expectNoSecrets, notes, PROJECT, thrownBy, urnOf, type Harness, type Json } from "../../support/harness";

const ON_MAIN = { projectId: PROJECT, branchId: "br-main" };
const WITH_ADOPT = { ...ON_MAIN, adopt: true };
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();

async function replica(compute: Harness, fields: Json = {}): Promise<string> {
  await compute.edit({ kind: "endpoint", create: { branch_id: "br-main", type: "read_only", ...fields } });
  return String((await allAtService(compute)).at(-1)?.["id"]);
}

describe("a compute that is in the way", () => {
  test("is named with its branch and its age, and both ways out are reported", async () => {
    const compute = await computes();
    await editByHand(compute, DEMO_PRIMARY, { created_at: ago(3 * 60 + 1) });
    await compute.forgetRequests();
    const error = await thrownBy(compute.create(ON_MAIN));
    expect(error.message).toBe(
      `Could not create ComputeEndpoint ("thing"): the branch already has a primary compute: ${DEMO_PRIMARY} on br-main, created 3 minutes ago. ` +
        'An interrupted pulumi up may have created it, or another stack may manage it. To manage it here, set "adopt: true" on this resource; ' +
        `to create a new one, delete ${DEMO_PRIMARY} first or choose another branch; ` +
        "or, if you renamed the resource or its component, add an alias to its options: " +
        'aliases: [{ name: "<old name>" }]; ' +
        "or, if pulumi up --replace or pulumi state taint replaces it, " +
        'set "deleteBeforeReplace: true" in its options for that run',
    );
    expect(error).not.toHaveProperty("id");
    expect(await compute.mutations()).toEqual([]);
    expectNoSecrets(compute);
  });

  test.each([
    [0, /created (just now|1 second ago|2 seconds ago)/],
    [61, /created 1 minute ago/],
    [7_201, /created 2 hours ago/],
    [86_401, /created 1 day ago/],
  ])("made %d s ago is told in one unit", async (seconds, words) => {
    const compute = await computes();
    await editByHand(compute, DEMO_PRIMARY, { created_at: ago(seconds) });
    expect((await thrownBy(compute.create(ON_MAIN))).message).toMatch(words);
  });

  test("is distinguished from a replica that stands before it in the list, and no replica is in the way of a primary", async () => {
    const compute = await computes();
    await compute.edit({ kind: "endpoint", create: { branch_id: "br-dev", type: "read_only" } });
    await compute.create(LEAST);
    expect((await thrownBy(compute.create(LEAST))).message).toMatch(/the branch already has a primary compute/);
  });

  test("is named as well when the list lags and only the service's refusal tells of it", async () => {
    const compute = await computes();
    const path = "/projects/{project_id}/endpoints";
    await compute.fault({ method: "GET", path, status: 200, body: { endpoints: [] } });
    const error = await thrownBy(compute.create(ON_MAIN));
    expect(error.message).toMatch(new RegExp(`the branch already has a primary compute: ${DEMO_PRIMARY} on br-main`));
    expect(error.message).toMatch(/set "adopt: true"/);
  });

  test("is the service's own refusal when no list ever shows it", async () => {
    const compute = await computes();
    await compute.fault({ method: "POST", path: "/projects/{project_id}/endpoints", status: 409, times: 0 });
    expect((await thrownBy(compute.create(LEAST))).message).toMatch(/it conflicts with an existing object.*409/);
  });

  test("may be a replica of the same name, which is adopted by its id", async () => {
    const compute = await computes();
    const id = await replica(compute, { name: "reports" });
    const error = await thrownBy(compute.create({ ...ON_MAIN, type: "read_only", name: "reports" }));
    expect(error.message).toMatch(/the branch already has a read replica of this name/);
    expect(error.message).toContain(`set "adopt: '${id}'" on this resource`);
  });

  test("may be a replica that a ComputeGroup counts: there it takes the list form", async () => {
    const compute = await computes();
    const id = await replica(compute, { name: "db-replica-2" });
    const error = await thrownBy(compute.create({ ...ON_MAIN, type: "read_only", name: "db-replica-2" }));
    expect(error.message).toContain(
      `set "adopt: '${id}'" on this resource (if a ComputeGroup has a count of replicas, use a list instead, ` +
        `with this one as key: "2", the same name, and adopt); to create a new one, delete ${id} first`,
    );
  });

  test("does not keep replicas without a name, or with another, from being made", async () => {
    const compute = await computes();
    await replica(compute, { name: "reports" });
    await compute.create({ ...ON_MAIN, type: "read_only" });
    await compute.create({ ...ON_MAIN, type: "read_only", name: "billing" });
    expect(await allAtService(compute)).toHaveLength(4);
  });
});

describe("adopting", () => {
  test("takes over the branch's primary and brings it to what is declared, in one request", async () => {
    const compute = await computes();
    const inputs = { ...WITH_ADOPT, size: 4, scaleToZero: false, poolerEnabled: false };
    const state = await compute.create(inputs);
    expect(state.id).toBe(`${PROJECT}/${DEMO_PRIMARY}`);
    const requests = await compute.mutations();
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([`PATCH ${ENDPOINTS}/${DEMO_PRIMARY}`]);
    expect(sent(requests)).toEqual([
      { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4, suspend_timeout_seconds: -1 },
    ]);
    expect(state.outs).toMatchObject({ ...inputs, endpointId: DEMO_PRIMARY });
    expect((await compute.diff(state, inputs)).changes).toBe(false);
  });

  test("is said, with what destroying then does", async () => {
    const compute = await computes();
    await compute.create(WITH_ADOPT);
    expect(notes(compute)).toEqual([
      expect.stringContaining(
        `${DEMO_PRIMARY} ("thing") was taken over: destroying it deletes the object, unless retainOnDelete`,
      ),
    ]);
  });

  test("sends again what somebody changes while it is changed", async () => {
    const compute = await computes({}, { mutationAttemptTimeoutMs: 60_000 });
    await editByHand(compute, DEMO_PRIMARY, { name: "reports" });
    await compute.fault({ method: "PATCH", delayMs: 1_000 });
    const adopting = compute.create({ ...WITH_ADOPT, name: "reports", size: 4 });
    await until(
      () => compute.requests("PATCH"),
      (requests) => requests.length > 0,
    );
    await editByHand(compute, DEMO_PRIMARY, { name: "by hand" });
    const state = await adopting;
    expect(sent(await compute.mutations())).toEqual([
      { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 },
      { name: "reports" },
    ]);
    expect(state.outs).toMatchObject({ name: "reports", size: 4 });
  });

  test("sends nothing where all is as declared", async () => {
    const compute = await computes();
    const state = await compute.create({
      ...WITH_ADOPT,
      size: { min: 0.25, max: 2 },
      scaleToZero: { afterSeconds: 300 },
    });
    expect(await compute.mutations()).toEqual([]);
    expect(state.id).toBe(`${PROJECT}/${DEMO_PRIMARY}`);
  });

  test("makes a new one where there is none", async () => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, adopt: true });
    expect(await atService(compute, endpointId(state))).toMatchObject({ branch_id: "br-dev", type: "read_write" });
  });

  test("takes an idle one as it is, without waking it", async () => {
    const compute = await computes();
    await put(compute, DEMO_PRIMARY, "suspend");
    await compute.forgetRequests();
    await compute.create(WITH_ADOPT);
    expect(await compute.mutations()).toEqual([]);
    expect((await atService(compute, DEMO_PRIMARY))["current_state"]).toBe("idle");
  });

  test("is not kept by an operation that failed long ago from taking an active one", async () => {
    const compute = await computes();
    await compute.fault({ operation: { status: "failed" } });
    await compute.edit({ kind: "operation", create: { endpoint_id: DEMO_PRIMARY, action: "apply_config" } });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect((await compute.create(WITH_ADOPT)).id).toBe(`${PROJECT}/${DEMO_PRIMARY}`);
  });

  test("takes a read replica by its id", async () => {
    const compute = await computes();
    const id = await replica(compute);
    const state = await compute.create({ ...ON_MAIN, type: "read_only", adopt: id, name: "reports" });
    expect(state.id).toBe(`${PROJECT}/${id}`);
    expect(sent(await compute.mutations())).toEqual([{ name: "reports" }]);
  });

  test("takes a compute of another branch by its id and moves it", async () => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, adopt: DEMO_PRIMARY });
    expect(state.id).toBe(`${PROJECT}/${DEMO_PRIMARY}`);
    expect((await atService(compute, DEMO_PRIMARY))["branch_id"]).toBe("br-dev");
  });

  test.each([
    ["that is not there", { adopt: "ep-nowhere-1" }, /"adopt" names a compute that is not in this project/],
    ["of another type", { type: "read_only", adopt: DEMO_PRIMARY }, /whose type is read_write, not read_only/],
  ])("refuses a compute %s, and nothing is changed", async (_which, inputs, words) => {
    const compute = await computes();
    const error = await thrownBy(compute.create({ ...ON_MAIN, ...inputs }));
    expect(error.message).toMatch(words);
    expect(error).not.toHaveProperty("id");
    expect(await compute.mutations()).toEqual([]);
  });

  test("refuses a read replica where the program declares no type: it means a primary", async () => {
    const compute = await computes();
    const id = await replica(compute);
    const error = await thrownBy(compute.create({ ...LEAST, adopt: id }));
    expect(error.message).toContain(
      `"adopt" names ${id}, whose type is read_only, not read_write: a type cannot be changed`,
    );
    expect(await compute.mutations()).toEqual([]);
  });

  test.each([
    ["has begun", true],
    ["begins while it is looked for", false],
  ])("waits for a deletion that %s, and makes a new one", async (_when, deletesFirst) => {
    const compute = await computes();
    const there = await compute.create({ ...ON_MAIN, adopt: DEMO_PRIMARY });
    compute.restart();
    await compute.forgetRequests();
    await compute.fault({ method: "GET", path: ENDPOINTS, delayMs: 300 });
    const leave = () => compute.provider.delete(there.id, there.outs);
    const leaving = deletesFirst ? leave() : undefined;
    const adopting = compute.create({ ...ON_MAIN, adopt: DEMO_PRIMARY });
    await until(
      () => compute.requests(),
      (requests) => requests.length > 0,
    );
    await (leaving ?? leave());
    const made = await adopting;
    expect(made.id).not.toBe(there.id);
    expect((await allAtService(compute)).map(({ id }) => id)).toEqual([endpointId(made)]);
  });

  test("gives up at its own deadline on a compute whose deletion does not end", async () => {
    const compute = await computes();
    const there = await compute.create({ ...ON_MAIN, adopt: DEMO_PRIMARY, __timeouts: { delete: 2 } });
    compute.restart();
    await compute.fault({ method: "DELETE", delayMs: 3_000 });
    const leaving = compute.provider.delete(there.id, there.outs).catch(() => undefined);
    const error = await thrownBy(compute.create({ ...ON_MAIN, adopt: DEMO_PRIMARY, __timeouts: { create: 1 } }));
    expect(error.message).toMatch(/ep-demo-main-10000001 was still being deleted or moved away after 1 s\./);
    await leaving;
  });

  test("names the way out where the compute that is named is not there", async () => {
    const compute = await computes();
    const error = await thrownBy(compute.create({ ...LEAST, adopt: "ep-nowhere-1" }));
    expect(error.message).toMatch(
      /"adopt" names a compute that is not in this project\. Remove "adopt" to create a new one$/,
    );
  });

  test.each([
    ["another type", { ...ON_MAIN, type: "read_only" }],
    ["the same arguments (up --replace)", ON_MAIN],
  ])("makes a new one where the one that it names was deleted for a replacement by %s", async (_what, inputs) => {
    const compute = await computes();
    const state = await compute.create({ ...ON_MAIN, adopt: DEMO_PRIMARY });
    await compute.delete(state);
    const replaced = await compute.create({ ...inputs, adopt: DEMO_PRIMARY });
    expect(replaced.id).not.toBe(state.id);
    expect((await allAtService(compute)).map(({ id }) => id)).toEqual([endpointId(replaced)]);
  });

  test("makes a new one in another project as well, after a replacement by that", async () => {
    const compute = await computes();
    await compute.delete(await compute.create({ ...ON_MAIN, adopt: DEMO_PRIMARY }));
    const path = "/projects/prj-other/endpoints";
    const endpoint = { id: "ep-new-1", host: "ep-new-1.db", branch_id: "br-1", type: "read_write" };
    await compute.fault({ method: "GET", path, status: 200, body: { endpoints: [] }, times: 0 });
    await compute.fault({
      method: "POST",
      path,
      status: 201,
      body: { endpoint: { ...endpoint, current_state: "active" }, operations: [] },
    });
    const replaced = await compute.create({ projectId: "prj-other", branchId: "br-1", adopt: DEMO_PRIMARY });
    expect(replaced.id).toBe("prj-other/ep-new-1");
  });

  test("makes no new one in a later process, which cannot tell a replacement from a mistake", async () => {
    const compute = await computes();
    await compute.delete(await compute.create({ ...ON_MAIN, adopt: DEMO_PRIMARY }));
    compute.restart();
    await compute.forgetRequests();
    const error = await thrownBy(compute.create({ ...ON_MAIN, adopt: DEMO_PRIMARY }));
    expect(error.message).toMatch(/Remove "adopt" to create a new one/);
    expect(await compute.mutations()).toEqual([]);
  });

  test("refuses a compute of another region, which cannot be changed", async () => {
    const compute = await computes();
    const error = await thrownBy(compute.create({ ...WITH_ADOPT, regionId: "aws-eu-west-1", size: 4 }));
    expect(error.message).toMatch(
      new RegExp(
        `${DEMO_PRIMARY} is in region aws-us-east-1, and a region cannot be changed\\. Declare that one, or leave "regionId" out$`,
      ),
    );
    expect(error).not.toHaveProperty("id");
    expect(await compute.mutations()).toEqual([]);
  });

  test("takes a compute whose region the service does not show, whatever is declared", async () => {
    const compute = await computes();
    const endpoints = (await allAtService(compute)).map((endpoint) => ({ ...endpoint, region_id: null }));
    await compute.fault({ method: "GET", path: ENDPOINTS, status: 200, body: { endpoints }, times: 0 });
    expect((await compute.create({ ...WITH_ADOPT, regionId: "aws-eu-west-1" })).id).toBe(`${PROJECT}/${DEMO_PRIMARY}`);
    expect(await compute.mutations()).toEqual([]);
  });

  test.each([{}, { adopt: true }])(
    "of a primary of another resource of the program (%j) names that, and creates nothing",
    async (more) => {
      const compute = await computes();
      const other = { ...LEAST, __urn: urnOf("ComputeEndpoint", "other"), __provider: "pointer" };
      const { id } = await compute.provider.create(other);
      await compute.forgetRequests();
      const error = await thrownBy(compute.create({ ...LEAST, ...more }));
      expect(error.message).toContain("br-dev already has a primary compute");
      expect(error.message).toContain(
        `Nothing was created. "other" of this program manages ${id.slice(PROJECT.length + 1)}, whose move has failed or has not started`,
      );
      expect(error.message).toContain('or add "other" to dependsOn of this resource');
      expect(await compute.mutations()).toEqual([]);
    },
  );

  test("refuses to move one to a branch that has a primary, before anything is changed", async () => {
    const compute = await computes();
    const other = await compute.create(LEAST);
    await compute.forgetRequests();
    const error = await thrownBy(compute.create({ ...ON_MAIN, adopt: endpointId(other), size: 4 }));
    expect(error.message).toMatch(/br-main already has a primary compute \(ep-demo-main-10000001\).*Use two steps/);
    expect(await compute.mutations()).toEqual([]);
  });

  test("is in the state once its change was accepted, also when that fails afterwards", async () => {
    const compute = await computes();
    await compute.fault({ operation: { action: "apply_config", status: "failed", error: "no capacity" } });
    const error = await thrownBy(compute.create({ ...WITH_ADOPT, size: 4 }));
    expect(error["id"]).toBe(`${PROJECT}/${DEMO_PRIMARY}`);
    expect(error["properties"]).toMatchObject({ size: 4, __provider: "pointer", __unfinished: expect.any(String) });
  });

  test("is looked at only when the resource is created: putting it in or taking it out changes nothing", async () => {
    const compute = await computes();
    const state = await compute.create(WITH_ADOPT);
    expect((await compute.diff(state, ON_MAIN)).changes).toBe(false);
    const plain = await compute.create(LEAST);
    expect((await compute.diff(plain, { ...LEAST, adopt: DEMO_PRIMARY })).changes).toBe(false);
  });
});
