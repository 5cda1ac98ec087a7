import axios, { type AxiosInstance, type AxiosRequestConfig } from "axios";
import crypto from "node:crypto";
import { Readable } from "node:stream";
import { fakeAbortTimeout } from "../support/fakeClock";
import type { Trouble } from "./history";
import { exchange } from "../support/inProcess";
import { ANSWERS, isExecuted, projectOf, type Answer, type Executing, type How } from "../support/rules/network";

/*
 * What lies between our client and the service, without sockets and without waiting: the transport's axios asks the
 * emulator's application directly, and the clock goes on as soon as all work waits for it.
 */

type Sort = Trouble["faults"][number]["on"];

/** What happens to the requests of one process. */
export interface Link {
  /** By the number of the request among those of its sort. */
  readonly on: Readonly<Record<Sort, ReadonlyMap<number, How>>>;
  /** Before the service receives a change. */
  readonly onChange: (n: number) => Promise<void>;
  /** Before the service has a request, and before its answer. */
  readonly onRequest: (n: number, moment: "before" | "after") => void;
  /** Called in place of the execution of a request, which it does. */
  readonly executing: Executing;
  /** In place of the key of each request. */
  readonly key?: string;
  /** Nothing is sent or received any more. */
  isCut: boolean;
}

const PROJECT = "prj-demo";
/** Time passes, as over a network. */
const TRAVEL_MS = 1;

/** Requests that are at the service: the clock stands meanwhile. */
let atService = 0;
let link: Link | undefined;

/** The link of the processes that begin from now on. */
export function connect(next: Link): void {
  link = next;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const forever = (): Promise<never> => new Promise(() => undefined);
const connectionReset = (): Error => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

interface Counts extends Record<Sort, number> {
  requests: number;
}

function requestsOf(via: Link, baseUrl: string, defaults: object) {
  const counts: Counts = { requests: 0, reads: 0, changes: 0, deletions: 0 };
  counted.set(via, counted.get(via) ?? counts);
  const own = counted.get(via) ?? counts;
  const respond = async ({ method = "GET", url = "", data = "", headers }: AxiosRequestConfig<string>) => {
    await pause(TRAVEL_MS);
    if (via.isCut) return forever();
    const whole = baseUrl + url;
    const sent = { ...defaults, ...headers, ...(via.key !== undefined && { Authorization: `Bearer ${via.key}` }) };
    let how: How | undefined;
    if (projectOf(whole, data) === PROJECT) {
      const n = own.requests++;
      via.onRequest(n, "before");
      if (via.isCut) return forever();
      if (method === "GET") how = via.on.reads.get(own.reads++);
      else {
        const change = own.changes++;
        const ofDeletions = method === "DELETE" ? via.on.deletions.get(own.deletions++) : undefined;
        // A colleague's requests take real time.
        atService += 1;
        await via.onChange(change).finally(() => (atService -= 1));
        how = via.on.changes.get(change) ?? ofDeletions;
      }
      const answer = await answerOf(how, via.executing, method, whole, sent, data);
      via.onRequest(n, "after");
      if (via.isCut) return forever();
      return answer();
    }
    return (await answerOf(undefined, via.executing, method, whole, sent, data))();
  };
  return (config: AxiosRequestConfig<string>) =>
    new Promise((resolve, reject) => {
      config.signal?.addEventListener?.("abort", () => reject(new Error("canceled")));
      respond(config).then(resolve, reject);
    });
}

/** One count for all clients of a link: each explicit provider has its own. */
const counted = new WeakMap<Link, Counts>();

/** Returned as a function, since a lost answer is an error of its receiver. */
async function answerOf(
  how: How | undefined,
  executing: Executing,
  method: string,
  url: string,
  headers: object,
  body: string,
) {
  let status = 0;
  let type: string | undefined;
  let text = "";
  let retryAfter: string | undefined;
  if (how === undefined || isExecuted(how, method, url)) {
    atService += 1;
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const execute = (): ReturnType<typeof exchange> => exchange(url, method, sent, body);
    const real = await executing({ method, url, body }, execute).finally(() => (atService -= 1));
    if (how === undefined) {
      ({ status, text } = real);
      type = real.headers.get("content-type") ?? undefined;
    }
  }
  const given: Answer | undefined = how === undefined ? undefined : ANSWERS[how];
  if (given !== undefined) ({ status, type, text, retryAfter } = given);
  return () => {
    if (how !== undefined && given === undefined) throw connectionReset();
    const named = { "content-type": type, "retry-after": retryAfter };
    return { status, headers: named, data: Readable.from([Buffer.from(text)]) };
  };
}

/** From now on, for all clients of this process. Returns what ends it. */
export function startWire(): () => void {
  const create = jest.spyOn(axios, "create").mockImplementation(({ baseURL = "", headers = {} } = {}) => {
    if (link === undefined) throw new Error("no link is connected");
    // The transport uses only `request` of an instance.
    return { request: requestsOf(link, baseURL, headers) } as unknown as AxiosInstance;
  });
  // Threads take real time, in which the clock would go on.
  type Done = (error: Error | null, hash: Buffer) => void;
  type Scrypt = [value: string, salt: Buffer, length: number, options: crypto.ScryptOptions, done: Done];
  const { scrypt } = crypto;
  const atOnce = (...[value, salt, length, options, done]: Scrypt): void =>
    done(null, crypto.scryptSync(value, salt, length, { ...options, N: 2 }));
  Object.assign(crypto, { scrypt: atOnce });
  const endTimeouts = fakeAbortTimeout();
  jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate", "clearImmediate", "hrtime"] });
  return () => {
    create.mockRestore();
    endTimeouts();
    Object.assign(crypto, { scrypt });
    jest.useRealTimers();
  };
}

/** How often all work must be seen waiting: a promise of Node's own may take a turn of the event loop. */
const TURNS = 3;
const MOST_STEPS = 50_000;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Does the work while the clock goes on by itself, and then all that it has left behind. */
export async function withoutWaiting<T>(work: () => Promise<T>): Promise<T> {
  let hasEnded = false;
  const done = work().finally(() => (hasEnded = true));
  // Its error is that of the caller.
  done.catch(() => undefined);
  const step = async (): Promise<void> => {
    for (let quiet = 0; quiet < TURNS; quiet += 1) {
      await turn();
      if (atService > 0) quiet = -1;
    }
    jest.advanceTimersToNextTimer();
  };
  for (let steps = 0; !hasEnded; steps += 1) {
    // Nothing is left that could end it.
    if (steps > MOST_STEPS) throw new Error("the command does not end");
    await step();
  }
  for (let steps = 0; jest.getTimerCount() > 0 && steps < MOST_STEPS; steps += 1) await step();
  return done;
}
