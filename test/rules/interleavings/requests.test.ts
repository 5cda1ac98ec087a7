/**
 * Requests of one account (docs/design/rules.md, 1, 2 and 6; docs/design/decisions.md, Client), in any order of calls,
 * responses, faults, deadlines and replacements of the key:
 *
 * 1. No minute of the service has more requests than svc:maxRequestsPerMinute.
 * 2. A change that reads a list first is sent in the tick in which that list was checked.
 * 3. A POST is carried out at most once. An error of a POST or a PATCH that was carried out says that it may have been.
 * 4. A request that was refused with a 401 is sent again with a key that it was not refused with, and fails only if the
 *    file holds none.
 * 5. Every request ends, and every permit comes back.
 */
import fc from "fast-check";
import { z } from "zod";
import { ApiKey } from "../../../src/client/http/apiKey";
import { Deadline } from "../../../src/client/http/deadline";
import { ConnectionError, NotFoundError, SvcError, TimeoutError } from "../../../src/client/http/errors";
import { Redactor } from "../../../src/client/http/redact";
import { RequestBudget } from "../../../src/client/http/requestBudget";
import type { Request } from "../../../src/client/http/request";
import { Requests } from "../../../src/client/http/requests";
import { mayHaveTakenEffect } from "../../../src/client/http/retry";
import type { Attempt, RawResponse, Transport } from "../../../src/client/http/transport";
import { inAnyOrder, type Interleaving, interleavings } from "../../support/interleaving";

interleavings();

const MINUTE_MS = 60_000;
const FAULTS = [
  "429",
  "429 for 7 s",
  "423",
  "500, carried out",
  "500, not carried out",
  "reset, carried out",
  "reset, not carried out",
  "refused connection",
  "no response, carried out",
  "a web page, carried out",
  "404",
] as const;
type Fault = (typeof FAULTS)[number] | undefined;

interface Call {
  readonly method: Attempt["method"];
  readonly readsFirst: boolean;
  readonly limitMs: number;
  readonly faults: readonly Fault[];
}

const CALL = {
  method: fc.constantFrom<Call["method"]>("GET", "POST", "PATCH", "DELETE"),
  readsFirst: fc.boolean(),
  limitMs: fc.constantFrom(5_000, 600_000),
} as const;
const call: fc.Arbitrary<Call> = fc.record({
  ...CALL,
  faults: fc.array(fc.constantFrom(undefined, ...FAULTS), { maxLength: 3 }),
});

/** What happens to the key: the service takes another one, or the file holds it, or the first one. */
type Rotation = "service" | "file" | "file, back";

/** A call whose request, or whose list before it, has this name. */
const callOf = (name: string): string => name.replace(/-list.*/, "");

interface Exchange {
  readonly name: string;
  readonly authorization: string;
  readonly fault: Fault;
  readonly facts: object;
  readonly refused: Set<string>;
  /** A request that has not arrived by then never does. */
  readonly hasGivenUp: () => boolean;
}

/** A service, and the file of its key. `name`: that of a call, as the last part of its path. */
class Service {
  readonly arrivedAt: number[] = [];
  readonly executed = new Map<string, number>();
  readonly refused = new Map<string, Set<string>>();
  readonly justRefused = new Set<string>();
  accepts = "key 0";
  file = "key 0";

  constructor(
    private readonly order: Interleaving,
    private readonly key: ApiKey,
    private readonly faults: Map<string, Fault[]>,
  ) {}

  async send(attempt: Attempt): Promise<RawResponse> {
    const name = attempt.path.slice(1);
    const authorization = this.key.authorization();
    const refused = this.refused.get(name) ?? new Set();
    // After another error it may be: the file may hold an earlier key again.
    if (this.justRefused.delete(name)) expect(refused).not.toContain(authorization);
    const fault = this.faults.get(callOf(name))?.shift();
    const facts = { method: attempt.method, path: attempt.template };
    if (fault === "refused connection") {
      await this.order.event(`${name}: ${fault}`, () => undefined);
      throw new ConnectionError("refused", { ...facts, reason: "ECONNREFUSED", beforeSending: true });
    }
    let hasGivenUp = false;
    const late = new Promise<never>((_, reject) =>
      setTimeout(() => {
        hasGivenUp = true;
        reject(new TimeoutError("late", facts));
      }, attempt.timeoutMs),
    );
    return Promise.race([
      late,
      this.#answer({ name, authorization, fault, facts, refused, hasGivenUp: () => hasGivenUp }),
    ]);
  }

  async #answer({ name, authorization, fault, facts, refused, hasGivenUp }: Exchange): Promise<RawResponse> {
    const status = await this.order.event(`${name} arrives`, () => {
      if (hasGivenUp()) return 0;
      this.arrivedAt.push(performance.now());
      if (authorization !== `Bearer ${this.accepts}`) return 401;
      if (fault === undefined || fault.endsWith(", carried out"))
        this.executed.set(name, (this.executed.get(name) ?? 0) + 1);
      return Number.parseInt(fault ?? "200", 10) || 200;
    });
    await this.order.event(`${name}: ${status === 401 ? status : (fault ?? "done")}`, () => undefined);
    if (status === 401 && !hasGivenUp()) {
      this.refused.set(name, refused.add(authorization));
      this.justRefused.add(name);
    }
    if (status === 401) return responseOf(status);
    if (fault === "no response, carried out") return new Promise<never>(() => undefined);
    if (fault?.startsWith("reset") === true) throw new ConnectionError("reset", { ...facts, reason: "ECONNRESET" });
    if (fault === "a web page, carried out")
      return { ...responseOf(200), text: "<html></html>", contentType: "text/html" };
    return { ...responseOf(status), ...(fault === "429 for 7 s" && { retryAfter: "7" }) };
  }
}

const responseOf = (status: number): RawResponse => ({
  status,
  text: JSON.stringify(status < 300 ? { done: true } : { code: "code", message: "message" }),
  contentType: "application/json",
  retryAfter: undefined,
  date: undefined,
  requestId: undefined,
  location: undefined,
});

const SETTINGS = {
  attemptTimeoutMs: 10_000,
  mutationAttemptTimeoutMs: 60_000,
  readDeadlineMs: 30_000,
  throttledMs: 120_000,
  lagMs: 3_000,
  pollCeilingMs: 2_000,
  baseDelayMs: 250,
  minuteMs: MINUTE_MS,
};

interface Scenario {
  readonly calls: readonly Call[];
  readonly limit: number | undefined;
  readonly rotations: readonly Rotation[];
}

async function happen({ calls, limit, rotations }: Scenario, order: Interleaving): Promise<void> {
  const key: ApiKey = new ApiKey("key 0", () => service.file);
  const faults = new Map(calls.map((one, index) => [`call-${index}`, [...one.faults]]));
  const service: Service = new Service(order, key, faults);
  const budget = new RequestBudget(MINUTE_MS);
  budget.limit = limit;
  const context = { key, redactor: new Redactor("key 0"), settings: SETTINGS, budget };
  // Only these two members are used.
  const transport = { where: "test", send: (attempt: Attempt) => service.send(attempt) } as unknown as Transport;
  const requests = new Requests(transport, context);
  const schema = z.object({ done: z.boolean() });

  const send = async ({ method, readsFirst, limitMs }: Call, name: string): Promise<void> => {
    let checkedAt = Number.NaN;
    let lists = 0;
    const list = (): Request => ({
      method: "GET",
      template: "/{name}",
      params: { name: `${name}-list-${(lists += 1)}` },
      deadline: new Deadline(30_000),
    });
    const proof: Partial<Request> = {
      beforeAttempt: async () => {
        await requests.read(list(), schema);
        checkedAt = order.events;
      },
      onSend: () => expect(order.events).toBe(checkedAt),
    };
    const request = { ...list(), method, params: { name }, deadline: new Deadline(limitMs) };
    // Only gate.ts makes a deletion, but what becomes of a request does not depend on that.
    const any = { ...request, ...(readsFirst && method !== "GET" && proof) } as Request;
    const sent = requests.send(any, schema);
    const outcome = await sent.catch((error: unknown) => {
      if (error instanceof SvcError) return error;
      throw error;
    });
    const times = service.executed.get(name) ?? 0;
    if (method === "POST") expect(times).toBeLessThanOrEqual(1);
    if (!(outcome instanceof SvcError)) return expect(times).toBeGreaterThanOrEqual(1);
    const isSaid = mayHaveTakenEffect(outcome) || outcome instanceof NotFoundError;
    if (times > 0 && (method === "POST" || method === "PATCH"))
      expect({ outcome, isSaid }).toMatchObject({ isSaid: true });
    const refused = [...service.refused].flatMap(([one, keys]) => (callOf(one) === name ? [...keys] : []));
    if (outcome.status === 401) expect(refused).toContain(`Bearer ${service.file}`);
  };
  let made = 0;
  const rotate = (what: Rotation): void => {
    made += 1;
    if (what === "service") service.accepts = `key ${made}`;
    else service.file = what === "file" ? service.accepts : "key 0";
  };
  await order.everySettled([
    ...calls.map((one, index) => order.begin(`call-${index} begins`, () => send(one, `call-${index}`))),
    ...rotations.map((what) => order.event(`another key: ${what}`, () => rotate(what))),
  ]);
  if (limit === undefined) return;
  for (const from of service.arrivedAt) {
    const inMinute = service.arrivedAt.filter((at) => at >= from && at < from + MINUTE_MS);
    expect(inMinute.length).toBeLessThanOrEqual(limit);
  }
  await jest.advanceTimersByTimeAsync(2 * MINUTE_MS);
  // Refusals leave three at least.
  expect(budget.hasRoom(Math.min(limit, 3))).toBe(true);
}

const rotation = fc.constantFrom<Rotation>("service", "file", "file, back");

test.each([0, 1])(
  "requests keep to the rate, are carried out at most once where that matters, and all end (%s ms between events)",
  async (stepMs) => {
    const scenario = fc.record({
      calls: fc.array(call, { minLength: 2, maxLength: 7 }),
      limit: fc.option(fc.integer({ min: 2, max: 5 }), { nil: undefined }),
      rotations: fc.array(rotation, { maxLength: 2 }),
    });
    await inAnyOrder(120, scenario, happen, { stepMs });
  },
);

test("each key is tried once, however often it is replaced", async () => {
  const scenario = fc.record({
    calls: fc.array(fc.record({ ...CALL, faults: fc.constant([]) }), { minLength: 1, maxLength: 3 }),
    limit: fc.constant(undefined),
    rotations: fc.array(rotation, { minLength: 5, maxLength: 10 }),
  });
  await inAnyOrder(200, scenario, happen);
});
