/** What this provider process and the others of the run know of each other (docs/design/rules.md, 4). */
import { Granted, type NotSeen, type Permission, Unknown } from "../../client";
import type { Claim } from "../../contract/claims";
import { nameInUrn } from "../../contract/identifiers";

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

/** A resource that has the object in its state. */
export interface Holder {
  readonly urn: string;
  readonly stateUrn: string;
}

/** What another process knows of an object. */
export interface Elsewhere {
  readonly claims: readonly { readonly urn: string; readonly shared?: boolean | undefined }[];
  readonly holders: readonly Holder[];
  readonly state: ToldState;
  /** Why it is not known whether all this is so, and is about the same object. Undefined: it is. */
  readonly doubt: Omit<NotSeen, "question"> | undefined;
}

/** What is done with an object that another resource may manage. */
export type Doing = "takes-over" | "deletes" | "changes";

/** An entry of the state that the engine deletes, and whose URN another resource has by now. */
export const OTHER_ENTRY = Symbol("an entry of the state whose URN another resource has by now");

/** As whom the memory is asked: the resource or the entry with this URN, or an entry whose URN is another one's. */
export type Asker = string | typeof OTHER_ENTRY;

/** Each process publishes what it learns and can query the others. */
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
  /** Whether all that the stack holds is deleted, without a look at what the program declares. */
  isWholeDestroy(): boolean;
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

const ignore = (): void => undefined;

/** For a run in which this process is the only one. */
export const NOBODY: Others = {
  tellClaims: ignore,
  tellStored: ignore,
  tellState: ignore,
  of: () => [],
  declared: () => [],
  declaredByProgram: () => [],
  isOfProgram: () => false,
  isWholeDestroy: () => false,
  tellFailed: ignore,
  failed: () => undefined,
  permission: () => Granted.proven(),
  trouble: () => undefined,
  unheard: () => undefined,
};

/** The other processes, as the memory of this one asks them. */
export class Neighbours {
  #others = NOBODY;

  get others(): Others {
    return this.#others;
  }

  meet(others: Others): void {
    this.#others = others;
  }

  /** What they certainly know of the object. */
  certain(object: string): readonly Elsewhere[] {
    return this.others.of(object).filter(({ doubt }) => doubt === undefined);
  }

  /** Whether the others permit it, as far as what they do is known. Call in the tick in which it is done. */
  permission(doing: Doing, object: string, by: Asker): Permission {
    for (const { doubt, state, holders } of this.others.of(object)) {
      if (doubt === undefined) continue;
      const holder = doing === "changes" ? undefined : holders.find((one) => isOther(one, by));
      // A deletion is not for what this run has taken over, whatever the URN (`deletionBlocker`).
      const owner = doing !== "deletes" && state.owner === by ? undefined : state.owner;
      const other = owner ?? holder?.urn;
      if (other !== undefined)
        return Unknown.because({
          question: `whether "${nameInUrn(other)}" of this program manages ${object}`,
          ...doubt,
        });
      if (doing === "takes-over" && state.isLeaving)
        return Unknown.because({ question: `whether ${object} is being deleted or moved away`, ...doubt });
    }
    return this.others.permission(doing);
  }
}

/** Whether it is another resource than this one, by its URN and by the one in its state. */
export const isOther = (holder: Holder, by: Asker): boolean => holder.urn !== by && holder.stateUrn !== by;
