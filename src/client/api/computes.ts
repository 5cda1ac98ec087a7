import type { z } from "zod";
import { type Account, PROJECT } from "../account";
import { FateUnknownError, NotFoundError, type SvcError } from "../http/errors";
import type { ChangeResponse, Request } from "../http/requests";
import { ProjectQueue } from "../operations/queue";
import { DeletionWait, type Durations, EndpointWait, type AcceptedChange } from "../operations/waits";
import { ProjectWatch } from "../operations/watch";
import { type Collection, isRouteMissing, type ListOptions } from "../reads/absence";
import type { WaitOptions } from "../reads/sharedReads";
import type { CreationRecovery } from "../createRecovery";
import type { ProjectsApi } from "./projects";
import { bodies, type EndpointAttributes, type EndpointRecord, type OperationRecord } from "./records";

const ENDPOINTS = `${PROJECT}/endpoints`;
const ENDPOINT = `${ENDPOINTS}/{endpoint_id}`;

export interface ChangeOptions extends WaitOptions {
  /** Called as soon as the service has accepted the change, before any waiting. */
  onAccepted?: ((endpoint: EndpointRecord) => void) | undefined;
  /** The compute may end up idle: it is disabled, or a read replica. */
  idleIsReady?: boolean | undefined;
}

/** A creation. `recovery`: how its compute is recognised where the response is lost. */
interface ComputeCreation {
  readonly projectId: string;
  readonly attributes: EndpointAttributes;
  readonly recovery: CreationRecovery<EndpointRecord>;
}

interface ComputeUpdate {
  readonly projectId: string;
  readonly endpointId: string;
  readonly attributes: EndpointAttributes;
  /**
   * The attributes by the compute as a list shows it right before each attempt, after its turn in the queue has come: for a
   * part of them that is not managed and goes along.
   */
  readonly rebuild?: ((now: EndpointRecord) => EndpointAttributes) | undefined;
  /** Whether the record shows what was sent, which decides where the response is inconclusive. */
  readonly isShown: (endpoint: EndpointRecord) => boolean;
  /** The compute as it was read before the change. */
  readonly known?: EndpointRecord | undefined;
}

interface ComputeDeletion {
  readonly projectId: string;
  readonly endpointId: string;
  /** Runs in the tick in which an attempt leaves. What it throws ends the call. */
  readonly beforeAttempt: () => void;
}

/** Every project has this list: a 404 of it, with the service's error body, says that there is no such project. */
export const saysProjectIsMissing = (error: unknown): boolean =>
  error instanceof NotFoundError && error.facts.path === ENDPOINTS;

interface CommonOptions extends Pick<Request, "deadline" | "onProgress" | "retryLocked" | "fate"> {
  params: { project_id: string };
}

/** The computes: each change is queued, sent and waited for. */
export class ComputesApi {
  readonly #states = new Map<string, { queue: ProjectQueue; watch: ProjectWatch; durations: Durations }>();

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

  /** Undefined when it is gone (docs/design/rules.md, 3). */
  async find(projectId: string, endpointId: string, options?: ListOptions): Promise<EndpointRecord | undefined> {
    return this.collection(projectId).find(({ id }) => id === endpointId, options);
  }

  async create(change: ComputeCreation, options: ChangeOptions = {}): Promise<EndpointRecord> {
    const { projectId, attributes, recovery } = change;
    const common = this.#common(projectId, options);
    const send = async (): Promise<AcceptedChange> => {
      const creation = {
        thing: "the compute",
        request: { ...common, method: "POST", template: ENDPOINTS, body: { endpoint: attributes } } as const,
        schema: bodies.endpointChange,
        collection: this.collection(projectId),
        idOf: ({ id }: EndpointRecord) => id,
        idOfResponse: ({ endpoint }: { endpoint: EndpointRecord }) => endpoint.id,
        similarityKey: `${attributes.branch_id ?? ""} ${attributes.type ?? ""}`,
      };
      const outcome = await this.account.creator.create(creation, recovery, options);
      if ("response" in outcome) return { ...outcome.response, endpointId: outcome.response.endpoint.id };
      if (outcome.wasLost) recovery.onFound(outcome.found);
      return { endpointId: outcome.found.id, endpoint: outcome.found };
    };
    return this.#change(common, send, (accepted) => this.#untilReady(accepted, common, options));
  }

  async update(change: ComputeUpdate, options: ChangeOptions = {}): Promise<EndpointRecord> {
    const { projectId, endpointId, attributes, rebuild, isShown, known } = change;
    const common = this.#common(projectId, options);
    let current = attributes;
    const reading: Pick<Request, "beforeAttempt" | "currentBody"> | undefined = rebuild && {
      beforeAttempt: async () => {
        const listed = await this.list(projectId, { deadline: common.deadline, since: performance.now() });
        const now = listed.find(({ id }) => id === endpointId);
        if (now !== undefined) current = rebuild(now);
      },
      currentBody: () => ({ endpoint: current }),
    };
    const body = { endpoint: attributes };
    const request: Request = { ...common, ...reading, method: "PATCH", template: ENDPOINT, body };
    let unconfirmed: SvcError | undefined;
    const send = async (): Promise<AcceptedChange> => {
      try {
        return await this.#sendTo(endpointId, request);
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        unconfirmed = error;
        return { endpointId };
      }
    };
    const wait = (accepted: AcceptedChange) => this.#untilReady({ ...accepted, known }, common, options);
    const endpoint = await this.#change(common, send, wait);
    if (unconfirmed !== undefined && !isShown(endpoint)) throw unconfirmed;
    return endpoint;
  }

  /**
   * Returns once no list shows it. Of a primary the operations have ended then, too, so that its branch is free; and of any
   * compute of a project that locks. A compute that is gone is no error.
   */
  async delete({ projectId, endpointId, beforeAttempt }: ComputeDeletion, options: WaitOptions = {}): Promise<void> {
    const common = this.#common(projectId, options);
    const params = { ...common.params, endpoint_id: endpointId };
    const request: Request = { ...common, method: "DELETE", template: ENDPOINT, params, beforeAttempt };
    const matches = ({ id }: EndpointRecord): boolean => id === endpointId;
    const sendOnce = () => this.account.requests.change(request, bodies.endpointChange);
    // The wait below confirms what was accepted.
    const send = () => this.collection(projectId).deleteItem(matches, endpointId, sendOnce, options, () => true);
    await this.#change(common, send, async (accepted) => {
      if (accepted === undefined) return;
      const { queue, watch, durations } = this.#state(projectId);
      const change = toAcceptedChange(endpointId, accepted);
      const untilQuiet = (): boolean => queue.isSerial || change.endpoint?.type !== "read_only";
      const wait = new DeletionWait(this.account, durations, { ...common, ...change, untilQuiet });
      await watch.wait(wait, common.deadline);
    });
  }

  async restart(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord> {
    const common = this.#common(projectId, options);
    const send = async (): Promise<AcceptedChange> => {
      // Only its operations show whether a restart took place, so the earlier ones are noted.
      const since = performance.now();
      const earlier = await this.projects.operations(projectId, { ...options, since });
      const known = new Set(earlier?.map(({ id }) => id));
      let lost: FateUnknownError | undefined;
      try {
        const accepted = await this.#sendTo(endpointId, { ...common, method: "POST", template: `${ENDPOINT}/restart` });
        // Without a list of operations there is nothing else to confirm it.
        if (accepted.operations !== undefined || earlier === undefined) return accepted;
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        lost = error;
      }
      const isOfRestart = ({ id, endpoint_id, action }: OperationRecord): boolean =>
        endpoint_id === endpointId && !known.has(id) && action !== "check_availability";
      const newOperations = (listed: readonly OperationRecord[]): OperationRecord[] | undefined =>
        listed.some(isOfRestart) ? listed.filter(isOfRestart) : undefined;
      const operations =
        earlier && (await this.account.list("operations", projectId).pollWithinLag(newOperations, options));
      if (operations !== undefined) return { endpointId, operations };
      const outcome = earlier === undefined ? "cannot be looked for" : "was looked for and has not begun";
      const what = lost?.what ?? "it was accepted";
      throw new FateUnknownError(`${what}; the restart ${outcome}`, lost?.facts, "Run pulumi up again");
    };
    return this.#change(common, send, (accepted) => this.#untilReady(accepted, common, options));
  }

  /** Undefined: the service has no such route. Waking a compute twice does no harm, so it is repeatable. */
  async start(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord | undefined> {
    const common = this.#common(projectId, options);
    const send = async (): Promise<AcceptedChange | undefined> => {
      try {
        const request: Request = { ...common, method: "POST", template: `${ENDPOINT}/start`, repeatable: true };
        return await this.#sendTo(endpointId, request);
      } catch (error) {
        // The wait shows whether it starts.
        if (error instanceof FateUnknownError) return { endpointId };
        if (!isRouteMissing(error)) throw error;
        const existing = await this.find(projectId, endpointId, { ...options, since: performance.now() });
        if (existing === undefined) throw error;
        return undefined;
      }
    };
    return this.#change(common, send, async (accepted) => accepted && this.#untilReady(accepted, common, options));
  }

  /** Waits for a compute that an earlier command has left unfinished. */
  async waitFor(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord> {
    return this.#untilReady({ endpointId, changed: false }, this.#common(projectId, options), options);
  }

  /** Sends the change through the project's queue; its lists are cached again once the wait has ended. */
  async #change<A, T>(common: CommonOptions, send: () => Promise<A>, wait: (accepted: A) => Promise<T>): Promise<T> {
    const { params, deadline, onProgress } = common;
    const queued = () => this.#state(params.project_id).queue.run({ deadline, onProgress, send, wait });
    return this.account.invalidating(params.project_id, ["endpoints", "operations"], queued);
  }

  #common(projectId: string, { deadline, onProgress }: WaitOptions): CommonOptions {
    const params = { project_id: projectId };
    const timed = { deadline: this.account.deadline(deadline), onProgress };
    return { params, ...timed, retryLocked: false, fate: { open: false } };
  }

  async #sendTo(endpointId: string, request: Request): Promise<AcceptedChange> {
    const params = { ...request.params, endpoint_id: endpointId };
    return toAcceptedChange(
      endpointId,
      await this.account.requests.change({ ...request, params }, bodies.endpointChange),
    );
  }

  async #untilReady(
    { known, changed = true, ...accepted }: AcceptedChange & { known?: EndpointRecord | undefined; changed?: boolean },
    { params, deadline, onProgress }: CommonOptions,
    { onAccepted, idleIsReady = false }: ChangeOptions,
  ): Promise<EndpointRecord> {
    if (accepted.endpoint !== undefined) onAccepted?.(accepted.endpoint);
    const expected = { ...accepted, onProgress, updatedAtBefore: known?.updated_at, changed, idleIsReady };
    const { watch, durations } = this.#state(params.project_id);
    const wait = new EndpointWait(this.account, durations, expected);
    const seen = wait.checkResponse();
    return seen === undefined ? watch.wait(wait, deadline) : seen.done;
  }

  #state(projectId: string) {
    const known = this.#states.get(projectId);
    if (known !== undefined) return known;
    const { baseDelayMs, pollCeilingMs } = this.account.settings;
    const watch = new ProjectWatch(
      async (needs) => {
        const readAt = performance.now();
        const [operations, endpoints] = await Promise.all([
          needs === "endpoints" ? undefined : this.projects.operationsOnce(projectId).then((listed) => ({ listed })),
          needs === "operations" ? undefined : this.account.readOnce("endpoints", projectId),
        ]);
        return { readAt, operations, endpoints };
      },
      pollCeilingMs,
      this.account.budget,
    );
    const made = { queue: new ProjectQueue(baseDelayMs), watch, durations: new Map<string, number>() };
    this.#states.set(projectId, made);
    return made;
  }
}

/** After a repeated request the response may not name all operations to wait for. */
function toAcceptedChange(
  endpointId: string,
  { value, repeated }: ChangeResponse<z.infer<typeof bodies.endpointChange>>,
): AcceptedChange {
  return { endpointId, endpoint: value?.endpoint, operations: repeated ? undefined : value?.operations };
}
