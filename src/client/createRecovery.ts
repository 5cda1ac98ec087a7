/**
 * Creates objects, and finds the object of a POST whose response was lost or unusable. An object is claimed only when
 * it is proven to be ours (docs/design/rules.md, 2).
 */
import { FateUnknownError, SvcError } from "./http/errors";
import type { Request } from "./http/request";
import type { Requests } from "./http/requests";
import type { Transport } from "./http/transport";
import type { WaitOptions } from "./reads/sharedReads";
import type { RecordKind } from "./records";

/** The service's time has whole seconds. */
const CLOCK_STEP_MS = 1_000;

/** How to recognise the object of a creation whose response was lost, or had no body. */
export interface CreationRecovery<Item> {
  /**
   * Checks the list that is read right before each attempt, which is sent in the same tick. If it throws, the creation
   * ends and nothing is sent.
   */
  readonly checkListed?: ((listed: readonly Item[]) => void) | undefined;
  /** Whether it shows every readable attribute that was sent, with the value that was sent. */
  readonly isOurs: (item: Item) => boolean;
  /** The same if the request was accepted with an empty response. @default isOurs */
  readonly isOursIfAccepted?: ((item: Item) => boolean) | undefined;
  /** Whether a new object may be the created one: if that is not proven, the message names it. */
  readonly isCandidate: (item: Item) => boolean;
  /** Describes a candidate that is not proven to be ours, with its age and what differs. */
  readonly describe: (item: Item) => string;
  /** What to do about candidates that are not proven to be ours. */
  readonly advice?: ((items: readonly Item[]) => string) | undefined;
  /**
   * What to do if none is found: the service may still create it. @default to run it again: if it exists, the error
   * names it
   */
  readonly adviceIfLate?: string | undefined;
  readonly onFound: (item: Item) => void;
}

/** The lists that show whether the object exists: see `Collection`. */
interface Lists<Item> {
  list(options: WaitOptions & { readonly since: number }): Promise<readonly Item[]>;
  listAfterLag(options: WaitOptions, from: number): Promise<readonly Item[]>;
}

/** What is known of an object that is created. */
interface NewObject<Item extends object> {
  readonly kind: Pick<RecordKind<Item, never>, "thing" | "idOf">;
  /** The request. Its deadline and progress are those of the creation. */
  readonly request: Request;
  readonly lists: Lists<Item>;
  readonly recovery: CreationRecovery<Item>;
}

interface Creation<Item extends object, Response> extends NewObject<Item> {
  readonly kind: Pick<RecordKind<Item, Response>, "thing" | "response" | "idOf" | "idOfResponse">;
  /** Equal for creations whose objects could be confused. */
  readonly similarityKey: string;
}

/** A good response, or the object that was found after the response was lost (`wasLost`) or empty. */
export type Made<Item, Response> =
  { readonly response: Response } | { readonly found: Item; readonly wasLost: boolean };

/** The attempt whose response was lost. */
interface LostAttempt {
  readonly error: FateUnknownError;
  /** The ids in the list that was read right before it. */
  readonly listedBefore: ReadonlySet<string>;
  /** The service's time; NaN if it is unknown. */
  readonly sentAt: number;
}

/** Looks for the object of a creation whose response was lost or empty. */
class LostCreation<Item extends object> {
  /** The request body. */
  readonly body: string;
  /** Once it is settled, this is set, or `failure` is. */
  found: Item | undefined;
  failure: unknown;
  /** The wait for others is not charged to its deadline. */
  readonly #resume: (() => void) | undefined;
  #appeared: readonly Item[] = [];
  #matching: readonly Item[] = [];

  constructor(
    private readonly creation: NewObject<Item>,
    private readonly attempt: LostAttempt,
    private readonly claimed: Set<string>,
  ) {
    this.body = JSON.stringify(creation.request.body);
    this.#resume = creation.request.deadline?.pause();
  }

  /** Reads a list that shows every change from before `from`. Never rejects. */
  async load(from: number): Promise<void> {
    this.#resume?.();
    const { kind, request, lists, recovery } = this.creation;
    const { error: lost, listedBefore, sentAt } = this.attempt;
    try {
      const listed = await lists.listAfterLag({ deadline: request.deadline, onProgress: request.onProgress }, from);
      this.#appeared = listed.filter((item) => !listedBefore.has(kind.idOf(item)));
      this.#matching = this.#appeared.filter((item) => mayBeOurs(item, recovery, sentAt));
    } catch (error) {
      const failed = error instanceof SvcError ? `checking for ${kind.thing} failed: ${error.what}` : undefined;
      this.failure = failed === undefined ? error : notFound(lost, failed, recovery.adviceIfLate);
    }
  }

  /** The ids of the listed objects that may be its own. */
  matching(): readonly string[] {
    return this.#unclaimed(this.#matching).map(this.creation.kind.idOf);
  }

  /** Claims one of them. `isProven`: there are no more of them than creations that they may belong to. */
  settle(isProven: boolean): void {
    if (this.failure !== undefined) return;
    const { kind, recovery } = this.creation;
    this.found = isProven ? this.#unclaimed(this.#matching)[0] : undefined;
    if (this.found !== undefined) this.claimed.add(kind.idOf(this.found));
    else this.failure = notProven(this.#unclaimed(this.#appeared), recovery, kind.thing, this.attempt);
  }

  #unclaimed(items: readonly Item[]): readonly Item[] {
    return items.filter((item) => !this.claimed.has(this.creation.kind.idOf(item)));
  }
}

/** A lost creation of any kind of object. */
type SimilarLost = Pick<LostCreation<object>, "body" | "load" | "matching" | "settle">;

/**
 * Creations whose objects could be confused. They are sent in parallel. Lost ones are looked for only when no other is
 * in progress: new objects that no response named then belong to the lost ones.
 */
class SimilarCreations {
  /** The objects that one of them created or found. */
  readonly claimed = new Set<string>();
  readonly #lost: SimilarLost[] = [];
  #underWay = 0;
  #search: Promise<void> | undefined;
  #onQuiet = (): void => undefined;

  async enter({ deadline, onProgress }: WaitOptions): Promise<void> {
    const resume = deadline?.pause();
    while (this.#search !== undefined) {
      onProgress?.("waiting: checking whether a creation with a lost response took effect");
      await this.#search;
    }
    resume?.();
    this.#underWay += 1;
  }

  /** For a lost creation, resolves once it is settled. */
  async leave(lost?: SimilarLost): Promise<void> {
    if (lost !== undefined) this.#lost.push(lost);
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#onQuiet();
    if (lost !== undefined) await (this.#search ??= this.#findLost());
  }

  async #findLost(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onQuiet = resolve));
    const lost = this.#lost.splice(0);
    const from = performance.now();
    await Promise.all(lost.map(async (one) => one.load(from)));
    // The creation with the fewest candidates goes first: one with more could take the only object that fits another.
    // One without any is settled last, so that its error does not name what the others found.
    const choices = new Map(lost.map((one) => [one, one.matching().length]));
    const choiceOf = (one: SimilarLost): number => choices.get(one) || Number.MAX_SAFE_INTEGER;
    lost.sort((left, right) => choiceOf(left) - choiceOf(right) || right.body.length - left.body.length);
    for (const [index, one] of lost.entries()) {
      // They sent the same body and are not settled yet.
      const alike = lost.slice(index).filter(({ body }) => body === one.body);
      one.settle(new Set(alike.flatMap((other) => other.matching())).size <= alike.length);
    }
    this.#search = undefined;
  }
}

/** Sends the creations of one account. */
export class Creator {
  readonly #groups = new Map<string, SimilarCreations>();

  constructor(
    private readonly requests: Pick<Requests, "send">,
    private readonly clock: Pick<Transport, "serviceNow">,
  ) {}

  async create<Item extends object, Response>(creation: Creation<Item, Response>): Promise<Made<Item, Response>> {
    const { kind, request, lists, similarityKey, recovery } = creation;
    const { thing, response: schema, idOf, idOfResponse } = kind;
    const options: WaitOptions = { deadline: request.deadline, onProgress: request.onProgress };
    const group = this.#groupOf(`${thing} ${JSON.stringify(request.params)} ${similarityKey}`);
    let listedBefore = new Set<string>();
    let sentAt = Number.NaN;
    const beforeAttempt = async (): Promise<void> => {
      // In parallel, so that neither list is old when the request is sent.
      const reads = [lists.list({ ...options, since: performance.now() }), request.beforeAttempt?.()] as const;
      const [listed] = await Promise.all(reads);
      listedBefore = new Set(listed.map(idOf));
      recovery.checkListed?.(listed);
      // Of several attempts only the last may have taken effect: the others were refused, or never arrived.
      sentAt = this.clock.serviceNow();
    };
    await group.enter(options);
    let lost: LostCreation<Item> | undefined;
    let wasLost = false;
    let settled: Promise<void> | undefined;
    try {
      const { value } = await this.requests.send({ ...request, beforeAttempt }, schema);
      const id = value === undefined ? undefined : idOfResponse?.(value);
      // An object that existed before is not the one that this request created.
      if (id !== undefined && (listedBefore.has(id) || group.claimed.has(id)))
        throw new FateUnknownError(`the response names ${id}, which existed before`);
      if (id !== undefined) group.claimed.add(id);
      // A route without a schema answers without a body.
      if (value !== undefined || schema === undefined) return { response: value as Response };
      const error = new FateUnknownError(`the creation of ${thing} was answered with an empty response`);
      const { isOursIfAccepted: isOurs = recovery.isOurs } = recovery;
      const accepted = { ...creation, recovery: { ...recovery, isOurs } };
      lost = new LostCreation(accepted, { error, listedBefore, sentAt }, group.claimed);
    } catch (error) {
      if (!(error instanceof FateUnknownError)) throw error;
      wasLost = true;
      lost = new LostCreation(creation, { error, listedBefore, sentAt }, group.claimed);
    } finally {
      settled = group.leave(lost);
    }
    await settled;
    if (lost.found === undefined) throw lost.failure;
    return { found: lost.found, wasLost };
  }

  #groupOf(key: string): SimilarCreations {
    const group = this.#groups.get(key) ?? new SimilarCreations();
    this.#groups.set(key, group);
    return group;
  }
}

/** `sentAt`: the service's time; NaN if it is unknown. */
const isOlder = (item: object, sentAt: number): boolean =>
  Date.parse(String(Reflect.get(item, "created_at"))) < sentAt - CLOCK_STEP_MS;

const mayBeOurs = <Item extends object>(
  item: Item,
  { isOurs, isCandidate }: CreationRecovery<Item>,
  sentAt: number,
): boolean => isCandidate(item) && isOurs(item) && !isOlder(item, sentAt);

/** The error that names the candidates, if none is proven to be the object of the lost creation. */
function notProven<Item extends object>(
  appeared: readonly Item[],
  { isCandidate, describe, advice, adviceIfLate }: CreationRecovery<Item>,
  thing: string,
  { sentAt, error: lost }: LostAttempt,
): FateUnknownError {
  const candidates = appeared.filter(isCandidate);
  if (candidates.length === 0) return notFound(lost, `a later check did not find ${thing}`, adviceIfLate);
  const named = candidates
    .map((item) => describe(item) + (isOlder(item, sentAt) ? ", which is older than this request" : ""))
    .join("; ");
  return new FateUnknownError(
    `${lost.what}; these new objects may or may not be the result: ${named}`,
    lost.facts,
    `${advice?.(candidates) ?? "If none of them is yours"}, run pulumi up again`,
  );
}

const notFound = (
  lost: FateUnknownError,
  outcome: string,
  advice = "Run pulumi up again: if it exists by then, the error names it",
): FateUnknownError => new FateUnknownError(`${lost.what}; ${outcome}`, lost.facts, advice);

/** Reads the effect of an accepted change. If that read fails, the fate of the change is unknown. */
export async function readEffect<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof SvcError) || error instanceof FateUnknownError) throw error;
    const what = `the service accepted the request, but reading the result failed: ${error.what}`;
    throw new FateUnknownError(what, { ...error.facts, method: undefined }, error.advice);
  }
}
