import type { z } from "zod";
import type { Creation, Creator } from "./createRecovery";
import { Deadline } from "./http/deadline";
import type { ChangeResponse, Request, Requests } from "./http/requests";
import type { ProjectQueue } from "./operations/queue";
import type { WaitOptions } from "./reads/sharedReads";
import type { ListName } from "./records";

const CHANGE_MS = 600_000;

/** The given deadline, or the default one of a change. */
export const changeDeadline = (given: Deadline | undefined): Deadline => given ?? new Deadline(CHANGE_MS);

/** The options of a change. `beforeAttempt` runs after the proof, in the tick in which the attempt is sent. */
export interface SendOptions extends WaitOptions, Pick<Request, "beforeAttempt"> {
  /**
   * The integration that the change is meant for; its `prove` is called right before each attempt
   * (docs/design/rules.md, 2).
   */
  readonly integration?: { prove(options: WaitOptions): Promise<void> };
}

export function changeRequest(
  route: Omit<Request, "deadline" | "onProgress" | "beforeAttempt">,
  { integration, beforeAttempt, deadline, onProgress }: SendOptions,
): Request {
  const proven = integration && {
    beforeAttempt: async () => {
      await integration.prove({ deadline, onProgress });
      await beforeAttempt?.();
    },
  };
  return { ...route, deadline: changeDeadline(deadline), onProgress, ...(proven ?? { beforeAttempt }) };
}

export interface Scope {
  readonly projectId: string;
  /** The lists that the change affects: reads of them from before its end are not cached. */
  readonly lists: readonly ListName[];
}

/**
 * A change by its steps. `Sent`: what is known once the service has accepted it. A creation has steps of its own: see
 * `Creation`.
 */
export interface Change<Body, Sent> extends Scope {
  /** Runs after waiting in the queue, right before the change is sent. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** The request. Its deadline and progress are those of the change. */
  readonly request: Request;
  /** The body of the response; omitted if the route answers without one. */
  readonly schema?: z.ZodType<Body> | undefined;
  /** Proves that an accepted change took effect: by its response, or by a read. */
  readonly accepted: (response: ChangeResponse<Body>) => Promise<Sent> | Sent;
  /** The result in place of an error, of the request or of `accepted`. @default the error is thrown */
  readonly failed?: ((error: unknown) => Promise<Sent> | Sent) | undefined;
}

/** A change that waits for its turn, and holds the project until its wait has ended. */
interface Queued<Sent, Result> {
  readonly queue: ProjectQueue;
  readonly wait: (sent: Sent) => Promise<Result>;
}

type AnyChange<Item, Body, Sent> = Change<Body, Sent> | (Scope & Creation<Item, Body, Sent>);

/** Runs the changes of one account. */
export class Changes {
  constructor(
    private readonly requests: Pick<Requests, "send">,
    private readonly creator: Pick<Creator, "create">,
    /** Call before a change of these lists is sent; call the returned function when it ends, even on failure. */
    private readonly invalidating: (projectId: string, lists: readonly ListName[]) => () => void,
  ) {}

  async run<Item extends object, Body, Sent>(change: AnyChange<Item, Body, Sent>): Promise<Sent>;
  async run<Item extends object, Body, Sent, Result>(
    change: AnyChange<Item, Body, Sent>,
    queued: Queued<Sent, Result>,
  ): Promise<Result>;
  async run<Item extends object, Body, Sent, Result>(
    change: AnyChange<Item, Body, Sent>,
    queued?: Queued<Sent, Result>,
  ): Promise<Sent | Result> {
    const { deadline, onProgress } = change.request;
    const send = () => ("recovery" in change ? this.creator.create(change) : this.#send(change));
    const invalidate = this.invalidating(change.projectId, change.lists);
    try {
      return await (queued === undefined
        ? send()
        : queued.queue.run({ deadline, onProgress, send, wait: queued.wait }));
    } finally {
      invalidate();
    }
  }

  async #send<Body, Sent>({ prepare, request, schema, accepted, failed }: Change<Body, Sent>): Promise<Sent> {
    await prepare?.();
    try {
      return await accepted(await this.requests.send(request, schema));
    } catch (error) {
      if (failed === undefined) throw error;
      return failed(error);
    }
  }
}
