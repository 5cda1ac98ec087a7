import { once, EventEmitter } from "node:events";
import {
  type Deadline,
  Granted,
  inSeconds,
  type ListOptions,
  type NotSeen,
  type Permission,
  Refused,
  requireGranted,
  Unknown,
  WaitTimeoutError,
  withDeadline,
} from "../client";
import { adopted, type Claim } from "../contract/claims";
import type { Properties } from "../contract/hiddenKeys";
import { nameInUrn, typeInUrn } from "../contract/identifiers";
import { doorOf, type Kind } from "../contract/pointer";

/**
 * The memory of one run (docs/design/rules.md, 4). Methods that are called right before a request are synchronous.
 *
 * Resources are identified by the URN in their state, which is the old one after an alias. Objects are identified by
 * names with kind, project and id, such as `compute prj-1/ep-1`.
 */

/** What a resource has in its state and continues to manage. `stateUrn`: the URN in its state. */
export interface Stored {
  readonly stateUrn: string;
  readonly objects: readonly string[];
}

/** What happens to an object in this run. */
export interface ToldState {
  readonly owner?: string | undefined;
  /** It is being deleted or moved away. */
  readonly isLeaving: boolean;
  readonly isDeleted: boolean;
}

/** What another process knows of an object. */
export interface Elsewhere {
  readonly claims: readonly { readonly urn: string; readonly shared?: boolean | undefined }[];
  /** The resources that have it in their state. */
  readonly holders: readonly { readonly urn: string; readonly stateUrn: string }[];
  readonly state: ToldState;
  /** Why it is not known whether all this is so, and is about the same object. Undefined: it is. */
  readonly doubt: Omit<NotSeen, "question"> | undefined;
}

/** What is done with an object that another resource may manage. */
export type Doing = "takes-over" | "deletes" | "changes";

/** The other processes of the run: they are told what this one learns, and what each of them has told can be asked. */
export interface Others {
  tellClaims(urn: string, claims: readonly Claim[]): void;
  tellStored(urn: string, stored: Stored): void;
  tellState(object: string, state: ToldState): void;
  of(object: string): readonly Elsewhere[];
  /** The URNs of the resources that they declare. */
  declared(): readonly string[];
  /** The resources of the program that declare the object, also those that this run does not look at. */
  declaredByProgram(object: string): readonly { readonly urn: string; readonly shared: boolean }[];
  /** Whether the program declares a resource with this URN. */
  isOfProgram(urn: string): boolean;
  tellFailed(urn: string): void;
  /** A resource of the program whose creation or update has failed. */
  failed(): string | undefined;
  /** Whether enough is known of the others to do this. Ask after `of`, which says what they have told. */
  permission(doing: Doing): Permission;
  /** Why what the others have told cannot be read. */
  trouble(): Omit<NotSeen, "question"> | undefined;
  /** Why it is not known what the others manage. Undefined: it is known, or there are none. */
  unheard(): Omit<NotSeen, "question"> | undefined;
}

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

/** A deletion of an object, or a move away, in progress. */
export interface Release {
  /** Settles when it has ended. Never rejects. */
  readonly ended: Promise<void>;
  /** The object that must leave first. */
  waitsFor?: string;
}

interface RunOfCall {
  readonly urn: string;
  readonly deadline: Deadline;
  readonly siblingStartsMs: number;
  /** Called with each object that the call takes over. */
  readonly onTakeOver: (object: string) => void;
}

/** What `check` saw of a resource of the program. It never runs in a refresh. */
export interface CheckedResource {
  readonly oldInputs: Properties;
  /** The engine replaces it, as far as its calls of `check` show. */
  readonly isReplacement: boolean;
  /** False for an update, and if the door does not know. */
  readonly isPreview: boolean;
  /** The paths of `ignoreChanges`. */
  readonly ignored: readonly string[];
  /**
   * The inputs of a resource that an update creates or replaces: for a replacement the engine calls `check` once more,
   * without the old inputs. Only a deletion shows a replacement that the engine plans without `diff`.
   */
  readonly newInputs: Properties | undefined;
  /** The option `retainOnDelete`, as far as the door knows it: the engine deletes nothing of it. */
  readonly retains: boolean;
  /** The option `deleteBeforeReplace`, as far as the door knows it. */
  readonly deletesFirst: boolean | undefined;
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

type ObjectState = { readonly owner?: string; readonly release?: Release; readonly isDeleted?: boolean };

/** Thrown instead of deleting: another resource manages the object now. */
export class ManagedElsewhereError extends Error {
  constructor(readonly owner: string) {
    super(`managed by "${nameInUrn(owner)}" of this program`);
  }
}

/** In place of the names of the arguments that replace an object, if an option of the program does. */
export const REPLACE_ON_CHANGES = "replaceOnChanges";

export class RunMemory {
  /** By URN. */
  readonly checked = new Map<string, CheckedResource>();
  readonly #claims = new Map<string, readonly Claim[]>();
  readonly #stored = new Map<string, Stored>();
  readonly #states = new Map<string, ObjectState>();
  /** By object: the URN under which a refresh in this process found it in the state. */
  readonly #refreshed = new Map<string, string>();
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
  /** The URNs under which something was created. */
  readonly #createdAs = new Set<string>();
  /** The first resource of the program whose creation or update has failed. */
  #failed: string | undefined;
  /** By kind: how many the program has said it declares, and the URNs of those that are new or were compared. */
  readonly #declared = new Map<Kind, number>();
  readonly #compared = new Map<Kind, Set<string>>();
  /** Emits the name of an object when its release begins, and with `left` before it when it is found to be left. */
  readonly #releases = new EventEmitter().setMaxListeners(0);
  #others: Others | undefined;

  /** What these processes know counts from now on, and they are told what is learned here. */
  meet(others: Others): void {
    this.#others = others;
  }

  /** What other processes certainly know of the object, and what is in doubt. */
  #elsewhere(object: string): { readonly certain: readonly Elsewhere[]; readonly doubtful: readonly Elsewhere[] } {
    const all = this.#others?.of(object) ?? [];
    return {
      certain: all.filter(({ doubt }) => doubt === undefined),
      doubtful: all.filter(({ doubt }) => doubt !== undefined),
    };
  }

  /** Whether the others permit it, as far as what they do is known. Call in the tick in which it is done. */
  #permission(doing: Doing, object: string, urn: string): Permission {
    for (const { doubt, state, holders } of this.#elsewhere(object).doubtful) {
      const holder = doing === "changes" ? undefined : holders.find((one) => one.urn !== urn && one.stateUrn !== urn);
      // A deletion is not for what this run has taken over, whatever the URN (`deletionBlocker`).
      const owner = doing !== "deletes" && state.owner === urn ? undefined : state.owner;
      const other = owner ?? holder?.urn;
      const question =
        other !== undefined
          ? `whether "${nameInUrn(other)}" of this program manages ${object}`
          : doing === "takes-over" && state.isLeaving
            ? `whether ${object} is being deleted or moved away`
            : undefined;
      if (doubt !== undefined && question !== undefined) return Unknown.because({ question, ...doubt });
    }
    return this.#others?.permission(doing) ?? Granted.proven();
  }

  /** Why it is not known whether another process declares or manages the same. Undefined: it is known. */
  unheard(): Omit<NotSeen, "question"> | undefined {
    return this.#others?.unheard();
  }

  /** For a door that knows the paths of `ignoreChanges` only after `check`. */
  noteIgnored(urn: string, ignored: readonly string[]): void {
    const checked = this.checked.get(urn);
    if (checked !== undefined) this.checked.set(urn, { ...checked, ignored });
  }

  /** `declared`: see `PlannedRequest`. */
  noteDeclared(kind: Kind, declared: number): void {
    this.#declared.set(kind, Math.max(declared, this.#declared.get(kind) ?? 0));
  }

  /** Notes that a resource is new or was compared. */
  noteCompared(kind: Kind, urn: string): void {
    this.#compared.set(kind, (this.#compared.get(kind) ?? new Set()).add(urn));
  }

  /** Whether every resource of this kind is new or was compared. */
  hasComparedAll(kind: Kind): boolean {
    return (this.#compared.get(kind)?.size ?? 0) >= (this.#declared.get(kind) ?? Infinity);
  }

  /** Records what a resource declares. Returns what another resource also declares, and its URN. */
  declare(urn: string, claims: readonly Claim[]): { what: string; urn: string }[] {
    this.#claims.set(urn, claims);
    this.#others?.tellClaims(urn, claims);
    const own = [...this.#claims].flatMap(([one, theirs]) => theirs.map((claim) => ({ urn: one, ...claim })));
    return claims.flatMap(({ object, what, shared = false }) => {
      const alike = [
        ...own.filter((claim) => claim.object === object),
        ...this.#elsewhere(object).certain.flatMap((one) => one.claims),
      ];
      const other = alike.find((claim) => claim.urn !== urn && !(shared && claim.shared === true));
      return other === undefined ? [] : [{ what, urn: other.urn }];
    });
  }

  /** The URN of a resource of the program that another kind of provider serves. One process serves one kind. */
  ofOtherDoor(urn: string): string | undefined {
    const door = doorOf(typeInUrn(urn));
    return this.#others?.declared().find((other) => doorOf(typeInUrn(other)) !== door);
  }

  /**
   * Records the objects that a resource has in its state and continues to manage. `stateUrn`: the URN in its state,
   * which its deletion carries; after renames several resources may have the same one there.
   */
  setStored(urn: string, objects: readonly string[], stateUrn = urn): void {
    this.#store(urn, { stateUrn, objects });
  }

  /**
   * Who a deletion with this URN is for. An entry that was moved by an alias carries the URN of before. If a resource of
   * the program has that URN by now, and is not replaced, the deletion is not for it. Nor is it if another process
   * manages one of the objects for such a resource: the deletion of its own would come to that process.
   */
  deletedUrn(urn: string, objects: readonly string[]): string {
    const own = this.#withUrn(urn).map((one) => this.checked.get(one));
    const isOther =
      own.length > 0
        ? own.every((one) => one !== undefined && one.newInputs === undefined)
        : objects.some((object) => this.#elsewhere(object).certain.some(({ holders }) => holders.length > 0));
    return isOther ? `${urn} of another entry` : urn;
  }

  /** The URN in the program of the resource that an update creates or replaces, by the one that its deletion carries. */
  replacedUrn(urn: string): string | undefined {
    return [urn, ...this.#withUrn(urn)].find((one) => this.checked.get(one)?.newInputs !== undefined);
  }

  /** The URNs in the program of the resources that have this one there, or in their state. */
  #withUrn(urn: string): string[] {
    return [...this.#stored].flatMap(([one, { stateUrn }]) => (one === urn || stateUrn === urn ? [one] : []));
  }

  /** Records what a resource of the state declares, as a refresh found it. The URN may predate an alias. */
  setRefreshed(urn: string, claims: readonly Claim[]): void {
    for (const { object, shared } of claims) if (shared !== true) this.#refreshed.set(object, urn);
  }

  /** The URN in the state of a resource that declares one of these, as a refresh in this process found it. */
  refreshedAs(claims: readonly Claim[]): string | undefined {
    return claims.map(({ object }) => this.#refreshed.get(object)).find((urn) => urn !== undefined);
  }

  /** Whether a resource of the program declares such an object. */
  isDeclared(matches: (object: string) => boolean): boolean {
    return [...this.#claims.values()].some((claims) => claims.some(({ object }) => matches(object)));
  }

  /** Records the plan for a resource that has these objects in its state, even if this run will replace it. */
  notePlanned(objects: readonly string[], planned: Planned): void {
    for (const object of objects) {
      this.#planned.set(object, planned);
      if (this.#isLeft(object)) this.#releases.emit(`left ${object}`);
    }
  }

  /**
   * The plan for the resource of the program that had the object in its state. Undefined: none has been compared yet.
   */
  planned(object: string): Planned | undefined {
    return this.#planned.get(object);
  }

  /** Whether this run replaces such an object, as far as it was compared, or has deleted it. */
  isReplaced(matches: (object: string) => boolean): boolean {
    return (
      [...this.#planned].some(([object, { replaces }]) => replaces.size > 0 && matches(object)) ||
      [...this.#states].some(([object, { isDeleted = false }]) => isDeleted && matches(object))
    );
  }

  /**
   * Whether such an object is to be replaced and the run has neither deleted it nor created another such one. One that
   * an earlier run has deleted is compared again, and only created.
   */
  isToBeReplaced(matches: (object: string) => boolean): boolean {
    const isOver = [...this.#states].some(
      ([object, { owner, isDeleted = false }]) => (owner !== undefined || isDeleted) && matches(object),
    );
    return !isOver && [...this.#planned].some(([object, { replaces }]) => replaces.size > 0 && matches(object));
  }

  noteComparedWith(urn: string, compared: Compared): void {
    this.#comparedWith.set(urn, compared);
  }

  /** The state that a resource of the program was compared with. */
  comparedWith(urn: string): Compared | undefined {
    return this.#comparedWith.get(urn);
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
    const { stateUrn = urn } = this.#stored.get(urn) ?? {};
    this.setStored(urn, [], stateUrn);
    this.#staying.delete(urn);
  }

  /** Whether the object is that of the resource with this URN, which is replaced in this run. */
  isReplacedHere(object: string, urn: string): boolean {
    const planned = this.#planned.get(object);
    return planned?.urn === urn && planned.replaces.size > 0;
  }

  /** Whether its resource is replaced, and the object would be deleted at the end of the run. */
  isDeletedLast(object: string): boolean {
    const planned = this.#planned.get(object);
    return planned !== undefined && planned.replaces.size > 0 && !planned.deletesFirst;
  }

  /** Whether another resource of the program may have the object: it is neither taken over nor deleted. */
  #isLeft(object: string): boolean {
    return this.isDeletedLast(object) && this.#ownerOf(object) === undefined && !this.wasDeleted(object);
  }

  /**
   * What another resource leaves to the one with this URN, which declares the object: it has the object in its state, is
   * replaced in this run, and would delete the object last.
   */
  leftBy(object: string, urn: string): Left | undefined {
    const other = this.#planned.get(object)?.urn ?? urn;
    const compared = this.#comparedWith.get(other);
    if (other === urn || compared === undefined || !this.#isLeft(object)) return undefined;
    return { name: nameInUrn(other), id: compared.id, outs: compared.outs };
  }

  /** The same, if the engine compares the other resource within this time. */
  async leftWithin(object: string, urn: string, ms: number): Promise<Left | undefined> {
    if (!this.#planned.has(object))
      await once(this.#releases, `left ${object}`, { signal: AbortSignal.timeout(ms) }).catch(() => undefined);
    return this.leftBy(object, urn);
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
      replaces.size > 0 && deletesFirst && matches(object) && !this.wasDeleted(object) ? [urn] : [],
    );
    return [...new Set(urns)].flatMap((urn) => (this.wasCreated(urn) ? [] : (this.#guards.get(urn) ?? [])));
  }

  noteDeleted(urn: string, id: string): void {
    this.#deletedAs.set(urn, id);
  }

  /** The id of what was deleted under the URN, if nothing has been created in its place yet. */
  lost(urn: string): string | undefined {
    return this.#createdAs.has(urn) ? undefined : this.#deletedAs.get(urn);
  }

  noteCreated(urn: string): void {
    this.#createdAs.add(urn);
  }

  /** Whether this run has created an object under the URN: then what it replaces is deleted last. */
  wasCreated(urn: string): boolean {
    return this.#createdAs.has(urn);
  }

  /** A creation or an update has failed. */
  noteFailed(urn: string): void {
    if (this.#failed !== undefined) return;
    this.#failed = urn;
    this.#others?.tellFailed(urn);
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
      this.checked.get(urn)?.isPreview === isPreview && objects.some(livesIn) ? [urn] : [],
    );
  }

  /** Another resource that has the object in its state, or created it or took it over in this run. */
  otherOwner(object: string, urn: string): string | undefined {
    const owner = this.#ownerOf(object);
    if (owner !== undefined && owner !== urn) return owner;
    const own = [...this.#stored].filter(([, { objects }]) => objects.includes(object));
    const holders = [
      ...own.map(([one, { stateUrn }]) => ({ urn: one, stateUrn })),
      ...this.#elsewhere(object).certain.flatMap((one) => one.holders),
    ];
    return holders.find((one) => one.urn !== urn && one.stateUrn !== urn)?.urn;
  }

  /** Records that the resource with this URN, which may be the one in its state, no longer manages the objects. */
  removeStored(objects: readonly string[], urn: string): void {
    for (const [one, stored] of this.#stored) {
      if (one !== urn && stored.stateUrn !== urn) continue;
      this.#store(one, { ...stored, objects: stored.objects.filter((object) => !objects.includes(object)) });
    }
  }

  /** Records that the resource created the object, or took it over, in this run. */
  setOwner(object: string, urn: string): void {
    this.#setState(object, { owner: urn });
  }

  /**
   * Takes over an existing object. Call in the same tick in which it was found to be free.
   * @throws when another resource of the program has it, or may have it.
   */
  takeOver(object: string, urn: string): void {
    const owner = this.otherOwner(object, urn);
    if (owner !== undefined)
      throw new Error(`${object} is already managed by "${nameInUrn(owner)}" of this program. Declare it once`);
    const leaving = new Error(`${object} is being deleted or moved away in this run. Run pulumi up again`);
    if (this.release(object) !== undefined) throw leaving;
    const before = this.#states.get(object);
    this.setOwner(object, urn);
    // Each process says what it does before it looks at what the others do, so one of them sees the other.
    try {
      if (this.#elsewhere(object).certain.some(({ state }) => state.isLeaving)) throw leaving;
      requireGranted(this.#permission("takes-over", object, urn));
    } catch (error) {
      this.#setState(object, before ?? {});
      throw error;
    }
  }

  /**
   * Call right before a change is sent.
   * @throws when another resource created or took over one of the objects in this run, or may have taken it over.
   */
  checkNotTakenOver(objects: readonly string[], urn: string): void {
    for (const object of objects) {
      const owner = this.#ownerOf(object);
      if (owner !== undefined && owner !== urn)
        throw new Error(
          `"${nameInUrn(owner)}" of this program took over ${object} in the same run, because it still existed. ` +
            `Remove "${nameInUrn(owner)}" from the program, run pulumi up (which does not delete the object), and add it again`,
        );
      requireGranted(this.#permission("changes", object, urn));
    }
  }

  /** For an object that was taken over but not stored. */
  forgetOwner(object: string): void {
    this.#setState(object, {});
  }

  /**
   * The resource that certainly prevents a deletion with this URN from deleting the object. An object that this run
   * created or took over is not deleted, whatever the URN: a replacement has the URN of the resource that it replaces.
   */
  deletionBlocker(object: string, urn: string): string | undefined {
    return this.#ownerOf(object) ?? this.otherOwner(object, urn);
  }

  /**
   * Whether a deletion with this URN may be sent: not if other resources manage all of these objects, nor while it is not
   * known of one of them.
   */
  mayDelete(objects: readonly string[], urn: string, claims: readonly Claim[] = []): Permission {
    const permissions = objects.map((object) => this.#mayDelete(object, urn));
    const [first = Granted.proven()] = permissions;
    if (first instanceof Refused && permissions.every((one) => one instanceof Refused)) return first;
    return (
      this.#declaredUnseen(objects, urn, claims) ??
      permissions.find((one) => one instanceof Unknown) ??
      Granted.proven()
    );
  }

  /**
   * An entry that the program has not declared in a run that goes on after an error (`--continue-on-error`): an inline
   * program ends when one of its resources fails, and the engine deletes what it has not declared by then. So it does
   * with what failed to be declared under another name.
   */
  mayDeleteUndeclared(urn: string): Permission {
    const failed = this.#failed ?? this.#others?.failed();
    if (failed === undefined) return Granted.proven();
    if ([urn, ...this.#withUrn(urn)].some((one) => this.checked.has(one))) return Granted.proven();
    return Unknown.because({
      question: "whether the program still declares it",
      why: `"${nameInUrn(failed)}" has failed in this run, and a program may end at that, before it has declared the rest`,
      waysOut: "Mend that, and run pulumi up again: it deletes what the program does not declare",
    });
  }

  /**
   * An entry that the program no longer declares, whose object another resource of the program may hold that this run
   * has not looked at: with `--target` and `--exclude` the engine asks no provider about it.
   */
  #declaredUnseen(objects: readonly string[], urn: string, claims: readonly Claim[]): Unknown | undefined {
    const others = this.#others;
    if (others === undefined) return undefined;
    const seen = new Set([...this.#claims.keys(), ...others.declared()]);
    // The engine deletes an entry of the program when it has looked at it, or along with what it replaces first. Of any
    // other, this may be the URN that another entry had before an alias.
    const isReused = others.isOfProgram(urn);
    if (isReused && (seen.has(urn) || this.#hasToCreate())) return undefined;
    const trouble = others.trouble();
    if (trouble !== undefined && !this.#claims.has(urn))
      return Unknown.because({
        question: "whether the program declares the same object under another name",
        ...trouble,
      });
    const all = [...claims, ...objects.map((object) => ({ object: adopted(object), shared: false }))];
    const [other] = all.flatMap(({ object, shared = false }) =>
      others.declaredByProgram(object).filter((one) => !(shared && one.shared) && !seen.has(one.urn)),
    );
    if (other === undefined) return undefined;
    const name = nameInUrn(other.urn);
    const [former, entry] = isReused
      ? [`. The entry to delete may be another one, which was called "${nameInUrn(urn)}" before an alias`, "<its URN>"]
      : ["", urn];
    return Unknown.because({
      question: `whether "${name}" of this program manages the same object`,
      why: `the program declares it there, and this run has not looked at "${name}" (with --target or --exclude it may never do so)${former}`,
      waysOut: `If "${name}" manages it or is to take it over, remove only this entry from the stack: pulumi state delete '${entry}'. Otherwise run pulumi up for the whole program; if this was one, leave "${name}" out of it at first`,
    });
  }

  /** Whether something is not created yet that this run creates or replaces. */
  #hasToCreate(): boolean {
    return [...this.checked].some(([urn, { newInputs }]) => newInputs !== undefined && !this.wasCreated(urn));
  }

  #mayDelete(object: string, urn: string): Permission {
    const owner = this.deletionBlocker(object, urn);
    return owner === undefined
      ? this.#permission("deletes", object, urn)
      : Refused.proven(new ManagedElsewhereError(owner));
  }

  /** The memory for one call of one resource. */
  viewOf({ urn, deadline, siblingStartsMs, onTakeOver }: RunOfCall) {
    return {
      takeOver: (object: string) => {
        this.takeOver(object, urn);
        onTakeOver(object);
      },
      /** Whether this resource may delete the object, as one of several. */
      mayDelete: (object: string) => this.mayDelete([object], urn),
      /** The names of the program's resources that declare it, also of those that this run does not look at. */
      namesInProgram: (object: string) =>
        (this.#others?.declaredByProgram(object) ?? []).map((one) => nameInUrn(one.urn)),
      wasDeleted: (object: string) => this.wasDeleted(object),
      /** Whether it is what this resource had before, and is replaced by the present call. */
      isReplaced: (object: string) => this.isReplacedHere(object, urn),
      isDeletedLast: (object: string) => this.isDeletedLast(object),
      leftBy: (object: string) => this.leftBy(object, urn),
      /** The same, even if the engine compares the other resource a moment later. */
      leftSoon: (object: string) => this.leftWithin(object, urn, siblingStartsMs),
      isToBeReplaced: (matches: (object: string) => boolean) => this.isToBeReplaced(matches),
      otherOwner: (object: string) => this.otherOwner(object, urn),
      release: (object: string) => this.release(object),
      /** True even if the engine begins a sibling's change a moment later. */
      leavesSoon: (object: string) => this.leavesWithin(object, siblingStartsMs),
      waitUntilFree: (object: string, still?: string) => this.waitUntilFree(object, deadline, still),
      whileReleasing: <Result>(objects: readonly string[], deletes: boolean, work: () => Promise<Result>) =>
        this.whileReleasing({ objects, urn, deletes }, work),
    };
  }

  release(object: string): Release | undefined {
    return this.#states.get(object)?.release;
  }

  /** Whether the object is being deleted or moved away, or that begins within this time. */
  async leavesWithin(object: string, ms: number): Promise<boolean> {
    if (this.release(object) !== undefined) return true;
    const begun = once(this.#releases, object, { signal: AbortSignal.timeout(ms) });
    return (await begun.catch(() => undefined)) !== undefined;
  }

  /**
   * Waits while the object is being deleted or moved away. Returns whether this run has deleted it.
   * @throws at the deadline, with `still`: what was in progress.
   */
  async waitUntilFree(
    object: string,
    deadline: Deadline,
    still = `${object} was still being deleted`,
  ): Promise<boolean> {
    const release = this.release(object);
    if (release === undefined) return this.wasDeleted(object);
    const late = ({ totalMs }: Deadline) => new WaitTimeoutError(`${still} after ${inSeconds(totalMs)}`);
    await withDeadline(deadline, release.ended, late);
    return this.waitUntilFree(object, deadline, still);
  }

  wasDeleted(object: string): boolean {
    const { certain, doubtful } = this.#elsewhere(object);
    const own = this.#states.get(object);
    const isDeleted = own?.isDeleted === true || certain.some(({ state }) => state.isDeleted);
    // What was created again after that is there.
    return (
      isDeleted &&
      [own, ...[...certain, ...doubtful].map(({ state }) => state)].every((one) => one?.owner === undefined)
    );
  }

  /**
   * While `work` runs, these objects cannot be taken over. If it `deletes` them and succeeds, they are recorded as
   * deleted.
   */
  async whileReleasing<Result>(
    { objects, urn, deletes }: { objects: readonly string[]; urn: string; deletes: boolean },
    work: () => Promise<Result>,
  ): Promise<Result> {
    // If two deletions concern the same object, the first one counts.
    const isFree = (object: string): boolean =>
      this.release(object) === undefined && (this.#states.get(object)?.owner ?? urn) === urn;
    const before = objects.filter(isFree).map((object) => [object, this.#states.get(object) ?? {}] as const);
    // Starts after the releases are recorded below.
    const working = Promise.resolve().then(work);
    const over = Promise.allSettled([working]).then(([{ status }]) => {
      const isDeleted = deletes && status === "fulfilled";
      for (const [object, earlier] of before)
        if (this.release(object) === release) this.#setState(object, isDeleted ? { isDeleted } : earlier);
    });
    const release: Release = { ended: over };
    for (const [object] of before) {
      this.#setState(object, { release });
      this.#releases.emit(object);
    }
    return over.then(() => working);
  }

  #store(urn: string, stored: Stored): void {
    this.#stored.set(urn, stored);
    this.#others?.tellStored(urn, stored);
  }

  #setState(object: string, state: ObjectState): void {
    this.#states.set(object, state);
    const { owner, release, isDeleted = false } = state;
    this.#others?.tellState(object, { owner, isLeaving: release !== undefined, isDeleted });
  }

  /** The resource that created the object, or took it over, in this run. */
  #ownerOf(object: string): string | undefined {
    const elsewhere = this.#elsewhere(object).certain.map(({ state }) => state.owner);
    return [this.#states.get(object)?.owner, ...elsewhere].find((owner) => owner !== undefined);
  }
}
