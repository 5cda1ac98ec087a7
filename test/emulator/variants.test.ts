import { startEmulator } from "../../src/emulator";
import {
  api,
  control,
  createCompute,
  DEMO,
  ERROR_BODY,
  integrate,
  PRIMARY,
  records,
  STANDARD_EMAIL,
  start,
  until,
} from "../support/emulator";

const OAUTH = `${DEMO}/auth/oauth_providers`;
const EMAIL = `${DEMO}/auth/email_server`;
const CREDENTIALS = { client_id: "my-client", client_secret: "my-client-secret" };

test.each([
  ["masked", { client_secret: "****" }, { password: "****" }],
  ["absent", {}, {}],
] as const)("secrets can come back %s, while what is stored is the real one", async (secretAnswers, client, smtp) => {
  const emulator = await start({ secretAnswers });
  await integrate(emulator);
  const added = await api(emulator, "POST", OAUTH, { id: "microsoft", ...CREDENTIALS });
  expect(added.body).toEqual({ id: "microsoft", type: "standard", client_id: "my-client", ...client });
  const { password, ...visible } = STANDARD_EMAIL;
  expect((await api(emulator, "PATCH", EMAIL, STANDARD_EMAIL)).body).toEqual({ ...visible, ...smtp });
  const { text, body } = await api(emulator, "GET", EMAIL);
  expect(body).toEqual({ ...visible, ...smtp });
  expect(text).not.toContain(password);
});

test("a list can lag behind what it lists", async () => {
  const emulator = await start({ listLagMs: 1500 });
  await integrate(emulator);
  const { id } = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
  await api(emulator, "POST", OAUTH, { id: "microsoft" });
  const list = async (path: string, key: string) => records((await api(emulator, "GET", path)).body, key);
  const endpoints = await list(`${DEMO}/endpoints`, "endpoints");
  expect(endpoints.map((endpoint) => endpoint.id)).toEqual([PRIMARY]);
  expect(await list(`${DEMO}/auth/integrations`, "data")).toEqual([]);
  expect((await api(emulator, "GET", `${DEMO}/endpoints/${String(id)}`)).status).toBe(200);
  await until(
    () => list(`${DEMO}/endpoints`, "endpoints"),
    (found) => found.length === 2,
  );
  await until(
    () => list(OAUTH, "providers"),
    (found) => found.length === 3,
  );
  const create = { id: "br-new" };
  expect(
    (await control(emulator.url, "POST", "/edit", { kind: "branch", project_id: "prj-demo", create })).status,
  ).toBe(200);
  const branches = () => list(`${DEMO}/branches`, "branches");
  expect(await branches()).toHaveLength(3);
  await until(branches, (found) => found.length === 4);
});

test("an integration can belong to any branch, but to none that is not there", async () => {
  const emulator = await start({ anyAuthBranch: true });
  expect((await integrate(emulator, { branch_id: "br-none" })).status).toBe(404);
  expect((await integrate(emulator, { branch_id: "br-dev" })).status).toBe(201);
  const { body } = await api(emulator, "GET", `${DEMO}/auth/integrations`);
  expect(body.data).toMatchObject([{ branch_id: "br-dev" }]);
});

test("an OAuth provider has a name that the service knows, or any if that is configured", async () => {
  const id = "goggle";
  const known = await start();
  await integrate(known);
  expect((await api(known, "POST", OAUTH, { id })).status).toBe(400);
  expect((await api(known, "POST", OAUTH, { id: "gitlab" })).status).toBe(200);
  const any = await start({ anyOAuthProvider: true });
  await integrate(any);
  expect((await api(any, "POST", OAUTH, { id })).body).toMatchObject({ id });
  // A change by hand is not checked for its name.
  const edit = { kind: "oauth_provider", project_id: "prj-demo", create: { id } };
  expect((await control(known.url, "POST", "/edit", edit)).status).toBeLessThan(300);
});

test("the ids of OAuth providers can be a closed list of one's own", async () => {
  const emulator = await start({ oauthProviderIds: ["github", "google"] });
  await integrate(emulator);
  for (const id of ["github-enterprise", "microsoft"]) {
    const { status, body } = await api(emulator, "POST", OAUTH, { id });
    expect([id, status, body]).toEqual([id, 400, ERROR_BODY]);
  }
  expect((await api(emulator, "DELETE", `${OAUTH}/github`)).status).toBe(204);
  expect((await api(emulator, "POST", OAUTH, { id: "github" })).status).toBe(200);
});

test("a service can keep its own suspend timeout, and settings of its own", async () => {
  const added = { "svc.plan": "free" };
  const emulator = await start({ variants: { fixedSuspendTimeout: 0, addedPgSettings: added, pgSettingsInKb: true } });
  const pg_settings = { shared_buffers: "128MB", work_mem: "64kB", maintenance_work_mem: "1GB", jit: "off" };
  const sent = { suspend_timeout_seconds: 3600, settings: { pg_settings } };
  const kept = {
    suspend_timeout_seconds: 0,
    settings: {
      pg_settings: { ...pg_settings, ...added, shared_buffers: "131072kB", maintenance_work_mem: "1048576kB" },
    },
  };
  const made = await createCompute(emulator, { branch_id: "br-dev", type: "read_write", ...sent });
  expect(made).toMatchObject(kept);
  const path = `${DEMO}/endpoints/${PRIMARY}`;
  expect((await api(emulator, "PATCH", path, { endpoint: sent })).body).toMatchObject({ endpoint: kept });
  // It adds them again.
  const cleared = await api(emulator, "PATCH", path, { endpoint: { settings: { pg_settings: {} } } });
  expect(cleared.body).toMatchObject({ endpoint: { settings: { pg_settings: added } } });
  expect((await api(emulator, "GET", `${DEMO}/endpoints`)).body).toMatchObject({
    endpoints: [{ settings: { pg_settings: added } }, kept],
  });
});

test("a redirect domain is an http(s) origin, or also the address of an app if that is configured", async () => {
  const add = async (emulator: Awaited<ReturnType<typeof start>>, domain: string) =>
    (await api(emulator, "POST", `${DEMO}/auth/domains`, { domain, auth_provider: "supported_provider" })).status;
  const strict = await start();
  await integrate(strict);
  const apps = await start({ appDomains: true });
  await integrate(apps);
  for (const [domain, isApp] of [
    ["MyApp://callback", true],
    ["exp://192.168.1.2:8081", true],
    ["javascript://x", false],
    ["myapp://call back", false],
    ["https://a.example.com/path", false],
  ] as const)
    expect([await add(strict, domain), await add(apps, domain)]).toEqual([400, isApp ? 201 : 400]);
  const { body } = await api(apps, "GET", `${DEMO}/auth/domains`);
  expect(body).toMatchObject({ domains: [{ domain: "MyApp://callback" }, { domain: "exp://192.168.1.2:8081" }] });
});

test("deleting a deleted compute can answer 404", async () => {
  const emulator = await start({ variants: { goneEndpointDelete: 404 } });
  await api(emulator, "DELETE", `${DEMO}/endpoints/${PRIMARY}`);
  expect((await api(emulator, "DELETE", `${DEMO}/endpoints/${PRIMARY}`)).status).toBe(404);
});

test("a deleted integration can leave its schema behind until a reset or until its data goes too", async () => {
  const emulator = await start({ variants: { keepSchemas: true } });
  const remove = (body?: object) => api(emulator, "DELETE", `${DEMO}/auth/integration/supported_provider`, body);
  await integrate(emulator);
  await remove();
  const refused = await integrate(emulator);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain("svc_auth");
  expect((await integrate(emulator, { database_name: "other" })).status).toBe(201);
  await remove({ delete_data: true });
  expect((await integrate(emulator, { database_name: "other" })).status).toBe(201);
  emulator.reset();
  expect((await integrate(emulator)).status).toBe(201);
});

test("answers can carry fields that no document lists, but not in maps of free names", async () => {
  const emulator = await start({ variants: { extraFields: true } });
  await api(emulator, "PATCH", `${DEMO}/endpoints/${PRIMARY}`, {
    endpoint: { settings: { pg_settings: { work_mem: "4MB" } } },
  });
  const { body } = await api(emulator, "GET", `${DEMO}/endpoints`);
  expect(body).toHaveProperty("unlisted_field");
  const [endpoint] = records(body, "endpoints");
  expect(endpoint).toHaveProperty("unlisted_field");
  expect(endpoint?.settings).toEqual({ pg_settings: { work_mem: "4MB" } });
});

test("more requests a second and route than allowed answer 429 with Retry-After; other routes go on", async () => {
  const emulator = await start({ ratePerSecond: 3 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => api(emulator, "GET", `${DEMO}/endpoints`)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.headers.get("retry-after")).toBe("1");
  expect((await api(emulator, "GET", `${DEMO}/branches`)).status).toBe(200);
  await until(
    () => api(emulator, "GET", `${DEMO}/endpoints`),
    ({ status }) => status === 200,
  );
});

test("more requests a minute than allowed answer 429 with the time until the oldest one is a minute old", async () => {
  const emulator = await start({ ratePerMinute: 3 });
  const ask = (path: string) => api(emulator, "GET", `${DEMO}${path}`);
  for (const path of ["/endpoints", "/branches", "/operations"]) expect((await ask(path)).status).toBe(200);
  const refused = await ask("/endpoints");
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(50);
  expect(seconds).toBeLessThanOrEqual(60);
});

test("a 429 does not say when to come back where the emulator is told so", async () => {
  const emulator = await start({ ratePerMinute: 1, variants: { noRetryAfter: true } });
  const ask = () => api(emulator, "GET", `${DEMO}/endpoints`);
  await ask();
  const { status, headers } = await ask();
  expect([status, headers.get("retry-after")]).toEqual([429, null]);
});

test("a read replica starts at once where the emulator is told so", async () => {
  const emulator = await start({ variants: { startReplicas: true }, activationMs: 20 });
  const endpoint = { branch_id: "br-dev", type: "read_only" };
  const { body } = await api(emulator, "POST", `${DEMO}/endpoints`, { endpoint });
  expect(body).toMatchObject({
    endpoint: { current_state: "init", pending_state: "active" },
    operations: [{ action: "start_compute", status: "running" }],
  });
});

test("what an active compute applies restarts it where the emulator is told so; where one operation fails the others are cancelled", async () => {
  const emulator = await start({ variants: { restartToApply: true }, activationMs: 20 });
  const path = `${DEMO}/endpoints/ep-demo-main-10000001`;
  const resized = async (cu: number) => {
    const endpoint = { autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu };
    const { body } = await api(emulator, "PATCH", path, { endpoint });
    const ids = records(body, "operations").map(({ id }) => id);
    const ended = await until(
      async () => records((await api(emulator, "GET", `${DEMO}/operations`)).body, "operations"),
      (all) => all.every(({ status }) => status !== "running" && status !== "scheduling"),
    );
    return ended
      .filter(({ id }) => ids.includes(id))
      .map(({ action, status }) => `${String(action)} ${String(status)}`);
  };
  expect(await resized(2)).toEqual(["start_compute finished", "suspend_compute finished", "apply_config finished"]);
  await control(emulator.url, "POST", "/faults", { operation: { action: "apply_config", status: "failed" } });
  expect(await resized(4)).toEqual(["start_compute cancelled", "suspend_compute cancelled", "apply_config failed"]);
  const { body } = await api(emulator, "GET", path);
  expect(body).toMatchObject({ endpoint: { current_state: "active" } });
});

test("a size above the limit of the account's plan is refused, at a creation and at a change", async () => {
  const limited = await start({ variants: { maxSizeCu: 2 } });
  const sized = (min: number, max: number) => ({ autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max });
  const create = (size: object) =>
    api(limited, "POST", `${DEMO}/endpoints`, { endpoint: { branch_id: "br-dev", type: "read_only", ...size } });
  const change = (endpoint: object) => api(limited, "PATCH", `${DEMO}/endpoints/${PRIMARY}`, { endpoint });
  for (const size of [sized(3, 3), sized(0.25, 4)]) {
    expect(await create(size)).toMatchObject({ status: 412, body: { message: expect.stringContaining("2 CU") } });
    expect((await change(size)).status).toBe(412);
  }
  expect(records((await api(limited, "GET", `${DEMO}/endpoints`)).body, "endpoints")).toHaveLength(1);
  expect([(await create({})).status, (await create(sized(2, 2))).status]).toEqual([201, 201]);
  // Made larger by hand, or before the plan was changed: it can be renamed and made smaller.
  const edit = { kind: "endpoint", project_id: "prj-demo", id: PRIMARY, set: sized(4, 4) };
  await control(limited.url, "POST", "/edit", edit);
  expect([(await change({ name: "api" })).status, (await change(sized(1, 2))).status]).toEqual([200, 200]);
});

test("answers can take their time", async () => {
  const emulator = await start({ latencyMs: 80 });
  const startedAt = Date.now();
  await api(emulator, "GET", `${DEMO}/endpoints`);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(70);
});

test("several emulators stand side by side and know nothing of each other", async () => {
  const [one, other] = [await start(), await start({ apiKey: "other-key" })];
  await integrate(one);
  const { body } = await api({ baseUrl: other.baseUrl, apiKey: "other-key" }, "GET", `${DEMO}/auth/integrations`);
  expect(body).toEqual({ data: [] });
  expect(one.baseUrl).toBe(`http://127.0.0.1:${one.port}/api/v2`);
  expect(other.port).not.toBe(one.port);
});

test("closing ends idle connections and refuses new ones, and may be done twice", async () => {
  const emulator = await start();
  await api(emulator, "GET", `${DEMO}/endpoints`);
  await emulator.close();
  await emulator.close();
  await expect(fetch(emulator.baseUrl)).rejects.toThrow();
});

test.each([
  { port: 70_000 },
  { port: 1.5 },
  { activationMs: -1 },
  { apiKey: "" },
  { apiKey: "with space" },
  { apiKey: "sch\u00f6n" },
  { otherApiKeys: ["with space"] },
  { authProvider: "" },
  { ratePerSecond: NaN },
  { ratePerMinute: -1 },
  { variants: { maxSizeCu: -1 } },
  { pageSize: -1 },
  { otherApiKeys: [""] },
  { otherApiKeys: ["test-key"] },
  { lockStatus: 409 as const },
  { anyOAuthProvider: true, oauthProviderIds: ["github"] },
])("the options %j are refused before anything listens", async (options) => {
  await expect(startEmulator(options)).rejects.toThrow(RangeError);
});

test.each([{ postgresPort: 5433 }, { timeScale: 10 }])(
  "the options %j, which say how a Postgres is used, are refused without one",
  async (options) => {
    await expect(start(options)).rejects.toThrow(
      `emulator option ${Object.keys(options).join()} has no effect without a Postgres: give --postgres as well`,
    );
    const asTheCli = { postgresPort: 0, timeScale: 1 };
    expect((await start(asTheCli)).gate).toBeUndefined();
  },
);
