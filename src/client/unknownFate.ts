/**
 * What a POST has made whose answer was lost, or said something else: claimed on proof only (docs/design/rules.md, 2).
 */
import type { Account } from "./account";
import type { Deadline } from "./http/deadline";
import { ConflictError, FateUnknownError, SvcError } from "./http/errors";
import type { Collection } from "./reads/absence";
import type { Waiting } from "./reads/sharedReads";

/** The service tells its time in whole seconds. */
const CLOCK_STEP_MS = 1_000;

/** How to create one thing, and how to tell it from others. */
export interface Creation<Item, Made> {
  /** For messages, such as `the compute`. */
  readonly thing: string;
  readonly collection: Collection<Item>;
  readonly idOf: (item: Item) => string;
  /** What those have in common that could be taken for each other. */
  readonly alike: string;
  /**
   * Looks at the list that is taken right before each attempt, which leaves in the same tick; what it throws ends the
   * creation before anything is sent.
   */
  readonly check?: ((listed: readonly Item[]) => void) | undefined;
  /** `before` has to run before each attempt. */
  readonly send: (before: () => Promise<void>) => Promise<Made>;
  /** Whether an answer tells of what was made. Where it does not, the list has to. */
  readonly says: (made: Made) => boolean;
  /** The id that the service has given it, where it gives one. */
  readonly madeId?: ((made: Made) => string | undefined) | undefined;
  /** Whether it is what was accepted without a word. @default isOurs */
  readonly isAccepted?: ((item: Item) => boolean) | undefined;
  /** Whether every readable attribute that was sent stands there, with the value that was sent. */
  readonly isOurs: (item: Item) => boolean;
  /** Of what has appeared meanwhile, that which may be meant. */
  readonly isCandidate: (item: Item) => boolean;
  /** Names a candidate that is not proven to be ours, with its age and what differs. */
  readonly describe: (item: Item) => string;
  /** How to manage a candidate after all, where that is possible. */
  readonly ways?: ((items: readonly Item[]) => string) | undefined;
}

/** What came of a creation: the answer, or the thing that was found where the answer was lost, or said nothing. */
export type Outcome<Item, Made> = { readonly made: Made } | { readonly found: Item; readonly wasLost: boolean };

/**
 * The creations of one collection. Those that look alike leave one after the other: what a lost answer was about is none
 * that an earlier one was told of, and no later one is under way.
 */
export class Creations<Item extends object> {
  readonly #newest = new Map<string, Promise<void>>();
  readonly #claimed = new Set<string>();

  constructor(private readonly account: Pick<Account, "serviceNow">) {}

  async create<Made>(creation: Creation<Item, Made>, waiting: Waiting): Promise<Outcome<Item, Made>> {
    const { thing, collection, idOf, alike, check, send, says, madeId, isOurs, isAccepted = isOurs } = creation;
    let known = new Set<string>();
    let leftAt = Number.NaN;
    const before = async (): Promise<void> => {
      const listed = await collection.list({ ...waiting, since: performance.now() });
      known = new Set(listed.map(idOf));
      check?.(listed);
      // Of several attempts only the last one may have taken effect: another was refused, or never arrived.
      leftAt = this.account.serviceNow();
    };
    const over = await this.#turn(alike, waiting.deadline);
    try {
      let lost: FateUnknownError | undefined;
      try {
        const made = await send(before);
        const id = madeId?.(made);
        // Whatever the answer is about, it is not what this request has made.
        if (id !== undefined && known.has(id))
          throw new FateUnknownError(`the answer is about ${id}, which was there before`);
        if (id !== undefined) this.#claimed.add(id);
        if (says(made)) return { made };
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        lost = error;
      }
      const why = lost ?? new FateUnknownError(`${thing} was accepted without a word of it`);
      const sought = lost === undefined ? { ...creation, isOurs: isAccepted } : creation;
      return { found: await this.#find(sought, { known, leftAt }, why, waiting), wasLost: lost !== undefined };
    } finally {
      over();
    }
  }

  /** Returns how to let the next one go. */
  async #turn(alike: string, deadline: Deadline | undefined): Promise<() => void> {
    const earlier = this.#newest.get(alike);
    let over = (): void => undefined;
    this.#newest.set(alike, new Promise((resolve) => (over = resolve)));
    const goOn = deadline?.pause();
    await earlier;
    goOn?.();
    return over;
  }

  /** @throws in words that name what was found instead. */
  async #find(
    {
      thing,
      collection,
      idOf,
      isOurs,
      isCandidate,
      describe,
      ways,
    }: Omit<Creation<Item, unknown>, "send" | "says" | "madeId">,
    { known, leftAt }: { known: ReadonlySet<string>; leftAt: number },
    lost: FateUnknownError,
    waiting: Waiting,
  ): Promise<Item> {
    const again = "Run pulumi up again: should it turn up, it is reported as already there";
    let listed: readonly Item[];
    try {
      listed = await collection.settled(waiting);
    } catch (trouble) {
      if (!(trouble instanceof SvcError)) throw trouble;
      throw new FateUnknownError(`${lost.what}; ${thing} could not be looked for: ${trouble.what}`, lost.facts, again);
    }
    const appeared = listed.filter((item) => !known.has(idOf(item)) && !this.#claimed.has(idOf(item)));
    const candidates = appeared.filter(isCandidate);
    const isOlder = (item: Item): boolean =>
      Date.parse(String(Reflect.get(item, "created_at"))) < leftAt - CLOCK_STEP_MS;
    const [found, ...others] = candidates.filter((item) => isOurs(item) && !isOlder(item));
    if (found !== undefined && others.length === 0) {
      this.#claimed.add(idOf(found));
      return found;
    }
    if (candidates.length === 0)
      throw new FateUnknownError(`${lost.what}; ${thing} was looked for and is not there`, lost.facts, again);
    const named = candidates
      .map((item) => describe(item) + (isOlder(item) ? ", which is older than this request" : ""))
      .join("; ");
    throw new FateUnknownError(
      `${lost.what}; what has appeared meanwhile is not known to be it: ${named}`,
      lost.facts,
      `${ways?.(candidates) ?? "If none of them is yours"}, run pulumi up again`,
    );
  }
}

/** Reads the effect of a change that was accepted: a read that fails leaves open whether it took effect. */
export async function effectOf<T>(read: () => Promise<T>): Promise<T> {
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

/** Creates; where the service says that something is in the way, which lists may not show yet, that is looked at. */
export async function createOrStanding<Item, Made>(
  create: () => Promise<Made>,
  collection: Collection<Item>,
  isInTheWay: (item: Item) => boolean,
  standing: (item: Item) => Promise<Made>,
  advice: string,
  waiting: Waiting,
): Promise<Made> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const found = await collection.lookFor((items) => items.find(isInTheWay), waiting);
    if (found !== undefined) return standing(found);
    throw new Error(`${error.message}. ${advice}`, { cause: error });
  }
}
