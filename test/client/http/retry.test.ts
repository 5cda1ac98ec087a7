/** Retries over HTTP: what a connection does to a request, and rules of the whole schedule. Each pause and verdict alone: requests.test.ts. */
import fc from "fast-check";
import {
  BadRequestError,
  BadResponseError,
  ConnectionError,
  Deadline,
  FateUnknownError,
  LockedError,
  NotFoundError,
  RateLimitError,
  ServiceError,
  type SvcError,
  TimeoutError,
} from "../../../src/client";
import { retryAfterMs } from "../../../src/client/http/responses";
import { LONGEST_DELAY_MS, MOST_FAULTS, type FailedAttempts, decideRetry } from "../../../src/client/http/retry";
import { compute, gone } from "../../support/scene";
import { closeAll, errorOf, type Reply, scripted } from "../../support/scriptedServer";
import { PROVEN } from "../../support/proven";

afterEach(closeAll);

const good: Reply = { json: { endpoints: [] } };
const LIST = "GET /projects/p/endpoints";
const DELETE_USER = "DELETE /projects/p/auth/users/u";

describe("a read", () => {
  const faults: [string, Reply][] = [
    ["a reset connection", { fault: "reset" }],
    ["an answer that is cut", { fault: "cut", text: '{"endpoints":' }],
    ["408", { status: 408 }],
    ["423", { status: 423 }],
    ["429", { status: 429 }],
    ["500", { status: 500, json: { message: "oops" } }],
    ["a proxy's 502 page", { status: 502, text: "<html>Bad Gateway</html>", headers: { "content-type": "text/html" } }],
    ["503", { status: 503 }],
    ["504", { status: 504 }],
    ["524", { status: 524 }],
  ];
  test.each(faults)("is repeated after %s", async (_, fault) => {
    const { server, client } = await scripted((_request, nth) => (nth < 3 ? fault : good));
    await expect(client.computes.list("p")).resolves.toEqual([]);
    expect(server.count(LIST)).toBe(3);
  });

  test("is repeated when an attempt takes too long", async () => {
    const script = (_: unknown, nth: number): Reply => (nth === 1 ? { fault: "hang" } : good);
    const { server, client } = await scripted(script, { attemptTimeoutMs: 100 });
    await expect(client.computes.list("p")).resolves.toEqual([]);
    expect(server.count(LIST)).toBeGreaterThanOrEqual(2);
  });

  test.each([400, 401, 403, 404, 409, 412, 422, 501])("is not repeated after %i", async (status) => {
    const { server, client } = await scripted(() => ({ status, json: { code: "no", message: "no" } }));
    await expect(client.computes.list("p")).rejects.toHaveProperty("status", status);
    expect(server.seen).toHaveLength(1);
  });

  test("ends with its deadline when the service never answers", async () => {
    const { client } = await scripted(() => ({ fault: "hang" }), { readDeadlineMs: 200 });
    const error = await errorOf(client.computes.list("p"));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(String(error)).toContain("no response within 0.2 s");
  });

  test("does not follow a redirect", async () => {
    const { server, client } = await scripted(() => ({ status: 302, headers: { location: "/elsewhere" } }));
    await expect(client.computes.list("p")).rejects.toBeInstanceOf(BadResponseError);
    expect(server.seen).toHaveLength(1);
  });

  test("refuses an answer beyond the size limit", async () => {
    const text = JSON.stringify({ endpoints: [], filler: "x".repeat(11 * 1024 * 1024) });
    const { client } = await scripted(() => ({ text }));
    await expect(client.computes.list("p")).rejects.toHaveProperty("reason", "ETOOLONG");
  });
});

test("a connection that is refused is tried again for any method, since nothing was sent", async () => {
  // The port of "discard", which no other process of this machine can be given by chance.
  const { client } = await scripted(() => ({ status: 204 }), { baseUrl: "http://127.0.0.1:9/api/v2" });
  const told: string[] = [];
  const options = { deadline: new Deadline(1_500), onProgress: (text: string) => told.push(text) };
  const error = await errorOf(
    client.auth.createUser("p", { auth_provider: "a", email: "e@x.test" }, { ...options, ...PROVEN }),
  );
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ reason: "ECONNREFUSED", beforeSending: true });
  expect(told[0]).toContain("ECONNREFUSED");
});

test.each<[string, Reply | undefined, RegExp]>([
  ["is refused", undefined, /^retrying: the service cannot be reached at 127\.0\.0\.1:9: ECONNREFUSED, \d+ s$/],
  ["breaks", { fault: "reset" }, /^retrying: the connection to 127\.0\.0\.1:\d+ failed: (ECONNRESET|EPIPE), \d+ s$/],
])("while a connection that %s is tried again, the line names the host", async (_, reply, line) => {
  const options = reply === undefined ? { baseUrl: "http://127.0.0.1:9/api/v2" } : {};
  const { client } = await scripted(() => reply ?? good, { baseDelayMs: 1, ...options });
  const told: string[] = [];
  const error = await errorOf(client.computes.list("p", { onProgress: (text) => told.push(text) }));
  expect(error).toBeInstanceOf(ConnectionError);
  expect(told).toHaveLength(MOST_FAULTS - 1);
  for (const text of told) expect(text).toMatch(line);
});

test("a PATCH that may have taken effect, was locked out then and is refused at last has an unknown fate", async () => {
  const replies: Reply[] = [{ fault: "reset" }, { status: 423 }, { status: 400, json: { code: "", message: "no" } }];
  const { server, client } = await scripted(({ method }, nth) => {
    if (method === "PATCH") return replies[nth - 1] ?? { status: 599 };
    return { json: { endpoints: [compute()], operations: [] } };
  });
  const update = client.computes.update({
    projectId: "p",
    endpointId: "ep-1",
    attributes: { suspend_timeout_seconds: 60 },
    expected: { differing: () => ["size"] },
  });
  const error = await errorOf(update);
  expect(error).toBeInstanceOf(FateUnknownError);
  expect(error).toHaveProperty("status", 400);
  expect(String(error)).toContain("no; an earlier attempt may have taken effect");
  expect(server.count("PATCH /projects/p/endpoints/ep-1")).toBe(3);
});

test("an unknown host is a ConnectionError that names it", async () => {
  const { client } = await scripted(() => good, { baseUrl: "http://nowhere.invalid/api/v2", readDeadlineMs: 3_000 });
  const error = await errorOf(client.computes.list("p"));
  expect(String(error)).toMatch(
    /^ConnectionError: the service cannot be reached at nowhere\.invalid:80: (ENOTFOUND|EAI_AGAIN)/,
  );
});

test.each(["reset", "cut"] as const)(
  "a DELETE is repeated after a %s connection: it does no harm twice",
  async (fault) => {
    const { server, client } = await scripted((_, nth) => (nth === 1 ? { fault } : gone()));
    await client.auth.deleteUser("p", "u", PROVEN);
    expect(server.count(DELETE_USER)).toBe(2);
  },
);

test.each([423, 429])("a POST is sent again after %i, which executed nothing", async (status) => {
  const { server, client } = await scripted((_, nth) => (nth < 4 ? { status } : { status: 201, json: { id: "u1" } }));
  await expect(client.auth.createUser("p", { auth_provider: "a", email: "e@x.test" }, PROVEN)).resolves.toEqual({
    id: "u1",
  });
  expect(server.seen).toHaveLength(4);
});

describe("Retry-After", () => {
  test("is obeyed in seconds", async () => {
    const held: Reply = { status: 429, headers: { "retry-after": "1" } };
    const { server, client } = await scripted((_, nth) => (nth === 1 ? held : good));
    await client.computes.list("p");
    const [first, second] = server.seen;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test("is obeyed as an HTTP date", async () => {
    let until = 0;
    const { server, client } = await scripted((_, nth) => {
      if (nth > 1) return good;
      until = Math.ceil(Date.now() / 1000) * 1000 + 1000;
      return { status: 503, headers: { "retry-after": new Date(until).toUTCString() } };
    });
    await client.computes.list("p");
    expect(server.seen).toHaveLength(2);
    expect(Date.now()).toBeGreaterThanOrEqual(until);
  });

  test("is a date by the service's clock, which may be hours away from ours", async () => {
    const date = new Date(Date.now() - 2 * 3_600_000);
    const until = new Date(date.getTime() + 300_000);
    const headers = { date: date.toUTCString(), "retry-after": until.toUTCString() };
    const { client } = await scripted(() => ({ status: 429, headers }));
    const error = await errorOf(client.computes.list("p", { deadline: new Deadline(1_000) }));
    expect(error).toMatchObject({ retryAfterMs: 300_000 });
  });

  test("is read from any header without harm", () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const ms = retryAfterMs(header, 0);
        expect(ms === undefined || ms >= 0).toBe(true);
      }),
    );
    fc.assert(fc.property(fc.nat(), (seconds) => expect(retryAfterMs(String(seconds), 0)).toBe(seconds * 1000)));
  });
});

describe("the schedule", () => {
  const status = fc.constantFrom(408, 423, 429, 500, 502, 503, 504, 524);
  const errorFor = (code: number, wait?: number): SvcError => {
    const facts = { status: code, retryAfterMs: wait };
    if (code === 408) return new TimeoutError("x", facts);
    if (code === 423) return new LockedError("x", facts);
    if (code === 429) return new RateLimitError("x", facts);
    return new ServiceError("x", facts);
  };
  const tried = fc.record({
    error: fc
      .tuple(status, fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined }))
      .map((pair) => errorFor(...pair)),
    repeatable: fc.boolean(),
    attempts: fc.integer({ min: 1, max: 100_000 }),
    faults: fc.integer({ min: 0, max: 50 }),
    remainingMs: fc.integer({ min: 0, max: 700_000 }),
    baseDelayMs: fc.integer({ min: 1, max: 1_000 }),
    random: fc.double({ min: 0, max: 0.999999, noNaN: true }),
  });

  test("never waits past the deadline, nor longer than the ceiling beyond what the service asked for", () => {
    fc.assert(
      fc.property(tried, (state: FailedAttempts) => {
        const verdict = decideRetry(state);
        if (!verdict.retry) return;
        const asked = state.error.retryAfterMs ?? 0;
        expect(verdict.delayMs).toBeGreaterThanOrEqual(asked);
        expect(verdict.delayMs).toBeLessThan(state.remainingMs);
        expect(verdict.delayMs - asked).toBeLessThanOrEqual(LONGEST_DELAY_MS);
      }),
    );
  });

  test("never repeats a POST after a fault, whatever else is the case", () => {
    fc.assert(
      fc.property(tried, (state: FailedAttempts) => {
        const unclear = state.error.status !== 423 && state.error.status !== 429;
        const verdict = decideRetry({ ...state, repeatable: false });
        if (unclear) expect(verdict).toEqual({ retry: false, because: "unknown-fate" });
        else expect(verdict).not.toMatchObject({ because: "unknown-fate" });
      }),
    );
  });

  test("spreads over the whole span: full jitter", () => {
    const at = (random: number): unknown =>
      decideRetry({
        error: errorFor(500),
        repeatable: true,
        attempts: 3,
        faults: 3,
        remainingMs: 60_000,
        baseDelayMs: 100,
        random,
      });
    expect(at(0)).toEqual({ retry: true, delayMs: 0 });
    expect(at(0.5)).toEqual({ retry: true, delayMs: 200 });
  });

  test("ends for faults, and only with the deadline for locks and limits", () => {
    fc.assert(
      fc.property(tried, (state: FailedAttempts) => {
        const verdict = decideRetry({ ...state, repeatable: true, faults: MOST_FAULTS, remainingMs: 1e9 });
        const throttled = state.error instanceof LockedError || state.error instanceof RateLimitError;
        expect(verdict.retry).toBe(throttled);
      }),
    );
  });

  test("refusals are never repeated", () => {
    for (const refusal of [new BadRequestError("x", { status: 400 }), new NotFoundError("x", { status: 404 })]) {
      const state = { repeatable: true, attempts: 1, faults: 1, remainingMs: 1e6, baseDelayMs: 10, random: 0.5 };
      expect(decideRetry({ ...state, error: refusal })).toEqual({ retry: false, because: "refused" });
    }
  });
});

test("requests that may be repeated share a connection, a POST has its own", async () => {
  const { server, client } = await scripted((request) =>
    request.method === "POST" ? { status: 201, json: { id: "u" } } : { json: { endpoints: [] } },
  );
  for (let i = 0; i < 3; i += 1) await client.computes.list("p", { since: performance.now() });
  expect(server.connections()).toBe(1);
  await client.auth.createUser("p", { auth_provider: "a", email: "e@x.test" }, PROVEN);
  expect(server.connections()).toBe(2);
});
