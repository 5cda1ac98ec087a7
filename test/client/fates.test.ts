import { FateUnknownError } from "../../src/client";
import { FakeProject } from "./fakeProject";
import { closeAll, errorOf, type Reply, scripted, type Script, type Seen } from "./scriptedServer";

afterEach(closeAll);

const unclear: [string, Reply][] = [
  ["a reset", { fault: "reset" }],
  ["a cut answer", { fault: "cut", status: 201, text: '{"id' }],
  ["500", { status: 500 }],
  ["a 502 page", { status: 502, text: "<html></html>" }],
  ["503 with Retry-After", { status: 503, headers: { "retry-after": "0" } }],
  ["504", { status: 504 }],
  ["408", { status: 408 }],
  ["a good status without a body", { status: 201 }],
  ["a good status with a page", { status: 200, text: "<html></html>" }],
  ["a good status with another shape", { status: 200, json: { ok: true } }],
];
const KEYS = {
  auth_provider_project_id: "x",
  pub_client_key: "pub",
  secret_server_key: "sec",
  jwks_url: "https://x.test",
};

const posts = (seen: Seen[]): string[] => seen.filter(({ method }) => method === "POST").map(({ path }) => path);

/** Lists may lag for longer than any of these tests takes, however slow the machine is. */
const slowly = { lookMs: 10_000 };

describe.each(unclear)("a POST after %s", (_, fault) => {
  const isGood = fault.fault === undefined && (fault.status ?? 0) < 300;
  // The only POST whose good answer has no body (service.md 4.3).
  const domainIsAdded = isGood && fault.text === undefined;

  test("that made a compute: it is found and waited for", async () => {
    const project = new FakeProject();
    project.computes.push({ id: "ep-old", host: "h", branch_id: "b", type: "read_only", current_state: "active" });
    let lost = 0;
    const { server, client } = await scripted((request, nth) => {
      const reply = project.script(request, nth);
      return request.method === "POST" && lost++ === 0 ? fault : reply;
    });
    const accepted: string[] = [];
    const onAccepted = ({ id }: { id: string }): void => void accepted.push(id);
    const made = await client.createEndpoint("p", { branch_id: "b", type: "read_only" }, { onAccepted });
    expect(made).toMatchObject({ id: project.computes[1]?.id, current_state: "active" });
    expect(accepted).toEqual([made.id]);
    expect(posts(server.seen)).toHaveLength(1);
  });

  test("that made nothing: it is looked for, said so, and not sent again", async () => {
    const { server, client } = await scripted(({ method, path }) => {
      if (method === "POST") return fault;
      if (path.endsWith("/domains")) return { json: { domains: [{ domain: "https://other.test" }] } };
      if (path.endsWith("/oauth_providers")) return { json: { providers: [{ id: "github", type: "shared" }] } };
      if (path.endsWith("/integrations")) return { json: { data: [] } };
      return { json: { endpoints: [{ id: "ep-1", host: "h", branch_id: "b", type: "t", current_state: "idle" }] } };
    });
    const errors = await Promise.all(
      [
        client.createEndpoint("p", { branch_id: "b", type: "t" }),
        client.addOAuthProvider("p", { id: "google" }),
        client.createAuthIntegration("p", { auth_provider: "a", branch_id: "b" }),
        ...(domainIsAdded ? [] : [client.addDomain("p", "https://a.test", "a")]),
      ].map(errorOf),
    );
    for (const error of errors) {
      expect(error).toBeInstanceOf(FateUnknownError);
      expect(String(error)).toContain("was looked for and is not there");
    }
    expect(posts(server.seen)).toHaveLength(errors.length);
  });

  test("that made an integration: its keys are asked for", async () => {
    let made = false;
    const { server, client } = await scripted(({ path }) => {
      if (path === "/projects/auth/create") {
        made = true;
        return fault;
      }
      if (path === "/projects/auth/keys") return { status: 201, json: KEYS };
      const item = { auth_provider: "a", auth_provider_project_id: "x", branch_id: "b" };
      return { json: { data: made ? [item] : [] } };
    });
    await expect(client.createAuthIntegration("p", { auth_provider: "a", branch_id: "b" })).resolves.toEqual(KEYS);
    expect(posts(server.seen)).toEqual(["/projects/auth/create", "/projects/auth/keys"]);
  });

  test("that made an OAuth provider and a domain, seen after a lag: they count as answered", async () => {
    let looks = 0;
    const { server, client } = await scripted(({ method, path }) => {
      if (method === "POST") return fault;
      const late = looks++ > 2;
      if (path.endsWith("/domains")) return { json: { domains: late ? [{ domain: "https://A.test:443/" }] : [] } };
      return { json: { providers: late ? [{ id: "google", type: "standard" }] : [] } };
    }, slowly);
    await expect(client.addOAuthProvider("p", { id: "google" })).resolves.toEqual({ id: "google", type: "standard" });
    looks = 0;
    await client.addDomain("p", "https://a.test", "a");
    expect(posts(server.seen)).toHaveLength(2);
  });

  test("that may have made a user: the error says how to go on", async () => {
    const { server, client } = await scripted(() => fault);
    const error = await errorOf(client.createAuthUser("p", { auth_provider: "a", email: "e@x.test" }));
    expect(error).toBeInstanceOf(FateUnknownError);
    expect(String(error)).toMatch(/users cannot be listed.*Run it again/);
    expect(server.seen).toHaveLength(1);
  });

  test("for keys, for an ownership address, for a wake-up is repeated: it does no harm", async () => {
    const project = new FakeProject();
    project.computes.push({ id: "ep-1", host: "h", branch_id: "b", type: "t", current_state: "idle" });
    const { server, client } = await scripted((request, nth) => {
      // A good status with an odd body will not be better the second time, and is no fault to be repeated.
      if (request.method === "POST" && nth === 1 && !isGood) return fault;
      if (request.path.endsWith("/keys")) return { status: 201, json: KEYS };
      if (request.path.endsWith("/transfer_ownership")) return { json: { url: "https://x.test/t" } };
      return project.script(request, nth);
    });
    await expect(client.createAuthKeys("p", "a")).resolves.toEqual(KEYS);
    await expect(client.transferOwnership("p", "a")).resolves.toEqual({ url: "https://x.test/t" });
    await expect(client.startEndpoint("p", "ep-1")).resolves.toMatchObject({ current_state: "active" });
    expect(posts(server.seen).length).toBeLessThanOrEqual(6);
  });
});

test("what was there before the POST is not taken for its work", async () => {
  const { client } = await scripted(({ method, path }) => {
    if (method === "POST") return { status: 500 };
    if (path.endsWith("/oauth_providers")) return { json: { providers: [{ id: "google", type: "shared" }] } };
    if (path.endsWith("/domains")) return { json: { domains: [{ domain: "https://a.test" }] } };
    return { json: { data: [{ auth_provider: "a", auth_provider_project_id: "x", branch_id: "b" }] } };
  });
  const attempts = [
    client.addOAuthProvider("p", { id: "google" }),
    client.addDomain("p", "https://a.test", "a"),
    client.createAuthIntegration("p", { auth_provider: "a", branch_id: "b" }),
  ];
  for (const attempt of attempts) await expect(attempt).rejects.toBeInstanceOf(FateUnknownError);
});

test("a list handed in as known saves the look before", async () => {
  const { server, client } = await scripted(() => ({ status: 201 }));
  await client.addDomain("p", "https://a.test", "a", { known: [] });
  expect(server.seen).toHaveLength(1);
});

test("a lost answer among siblings that look alike never ends in two claims of one compute", async () => {
  const project = new FakeProject({ operationMs: 400 });
  let posted = 0;
  const { client } = await scripted(async (request, nth) => {
    const reply = await project.script(request, nth);
    if (request.method !== "POST") return reply;
    posted += 1;
    // The third and fifth answers are lost; the others come late, when their computes stand in the list already.
    return posted === 3 || posted === 5 ? { fault: "reset" } : { ...reply, delayMs: 40 };
  });
  const made = await Promise.all(
    Array.from({ length: 8 }, () => client.createEndpoint("p", { branch_id: "b", type: "read_only" })),
  );
  expect(new Set(made.map(({ id }) => id)).size).toBe(8);
  expect(project.computes).toHaveLength(8);
});

test("when the look fails too, the error says that it could not be looked for", async () => {
  const { client } = await scripted(({ method }) => (method === "POST" ? { fault: "reset" } : { status: 403 }));
  const error = await errorOf(client.createEndpoint("p", { branch_id: "b" }, { known: [] }));
  expect(error).toBeInstanceOf(FateUnknownError);
  expect(String(error)).toContain("could not be looked for: the API key does not permit this");
});

describe("a restart whose answer is lost", () => {
  const restart = (tookPlace: boolean, route: boolean): Promise<unknown> => {
    const project = new FakeProject({ operationsRoute: route, operationMs: tookPlace ? 1_500 : 80 });
    project.computes.push({ id: "ep-1", host: "h", branch_id: "b", type: "t", current_state: "active" });
    const script: Script = (request, nth) => {
      if (request.method !== "POST") return project.script(request, nth);
      if (tookPlace) void project.script(request, nth);
      return { fault: "reset" };
    };
    return scripted(script).then(({ client }) => client.restartEndpoint("p", "ep-1"));
  };
  test.each([true, false])("is found by its traces (operations route: %s)", async (route) => {
    await expect(restart(true, route)).resolves.toMatchObject({ id: "ep-1", current_state: "active" });
  });
  test.each([true, false])("is not repeated when it left none (operations route: %s)", async (route) => {
    await expect(restart(false, route)).rejects.toBeInstanceOf(FateUnknownError);
  });
});

test("a PATCH whose first answer was lost waits for the operations that it started, not for those of the repetition", async () => {
  const project = new FakeProject({ operationMs: 250 });
  project.computes.push({ id: "ep-1", host: "h", branch_id: "b", type: "t", current_state: "active" });
  const { client } = await scripted(async (request, nth) => {
    if (request.method !== "PATCH") return project.script(request, nth);
    if (nth > 1) return { json: { endpoint: { ...project.computes[0], pending_state: undefined }, operations: [] } };
    await project.script(request, nth);
    delete project.computes[0]?.pending_state;
    return { fault: "reset" };
  });
  await client.updateEndpoint("p", "ep-1", { pooler_enabled: true });
  expect(project.running).toHaveLength(0);
});
