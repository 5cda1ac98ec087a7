import type { z } from "zod";
import { type Call, Caller } from "./caller";
import { Deadline } from "./deadline";
import { AuthenticationError, outOfTime, SvcError } from "./errors";
import type { ClientOptions, ReadOptions } from "./options";
import { redactor, secretsOf } from "./redact";
import { SharedReads } from "./sharedReads";
import { Transport } from "./transport";
import { within } from "./within";

export type Settings = {
  [Name in Exclude<keyof ClientOptions, "userAgent">]-?: Exclude<ClientOptions[Name], undefined>;
};

/** The lists that are shared, by the path they come from. */
export type Collection = "endpoints" | "operations" | "branches" | "project" | AuthCollection;
export type AuthCollection = "integrations" | "oauth_providers" | "domains" | "email_server";

const keyOf = (collection: Collection, projectId: string): string => `${collection} ${projectId}`;

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

/** What all calls of one account share. */
export class Core {
  readonly settings: Settings;
  readonly caller: Caller;
  readonly reads = new SharedReads();
  readonly #transport: Transport;
  /** What stood last in the way of a read that is under way. */
  readonly #met = new WeakMap<Promise<unknown>, { trouble?: SvcError }>();

  constructor(options: ClientOptions) {
    const settings = (this.settings = {
      baseUrl: checkedBaseUrl(options.baseUrl),
      apiKey: checkedKey(options.apiKey),
      attemptTimeoutMs: options.attemptTimeoutMs ?? 10_000,
      mutationAttemptTimeoutMs: options.mutationAttemptTimeoutMs ?? options.attemptTimeoutMs ?? 60_000,
      readDeadlineMs: options.readDeadlineMs ?? 30_000,
      mutationDeadlineMs: options.mutationDeadlineMs ?? 600_000,
      lookMs: options.lookMs ?? 3_000,
      pollCeilingMs: options.pollCeilingMs ?? 2_000,
      baseDelayMs: options.baseDelayMs ?? 250,
    });
    this.#transport = new Transport(settings.baseUrl, settings.apiKey, options.userAgent ?? "pulumi-svc");
    this.caller = new Caller(this.#transport, settings);
  }

  /** Takes the key and the secrets in these things out of text of the service. */
  redactorOf(secretsIn: unknown): (text: string, cap?: number) => string {
    return redactor([this.settings.apiKey, ...secretsOf(secretsIn)]);
  }

  close(): void {
    this.#transport.close();
  }

  /** A GET that others may share, and that has a deadline of its own. Whoever waits for it leaves when his own deadline has passed. */
  read<S extends z.ZodType>(
    collection: Collection,
    projectId: string,
    template: string,
    shape: S,
    { fresh = false, deadline, onProgress }: ReadOptions = {},
    extra: Pick<Call, "query" | "retry"> = {},
  ): Promise<z.infer<S>> {
    const call = (): Promise<z.infer<S>> => {
      const met: { trouble?: SvcError } = {};
      const request: Call = {
        method: "GET",
        template,
        params: { project_id: projectId },
        ...extra,
        deadline: new Deadline(this.settings.readDeadlineMs),
        onProgress,
        onTrouble: (error) => (met.trouble = error),
      };
      const flight = this.caller.json(request, shape).then(({ value }) => value);
      this.#met.set(flight, met);
      return flight;
    };
    // Who makes one attempt only shares it with nobody: the others are promised retries.
    const flight = extra.retry === false ? call() : this.reads.get(keyOf(collection, projectId), call, fresh);
    return within(deadline, flight, ({ totalMs }) =>
      outOfTime(totalMs, { method: "GET", path: template }, this.#met.get(flight)?.trouble),
    );
  }

  epoch(collection: Collection, projectId: string): number {
    return this.reads.epoch(keyOf(collection, projectId));
  }

  /** Keeps nothing of these collections from before the change, during it, or by the time it has ended. */
  async changing<T>(projectId: string, collections: readonly Collection[], change: () => Promise<T>): Promise<T> {
    const over = this.reads.change(collections.map((collection) => keyOf(collection, projectId)));
    try {
      return await change();
    } finally {
      over();
    }
  }

  mutationDeadline(deadline: Deadline | undefined): Deadline {
    return deadline ?? new Deadline(this.settings.mutationDeadlineMs);
  }
}
