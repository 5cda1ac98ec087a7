/**
 * Creates objects, and finds the object of a POST whose response was lost or unusable. It is claimed only when it is
 * proven to be ours (docs/design/rules.md, 2).
 */
import type { z } from "zod";
import { FateUnknownError, SvcError } from "./http/errors";
import type { Request, Requests } from "./http/requests";
import type { Transport } from "./http/transport";
import type { Collection } from "./reads/absence";
import type { WaitOptions } from "./reads/sharedReads";

/** The service tells its time in whole seconds. */
const CLOCK_STEP_MS = 1_000;

/** How to recognise the object of a creation whose response was lost, or had no body. */
export interface CreationRecovery<Item> {
  /**
   * Checks the list that is read right before each attempt, which is sent in the same tick. What it throws ends the
   * creation before anything is sent.
   */
  readonly checkListed?: ((listed: readonly Item[]) => void) | undefined;
  /** Whether it shows every readable attribute that was sent, with the value that was sent. */
  readonly isOurs: (item: Item) => boolean;
  /** The same where the request was accepted with an empty response. @default isOurs */
  readonly isOursIfAccepted?: ((item: Item) => boolean) | undefined;
  /** Whether a new object may be the one: if it is not proven to be ours, the message names it. */
  readonly isCandidate: (item: Item) => boolean;
  /** Describes a candidate that is not proven to be ours, with its age and what differs. */
  readonly describe: (item: Item) => string;
  /** What to do about candidates that are not proven to be ours. */
  readonly advice?: ((items: readonly Item[]) => string) | undefined;
  readonly onFound: (item: Item) => void;
}

interface CreationRequest<Item, Body> {
  /** For messages, such as `the compute`. */
  readonly thing: string;
  readonly request: Request;
  /** Undefined: the route answers without a body. */
  readonly schema: z.ZodType<Body> | undefined;
  readonly collection: Collection<Item>;
  readonly idOf: (item: Item) => string;
  readonly idOfResponse?: ((response: Body) => string) | undefined;
  /** Equal for creations whose objects could be taken for each other: these are sent one after the other. */
  readonly similarityKey: string;
}

/** The response, or the object that was found where the response was lost or empty. */
type CreationOutcome<Item, Body> = { readonly response: Body } | { readonly found: Item; readonly wasLost: boolean };

/**
 * Sends the creations of one account. Similar ones are sent one after the other, so that the object of a lost response
 * is not that of an earlier creation, and no later one is under way.
 */
export class ObjectCreator {
  /** By similarity key. `lastEnd` settles when the last creation of the group has ended. */
  readonly #groups = new Map<string, { lastEnd: Promise<void>; readonly claimed: Set<string> }>();

  constructor(
    private readonly requests: Pick<Requests, "change">,
    private readonly clock: Pick<Transport, "serviceNow">,
  ) {}

  async create<Item extends object, Body>(
    creation: CreationRequest<Item, Body>,
    recovery: CreationRecovery<Item>,
    options: WaitOptions,
  ): Promise<CreationOutcome<Item, Body>> {
    const { thing, request, schema, collection, idOf, idOfResponse } = creation;
    const { isOurs, isOursIfAccepted = isOurs } = recovery;
    let listedBefore = new Set<string>();
    let sentAt = Number.NaN;
    const before = async (): Promise<void> => {
      const listed = await collection.list({ ...options, since: performance.now() });
      listedBefore = new Set(listed.map(idOf));
      recovery.checkListed?.(listed);
      // Of several attempts only the last one may have taken effect: another was refused, or never arrived.
      sentAt = this.clock.serviceNow();
    };
    const { claimed, leave } = await this.#enterGroup(
      `${thing} ${JSON.stringify(request.params)} ${creation.similarityKey}`,
      options,
    );
    try {
      let lost: FateUnknownError | undefined;
      try {
        const { value } = await this.requests.change({ ...request, before }, schema);
        const id = value === undefined ? undefined : idOfResponse?.(value);
        // An object that existed before is not the one that this request has created.
        if (id !== undefined && (listedBefore.has(id) || claimed.has(id)))
          throw new FateUnknownError(`the answer is about ${id}, which was there before`);
        if (id !== undefined) claimed.add(id);
        // A route without a schema answers without a body.
        if (value !== undefined || schema === undefined) return { response: value as Body };
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        lost = error;
      }
      const why = lost ?? new FateUnknownError(`${thing} was accepted with an empty response`);
      const expected = lost === undefined ? { ...recovery, isOurs: isOursIfAccepted } : recovery;
      const found = await this.#find(creation, expected, { listedBefore, claimed, sentAt }, why, options);
      claimed.add(idOf(found));
      return { found, wasLost: lost !== undefined };
    } finally {
      leave();
    }
  }

  /** Waits for the earlier creations of the group; `leave` lets the next one start. */
  async #enterGroup(key: string, { deadline }: WaitOptions): Promise<{ claimed: Set<string>; leave: () => void }> {
    const group = this.#groups.get(key) ?? { lastEnd: Promise.resolve(), claimed: new Set<string>() };
    this.#groups.set(key, group);
    const earlier = group.lastEnd;
    let leave = (): void => undefined;
    group.lastEnd = new Promise((resolve) => (leave = resolve));
    const goOn = deadline?.pause();
    await earlier;
    goOn?.();
    return { claimed: group.claimed, leave };
  }

  /** @throws FateUnknownError, which names the candidates that are not proven to be ours. */
  async #find<Item extends object, Body>(
    { thing, collection, idOf }: CreationRequest<Item, Body>,
    { isOurs, isCandidate, describe, advice }: CreationRecovery<Item>,
    {
      listedBefore,
      claimed,
      sentAt,
    }: { listedBefore: ReadonlySet<string>; claimed: ReadonlySet<string>; sentAt: number },
    lost: FateUnknownError,
    options: WaitOptions,
  ): Promise<Item> {
    const again = "Run pulumi up again: should it turn up, it is reported as already there";
    let listed: readonly Item[];
    try {
      listed = await collection.listAfterLag(options);
    } catch (trouble) {
      if (!(trouble instanceof SvcError)) throw trouble;
      throw new FateUnknownError(`${lost.what}; ${thing} could not be looked for: ${trouble.what}`, lost.facts, again);
    }
    const appeared = listed.filter((item) => !listedBefore.has(idOf(item)) && !claimed.has(idOf(item)));
    const candidates = appeared.filter(isCandidate);
    const isOlder = (item: Item): boolean =>
      Date.parse(String(Reflect.get(item, "created_at"))) < sentAt - CLOCK_STEP_MS;
    const [found, ...others] = candidates.filter((item) => isOurs(item) && !isOlder(item));
    if (found !== undefined && others.length === 0) return found;
    if (candidates.length === 0)
      throw new FateUnknownError(`${lost.what}; ${thing} was looked for and does not exist`, lost.facts, again);
    const named = candidates
      .map((item) => describe(item) + (isOlder(item) ? ", which is older than this request" : ""))
      .join("; ");
    throw new FateUnknownError(
      `${lost.what}; what has appeared meanwhile is not proven to be it: ${named}`,
      lost.facts,
      `${advice?.(candidates) ?? "If none of them is yours"}, run pulumi up again`,
    );
  }
}

/** Reads the effect of an accepted change. When that read fails, the fate of the change is unknown. */
export async function readEffect<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof SvcError) || error instanceof FateUnknownError) throw error;
    throw new FateUnknownError(`it was accepted, and its effect could not be read: ${error.what}`, {
      ...error.facts,
      method: undefined,
    });
  }
}
