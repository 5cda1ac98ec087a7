/** The memory of one run (docs/design/rules.md, 4): what is declared, what happens to objects, who manages them, and what is planned. */
import type { Deadline, NotSeen } from "../../client";
import { nameInUrn } from "../../contract/identifiers";
import { Claims } from "./claims";
import { Objects } from "./objects";
import { type Asker, Neighbours, type Others } from "./others";
import { Ownership } from "./ownership";
import { Plans } from "./plans";

interface RunOfCall {
  readonly urn: string;
  /** As whom it asks. */
  readonly by: Asker;
  readonly deadline: Deadline;
  readonly siblingStartsMs: number;
  /** Called with each object that the call takes over. */
  readonly onTakeOver: (object: string) => void;
}

export class RunMemory {
  readonly #neighbours = new Neighbours();
  readonly claims = new Claims(this.#neighbours);
  readonly objects = new Objects(this.#neighbours);
  readonly ownership = new Ownership(this.claims, this.objects, this.#neighbours);
  readonly plans = new Plans(this.claims, this.objects, this.ownership);

  /** What these processes know counts from now on, and they are told what is learned here. */
  meet(others: Others): void {
    this.#neighbours.meet(others);
  }

  /** Why it is not known whether another process declares or manages the same. Undefined: it is known. */
  unheard(): Omit<NotSeen, "question"> | undefined {
    return this.#neighbours.others.unheard();
  }

  /** The memory for one call of one resource. */
  viewOf({ urn, by, deadline, siblingStartsMs, onTakeOver }: RunOfCall) {
    const { objects, ownership, plans } = this;
    return {
      takeOver: (object: string) => {
        ownership.takeOver(object, urn);
        onTakeOver(object);
      },
      /** Whether this resource may delete the object, as one of several. */
      mayDelete: (object: string) => ownership.mayDelete([object], { urn, by, claims: [] }),
      /** The names of the program's resources that declare it, also of those that this run does not look at. */
      namesInProgram: (object: string) =>
        this.#neighbours.others.declaredByProgram(object).map((one) => nameInUrn(one.urn)),
      wasDeleted: (object: string) => objects.wasDeleted(object),
      /** Whether it is what this resource had before, and is replaced by the present call. */
      isReplaced: (object: string) => plans.isReplacedHere(object, by),
      isDeletedLast: (object: string) => plans.isDeletedLast(object),
      leftBy: (object: string) => plans.leftBy(object, by),
      /** The same, even if the engine compares the other resource a moment later. */
      leftSoon: (object: string) => plans.leftWithin(object, by, siblingStartsMs),
      isToBeReplaced: (matches: (object: string) => boolean) => plans.isToBeReplaced(matches),
      otherOwner: (object: string) => ownership.otherOwner(object, by),
      release: (object: string) => objects.release(object),
      /** True even if the engine begins a sibling's change a moment later. */
      leavesSoon: (object: string) => objects.leavesWithin(object, siblingStartsMs),
      waitUntilFree: (object: string, still?: string) => objects.waitUntilFree(object, deadline, still),
      whileReleasing: <Result>(leaving: readonly string[], deletes: boolean, work: () => Promise<Result>) =>
        objects.whileReleasing({ objects: leaving, by, deletes }, work),
    };
  }
}
