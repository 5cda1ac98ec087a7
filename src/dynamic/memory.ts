/**
 * The memory of one run: what it has made, taken over, is taking away and has deleted, and what each resource of the
 * program declares (docs/design/rules.md, 4). It is asked at the moment of acting, so all of it is synchronous.
 *
 * Resources are told apart by the URN that their state carries, which an alias leaves behind. Objects have names that
 * tell kind, project and id, such as `compute prj-1/ep-1`.
 */

/** An object that a resource declares. `shared`: several may, beside none that declares it alone. */
export interface Claim {
  readonly object: string;
  /** For messages: what both declare, by the names of arguments, since a value may be a secret. */
  readonly what: string;
  readonly shared?: boolean;
}

/** An object that is being deleted, or moved away from where it is. */
export interface Departure {
  /** Never rejects. */
  readonly over: Promise<void>;
  /** The object whose own departure it waits for. */
  waitsFor?: string;
}

type Fate = { readonly keptBy: string } | { readonly departure: Departure } | { readonly deleted: true };

export const nameOf = (urn: string): string => urn.split("::").at(-1) ?? urn;

/** Instead of a deletion: the object is another resource's by now. */
export class KeptError extends Error {
  constructor(readonly keeper: string) {
    super(`managed by "${nameOf(keeper)}" of this program`);
  }
}

export class RunMemory {
  readonly #claims = new Map<string, readonly Claim[]>();
  readonly #held = new Map<string, { readonly stateUrn: string; readonly objects: readonly string[] }>();
  readonly #fates = new Map<string, Fate>();

  /** Notes what a resource declares. Answers what another one declares too, and which. */
  declare(urn: string, claims: readonly Claim[]): { what: string; urn: string }[] {
    this.#claims.set(urn, claims);
    const others = [...this.#claims].filter(([other]) => other !== urn);
    return claims.flatMap(({ object, what, shared = false }) => {
      const twin = others.find(([, theirs]) =>
        theirs.some((claim) => claim.object === object && !(shared && claim.shared === true)),
      );
      return twin === undefined ? [] : [{ what, urn: twin[0] }];
    });
  }

  /**
   * Notes the objects that a resource has in its state and goes on managing. `stateUrn`: the URN in its state, with which
   * its deletion comes; several resources may have the same there, once a name is given to another.
   */
  hold(urn: string, objects: readonly string[], stateUrn = urn): void {
    this.#held.set(urn, { stateUrn, objects });
  }

  /** Another resource that has the object in its state, or has made it or taken it over in this run. */
  holder(object: string, urn: string): string | undefined {
    const keeper = this.#keptBy(object);
    if (keeper !== undefined && keeper !== urn) return keeper;
    const isOther = ([other, { stateUrn }]: readonly [string, { readonly stateUrn: string }]): boolean =>
      other !== urn && stateUrn !== urn;
    return [...this.#held].find((entry) => isOther(entry) && entry[1].objects.includes(object))?.[0];
  }

  /** The resource of this URN, or with this URN in its state, gives the objects up. */
  giveUp(objects: readonly string[], urn: string): void {
    for (const [one, held] of this.#held) {
      if (one !== urn && held.stateUrn !== urn) continue;
      this.#held.set(one, { ...held, objects: held.objects.filter((object) => !objects.includes(object)) });
    }
  }

  /** Notes what a resource has created, or taken over. */
  keep(object: string, urn: string): void {
    this.#fates.set(object, { keptBy: urn });
  }

  /**
   * Takes over an object that stands, in the same tick as it was seen to be free for that.
   * @throws when another resource of the program has it.
   */
  take(object: string, urn: string): void {
    const keeper = this.holder(object, urn);
    if (keeper !== undefined)
      throw new Error(`${object} is managed by "${nameOf(keeper)}" of this program already. Declare it once`);
    if (this.departure(object) !== undefined)
      throw new Error(`${object} is being deleted or moved away in this run. Run pulumi up again`);
    this.keep(object, urn);
  }

  /** @throws when another resource of this run has made the object, or taken it over. */
  checkOwn(object: string, urn: string): void {
    const keeper = this.#keptBy(object);
    if (keeper !== undefined && keeper !== urn)
      throw new Error(
        `${object} was taken over by "${nameOf(keeper)}" of this program in the same run, since it still stood there. ` +
          `Take "${nameOf(keeper)}" out of the program, run pulumi up (which leaves the object alone), and put it back`,
      );
  }

  /** What was taken over, and then could not be brought into the state. */
  release(object: string): void {
    this.#fates.delete(object);
  }

  /**
   * Call right before a deletion leaves. What this run has made or taken over is not deleted, whatever the URN.
   * @throws when all of these objects are kept.
   */
  checkDeletable(objects: readonly string[], urn: string): void {
    const keepers = objects.map((object) => this.#keptBy(object) ?? this.holder(object, urn));
    const [keeper] = keepers;
    if (keeper !== undefined && !keepers.includes(undefined)) throw new KeptError(keeper);
  }

  departure(object: string): Departure | undefined {
    const fate = this.#fates.get(object);
    return fate !== undefined && "departure" in fate ? fate.departure : undefined;
  }

  /** Ends when nobody is deleting the object, or moving it away, any more; undefined when nobody is. */
  departed(object: string): Promise<void> | undefined {
    const departure = this.departure(object);
    return departure?.over.then(() => this.departed(object));
  }

  wasDeleted(object: string): boolean {
    const fate = this.#fates.get(object);
    return fate !== undefined && "deleted" in fate;
  }

  /** While `work` runs, nobody takes these objects over; afterwards, when it deletes them and ended well, they are deleted. */
  async whileLeaving<Result>(
    objects: readonly string[],
    urn: string,
    deletes: boolean,
    work: (departure: Departure) => Promise<Result>,
  ): Promise<Result> {
    let end: () => void = () => undefined;
    const departure: Departure = { over: new Promise((resolve) => (end = resolve)) };
    const leaving = objects.filter((object) => (this.#keptBy(object) ?? urn) === urn);
    const before = leaving.map((object) => [object, this.#fates.get(object)] as const);
    for (const object of leaving) this.#fates.set(object, { departure });
    const settle = (deleted: boolean): void => {
      for (const [object, fate] of before.filter(([one]) => this.departure(one) === departure)) {
        if (deleted) this.#fates.set(object, { deleted: true });
        else if (fate === undefined) this.#fates.delete(object);
        else this.#fates.set(object, fate);
      }
    };
    try {
      const result = await work(departure);
      settle(deletes);
      return result;
    } catch (error) {
      settle(false);
      throw error;
    } finally {
      end();
    }
  }

  #keptBy(object: string): string | undefined {
    const fate = this.#fates.get(object);
    return fate !== undefined && "keptBy" in fate ? fate.keptBy : undefined;
  }
}
