/**
 * What a protocol asks the runtime, and the answers. Each protocol is that of one kind of Pulumi provider; the runtime knows
 * neither. Nothing here imports zod: the published types depend on this file.
 */
import type { Properties, Timeouts } from "../contract/hiddenKeys";

/**
 * The inputs of a request are those of the program, without hidden keys. Its outs are everything that the state holds.
 */
interface Request {
  /** Undefined if the program does not send it. In a preview it may be unknown. */
  readonly urn: string | undefined;
}

export interface CheckRequest extends Request {
  /** The inputs in the state; empty for a new resource. */
  readonly olds: Properties;
  readonly news: Properties;
  /** Undefined if the protocol does not know it at that time. */
  readonly isPreview: boolean | undefined;
  /** The paths of the options `ignoreChanges` and `replaceOnChanges`, as far as the protocol knows them by then. */
  readonly ignored: readonly string[];
  readonly replacing: readonly string[];
  /** The option `retainOnDelete`, as far as the protocol knows it. @default false */
  readonly retains?: boolean;
  /** The option `deleteBeforeReplace`, as far as the protocol knows it: it has precedence over `DiffResult`. */
  readonly deletesFirst?: boolean | undefined;
  /** The problems that the protocol found with the inputs. */
  readonly problems: readonly Wrong[];
}

/** For a resource of a preview, in which the service may be read. */
export interface PlannedRequest extends Request {
  readonly news: Properties;
  /** How many resources of the kind the program declares; Infinity if it does not say. */
  readonly declared: number;
  /** It is to be created, also in place of another one. */
  readonly isNew: boolean;
  /** Its inputs have passed `check`. */
  readonly isSound: boolean;
}

/** A problem with an input, and its path (empty: the whole). The text contains no value: it may be a secret. */
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
  /** The URN in the state, which an alias does not change. */
  readonly stateUrn: string | undefined;
  readonly id: string;
  readonly outs: Properties;
  readonly news: Properties;
  /** The paths of `ignoreChanges`. Undefined: `check` has said them. */
  readonly ignored?: readonly string[];
}

export interface DiffResult {
  /**
   * What differs. `outs`: the inputs do not differ, but the stored outputs do, or the last change was not finished.
   * `inputs`: they differ, or this process does not know the old ones.
   */
  readonly changes: "none" | "inputs" | "outs";
  /** The names of the arguments that differ. */
  readonly names: readonly string[];
  /** Those that replace the resource. */
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
}

/** A request that changes something. */
interface ChangeRequest extends Request {
  readonly timeouts: Timeouts | undefined;
}

/** A request whose result is stored. */
interface Storing {
  /** What the protocol stores beside the outs. The host does not read it. */
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
  /** The stored timeouts; for a resource that is only looked up, those of the program. */
  readonly timeouts: Timeouts | undefined;
  readonly id: string;
  /** Empty for a resource that is only looked up. */
  readonly outs: Properties;
}

/** Private, so that a copy with other properties does not have this type. */
declare class OfSecrets {
  private readonly isMarked: true;
}

/** Plain JSON for the engine, with secrets marked. Only secrets.ts makes it, so a protocol can return nothing else. */
export type Marked = Properties & OfSecrets;

/** What the state must hold of an object. */
export interface Kept {
  readonly id: string;
  readonly outs: Properties;
}

export interface ReadResult {
  readonly outs: Properties;
  /** The inputs as the service shows them. */
  readonly args: Properties;
}

/** For drift reports. `outs`: those of a refresh, undefined if the object is gone; `news`: the inputs in the state. */
export interface RepairRequest extends Request {
  readonly id: string;
  readonly outs: Properties | undefined;
  readonly news: Properties;
}

/** The change that restores what is declared. */
export interface Repair {
  readonly action: "update" | "replace" | "create";
  /** It restarts an active compute. */
  readonly restarts: boolean;
  /** What a plan reports about it. */
  readonly messages: readonly string[];
}
