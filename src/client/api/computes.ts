import type { z } from "zod";
import { type Account, PROJECT } from "../account";
import { FateUnknownError, type SvcError } from "../http/errors";
import type { Accepted, Request } from "../http/requests";
import { ProjectQueue } from "../operations/queue";
import { DeletionWait, EndpointWait, type Told } from "../operations/waits";
import { ProjectWatch } from "../operations/watch";
import { type Collection, isRouteMissing, type ListOptions } from "../reads/absence";
import type { Waiting } from "../reads/sharedReads";
import type { Creation } from "../unknownFate";
import type { ProjectsApi } from "./projects";
import { bodies, type EndpointAttributes, type EndpointRecord, type OperationRecord } from "./records";

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

interface Common extends Pick<Request, "deadline" | "onProgress" | "retryLocked" | "fate"> {
  params: { project_id: string };
}

/** The computes: each change is queued, sent and waited for. */
export class ComputesApi {
  readonly #states = new Map<string, { queue: ProjectQueue; watch: ProjectWatch }>();

  constructor(
    private readonly account: Account,
    private readonly projects: ProjectsApi,
  ) {}

  collection(projectId: string): Collection<EndpointRecord> {
    return this.account.list("endpoints", projectId);
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
    const common = this.#common(projectId, options);
    const send = async (): Promise<Told> => {
      const posting = {
        thing: "the compute",
        request: { ...common, method: "POST", template: ENDPOINTS, body: { endpoint: attributes } } as const,
        shape: bodies.endpointChange,
        collection: this.collection(projectId),
        idOf: ({ id }: EndpointRecord) => id,
        madeId: ({ endpoint }: { endpoint: EndpointRecord }) => endpoint.id,
        alike: `${attributes.branch_id ?? ""} ${attributes.type ?? ""}`,
      };
      const outcome = await this.account.creations.create(posting, creation, options);
      if ("made" in outcome) return { ...outcome.made, endpointId: outcome.made.endpoint.id };
      if (outcome.wasLost) creation.onFound(outcome.found);
      return { endpointId: outcome.found.id, endpoint: outcome.found };
    };
    return this.#change(common, send, (told) => this.#untilReady(told, common, options));
  }

  /** `isShown`: whether the record shows what was sent, which decides where the response leaves it open. */
  async update(
    projectId: string,
    endpointId: string,
    attributes: EndpointAttributes,
    isShown: (endpoint: EndpointRecord) => boolean,
    options: ChangeOptions = {},
  ): Promise<EndpointRecord> {
    const common = this.#common(projectId, options);
    const request: Request = { ...common, method: "PATCH", template: ENDPOINT, body: { endpoint: attributes } };
    let doubt: SvcError | undefined;
    const send = async (): Promise<Told> => {
      try {
        return await this.#sendTo(endpointId, request);
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        doubt = error;
        return { endpointId };
      }
    };
    const endpoint = await this.#change(common, send, (told) => this.#untilReady(told, common, options));
    if (doubt !== undefined && !isShown(endpoint)) throw doubt;
    return endpoint;
  }

  /** Returns once it is off the list and the operations of its deletion have ended. One that is gone is fine. */
  async delete(projectId: string, endpointId: string, before: () => void, options: Waiting = {}): Promise<void> {
    const common = this.#common(projectId, options);
    const params = { ...common.params, endpoint_id: endpointId };
    const request: Request = { ...common, method: "DELETE", template: ENDPOINT, params, before };
    const isIt = ({ id }: EndpointRecord): boolean => id === endpointId;
    const sendOnce = () => this.account.requests.change(request, bodies.endpointChange);
    // What was accepted is waited for.
    const send = () => this.collection(projectId).without(isIt, endpointId, sendOnce, options, () => true);
    await this.#change(common, send, async (accepted) => {
      if (accepted === undefined) return;
      const wait = new DeletionWait(this.account, { ...common, ...toldBy(endpointId, accepted) });
      await this.#state(projectId).watch.wait(wait, common.deadline);
    });
  }

  async restart(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord> {
    const common = this.#common(projectId, options);
    const send = async (): Promise<Told> => {
      // Nothing but its operations tells whether a restart took place, so those of before are noted.
      const since = performance.now();
      const earlier = await this.projects.operations(projectId, { ...options, since });
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
      const operations = earlier && (await this.account.list("operations", projectId).lookFor(begun, options));
      if (operations !== undefined) return { endpointId, operations };
      const looked = earlier === undefined ? "cannot be looked for" : "was looked for and has not begun";
      const what = lost?.what ?? "it was accepted";
      throw new FateUnknownError(`${what}; the restart ${looked}`, lost?.facts, "Run pulumi up again");
    };
    return this.#change(common, send, (told) => this.#untilReady(told, common, options));
  }

  /** Undefined: the service has no such route. Waking a compute twice does no harm, so it is repeatable. */
  async start(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord | undefined> {
    const common = this.#common(projectId, options);
    const send = async (): Promise<Told | undefined> => {
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
    };
    return this.#change(common, send, async (told) => told && this.#untilReady(told, common, options));
  }

  /** Waits for a compute that an earlier command has left unfinished. */
  async waitFor(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord> {
    return this.#untilReady({ endpointId }, this.#common(projectId, options), options, false);
  }

  /** Through the line of the project; its lists are not kept before the wait has ended. */
  async #change<A, T>(common: Common, send: () => Promise<A>, wait: (told: A) => Promise<T>): Promise<T> {
    const { params, deadline, onProgress } = common;
    const queued = () => this.#state(params.project_id).queue.run({ deadline, onProgress, send, wait });
    return this.account.changing(params.project_id, ["endpoints", "operations"], queued);
  }

  #common(projectId: string, { deadline, onProgress }: Waiting): Common {
    const params = { project_id: projectId };
    const timed = { deadline: this.account.deadline(deadline), onProgress };
    return { params, ...timed, retryLocked: false, fate: { open: false } };
  }

  async #sendTo(endpointId: string, request: Request): Promise<Told> {
    const params = { ...request.params, endpoint_id: endpointId };
    return toldBy(endpointId, await this.account.requests.change({ ...request, params }, bodies.endpointChange));
  }

  async #untilReady(
    told: Told,
    common: Common,
    { onAccepted, before, idleIsReady = false }: ChangeOptions,
    changed = true,
  ): Promise<EndpointRecord> {
    if (told.endpoint !== undefined) onAccepted?.(told.endpoint);
    const expected = { ...told, onProgress: common.onProgress, before: before?.updated_at, changed, idleIsReady };
    const wait = new EndpointWait(this.account, expected);
    const seen = wait.seeAnswer();
    if (seen !== undefined) return seen.done;
    return this.#state(common.params.project_id).watch.wait(wait, common.deadline);
  }

  #state(projectId: string) {
    const known = this.#states.get(projectId);
    if (known !== undefined) return known;
    const { baseDelayMs, pollCeilingMs } = this.account.settings;
    const watch = new ProjectWatch(async () => {
      const lookedAt = performance.now();
      // Operations first: a list of after their end shows what they have led to.
      const operations = await this.projects.operationsNow(projectId);
      return { lookedAt, operations, endpoints: await this.account.look("endpoints", projectId) };
    }, pollCeilingMs);
    const made = { queue: new ProjectQueue(baseDelayMs), watch };
    this.#states.set(projectId, made);
    return made;
  }
}

/** After a repeated request a response may tell but half of the operations to wait for. */
function toldBy(endpointId: string, { value, repeated }: Accepted<z.infer<typeof bodies.endpointChange>>): Told {
  return { endpointId, endpoint: value?.endpoint, operations: repeated ? undefined : value?.operations };
}
