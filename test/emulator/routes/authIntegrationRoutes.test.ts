import { createHash } from "node:crypto";
import {
  api,
  control,
  DEMO,
  demoState,
  ERROR_BODY,
  INTEGRATION,
  integrate,
  record,
  records,
  start,
  type Target,
} from "../../support/emulator";

const PROVIDER = { project_id: "prj-demo", auth_provider: "supported_provider" };
const sha256 = (text: unknown): string => `sha256:${createHash("sha256").update(String(text)).digest("hex")}`;

describe("the integration", () => {
  test("is created with 201 and a key set, and then listed", async () => {
    const emulator = await start();
    expect((await api(emulator, "GET", `${DEMO}/auth/integrations`)).body).toEqual({ data: [] });
    const { status, body } = await integrate(emulator);
    expect(status).toBe(201);
    expect(body).toEqual({
      auth_provider: "supported_provider",
      auth_provider_project_id: expect.stringMatching(/.+/),
      pub_client_key: expect.stringMatching(/.+/),
      secret_server_key: expect.stringMatching(/.+/),
      jwks_url: `${emulator.url}/auth/${String(body.auth_provider_project_id)}/.well-known/jwks.json`,
      schema_name: "svc_auth",
      table_name: "users_sync",
    });
    const list = await api(emulator, "GET", `${DEMO}/auth/integrations`);
    expect(list.status).toBe(200);
    expect(list.body).toEqual({
      data: [
        {
          auth_provider: "supported_provider",
          auth_provider_project_id: body.auth_provider_project_id,
          branch_id: "br-main",
          db_name: "svcdb",
          created_at: expect.stringMatching(/Z$/),
          owned_by: "svc",
          jwks_url: body.jwks_url,
        },
      ],
    });
  });

  test("takes a database of its own", async () => {
    const emulator = await start();
    await integrate(emulator, { database_name: "shop", role_name: "owner" });
    const { body } = await api(emulator, "GET", `${DEMO}/auth/integrations`);
    expect(body.data).toMatchObject([{ branch_id: "br-main", db_name: "shop" }]);
  });

  test("belongs to the branch that is flagged as default, whichever that is", async () => {
    const emulator = await start();
    const { status, body } = await integrate(emulator, { branch_id: "br-dev" });
    expect([status, body]).toEqual([400, ERROR_BODY]);
    expect((await api(emulator, "GET", `${DEMO}/auth/integrations`)).body).toEqual({ data: [] });

    const flag = (id: string, isDefault: boolean) =>
      control(emulator.url, "POST", "/edit", {
        kind: "branch",
        project_id: "prj-demo",
        id,
        set: { default: isDefault },
      });
    await flag("br-main", false);
    await flag("br-dev", true);
    expect((await integrate(emulator)).status).toBe(400);
    expect((await integrate(emulator, { branch_id: "br-dev" })).status).toBe(201);
  });

  test("exists once: a second one answers 409", async () => {
    const emulator = await start();
    await integrate(emulator);
    const { status, body } = await integrate(emulator, { database_name: "other" });
    expect([status, body]).toEqual([409, ERROR_BODY]);
  });

  test("needs a project and a branch that exist, and the supported provider", async () => {
    const emulator = await start();
    expect((await integrate(emulator, { project_id: "prj-none" })).status).toBe(404);
    expect((await integrate(emulator, { branch_id: "br-none" })).status).toBe(404);
    expect((await integrate(emulator, { auth_provider: "other" })).status).toBe(400);
    expect((await integrate(emulator, { branch_id: undefined })).status).toBe(400);
    expect((await integrate(emulator, { more: 1 })).status).toBe(400);
  });

  test("supports the provider that the emulator is configured with", async () => {
    const emulator = await start({ authProvider: "stack" });
    expect((await integrate(emulator)).status).toBe(400);
    expect((await integrate(emulator, { auth_provider: "stack" })).status).toBe(201);
  });

  test("takes everything in it along when it is deleted", async () => {
    const emulator = await start();
    const first = await integrate(emulator);
    await api(emulator, "POST", `${DEMO}/auth/domains`, {
      domain: "https://app.example.com",
      auth_provider: "supported_provider",
    });
    await api(emulator, "POST", "/projects/auth/user", { ...PROVIDER, email: "a@example.com" });
    await api(emulator, "POST", `${DEMO}/auth/oauth_providers`, { id: "microsoft" });
    const { status, text } = await api(emulator, "DELETE", `${DEMO}/auth/integration/supported_provider`);
    expect([status, text]).toEqual([200, ""]);
    expect((await api(emulator, "DELETE", `${DEMO}/auth/integration/supported_provider`)).status).toBe(404);

    const second = await integrate(emulator);
    expect(second.body.auth_provider_project_id).not.toBe(first.body.auth_provider_project_id);
    expect(await demoState(emulator)).toMatchObject({
      domains: [],
      users: [],
      email_server: { type: "shared" },
      oauth_providers: [{ id: "google" }, { id: "github" }],
      key_sets: [{ pub_client_key: second.body.pub_client_key }],
    });
  });

  test("may be deleted with a body that speaks of its data", async () => {
    const emulator = await start();
    await integrate(emulator);
    const path = `${DEMO}/auth/integration/supported_provider`;
    expect((await api(emulator, "DELETE", path, { delete_date: true })).status).toBe(400);
    expect((await api(emulator, "DELETE", path, { delete_data: true })).status).toBe(200);
  });

  test("is what every route inside it needs", async () => {
    const emulator = await start();
    const answers = await Promise.all([
      api(emulator, "POST", "/projects/auth/keys", PROVIDER),
      api(emulator, "POST", "/projects/auth/user", { ...PROVIDER, email: "a@example.com" }),
      api(emulator, "DELETE", `${DEMO}/auth/users/u-1`),
      api(emulator, "POST", "/projects/auth/transfer_ownership", PROVIDER),
      api(emulator, "GET", `${DEMO}/auth/oauth_providers`),
      api(emulator, "POST", `${DEMO}/auth/oauth_providers`, { id: "google" }),
      api(emulator, "PATCH", `${DEMO}/auth/oauth_providers/google`, {}),
      api(emulator, "DELETE", `${DEMO}/auth/oauth_providers/google`),
      api(emulator, "GET", `${DEMO}/auth/domains`),
      api(emulator, "POST", `${DEMO}/auth/domains`, {
        domain: "https://a.example",
        auth_provider: "supported_provider",
      }),
      api(emulator, "DELETE", `${DEMO}/auth/domains`, { domains: [], auth_provider: "supported_provider" }),
      api(emulator, "GET", `${DEMO}/auth/email_server`),
      api(emulator, "PATCH", `${DEMO}/auth/email_server`, { type: "shared" }),
    ]);
    for (const { status, body } of answers) expect([status, body]).toEqual([404, ERROR_BODY]);
  });
});

test("each call for keys makes another set and the older ones stay", async () => {
  const emulator = await start();
  const created = await integrate(emulator);
  const { status, body } = await api(emulator, "POST", "/projects/auth/keys", PROVIDER);
  expect(status).toBe(201);
  expect(Object.keys(body).sort()).toEqual(Object.keys(created.body).sort());
  expect(body.auth_provider_project_id).toBe(created.body.auth_provider_project_id);
  expect(body.secret_server_key).not.toBe(created.body.secret_server_key);
  expect(records(await demoState(emulator), "key_sets")).toMatchObject(
    [created.body, body].map(({ pub_client_key, secret_server_key }) => ({
      pub_client_key,
      secret_server_key: sha256(secret_server_key),
    })),
  );
  expect((await api(emulator, "POST", "/projects/auth/keys", { ...PROVIDER, branch_id: "br-main" })).status).toBe(400);
});

describe("users", () => {
  const create = (target: { baseUrl: string }, fields: object) =>
    api(target, "POST", "/projects/auth/user", { ...PROVIDER, ...fields });

  test("are created with 201 and deleted with 204, once", async () => {
    const emulator = await start();
    await integrate(emulator);
    const { status, body } = await create(emulator, { email: "ada@example.com", name: "Ada" });
    expect([status, body]).toEqual([201, { id: expect.stringMatching(/.+/) }]);
    expect(records(await demoState(emulator), "users")).toMatchObject([{ email: "ada@example.com", name: "Ada" }]);
    const path = `${DEMO}/auth/users/${String(body.id)}`;
    const gone = await api(emulator, "DELETE", path);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect((await api(emulator, "DELETE", path)).status).toBe(404);
  });

  test("have an address of their own and a name of 1 to 255 characters", async () => {
    const emulator = await start();
    await integrate(emulator);
    expect((await create(emulator, { email: "no address" })).status).toBe(400);
    expect((await create(emulator, {})).status).toBe(400);
    expect((await create(emulator, { email: "a@example.com", name: "" })).status).toBe(400);
    expect((await create(emulator, { email: "a@example.com", name: "n".repeat(256) })).status).toBe(400);
    expect((await create(emulator, { email: "a@example.com", name: "n".repeat(255) })).status).toBe(201);
    expect((await create(emulator, { email: "A@example.com" })).status).toBe(409);
  });
});

test("a transfer answers a url, and opening it hands the auth project over", async () => {
  const emulator = await start();
  await integrate(emulator);
  const { status, body } = await api(emulator, "POST", "/projects/auth/transfer_ownership", PROVIDER);
  expect([status, Object.keys(body)]).toEqual([200, ["url"]]);
  const owner = async () =>
    records((await api(emulator, "GET", `${DEMO}/auth/integrations`)).body, "data").map(({ owned_by }) => owned_by);
  expect(await owner()).toEqual(["svc"]);
  expect((await fetch(String(body.url))).status).toBe(200);
  expect(await owner()).toEqual(["user"]);
  expect((await fetch(String(body.url))).status).toBe(404);
  expect((await api(emulator, "POST", "/projects/auth/keys", PROVIDER)).status).toBe(201);
});

describe("the url of a transfer", () => {
  const ask = async (target: Target): Promise<string> =>
    String((await api(target, "POST", "/projects/auth/transfer_ownership", PROVIDER)).body.url);
  const tokenOf = (url: string): string => url.slice(url.lastIndexOf("/") + 1);

  test("is shown nowhere but in its answer: what people look at has a hash of its end", async () => {
    const emulator = await start();
    await integrate(emulator);
    const token = tokenOf(await ask(emulator));
    const edit = { kind: "integration", project_id: INTEGRATION.project_id, set: { role_name: "other" } };
    for (const { text } of [
      await control(emulator.url, "GET", "/state"),
      await control(emulator.url, "POST", "/edit", edit),
      await control(emulator.url, "GET", "/requests"),
    ]) {
      expect(text).not.toContain(token);
    }
    expect(records(await demoState(emulator), "integrations")).toMatchObject([
      { transfer_token_hashes: [sha256(token)] },
    ]);
  });

  test("stays good when another is asked for, until one is opened", async () => {
    const emulator = await start();
    await integrate(emulator);
    const [first, second] = [await ask(emulator), await ask(emulator)];
    expect((await fetch(first)).status).toBe(200);
    expect((await fetch(second)).status).toBe(404);
  });

  test("does not open with the hash that is shown", async () => {
    const emulator = await start();
    await integrate(emulator);
    const token = tokenOf(await ask(emulator));
    for (const shown of [sha256(token), sha256(token).slice("sha256:".length)]) {
      expect((await control(emulator.url, "GET", `/transfer/${shown}`)).status).toBe(404);
    }
  });
});

test("an integration lost behind the API's back takes its settings along", async () => {
  const emulator = await start();
  await integrate(emulator);
  const edit = { kind: "integration", project_id: INTEGRATION.project_id, delete: true };
  expect(record({ answer: (await control(emulator.url, "POST", "/edit", edit)).body }, "answer")).toMatchObject({
    auth_provider: "supported_provider",
  });
  expect(await demoState(emulator)).toMatchObject({ integrations: [], oauth_providers: [], key_sets: [] });
});
