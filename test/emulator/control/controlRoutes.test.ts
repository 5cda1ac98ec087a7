import { createHash } from "node:crypto";
import type { Emulator } from "../../../src/emulator";
import {
  api,
  control,
  createCompute,
  DEMO,
  demoState,
  ERROR_BODY,
  integrate,
  PRIMARY,
  records,
  start,
  STANDARD_EMAIL,
} from "../../support/emulator";

const sha256 = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const edit = (emulator: Emulator, body: object) =>
  control(emulator.url, "POST", "/edit", { project_id: "prj-demo", ...body });

test("health answers without a key", async () => {
  const emulator = await start();
  const { status, body } = await control(emulator.url, "GET", "/health");
  expect([status, body]).toEqual([200, { status: "ok", version: expect.stringMatching(/^\d+\.\d+\.\d+/) }]);
});

test("a reset brings the demo project back and clears faults and the log", async () => {
  const emulator = await start();
  await integrate(emulator);
  await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
  await control(emulator.url, "POST", "/faults", { status: 500, times: 0 });
  await control(emulator.url, "POST", "/projects", { id: "prj-other" });
  expect((await control(emulator.url, "POST", "/reset")).status).toBe(204);
  const { body } = await control(emulator.url, "GET", "/state");
  expect(body.projects).toMatchObject([
    { id: "prj-demo", integrations: [], operations: [], endpoints: [{ id: PRIMARY }] },
  ]);
  expect(records(body, "projects")).toHaveLength(1);
  expect((await control(emulator.url, "GET", "/faults")).body).toEqual({ faults: [] });
  expect((await control(emulator.url, "GET", "/requests")).body).toEqual({ requests: [] });
});

test("reset() from code does the same", async () => {
  const emulator = await start();
  await integrate(emulator);
  emulator.reset();
  expect(await demoState(emulator)).toMatchObject({ integrations: [] });
});

test("a rotation makes another key the one that is accepted, until a reset", async () => {
  const emulator = await start();
  const statusWith = async (apiKey: string) => (await api({ ...emulator, apiKey }, "GET", `${DEMO}/endpoints`)).status;
  expect((await control(emulator.url, "POST", "/key", { api_key: "canary-second-key" })).status).toBe(204);
  expect([await statusWith("test-key"), await statusWith("canary-second-key")]).toEqual([401, 200]);
  expect(emulator.apiKey).toBe("canary-second-key");
  for (const body of [{}, { api_key: "" }, { api_key: "canary key" }, { api_key: 5 }, { api_key: "k", more: 1 }]) {
    const { status, text } = await control(emulator.url, "POST", "/key", body);
    expect([status, text]).toEqual([400, expect.not.stringContaining("canary")]);
  }
  expect((await control(emulator.url, "GET", "/requests")).text).not.toContain("canary");
  expect(await statusWith("canary-second-key")).toBe(200);
  emulator.reset();
  expect([await statusWith("canary-second-key"), await statusWith("test-key")]).toEqual([401, 200]);
});

test("the state shows that secrets arrived, as hashes", async () => {
  const emulator = await start();
  const { body: keys } = await integrate(emulator);
  await api(emulator, "POST", `${DEMO}/auth/oauth_providers`, {
    id: "microsoft",
    client_id: "my-client",
    client_secret: "my-client-secret",
  });
  await api(emulator, "PATCH", `${DEMO}/auth/email_server`, STANDARD_EMAIL);
  const { text } = await control(emulator.url, "GET", "/state");
  for (const secret of ["my-client-secret", "smtp-password", String(keys.secret_server_key)]) {
    expect(text).not.toContain(secret);
    expect(text).toContain(sha256(secret));
  }
  expect(await demoState(emulator)).toMatchObject({
    oauth_providers: [{}, {}, { id: "microsoft", client_id: "my-client", client_secret: sha256("my-client-secret") }],
    email_server: { ...STANDARD_EMAIL, password: sha256("smtp-password") },
  });
});

test("settings of Postgres that may be secrets are shown as hashes, in the log and in the state; others in plain text", async () => {
  const emulator = await start();
  const pg_settings = {
    work_mem: "64MB",
    "app.tenant": "canary-tenant",
    primary_conninfo: "canary-conninfo",
    ssl_passphrase_command: "canary-passphrase",
  };
  const id = "ep-demo-main-10000001";
  await api(emulator, "PATCH", `${DEMO}/endpoints/${id}`, { endpoint: { settings: { pg_settings } } });
  const shown = {
    work_mem: "64MB",
    "app.tenant": sha256("canary-tenant"),
    primary_conninfo: sha256("canary-conninfo"),
    ssl_passphrase_command: sha256("canary-passphrase"),
  };
  const log = await control(emulator.url, "GET", "/requests");
  expect(records(log.body, "requests").at(-1)).toMatchObject({
    status: 200,
    body: { endpoint: { settings: { pg_settings: shown } } },
  });
  const { text } = await control(emulator.url, "GET", "/state");
  expect(log.text + text).not.toContain("canary");
  // Refused requests are logged, too.
  const odd = [
    { pg_settings: "canary" },
    { pgSettings: ["canary"] },
    { clientSecret: "canary", Password: 5 },
    { tokens: ["canary", ["canary"]], smtp_token: "canary" },
  ];
  for (const settings of odd) await api(emulator, "PATCH", `${DEMO}/endpoints/${id}`, { endpoint: { settings } });
  expect((await control(emulator.url, "GET", "/requests")).text).not.toMatch(/canary|"Password":5/);
  const { endpoints } = await demoState(emulator);
  expect(endpoints).toContainEqual(expect.objectContaining({ id, settings: { pg_settings: shown } }));
});

describe("the request log", () => {
  test("holds each API call with its template and answer, secrets as hashes, and no key", async () => {
    const emulator = await start();
    await integrate(emulator);
    await api(emulator, "GET", `${DEMO}/operations?limit=5`);
    await api(emulator, "PATCH", `${DEMO}/auth/email_server`, STANDARD_EMAIL);
    await api(emulator, "GET", "/nowhere");
    const { text, body } = await control(emulator.url, "GET", "/requests");
    expect(records(body, "requests").slice(1)).toEqual([
      {
        at: expect.stringMatching(/Z$/),
        method: "GET",
        path: `${DEMO}/operations`,
        template: "/projects/{project_id}/operations",
        query: { limit: "5" },
        body: null,
        status: 200,
        duration_ms: expect.any(Number),
      },
      expect.objectContaining({
        method: "PATCH",
        template: "/projects/{project_id}/auth/email_server",
        body: { ...STANDARD_EMAIL, password: sha256("smtp-password") },
        status: 200,
      }),
      expect.objectContaining({ path: "/nowhere", template: null, status: 404 }),
    ]);
    expect(text).not.toContain("smtp-password");
    expect(text).not.toContain("test-key");
  });

  test("is filtered by method and start of the path, and can be cleared", async () => {
    const emulator = await start();
    await integrate(emulator);
    await api(emulator, "GET", `${DEMO}/endpoints`);
    await api(emulator, "GET", `${DEMO}/branches`);
    const paths = async (query: string) =>
      records((await control(emulator.url, "GET", `/requests${query}`)).body, "requests").map(({ path }) => path);
    expect(await paths("?method=post")).toEqual(["/projects/auth/create"]);
    expect(await paths(`?path=${DEMO}`)).toEqual([`${DEMO}/endpoints`, `${DEMO}/branches`]);
    expect(await paths(`?method=GET&path=${DEMO}/b`)).toEqual([`${DEMO}/branches`]);
    expect((await control(emulator.url, "DELETE", "/requests")).status).toBe(204);
    expect(await paths("")).toEqual([]);
  });

  test.each([
    ["password", ["canary"]],
    ["client_secret", { nested: "canary" }],
    ["secret_server_key", 5_551_234],
    ["password", false],
  ])("shows no %s of the wrong type in plain text: %j", async (field, value) => {
    const emulator = await start();
    await integrate(emulator);
    const path = `${DEMO}/auth/email_server`;
    expect((await api(emulator, "PATCH", path, { ...STANDARD_EMAIL, [field]: value })).status).toBe(400);
    const { text, body } = await control(emulator.url, "GET", "/requests?method=PATCH");
    expect(body.requests).toMatchObject([{ body: { [field]: sha256(JSON.stringify(value)) } }]);
    expect(text).not.toMatch(/canary|5551234/);
  });

  test("leaves a secret that is null as it is: there is nothing to hide", async () => {
    const emulator = await start();
    await api(emulator, "PATCH", `${DEMO}/auth/email_server`, { password: null });
    expect((await control(emulator.url, "GET", "/requests")).body.requests).toMatchObject([
      { body: { password: null } },
    ]);
  });

  test("does not keep a body that is no JSON: it may hold a secret", async () => {
    const emulator = await start();
    await fetch(`${emulator.baseUrl}/projects/auth/keys`, {
      method: "POST",
      headers: { authorization: "Bearer test-key" },
      body: "password=hunter2",
    });
    expect((await control(emulator.url, "GET", "/requests")).text).not.toContain("hunter2");
  });
});

describe("a project of one's own", () => {
  test("has the three branches by default, under ids of its own", async () => {
    const emulator = await start();
    const { status, body } = await control(emulator.url, "POST", "/projects", { id: "prj-shop", region_id: "eu-1" });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: "prj-shop",
      branches: [
        { id: "br-main-prj-shop", default: true },
        { id: "br-dev-prj-shop", default: false },
        { id: "br-test-prj-shop", default: false },
      ],
      endpoints: [{ branch_id: "br-main-prj-shop", region_id: "eu-1", current_state: "active" }],
    });
    expect((await api(emulator, "GET", "/projects/prj-shop")).status).toBe(200);
    expect((await control(emulator.url, "POST", "/projects", { id: "prj-shop" })).status).toBe(409);
  });

  test("has the branches it is given, the first being the default unless one says so", async () => {
    const emulator = await start();
    const first = await control(emulator.url, "POST", "/projects", { branches: [{ id: "br-a" }, { id: "br-b" }] });
    expect(first.body).toMatchObject({
      id: expect.stringMatching(/^prj-/),
      branches: [
        { id: "br-a", name: "a", default: true },
        { id: "br-b", default: false },
      ],
      endpoints: [],
    });
    const second = await control(emulator.url, "POST", "/projects", {
      branches: [{ id: "br-a" }, { id: "br-b", default: true, compute: true }],
    });
    expect(second.body).toMatchObject({
      branches: [{ default: false }, { default: true }],
      endpoints: [{ branch_id: "br-b" }],
    });
  });
});

describe("an edit behind the back of the API", () => {
  test("changes a compute, takes a field away with null, deletes it and makes another", async () => {
    const emulator = await start();
    const changed = await edit(emulator, {
      kind: "endpoint",
      id: PRIMARY,
      set: {
        autoscaling_limit_min_cu: 4,
        current_state: "idle",
        suspended_at: "2026-01-01T00:00:00Z",
        last_active: null,
      },
    });
    expect(changed.status).toBe(200);
    const { body } = await api(emulator, "GET", `${DEMO}/endpoints/${PRIMARY}`);
    expect(body.endpoint).toEqual(changed.body);
    expect(changed.body).toMatchObject({ autoscaling_limit_min_cu: 4, current_state: "idle" });
    expect(changed.body).not.toHaveProperty("last_active");

    await edit(emulator, { kind: "endpoint", id: PRIMARY, delete: true });
    expect((await api(emulator, "GET", `${DEMO}/endpoints/${PRIMARY}`)).status).toBe(404);
    expect((await api(emulator, "DELETE", `${DEMO}/endpoints/${PRIMARY}`)).status).toBe(204);
    const made = await edit(emulator, { kind: "endpoint", create: { branch_id: "br-main", id: "ep-by-hand-1" } });
    expect(made.body).toMatchObject({ id: "ep-by-hand-1", type: "read_write", current_state: "active" });
  });

  test("changes what lives in the integration", async () => {
    const emulator = await start();
    await integrate(emulator);
    const google = await edit(emulator, {
      kind: "oauth_provider",
      id: "google",
      set: { type: "standard", client_id: "theirs", client_secret: "their-secret" },
    });
    expect(google.body).toMatchObject({ id: "google", type: "standard", client_secret: sha256("their-secret") });
    await edit(emulator, { kind: "oauth_provider", id: "github", delete: true });
    await edit(emulator, { kind: "oauth_provider", create: { id: "gitlab" } });
    await edit(emulator, { kind: "domain", create: { domain: "https://Odd.example.com" } });
    await edit(emulator, { kind: "email_server", set: STANDARD_EMAIL });
    await edit(emulator, { kind: "email_server", set: { port: 2525 } });
    await edit(emulator, { kind: "integration", set: { owned_by: "user" } });
    const user = await edit(emulator, { kind: "user", create: { email: "a@example.com" } });
    await edit(emulator, { kind: "user", id: user.body.id, set: { name: "A" } });
    expect(await demoState(emulator)).toMatchObject({
      oauth_providers: [
        { id: "google", type: "standard", client_id: "theirs" },
        { id: "gitlab", type: "shared" },
      ],
      domains: [{ domain: "https://Odd.example.com", auth_provider: "supported_provider" }],
      email_server: { port: 2525, host: "smtp.example.com" },
      integrations: [{ owned_by: "user" }],
      users: [{ email: "a@example.com", name: "A" }],
    });
    await edit(emulator, { kind: "domain", id: "https://Odd.example.com", delete: true });
    await edit(emulator, { kind: "email_server", delete: true });
    expect(await demoState(emulator)).toMatchObject({ domains: [], email_server: { type: "shared" } });
  });

  test("of a branch takes its computes and integration along", async () => {
    const emulator = await start();
    await integrate(emulator);
    await edit(emulator, { kind: "branch", create: { id: "br-new", default: true } });
    await edit(emulator, { kind: "branch", id: "br-main", delete: true });
    const { body } = await api(emulator, "GET", `${DEMO}/branches`);
    expect(records(body, "branches").map(({ id }) => id)).toEqual(["br-dev", "br-test", "br-new"]);
    expect(await demoState(emulator)).toMatchObject({ endpoints: [], integrations: [], oauth_providers: [] });
  });

  test("can start a background check that holds the lock of its project", async () => {
    const emulator = await start({ lockProjects: true });
    const check = { kind: "operation", create: { endpoint_id: PRIMARY, duration_ms: 60_000 } };
    const { body: running } = await edit(emulator, check);
    expect(running).toMatchObject({ action: "check_availability", status: "running" });
    expect(running).not.toHaveProperty("run");
    const patch = await api(emulator, "PATCH", `${DEMO}/endpoints/${PRIMARY}`, { endpoint: { name: "x" } });
    expect(patch.status).toBe(423);
    const { body } = await api(emulator, "GET", `${DEMO}/endpoints/${PRIMARY}`);
    expect(body.endpoint).not.toHaveProperty("pending_state");
  });

  test.each([
    { kind: "planet", set: {} },
    { kind: "endpoint" },
    { kind: "endpoint", set: {}, delete: true },
    { kind: "endpoint", id: PRIMARY, set: { colour: "red" } },
    { kind: "operation", delete: true },
    { kind: "operation", create: { endpoint_id: PRIMARY, duration_ms: 2 ** 31 } },
    { kind: "integration", set: { auth_provider_project_id: "" } },
  ])("such as %j is refused", async (body) => {
    const emulator = await start();
    await integrate(emulator);
    const answer = await edit(emulator, body);
    expect([answer.status, answer.body]).toEqual([400, ERROR_BODY]);
  });

  test("of what is not there answers 404", async () => {
    const emulator = await start();
    expect((await edit(emulator, { kind: "endpoint", id: "ep-none", delete: true })).status).toBe(404);
    expect((await edit(emulator, { kind: "integration", delete: true })).status).toBe(404);
    expect((await edit(emulator, { kind: "endpoint", project_id: "prj-none", delete: true })).status).toBe(404);
  });

  test("of a record that does not exist names those that do", async () => {
    const emulator = await start();
    const refusal = async (body: object): Promise<unknown> => (await edit(emulator, body)).body.message;
    const none = "the record to edit was not found: project prj-demo has";
    expect(await refusal({ kind: "oauth_provider", id: "google", delete: true })).toBe(`${none} none of this kind`);
    expect(await refusal({ kind: "endpoint", id: "ep-none", delete: true })).toBe(`${none} ${PRIMARY}`);
    for (let number = 1; number <= 10; number++) {
      await edit(emulator, { kind: "domain", create: { domain: `https://${number}.example.com` } });
    }
    expect(await refusal({ kind: "domain", id: "https://none", delete: true })).toMatch(/10\.example\.com$/);
    await edit(emulator, { kind: "domain", create: { domain: "https://11.example.com" } });
    expect(await refusal({ kind: "domain", id: "https://none", delete: true })).toMatch(/10\.example\.com, …$/);
  });
});

describe("a compute that is acted on by hand", () => {
  const act = (emulator: Emulator, body: object) =>
    control(emulator.url, "POST", "/computes", { project_id: "prj-demo", id: PRIMARY, ...body });
  const actions = ({ body }: { body: Record<string, unknown> }) =>
    records(body, "operations").map(({ action }) => action);

  test("has the operations of the API, and its refusals", async () => {
    const emulator = await start({ activationMs: 60_000 });
    expect(await act(emulator, { action: "start" })).toMatchObject({ status: 200, body: { operations: [] } });
    expect(actions(await act(emulator, { action: "move", branch_id: "br-dev" }))).toEqual(["apply_config"]);
    expect(actions(await act(emulator, { action: "restart" }))).toEqual(["suspend_compute", "start_compute"]);
    expect(actions(await act(emulator, { action: "suspend" }))).toEqual(["suspend_compute"]);
    expect((await demoState(emulator)).endpoints).toMatchObject([{ id: PRIMARY, branch_id: "br-dev" }]);
    await createCompute(emulator, { branch_id: "br-test", type: "read_write" });
    for (const [refused, status] of [
      [{ action: "move", branch_id: "br-test" }, 409],
      [{ action: "move", branch_id: "br-missing" }, 404],
      [{ action: "move" }, 400],
      [{ action: "start", branch_id: "br-dev" }, 400],
      [{ action: "stop" }, 400],
      [{ action: "start", id: "ep-missing" }, 404],
    ] as const)
      expect(await act(emulator, refused)).toMatchObject({ status, body: ERROR_BODY });
  });

  test("waits for its turn where operations lock the project, and hides secrets of its settings", async () => {
    const emulator = await start({ activationMs: 60_000, lockProjects: true });
    await edit(emulator, { kind: "endpoint", set: { settings: { pg_settings: { "app.token": "canary" } } } });
    const { text } = await act(emulator, { action: "restart" });
    expect(text).not.toContain("canary");
    expect(await act(emulator, { action: "suspend" })).toMatchObject({ status: 423, body: ERROR_BODY });
  });
});
