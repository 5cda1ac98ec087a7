/**
 * Which resource manages which object in one run (docs/design/rules.md, 4). Methods that are called right before a
 * request are synchronous.
 *
 * Resources are identified by the URN in their state, which is the old one after an alias. Objects are identified by
 * names with kind, project and id, such as `compute prj-1/ep-1`.
 */
import { Granted, type Permission, Refused, requireGranted, Unknown } from "../../client";
import { adopted, type Claim } from "../../contract/claims";
import { nameInUrn } from "../../contract/identifiers";
import type { Claims } from "./claims";
import type { Objects } from "./objects";
import { type Asker, isOther, type Neighbours, OTHER_ENTRY, type Stored } from "./others";

/** An entry of the state that the engine deletes. */
export interface DeletedEntry {
  readonly urn: string;
  /** As whom the memory is asked. */
  readonly by: Asker;
  /** What the entry declares. */
  readonly claims: readonly Claim[];
}

/** Thrown instead of deleting: another resource manages the object now. */
export class ManagedElsewhereError extends Error {
  constructor(readonly owner: string) {
    super(`managed by "${nameInUrn(owner)}" of this program`);
  }
}

export class Ownership {
  /** By URN: what a resource has in its state and continues to manage. */
  readonly #stored = new Map<string, Stored>();
  /** The URNs under which something was created. */
  readonly #createdAs = new Set<string>();
  /** The first resource of the program whose creation or update has failed. */
  #failed: string | undefined;

  constructor(
    private readonly claims: Claims,
    private readonly objects: Objects,
    private readonly neighbours: Neighbours,
  ) {}

  /**
   * Records the objects that a resource has in its state and continues to manage. `stateUrn`: the URN in its state,
   * which its deletion carries; after renames several resources may have the same one there.
   */
  setStored(urn: string, objects: readonly string[], stateUrn = urn): void {
    const stored = { stateUrn, objects };
    this.#stored.set(urn, stored);
    this.neighbours.others.tellStored(urn, stored);
  }

  /** Records that a resource no longer manages what it has in its state. */
  leaveStored(urn: string): void {
    this.setStored(urn, [], this.#stored.get(urn)?.stateUrn);
  }

  /** The same for these objects. The URN may be the one in the state. */
  removeStored(objects: readonly string[], by: Asker): void {
    for (const [urn, stored] of this.#stored)
      if (urn === by || stored.stateUrn === by)
        this.setStored(
          urn,
          stored.objects.filter((object) => !objects.includes(object)),
          stored.stateUrn,
        );
  }

  /** The URNs in the program of the resources that have this one there, or in their state. */
  #withUrn(urn: string): string[] {
    return [...this.#stored].flatMap(([one, { stateUrn }]) => (one === urn || stateUrn === urn ? [one] : []));
  }

  /**
   * As whom a deletion with this URN asks. An entry that was moved by an alias carries the URN of before. If a resource of
   * the program has that URN by now, and is not replaced, the deletion is not for it. Nor is it if another process
   * manages one of the objects for such a resource: the deletion of its own would come to that process.
   */
  deleterOf(urn: string, objects: readonly string[]): Asker {
    const own = this.#withUrn(urn).map((one) => this.claims.checked.get(one));
    const isOfOther =
      own.length > 0
        ? own.every((one) => one !== undefined && one.newInputs === undefined)
        : objects.some((object) => this.neighbours.certain(object).some(({ holders }) => holders.length > 0));
    return isOfOther ? OTHER_ENTRY : urn;
  }

  /** The URN in the program of the resource that an update creates or replaces, by the one that its deletion carries. */
  replacedUrn(urn: string): string | undefined {
    return [urn, ...this.#withUrn(urn)].find((one) => this.claims.checked.get(one)?.newInputs !== undefined);
  }

  /** Another resource that has the object in its state, or created it or took it over in this run. */
  otherOwner(object: string, by: Asker): string | undefined {
    const owner = this.objects.ownerOf(object);
    if (owner !== undefined && owner !== by) return owner;
    const own = [...this.#stored].filter(([, { objects }]) => objects.includes(object));
    const holders = [
      ...own.map(([urn, { stateUrn }]) => ({ urn, stateUrn })),
      ...this.neighbours.certain(object).flatMap((one) => one.holders),
    ];
    return holders.find((one) => isOther(one, by))?.urn;
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
    if (this.objects.release(object) !== undefined) throw leaving;
    const undo = this.objects.snapshot(object);
    this.objects.setOwner(object, urn);
    // Each process says what it does before it looks at what the others do, so one of them sees the other.
    try {
      if (this.neighbours.certain(object).some(({ state }) => state.isLeaving)) throw leaving;
      requireGranted(this.neighbours.permission("takes-over", object, urn));
    } catch (error) {
      undo();
      throw error;
    }
  }

  /**
   * Call right before a change is sent.
   * @throws when another resource created or took over one of the objects in this run, or may have taken it over.
   */
  checkNotTakenOver(objects: readonly string[], urn: string): void {
    for (const object of objects) {
      const owner = this.objects.ownerOf(object);
      if (owner !== undefined && owner !== urn)
        throw new Error(
          `"${nameInUrn(owner)}" of this program took over ${object} in the same run, because it still existed. ` +
            `Remove "${nameInUrn(owner)}" from the program, run pulumi up (which does not delete the object), and add it again`,
        );
      requireGranted(this.neighbours.permission("changes", object, urn));
    }
  }

  noteCreated(urn: string): void {
    this.#createdAs.add(urn);
  }

  /** Whether this run has created an object under the URN: then what it replaces is deleted last. */
  wasCreated(urn: string): boolean {
    return this.#createdAs.has(urn);
  }

  /**
   * The resource that certainly prevents a deletion from deleting the object. An object that this run created or took
   * over is not deleted, whatever the URN: a replacement has the URN of the resource that it replaces.
   */
  deletionBlocker(object: string, by: Asker): string | undefined {
    return this.objects.ownerOf(object) ?? this.otherOwner(object, by);
  }

  /** Not if another resource manages the object, nor while that is not known. */
  #mayDelete(object: string, by: Asker): Permission {
    const owner = this.deletionBlocker(object, by);
    return owner === undefined
      ? this.neighbours.permission("deletes", object, by)
      : Refused.proven(new ManagedElsewhereError(owner));
  }

  /**
   * Whether a deletion of an entry may be sent: not if other resources manage all of these objects, nor while it is not
   * known of one of them.
   */
  mayDelete(objects: readonly string[], entry: DeletedEntry): Permission {
    const permissions = objects.map((object) => this.#mayDelete(object, entry.by));
    const [first = Granted.proven()] = permissions;
    if (first instanceof Refused && permissions.every((one) => one instanceof Refused)) return first;
    return (
      this.#declaredUnseen(objects, entry) ?? permissions.find((one) => one instanceof Unknown) ?? Granted.proven()
    );
  }

  /**
   * An entry that the program no longer declares, whose object another resource of the program may hold that this run
   * has not looked at: with `--target` and `--exclude` the engine asks no provider about it.
   */
  #declaredUnseen(objects: readonly string[], { urn, by, claims }: DeletedEntry): Unknown | undefined {
    const { others } = this.neighbours;
    const seen = this.claims.seen();
    const hasOwnUrn = by !== OTHER_ENTRY;
    // The engine deletes an entry of the program when it has looked at it, along with what it replaces first, or in a
    // `destroy --run-program`. Of any other, this may be the URN that another entry had before an alias.
    const isReused = hasOwnUrn && others.isOfProgram(urn);
    if (isReused && (seen.has(urn) || this.#hasToCreate() || others.isWholeDestroy())) return undefined;
    const trouble = others.trouble();
    if (trouble !== undefined && !(hasOwnUrn && this.claims.has(urn)))
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
    const [former, entry] =
      isReused || !hasOwnUrn
        ? [
            `. The entry to delete may be another one, which was called "${nameInUrn(urn)}" before an alias`,
            "<its URN>",
          ]
        : ["", urn];
    return Unknown.because({
      question: `whether "${name}" of this program manages the same object`,
      why: `the program declares it there, and this run has not looked at "${name}" (with --target or --exclude it may never do so)${former}`,
      waysOut: `If "${name}" manages it or is to take it over, remove only this entry from the stack: pulumi state delete '${entry}'. Otherwise run pulumi up for the whole program; if this was one, leave "${name}" out of it at first`,
    });
  }

  /** Whether something is not created yet that this run creates or replaces. */
  #hasToCreate(): boolean {
    return [...this.claims.checked].some(([urn, { newInputs }]) => newInputs !== undefined && !this.wasCreated(urn));
  }

  /** A creation or an update has failed. */
  noteFailed(urn: string): void {
    if (this.#failed !== undefined) return;
    this.#failed = urn;
    this.neighbours.others.tellFailed(urn);
  }

  /**
   * An entry that the program has not declared in a run that goes on after an error (`--continue-on-error`): an inline
   * program ends when one of its resources fails, and the engine deletes what it has not declared by then. So it does
   * with what failed to be declared under another name.
   */
  mayDeleteUndeclared(urn: string): Permission {
    const failed = this.#failed ?? this.neighbours.others.failed();
    if (failed === undefined) return Granted.proven();
    if ([urn, ...this.#withUrn(urn)].some((one) => this.claims.checked.has(one))) return Granted.proven();
    return Unknown.because({
      question: "whether the program still declares it",
      why: `"${nameInUrn(failed)}" has failed in this run, and a program may end at that, before it has declared the rest`,
      waysOut: "Mend that, and run pulumi up again: it deletes what the program does not declare",
    });
  }
}
