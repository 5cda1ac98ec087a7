import type { Client, Deadline, Gone, ListOptions, Permission, SvcError } from "../client";
import type { Claim } from "../contract/claims";
import type { RunMemory } from "./run/memory";
import type { Left, Planned } from "./run/plans";
import type { IdRules } from "../contract/objectIds";
import type { Kind } from "../contract/pointer";
import type { Properties } from "../contract/hiddenKeys";
import type { SecretReference } from "../contract/references";
import type { ArgumentSpecs, Changes, Problem } from "./arguments";

export type { Changes };

/**
 * A resource as this provider implements it: plain functions over typed values, which know nothing of hidden keys,
 * unknown values, the engine, or how errors travel.
 */
export interface Lifecycle<Args extends object, Outputs extends object> {
  readonly kind: Kind;
  /** What its Pulumi ids look like. Undefined: any text may be one. */
  readonly id?: IdRules;
  readonly args: ArgumentSpecs<Args>;
  /** The names of the outputs that identify the object. They are strings. */
  readonly identity?: readonly string[];
  /** The names of the outputs that are secret. */
  readonly secretOutputs: readonly string[];
  /** The names of the outputs that no update changes. */
  readonly staying: readonly string[];
  /**
   * Rules over several arguments. `args`: the known, well-formed arguments; `givenNames`: the names of all given
   * arguments, including unknown ones; `limits`: what the settings allow.
   */
  readonly rules?: (args: Partial<Args>, givenNames: ReadonlySet<string>, limits: Limits) => Problem[];
  /** What a replacement does, and what users lose by it. It ends a sentence. */
  readonly replacement: (plan: Plan<Args, Outputs>) => string;
  /** What recreating the object means after somebody deleted it: what is new, and what is lost. It ends a sentence. */
  readonly recreation?: string;
  /** Further warnings of a plan on the resource's own line, shown once. Not called for a replacement. */
  readonly warnings?: (plan: Plan<Args, Outputs>) => string[];
  /** Whether an update restarts an active compute. Not called for a replacement. */
  readonly restarts?: (plan: Plan<Args, Outputs>) => boolean;
  /**
   * The argument by which these arguments declare another object than the one with this id, whatever it shows. The
   * resource is then replaced.
   */
  readonly mismatched?: (id: string, news: Partial<Args>) => (keyof Args & string) | undefined;
  /** Warnings of a plan about the arguments alone, before anything is compared, shown once. */
  readonly createWarnings?: (declared: NewDeclaration<Args>) => string[];
  /**
   * What a creation would do to an object that may exist already. A plan reports it unless `lookAhead` has looked. An
   * update reports what it did.
   */
  readonly createEffects?: (declared: NewDeclaration<Args>) => string[];
  /**
   * What the service shows about a creation before it is sent: what blocks it, and what it changes. It reads only
   * lists, which all resources share (host/lookAhead.ts). Undefined: too little is known about the resource.
   */
  readonly lookAhead?: (look: Look<Args>) => Promise<readonly Finding[] | undefined>;
  /**
   * Whether the service would accept a new object in place of the old one, which is deleted first: asked by the plan,
   * and again right before the deletion. What is not known refuses, so nothing is deleted that may not come back.
   */
  readonly replaceable: Replaceable<Args, Outputs>;
  /** Like `lookAhead`, for a planned update: what makes it fail. Not called for a replacement. */
  readonly lookAtUpdate?: (look: Look<Args>, plan: Plan<Args, Outputs>) => Promise<readonly Finding[]>;
  /**
   * The objects at the service that these arguments declare. It is an error if another resource declares one of them.
   */
  readonly declares?: (args: Partial<Args>, authProvider: string, givenNames: ReadonlySet<string>) => Claim[];
  /**
   * What the resource lives in, and is deleted with. `name` is for messages; `is`: whether that is this object, by what
   * the state proves. The host has a resource replaced with it where the engine does not know that it depends on it.
   */
  readonly container?: {
    readonly name: string;
    readonly is: (object: string, id: string, outs: Partial<Outputs & Args>) => boolean;
  };
  /** The objects at the service that the resource manages. */
  readonly objects: (id: string, outs: Partial<Outputs & Args>) => string[];

  create(call: Call<Outputs>, args: Args): Promise<Created<Outputs>>;
  /** The object as the service shows it, or the proof that it is gone (docs/design/rules.md, 3 and 9). */
  read(call: Call<Outputs>, stored: Stored<Args, Outputs>): Promise<Observed<Args, Outputs> | Gone>;
  /**
   * Sends what `changes` names, and checks whether the object is ready even if it names nothing. It is also called if
   * the program drops an argument, so it is needed even if every argument replaces.
   */
  update(call: Call<Outputs>, stored: Stored<Args, Outputs>, args: Args, changes: Changes<Args>): Promise<Outputs>;
  /** An object that is gone counts as deleted. `call.mayDelete` is asked right before each request. */
  delete(call: Call<Outputs>, stored: Stored<Args, Outputs>): Promise<Gone>;
}

/** What the settings allow. */
export interface Limits {
  /** The paths of `ignoreChanges`: there the state has its say, which no edit of the argument changes. */
  readonly ignored: readonly string[];
  /** The largest size of a compute, in compute units (CU). Undefined: any. */
  readonly maxSizeCu: number | undefined;
}

export interface Created<Outputs> {
  readonly id: string;
  readonly outputs: Outputs;
}

/** The stored arguments and outputs of an object. */
export interface Stored<Args, Outputs> {
  readonly id: string;
  readonly outs: Partial<Outputs & Args>;
  /** The arguments that the program gives. Empty for a resource that is only looked up (`get`). */
  readonly managed: ReadonlySet<string>;
  /** The change that did not finish. A creation means all that it has said in its plan; an update, what it had sent. */
  readonly unfinished: false | "create" | "update";
  /**
   * The arguments that the unfinished change had sent (`Call.sending`). Other differences are drift and stay as they
   * are. Undefined if the state does not say, as in one of an older version.
   */
  readonly sent: ReadonlySet<string> | undefined;
  /** What the service has added of its own (`Call.added`): it is neither drift nor part of what a change has to show. */
  readonly added: readonly string[];
}

export interface Observed<Args, Outputs> {
  /** An argument that is not set is `undefined`; one that cannot be read back is absent and keeps its stored value. */
  readonly args: { readonly [Name in keyof Args]?: Args[Name] | undefined };
  readonly outputs: Outputs;
  /** No change is in progress any more. */
  readonly ready: boolean;
}

export interface Plan<Args, Outputs> {
  readonly stored: Stored<Args, Outputs>;
  /** The known new arguments. */
  readonly news: Partial<Args>;
  /** ` ("api")`, to follow the object's name at the service in messages. Empty if the name is unknown. */
  readonly label: string;
  readonly changes: Changes<Args>;
  readonly replaces: ReadonlySet<keyof Args & string>;
  /** A replacement deletes the old object first, and not once the new one exists. */
  readonly deletesFirst: boolean;
}

/** A resource as the program declares it. */
export interface NewDeclaration<Args> {
  /** The known, well-formed arguments. */
  readonly args: Partial<Args>;
  /** See `Plan`. */
  readonly label: string;
  readonly isNew: boolean;
  /** It replaces an object, so it is new as well. */
  readonly isReplacement: boolean;
}

export interface Replaceable<Args, Outputs> {
  /** What is asked, for the documentation: it follows "whether". */
  readonly asks: string;
  readonly ask: (replacing: Replacing<Args, Outputs>) => Promise<Permission>;
}

/** A replacement that deletes first. */
export interface Replacing<Args, Outputs> {
  readonly client: Client;
  readonly authProvider: string;
  /** For the lists that are read. */
  readonly reading: ListOptions;
  readonly stored: Stored<Args, Outputs>;
  /** The known arguments of the new object. */
  readonly news: Partial<Args>;
  /** Whether such an object is to be replaced, and the run has not come to it: see `Plans`. */
  readonly isToBeReplaced: (matches: (object: string) => boolean) => boolean;
  /** Whether a resource of the program declares such an object. */
  readonly isDeclared: (matches: (object: string) => boolean) => boolean;
}

/** What a plan learned from the service about a resource that it creates or updates. */
export interface Finding {
  readonly message: string;
  /** The change would fail because of it, or wait for it. False: it is an effect of the change. */
  readonly isObstacle: boolean;
  /** A resource that is compared later may remove the obstacle in the same run. */
  readonly mayLeave?: true;
  /** It fails the plan, strict or not: something would be deleted that cannot come back. */
  readonly loses?: true;
}

/** A resource to be created or updated, with what is needed to read about it. Its project is known. */
export interface Look<Args> {
  /** The known, well-formed arguments. */
  readonly args: Partial<Args> & { readonly projectId: string };
  /** The names of all given arguments, including unknown ones. */
  readonly givenNames: ReadonlySet<string>;
  readonly authProvider: string;
  readonly client: Client;
  /** For the lists: the plan's time limit, and where its progress is shown. */
  readonly reading: {
    readonly deadline: Deadline;
    readonly onProgress: (text: string) => void;
    readonly onError: (error: SvcError) => void;
  };
  /**
   * The plan for the resource of the program that has the object in its state. Undefined: none has been compared yet.
   */
  readonly planned: (object: string) => Planned | undefined;
  /** Every resource of this kind in the program was compared: no further one will have an object in its state. */
  readonly isComplete: boolean;
  /** Whether a resource of the program declares such an object. */
  readonly isDeclared: (matches: (object: string) => boolean) => boolean;
  /** What another resource of the program leaves to this one, as far as it was compared: see `Plans`. */
  readonly leftBy: (object: string) => Left | undefined;
}

/** One call of the engine. The client waits with its deadline and its progress line. */
export interface Call<Outputs> {
  readonly client: Client;
  readonly authProvider: string;
  readonly deadline: Deadline;
  /** Shows progress on the resource's line. */
  readonly onProgress: (text: string) => void;
  readonly run: Run;
  /** Whether the object may be deleted: no other resource manages it now. The gate asks right before each request. */
  readonly mayDelete: () => Permission;
  /** The value of an argument that may be a reference, to be sent. @throws if it has none: call it before `sending`. */
  resolve(value: string | SecretReference): string;
  /**
   * Arguments with the values of their references, for a comparison with what the service shows. A reference without a
   * value stays.
   */
  withValues<Args extends object>(args: Args): Args;
  /** Logs a permanent line: what a person should know after this call. */
  note(text: string): void;
  /**
   * Call right before a request that changes the object, with the arguments that it sends: after a failure the next
   * update continues with these.
   * @throws when another resource of the program has taken the object over since the update began.
   */
  sending(names: Iterable<string>): void;
  /** For the state, in place of `Stored.added`: call it before `checkpoint`. */
  added(names: readonly string[]): void;
  /**
   * From here on the object exists (or was changed): whatever fails later, it stays in the state with these outputs.
   * `shown`: given arguments that the service shows (or keeps) with other values; the state holds these.
   */
  checkpoint(id: string, outputs: Outputs, shown?: Properties): void;
}

/** The memory of the run from the view of one resource. */
export type Run = ReturnType<RunMemory["viewOf"]>;
