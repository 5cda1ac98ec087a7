import {
  AuthenticationError,
  BadAnswerError,
  ConflictError,
  Deadline,
  NotFoundError,
  ServiceError,
} from "../../src/client";
import { normalisedOrigin } from "../../src/client/origins";
import { closeAll, errorOf, type Reply, scripted, type Seen } from "./scriptedServer";

afterEach(closeAll);

const DOMAINS = "/projects/p/auth/domains";
const KEYS = {
  auth_provider_project_id: "x",
  pub_client_key: "pub",
  secret_server_key: "sec",
  jwks_url: "https://x.test",
};
const page: Reply = { text: "<html></html>", headers: { "content-type": "text/html" } };

const sentTo = (seen: Seen[], line: string): unknown[] =>
  seen.filter((request) => request.line === line).map(({ body }) => body);

test("each call sends the documented request, with the key and nothing that was left out", async () => {
  const { server, client } = await scripted(({ method, path }) => {
    if (path === "/projects/auth/user") return { status: 201, json: { id: "u1", extra: true } };
    if (path === "/projects/auth/transfer_ownership") return { json: { url: "https://x.test/t" } };
    if (path.startsWith("/projects/auth/")) return { status: 201, json: KEYS };
    if (path.includes("oauth_providers") && method !== "DELETE") return { json: { id: "google", type: "standard" } };
    if (path.includes("email_server")) return { json: { type: "shared" } };
    return { status: 204 };
  });
  const known: [] = [];
  await client.createAuthIntegration("p", { auth_provider: "a", branch_id: "br", role_name: undefined }, { known });
  await client.createAuthKeys("p", "a");
  await client.createAuthUser("p", { auth_provider: "a", email: "e@x.test", name: "E" });
  await client.deleteAuthUser("p", "u1");
  await client.transferOwnership("p", "a");
  await client.deleteAuthIntegration("p", "a");
  await client.addOAuthProvider("p", { id: "google", client_id: "i", client_secret: "s" }, { known });
  await client.updateOAuthProvider("p", "google", { client_id: "j" });
  await client.deleteOAuthProvider("p", "google");
  await client.addDomain("p", "https://a.test", "a", { known });
  await client.deleteDomains("p", ["https://a.test"], "a");
  await client.updateEmailServer("p", { type: "shared" });
  expect(server.seen.map(({ line, body }) => [line, body])).toEqual([
    ["POST /projects/auth/create", { project_id: "p", auth_provider: "a", branch_id: "br" }],
    ["POST /projects/auth/keys", { project_id: "p", auth_provider: "a" }],
    ["POST /projects/auth/user", { project_id: "p", auth_provider: "a", email: "e@x.test", name: "E" }],
    ["DELETE /projects/p/auth/users/u1", undefined],
    ["POST /projects/auth/transfer_ownership", { project_id: "p", auth_provider: "a" }],
    ["DELETE /projects/p/auth/integration/a", undefined],
    ["POST /projects/p/auth/oauth_providers", { id: "google", client_id: "i", client_secret: "s" }],
    ["PATCH /projects/p/auth/oauth_providers/google", { client_id: "j" }],
    ["DELETE /projects/p/auth/oauth_providers/google", undefined],
    [`POST ${DOMAINS}`, { domain: "https://a.test", auth_provider: "a" }],
    [`DELETE ${DOMAINS}`, { auth_provider: "a", domains: [{ domain: "https://a.test" }] }],
    ["PATCH /projects/p/auth/email_server", { type: "shared" }],
  ]);
  expect(server.seen.every(({ headers }) => headers.authorization === "Bearer test-key")).toBe(true);
  const withBody = server.seen.filter(({ body }) => body !== undefined);
  expect(withBody.every(({ headers }) => headers["content-type"] === "application/json")).toBe(true);
});

test("a change that is answered without a body is read back", async () => {
  const { client } = await scripted(({ method, path }) => {
    if (method !== "GET") return { status: 200 };
    if (path.endsWith("email_server")) return { json: { type: "standard", port: 25 } };
    return { json: { providers: [{ id: "google", type: "standard" }] } };
  });
  await expect(client.updateEmailServer("p", { type: "standard" })).resolves.toEqual({ type: "standard", port: 25 });
  await expect(client.updateOAuthProvider("p", "google", {})).resolves.toEqual({ id: "google", type: "standard" });
});

test("null counts as absent, and fields that nobody has listed pass", async () => {
  const json = { type: "shared", host: null, port: null, more: { deep: null, kept: 1 } };
  const { client } = await scripted(() => ({ json }));
  await expect(client.getEmailServer("p")).resolves.toEqual({ type: "shared", more: { kept: 1 } });
});

describe.each([404, 410])("a deletion that is answered with %i", (status) => {
  test("is done", async () => {
    const { client } = await scripted(() => ({ status, json: { message: "not there" } }));
    await client.deleteAuthUser("p", "u");
    await client.deleteOAuthProvider("p", "google");
    await client.deleteAuthIntegration("p", "a");
    await client.deleteDomains("p", ["https://a.test"], "a");
  });
});

test.each<[string, Reply, unknown]>([
  ["a refused key", { status: 401 }, AuthenticationError],
  ["a conflict", { status: 409 }, ConflictError],
  ["a service that fails", { status: 500 }, ServiceError],
  ["a proxy's page with a good status", page, BadAnswerError],
  ["a proxy's page with 404", { ...page, status: 404 }, BadAnswerError],
])("a deletion is not done after %s", async (_, reply, kind) => {
  const { client } = await scripted(() => reply, { baseDelayMs: 1 });
  await expect(client.deleteAuthUser("p", "u")).rejects.toBeInstanceOf(kind);
  await expect(client.deleteDomains("p", ["https://a.test"], "a")).rejects.toBeInstanceOf(kind);
});

test("the error for a refused key says what to do after a rotation", async () => {
  const { client } = await scripted(() => ({
    status: 401,
    json: { code: "auth.invalid", message: "nope", request_id: "r-7" },
  }));
  const error = await errorOf(client.listDomains("p"));
  expect(String(error)).toBe(
    "AuthenticationError: the API key is missing or wrong: nope (GET /projects/{project_id}/auth/domains -> 401 auth.invalid, " +
      "request r-7). Refresh and destroy use the key that is stored with the stack: after a rotation run `pulumi up` first, " +
      "or add --run-program. The key can also be set by the environment variable SVC_API_KEY",
  );
});

describe("deletions of domains", () => {
  /** A whitelist that refuses a deletion which names an unknown domain. */
  const whitelist = (stored: string[], options: { strict?: boolean; delayMs?: number; status?: number } = {}) => {
    const domains = new Set(stored);
    return scripted(({ method, body }) => {
      if (method === "GET") return { json: { domains: [...domains].map((domain) => ({ domain })) } };
      // Only deletions come here.
      const wanted = (body as { domains: { domain: string }[] }).domains.map(({ domain }) => domain);
      if (options.strict === true && wanted.some((domain) => !domains.has(domain))) {
        return { status: options.status ?? 404, json: {} };
      }
      wanted.forEach((domain) => domains.delete(domain));
      return { status: 200, delayMs: options.delayMs ?? 0 };
    }).then((both) => ({ ...both, domains }));
  };
  const origins = Array.from({ length: 20 }, (_, i) => `https://a${i}.test`);

  test("that come together travel in one request", async () => {
    const { server, client, domains } = await whitelist(origins);
    await Promise.all(origins.map((origin) => client.deleteDomains("p", [origin], "a")));
    expect(server.seen).toHaveLength(1);
    expect(domains.size).toBe(0);
  });

  test("that come while one is under way travel in the next one", async () => {
    const { server, client } = await whitelist(origins, { delayMs: 500 });
    const first = client.deleteDomains("p", origins.slice(0, 1), "a");
    await new Promise((resolve) => setTimeout(resolve, 250));
    const later = [1, 2, 3].map(async (i) => {
      await new Promise((resolve) => setTimeout(resolve, i * 30));
      await client.deleteDomains("p", origins.slice(i, i + 1), "a");
    });
    await Promise.all([first, ...later]);
    expect(server.seen).toHaveLength(2);
  });

  test("that are gone, while a list that lags still shows them, are deleted", async () => {
    const listed = { json: { domains: [{ domain: "https://a.test" }] } };
    const { client } = await scripted(({ method }) => (method === "GET" ? listed : { status: 404, json: {} }), {
      lookMs: 20,
    });
    await expect(client.deleteDomains("p", ["https://a.test"], "a")).resolves.toBeUndefined();
  });

  test("of two projects or two auth providers are kept apart", async () => {
    const { server, client } = await whitelist(origins);
    await Promise.all([
      client.deleteDomains("p", ["https://a1.test"], "a"),
      client.deleteDomains("q", ["https://a2.test"], "a"),
      client.deleteDomains("p", ["https://a3.test"], "b"),
    ]);
    expect(sentTo(server.seen, `DELETE ${DOMAINS}`)).toEqual(
      expect.arrayContaining([
        { auth_provider: "a", domains: [{ domain: "https://a1.test" }] },
        { auth_provider: "b", domains: [{ domain: "https://a3.test" }] },
      ]),
    );
    expect(server.seen).toHaveLength(3);
  });

  test("succeed for the domains that are there although another one was gone already", async () => {
    const { client, domains } = await whitelist(["https://a1.test", "https://a2.test"], { strict: true });
    await Promise.all(
      ["https://a1.test", "https://gone.test", "https://a2.test"].map((d) => client.deleteDomains("p", [d], "a")),
    );
    expect(domains.size).toBe(0);
  });

  test("fail for the one whose domain is refused, not for the others", async () => {
    const { client, domains } = await whitelist(["https://a1.test", "https://a2.test"], { strict: true, status: 422 });
    const outcomes = await Promise.allSettled(
      ["https://a1.test", "odd", "https://a2.test"].map((d) => client.deleteDomains("p", [d], "a")),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(domains.size).toBe(0);
  });

  test("that fail as a whole tell every caller, without a request for each", async () => {
    const { server, client } = await scripted(() => ({ status: 401 }));
    const outcomes = await Promise.allSettled(origins.map((origin) => client.deleteDomains("p", [origin], "a")));
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(server.seen).toHaveLength(1);
  });

  test("end with the caller's deadline", async () => {
    const { client } = await whitelist(origins, { delayMs: 600 });
    const error = await errorOf(client.deleteDomains("p", origins, "a", { deadline: new Deadline(100) }));
    expect(String(error)).toContain("no answer within 0.1 s");
  });
});

test("origins are compared as browsers do", () => {
  const same = [
    "https://App.Example.com",
    "https://app.example.com/",
    "https://app.example.com:443",
    " https://app.example.com ",
  ];
  expect(new Set(same.map(normalisedOrigin))).toEqual(new Set(["https://app.example.com"]));
  expect(normalisedOrigin("http://localhost:3000/x")).toBe("http://localhost:3000");
  expect(normalisedOrigin("myapp://Callback")).toBe("myapp://Callback");
  expect(normalisedOrigin("Not an origin")).toBe("Not an origin");
});

test("a NotFoundError of a list is an error, not an empty list", async () => {
  const { client } = await scripted(() => ({ status: 404, json: {} }));
  for (const read of [
    client.listDomains("p"),
    client.listOAuthProviders("p"),
    client.listAuthIntegrations("p"),
    client.getEmailServer("p"),
  ]) {
    await expect(read).rejects.toBeInstanceOf(NotFoundError);
  }
});
