import type { EmulatorEdit, EmulatorFault } from "../../../src/emulator";
import { api, createCompute, DEMO, endpoint, PRIMARY, record, settled, start } from "../../support/emulator";

type Bare<Edit> = Edit extends unknown ? Omit<Edit, "project_id"> : never;
type EmulatorEditBody = Bare<EmulatorEdit>;

test("an edit from code is what a person does by hand: the API shows it, secrets are masked", async () => {
  const emulator = await start();
  const edit = { kind: "endpoint", project_id: "prj-demo", id: PRIMARY } as const;
  expect(emulator.edit({ ...edit, set: { autoscaling_limit_max_cu: 8 } })).toMatchObject({ id: PRIMARY });
  expect(await endpoint(emulator, PRIMARY)).toMatchObject({ autoscaling_limit_max_cu: 8 });

  const at = { kind: "oauth_provider", project_id: "prj-demo" } as const;
  emulator.edit({ kind: "integration", project_id: "prj-demo", create: { branch_id: "br-main" } });
  const made = emulator.edit({ ...at, create: { id: "vercel", type: "standard", client_secret: "canary" } });
  expect(made).toMatchObject({ id: "vercel", client_secret: expect.stringMatching(/^sha256:/) });
  expect(emulator.edit({ ...at, id: "vercel", delete: true })).toMatchObject({ id: "vercel" });
  expect((await api(emulator, "GET", `${DEMO}/auth/oauth_providers`)).text).not.toContain("vercel");
});

test("a fault from code hits the next request that matches, and can be cleared", async () => {
  const emulator = await start();
  const status = async (): Promise<number> => (await api(emulator, "GET", `${DEMO}/endpoints`)).status;
  emulator.fault({ method: "GET", path: "/projects/{project_id}/endpoints", status: 503 });
  expect([await status(), await status()]).toEqual([503, 200]);
  emulator.fault({ status: 500, times: 0 });
  expect([await status(), await status()]).toEqual([500, 500]);
  emulator.clearFaults();
  expect(await status()).toBe(200);
});

test("the requests and operations of a test are at hand, and are copies", async () => {
  const emulator = await start();
  const { id } = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
  await settled(emulator, String(id), "active");
  const [post] = emulator.requests({ method: "POST", path: DEMO });
  expect(post).toMatchObject({ template: "/projects/{project_id}/endpoints", status: 201 });
  const [newest] = emulator.operations("prj-demo");
  expect(newest).toMatchObject({ endpoint_id: id, action: "start_compute", status: "finished" });
  if (newest !== undefined) Object.assign(newest, { status: "failed" });
  expect(emulator.operations("prj-demo")[0]).toMatchObject({ status: "finished" });
  const { body } = await api(emulator, "GET", `${DEMO}/operations/${newest?.id}`);
  expect(record(body, "operation")).toMatchObject({ status: "finished" });
  emulator.reset();
  expect([emulator.requests(), emulator.operations("prj-demo")]).toEqual([[], []]);
});

/** Every field that the types offer. */
const AT = "2026-01-02T03:04:05.000Z";
const ENDPOINT = {
  host: "ep-x.example.com",
  name: "x",
  branch_id: "br-test",
  autoscaling_limit_min_cu: 1,
  autoscaling_limit_max_cu: 2,
  region_id: "r",
  type: "read_only",
  current_state: "idle",
  pending_state: "active",
  settings: { pg_settings: { work_mem: "8MB" } },
  pooler_enabled: true,
  pooler_mode: "transaction",
  disabled: true,
  passwordless_access: false,
  creation_source: "console",
  created_at: AT,
  updated_at: AT,
  last_active: AT,
  suspended_at: AT,
  proxy_host: "example.com",
  suspend_timeout_seconds: 60,
  provisioner: "p",
} as const satisfies Extract<EmulatorEdit, { kind: "endpoint"; set: unknown }>["set"];
const SMTP = { type: "standard", host: "h", port: 25, username: "u", password: "p" } as const;
const FIELDS: readonly EmulatorEditBody[] = [
  { kind: "endpoint", create: { ...ENDPOINT, id: "ep-typed" } },
  { kind: "endpoint", id: "ep-typed", set: ENDPOINT },
  { kind: "endpoint", id: "ep-typed", set: { name: null, pending_state: null, last_active: null, suspended_at: null } },
  { kind: "operation", create: { endpoint_id: "ep-typed", action: "suspend_compute", duration_ms: 5 } },
  { kind: "branch", create: { id: "br-typed", name: "typed", default: false } },
  { kind: "branch", id: "br-typed", set: { name: "other", default: false } },
  { kind: "integration", create: { branch_id: "br-main", database_name: "d", role_name: "r" } },
  { kind: "integration", set: { auth_provider_project_id: "a", branch_id: "br-dev", db_name: "e" } },
  { kind: "integration", set: { owned_by: "user", jwks_url: "https://keys.example.com", created_at: AT } },
  { kind: "integration", set: { jwks_url: null } },
  { kind: "oauth_provider", create: { id: "typed", type: "standard", client_id: "c", client_secret: "s" } },
  { kind: "oauth_provider", id: "typed", set: { type: "shared", client_id: null, client_secret: null } },
  { kind: "domain", create: { domain: "https://a.example.com" } },
  { kind: "domain", set: { domain: "https://b.example.com" } },
  { kind: "email_server", create: { ...SMTP, sender_email: "a@example.com", sender_name: "A" } },
  { kind: "email_server", set: { port: 587 } },
  { kind: "email_server", delete: true },
  { kind: "user", create: { email: "a@example.com", name: "A", id: "u1" } },
  { kind: "user", id: "u1", set: { email: "b@example.com", name: null } },
];

test("every field of the types is accepted", async () => {
  const emulator = await start();
  for (const body of FIELDS) emulator.edit({ project_id: "prj-demo", ...body });
  const request = { method: "GET", path: "/x", times: 2, after: 1, delayMs: 5, headers: { a: "b" } };
  const faults: EmulatorFault[] = [
    { ...request, status: 500, body: { a: 1 }, contentType: "text/plain", effect: "none" },
    { ...request, merge: { a: 1 }, effect: "done" },
    { ...request, drop: "cut" },
    { operation: { action: "start_compute", status: "failed", error: "no capacity", times: 2 } },
    { stuck: true, times: 2 },
  ];
  for (const fault of faults) emulator.fault(fault);
  // A seed takes the same edits.
  const seeded = await start({ seed: { edits: FIELDS.map((body) => ({ project_id: "prj-demo", ...body })) } });
  expect(seeded.edit({ kind: "branch", project_id: "prj-demo", id: "br-typed", set: {} })).toMatchObject({
    name: "other",
  });
});

test("what is wrong with an edit or a fault is reported, without its values, and the compiler says most of it first", async () => {
  const emulator = await start();
  // @ts-expect-error -- no field of this name.
  const misspelt: EmulatorEdit = { kind: "endpoint", project_id: "prj-demo", id: PRIMARY, set: { size: 8 } };
  expect(() => emulator.edit(misspelt)).toThrow('invalid request: Unrecognized key: "size"');
  // @ts-expect-error -- neither a status, a body, a drop nor a delay.
  const nothing: EmulatorFault = { method: "GET", statusCode: 500 };
  expect(() => emulator.fault(nothing)).toThrow("statusCode");
  expect(() => emulator.operations("prj-other")).toThrow("project not found");
  const elsewhere = { kind: "domain", project_id: "prj-other", create: { domain: "https://a.example.com" } } as const;
  expect(() => emulator.edit(elsewhere)).toThrow("project not found");
});
