import { valuesBehind } from "../contract/references";
import { Account } from "./account";
import { AuthApi } from "./api/auth";
import { ComputesApi } from "./api/computes";
import { ProjectsApi } from "./api/projects";
import type { ClientOptions } from "./clientOptions";
import type { Collection } from "./collection";
import { Deadline, READ_MS } from "./http/deadline";
import type { GatedRequest, Request } from "./http/request";
import type { ItemOf, ListName, ResponseOf } from "./records";

/** A request as it stands on the wire. `beforeAttempt` throws if it must not be sent. */
export type ProbeRequest = Pick<Request, "template" | "params" | "body" | "beforeAttempt"> &
  Pick<GatedRequest, "method">;

/** The lists that belong to no integration. */
type ProjectList = Exclude<ListName, "integrations" | "oauthProviders" | "domains" | "emailServer">;

/**
 * The typed API of one account. A process has one client per account: reads are shared, and changes of computes are
 * queued.
 */
export class Client {
  readonly projects: ProjectsApi;
  readonly computes: ComputesApi;
  readonly auth: AuthApi;
  /** How long an attempt of a change may take. It is never cut short: its fate would be unknown. */
  readonly longestAttemptMs: number;
  readonly #account: Account;

  constructor(options: ClientOptions) {
    this.#account = new Account(options);
    const { mutationAttemptTimeoutMs, lagMs } = this.#account.settings;
    this.longestAttemptMs = mutationAttemptTimeoutMs + lagMs;
    this.projects = new ProjectsApi(this.#account);
    this.computes = new ComputesApi(this.#account, this.projects);
    this.auth = new AuthApi(this.#account);
  }

  /**
   * The objects of a list, with the rules of truth. Computes are changed through `computes`, which queues them; what an
   * integration holds is changed through `auth`, with a proof of whose it is.
   */
  collection<What extends ProjectList>(what: What, projectId: string): Collection<ItemOf<What>, ResponseOf<What>> {
    return this.#account.collection(what, projectId);
  }

  /**
   * Sends one attempt and judges nothing: for a report on the service (test/live). `observe` receives the response,
   * too.
   */
  async probe(request: ProbeRequest): Promise<{ status: number; text: string }> {
    return this.#account.requests.probe({ ...request, deadline: new Deadline(READ_MS) });
  }

  /** Reads every list anew from now on, as another process would: a probe may have changed it, or somebody else. */
  forgetReads(): void {
    this.#account.forgetReads();
  }

  /** The most requests per minute from now on; undefined: no limit. */
  limitRequests(maxRequestsPerMinute: number | undefined): void {
    this.#account.budget.limit = maxRequestsPerMinute;
  }

  /** A person has said that these projects are gone: from now on a 404 for a whole project of them is believed. */
  believeGone(projectIds: readonly string[]): void {
    this.#account.goneProjects = new Set(projectIds);
  }

  /**
   * Remembers the secrets in these arguments or outputs, and those that they refer to, so that no message repeats them.
   * A refresh and a destroy send none of these, but the service may still repeat them.
   */
  learnSecrets(...properties: readonly unknown[]): void {
    const named = valuesBehind(properties).map((secret) => ({ secret }));
    this.#account.redactor.learn(...properties, ...named);
  }
}
