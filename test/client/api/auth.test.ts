/** The calls of auth through the whole client, in memory. */
import {
  AuthenticationError,
  BadResponseError,
  type Client,
  type Collection,
  ConflictError,
  Deadline,
  NotFoundError,
  NotKnownError,
  type OAuthProviderRecord,
  type Permission,
  Refused,
  ServiceError,
  SvcError,
} from "../../../src/client";
import { addDomain, addOAuthProvider, ANY, like } from "../../support/creating";
import { gone } from "../../support/scene";
import { skippingClock } from "../../support/fakeClock";
import { errorOf, type Reply, inMemory, type Seen } from "../../support/scriptedServer";
import { mayGo, PROVEN } from "../../support/proven";

skippingClock();

const DOMAINS = "/projects/p/auth/domains";
const KEYS = {
  auth_provider_project_id: "x",
  pub_client_key: "pub",
  secret_server_key: "sec",
  jwks_url: "https://x.test",
};
const page: Reply = { text: "<html></html>", headers: { "content-type": "text/html" } };

const changes = (seen: Seen[]): Seen[] => seen.filter(({ method }) => method !== "GET");
const anyItem = (): boolean => true;

test("each call sends the documented request, with the key and nothing that was left out", async () => {
  let domains: object[] = [];
  const { server, client } = inMemory(({ method, path }) => {
    if (method === "GET") return { json: { data: [], providers: [], domains } };
    if (path.endsWith("/domains")) domains = method === "POST" ? [{ domain: "https://a.test" }] : [];
    if (path === "/projects/auth/user") return { status: 201, json: { id: "u1", extra: true } };
    if (path === "/projects/auth/transfer_ownership") return { json: { url: "https://x.test/t" } };
    if (path.startsWith("/projects/auth/")) return { status: 201, json: KEYS };
    if (path.includes("oauth_providers") && method !== "DELETE") return { json: { id: "google", type: "standard" } };
    if (path.includes("email_server")) return { json: { type: "shared" } };
    return { status: 204 };
  });
  const { auth } = client;
  await auth.createIntegration({
    projectId: "p",
    body: { auth_provider: "a", branch_id: "br", role_name: undefined },
    recovery: like({}),
  });
  await auth.createKeys("p", "a", PROVEN);
  await auth.createUser("p", { auth_provider: "a", email: "e@x.test", name: "E" }, PROVEN);
  await auth.deleteUser("p", "u1", PROVEN);
  await auth.transferOwnership("p", "a", PROVEN);
  await auth.integrations("p").delete({ id: "a", matches: anyItem }, PROVEN);
  await addOAuthProvider(client, { id: "google", client_id: "i", client_secret: "s" });
  await auth.oauthProviders("p").update({ id: "google", body: { client_id: "j" }, expected: ANY }, PROVEN);
  await auth.oauthProviders("p").delete({ id: "google" }, PROVEN);
  await addDomain(client, "https://a.test");
  await auth.deleteDomains(
    { projectId: "p", origins: () => mayGo(["https://a.test"]), authProvider: "a" },
    PROVEN.isMeant,
    {},
  );
  await auth.emailServers("p").update({ body: { type: "shared" }, expected: ANY }, PROVEN);
  expect(changes(server.seen).map(({ line, body }) => [line, body])).toEqual([
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
  const { client } = inMemory(({ method, path }) => {
    if (method !== "GET") return { status: 200 };
    if (path.endsWith("email_server")) return { json: { type: "standard", port: 25 } };
    return { json: { providers: [{ id: "google", type: "standard" }] } };
  });
  await expect(
    client.auth.emailServers("p").update({ body: { type: "standard" }, expected: ANY }, PROVEN),
  ).resolves.toEqual({
    type: "standard",
    port: 25,
  });
  await expect(
    client.auth.oauthProviders("p").update({ id: "google", body: {}, expected: ANY }, PROVEN),
  ).resolves.toEqual({
    id: "google",
    type: "standard",
  });
});

test("null counts as absent, and fields that nobody has listed pass", async () => {
  const json = { type: "shared", host: null, port: null, more: { deep: null, kept: 1 } };
  const { client } = inMemory(() => ({ json }));
  await expect(client.auth.emailServer("p")).resolves.toEqual({ type: "shared", more: { kept: 1 } });
});

/** Everything that can be deleted, still listed. */
const STANDING = {
  data: [{ auth_provider: "a", auth_provider_project_id: "x", branch_id: "b" }],
  providers: [{ id: "google", type: "shared" }],
  domains: [{ domain: "https://a.test" }],
  type: "standard",
};
/** Nothing of it. */
const NONE = { data: [], providers: [], domains: [], type: "shared" };
const UNCLEAR: [string, Reply][] = [
  ["an empty 404", { status: 404 }],
  ["a 404 of a proxy", { status: 404, json: { message: "no route matched" } }],
  ["a page with a good status", page],
  ["another shape with a good status", { json: { code: "internal", message: "nothing was executed" } }],
];
const deletions: [string, (client: Client) => Promise<unknown>][] = [
  ["an OAuth provider", ({ auth }) => auth.oauthProviders("p").delete({ id: "google" }, PROVEN)],
  ["an integration", ({ auth }) => auth.integrations("p").delete({ id: "a", matches: anyItem }, PROVEN)],
  [
    "a domain",
    ({ auth }) =>
      auth.deleteDomains(
        { projectId: "p", origins: () => mayGo(["https://a.test"]), authProvider: "a" },
        PROVEN.isMeant,
        {},
      ),
  ],
  ["the mail server", ({ auth }) => auth.resetEmailServer("p", PROVEN)],
];

describe.each(deletions)("a deletion of %s", (_what, remove) => {
  test.each([404, 410] as const)("is done after a %i of the service with one list that lacks it", async (status) => {
    const { server, client } = inMemory(({ method }) => (method === "GET" ? { json: NONE } : gone(status)));
    await remove(client);
    const change = server.seen.findIndex(({ method }) => method !== "GET");
    expect(server.seen.slice(change).map(({ method }) => method === "GET")).toEqual([false, true]);
  });

  test("is not done after a 404 while it is listed", async () => {
    const { client } = inMemory(({ method }) => (method === "GET" ? { json: STANDING } : gone()));
    expect(String(await errorOf(remove(client)))).toContain("is still listed");
  });

  test("is not done after a 404 of the whole project", async () => {
    const { client } = inMemory(() => gone());
    await expect(remove(client)).rejects.toBeInstanceOf(NotKnownError);
  });

  test.each(UNCLEAR)("is not done after %s while it is listed, and is once it is not", async (_, reply) => {
    const { client: failing } = inMemory(({ method }) => (method === "GET" ? { json: STANDING } : reply));
    await expect(remove(failing)).rejects.toBeInstanceOf(SvcError);
    const { client: done } = inMemory(({ method }) => (method === "GET" ? { json: NONE } : reply));
    await remove(done);
  });

  test("that is accepted without a word has to show", async () => {
    const { client } = inMemory(({ method }) => (method === "GET" ? { json: STANDING } : { status: 204 }));
    await expect(remove(client)).rejects.toThrow(/still/);
  });
});

describe("a deletion of a user, who cannot be listed", () => {
  const remove = ({ auth }: Client): Promise<unknown> =>
    auth.deleteUser("p", "u", { integration: auth.ownIntegration("p", anyItem, "x"), mayGo: PROVEN.mayGo });
  const answered = (reply: Reply, lists: (nth: number) => Reply = () => ({ json: STANDING })) =>
    inMemory(({ method }, nth) => (method === "GET" ? lists(nth) : reply));

  test("is done when it is accepted, without another list", async () => {
    const { server, client } = answered({ status: 204 });
    await remove(client);
    expect(server.seen.map(({ method }) => method)).toEqual(["GET", "DELETE"]);
  });

  test.each([404, 410] as const)("is done after a %i, since the project answers", async (status) => {
    const { server, client } = answered(gone(status));
    await remove(client);
    expect(server.seen.map(({ method }) => method)).toEqual(["GET", "DELETE", "GET"]);
  });

  test("is not done after a 404 if the project does not answer by then", async () => {
    const isProof = ({ path }: { readonly path: string }, nth: number) => path.endsWith("/integrations") && nth === 1;
    const { client } = inMemory((request, nth) => (isProof(request, nth) ? { json: STANDING } : gone()));
    await expect(remove(client)).rejects.toBeInstanceOf(NotKnownError);
  });

  test.each(UNCLEAR)(
    "is not done after %s while his integration is listed, and is once it is not",
    async (_, reply) => {
      const { server, client } = answered(reply);
      await expect(remove(client)).rejects.toThrow("the user's integration is still listed");
      // What may have taken effect is sent again.
      const sent = reply.status === 404 ? 1 : 2;
      expect(changes(server.seen)).toHaveLength(sent);
      await remove(answered(reply, (nth) => ({ json: nth <= sent ? STANDING : NONE })).client);
    },
  );
});

describe("a reset of the mail server", () => {
  test("waits for the lag once when nothing shows whether it took effect", async () => {
    const { server, client } = inMemory(({ method }) => (method === "GET" ? { json: STANDING } : page));
    const error = await errorOf(client.auth.resetEmailServer("p", PROVEN));
    expect(String(error)).toContain("another e-mail server is still listed");
    expect(server.seen.map(({ method }) => method)).toEqual(["PATCH", "GET"]);
  });

  test("that may have taken effect before it was refused is looked for", async () => {
    const { client } = inMemory(
      ({ method }, nth) => (method === "GET" ? { json: { type: "shared" } } : { status: nth === 1 ? 502 : 400 }),
      { baseDelayMs: 1 },
    );
    await client.auth.resetEmailServer("p", PROVEN);
  });

  test("is done when a list shows it, where the response shows the server of before", async () => {
    let lists = 0;
    const { client } = inMemory(({ method }) => ({
      json: { type: method === "GET" && (lists += 1) > 2 ? "shared" : "standard" },
    }));
    await client.auth.resetEmailServer("p", PROVEN);
    expect(lists).toBe(3);
  });
});

test.each<[string, Reply, unknown]>([
  ["a refused key", { status: 401 }, AuthenticationError],
  ["a conflict", { status: 409 }, ConflictError],
  ["a service that fails", { status: 500 }, ServiceError],
  ["a proxy's page with a good status", page, BadResponseError],
  ["a proxy's page with 404", { ...page, status: 404 }, BadResponseError],
])("a deletion is not done after %s", async (_, reply, kind) => {
  const { client } = inMemory(() => reply, { baseDelayMs: 1 });
  await expect(client.auth.deleteUser("p", "u", PROVEN)).rejects.toBeInstanceOf(kind);
  await expect(
    client.auth.deleteDomains(
      { projectId: "p", origins: () => mayGo(["https://a.test"]), authProvider: "a" },
      PROVEN.isMeant,
      {},
    ),
  ).rejects.toBeInstanceOf(kind);
});

test("the error for a refused key says where it was sent", async () => {
  const { client, server } = inMemory(() => ({
    status: 401,
    json: { code: "auth.invalid", message: "nope", request_id: "r-7" },
  }));
  const error = await errorOf(client.auth.domains("p").list());
  expect(String(error)).toBe(
    "AuthenticationError: the API key is missing or wrong: nope (GET /projects/{project_id}/auth/domains -> 401 auth.invalid, " +
      `request r-7). The key was sent to ${new URL(server.baseUrl).host}`,
  );
  // Once: one wrong key fails every call.
  expect(String(await errorOf(client.auth.integrations("p").list()))).toBe(
    "AuthenticationError: the API key is missing or wrong: nope " +
      "(GET /projects/{project_id}/auth/integrations -> 401 auth.invalid, request r-7)",
  );
});

describe("deletions of several domains", () => {
  /** A whitelist that refuses a deletion which names an unknown domain. */
  const whitelist = (stored: string[], { delayMs = 0 } = {}) => {
    const domains = new Set(stored);
    const both = inMemory(({ method, body }) => {
      if (method === "GET") return { json: { domains: [...domains].map((domain) => ({ domain })) } };
      // Only deletions come here.
      const wanted = (body as { domains: { domain: string }[] }).domains.map(({ domain }) => domain);
      if (wanted.some((domain) => !domains.has(domain))) return gone();
      wanted.forEach((domain) => domains.delete(domain));
      return { status: 200, delayMs };
    });
    return { ...both, domains };
  };
  const origins = Array.from({ length: 20 }, (_, i) => `https://a${i}.test`);

  test("travel in one request", async () => {
    const { server, client, domains } = whitelist(origins);
    await client.auth.deleteDomains(
      { projectId: "p", origins: () => mayGo(origins), authProvider: "a" },
      PROVEN.isMeant,
      {},
    );
    expect(changes(server.seen)).toHaveLength(1);
    expect(domains.size).toBe(0);
  });

  test("succeed for the domains that are there although another one was gone already", async () => {
    const { server, client, domains } = whitelist(["https://a1.test", "https://a2.test"]);
    await client.auth.deleteDomains(
      {
        projectId: "p",
        origins: () => mayGo(["https://a1.test", "https://gone.test", "https://a2.test"]),
        authProvider: "a",
      },
      PROVEN.isMeant,
      {},
    );
    expect(domains.size).toBe(0);
    expect(changes(server.seen)).toHaveLength(3);
  });

  test("name what is to go at the moment of each attempt", async () => {
    let wanted = ["https://a1.test", "https://a2.test"];
    const { server, client } = inMemory(({ method }, nth) => {
      if (method === "GET") return { json: { domains: [] } };
      wanted = ["https://a2.test"];
      return nth === 1 ? { status: 423 } : { status: 200 };
    });
    await client.auth.deleteDomains(
      { projectId: "p", origins: () => mayGo(wanted), authProvider: "a" },
      PROVEN.isMeant,
      {},
    );
    const sent = [["https://a1.test", "https://a2.test"], ["https://a2.test"]];
    expect(changes(server.seen).map(({ body }) => body)).toEqual(
      sent.map((domains) => ({ auth_provider: "a", domains: domains.map((domain) => ({ domain })) })),
    );
  });

  test("send nothing when nothing is to go any more", async () => {
    const { server, client } = whitelist(origins);
    await client.auth.deleteDomains(
      { projectId: "p", origins: () => mayGo([]), authProvider: "a" },
      PROVEN.isMeant,
      {},
    );
    expect(server.seen).toEqual([]);
  });

  test("end with the caller's deadline", async () => {
    const { client } = whitelist(origins, { delayMs: 600 });
    const error = await errorOf(
      client.auth.deleteDomains({ projectId: "p", origins: () => mayGo(origins), authProvider: "a" }, PROVEN.isMeant, {
        deadline: new Deadline(100),
      }),
    );
    expect(String(error)).toContain("no response within 0.1 s");
  });
});

test("a deletion is held back, before each attempt, where somebody else has the object by then", async () => {
  const { server, client } = inMemory(() => ({ status: 423 }));
  let asked = 0;
  const asking = (): Permission => {
    asked += 1;
    return asked === 3 ? Refused.proven(new Error("taken over")) : PROVEN.mayGo();
  };
  const providers = client.auth.oauthProviders("p");
  await expect(providers.delete({ id: "google" }, { ...PROVEN, mayGo: asking })).rejects.toThrow("taken over");
  expect(server.seen).toHaveLength(2);
});

test("no change of what lives in an integration compiles without the proof of that integration", async () => {
  const { server, client } = inMemory(() => ({ json: { id: "google", type: "shared" } }));
  const providers = client.auth.oauthProviders("p");
  // @ts-expect-error: not even where a collection is passed on as one whose changes need no proof
  const unproven: Collection<OAuthProviderRecord, OAuthProviderRecord> = providers;
  expect(unproven).toBe(providers);
  // @ts-expect-error: no integration. Nothing else would notice that: it is sent.
  await providers.update({ id: "google", body: {}, expected: ANY }, {});
  expect(changes(server.seen)).toHaveLength(1);
});

test("a NotFoundError of a list is an error, not an empty list", async () => {
  const { client } = inMemory(() => gone());
  for (const read of [
    client.auth.domains("p").list(),
    client.auth.oauthProviders("p").list(),
    client.auth.integrations("p").list(),
    client.auth.emailServer("p"),
  ]) {
    await expect(read).rejects.toBeInstanceOf(NotFoundError);
  }
});
