import { type Account, PROJECT } from "../account";
import { FateUnknownError, type SvcError } from "../http/errors";
import type { Accepted, Request } from "../http/requests";
import { ProjectQueue } from "../operations/queue";
import { DeletionWait, EndpointWait } from "../operations/waits";
import { ProjectWatch } from "../operations/watch";
import type { EndpointAttributes } from "../options";
import { type Collection, deleted, isRouteMissing, type ListOptions } from "../reads/absence";
import type { Waiting } from "../reads/sharedReads";
import type { Creation } from "../unknownFate";
import type { ProjectsApi } from "./projects";
import { bodies, type EndpointRecord, type OperationRecord } from "./records";

const ENDPOINTS = `${PROJECT}/endpoints`;
const ENDPOINT = `${ENDPOINTS}/{endpoint_id}`;

export interface ChangeOptions extends Waiting {
  /** Called as soon as the service has accepted the change, before any waiting. */
  onAccepted?: ((endpoint: EndpointRecord) => void) | undefined;
  /** The compute as it was read before the change. */
  before?: EndpointRecord | undefined;
  /** The compute may end up idle: it is disabled, or a read replica. */
  idleIsReady?: boolean | undefined;
}

/** What an accepted change told. */
interface Told {
  endpointId: string;
  endpoint?: EndpointRecord | undefined;
  /** Undefined: it named none, or may not have named all. */
  operations?: readonly OperationRecord[] | undefined;
}

/** What belongs to one project. */
interface ProjectState {
  queue: ProjectQueue;
  watch: ProjectWatch;
}

type Common = Pick<Request, "params" | "deadline" | "onProgress" | "retryLocked" | "fate">;

/** The computes: each change is queued, sent and waited for. */
export class ComputesApi {
  readonly #account: Account;
  readonly #projects: ProjectsApi;
  readonly #states = new Map<string, ProjectState>();

  constructor(account: Account, projects: ProjectsApi) {
    this.#account = account;
    this.#projects = projects;
  }

  collection(projectId: string): Collection<EndpointRecord> {
    return this.#account.list("endpoints", projectId);
  }

  async list(projectId: string, options?: ListOptions): Promise<readonly EndpointRecord[]> {
    return this.collection(projectId).list(options);
  }

  /** Undefined when it is gone for sure. */
  async find(projectId: string, endpointId: string, options?: ListOptions): Promise<EndpointRecord | undefined> {
    return this.collection(projectId).find(({ id }) => id === endpointId, options);
  }

  async create(
    projectId: string,
    attributes: EndpointAttributes,
    creation: Creation<EndpointRecord>,
    options: ChangeOptions = {},
  ): Promise<EndpointRecord> {
    return this.#change(projectId, options, async (common) => {
      const posting = {
        thing: "the compute",
        request: { ...common, method: "POST", template: ENDPOINTS, body: { endpoint: attributes } } as const,
        shape: bodies.endpointChange,
        collection: this.collection(projectId),
        idOf: ({ id }: EndpointRecord) => id,
        madeId: ({ endpoint }: { endpoint: EndpointRecord }) => endpoint.id,
        alike: `${attributes.branch_id ?? ""} ${attributes.type ?? ""}`,
      };
      const outcome = await this.#account.creations.create(posting, creation, options);
      if ("made" in outcome) return { ...outcome.made, endpointId: outcome.made.endpoint.id };
      if (outcome.wasLost) creation.onFound(outcome.found);
      return { endpointId: outcome.found.id, endpoint: outcome.found };
    });
  }

  /** `isShown`: whether the record shows what was sent. Decides where the response leaves it open. */
  async update(
    projectId: string,
    endpointId: string,
    attributes: EndpointAttributes,
    isShown: (endpoint: EndpointRecord) => boolean,
    options: ChangeOptions = {},
  ): Promise<EndpointRecord> {
    let doubt: SvcError | undefined;
    const endpoint = await this.#change(projectId, options, async (common) => {
      const request: Request = { ...common, method: "PATCH", template: ENDPOINT, body: { endpoint: attributes } };
      try {
        return await this.#sendTo(endpointId, request);
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        doubt = error;
        return { endpointId };
      }
    });
    if (doubt !== undefined && !isShown(endpoint)) throw doubt;
    return endpoint;
  }

  /**
   * Returns once the compute is off the list and the operations of its deletion have ended. One that is gone is fine.
   * `before` runs before each attempt, which leaves in the same tick.
   */
  async delete(projectId: string, endpointId: string, before: () => void, options: Waiting = {}): Promise<void> {
    await this.#queued(projectId, options, {
      send: (common) => {
        const params = { ...common.params, endpoint_id: endpointId };
        const request: Request = { ...common, method: "DELETE", template: ENDPOINT, params, before };
        const gone = () => this.collection(projectId).gone(endpointId, ({ id }) => id === endpointId, options);
        // What was accepted is waited for.
        return deleted(
          () => this.#account.requests.change(request, bodies.endpointChange),
          gone,
          () => true,
        );
      },
      wait: async (accepted, common) => {
        if (accepted === undefined) return;
        const awaited = { ...this.#awaited(common), endpointId, operations: toldBy(accepted) };
        await this.#state(projectId).watch.wait(new DeletionWait(awaited), common.deadline);
      },
    });
  }

  async restart(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord> {
    return this.#change(projectId, options, async (common) => {
      // Nothing but its operations tells whether a restart took place, so those of before are noted.
      const since = performance.now();
      const earlier = await this.#projects.operations(projectId, { ...options, since });
      const known = new Set(earlier?.map(({ id }) => id));
      let lost: FateUnknownError | undefined;
      try {
        const told = await this.#sendTo(endpointId, { ...common, method: "POST", template: `${ENDPOINT}/restart` });
        // Without a list of operations an answer without a body is all there is.
        if (told.operations !== undefined || earlier === undefined) return told;
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        lost = error;
      }
      const isOfRestart = ({ id, endpoint_id, action }: OperationRecord): boolean =>
        endpoint_id === endpointId && !known.has(id) && action !== "check_availability";
      const begun = (listed: readonly OperationRecord[]): OperationRecord[] | undefined =>
        listed.some(isOfRestart) ? listed.filter(isOfRestart) : undefined;
      const operations = earlier && (await this.#account.list("operations", projectId).lookFor(begun, options));
      if (operations !== undefined) return { endpointId, operations };
      const looked = earlier === undefined ? "cannot be looked for" : "was looked for and has not begun";
      const what = lost?.what ?? "it was accepted";
      throw new FateUnknownError(`${what}; the restart ${looked}`, lost?.facts, "Run pulumi up again");
    });
  }

  /** Undefined: the service has no such route. Waking a compute twice does no harm, so it is repeatable. */
  async start(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord | undefined> {
    return this.#queued(projectId, options, {
      send: async (common) => {
        try {
          const request: Request = { ...common, method: "POST", template: `${ENDPOINT}/start`, repeatable: true };
          return await this.#sendTo(endpointId, request);
        } catch (error) {
          // Whether it starts shows.
          if (error instanceof FateUnknownError) return { endpointId };
          if (!isRouteMissing(error)) throw error;
          const stands = await this.find(projectId, endpointId, { ...options, since: performance.now() });
          if (stands === undefined) throw error;
          return undefined;
        }
      },
      wait: async (told, common) => (told === undefined ? undefined : this.#untilReady(told, true, common, options)),
    });
  }

  /** Waits for a compute that an earlier command has left unfinished. */
  async waitFor(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord> {
    return this.#untilReady({ endpointId }, false, this.#common(projectId, options), options);
  }

  async #change(
    projectId: string,
    options: ChangeOptions,
    send: (common: Common) => Promise<Told>,
  ): Promise<EndpointRecord> {
    return this.#queued(projectId, options, {
      send,
      wait: (told, common) => this.#untilReady(told, true, common, options),
    });
  }

  /** Through the line of the project; its lists are not kept before the wait has ended. */
  async #queued<A, T>(
    projectId: string,
    options: Waiting,
    change: { send: (common: Common) => Promise<A>; wait: (told: A, common: Common) => Promise<T> },
  ): Promise<T> {
    const common = this.#common(projectId, options);
    return this.#account.changing(projectId, ["endpoints", "operations"], () =>
      this.#state(projectId).queue.run<A, T>({
        deadline: common.deadline,
        onProgress: (text) => common.onProgress?.(text),
        send: () => change.send(common),
        wait: (told) => change.wait(told, common),
      }),
    );
  }

  #common(projectId: string, { deadline, onProgress }: Waiting): Common {
    const params = { project_id: projectId };
    return {
      params,
      deadline: this.#account.deadline(deadline),
      onProgress,
      retryLocked: false,
      fate: { open: false },
    };
  }

  async #sendTo(endpointId: string, request: Request): Promise<Told> {
    const params = { ...request.params, endpoint_id: endpointId };
    const accepted = await this.#account.requests.change({ ...request, params }, bodies.endpointChange);
    return { endpointId, endpoint: accepted.value?.endpoint, operations: toldBy(accepted) };
  }

  async #untilReady(
    told: Told,
    changed: boolean,
    common: Common,
    { onAccepted, before, idleIsReady = false }: ChangeOptions,
  ): Promise<EndpointRecord> {
    const { endpoint: answered, endpointId, operations } = told;
    if (answered !== undefined && changed) onAccepted?.(answered);
    const awaited = { ...this.#awaited(common), endpointId, operations, before: before?.updated_at };
    const wait = new EndpointWait({ ...awaited, answered, changed, idleIsReady });
    const seen = wait.seeAnswer();
    if (seen !== undefined) return seen.done;
    return this.#state(common.params["project_id"] ?? "").watch.wait(wait, common.deadline);
  }

  #awaited({ onProgress }: Common) {
    const { redactor, settings } = this.#account;
    return { lagMs: settings.lagMs, redactor, onProgress: (text: string) => onProgress?.(text) };
  }

  #state(projectId: string): ProjectState {
    const known = this.#states.get(projectId);
    if (known !== undefined) return known;
    const { baseDelayMs, pollCeilingMs } = this.#account.settings;
    const watch = new ProjectWatch(async () => {
      const lookedAt = performance.now();
      // Operations first: a list of after their end shows what they have led to.
      const operations = await this.#projects.operationsNow(projectId);
      return { lookedAt, operations, endpoints: await this.#account.look("endpoints", projectId) };
    }, pollCeilingMs);
    const made = { queue: new ProjectQueue(baseDelayMs), watch };
    this.#states.set(projectId, made);
    return made;
  }
}

/** The operations to wait for; after a repeated request a response may tell but half of them. */
function toldBy({
  value,
  repeated,
}: Accepted<{ operations?: OperationRecord[] | undefined }>): OperationRecord[] | undefined {
  return repeated ? undefined : value?.operations;
}
