import type { z } from "zod";
import { bodies } from "./api/records";
import { Deadline } from "./http/deadline";
import { Redactor } from "./http/redact";
import { RequestBudget } from "./http/requestBudget";
import { type Request, Requests } from "./http/requests";
import { Transport } from "./http/transport";
import type { ClientOptions, ClientTimings } from "./options";
import { Collection } from "./reads/absence";
import { SharedRead, SharedReads } from "./reads/sharedReads";
import { Creator } from "./createRecovery";

/** What is read and shared: its path below the project, and the schema of its body. A single object is read as a list of one. */
const LISTS = {
  endpoints: ["/endpoints", bodies.endpoints],
  operations: ["/operations?limit=100", bodies.operations],
  branches: ["/branches", bodies.branches],
  integrations: ["/auth/integrations", bodies.integrations],
  oauthProviders: ["/auth/oauth_providers", bodies.oauthProviders],
  domains: ["/auth/domains", bodies.domains],
  emailServer: ["/auth/email_server", bodies.emailServers],
} as const;
export type ListName = keyof typeof LISTS;
type ItemOf<What extends ListName> = z.infer<(typeof LISTS)[What][1]>[number];

export const PROJECT = "/projects/{project_id}";
const CHANGE_MS = 600_000;

/** What all calls of one account share. The key is in no property: a client that is logged must not show it. */
export class Account {
  readonly settings: ClientTimings;
  readonly budget: RequestBudget;
  readonly requests: Requests;
  readonly creator: Creator;
  readonly redactor: Redactor;
  readonly #reads = new SharedReads();

  constructor(options: ClientOptions) {
    const settings: ClientTimings = (this.settings = {
      keyAdvice: options.keyAdvice,
      attemptTimeoutMs: options.attemptTimeoutMs ?? 10_000,
      mutationAttemptTimeoutMs: options.mutationAttemptTimeoutMs ?? options.attemptTimeoutMs ?? 60_000,
      readDeadlineMs: options.readDeadlineMs ?? 30_000,
      throttledMs: options.throttledMs ?? 120_000,
      lagMs: options.lagMs ?? 3_000,
      pollCeilingMs: options.pollCeilingMs ?? 2_000,
      baseDelayMs: options.baseDelayMs ?? 250,
      minuteMs: options.minuteMs ?? 60_000,
    });
    this.redactor = new Redactor(options.apiKey);
    const transport = new Transport(options.baseUrl, options.apiKey);
    this.budget = new RequestBudget(settings.minuteMs);
    this.requests = new Requests(transport, this.redactor, settings, this.budget);
    this.creator = new Creator(this.requests, transport);
  }

  list<What extends ListName>(what: What, projectId: string): Collection<ItemOf<What>> {
    const read = (delayMs: number) =>
      new SharedRead(
        PROJECT + LISTS[what][0],
        (events) => {
          const deadline = new Deadline(this.settings.readDeadlineMs);
          const onThrottled = (): (() => void) => {
            const ends = [deadline.pause(), events.onThrottled()];
            return () => ends.forEach((end) => end());
          };
          return this.#read(what, projectId, { ...events, deadline, onThrottled: onThrottled });
        },
        delayMs,
      );
    return new Collection(this.settings.lagMs, (since) => this.#reads.get(`${what} ${projectId}`, read, since));
  }

  /** One attempt, not shared, for a loop that makes the next one itself. */
  readOnce<What extends ListName>(what: What, projectId: string): Promise<readonly ItemOf<What>[]> {
    return this.#read(what, projectId, { deadline: new Deadline(this.settings.readDeadlineMs), retry: false });
  }

  /** Runs a change of these lists. Nothing that was read of them before its end stays cached. */
  async invalidating<T>(projectId: string, what: readonly ListName[], change: () => Promise<T>): Promise<T> {
    const invalidate = this.#reads.invalidating(what.map((one) => `${one} ${projectId}`));
    try {
      return await change();
    } finally {
      invalidate();
    }
  }

  /** The given deadline, or the default one of a change. */
  deadline(given: Deadline | undefined): Deadline {
    return given ?? new Deadline(CHANGE_MS);
  }

  #read<What extends ListName>(
    what: What,
    projectId: string,
    options: Omit<Request, "method" | "template" | "params">,
  ): Promise<readonly ItemOf<What>[]> {
    const [path, schema] = LISTS[what];
    const request: Request = { ...options, method: "GET", template: PROJECT + path, params: { project_id: projectId } };
    // The type of a schema that is looked up by its name is that of all schemas.
    return this.requests.read(request, schema) as Promise<readonly ItemOf<What>[]>;
  }
}
