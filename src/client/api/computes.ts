import type { Account } from "../account";
import { changeDeadline } from "../changes";
import type { Collection, Expected, ListOptions } from "../collection";
import type { CreationRecovery } from "../createRecovery";
import type { Deadline } from "../http/deadline";
import { BadResponseError, ConflictError, FateUnknownError, NotFoundError, NotStartingError } from "../http/errors";
import type { Request } from "../http/request";
import type { ChangeResponse } from "../http/requests";
import { Conflicts } from "../operations/conflicts";
import { ProjectQueue } from "../operations/queue";
import { DeletionWait, type Durations, EndpointWait, type AcceptedChange } from "../operations/waits";
import { ProjectWatch, type Snapshot } from "../operations/watch";
import { type Destruction, gatedRequest } from "../gate";
import { Gone, Granted, type Sighting, Unknown } from "../proof";
import { isRouteMissing } from "../reads/absence";
import { IncompleteListError } from "../reads/pages";
import type { WaitOptions } from "../reads/sharedReads";
import type { ProjectsApi } from "./projects";
import {
  type EndpointAttributes,
  type EndpointChange,
  type EndpointRecord,
  type OperationRecord,
  PROJECT,
  RECORDS,
} from "../records";

const { path, response: schema } = RECORDS.endpoints;

export interface ChangeOptions extends WaitOptions {
  /** Called as soon as the service has accepted the change, before any waiting. */
  onAccepted?: ((endpoint: EndpointRecord) => void) | undefined;
  /** The compute may end up idle: it is disabled, or a read replica. */
  idleIsReady?: boolean | undefined;
}

/** A creation. `recovery`: how to recognise its compute if the response is lost. */
interface ComputeCreation {
  readonly projectId: string;
  readonly attributes: EndpointAttributes;
  readonly recovery: CreationRecovery<EndpointRecord>;
  readonly expected: Expected<EndpointRecord>;
}

interface ComputeUpdate {
  readonly projectId: string;
  readonly endpointId: string;
  readonly attributes: EndpointAttributes;
  /**
   * Computes the attributes from the compute in the list that is read right before each attempt, after waiting in the
   * queue: some of the attributes are not managed but sent along.
   */
  readonly rebuild?: ((now: EndpointRecord) => EndpointAttributes) | undefined;
  readonly expected: Expected<EndpointRecord>;
  /** The compute as it was read before the change. */
  readonly known?: EndpointRecord | undefined;
}

interface ComputeDeletion {
  readonly projectId: string;
  readonly endpointId: string;
}

/** Every project has this list: a 404 with the service's error body means that the project does not exist. */
export const saysProjectIsMissing = (error: unknown): boolean =>
  error instanceof NotFoundError && error.facts.path === PROJECT + path;

/** Of a request that the queue of the project repeats: a lock is left to it. */
const QUEUED = () => ({ retryLocked: false, fate: { open: false } });

interface Route extends Pick<Request, "method" | "body" | "repeatable"> {
  readonly endpointId?: string;
  /** The end of the route of an action. */
  readonly action?: string;
}

/** The project of a change or a wait, and its options. */
interface Scope extends ChangeOptions {
  readonly projectId: string;
  readonly deadline: Deadline;
  /** Whether a listed compute is why the service refuses the change with a 409. Without it, none can be. */
  readonly explainsConflict?: (endpoint: EndpointRecord) => boolean;
}

/** Why a compute cannot become the primary of a branch. */
const occupies =
  (branchId: string | undefined, moverId?: string) =>
  ({ id, type, branch_id }: EndpointRecord): boolean =>
    type === "read_write" && branch_id === branchId && id !== moverId;

/** A change that was sent. `lost`: whether it took effect is unknown. */
interface SentChange extends AcceptedChange {
  readonly lost?: FateUnknownError;
}

/** Queues, sends and waits for each change of a compute. */
export class ComputesApi {
  readonly #states = new Map<string, { queue: ProjectQueue; watch: ProjectWatch; durations: Durations }>();

  constructor(
    private readonly account: Account,
    private readonly projects: ProjectsApi,
  ) {}

  private collection(projectId: string): Collection<EndpointRecord, EndpointChange> {
    return this.account.collection("endpoints", projectId);
  }

  async list(projectId: string, options?: ListOptions): Promise<readonly EndpointRecord[]> {
    return this.collection(projectId).list(options);
  }

  /** See `Collection.find`. */
  async find(projectId: string, endpointId: string, options?: ListOptions): Promise<Sighting<EndpointRecord>> {
    return this.collection(projectId).find(({ id }) => id === endpointId, options);
  }

  async create(
    { projectId, attributes, recovery, expected }: ComputeCreation,
    options: ChangeOptions = {},
  ): Promise<EndpointRecord> {
    const { branch_id: branchId, type } = attributes;
    const isPrimary = type === "read_write";
    const scope = this.#scope(projectId, options, isPrimary ? { explainsConflict: occupies(branchId) } : {});
    const request = this.#request(scope, { method: "POST", body: { endpoint: attributes } });
    const similarityKey = `${attributes.branch_id ?? ""} ${attributes.type ?? ""}`;
    const send = async (): Promise<AcceptedChange> => {
      const made = await this.collection(projectId).post(request, { similarityKey, recovery });
      if ("response" in made) return { ...made.response, endpointId: made.response.endpoint.id };
      if (made.wasLost) recovery.onFound(made.found);
      return { endpointId: made.found.id, endpoint: made.found };
    };
    const endpoint = await this.#run(scope, send, (accepted) => this.#untilReady(scope, accepted));
    return this.collection(projectId).untilShown(endpoint, expected, scope);
  }

  /** Starts a compute that is not ready after the change, and that nothing else would start. */
  async update(change: ComputeUpdate, options: ChangeOptions = {}): Promise<EndpointRecord> {
    const { projectId, endpointId, attributes, rebuild, expected, known } = change;
    const { branch_id: branchId } = attributes;
    const moves = branchId !== undefined && known?.type !== "read_only";
    const scope = this.#scope(projectId, options, moves ? { explainsConflict: occupies(branchId, endpointId) } : {});
    let current = attributes;
    const reading: Pick<Request, "beforeAttempt" | "currentBody"> | undefined = rebuild && {
      beforeAttempt: async () => {
        const listed = await this.list(projectId, { deadline: scope.deadline, since: performance.now() });
        const now = listed.find(({ id }) => id === endpointId);
        if (now !== undefined) current = rebuild(now);
      },
      currentBody: () => ({ endpoint: current }),
    };
    const route = { method: "PATCH", endpointId, body: { endpoint: attributes } } as const;
    const request = { ...this.#request(scope, route), ...reading };
    const untilReady = async ({ lost, ...accepted }: SentChange): Promise<EndpointRecord> => {
      const endpoint = await this.#untilReady(scope, { ...accepted, known });
      if (lost !== undefined && expected.differing(endpoint, endpoint, true).length > 0) throw lost;
      return endpoint;
    };
    const startInstead = async (error: unknown): Promise<EndpointRecord> => {
      if (!(error instanceof NotStartingError) || known?.disabled === true) throw error;
      const started = await this.start(projectId, endpointId, options);
      if (started === undefined) throw error;
      return started;
    };
    const changed = await this.#run(scope, () => this.#send(endpointId, request), untilReady).catch(startInstead);
    return this.collection(projectId).untilShown(changed, expected, scope);
  }

  /**
   * Returns once no list shows it. For a primary, and for any compute of a project that locks, its operations have
   * ended too, so that its branch is free. It is not an error if the compute is gone.
   * @param destruction by default the compute is the one that is meant: the service never gives its id twice
   */
  async delete(
    { projectId, endpointId }: ComputeDeletion,
    destruction: Omit<Destruction, "isMeant"> & Partial<Pick<Destruction, "isMeant">>,
  ): Promise<Gone> {
    const { isMeant = () => Granted.proven(), ...options } = destruction;
    const scope = this.#scope(projectId, options);
    const route = { ...this.collection(projectId).one(endpointId), ...QUEUED() };
    const request = gatedRequest({ method: "DELETE", ...route }, { ...options, deadline: scope.deadline, isMeant });
    const deletion = {
      matches: ({ id }: EndpointRecord) => id === endpointId,
      thing: endpointId,
      // The wait below confirms the accepted deletion.
      needsNoList: () => true,
    };
    const send = () => this.account.requests.send(request, schema);
    return this.#run(
      scope,
      () => this.collection(projectId).proveDeleted(send, deletion, options),
      async (accepted) => {
        if (accepted instanceof Gone) return accepted;
        const { queue, watch, durations } = this.#state(projectId);
        const change = toAcceptedChange(endpointId, accepted);
        const untilQuiet = (): boolean => queue.isSerial || change.endpoint?.type !== "read_only";
        const { onProgress, deadline } = scope;
        await watch.wait(new DeletionWait(this.account, durations, { onProgress, ...change, untilQuiet }), deadline);
        const gone = Gone.proven("its deletion was accepted, and the list lacks it");
        if (accepted.value !== undefined) return gone;
        // A body that is missing says nothing, and the list that lacks it may be older than its creation.
        const listed = await this.collection(projectId).listAfterLag(options);
        if (!listed.some(deletion.matches)) return gone;
        throw new BadResponseError(`the deletion was answered without a body, and ${endpointId} is still listed`);
      },
    );
  }

  async restart(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord> {
    const explainsConflict = ({ id, current_state }: EndpointRecord): boolean =>
      id === endpointId && current_state !== "active";
    const scope = this.#scope(projectId, options, { explainsConflict });
    const request = this.#request(scope, { method: "POST", endpointId, action: "/restart" });
    const send = async () => {
      // Only operations show whether a restart took place, so the earlier ones are noted.
      const earlier = await this.projects.operations(projectId, { ...options, since: performance.now() });
      return { earlier, sent: await this.#send(endpointId, request) };
    };
    const begun = async ({ earlier, sent: { lost, ...accepted } }: Awaited<ReturnType<typeof send>>) => {
      // Without a list of operations nothing else can confirm it.
      if (lost === undefined && (accepted.operations !== undefined || earlier === undefined)) return accepted;
      const known = new Set(earlier?.map(({ id }) => id));
      const isOfRestart = ({ id, endpoint_id, action }: OperationRecord): boolean =>
        endpoint_id === endpointId && !known.has(id) && action !== "check_availability";
      const newOperations = (listed: readonly OperationRecord[]): OperationRecord[] | undefined =>
        listed.some(isOfRestart) ? listed.filter(isOfRestart) : undefined;
      const operations =
        earlier && (await this.account.collection("operations", projectId).pollWithinLag(newOperations, options));
      if (operations !== undefined) return { endpointId, operations };
      const outcome =
        earlier === undefined
          ? "without a list of operations the restart cannot be confirmed"
          : "the list of operations does not show the restart";
      const what = lost?.what ?? "the service accepted it";
      throw new FateUnknownError(`${what}; ${outcome}`, lost?.facts, "Run pulumi up again");
    };
    return this.#run(scope, send, async (sent) => this.#untilReady(scope, await begun(sent)));
  }

  /** Undefined: the service has no such route. Waking a compute twice does no harm, so it is repeatable. */
  async start(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord | undefined> {
    const explainsConflict = ({ id, disabled }: EndpointRecord): boolean => id === endpointId && disabled === true;
    const scope = this.#scope(projectId, options, { explainsConflict });
    const request = this.#request(scope, { method: "POST", endpointId, action: "/start", repeatable: true });
    const send = async (): Promise<SentChange | undefined> => {
      try {
        return await this.#send(endpointId, request);
      } catch (error) {
        if (!isRouteMissing(error)) throw error;
        const existing = await this.find(projectId, endpointId, { ...options, since: performance.now() });
        if (existing instanceof Gone || existing instanceof Unknown) throw error;
        return undefined;
      }
    };
    // If the response was lost, the wait shows whether it starts.
    return this.#run(scope, send, async (sent) => sent && this.#untilReady(scope, sent));
  }

  /** Waits for a compute that an earlier command left unfinished. */
  async waitFor(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<EndpointRecord> {
    return this.#untilReady(this.#scope(projectId, options), { endpointId, changed: false });
  }

  #scope(projectId: string, options: ChangeOptions, more: Pick<Scope, "explainsConflict"> = {}): Scope {
    return { ...options, ...more, projectId, deadline: changeDeadline(options.deadline) };
  }

  /** Sends a change when its turn has come, and holds the project until its wait has ended. */
  #run<Sent, Result>(scope: Scope, send: () => Promise<Sent>, wait: (sent: Sent) => Promise<Result>): Promise<Result> {
    const { projectId, deadline, onProgress } = scope;
    const { queue } = this.#state(projectId);
    const conflicts = this.#conflictsOf(scope);
    const sendOrSeeLock = () =>
      send().catch(async (error: unknown) => {
        throw error instanceof ConflictError ? await conflicts.meaningOf(error) : error;
      });
    return this.collection(projectId).changing(() => queue.run({ deadline, onProgress, send: sendOrSeeLock, wait }));
  }

  #conflictsOf({ projectId, deadline, onProgress, explainsConflict }: Scope): Conflicts {
    const now = () => ({ deadline, onProgress, since: performance.now() });
    return new Conflicts({
      computes: () => this.list(projectId, now()),
      operations: () => this.projects.operations(projectId, now()),
      explains: explainsConflict,
    });
  }

  async #send(endpointId: string, request: Request): Promise<SentChange> {
    try {
      return toAcceptedChange(endpointId, await this.account.requests.send(request, schema));
    } catch (error) {
      if (!(error instanceof FateUnknownError)) throw error;
      return { endpointId, lost: error };
    }
  }

  async #untilReady(
    { projectId, deadline, onProgress, onAccepted, idleIsReady = false }: Scope,
    { known, changed = true, ...accepted }: AcceptedChange & { known?: EndpointRecord | undefined; changed?: boolean },
  ): Promise<EndpointRecord> {
    if (accepted.endpoint !== undefined) onAccepted?.(accepted.endpoint);
    const { watch, durations } = this.#state(projectId);
    const expected = { ...accepted, onProgress, updatedAtBefore: known?.updated_at, changed, idleIsReady };
    const wait = new EndpointWait(this.account, durations, expected);
    const seen = wait.checkResponse();
    return seen === undefined ? watch.wait(wait, deadline) : seen.done;
  }

  #request({ projectId, deadline, onProgress }: Scope, { endpointId, action = "", ...route }: Route): Request {
    const collection = this.collection(projectId);
    const { template, params } = endpointId === undefined ? collection.all() : collection.one(endpointId);
    return {
      ...route,
      template: template + action,
      params,
      deadline,
      onProgress,
      ...QUEUED(),
    };
  }

  /** One attempt, as far as the service shows the list. */
  async #listedOnce(projectId: string): Promise<Pick<Snapshot, "endpoints" | "incomplete">> {
    try {
      return { endpoints: await this.account.readOnce("endpoints", projectId) };
    } catch (error) {
      if (!(error instanceof IncompleteListError)) throw error;
      return { endpoints: error.seen(), incomplete: error.forWhole };
    }
  }

  #state(projectId: string) {
    const known = this.#states.get(projectId);
    if (known !== undefined) return known;
    const { baseDelayMs, pollCeilingMs } = this.account.settings;
    const watch = new ProjectWatch(
      async (needs, isEnough) => {
        const readAt = performance.now();
        const operations =
          needs === "endpoints"
            ? undefined
            : this.projects.operationsOnce(projectId, isEnough).then((listed) => ({ listed }));
        if (this.account.budget.isTight) await operations;
        const endpoints = needs === "operations" ? undefined : this.#listedOnce(projectId);
        const [listed, computes = { endpoints: undefined }] = await Promise.all([operations, endpoints]);
        return { readAt, operations: listed, ...computes };
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
function toAcceptedChange(endpointId: string, { value, repeated }: ChangeResponse<EndpointChange>): AcceptedChange {
  return { endpointId, endpoint: value?.endpoint, operations: repeated ? undefined : value?.operations };
}
