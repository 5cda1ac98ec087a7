import type { z } from "zod";
import { bodies } from "./api/records";
import { Deadline } from "./http/deadline";
import { AuthenticationError, SvcError } from "./http/errors";
import { Redactor } from "./http/redact";
import { type Request, Requests } from "./http/requests";
import { Transport } from "./http/transport";
import type { ClientOptions } from "./options";
import { Collection } from "./reads/absence";
import { SharedRead, SharedReads, type Waiting } from "./reads/sharedReads";

export type Settings = {
  [Name in Exclude<keyof ClientOptions, "userAgent">]-?: Exclude<ClientOptions[Name], undefined>;
};

/** What is read and shared, by the path below the project that it comes from. */
const ROUTES = {
  endpoints: "/endpoints",
  operations: "/operations",
  branches: "/branches",
  project: "",
  integrations: "/auth/integrations",
  oauthProviders: "/auth/oauth_providers",
  domains: "/auth/domains",
  emailServer: "/auth/email_server",
} as const;
export type Readable = keyof typeof ROUTES;

export const PROJECT = "/projects/{project_id}";

function checkedBaseUrl(baseUrl: string): string {
  const text = baseUrl.trim();
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text itself stays out of the message: it may hold a password.
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new SvcError("the base URL is not an http(s) address");
  if (url.username !== "" || url.password !== "") throw new SvcError("the base URL must not hold a user or a password");
  if (url.search !== "" || url.hash !== "") throw new SvcError("the base URL must not hold a query or a fragment");
  return url.href.replace(/\/+$/, "");
}

function checkedKey(apiKey: string): string {
  const key = apiKey.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new AuthenticationError("the API key is empty, or holds characters that no header can carry");
  }
  return key;
}

/** What all calls of one account share: connections, reads, and what must not be repeated in a message. */
export class Account {
  readonly settings: Settings;
  readonly requests: Requests;
  readonly redactor: Redactor;
  readonly #reads = new SharedReads();
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    const settings = (this.settings = {
      baseUrl: checkedBaseUrl(options.baseUrl),
      apiKey: checkedKey(options.apiKey),
      attemptTimeoutMs: options.attemptTimeoutMs ?? 10_000,
      mutationAttemptTimeoutMs: options.mutationAttemptTimeoutMs ?? options.attemptTimeoutMs ?? 60_000,
      readDeadlineMs: options.readDeadlineMs ?? 30_000,
      heldOffMs: options.heldOffMs ?? 120_000,
      mutationDeadlineMs: options.mutationDeadlineMs ?? 600_000,
      lagMs: options.lagMs ?? 3_000,
      pollCeilingMs: options.pollCeilingMs ?? 2_000,
      baseDelayMs: options.baseDelayMs ?? 250,
    });
    this.redactor = new Redactor(settings.apiKey);
    this.#transport = new Transport(settings.baseUrl, settings.apiKey, options.userAgent ?? "pulumi-svc");
    this.requests = new Requests(this.#transport, this.redactor, settings);
  }

  close(): void {
    this.#transport.close();
  }

  /** See `Transport`. */
  serviceNow(): number {
    return this.#transport.serviceNow();
  }

  /** A list of this project, shared with all who need it. */
  collection<Body extends z.ZodType, T>(
    what: Readable,
    projectId: string,
    shape: Body,
    itemsOf: (body: z.infer<Body>) => readonly T[],
    extra: Partial<Request> = {},
  ): Collection<T> {
    return new Collection<T>(this.settings.lagMs, (since) =>
      this.#reads.get(
        `${what} ${projectId}`,
        () => this.#ask(what, projectId, (request) => this.requests.read(request, shape).then(itemsOf), extra),
        since,
      ),
    );
  }

  /** What is no list, shared in the same way. */
  async one<S extends z.ZodType>(
    what: Readable,
    projectId: string,
    shape: S,
    { since, ...waiting }: Waiting & { since?: number | undefined } = {},
  ): Promise<z.infer<S>> {
    const ask = () => this.#ask(what, projectId, (request) => this.requests.read(request, shape), {});
    return this.#reads.get(`${what} ${projectId}`, ask, since).latest.wait(waiting);
  }

  /** Keeps nothing of these from before the change, during it, or by the time it has ended. */
  async changing<T>(projectId: string, what: readonly Readable[], change: () => Promise<T>): Promise<T> {
    const over = this.#reads.changing(what.map((one) => `${one} ${projectId}`));
    try {
      return await change();
    } finally {
      over();
    }
  }

  /** The clock of a change that was given none. */
  deadline(given: Deadline | undefined): Deadline {
    return given ?? new Deadline(this.settings.mutationDeadlineMs);
  }

  #ask<T>(
    what: Readable,
    projectId: string,
    read: (request: Request) => Promise<T>,
    extra: Partial<Request>,
  ): SharedRead<T> {
    const template = PROJECT + ROUTES[what];
    return new SharedRead<T>(template, (events) => {
      const deadline = new Deadline(this.settings.readDeadlineMs);
      const onHeldOff = (): (() => void) => {
        const ends = [deadline.pause(), events.onHeldOff()];
        return () => ends.forEach((end) => end());
      };
      const params = { project_id: projectId };
      return read({ method: "GET", template, params, deadline, ...events, onHeldOff, ...extra });
    });
  }
}

/** The lists of one project. */
export function listsOf(account: Account, projectId: string) {
  return {
    endpoints: account.collection("endpoints", projectId, bodies.endpoints, ({ endpoints }) => endpoints),
    operations: account.collection("operations", projectId, bodies.operations, ({ operations }) => operations, {
      query: "limit=100",
    }),
    branches: account.collection("branches", projectId, bodies.branches, ({ branches }) => branches),
    integrations: account.collection("integrations", projectId, bodies.integrations, ({ data }) => data),
    oauthProviders: account.collection(
      "oauthProviders",
      projectId,
      bodies.oauthProviders,
      ({ providers }) => providers,
    ),
    domains: account.collection("domains", projectId, bodies.domains, ({ domains }) => domains),
  };
}
