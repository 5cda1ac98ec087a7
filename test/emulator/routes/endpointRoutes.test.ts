import {
  api,
  createCompute,
  DEMO,
  endpoint,
  ERROR_BODY,
  PRIMARY,
  record,
  records,
  settled,
  start,
  until,
} from "../../support/emulator";

const ENDPOINTS = `${DEMO}/endpoints`;

describe("creating a compute", () => {
  test("answers 201 with a compute in init that is on its way to active, and the running operation", async () => {
    const emulator = await start({ activationMs: 60_000 });
    const { status, body } = await api(emulator, "POST", ENDPOINTS, {
      endpoint: { branch_id: "br-dev", type: "read_write", name: "reports", autoscaling_limit_max_cu: 4 },
    });
    expect(status).toBe(201);
    const created = record(body, "endpoint");
    expect(created).toMatchObject({
      project_id: "prj-demo",
      branch_id: "br-dev",
      type: "read_write",
      name: "reports",
      region_id: "aws-us-east-1",
      autoscaling_limit_min_cu: 0.25,
      autoscaling_limit_max_cu: 4,
      current_state: "init",
      pending_state: "active",
      pooler_mode: "transaction",
      creation_source: "console",
      settings: {},
      suspend_timeout_seconds: 0,
    });
    expect(created.id).toMatch(/^ep-[a-z]+-[a-z]+-\d+$/);
    expect(created.host).toBe(`${String(created.id)}.${String(created.proxy_host)}`);
    expect(created).not.toHaveProperty("last_active");
    expect(records(body, "operations")).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        project_id: "prj-demo",
        branch_id: "br-dev",
        endpoint_id: created.id,
        action: "start_compute",
        status: "running",
        failures_count: 0,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
        total_duration_ms: expect.any(Number),
      },
    ]);
  });

  test("leads to an active compute and a finished operation", async () => {
    const emulator = await start();
    const { id } = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    const active = await settled(emulator, String(id), "active");
    expect(active.last_active).toEqual(expect.any(String));
    const [operation] = records((await api(emulator, "GET", `${DEMO}/operations`)).body, "operations");
    expect(operation).toMatchObject({ endpoint_id: id, action: "start_compute", status: "finished" });
  });

  test("of a second primary on a branch answers 409", async () => {
    const emulator = await start();
    const { status, body } = await api(emulator, "POST", ENDPOINTS, {
      endpoint: { branch_id: "br-main", type: "read_write" },
    });
    expect(status).toBe(409);
    expect(body).toEqual(ERROR_BODY);
  });

  test("of a read replica answers an idle one without an operation, several to a branch", async () => {
    const emulator = await start();
    for (let count = 0; count < 2; count += 1) {
      const { status, body } = await api(emulator, "POST", ENDPOINTS, {
        endpoint: { branch_id: "br-main", type: "read_only" },
      });
      expect(status).toBe(201);
      expect(record(body, "endpoint")).toMatchObject({ type: "read_only", current_state: "idle" });
      expect(record(body, "endpoint")).not.toHaveProperty("pending_state");
      expect(body.operations).toEqual([]);
    }
  });

  test("that is disabled answers an idle one that is not started", async () => {
    const emulator = await start();
    const created = await createCompute(emulator, { branch_id: "br-dev", type: "read_write", disabled: true });
    expect(created).toMatchObject({ current_state: "idle", disabled: true });
    expect((await api(emulator, "POST", `${ENDPOINTS}/${String(created.id)}/start`)).status).toBe(412);
  });

  test("of an unknown project or branch answers 404, of another region 400", async () => {
    const emulator = await start();
    const create = (path: string, attributes: object) =>
      api(emulator, "POST", path, { endpoint: { type: "read_write", branch_id: "br-dev", ...attributes } });
    expect((await create("/projects/prj-none/endpoints", {})).status).toBe(404);
    expect((await create(ENDPOINTS, { branch_id: "br-none" })).status).toBe(404);
    expect((await create(ENDPOINTS, { region_id: "aws-eu-west-1" })).status).toBe(400);
    expect((await create(ENDPOINTS, { region_id: "aws-us-east-1" })).status).toBe(201);
  });
});

describe("changing a compute", () => {
  test("resizes an active one by apply_config and comes back to active under the same host", async () => {
    const emulator = await start();
    const before = await endpoint(emulator, PRIMARY);
    const { status, body } = await api(emulator, "PATCH", `${ENDPOINTS}/${PRIMARY}`, {
      endpoint: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 8 },
    });
    expect(status).toBe(200);
    expect(record(body, "endpoint")).toMatchObject({ current_state: "active", pending_state: "active" });
    expect(records(body, "operations")).toMatchObject([{ action: "apply_config", status: "running" }]);
    const after = await settled(emulator, PRIMARY, "active");
    expect(after).toMatchObject({ autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 8, host: before.host });
  });

  test("that rests, or that changes nothing that runs, needs no operation", async () => {
    const emulator = await start();
    const replica = await createCompute(emulator, { branch_id: "br-main", type: "read_only" });
    const resized = await api(emulator, "PATCH", `${ENDPOINTS}/${String(replica.id)}`, {
      endpoint: { autoscaling_limit_max_cu: 1 },
    });
    expect(resized.body).toMatchObject({ endpoint: { autoscaling_limit_max_cu: 1 }, operations: [] });
    const renamed = await api(emulator, "PATCH", `${ENDPOINTS}/${PRIMARY}`, { endpoint: { name: "main" } });
    expect(renamed.body).toMatchObject({ endpoint: { name: "main" }, operations: [] });
    const same = await api(emulator, "PATCH", `${ENDPOINTS}/${PRIMARY}`, { endpoint: { autoscaling_limit_max_cu: 2 } });
    expect(same.body).toMatchObject({ operations: [] });
  });

  test("moves it to another branch with its id and host, unless that branch has a primary", async () => {
    const emulator = await start();
    const before = await endpoint(emulator, PRIMARY);
    const move = (branch_id: string) => api(emulator, "PATCH", `${ENDPOINTS}/${PRIMARY}`, { endpoint: { branch_id } });
    const { status, body } = await move("br-test");
    expect(status).toBe(200);
    expect(record(body, "endpoint")).toMatchObject({ id: PRIMARY, branch_id: "br-test", host: before.host });
    await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    expect((await move("br-dev")).status).toBe(409);
    expect((await move("br-none")).status).toBe(404);
    expect(await endpoint(emulator, PRIMARY)).toMatchObject({ branch_id: "br-test" });
  });

  test("replaces pg_settings as a whole and leaves the other settings alone", async () => {
    const emulator = await start();
    const change = (settings: object) => api(emulator, "PATCH", `${ENDPOINTS}/${PRIMARY}`, { endpoint: { settings } });
    await change({ pg_settings: { a: "1", b: "2" }, preload_libraries: { use_defaults: true, enabled_libraries: [] } });
    await change({ pg_settings: { b: "3" } });
    expect((await endpoint(emulator, PRIMARY)).settings).toEqual({
      pg_settings: { b: "3" },
      preload_libraries: { use_defaults: true, enabled_libraries: [] },
    });
  });

  test("by disabling it schedules a suspend", async () => {
    const emulator = await start();
    const { body } = await api(emulator, "PATCH", `${ENDPOINTS}/${PRIMARY}`, { endpoint: { disabled: true } });
    expect(record(body, "endpoint")).toMatchObject({ current_state: "active", pending_state: "idle", disabled: true });
    expect(records(body, "operations")).toMatchObject([{ action: "suspend_compute", status: "running" }]);
    expect((await settled(emulator, PRIMARY, "idle")).suspended_at).toEqual(expect.any(String));
  });

  test("while it starts is queued behind the start", async () => {
    const emulator = await start({ activationMs: 1500 });
    const { id } = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    const { body } = await api(emulator, "PATCH", `${ENDPOINTS}/${String(id)}`, {
      endpoint: { autoscaling_limit_max_cu: 4 },
    });
    expect(records(body, "operations")).toMatchObject([{ action: "apply_config", status: "scheduling" }]);
    await settled(emulator, String(id), "active");
  });
});

describe("restart, suspend and start", () => {
  const act = (target: { baseUrl: string }, action: string, id = PRIMARY) =>
    api(target, "POST", `${ENDPOINTS}/${id}/${action}`);

  test("a restart suspends, then starts, and ends active", async () => {
    const emulator = await start();
    const { status, body } = await act(emulator, "restart");
    expect(status).toBe(200);
    expect(records(body, "operations")).toMatchObject([
      { action: "suspend_compute", status: "running" },
      { action: "start_compute", status: "scheduling" },
    ]);
    expect(record(body, "endpoint")).toMatchObject({ pending_state: "idle" });
    await settled(emulator, PRIMARY, "active");
    const operations = records((await api(emulator, "GET", `${DEMO}/operations`)).body, "operations");
    expect(operations.map(({ action, status: end }) => [action, end])).toEqual([
      ["start_compute", "finished"],
      ["suspend_compute", "finished"],
    ]);
  });

  test("an idle compute cannot be restarted, but started; suspending it again does nothing", async () => {
    const emulator = await start();
    expect(records((await act(emulator, "suspend")).body, "operations")).toMatchObject([{ action: "suspend_compute" }]);
    await settled(emulator, PRIMARY, "idle");
    expect((await act(emulator, "suspend")).body).toMatchObject({ operations: [] });
    const refused = await act(emulator, "restart");
    expect(refused.status).toBe(412);
    expect(refused.body).toEqual(ERROR_BODY);
    expect(records((await act(emulator, "start")).body, "operations")).toMatchObject([{ action: "start_compute" }]);
    expect(await settled(emulator, PRIMARY, "active")).not.toHaveProperty("suspended_at");
    expect((await act(emulator, "start")).body).toMatchObject({ operations: [] });
  });

  test("an unknown compute answers 404 to each of them", async () => {
    const emulator = await start();
    for (const action of ["restart", "suspend", "start"]) {
      expect((await act(emulator, action, "ep-none-none-1")).status).toBe(404);
    }
  });

  test("a compute goes idle by itself when the emulator was told so, unless it never suspends", async () => {
    const emulator = await start({ idleAfterMs: 20 });
    const lasting = await createCompute(emulator, {
      branch_id: "br-dev",
      type: "read_write",
      suspend_timeout_seconds: -1,
    });
    await settled(emulator, PRIMARY, "idle");
    expect(await settled(emulator, String(lasting.id), "active")).not.toHaveProperty("suspended_at");
  });
});

describe("deleting a compute", () => {
  test("that is active answers it once more, on its way to idle, and takes it out of every read", async () => {
    const emulator = await start();
    const { status, body } = await api(emulator, "DELETE", `${ENDPOINTS}/${PRIMARY}`);
    expect(status).toBe(200);
    expect(record(body, "endpoint")).toMatchObject({ id: PRIMARY, current_state: "active", pending_state: "idle" });
    expect(records(body, "operations")).toMatchObject([{ action: "suspend_compute", status: "running" }]);
    expect((await api(emulator, "GET", `${ENDPOINTS}/${PRIMARY}`)).status).toBe(404);
    expect((await api(emulator, "GET", ENDPOINTS)).body).toEqual({ endpoints: [] });
    await until(
      async () => records((await api(emulator, "GET", `${DEMO}/operations`)).body, "operations"),
      ([operation]) => operation?.status === "finished",
    );
  });

  test("that is idle needs no operation", async () => {
    const emulator = await start();
    const { id } = await createCompute(emulator, { branch_id: "br-main", type: "read_only" });
    expect((await api(emulator, "DELETE", `${ENDPOINTS}/${String(id)}`)).body).toMatchObject({ operations: [] });
  });

  test("twice answers 204; one that never was, 404", async () => {
    const emulator = await start();
    await api(emulator, "DELETE", `${ENDPOINTS}/${PRIMARY}`);
    const again = await api(emulator, "DELETE", `${ENDPOINTS}/${PRIMARY}`);
    expect([again.status, again.text]).toEqual([204, ""]);
    expect((await api(emulator, "DELETE", `${ENDPOINTS}/ep-none-none-1`)).status).toBe(404);
  });

  test("makes room for another primary, with another id and host", async () => {
    const emulator = await start();
    const before = await endpoint(emulator, PRIMARY);
    await api(emulator, "DELETE", `${ENDPOINTS}/${PRIMARY}`);
    const after = await createCompute(emulator, { branch_id: "br-main", type: "read_write" });
    expect(after.id).not.toBe(before.id);
    expect(after.host).not.toBe(before.host);
  });

  test("skips what was still to be done for it", async () => {
    const emulator = await start({ activationMs: 60_000 });
    const { id } = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    await api(emulator, "DELETE", `${ENDPOINTS}/${String(id)}`);
    const operations = records((await api(emulator, "GET", `${DEMO}/operations`)).body, "operations");
    expect(operations).toMatchObject([
      { action: "suspend_compute", status: "running" },
      { action: "start_compute", status: "skipped" },
    ]);
  });
});
