import { api, DEMO, ERROR_BODY, integrate, STANDARD_EMAIL, start, type Json } from "../../support/emulator";

const OAUTH = `${DEMO}/auth/oauth_providers`;
const DOMAINS = `${DEMO}/auth/domains`;
const EMAIL = `${DEMO}/auth/email_server`;
const OWN = { client_id: "my-client", client_secret: "my-client-secret" };

describe("OAuth providers", () => {
  test("hold shared google and github from the start", async () => {
    const emulator = await start();
    await integrate(emulator);
    const { status, body } = await api(emulator, "GET", OAUTH);
    expect(status).toBe(200);
    expect(body).toEqual({
      providers: [
        { id: "google", type: "shared" },
        { id: "github", type: "shared" },
      ],
    });
  });

  test("are shared without credentials and standard with both", async () => {
    const emulator = await start();
    await integrate(emulator);
    const shared = await api(emulator, "POST", OAUTH, { id: "microsoft" });
    expect([shared.status, shared.body]).toEqual([200, { id: "microsoft", type: "shared" }]);
    const own = await api(emulator, "POST", OAUTH, { id: "gitlab", ...OWN });
    expect([own.status, own.body]).toEqual([200, { id: "gitlab", type: "standard", ...OWN }]);
    expect((await api(emulator, "POST", OAUTH, { id: "gitlab" })).status).toBe(409);
  });

  test("refuse half a pair of credentials, without repeating it", async () => {
    const emulator = await start();
    await integrate(emulator);
    for (const half of [{ client_id: "half-a-pair" }, { client_secret: "half-a-pair" }]) {
      for (const answer of [
        await api(emulator, "POST", OAUTH, { id: "microsoft", ...half }),
        await api(emulator, "PATCH", `${OAUTH}/google`, half),
      ]) {
        expect([answer.status, answer.body]).toEqual([400, ERROR_BODY]);
        expect(answer.text).not.toContain("half-a-pair");
      }
    }
  });

  test("become standard by a PATCH with both, then take either alone", async () => {
    const emulator = await start();
    await integrate(emulator);
    const both = await api(emulator, "PATCH", `${OAUTH}/google`, OWN);
    expect([both.status, both.body]).toEqual([200, { id: "google", type: "standard", ...OWN }]);
    const one = await api(emulator, "PATCH", `${OAUTH}/google`, { client_secret: "next" });
    expect(one.body).toEqual({ id: "google", type: "standard", client_id: "my-client", client_secret: "next" });
    const list = await api(emulator, "GET", OAUTH);
    expect(list.body.providers).toContainEqual({ id: "google", type: "standard" });
    expect((await api(emulator, "PATCH", `${OAUTH}/nobody`, OWN)).status).toBe(404);
  });

  test("are gone after a delete, which answers 204 once", async () => {
    const emulator = await start();
    await integrate(emulator);
    const gone = await api(emulator, "DELETE", `${OAUTH}/google`);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect((await api(emulator, "DELETE", `${OAUTH}/google`)).status).toBe(404);
    expect((await api(emulator, "GET", OAUTH)).body).toEqual({ providers: [{ id: "github", type: "shared" }] });
  });
});

describe("the redirect whitelist", () => {
  const add = (target: { baseUrl: string }, domain: unknown, auth_provider = "supported_provider") =>
    api(target, "POST", DOMAINS, { domain, auth_provider });

  test("takes an origin with 201 and no body, and lists it in lower case", async () => {
    const emulator = await start();
    await integrate(emulator);
    const { status, text } = await add(emulator, "HTTPS://App.Example.com:8443");
    expect([status, text]).toEqual([201, ""]);
    expect((await api(emulator, "GET", DOMAINS)).body).toEqual({
      domains: [{ domain: "https://app.example.com:8443", auth_provider: "supported_provider" }],
    });
  });

  test.each([
    "http://localhost:3000",
    "https://127.0.0.1:8443",
    "http://[::1]:3000",
    "https://xn--bcher-kva.example",
    "https://*.example.com",
    "https://*.example.com:*",
    "http://localhost:*",
  ])("takes %s as it is", async (domain) => {
    const emulator = await start();
    await integrate(emulator);
    expect((await add(emulator, domain)).status).toBe(201);
    expect((await api(emulator, "GET", DOMAINS)).body).toMatchObject({ domains: [{ domain }] });
  });

  test("refuses a twin, whatever its spelling", async () => {
    const emulator = await start();
    await integrate(emulator);
    await add(emulator, "https://app.example.com");
    for (const twin of ["https://app.example.com", "https://APP.example.com", "https://app.example.com:443"]) {
      expect((await add(emulator, twin)).status).toBe(409);
    }
  });

  test.each([
    "app.example.com",
    "https://app.example.com/",
    "https://app.example.com/callback",
    "https://app.example.com:80:*",
    "https://app.example.com:*/",
    "https://:*",
    "https://app.example.com?x=1",
    "https://user@app.example.com",
    "ftp://app.example.com",
    "https://",
    "https://a b",
    "",
    7,
    "https://app.example.com\\callback",
    "https://app.example.com\\",
    "https:\\\\app.example.com",
    "https://app.example.com#top",
    "https://app.example.com\u0001",
    "\u0001https://app.example.com",
    "https://app.\u0000example.com",
    "https://app.\u007fexample.com",
    "https://app.exa\nmple.com",
    " https://app.example.com",
    "https://app.example.com\t",
    "https://app.\u00adexample.com",
    "https://app\u200b.example.com",
    "https://\u212aiosk.example.com",
    "https://app%2eexample.com",
    "https://app.example.com:",
    "https://:@app.example.com",
    "https:app.example.com",
    "https:///app.example.com",
    "ws://app.example.com",
    "wss://app.example.com",
    "file:///app",
    "javascript:alert(1)",
    "data:text/html,x",
    "myapp://callback",
    "null",
  ])("refuses %p, which is no origin", async (domain) => {
    const emulator = await start();
    await integrate(emulator);
    expect((await add(emulator, domain)).status).toBe(400);
  });

  test("drops the listed domains in their stored spelling and passes over the others", async () => {
    const emulator = await start();
    await integrate(emulator);
    for (const name of ["a", "b", "c"]) await add(emulator, `https://${name}.example.com`);
    const { status, text } = await api(emulator, "DELETE", DOMAINS, {
      auth_provider: "supported_provider",
      domains: [
        { domain: "https://a.example.com" },
        { domain: "https://B.example.com" },
        { domain: "https://none.example.com" },
      ],
    });
    expect([status, text]).toEqual([200, ""]);
    const { body } = await api(emulator, "GET", DOMAINS);
    expect(body.domains).toMatchObject([{ domain: "https://b.example.com" }, { domain: "https://c.example.com" }]);
  });

  test("needs a provider and, to delete, a list of objects", async () => {
    const emulator = await start();
    await integrate(emulator);
    expect((await add(emulator, "https://a.example.com", "other")).status).toBe(400);
    expect((await api(emulator, "POST", DOMAINS, { domain: "https://a.example.com" })).status).toBe(400);
    const drop = (body: Json) => api(emulator, "DELETE", DOMAINS, { auth_provider: "supported_provider", ...body });
    expect((await drop({})).status).toBe(400);
    expect((await drop({ domains: ["https://a.example.com"] })).status).toBe(400);
  });
});

describe("the e-mail server", () => {
  test("is shared until it is changed, and echoes what it stores", async () => {
    const emulator = await start();
    await integrate(emulator);
    expect((await api(emulator, "GET", EMAIL)).body).toEqual({ type: "shared" });
    const changed = await api(emulator, "PATCH", EMAIL, STANDARD_EMAIL);
    expect([changed.status, changed.body]).toEqual([200, STANDARD_EMAIL]);
    expect((await api(emulator, "GET", EMAIL)).body).toEqual(STANDARD_EMAIL);
    expect((await api(emulator, "PATCH", EMAIL, { type: "shared" })).body).toEqual({ type: "shared" });
    expect((await api(emulator, "GET", EMAIL)).body).toEqual({ type: "shared" });
  });

  test.each(["host", "port", "username", "password", "sender_email", "sender_name"])(
    "needs %s when it is standard",
    async (field) => {
      const emulator = await start();
      await integrate(emulator);
      const { status, text } = await api(emulator, "PATCH", EMAIL, { ...STANDARD_EMAIL, [field]: undefined });
      expect(status).toBe(400);
      expect(text).not.toContain("smtp-password");
      expect((await api(emulator, "GET", EMAIL)).body).toEqual({ type: "shared" });
    },
  );

  test.each([{ port: 0 }, { port: 65_536 }, { port: "587" }, { sender_email: "x" }, { type: "own" }, { tls: true }])(
    "refuses %p",
    async (field) => {
      const emulator = await start();
      await integrate(emulator);
      expect((await api(emulator, "PATCH", EMAIL, { ...STANDARD_EMAIL, ...field })).status).toBe(400);
    },
  );
});
