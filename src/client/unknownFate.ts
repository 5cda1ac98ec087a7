/**
 * What a POST has made whose answer was lost, or said something else: claimed on proof only (docs/design/rules.md, 2).
 */
import type { z } from "zod";
import { FateUnknownError, SvcError } from "./http/errors";
import type { Request, Requests } from "./http/requests";
import type { Transport } from "./http/transport";
import type { Collection } from "./reads/absence";
import type { Waiting } from "./reads/sharedReads";

/** The service tells its time in whole seconds. */
const CLOCK_STEP_MS = 1_000;

/** How a lifecycle tells the object that it creates from others. */
export interface Creation<Item> {
  /**
   * Looks at the list that is taken right before each attempt, which leaves in the same tick. What it throws ends the
   * creation before anything is sent.
   */
  readonly check?: ((listed: readonly Item[]) => void) | undefined;
  /** Whether it shows every readable attribute that was sent, with the value that was sent. */
  readonly isOurs: (item: Item) => boolean;
  /** Whether it is what was accepted without a word. @default isOurs */
  readonly isAccepted?: ((item: Item) => boolean) | undefined;
  /** Of what has appeared meanwhile, that which may be meant. */
  readonly isCandidate: (item: Item) => boolean;
  /** Names a candidate that is not proven to be ours, with its age and what differs. */
  readonly describe: (item: Item) => string;
  /** How to go on with candidates that are not proven. */
  readonly ways?: ((items: readonly Item[]) => string) | undefined;
  readonly onFound: (item: Item) => void;
}

interface Posting<Item, Body> {
  /** For messages, such as `the compute`. */
  readonly thing: string;
  readonly request: Request;
  /** Undefined: the route answers without a body. */
  readonly shape: z.ZodType<Body> | undefined;
  readonly collection: Collection<Item>;
  readonly idOf: (item: Item) => string;
  readonly madeId?: ((made: Body) => string) | undefined;
  /** What those have in common that could be taken for each other. */
  readonly alike: string;
}

/** The answer, or the object that was found where the answer was lost, or said nothing. */
type Outcome<Item, Body> = { readonly made: Body } | { readonly found: Item; readonly wasLost: boolean };

/**
 * The creations of one account. Those that look alike leave one after the other: what a lost answer was about is none
 * that an earlier one was told of, and no later one is under way.
 */
export class Creations {
  /** Those that look alike; `newest` settles when the newest of them has ended. */
  readonly #siblings = new Map<string, { newest: Promise<void>; readonly claimed: Set<string> }>();

  constructor(
    private readonly requests: Pick<Requests, "change">,
    private readonly clock: Pick<Transport, "serviceNow">,
  ) {}

  async create<Item extends object, Body>(
    posting: Posting<Item, Body>,
    creation: Creation<Item>,
    waiting: Waiting,
  ): Promise<Outcome<Item, Body>> {
    const { thing, request, shape, collection, idOf, madeId } = posting;
    const { isOurs, isAccepted = isOurs } = creation;
    let known = new Set<string>();
    let leftAt = Number.NaN;
    const before = async (): Promise<void> => {
      const listed = await collection.list({ ...waiting, since: performance.now() });
      known = new Set(listed.map(idOf));
      creation.check?.(listed);
      // Of several attempts only the last one may have taken effect: another was refused, or never arrived.
      leftAt = this.clock.serviceNow();
    };
    const { claimed, over } = await this.#turn(`${thing} ${JSON.stringify(request.params)} ${posting.alike}`, waiting);
    try {
      let lost: FateUnknownError | undefined;
      try {
        const { value } = await this.requests.change({ ...request, before }, shape);
        const id = value === undefined ? undefined : madeId?.(value);
        // Whatever the answer is about, it is not what this request has made.
        if (id !== undefined && (known.has(id) || claimed.has(id)))
          throw new FateUnknownError(`the answer is about ${id}, which was there before`);
        if (id !== undefined) claimed.add(id);
        // Without a shape nothing is said, and none is needed.
        if (value !== undefined || shape === undefined) return { made: value as Body };
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        lost = error;
      }
      const why = lost ?? new FateUnknownError(`${thing} was accepted with an empty response`);
      const sought = lost === undefined ? { ...creation, isOurs: isAccepted } : creation;
      const found = await this.#find(posting, sought, { known, claimed, leftAt }, why, waiting);
      claimed.add(idOf(found));
      return { found, wasLost: lost !== undefined };
    } finally {
      over();
    }
  }

  /** `over` lets the next one go. */
  async #turn(alike: string, { deadline }: Waiting): Promise<{ claimed: Set<string>; over: () => void }> {
    const siblings = this.#siblings.get(alike) ?? { newest: Promise.resolve(), claimed: new Set<string>() };
    this.#siblings.set(alike, siblings);
    const earlier = siblings.newest;
    let over = (): void => undefined;
    siblings.newest = new Promise((resolve) => (over = resolve));
    const goOn = deadline?.pause();
    await earlier;
    goOn?.();
    return { claimed: siblings.claimed, over };
  }

  /** @throws in words that name what was found instead. */
  async #find<Item extends object, Body>(
    { thing, collection, idOf }: Posting<Item, Body>,
    { isOurs, isCandidate, describe, ways }: Creation<Item>,
    { known, claimed, leftAt }: { known: ReadonlySet<string>; claimed: ReadonlySet<string>; leftAt: number },
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
    const appeared = listed.filter((item) => !known.has(idOf(item)) && !claimed.has(idOf(item)));
    const candidates = appeared.filter(isCandidate);
    const isOlder = (item: Item): boolean =>
      Date.parse(String(Reflect.get(item, "created_at"))) < leftAt - CLOCK_STEP_MS;
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
      `${ways?.(candidates) ?? "If none of them is yours"}, run pulumi up again`,
    );
  }
}

/** Reads the effect of a change that was accepted: a read that fails leaves it open. */
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
