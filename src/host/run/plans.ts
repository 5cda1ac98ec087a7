/** What one run plans for the resources of the program, and how far it has come (docs/design/rules.md, 4). */
import { once, EventEmitter } from "node:events";
import { Granted, type ListOptions, type Permission } from "../../client";
import type { Properties } from "../../contract/hiddenKeys";
import { nameInUrn } from "../../contract/identifiers";
import type { Claims } from "./claims";
import type { Objects } from "./objects";
import type { Asker } from "./others";
import type { Ownership } from "./ownership";

/** What a plan does with the resource of the program that has an object in its state. */
export interface Planned {
  readonly urn: string;
  /** Its known arguments. */
  readonly news: object;
  /** The names of the arguments that change, and of those that replace it. */
  readonly changed: ReadonlySet<string>;
  readonly replaces: ReadonlySet<string>;
  /** If it is replaced: the object is deleted before the new one is created, and not at the end of the run. */
  readonly deletesFirst: boolean;
}

/** A resource that was compared with its state. */
export interface Compared {
  readonly id: string;
  readonly outs: Properties;
  /** Its arguments replace it. Only an option of the program (`replaceOnChanges`) replaces any other. */
  readonly isReplaced: boolean;
  /** If it is replaced: it is deleted first. */
  readonly deletesFirst: boolean;
}

/** What a resource that is replaced had before, for another one that declares the same object. */
export interface Left {
  /** The name of the resource. */
  readonly name: string;
  readonly id: string;
  readonly outs: Properties;
}

/** Whether what is deleted first may be deleted. */
export type Guard = (reading: ListOptions) => Promise<Permission>;

/** In place of the names of the arguments that replace an object, if an option of the program does. */
export const REPLACE_ON_CHANGES = "replaceOnChanges";

export class Plans {
  /** By object: the plan for the resource of the program that had it in its state when it was compared. */
  readonly #planned = new Map<string, Planned>();
  /** By URN: in which objects a resource lives that was compared and is not replaced. */
  readonly #staying = new Map<string, (object: string) => boolean>();
  /** By URN: the state that was compared with the program. */
  readonly #comparedWith = new Map<string, Compared>();
  /** By URN, for replacements that delete first. */
  readonly #guards = new Map<string, Guard>();
  /** By URN: the id of what was deleted. */
  readonly #deletedAs = new Map<string, string>();
  /** Emits the name of an object when it is found to be left. */
  readonly #left = new EventEmitter().setMaxListeners(0);

  constructor(
    private readonly claims: Claims,
    private readonly objects: Objects,
    private readonly ownership: Ownership,
  ) {}

  /** Records the plan for a resource that has these objects in its state, even if this run will replace it. */
  notePlanned(objects: readonly string[], planned: Planned): void {
    for (const object of objects) {
      this.#planned.set(object, planned);
      if (this.#isLeft(object)) this.#left.emit(object);
    }
  }

  /** The plan for the resource of the program that had the object in its state. Undefined: none has been compared yet. */
  planned(object: string): Planned | undefined {
    return this.#planned.get(object);
  }

  noteComparedWith(urn: string, compared: Compared): void {
    this.#comparedWith.set(urn, compared);
  }

  /** The state that a resource of the program was compared with. */
  comparedWith(urn: string): Compared | undefined {
    return this.#comparedWith.get(urn);
  }

  /** Whether a resource that has such an object in its state is replaced, as far as it was compared. */
  #plansToReplace(matches: (object: string) => boolean): boolean {
    return [...this.#planned].some(([object, { replaces }]) => replaces.size > 0 && matches(object));
  }

  /** Whether this run replaces such an object, as far as it was compared, or has deleted it. */
  isReplaced(matches: (object: string) => boolean): boolean {
    return this.#plansToReplace(matches) || this.objects.hasDeleted(matches);
  }

  /**
   * Whether such an object is to be replaced and the run has neither deleted it nor created another such one. One that
   * an earlier run has deleted is compared again, and only created.
   */
  isToBeReplaced(matches: (object: string) => boolean): boolean {
    const isOver = this.objects.hasOwned(matches) || this.objects.hasDeleted(matches);
    return !isOver && this.#plansToReplace(matches);
  }

  /** Whether the object is that of the resource with this URN, which is replaced in this run. */
  isReplacedHere(object: string, by: Asker): boolean {
    const planned = this.#planned.get(object);
    return planned !== undefined && planned.urn === by && planned.replaces.size > 0;
  }

  /** Whether its resource is replaced, and the object would be deleted at the end of the run. */
  isDeletedLast(object: string): boolean {
    const planned = this.#planned.get(object);
    return planned !== undefined && planned.replaces.size > 0 && !planned.deletesFirst;
  }

  /**
   * The engine has asked for the replacement of a resource. If the comparison did not know of it (`replaceOnChanges`),
   * what the resource has in its state counts as replaced from now on.
   */
  noteReplaced(urn: string): void {
    const compared = this.#comparedWith.get(urn);
    if (compared === undefined || compared.isReplaced) return;
    const own = [...this.#planned].filter(([, planned]) => planned.urn === urn);
    for (const [object, planned] of own)
      this.notePlanned([object], { ...planned, replaces: new Set([REPLACE_ON_CHANGES]) });
    this.ownership.leaveStored(urn);
    this.#staying.delete(urn);
  }

  /** Whether another resource of the program may have the object: it is neither taken over nor deleted. */
  #isLeft(object: string): boolean {
    return this.isDeletedLast(object) && this.objects.ownerOf(object) === undefined && !this.objects.wasDeleted(object);
  }

  /**
   * What another resource leaves to the one with this URN, which declares the object: it has the object in its state, is
   * replaced in this run, and would delete the object last.
   */
  leftBy(object: string, by: Asker): Left | undefined {
    const other = this.#planned.get(object)?.urn;
    if (other === undefined || other === by || !this.#isLeft(object)) return undefined;
    const compared = this.#comparedWith.get(other);
    if (compared === undefined) return undefined;
    return { name: nameInUrn(other), id: compared.id, outs: compared.outs };
  }

  /** The same, if the engine compares the other resource within this time. */
  async leftWithin(object: string, by: Asker, ms: number): Promise<Left | undefined> {
    if (!this.#planned.has(object))
      await once(this.#left, object, { signal: AbortSignal.timeout(ms) }).catch(() => undefined);
    return this.leftBy(object, by);
  }

  /**
   * Records what is asked before anything in a resource with this URN is deleted to replace it. It is granted once for all
   * that is in it, whose deletions begin together; the deletion of the resource itself asks anew.
   */
  noteGuard(urn: string, guard: Guard): void {
    let granted: Granted | undefined;
    this.#guards.set(urn, async (reading) => {
      if (granted !== undefined) return granted;
      const permission = await guard(reading);
      if (permission instanceof Granted) granted = permission;
      return permission;
    });
  }

  /** What guards the objects that are still to be deleted first. */
  guardsOf(matches: (object: string) => boolean): Guard[] {
    const urns = [...this.#planned].flatMap(([object, { urn, replaces, deletesFirst }]) =>
      replaces.size > 0 && deletesFirst && matches(object) && !this.objects.wasDeleted(object) ? [urn] : [],
    );
    return [...new Set(urns)].flatMap((urn) => (this.ownership.wasCreated(urn) ? [] : (this.#guards.get(urn) ?? [])));
  }

  noteDeleted(urn: string, id: string): void {
    this.#deletedAs.set(urn, id);
  }

  /** The id of what was deleted under the URN, if nothing has been created in its place yet. */
  lost(urn: string): string | undefined {
    return this.ownership.wasCreated(urn) ? undefined : this.#deletedAs.get(urn);
  }

  /** Records in which objects a compared resource lives and is to stay: in none if it is replaced. */
  noteStaying(urn: string, livesIn: (object: string) => boolean): void {
    this.#staying.set(urn, livesIn);
  }

  /**
   * The URNs of the resources that were compared and are to stay in one of these objects. Those of a preview in the same
   * process do not count in its update, which compares them anew.
   */
  stayingIn(objects: readonly string[], isPreview: boolean): string[] {
    return [...this.#staying].flatMap(([urn, livesIn]) =>
      this.claims.checked.get(urn)?.isPreview === isPreview && objects.some(livesIn) ? [urn] : [],
    );
  }
}
