/**
 * What a door asks the host, and what it answers. A door speaks the protocol of one kind of Pulumi provider; the host knows none.
 * Nothing here imports zod: the published types depend on this file.
 */
import type { Properties, Timeouts } from "../contract/hiddenKeys";

/** The inputs of a request are those of the program, without hidden keys. Its outs are all that the state holds. */
interface Request {
  /** Undefined where a program does not tell it. In a preview it may be unknown. */
  readonly urn: string | undefined;
}

export interface CheckRequest extends Request {
  /** The inputs of the state; empty for a resource that is new. */
  readonly olds: Properties;
  readonly news: Properties;
  /**
   * The program runs for a preview: then the service may be asked. How many resources of the kind it declares; Infinity where it
   * does not tell. Undefined: no preview.
   */
  readonly declared: number | undefined;
  /** The paths of the option `ignoreChanges`. */
  readonly ignored: readonly string[];
  /** What the door has found wrong with the inputs. */
  readonly problems: readonly Wrong[];
}

/** What is wrong with an input, at which path (empty: with the whole). No value is in the text: it may be a secret. */
export interface Wrong {
  readonly path: string;
  readonly reason: string;
}

export interface CheckResult {
  /** The inputs, normalised. */
  readonly args: Properties;
  readonly problems: readonly Wrong[];
}

export interface DiffRequest extends Request {
  /** The URN in the state, which an alias leaves as it was. */
  readonly stateUrn: string | undefined;
  readonly id: string;
  readonly outs: Properties;
  readonly news: Properties;
}

export interface DiffResult {
  /**
   * What differs. `outs`: the inputs do not differ, but what the state holds of the object does, or its last change was not
   * finished. `inputs`: they differ, or this process does not know the old ones.
   */
  readonly changes: "none" | "inputs" | "outs";
  /** The names of the arguments that replace the resource. */
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
}

/** A request that changes something. */
interface ChangeRequest extends Request {
  readonly timeouts: Timeouts | undefined;
}

/** A request whose result is stored. */
interface Storing {
  /** What the door stores beside the outs. The host does not look at it. */
  readonly carried: Properties;
}

export interface CreateRequest extends ChangeRequest, Storing {
  readonly news: Properties;
}

export interface UpdateRequest extends ChangeRequest, Storing {
  readonly id: string;
  readonly outs: Properties;
  readonly news: Properties;
}

export interface DeleteRequest extends ChangeRequest {
  readonly id: string;
  readonly outs: Properties;
}

export interface ReadRequest extends Request, Storing {
  /** Those that the outs hold; of a resource that is only looked up, those of the program. */
  readonly timeouts: Timeouts | undefined;
  readonly id: string;
  /** Empty for a resource that is only looked up. */
  readonly outs: Properties;
}

/** Private, so that a copy with other properties is none. */
declare class OfSecrets {
  private readonly isMarked: true;
}

/** Plain JSON for the engine, in which what is secret is marked. Only secrets.ts makes one, so a door can hand over nothing else. */
export type Marked = Properties & OfSecrets;

/** What the state is to hold of an object. */
export interface Kept {
  readonly id: string;
  readonly outs: Properties;
}

export interface ReadResult {
  readonly outs: Properties;
  /** The inputs as the service shows them. */
  readonly args: Properties;
}

/** For reports of drift. `outs`: those of a refresh, undefined where the object is gone; `news`: the inputs of the state. */
export interface RepairRequest extends Request {
  readonly id: string;
  readonly outs: Properties | undefined;
  readonly news: Properties;
}

/** What brings an object back to what is declared. */
export interface Repair {
  readonly action: "update" | "replace" | "create";
  /** It restarts a compute that is active. */
  readonly restarts: boolean;
  /** What a plan reports about it. */
  readonly messages: readonly string[];
}
