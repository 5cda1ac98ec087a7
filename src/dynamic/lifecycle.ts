import type { Client, Deadline } from "../client";
import type { Kind } from "./pointer";
import type { Properties } from "./properties";
import type { ArgumentSpecs, Problem } from "./shape";

/**
 * What a resource is to this provider: plain functions over typed values. `host.ts` makes a Pulumi dynamic provider of
 * it; nothing here knows hidden keys, unknown values, the engine, or how errors travel.
 */
export interface Lifecycle<Args extends object, Outputs extends object> {
  readonly kind: Kind;
  /** The shape of the outs. Raise it together with `upgrade` when an output is renamed or its meaning changes. */
  readonly version: number;
  readonly args: ArgumentSpecs<Args>;
  /** The service refuses the twin of an object that still stands, so a replacement deletes first. */
  readonly deleteBeforeReplace: boolean;
  /**
   * Rules over more than one argument, given the arguments that are known and well formed, and the names of all that are
   * given: one that is not known yet, or has a problem of its own, is no missing one.
   */
  readonly rules?: (args: Partial<Args>, given: ReadonlySet<string>) => Problem[];
  /** What a plan should say on the resource's own line, once. */
  readonly warnings?: (plan: Plan<Args, Outputs>) => string[];
  /** What a plan should say of the arguments alone, before anything is compared, once. */
  readonly remarks?: (declared: Declared<Args>) => string[];
  /**
   * Names of objects at the service that the resource holds besides the one that its id names: what the resources of
   * other kinds may hold as well.
   */
  readonly holds?: (id: string, args: Partial<Args>) => string[];
  /** Outs of an older `version` as those of this one. */
  readonly upgrade?: (outs: Properties, version: number) => Properties;

  create(call: Call<Outputs>, args: Args): Promise<Created<Outputs>>;
  /** What stands at the service, or `undefined` when it is gone for sure (a good answer that lacks it). */
  read(call: Call<Outputs>, stored: Stored<Args, Outputs>): Promise<Observed<Args, Outputs> | undefined>;
  /** Sends what `changes` names, and looks whether the object is ready even when it names nothing. */
  update(call: Call<Outputs>, stored: Stored<Args, Outputs>, args: Args, changes: Changes<Args>): Promise<Outputs>;
  /** An object that is gone already is deleted. Not called for one that another resource of the program holds. */
  delete(call: Call<Outputs>, stored: Stored<Args, Outputs>): Promise<void>;
}

export interface Created<Outputs> {
  readonly id: string;
  readonly outputs: Outputs;
}

/** What the state holds of an object: its arguments and outputs as they were stored last. */
export interface Stored<Args, Outputs> {
  readonly id: string;
  readonly outs: Partial<Outputs & Args>;
  /** The arguments that the program gives. Empty for a resource that is only looked up (`get`). */
  readonly managed: ReadonlySet<string>;
  readonly unfinished: boolean;
}

export interface Observed<Args, Outputs> {
  /**
   * The arguments as they stand at the service: an argument that can be read and is not set is `undefined`; one that
   * cannot be read back (a secret) is left out and keeps what is stored.
   */
  readonly args: { readonly [Name in keyof Args]?: Args[Name] | undefined };
  readonly outputs: Outputs;
  /** Whether nothing is under way any more. */
  readonly ready: boolean;
}

export interface Changes<Args> {
  /** Given with another value than the one stored. */
  readonly changed: ReadonlySet<keyof Args & string>;
  /** Taken out of the program: no longer managed. */
  readonly dropped: ReadonlySet<keyof Args & string>;
  /**
   * Managed from now on, with the value that was stored when it was not: what stands at the service may have changed
   * since, so an update looks.
   */
  readonly added: ReadonlySet<keyof Args & string>;
}

export interface Plan<Args, Outputs> {
  readonly stored: Stored<Args, Outputs>;
  /** The new arguments that are known. */
  readonly news: Partial<Args>;
  readonly changes: Changes<Args>;
  readonly replaces: ReadonlySet<keyof Args & string>;
}

/** A resource as the program declares it. */
export interface Declared<Args> {
  /** The arguments that are known and well formed. */
  readonly args: Partial<Args>;
  /** Whether it is going to be created. */
  readonly isNew: boolean;
  /** Whether it is created in place of one that is deleted or has been: then it is new as well. */
  readonly isReplacement: boolean;
  /** The known arguments of the other resources of a kind, as far as the program has declared them in this process. */
  readonly others: (kind: Kind) => readonly Properties[];
}

/** One call of the engine. */
export interface Call<Outputs> {
  readonly client: Client;
  readonly authProvider: string;
  readonly deadline: Deadline;
  /** One line that moves, on the resource's own line. */
  progress(text: string): void;
  /** A lasting line, of what a person should know after this call. */
  note(text: string): void;
  /** Whether another resource of the program holds this object (see `holds`), so that a deletion leaves it alone. */
  heldElsewhere(object: string): boolean;
  /**
   * The object exists (or was changed) from here on: whatever fails later, it stays in the state with these outputs.
   * `notYet` names changed arguments of an update that are still to be applied: they keep their old value until then.
   */
  keep(id: string, outputs: Outputs, notYet?: readonly string[]): void;
}
