/** Changes whose response says nothing, route by route through the whole client, in memory. What is claimed: createRecovery.test.ts. */
import { type AuthIntegrationRecord, type EndpointRecord, FateUnknownError, LockedError } from "../../src/client";
import { ANY, addDomain, addOAuthProvider, createCompute, like } from "../support/creating";
import { FakeProject } from "../support/fakeProject";
import { skippingClock } from "../support/fakeClock";
import { errorOf, type Reply, inMemory, type Script, type Seen } from "../support/scriptedServer";
import { PROVEN } from "../support/proven";

skippingClock();

const unclear: [string, Reply][] = [
  ["a reset", { fault: "reset" }],
  ["a cut answer", { fault: "cut", status: 201, text: '{"id' }],
  ["500", { status: 500 }],
  ["501", { status: 501, json: { code: "", message: "not implemented" } }],
  ["a redirect", { status: 303, headers: { location: "https://login.example.com/" } }],
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

const INTEGRATION = { auth_provider: "a", branch_id: "b" };
const ITEM: AuthIntegrationRecord = { ...INTEGRATION, auth_provider_project_id: "x" };

describe.each(unclear)("a POST after %s", (_, fault) => {
  const isGood = fault.fault === undefined && (fault.status ?? 0) < 300;
  // Accepted without a word: then the effect is read.
  const isEmpty = isGood && fault.text === undefined && fault.json === undefined;

  test("that made a compute: it is found and waited for", async () => {
    const project = new FakeProject();
    project.computes.push({ id: "ep-old", host: "h", branch_id: "b", type: "read_only", current_state: "active" });
    let lost = 0;
    const { server, client } = inMemory((request, nth) => {
      const reply = project.script(request, nth);
      return request.method === "POST" && lost++ === 0 ? fault : reply;
    });
    const accepted: string[] = [];
    const onAccepted = ({ id }: { id: string }): void => void accepted.push(id);
    let found = 0;
    const request = { branch_id: "b", type: "read_only" };
    const how = like<EndpointRecord>(request, () => void (found += 1));
    const made = await client.computes.create(
      { projectId: "p", attributes: request, recovery: how, expected: ANY },
      { onAccepted },
    );
    expect(made).toMatchObject({ id: project.computes[1]?.id, current_state: "active" });
    expect(accepted).toEqual([made.id]);
    expect(found).toBe(isEmpty ? 0 : 1);
    expect(posts(server.seen)).toHaveLength(1);
  });

  test("that made nothing: it is looked for, said so, and not sent again", async () => {
    const { server, client } = inMemory(({ method, path }) => {
      if (method === "POST") return fault;
      if (path.endsWith("/domains")) return { json: { domains: [{ domain: "https://other.test" }] } };
      if (path.endsWith("/oauth_providers")) return { json: { providers: [{ id: "github", type: "shared" }] } };
      if (path.endsWith("/integrations")) return { json: { data: [] } };
      return { json: { endpoints: [{ id: "ep-1", host: "h", branch_id: "b", type: "t", current_state: "idle" }] } };
    });
    const errors = await Promise.all(
      [
        createCompute(client, "p", { branch_id: "new", type: "t" }),
        addOAuthProvider(client, { id: "google" }),
        addDomain(client, "https://a.test"),
        // Its keys are asked for where it was accepted without a word.
        ...(isEmpty
          ? []
          : [client.auth.createIntegration({ projectId: "p", body: INTEGRATION, recovery: like(INTEGRATION) })]),
      ].map(errorOf),
    );
    for (const error of errors) {
      expect(error).toBeInstanceOf(FateUnknownError);
      expect(String(error)).toMatch(
        isEmpty ? /was answered with an empty response|the service accepted/ : /a later check did not find/,
      );
      expect(String(error)).toMatch(/a later check did not find|does not list/);
    }
    expect(posts(server.seen)).toHaveLength(errors.length);
  });

  test("that made an integration: its keys are asked for", async () => {
    let made = false;
    const { server, client } = inMemory(({ path }) => {
      if (path === "/projects/auth/create") {
        made = true;
        return fault;
      }
      if (path === "/projects/auth/keys") return { status: 201, json: KEYS };
      return { json: { data: made ? [ITEM] : [] } };
    });
    await expect(
      client.auth.createIntegration({ projectId: "p", body: INTEGRATION, recovery: like(INTEGRATION) }),
    ).resolves.toEqual(KEYS);
    expect(posts(server.seen)).toEqual(["/projects/auth/create", "/projects/auth/keys"]);
  });

  test("that made an OAuth provider and a domain, seen after a lag: they count as answered", async () => {
    let postedAt = Number.POSITIVE_INFINITY;
    const lagMs = 300;
    const { server, client } = inMemory(
      ({ method, path }) => {
        if (method === "POST") {
          postedAt = performance.now();
          return fault;
        }
        const late = performance.now() - postedAt > lagMs / 2;
        if (path.endsWith("/domains")) return { json: { domains: late ? [{ domain: "https://A.test:443/" }] : [] } };
        return { json: { providers: late ? [{ id: "google", type: "standard" }] : [] } };
      },
      { lagMs },
    );
    const provider = addOAuthProvider(client, { id: "google" });
    await expect(provider).resolves.toEqual({ id: "google", type: "standard" });
    postedAt = Number.POSITIVE_INFINITY;
    await addDomain(client, "https://a.test");
    expect(posts(server.seen)).toHaveLength(2);
  });

  test("that may have made a user: the error says how to go on", async () => {
    const { server, client } = inMemory(() => fault);
    const error = await errorOf(client.auth.createUser("p", { auth_provider: "a", email: "e@x.test" }, PROVEN));
    expect(error).toBeInstanceOf(FateUnknownError);
    expect(String(error)).toMatch(/users cannot be listed.*Run pulumi up again/);
    expect(server.seen).toHaveLength(1);
  });

  test("for keys, for an ownership address, for a wake-up is repeated: it does no harm", async () => {
    const project = new FakeProject();
    project.computes.push({ id: "ep-1", host: "h", branch_id: "b", type: "t", current_state: "idle" });
    const { server, client } = inMemory((request, nth) => {
      // These will not be better the second time.
      const stays = isGood || fault.status === 501 || fault.status === 303;
      if (request.method === "POST" && nth === 1 && !stays) return fault;
      if (request.path.endsWith("/keys")) return { status: 201, json: KEYS };
      if (request.path.endsWith("/transfer_ownership")) return { json: { url: "https://x.test/t" } };
      return project.script(request, nth);
    });
    await expect(client.auth.createKeys("p", "a", PROVEN)).resolves.toEqual(KEYS);
    await expect(client.auth.transferOwnership("p", "a", PROVEN)).resolves.toEqual({ url: "https://x.test/t" });
    await expect(client.computes.start("p", "ep-1")).resolves.toMatchObject({ current_state: "active" });
    expect(posts(server.seen).length).toBeLessThanOrEqual(6);
  });
});

test("that list is read again before each attempt", async () => {
  const { server, client } = inMemory(({ method }, nth) => {
    if (method === "POST") return nth < 3 ? { status: 429 } : { status: 201, json: { id: "google", type: "shared" } };
    return { json: { providers: [] } };
  });
  await addOAuthProvider(client, { id: "google" });
  expect(server.seen.map(({ method }) => method).join()).toBe("GET,POST,GET,POST,GET,POST");
});

describe("of an object that no list showed before the POST whose answer was lost", () => {
  /** The service's clock is an hour ahead. */
  const serviceNow = (): number => Date.now() + 3_600_000;
  const madeBefore = async (createdAt: (leftAt: number) => string | undefined, hasClock = true): Promise<unknown> => {
    let created_at: string | undefined;
    let posted = false;
    const { client } = inMemory(({ method }) => {
      const headers = { date: hasClock ? new Date(serviceNow()).toUTCString() : "" };
      if (method === "POST") {
        posted = true;
        created_at = createdAt(serviceNow());
        return { status: 502, headers };
      }
      const item = { id: "ep-1", host: "h", branch_id: "b", type: "t", current_state: "active", created_at };
      return { headers, json: { endpoints: posted ? [item] : [], operations: [] } };
    });
    const how = { ...like<EndpointRecord>({ branch_id: "b" }), describe: ({ id }: EndpointRecord) => id };
    return client.computes
      .create({ projectId: "p", attributes: { branch_id: "b" }, recovery: how, expected: ANY })
      .catch(String);
  };
  const iso = (time: number): string => new Date(time).toISOString();

  test("one that is older than the POST by the service's clock is named and not claimed", async () => {
    const error = await madeBefore((leftAt) => iso(leftAt - 3_000));
    expect(error).toContain("may or may not be the result: ep-1, which is older than this request (POST");
  });
  test("one that was made when it left is claimed, also where its time is told in whole seconds", async () => {
    const found = { id: "ep-1" };
    await expect(madeBefore(iso)).resolves.toMatchObject(found);
    const whole = (leftAt: number): string => iso(Math.floor(leftAt / 1_000) * 1_000);
    await expect(madeBefore(whole)).resolves.toMatchObject(found);
  });
  test("one without a time, or at a service without a clock, is claimed", async () => {
    await expect(madeBefore(() => undefined)).resolves.toMatchObject({ id: "ep-1" });
    await expect(madeBefore((leftAt) => iso(leftAt - 3_000), false)).resolves.toMatchObject({ id: "ep-1" });
  });
});

test("two computes that are accepted without a word are two, also beside one that was there", async () => {
  const project = new FakeProject({ operationMs: 100 });
  project.computes.push({ id: "ep-old", host: "h", branch_id: "b", type: "read_only", current_state: "active" });
  const { client } = inMemory((request, nth) => {
    const reply = project.script(request, nth);
    return request.method === "POST" ? { status: 201 } : reply;
  });
  const made = await Promise.all([1, 2].map(() => createCompute(client, "p", { branch_id: "b", type: "read_only" })));
  expect(made.map(({ id }) => id).sort()).toEqual(
    project.computes
      .slice(1)
      .map(({ id }) => id)
      .sort(),
  );
});

test("a lost answer among siblings that look alike never ends in two claims of one compute", async () => {
  const project = new FakeProject({ operationMs: 400 });
  let posted = 0;
  const { client } = inMemory(async (request, nth) => {
    const reply = await project.script(request, nth);
    if (request.method !== "POST") return reply;
    posted += 1;
    // The third and fifth responses are lost; the others arrive late, when their computes are listed already.
    return posted === 3 || posted === 5 ? { fault: "reset" } : { ...reply, delayMs: 40 };
  });
  const made = await Promise.all(
    Array.from({ length: 8 }, () => createCompute(client, "p", { branch_id: "b", type: "read_only" })),
  );
  expect(new Set(made.map(({ id }) => id)).size).toBe(8);
  expect(project.computes).toHaveLength(8);
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
    return inMemory(script).client.computes.restart("p", "ep-1");
  };
  test("is found by its operations", async () => {
    await expect(restart(true, true)).resolves.toMatchObject({ id: "ep-1", current_state: "active" });
  });
  test("is not repeated when it left none", async () => {
    const error = await errorOf(restart(false, true));
    expect(error).toBeInstanceOf(FateUnknownError);
    expect(String(error)).toMatch(/the list of operations does not show the restart.*Run pulumi up again/);
  });
  test.each([true, false])("stays open on a service without operations route (it took place: %s)", async (took) => {
    const error = await errorOf(restart(took, false));
    expect(error).toBeInstanceOf(FateUnknownError);
    expect(String(error)).toContain("without a list of operations the restart cannot be confirmed");
  });
  test("is not sent again when its operations are locked for longer than a read waits", async () => {
    const project = new FakeProject();
    project.computes.push({ id: "ep-1", host: "h", branch_id: "b", type: "t", current_state: "active" });
    let lostAt = Number.NaN;
    const { client, server } = inMemory((request, nth) => {
      if (request.method === "POST") {
        lostAt = performance.now();
        return { fault: "reset" };
      }
      return performance.now() - lostAt < 155_000 ? { status: 423 } : project.script(request, nth);
    });
    const error = await errorOf(client.computes.restart("p", "ep-1"));
    expect(error).toBeInstanceOf(LockedError);
    expect(posts(server.seen)).toEqual(["/projects/p/endpoints/ep-1/restart"]);
  });
});

test("a PATCH whose first answer was lost waits for the operations that it started, not for those of the repetition", async () => {
  const project = new FakeProject({ operationMs: 250 });
  project.computes.push({ id: "ep-1", host: "h", branch_id: "b", type: "t", current_state: "active" });
  const { client } = inMemory(async (request, nth) => {
    if (request.method !== "PATCH") return project.script(request, nth);
    if (nth > 1) return { json: { endpoint: { ...project.computes[0], pending_state: undefined }, operations: [] } };
    await project.script(request, nth);
    delete project.computes[0]?.pending_state;
    return { fault: "reset" };
  });
  await client.computes.update({
    projectId: "p",
    endpointId: "ep-1",
    attributes: { pooler_enabled: true },
    expected: ANY,
  });
  expect(project.running).toHaveLength(0);
});

describe("a PATCH that is answered with another shape", () => {
  const patched = (isShown: boolean): Promise<unknown> => {
    const project = new FakeProject();
    project.computes.push({ id: "ep-1", host: "h", branch_id: "b", type: "t", current_state: "active" });
    const script: Script = (request, nth) =>
      request.method === "PATCH"
        ? { json: { code: "internal", message: "nothing was executed" } }
        : project.script(request, nth);
    return inMemory(script).client.computes.update({
      projectId: "p",
      endpointId: "ep-1",
      attributes: {},
      expected: { differing: () => (isShown ? [] : ["size"]) },
    });
  };
  test("is done where the record shows what was sent", async () => {
    await expect(patched(true)).resolves.toMatchObject({ id: "ep-1" });
  });
  test("fails in the words of the service where it does not", async () => {
    expect(String(await errorOf(patched(false)))).toMatch(/^FateUnknownError: .*nothing was executed/);
  });
});
