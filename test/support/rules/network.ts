import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exchange, type Exchanged } from "../inProcess";

/**
 * What happens to a request. `lost`: the connection ends without a response. `done`: after the service has executed it;
 * otherwise it never arrives.
 */
export const ANSWERS = {
  lost: undefined,
  "lost, done": undefined,
  "502": { status: 502, type: "text/html", text: "<html>bad gateway</html>" },
  "502, done": { status: 502, type: "text/html", text: "<html>bad gateway</html>" },
  "odd 200": odd("something went wrong, nothing was executed"),
  "odd 200, done": odd("something went wrong afterwards"),
  "empty 200": { status: 200, type: undefined, text: "" },
  "empty 200, done": { status: 200, type: undefined, text: "" },
  "text 404": { status: 404, type: "text/plain", text: "default backend - 404" },
  "423": refusal(423, "the project has a running operation"),
  "429": { ...refusal(429, "too many requests"), retryAfter: "0.02" },
  "401": refusal(401, "the key is wrong"),
  "403": refusal(403, "the key may not do this"),
} satisfies Record<string, Answer | undefined>;

export type How = keyof typeof ANSWERS;
/** Without those of the service itself. */
export const HOWS = (Object.keys(ANSWERS) as How[]).filter((how) => how !== "401" && how !== "403");

/**
 * Requests whose effect no list shows, so that an empty response is accepted (docs/design/rules.md, 1): for them an
 * empty response is never wrong.
 */
const UNSEEN = /^DELETE .*\/auth\/users\/|^PATCH .*\/oauth_providers\//;

export const isExecuted = (how: How, method: string, url: string): boolean =>
  how.endsWith("done") || (how === "empty 200" && UNSEEN.test(`${method} ${url}`));

/** The project that a request is about. */
export const projectOf = (url: string, body: string): string =>
  /\/projects\/(prj-[^/?]+)/.exec(url)?.[1] ?? /"project_id":"([^"]+)"/.exec(body)?.[1] ?? "";

/** What happens to a project's requests during one command. */
export interface Weather {
  /** By the number of the request among those of its type. */
  readonly reads: ReadonlyMap<number, How>;
  readonly changes: ReadonlyMap<number, How>;
  /** The same by the number among the deletions. */
  readonly deletions?: ReadonlyMap<number, How>;
  /** Called during a change, before the service receives it. */
  readonly onChange?: (n: number) => Promise<void>;
  /**
   * Called before the service receives a request for a list of integrations, while no change is in progress: nothing
   * can be done about events between such a list and its change (docs/design/rules.md, 2).
   */
  readonly onList?: (n: number) => Promise<void>;
  /**
   * Called after a change with a faulty response, executed or not, before its next attempt; also while no other request
   * is in progress.
   */
  readonly onTrouble?: (n: number) => Promise<void>;
  /**
   * Called for every request, before the service receives it (if its sender ends meanwhile, it never arrives) and before
   * the response.
   */
  readonly onRequest?: (n: number, moment: Moment) => Promise<void>;
  /** Called in place of the execution of a request, which it does. */
  readonly executing?: Executing;
}

/** The execution of a request by the service. */
export type Executing = (
  request: { readonly method: string; readonly url: string; readonly body: string },
  work: () => Promise<Exchanged>,
) => Promise<Exchanged>;

export type Moment = "before" | "after";

export interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
  readonly retryAfter?: string;
}

interface Seen {
  readonly weather: Weather;
  requests: number;
  reads: number;
  changes: number;
  deletions: number;
  lists: number;
  troubles: number;
  /** All current requests, including those that we have given up. */
  here: number;
  /** Current requests without a response, except those that wait for an action. */
  underWay: number;
  ended: number;
  /** Actions while nothing else happens, in sequence. */
  deeds: Promise<void>;
}

/**
 * After this many checks without a new or finished request, whoever has read a list has sent its change. Checks instead
 * of milliseconds, since each lets the whole process continue: on a busy machine time alone may pass.
 */
const QUIET_LOOKS = 8;
const MOST_LOOKS = 250;
const LOOK_MS = 2;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** False if it never was. `own`: how many known requests are in progress. */
async function isQuietSoon(seen: Seen, own: number): Promise<boolean> {
  let inARow = 0;
  let { ended } = seen;
  for (let looks = 0; looks < MOST_LOOKS && inARow < QUIET_LOOKS; looks += 1) {
    await pause(LOOK_MS);
    // Two timers may fire together; pending socket data is read before this.
    await new Promise((resolve) => setImmediate(resolve));
    inARow = seen.underWay === own && seen.ended === ended ? inARow + 1 : 0;
    ended = seen.ended;
  }
  return inARow >= QUIET_LOOKS;
}

/** Acts when no other request is in progress, or not at all. New requests wait for its end. */
async function inQuiet(seen: Seen, own: number, deed: () => Promise<void>): Promise<void> {
  if (await isQuietSoon(seen, own)) await (seen.deeds = seen.deeds.then(deed));
}

/** A proxy in front of the service for whole programs and many projects at once, each with its own faults. */
export class Network {
  readonly #projects = new Map<string, Seen>();
  /** In place of that of each request. */
  key: string | undefined;

  private constructor(
    readonly baseUrl: string,
    readonly server: Server,
  ) {}

  static async before(serviceUrl: string): Promise<Network> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A TCP server has no other kind of address.
    const { port } = server.address() as AddressInfo;
    const { origin, pathname } = new URL(serviceUrl);
    const network = new Network(`http://127.0.0.1:${port}${pathname}`, server);
    server.on("request", (request, response) => {
      network.#pass(origin, request, response).catch(() => request.socket.destroy());
    });
    return network;
  }

  /** Applies from now on. */
  set(projectId: string, weather: Weather): void {
    const counts = {
      requests: 0,
      reads: 0,
      changes: 0,
      deletions: 0,
      lists: 0,
      troubles: 0,
      here: 0,
      underWay: 0,
      ended: 0,
    };
    this.#projects.set(projectId, { weather, ...counts, deeds: Promise.resolve() });
  }

  /**
   * Forwards every request from now on. Waits for current requests: a command may have given up a slow request, and
   * concurrent work continues.
   */
  async calm(projectId: string): Promise<void> {
    const seen = this.#projects.get(projectId);
    while (seen !== undefined && seen.here > 0) await pause(LOOK_MS);
    this.#projects.delete(projectId);
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  async #pass(origin: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    // Chunks of a request are buffers, since no encoding was set.
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = "GET", url = "" } = request;
    const seen = this.#seenOf(url, body.toString());
    if (seen === undefined) return this.#answer(origin, request, response, body);
    seen.here += 1;
    const n = seen.requests++;
    try {
      await seen.weather.onRequest?.(n, "before");
      if (request.socket.destroyed) return;
      await this.#beforeList(seen, method, url);
      await seen.deeds;
      seen.underWay += 1;
      try {
        const how = await this.#howFor(seen, method);
        await this.#answer(origin, request, response, body, { seen, n, how });
      } finally {
        seen.underWay -= 1;
        seen.ended += 1;
      }
    } finally {
      seen.here -= 1;
    }
  }

  /** Actions between two requests of ours happen here. */
  async #beforeList(seen: Seen, method: string, url: string): Promise<void> {
    const { onList } = seen.weather;
    if (onList === undefined || method !== "GET" || !url.endsWith("/auth/integrations")) return;
    const n = seen.lists++;
    await inQuiet(seen, 0, () => onList(n));
  }

  async #answer(
    origin: string,
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
    { seen, n = 0, how }: { readonly seen?: Seen; readonly n?: number; readonly how?: How | undefined } = {},
  ): Promise<void> {
    const { method = "GET", url = "" } = request;
    const isDone = how === undefined || isExecuted(how, method, url);
    const authorization = this.key === undefined ? (request.headers.authorization ?? "") : `Bearer ${this.key}`;
    const headers = { authorization, "content-type": "application/json" };
    const execute = (): Promise<Exchanged> => exchange(origin + url, method, headers, body.toString());
    const { executing = (_request, work) => work() }: Pick<Weather, "executing"> = seen?.weather ?? {};
    const real = isDone ? await executing({ method, url, body: body.toString() }, execute) : undefined;
    const onTrouble = seen?.weather.onTrouble;
    if (seen !== undefined && onTrouble !== undefined && how !== undefined && method !== "GET") {
      const trouble = seen.troubles++;
      await inQuiet(seen, 1, () => onTrouble(trouble));
    }
    await seen?.weather.onRequest?.(n, "after");
    const given: Answer | undefined = how === undefined ? real && answerOf(real) : ANSWERS[how];
    if (given === undefined) return void request.socket.destroy();
    const { status, type, text, retryAfter } = given;
    response.writeHead(status, {
      ...(type !== undefined && { "content-type": type }),
      ...(retryAfter !== undefined && { "retry-after": retryAfter }),
    });
    response.end(status === 204 ? undefined : text);
  }

  #seenOf(url: string, body: string): Seen | undefined {
    return this.#projects.get(projectOf(url, body));
  }

  async #howFor(seen: Seen, method: string): Promise<How | undefined> {
    if (method === "GET") return seen.weather.reads.get(seen.reads++);
    const n = seen.changes++;
    const ofDeletions = method === "DELETE" ? seen.weather.deletions?.get(seen.deletions++) : undefined;
    await seen.weather.onChange?.(n);
    return seen.weather.changes.get(n) ?? ofDeletions;
  }
}

function answerOf({ status, headers, text }: Exchanged): Answer {
  return { status, type: headers.get("content-type") ?? undefined, text };
}

function odd(message: string): Answer {
  return { status: 200, type: "application/json", text: JSON.stringify({ code: "internal", message }) };
}

function refusal(status: number, message: string): Answer {
  return { status, type: "application/json", text: JSON.stringify({ request_id: "req-1", code: "", message }) };
}
