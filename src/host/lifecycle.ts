import type { Client, Deadline, SvcError } from "../client";
import type { Claim, Planned, RunMemory } from "./memory";
import type { Kind } from "../contract/pointer";
import type { Properties } from "../contract/hiddenKeys";
import type { SecretReference } from "../contract/references";
import type { ArgumentSpecs, Changes, Problem } from "./arguments";

export type { Changes };

/**
 * What a resource is to this provider: plain functions over typed values, which know nothing of hidden keys, unknown
 * values, the engine, or how errors travel.
 */
export interface Lifecycle<Args extends object, Outputs extends object> {
  readonly kind: Kind;
  readonly args: ArgumentSpecs<Args>;
  /** The names of the outputs that tell which object it is: texts. */
  readonly identity?: readonly string[];
  /** The names of the outputs that are secret. */
  readonly secretOutputs: readonly string[];
  /** The service refuses a second object beside an existing one, so a replacement deletes first. */
  readonly deleteBeforeReplace: boolean;
  /**
   * Rules over several arguments. `args`: those that are known and well formed; `givenNames`: the names of all that are given,
   * also of one that is not known yet.
   */
  readonly rules?: (args: Partial<Args>, givenNames: ReadonlySet<string>) => Problem[];
  /** What a replacement does, and what users lose by it. It ends a sentence. */
  readonly replacement: (plan: Plan<Args, Outputs>) => string;
  /** What creating it again means where somebody has deleted the object: what is new, and what is lost. It ends a sentence. */
  readonly recreation?: string;
  /** What else a plan should say on the resource's own line, once. Not asked for a replacement. */
  readonly warnings?: (plan: Plan<Args, Outputs>) => string[];
  /** Whether an update restarts a compute that is active. Not asked for a replacement. */
  readonly restarts?: (plan: Plan<Args, Outputs>) => boolean;
  /** The argument by which an object with this id is another one than these arguments declare, whatever it shows: it is replaced. */
  readonly mismatched?: (id: string, news: Partial<Args>) => (keyof Args & string) | undefined;
  /** What a plan should say of the arguments alone, before anything is compared, once. */
  readonly createWarnings?: (declared: NewDeclaration<Args>) => string[];
  /**
   * What a creation would do to an object that may stand there already: a plan says it unless `lookAhead` has looked. An update
   * says what it did.
   */
  readonly createEffects?: (declared: NewDeclaration<Args>) => string[];
  /**
   * What the service shows about a creation before it is sent: what blocks it, and what it changes. It reads only lists,
   * which all resources share (host/lookAhead.ts). Undefined: too little is known of the resource to look.
   */
  readonly lookAhead?: (look: Look<Args>) => Promise<readonly Finding[] | undefined>;
  /**
   * Asked before the old object of a replacement is deleted, with the known arguments of the new one.
   * @throws where the service would refuse the new one. Nothing is deleted then.
   */
  readonly beforeReplacement?: (call: Call<Outputs>, args: Partial<Args>) => Promise<void>;
  /** The same as `lookAhead` for an update that is planned, with its plan: what makes it fail. Not asked for a replacement. */
  readonly lookAtUpdate?: (look: Look<Args>, plan: Plan<Args, Outputs>) => Promise<readonly Finding[]>;
  /** The objects at the service that these arguments declare: another resource that declares one of them is an error. */
  readonly declares?: (args: Partial<Args>, authProvider: string, givenNames: ReadonlySet<string>) => Claim[];
  /** The objects at the service that the resource manages. */
  readonly objects: (id: string, outs: Partial<Outputs & Args>) => string[];

  create(call: Call<Outputs>, args: Args): Promise<Created<Outputs>>;
  /** The object as the service shows it, or `undefined` when it is gone (docs/design/rules.md, 3). */
  read(call: Call<Outputs>, stored: Stored<Args, Outputs>): Promise<Observed<Args, Outputs> | undefined>;
  /**
   * Sends what `changes` names, and checks whether the object is ready even when it names nothing. It is also called for an
   * argument that the program no longer gives, so it is needed even where every argument replaces.
   */
  update(call: Call<Outputs>, stored: Stored<Args, Outputs>, args: Args, changes: Changes<Args>): Promise<Outputs>;
  /** An object that is gone already is deleted. `call.beforeDelete` runs right before each request. */
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
  /**
   * The arguments that the unfinished change had sent (`Call.sending`): what else differs is drift, and is left alone.
   * Undefined where the state does not tell, as in one of an older version.
   */
  readonly sent: ReadonlySet<string> | undefined;
}

export interface Observed<Args, Outputs> {
  /** An argument that is not set is `undefined`; one that cannot be read back is left out, and the stored value stays. */
  readonly args: { readonly [Name in keyof Args]?: Args[Name] | undefined };
  readonly outputs: Outputs;
  /** No change is running any more. */
  readonly ready: boolean;
}

export interface Plan<Args, Outputs> {
  readonly stored: Stored<Args, Outputs>;
  /** The new arguments that are known. */
  readonly news: Partial<Args>;
  /** For messages, behind what the object is at the service: ` ("api")`, or nothing where the name is not known. */
  readonly label: string;
  readonly changes: Changes<Args>;
  readonly replaces: ReadonlySet<keyof Args & string>;
}

/** A resource as the program declares it. */
export interface NewDeclaration<Args> {
  /** Those that are known and well formed. */
  readonly args: Partial<Args>;
  /** As of a `Plan`. */
  readonly label: string;
  readonly isNew: boolean;
  /** It is created in place of one that is deleted or has been: then it is new as well. */
  readonly isReplacement: boolean;
}

/** What a plan has found out from the service about a resource that it creates or updates. */
export interface Finding {
  readonly message: string;
  /** The change would fail because of it, or wait for it. Otherwise it is an effect of the change. */
  readonly isObstacle: boolean;
  /** A resource that is compared later may remove the obstacle in the same run. */
  readonly mayLeave?: true;
}

/** A resource that is to be created or updated, and what is needed to ask the service about it. Its project is known. */
export interface Look<Args> {
  /** Those that are known and well formed. */
  readonly args: Partial<Args> & { readonly projectId: string };
  /** The names of all that are given, also of one that is not known yet. */
  readonly givenNames: ReadonlySet<string>;
  readonly authProvider: string;
  /** An object that is there now is deleted first. */
  readonly isReplacement: boolean;
  readonly client: Client;
  /** For the lists: the time of the plan, and where its progress is shown. */
  readonly reading: {
    readonly deadline: Deadline;
    readonly onProgress: (text: string) => void;
    readonly onError: (error: SvcError) => void;
  };
  /** What is planned for the resource of the program that has the object in its state. Undefined: none was compared yet. */
  readonly planned: (object: string) => Planned | undefined;
  /** Every resource of this kind that the program declares was compared: none will come that has an object in its state. */
  readonly isComplete: boolean;
  /** Whether a resource of the program declares such an object. */
  readonly isDeclared: (matches: (object: string) => boolean) => boolean;
}

/** One call of the engine. The client waits with its deadline and its progress line. */
export interface Call<Outputs> {
  readonly client: Client;
  readonly authProvider: string;
  readonly deadline: Deadline;
  /** Shows a progress text on the line of the resource. */
  readonly onProgress: (text: string) => void;
  readonly run: Run;
  /** Runs right before a request of a deletion; throws when another resource manages the object now. */
  readonly beforeDelete: () => void;
  /** What an argument that may be a reference stands for, to be sent. @throws where it has no value: call it before `sending`. */
  resolve(value: string | SecretReference): string;
  /** Arguments with the values of their references, to be compared with what the service shows. One without a value stays. */
  withValues<Args extends object>(args: Args): Args;
  /** Logs a lasting line: what a person should know after this call. */
  note(text: string): void;
  /**
   * Call right before a request that changes the object, with the arguments that it sends: a failed change goes on with these.
   * @throws when another resource of the program has taken the object over since the update began.
   */
  sending(names: Iterable<string>): void;
  /**
   * The object exists (or was changed) from here on: whatever fails later, it stays in the state with these outputs.
   * `shown`: given arguments that the service shows (or keeps) otherwise: the state holds these values of them.
   */
  checkpoint(id: string, outputs: Outputs, shown?: Properties): void;
}

/** The memory of the run, as one resource sees it. */
export type Run = ReturnType<RunMemory["viewOf"]>;
