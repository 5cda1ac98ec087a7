import { z } from "zod";
import {
  AuthenticationError,
  BadRequestError,
  BadResponseError,
  ConflictError,
  ConnectionError,
  Deadline,
  FateUnknownError,
  LockedError,
  NotFoundError,
  NotStartingError,
  OperationFailedError,
  PermissionError,
  RateLimitError,
  ServiceError,
  SvcError,
  TimeoutError,
  WaitTimeoutError,
} from "../../../src/client";
import { ApiKey } from "../../../src/client/http/apiKey";
import { Redactor } from "../../../src/client/http/redact";
import type { Request } from "../../../src/client/http/request";
import { Requests } from "../../../src/client/http/requests";
import { decideRetry, mayHaveTakenEffect, MOST_FAULTS, whatHappened } from "../../../src/client/http/retry";
import type { RequestBudget, RequestKind } from "../../../src/client/http/requestBudget";
import { type Attempt, type RawResponse, TOO_LONG, type Transport } from "../../../src/client/http/transport";
import type { ClientTimings } from "../../../src/client/clientOptions";
import { fakeClock, pass } from "../../support/fakeClock";
import { errorOf } from "../../support/scriptedServer";

// Requests alone, their attempts, pauses and verdicts: with a network that answers what the test says, on a clock that only the tests move.
fakeClock({ random: 0.5 });

const MINUTE = 60_000;
const settings = {
  attemptTimeoutMs: 10_000,
  mutationAttemptTimeoutMs: MINUTE,
  throttledMs: 120_000,
  baseDelayMs: 200,
} as ClientTimings;
const PROJECT = "/projects/{project_id}/things";
const FACTS = { method: "GET", path: PROJECT };

const raw = (status: number, body: unknown = "", more: Partial<RawResponse> = {}): RawResponse => ({
  status,
  text: typeof body === "string" ? body : JSON.stringify(body),
  contentType: "application/json",
  retryAfter: undefined,
  requestId: undefined,
  date: undefined,
  location: undefined,
  ...more,
});
const refusal = (status: number): RawResponse => raw(status, { code: "no", message: "not today" });
const good = raw(200, { name: "thing" });
const schema = z.looseObject({ name: z.string() });
const reset = (): Error => new ConnectionError("the connection failed: ECONNRESET", { ...FACTS, reason: "ECONNRESET" });
const refusedConnection = (): Error =>
  new ConnectionError("cannot be reached: ECONNREFUSED", { ...FACTS, reason: "ECONNREFUSED", beforeSending: true });
const timedOut = (): Error => new TimeoutError("no complete response within 10 s", FACTS);

interface Sent extends Pick<Attempt, "path" | "timeoutMs" | "repeatable"> {
  at: number;
}

/** `answer`: to the nth attempt, after `tookMs`. */
function network(
  answer: (nth: number) => RawResponse | Error,
  { tookMs = 0, share = {} as Partial<RequestBudget> } = {},
) {
  const began = performance.now();
  const sent: Sent[] = [];
  let places = 0;
  const kinds: RequestKind[] = [];
  const place = {
    leave: () => () => void (places -= 1),
    release: () => void (places -= 1),
  };
  const take = (kind: RequestKind) => {
    places += 1;
    kinds.push(kind);
    return place;
  };
  const transport = {
    where: "service.example:443",
    send: async ({ path, timeoutMs, repeatable }: Attempt): Promise<RawResponse> => {
      sent.push({ path, timeoutMs, repeatable, at: performance.now() - began });
      const reply = answer(sent.length);
      if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs));
      if (reply instanceof Error) throw reply;
      return reply;
    },
  };
  const wait = async (kind: RequestKind) => take(kind);
  const budget = { take, wait, progressText: "waiting for the share", ...share } as RequestBudget;
  const context = { key: new ApiKey("test-key"), redactor: new Redactor("test-key"), settings, budget };
  const requests = new Requests(transport as unknown as Transport, context);
  return {
    requests,
    sent,
    kinds,
    place,
    /** Those that are taken and not free again. */
    places: () => places,
    pauses: () => sent.map(({ at }, i) => at - (sent[i - 1]?.at ?? 0)).slice(1),
  };
}

/** Only gate.ts makes a deletion, but what becomes of a request does not depend on that. */
type AnyRequest = Omit<Request, "method"> & Pick<Attempt, "method">;

const get = (more: Partial<AnyRequest> = {}): Request => {
  const request: AnyRequest = {
    method: "GET",
    template: PROJECT,
    params: { project_id: "prj-1" },
    deadline: new Deadline(MINUTE),
    ...more,
  };
  return request as Request;
};

/** Its end, with the time that it takes passing. */
async function endOf<T>(work: Promise<T>, ms = 10 * MINUTE): Promise<unknown> {
  const end = work.then(
    (value) => value,
    (error: unknown) => error,
  );
  await pass(ms);
  return end;
}

describe("the time of an attempt", () => {
  test.each<[string, Partial<AnyRequest>, number, number]>([
    ["a read", {}, MINUTE, 10_000],
    ["a read with less time left", {}, 4_000, 4_000],
    ["a change", { method: "PATCH" }, 10 * MINUTE, MINUTE],
    ["a change with less time left", { method: "DELETE" }, 4_000, 4_000],
    // Cut short, its fate would be unknown.
    ["what must not be sent twice", { method: "POST" }, 4_000, MINUTE],
    ["a POST that does no harm twice", { method: "POST", repeatable: true }, 4_000, 4_000],
  ])("of %s", async (_, request, leftMs, timeoutMs) => {
    const { requests, sent } = network(() => good);
    await requests.read(get({ ...request, deadline: new Deadline(leftMs) }), schema);
    const repeatable = request.repeatable ?? request.method !== "POST";
    expect(sent).toEqual([{ path: "/projects/prj-1/things", timeoutMs, repeatable, at: 0 }]);
  });

  test("nothing is sent of a body that holds a reference in place of a value", async () => {
    const { requests, sent } = network(() => good);
    const body = { endpoint: { settings: { pg_settings: { "app.token": { fromEnv: "TOKEN" } } } } };
    const error = await errorOf(requests.send(get({ method: "PATCH", body }), schema));
    expect(String(error)).toContain(
      "endpoint.settings.pg_settings.app.token is a reference without a value: nothing was sent",
    );
    expect(sent).toEqual([]);
  });

  test("nothing is sent where the deadline has passed", async () => {
    const { requests, sent, places } = network(() => good);
    const deadline = new Deadline(1_000);
    await pass(1_000);
    const error = await errorOf(requests.read(get({ deadline }), schema));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(String(error)).toBe("TimeoutError: no response within 1 s (GET /projects/{project_id}/things)");
    expect(error).toMatchObject({ deadlineMs: 1_000 });
    expect([sent, places()]).toEqual([[], 0]);
  });

  test("an attempt that the deadline cut short says less than the error before it", async () => {
    const { requests } = network((nth) => (nth === 1 ? raw(500) : timedOut()), { tookMs: 100 });
    const error = await endOf(requests.read(get({ deadline: new Deadline(1_000) }), schema));
    expect(String(error)).toBe(
      "ServiceError: the service failed; still failing after 1 s (GET /projects/{project_id}/things -> 500)",
    );
    const { requests: patient } = network((nth) => (nth === 1 ? raw(500) : timedOut()));
    const other = await endOf(patient.read(get({ deadline: new Deadline(30_000), retry: true }), schema));
    expect(String(other)).toContain("no complete response within 10 s");
    // The service's own message is not such an attempt.
    const { requests: told } = network(() => raw(408));
    const own = await endOf(told.read(get({ deadline: new Deadline(1_000), retry: false }), schema));
    expect(String(own)).toContain("the service timed out waiting for the request");
  });
});

describe("a read", () => {
  test("is repeated after growing pauses, each reported with its reason and the time", async () => {
    const { requests, pauses } = network((nth) => (nth < 8 ? raw(503) : good));
    const told: string[] = [];
    const value = await endOf(requests.read(get({ onProgress: (text) => told.push(text) }), schema));
    expect(value).toEqual({ name: "thing" });
    expect(pauses()).toEqual([100, 200, 400, 800, 1_600, 2_500, 2_500]);
    expect(told).toHaveLength(7);
    expect([told[0], told[6]]).toEqual(["retrying: the service failed, 0 s", "retrying: the service failed, 6 s"]);
  });

  test("gives up after a number of faults, with the last one", async () => {
    const { requests, sent } = network((nth) => (nth === MOST_FAULTS ? raw(502) : reset()));
    const error = await endOf(requests.read(get(), schema));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toHaveProperty("status", 502);
    expect(sent).toHaveLength(MOST_FAULTS);
  });

  test("is held off for two minutes beside its deadline, which stands still for who asks", async () => {
    const { requests, sent } = network((nth) => raw(429, "", { retryAfter: nth === 5 ? "0" : "30" }));
    const deadline = new Deadline(MINUTE);
    const told: string[] = [];
    const held: string[] = [];
    const onThrottled = (): (() => void) => {
      held.push("held");
      const resume = deadline.pause();
      return () => {
        held.push("on");
        resume();
      };
    };
    const error = await endOf(
      requests.read(get({ deadline, onThrottled: onThrottled, onProgress: (text) => told.push(text) }), schema),
      90_500,
    );
    // 90.5 s are gone: the fourth pause would be longer than what is left.
    expect(String(error)).toContain("too many requests; the service asks to wait 30 s, more than the 29.5 s left");
    expect(error).toMatchObject({ status: 429, deadlineMs: 120_000 });
    expect([sent.length, held.join(" ")]).toEqual([4, "held on held on held on"]);
    expect(told[1]).toBe("the service asks to wait: too many requests, 30 s");
    expect(deadline.remainingMs()).toBe(MINUTE);
  });

  test("does not count limits and locks among its faults", async () => {
    const { requests, sent } = network((nth) => {
      if (nth <= 2 * MOST_FAULTS) return raw(nth % 2 === 0 ? 429 : 423);
      return nth === 2 * MOST_FAULTS + 1 ? raw(500) : good;
    });
    expect(await endOf(requests.read(get(), schema))).toEqual({ name: "thing" });
    expect(sent).toHaveLength(2 * MOST_FAULTS + 2);
  });

  test("that is one attempt only throws what it ended with", async () => {
    for (const reply of [raw(503), raw(429), reset()]) {
      const { requests, sent } = network(() => reply);
      const errors: SvcError[] = [];
      const error = await endOf(requests.read(get({ retry: false, onError: (one) => void errors.push(one) }), schema));
      expect(error).toBeInstanceOf(SvcError);
      expect(String(error)).not.toContain("still failing");
      expect([errors, sent.length]).toEqual([[error], 1]);
    }
  });

  test("wants a body, and the route's own", async () => {
    const empty = await endOf(network(() => raw(200)).requests.read(get(), schema));
    expect(empty).toBeInstanceOf(BadResponseError);
    expect(String(empty)).toBe("BadResponseError: the response is empty (GET /projects/{project_id}/things)");
    const { requests, sent } = network(() => raw(200, { nome: "thing" }));
    const other = await endOf(requests.read(get(), schema));
    expect(other).toBeInstanceOf(BadResponseError);
    expect(other).not.toBeInstanceOf(FateUnknownError);
    expect(sent).toHaveLength(1);
  });

  test("lets what is no error of the service pass", async () => {
    const defect = new TypeError("x is not a function");
    const { requests, sent } = network(() => defect);
    expect(await endOf(requests.read(get(), schema))).toBe(defect);
    expect(sent).toHaveLength(1);
  });
});

describe("a change", () => {
  const patch = (more: Partial<AnyRequest> = {}): Request => get({ method: "PATCH", body: { name: "x" }, ...more });

  test("says whether an earlier attempt may have taken effect", async () => {
    const outcome = async (first: RawResponse | Error): Promise<unknown> =>
      endOf(network((nth) => (nth === 1 ? first : good)).requests.send(patch(), schema));
    expect(await outcome(good)).toEqual({ value: { name: "thing" }, repeated: false });
    expect(await outcome(refusedConnection())).toEqual({ value: { name: "thing" }, repeated: false });
    expect(await outcome(raw(429))).toEqual({ value: { name: "thing" }, repeated: false });
    expect(await outcome(raw(500))).toEqual({ value: { name: "thing" }, repeated: true });
    expect(await outcome(reset())).toEqual({ value: { name: "thing" }, repeated: true });
    expect(await endOf(network(() => raw(204)).requests.send(patch()))).toEqual({ repeated: false });
  });

  test("shares that with its later repetitions", async () => {
    const fate = { open: false };
    const locked = network((nth) => (nth === 1 ? reset() : raw(423)));
    const first = await endOf(locked.requests.send(patch({ fate, retryLocked: false }), schema));
    expect(first).toBeInstanceOf(LockedError);
    expect([fate.open, locked.sent.length]).toEqual([true, 2]);
    expect(await endOf(network(() => good).requests.send(patch({ fate }), schema))).toMatchObject({ repeated: true });
    const untouched = { open: false };
    await endOf(network(() => raw(423)).requests.send(patch({ fate: untouched, retryLocked: false }), schema));
    expect(untouched.open).toBe(false);
  });

  test("that is locked out is for a queue to deal with, or sent again", async () => {
    const answer = (nth: number): RawResponse => (nth < 3 ? raw(423) : good);
    const queued = network(answer);
    expect(await endOf(queued.requests.send(patch({ retryLocked: false }), schema))).toBeInstanceOf(LockedError);
    expect(queued.sent).toHaveLength(1);
    const alone = network(answer);
    expect(await endOf(alone.requests.send(patch(), schema))).toMatchObject({ repeated: false });
    expect(alone.sent).toHaveLength(3);
    const limited = network((nth) => (nth < 3 ? raw(429) : good));
    expect(await endOf(limited.requests.send(patch({ retryLocked: false }), schema))).toMatchObject({
      repeated: false,
    });
  });

  test("is held off at the expense of its deadline", async () => {
    const { requests } = network(() => raw(429, "", { retryAfter: "20" }));
    const held: string[] = [];
    const told: string[] = [];
    const onThrottled = () => () => void held.push("held");
    const error = await endOf(
      requests.send(patch({ onThrottled: onThrottled, onProgress: (text) => told.push(text) }), schema),
    );
    expect(String(error)).toContain("the service asks to wait 20 s, more than the 19.7 s left");
    expect(error).toMatchObject({ deadlineMs: MINUTE });
    expect(held).toEqual([]);
    expect(told[0]).toBe("retrying: too many requests, 0 s");
  });

  test("ends with its deadline, with the last reason", async () => {
    const { requests } = network(() => raw(503));
    const error = await endOf(requests.send(patch({ deadline: new Deadline(2_000) }), schema));
    expect(error).toBeInstanceOf(ServiceError);
    expect(String(error)).toContain("the service failed; still failing after 2 s");
    expect(error).toMatchObject({ status: 503, deadlineMs: 2_000 });
  });

  test.each<[string, Partial<AnyRequest>, number, typeof SvcError]>([
    ["PATCH that is refused", { method: "PATCH" }, 400, FateUnknownError],
    ["PATCH of what is gone", { method: "PATCH" }, 404, NotFoundError],
    ["DELETE that is refused", { method: "DELETE" }, 400, BadRequestError],
  ])("after an attempt that may have taken effect, a %s", async (_, request, status, kind) => {
    const { requests } = network((nth) => (nth === 1 ? reset() : refusal(status)));
    const error = await endOf(requests.send(patch(request), schema));
    expect(error).toBeInstanceOf(kind);
    expect((error as SvcError).constructor).toBe(kind);
    if (kind === FateUnknownError)
      expect(String(error)).toContain("not today; an earlier attempt may have taken effect (");
    const { requests: first } = network(() => refusal(status));
    expect(await endOf(first.send(patch(request), schema))).not.toBeInstanceOf(FateUnknownError);
  });

  test.each<[string, RawResponse | Error]>([
    ["that was not sent", refusedConnection()],
    ["that was throttled", raw(429)],
  ])("that the deadline cuts short may have taken effect, also after an attempt %s", async (_, first) => {
    const { requests } = network((nth) => (nth === 1 ? first : timedOut()), { tookMs: 100 });
    const error = await endOf(requests.send(patch({ deadline: new Deadline(1_000) }), schema));
    expect(String(error)).toContain("; still failing after 1 s; an earlier attempt may have taken effect (");
    expect(mayHaveTakenEffect(error)).toBe(true);
  });

  test("that was throttled after such an attempt, until the deadline had passed, may have taken effect", async () => {
    const { requests } = network((nth) => (nth === 1 ? reset() : raw(429, "", { retryAfter: "1" })));
    const deadline = new Deadline(5_000);
    const sent = errorOf(requests.send(patch({ deadline }), schema));
    await pass(900);
    // The machine was busy, or asleep.
    jest.spyOn(deadline, "expired", "get").mockReturnValue(true);
    await pass(600);
    expect(mayHaveTakenEffect(await sent)).toBe(true);
  });

  test("that fails to the end after such an attempt keeps its own last error", async () => {
    const { requests } = network(() => raw(500));
    expect(await endOf(requests.send(patch(), schema))).toBeInstanceOf(ServiceError);
  });

  test("that must not be sent twice has an unknown fate once it may have taken effect", async () => {
    for (const reply of [raw(500), reset(), timedOut(), raw(200, "<html>"), raw(201, { nome: 1 })]) {
      const { requests, sent } = network(() => reply);
      const error = await endOf(requests.send(patch({ method: "POST" }), schema));
      expect(error).toBeInstanceOf(FateUnknownError);
      expect(String(error)).toContain("; the request may have taken effect");
      expect(sent).toHaveLength(1);
    }
    const { requests, sent } = network((nth) => (nth < 3 ? refusedConnection() : good));
    expect(await endOf(requests.send(patch({ method: "POST" }), schema))).toMatchObject({ repeated: false });
    expect(sent).toHaveLength(3);
  });

  test("reports the tick in which it leaves, and each error", async () => {
    const { requests, sent } = network((nth) => (nth < 3 ? raw(500) : good));
    const events: string[] = [];
    const work = requests.send(
      patch({
        onSend: () => events.push(`send ${sent.length}`),
        onError: ({ status }) => events.push(String(status)),
      }),
      schema,
    );
    await endOf(work);
    expect(events).toEqual(["send 0", "500", "send 1", "500", "send 2"]);
  });
});

describe("a place in the share of the rate", () => {
  test("is taken for each attempt, by kind, and free again with its answer", async () => {
    const { requests, kinds, places } = network((nth) => (nth === 1 ? raw(503) : good));
    await endOf(requests.read(get(), schema));
    await endOf(requests.send(get({ method: "DELETE" }), schema));
    await endOf(requests.send(get({ method: "POST", beforeAttempt: () => undefined }), schema));
    expect(kinds).toEqual(["read", "read", "change", "proven"]);
    expect(places()).toBe(0);
  });

  test("is given back where what comes before the attempt fails, or takes too long", async () => {
    const { requests, sent, places } = network(() => good);
    const reason = new Error("it is there already");
    const create = (beforeAttempt: () => Promise<void>, deadline = new Deadline(MINUTE)): Promise<unknown> =>
      endOf(requests.send(get({ method: "POST", beforeAttempt, deadline }), schema));
    expect(await create(async () => Promise.reject(reason))).toBe(reason);
    const late = await create(async () => void (await pass(1_500)), new Deadline(1_000));
    expect(String(late)).toContain("no response within 1 s");
    expect([sent, places()]).toEqual([[], 0]);
  });

  test("is waited for at nobody's expense, which is shown after a second", async () => {
    let enter = (): void => undefined;
    const wait = () => new Promise<never>((resolve) => (enter = () => resolve(given.place as never)));
    const given = network(() => good, { share: { take: () => undefined, wait } });
    const deadline = new Deadline(5_000);
    const held: string[] = [];
    const told: string[] = [];
    const work = given.requests.read(
      get({
        deadline,
        onProgress: (text) => told.push(text),
        onThrottled: () => {
          held.push("held");
          return () => held.push("on");
        },
      }),
      schema,
    );
    await pass(999);
    expect(told).toEqual([]);
    await pass(1);
    expect(told).toEqual(["waiting for the share"]);
    await pass(20_000);
    expect([deadline.remainingMs(), held]).toEqual([5_000, ["held"]]);
    enter();
    await expect(work).resolves.toEqual({ name: "thing" });
    expect([held, told.length]).toEqual([["held", "on"], 1]);
    await pass(1_000);
    // The clock runs again, and nobody is notified any more.
    expect([deadline.remainingMs(), told.length, jest.getTimerCount()]).toEqual([4_000, 1, 0]);
  });

  test("that is free soon is not reported", async () => {
    let enter = (): void => undefined;
    const wait = () => new Promise<never>((resolve) => (enter = () => resolve(given.place as never)));
    const given = network(() => good, { share: { take: () => undefined, wait } });
    const told: string[] = [];
    const work = given.requests.read(get({ onProgress: (text) => told.push(text) }), schema);
    await pass(500);
    enter();
    await work;
    await pass(1_000);
    expect(told).toEqual([]);
  });
});

test("only the first error of a refused key says what to do", async () => {
  const { requests } = network((nth) => raw(nth === 2 ? 403 : 401));
  const errors = [];
  for (let i = 0; i < 3; i += 1) errors.push(await endOf(requests.read(get(), schema)));
  const [first, second, third] = errors;
  expect(String(first)).toContain("The key was sent to service.example:443");
  expect(second).toBeInstanceOf(PermissionError);
  expect(third).toBeInstanceOf(AuthenticationError);
  expect(String(third)).toBe(
    "AuthenticationError: the API key is missing or wrong (GET /projects/{project_id}/things -> 401)",
  );
});

test.each<[string, Partial<AnyRequest>, string]>([
  ["the path", { params: { project_id: "prj-1", endpoint_id: "ep-2" } }, " (project prj-1, compute ep-2)"],
  ["the body", { method: "PATCH", body: { branch_id: "br-3" } }, " (project prj-1, branch br-3)"],
  [
    "the compute in the body",
    { method: "PATCH", body: { endpoint: { branch_id: "br-4" } } },
    " (project prj-1, branch br-4)",
  ],
  [
    "any object in the body",
    { method: "PATCH", body: { thing: { branch_id: "br-5" }, list: [{ branch_id: "br-6" }] } },
    " (project prj-1, branch br-5)",
  ],
  ["neither", { params: { project_id: "prj-1" }, body: { branch_id: 5, name: "x" } }, " (project prj-1)"],
])("what is not found is named by %s", async (_, request, names) => {
  const { requests } = network(() => refusal(404));
  expect(String(await endOf(requests.send(get(request), schema)))).toContain(`not found${names}: not today`);
});

test.each(["", ".", "..", "a\u0000b", "a\ud800b", "a\nb"])("an id that is %j cannot be in a path", async (value) => {
  const { requests, sent } = network(() => good);
  const error = await endOf(requests.read(get({ params: { project_id: value } }), schema));
  expect(String(error)).toBe(
    `SvcError: ${JSON.stringify(value)} cannot be a project_id (GET /projects/{project_id}/things)`,
  );
  expect(sent).toEqual([]);
});

test.each([
  ["...", "/projects/.../things"],
  ["a/b c?d#e", "/projects/a%2Fb%20c%3Fd%23e/things"],
])("an id that is %j is encoded", async (value, path) => {
  const { requests, sent } = network(() => good);
  await endOf(requests.read(get({ params: { project_id: value } }), schema));
  expect(sent.map((one) => one.path)).toEqual([path]);
});

describe("what is known to have happened", () => {
  const EVENTS: [SvcError, string][] = [
    [new LockedError("x", { status: 423 }), "throttled"],
    [new RateLimitError("x", { status: 429 }), "throttled"],
    [new ConnectionError("x", { reason: "ECONNREFUSED", beforeSending: true }), "not-sent"],
    [new ConnectionError("x", { reason: "ECONNRESET", beforeSending: false }), "unclear"],
    [new ConnectionError("x"), "unclear"],
    [new ConnectionError("x", { reason: "CERT_HAS_EXPIRED", beforeSending: true }), "refused"],
    [new ConnectionError("x", { reason: "MY_CERT_HAS_EXPIRED", beforeSending: true }), "not-sent"],
    [new TimeoutError("x"), "unclear"],
    [new ServiceError("x", { status: 500 }), "unclear"],
    [new ServiceError("x", { status: 501 }), "unclear"],
    [new BadResponseError("x", { status: 200 }), "unclear"],
    [new BadResponseError("x", { status: 299 }), "unclear"],
    [new BadResponseError("x", { status: 303 }), "unclear"],
    [new BadResponseError("x", { status: 399 }), "unclear"],
    [new BadResponseError("x", { status: 400 }), "refused"],
    [new BadResponseError("x", { status: 404 }), "refused"],
    [new BadResponseError("x"), "unclear"],
    [new BadRequestError("x", { status: 400 }), "refused"],
    [new ConflictError("x", { status: 409 }), "refused"],
    [new SvcError("x"), "refused"],
  ];
  test.each(EVENTS.map(([error, happened]) => [error.name, JSON.stringify(error.facts), happened, error] as const))(
    "after a %s with %s it is %s",
    (_name, _facts, happened, error) => {
      expect(whatHappened(error)).toBe(happened);
    },
  );

  test.each<[string, unknown, boolean]>([
    ["an operation that failed", new OperationFailedError("x"), true],
    ["a compute that does not start", new NotStartingError("x"), true],
    ["a wait that timed out", new WaitTimeoutError("x"), true],
    ["an unknown fate", new FateUnknownError("x"), true],
    ["a broken connection under a change", new ConnectionError("x", { method: "PATCH" }), true],
    ["the same under a read", new ConnectionError("x", { method: "GET" }), false],
    ["the same of nobody knows what", new ConnectionError("x"), false],
    ["a refused change", new BadRequestError("x", { method: "PATCH", status: 400 }), false],
    ["a change that never left", new ConnectionError("x", { method: "PATCH", beforeSending: true }), false],
    ["a defect of ours", new TypeError("x"), false],
    ["no error", undefined, false],
  ])("whether a change may have taken effect after %s", (_, error, expected) => {
    expect(mayHaveTakenEffect(error)).toBe(expected);
  });
});

describe("the verdict", () => {
  const down = new ServiceError("x", { status: 503 });
  const state = { error: down as SvcError, repeatable: true, attempts: 1, faults: 1 };
  const times = { remainingMs: MINUTE, baseDelayMs: 200, random: 0.5 };
  const verdict = (change: Partial<typeof state & typeof times>): unknown =>
    decideRetry({ ...state, ...times, ...change });
  const asked = (ms: number): SvcError => new ServiceError("x", { status: 503, retryAfterMs: ms });

  test.each<[string, Parameters<typeof verdict>[0], unknown]>([
    ["a fault", {}, { retry: true, delayMs: 100 }],
    ["the third one", { attempts: 3 }, { retry: true, delayMs: 400 }],
    ["a late one", { attempts: 9 }, { retry: true, delayMs: 2_500 }],
    ["a very late one", { attempts: 10_000 }, { retry: true, delayMs: 2_500 }],
    ["the last but one", { faults: MOST_FAULTS - 1 }, { retry: true, delayMs: 100 }],
    ["the last one", { faults: MOST_FAULTS }, { retry: false, because: "enough" }],
    ["what must not be sent twice", { repeatable: false }, { retry: false, because: "unknown-fate" }],
    [
      "an answer that is not the route's",
      { error: new BadResponseError("x", { status: 200 }) },
      { retry: false, because: "refused" },
    ],
    [
      "an answer that is too long",
      { error: new ConnectionError("x", { reason: TOO_LONG }) },
      { retry: false, because: "refused" },
    ],
    ["another reason", { error: new ConnectionError("x", { reason: "EPIPE" }) }, { retry: true, delayMs: 100 }],
    ["a pause that is asked for", { error: asked(3_000), attempts: 5 }, { retry: true, delayMs: 3_200 }],
    ["none that is asked for", { error: asked(0) }, { retry: true, delayMs: 100 }],
    ["a longer one than is left", { error: asked(MINUTE) }, { retry: false, because: "too-late" }],
    [
      "one that leaves no time for its jitter",
      { error: asked(MINUTE - 100) },
      { retry: false, because: "out-of-time" },
    ],
    ["one that just fits", { error: asked(MINUTE - 101) }, { retry: true, delayMs: MINUTE - 1 }],
    ["too little time", { remainingMs: 100 }, { retry: false, because: "out-of-time" }],
    ["just enough", { remainingMs: 101 }, { retry: true, delayMs: 100 }],
    [
      "a lock, however often",
      { error: new LockedError("x"), faults: MOST_FAULTS, repeatable: false },
      { retry: true, delayMs: 100 },
    ],
    ["what never left", { error: refusedConnection() as SvcError, repeatable: false }, { retry: true, delayMs: 100 }],
    [
      "what never left, often",
      { error: refusedConnection() as SvcError, faults: MOST_FAULTS },
      { retry: false, because: "enough" },
    ],
  ])("after %s", (_, change, expected) => {
    expect(verdict(change)).toEqual(expected);
  });
});
