import { AuthApi } from "./auth";
import type { Answer, Call } from "./caller";
import { Creations } from "./creations";
import type { Deadline } from "./deadline";
import { DeletionWait } from "./deletionWait";
import { EndpointWait } from "./endpointWait";
import { NotFoundError, PermissionError, SvcError } from "./errors";
import { lookFor, sendOrFind } from "./lookFor";
import type { CallOptions, ChangeOptions, CreateEndpointOptions, EndpointAttributes, ReadOptions } from "./options";
import { quietly } from "./progress";
import { ProjectQueue } from "./queue";
import { answers, type Endpoint, type Operation } from "./schemas";
import { ProjectWatch } from "./waiting";

const ENDPOINTS = "/projects/{project_id}/endpoints";
const ENDPOINT = `${ENDPOINTS}/{endpoint_id}`;

/** What an accepted change told. Without operations: it named none, or may not have named all. */
interface Accepted {
  endpointId: string;
  endpoint?: Endpoint | undefined;
  operations?: readonly Operation[] | undefined;
}

/** What belongs to one project. */
interface ProjectState {
  queue: ProjectQueue;
  watch: ProjectWatch;
  creations: Creations;
}

type Common = Pick<Call, "params" | "deadline" | "onProgress" | "retryLocked" | "secretsIn">;

/** The computes: each change is queued, sent and waited for. */
export class ComputeApi extends AuthApi {
  readonly #projects = new Map<string, ProjectState>();

  async createEndpoint(
    projectId: string,
    attributes: EndpointAttributes,
    options: CreateEndpointOptions = {},
  ): Promise<Endpoint> {
    const { creations } = this.#project(projectId);
    const known = options.known ?? (await this.listEndpoints(projectId, { deadline: options.deadline }));
    return this.#change(projectId, knowing(options, attributes), (common) => {
      const call: Call = { ...common, method: "POST", template: ENDPOINTS, body: { endpoint: attributes } };
      const send = () =>
        creations.sending(async () => (await this.core.caller.json(call, answers.endpointChange)).value);
      const list = (): Promise<Endpoint[]> => this.listEndpoints(projectId, { fresh: true });
      const find = async (): Promise<{ endpoint: Endpoint; operations?: Operation[] } | undefined> => {
        const endpoint = await creations.find(list, attributes, known, this.core.settings.lookMs);
        return endpoint && { endpoint };
      };
      return sendOrFind<{ endpoint: Endpoint; operations?: Operation[] | undefined }>(send, find, "the compute").then(
        ({ endpoint, operations }) => ({ endpointId: endpoint.id, endpoint, operations }),
      );
    });
  }

  async updateEndpoint(
    projectId: string,
    endpointId: string,
    attributes: EndpointAttributes,
    options: ChangeOptions = {},
  ): Promise<Endpoint> {
    return this.#change(projectId, knowing(options, attributes), async (common) => {
      const call: Call = { ...common, method: "PATCH", template: ENDPOINT, body: { endpoint: attributes } };
      return this.#sendTo(endpointId, call);
    });
  }

  /** Returns once the compute is off the list and the operations of its deletion have ended. One that is gone is fine. */
  async deleteEndpoint(projectId: string, endpointId: string, options: CallOptions = {}): Promise<void> {
    const send = async (common: Common): Promise<Accepted | undefined> => {
      try {
        return await this.#sendTo(endpointId, { ...common, method: "DELETE", template: ENDPOINT });
      } catch (error) {
        if (error instanceof NotFoundError) return undefined;
        throw error;
      }
    };
    await this.#queued(projectId, options, send, async (accepted, deadline, onProgress, onStillRunning) => {
      if (accepted === undefined) return;
      const { lookMs } = this.core.settings;
      const expected = { endpointId, operations: accepted.operations ?? [], lookMs, onProgress, onStillRunning };
      const condition = new DeletionWait(expected, this.core.redactorOf(options.secretsIn));
      await this.#project(projectId).watch.wait(condition, deadline);
    });
  }

  async restartEndpoint(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<Endpoint> {
    return this.#change(projectId, options, async (common) => {
      // Nothing but its operations tells whether a restart took place, so those of before are noted.
      const before = await this.#operationsToSee(projectId, { fresh: true, deadline: common.deadline });
      const known = new Set(before?.map(({ id }) => id));
      const find = (): Promise<Accepted | undefined> =>
        lookFor(() => this.#findRestart(projectId, endpointId, known), this.core.settings.lookMs);
      const call: Call = { ...common, method: "POST", template: `${ENDPOINT}/restart` };
      return sendOrFind(() => this.#sendTo(endpointId, call), find, "the restart");
    });
  }

  /** Undefined: the service has no such route. Waking a compute twice does no harm, so it is repeatable. */
  async startEndpoint(
    projectId: string,
    endpointId: string,
    options: ChangeOptions = {},
  ): Promise<Endpoint | undefined> {
    const send = async (common: Common): Promise<Accepted | undefined> => {
      try {
        const call: Call = { ...common, method: "POST", template: `${ENDPOINT}/start`, repeatable: true };
        return await this.#sendTo(endpointId, call);
      } catch (error) {
        if (!(error instanceof SvcError) || (error.status !== 404 && error.status !== 405)) throw error;
        if ((await this.getEndpoint(projectId, endpointId, { fresh: true })) === undefined) throw error;
        return undefined;
      }
    };
    return this.#queued(projectId, options, send, async (accepted, deadline, onProgress, onStillRunning) => {
      if (accepted === undefined) return undefined;
      if (accepted.endpoint !== undefined) options.onAccepted?.(accepted.endpoint);
      return this.#untilReady(projectId, accepted, { ...options, deadline, onProgress }, true, onStillRunning);
    });
  }

  /** Waits for a compute that an earlier command has left unfinished. */
  async waitForEndpoint(projectId: string, endpointId: string, options: ChangeOptions = {}): Promise<Endpoint> {
    const deadline = this.core.mutationDeadline(options.deadline);
    const onProgress = quietly(options.onProgress);
    return this.#untilReady(projectId, { endpointId }, { ...options, deadline, onProgress }, false, () => undefined);
  }

  async #change(
    projectId: string,
    options: ChangeOptions,
    send: (common: Common) => Promise<Accepted>,
  ): Promise<Endpoint> {
    const sendAndTell = async (common: Common): Promise<Accepted> => {
      const accepted = await send(common);
      if (accepted.endpoint !== undefined) options.onAccepted?.(accepted.endpoint);
      return accepted;
    };
    return this.#queued(projectId, options, sendAndTell, (accepted, deadline, onProgress, onStillRunning) =>
      this.#untilReady(projectId, accepted, { ...options, deadline, onProgress }, true, onStillRunning),
    );
  }

  /** Through the line of the project; its lists are not kept before the wait has ended. */
  async #queued<A, T>(
    projectId: string,
    options: CallOptions,
    send: (common: Common) => Promise<A>,
    wait: (
      accepted: A,
      deadline: Deadline,
      onProgress: (text: string) => void,
      onStillRunning: (lookedAt: number) => void,
    ) => Promise<T>,
  ): Promise<T> {
    const deadline = this.core.mutationDeadline(options.deadline);
    const onProgress = quietly(options.onProgress);
    return this.core.changing(projectId, ["endpoints", "operations"], () =>
      this.#project(projectId).queue.run<A, T>({
        deadline,
        onProgress,
        send: () =>
          send({
            params: { project_id: projectId },
            deadline,
            onProgress,
            retryLocked: false,
            secretsIn: options.secretsIn,
          }),
        wait: (accepted, onStillRunning) => wait(accepted, deadline, onProgress, onStillRunning),
      }),
    );
  }

  async #sendTo(endpointId: string, call: Call): Promise<Accepted> {
    const params = { ...call.params, endpoint_id: endpointId };
    const answer = await this.core.caller.maybe({ ...call, params }, answers.endpointChange);
    return { endpointId, endpoint: answer.value?.endpoint, operations: toldBy(answer) };
  }

  async #findRestart(projectId: string, endpointId: string, before: Set<string>): Promise<Accepted | undefined> {
    const endpoint = await this.getEndpoint(projectId, endpointId, { fresh: true });
    const operations = await this.#operationsToSee(projectId, { fresh: true });
    const started = operations?.filter(({ id, endpoint_id }) => endpoint_id === endpointId && !before.has(id));
    const restarts = started?.filter(({ action }) => action !== "check_availability") ?? [];
    const underWay =
      endpoint !== undefined && (endpoint.pending_state !== undefined || endpoint.current_state !== "active");
    if (restarts.length > 0) return { endpointId, endpoint, operations: restarts };
    return operations === undefined && underWay ? { endpointId, endpoint } : undefined;
  }

  async #untilReady(
    projectId: string,
    { endpointId, endpoint: answered, operations }: Accepted,
    {
      deadline,
      onProgress,
      idleIsReady = false,
      secretsIn,
    }: ChangeOptions & { deadline: Deadline; onProgress: (text: string) => void },
    changed: boolean,
    onStillRunning: (lookedAt: number) => void,
  ): Promise<Endpoint> {
    const { lookMs } = this.core.settings;
    const expected = { endpointId, answered, operations, changed, idleIsReady, lookMs, onProgress, onStillRunning };
    const condition = new EndpointWait(expected, this.core.redactorOf(secretsIn));
    const done = condition.seeAnswer() ?? { done: await this.#project(projectId).watch.wait(condition, deadline) };
    return done.done;
  }

  /** A key that may not read them is as good as a service without them. */
  #operationsToSee(projectId: string, look: ReadOptions, extra?: { retry: boolean }): Promise<Operation[] | undefined> {
    return this.operationsOf(projectId, look, extra).catch((error: unknown) => {
      if (error instanceof PermissionError) return undefined;
      throw error;
    });
  }

  #project(projectId: string): ProjectState {
    const known = this.#projects.get(projectId);
    if (known !== undefined) return known;
    const { baseDelayMs, pollCeilingMs } = this.core.settings;
    const look: ReadOptions = { fresh: true };
    const watch = new ProjectWatch(async () => {
      const lookedAt = performance.now();
      // Operations first: a list of after their end shows what they have led to.
      const operations = await this.#operationsToSee(projectId, look, { retry: false });
      return { lookedAt, operations, endpoints: await this.endpointsOf(projectId, look, { retry: false }) };
    }, pollCeilingMs);
    const made = { queue: new ProjectQueue(baseDelayMs), watch, creations: new Creations() };
    this.#projects.set(projectId, made);
    return made;
  }
}

/** An operation that the request starts may repeat what was in it. */
const knowing = <Options extends CallOptions>(options: Options, attributes: EndpointAttributes): Options => ({
  ...options,
  secretsIn: [attributes, options.secretsIn],
});

/** The operations to wait for; after a repeated request an answer may tell but half of them. */
function toldBy({
  value,
  repeated,
}: Answer<{ operations?: Operation[] | undefined } | undefined>): Operation[] | undefined {
  return repeated ? undefined : value?.operations;
}
