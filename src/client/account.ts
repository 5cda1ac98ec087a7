import type { SendOptions } from "./changes";
import { Collection } from "./collection";
import { Creator } from "./createRecovery";
import { ApiKey } from "./http/apiKey";
import { Deadline, READ_MS } from "./http/deadline";
import { Redactor } from "./http/redact";
import { RequestBudget } from "./http/requestBudget";
import type { Request } from "./http/request";
import { Requests } from "./http/requests";
import { Transport } from "./http/transport";
import type { ClientOptions, ClientTimings } from "./clientOptions";
import { readOn } from "./reads/pages";
import { SharedRead, SharedReads } from "./reads/sharedReads";
import { type ItemOf, type ListName, type Page, PROJECT, type RecordKind, RECORDS, type ResponseOf } from "./records";

/** The cache key. */
const keyOf = (list: ListName, projectId: string): string => `${list} ${projectId}`;

/** Another list, which shows whether the service answers 404 for this one alone. Every project has the computes. */
const elsewhereThan = (list: ListName): ListName => (list === "endpoints" ? "integrations" : "endpoints");

/** What all calls of one account share. The key is in no property: logging a client must not show it. */
export class Account {
  readonly settings: ClientTimings;
  readonly budget: RequestBudget;
  readonly redactor: Redactor;
  readonly requests: Pick<Requests, "send" | "read" | "probe">;
  readonly #creator: Creator;
  /** The ids of projects of which a person has said that they are gone: a 404 for the whole project is believed. */
  goneProjects: ReadonlySet<string> = new Set();
  readonly #reads = new SharedReads();

  constructor(options: ClientOptions) {
    const settings: ClientTimings = (this.settings = {
      attemptTimeoutMs: options.attemptTimeoutMs ?? 10_000,
      mutationAttemptTimeoutMs: options.mutationAttemptTimeoutMs ?? options.attemptTimeoutMs ?? 60_000,
      readDeadlineMs: options.readDeadlineMs ?? READ_MS,
      // Two pauses of a minute, and the request after them.
      throttledMs: options.throttledMs ?? 150_000,
      lagMs: options.lagMs ?? 3_000,
      pollCeilingMs: options.pollCeilingMs ?? 2_000,
      baseDelayMs: options.baseDelayMs ?? 250,
      minuteMs: options.minuteMs ?? 60_000,
    });
    const redactor = (this.redactor = new Redactor(options.apiKey));
    const { renewKey, trace } = options;
    const key = new ApiKey(options.apiKey, () => {
      const apiKey = renewKey?.();
      redactor.learn({ apiKey });
      return apiKey;
    });
    const transport = new Transport(options.baseUrl, key, options.observe);
    this.budget = new RequestBudget(settings.minuteMs);
    this.requests = new Requests(transport, { key, redactor, settings, budget: this.budget, trace });
    this.#creator = new Creator(this.requests, transport);
  }

  /** `Sending`: the options of its changes. */
  collection<What extends ListName, Sending extends SendOptions = SendOptions>(
    what: What,
    projectId: string,
  ): Collection<ItemOf<What>, ResponseOf<What>, Sending> {
    const kind = kindOf(what);
    const read = (delayMs: number) =>
      new SharedRead(
        PROJECT + kind.path,
        (request) => this.#read(what, projectId, request),
        delayMs,
        this.settings.readDeadlineMs,
      );
    return new Collection(kind, projectId, {
      lagMs: this.settings.lagMs,
      isDeclaredGone: this.goneProjects.has(projectId),
      ...(kind.inIntegration === true && {
        integration: (since: number) => this.collection("integrations", projectId).find(() => true, { since }),
      }),
      isProjectShown: (since) => this.collection(elsewhereThan(what), projectId).isShown({ since }),
      readsSince: (since) => this.#reads.get(keyOf(what, projectId), read, since),
      invalidating: () => this.#reads.invalidating(kind.touches.map((list) => keyOf(list, projectId))),
      requests: this.requests,
      creator: this.#creator,
    });
  }

  forgetReads(): void {
    this.#reads.forget();
  }

  /**
   * One attempt of each request, not shared, for a loop that retries itself. `isEnough`: how far a history is read, by
   * default its first page.
   */
  async readOnce<What extends ListName>(
    what: What,
    projectId: string,
    isEnough?: (items: readonly ItemOf<What>[]) => boolean,
  ): Promise<readonly ItemOf<What>[]> {
    const options = { deadline: new Deadline(this.settings.readDeadlineMs), retry: false };
    const page = await this.#read(what, projectId, options);
    return isEnough === undefined ? page.items : this.readOn(what, projectId, page, { ...options, isEnough });
  }

  /** The items of a page and of those that follow. `isEnough`: how far a history is read. */
  readOn<What extends ListName>(
    what: What,
    projectId: string,
    first: Page<ItemOf<What>>,
    { isEnough, ...options }: ReadOptions & { readonly isEnough?: (items: readonly ItemOf<What>[]) => boolean },
  ): Promise<readonly ItemOf<What>[]> {
    const { path, idOf } = kindOf(what);
    const read = (cursor: string) => this.#readPage(what, projectId, options, cursor);
    return readOn(first, { read, idOf, isEnough, facts: { method: "GET", path: PROJECT + path } });
  }

  /** A whole list as one page; of a history, the first page. */
  async #read<What extends ListName>(what: What, projectId: string, options: ReadOptions): Promise<Page<ItemOf<What>>> {
    const first = await this.#readPage(what, projectId, options);
    if (first.next === undefined || kindOf(what).isHistory === true) return first;
    // What the list shows is as old as its first page.
    return { items: await this.readOn(what, projectId, first, { ...options, onSend: () => undefined }) };
  }

  #readPage<What extends ListName>(
    what: What,
    projectId: string,
    options: ReadOptions,
    cursor?: string,
  ): Promise<Page<ItemOf<What>>> {
    const { path, page } = kindOf(what);
    const template = PROJECT + path;
    const params = { project_id: projectId };
    const route =
      cursor === undefined
        ? { template, params }
        : {
            template: `${template}${template.includes("?") ? "&" : "?"}cursor={cursor}`,
            params: { ...params, cursor },
          };
    return this.requests.read({ ...options, ...route, method: "GET" }, page);
  }
}

type ReadOptions = Omit<Request, "method" | "template" | "params">;

/** The entry of a name has that name's types. */
const kindOf = <What extends ListName>(what: What): RecordKind<ItemOf<What>, ResponseOf<What>> =>
  RECORDS[what] as unknown as RecordKind<ItemOf<What>, ResponseOf<What>>;
