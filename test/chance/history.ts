import type { Kind } from "../../src/contract/pointer";
import type { EmulatorOptions } from "../../src/emulator";
import { DEMO } from "../kinds/KindCase";
import type { Deed } from "../support/rules/colleague";
import type { Broken } from "../support/rules/engine/neighbours";
import type { How } from "../support/rules/network";

/*
 * A program and what happens to its stack, as plain JSON: a generator draws it, both engines run it (imitated.ts,
 * engine.ts), and a failing one is written into a test file as it is.
 */

/** A value of an argument. The marks are the only objects whose key begins with "$". */
export type Value = Plain | Mark;
type Plain = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };
type Mark =
  /** An output of an earlier resource: its name, and the property. */
  | { readonly $output: readonly [name: string, property: string] }
  /** `pulumi.secret` of it. */
  | { readonly $secret: string }
  /** `svc.fromEnv` of it. */
  | { readonly $env: string };

/** A plain component (`Group`), a dynamic resource of somebody else (`Foreign`), or one of ours. */
export type AnyKind = Kind | "Group" | "Foreign" | "ComputeGroup" | "ProjectAuth";

/** A former identity: the name, and the parent of that time (null: none). */
export interface Alias {
  readonly name: string;
  readonly parent: string | null;
}

/** Resource options; each is left out where it is not used. Names are those of resources in the program. */
export interface Options {
  readonly parent?: string;
  readonly dependsOn?: readonly string[];
  readonly aliases?: readonly Alias[];
  readonly protect?: true;
  readonly retainOnDelete?: true;
  readonly deletedWith?: string;
  readonly ignoreChanges?: readonly string[];
  readonly replaceOnChanges?: readonly string[];
  readonly deleteBeforeReplace?: true;
  readonly additionalSecretOutputs?: readonly string[];
  /** Minutes and more: only that it is set. */
  readonly customTimeouts?: true;
  /** A transform that marks each text argument of this name secret. */
  readonly transform?: string;
  /** The explicit Provider of this name, which has the same account. */
  readonly provider?: "first" | "second";
}

export interface Declared {
  readonly kind: AnyKind;
  readonly name: string;
  readonly args: { readonly [name: string]: Value };
  readonly options: Options;
}

/** In an order in which each comes after those that it names. */
export type Program = readonly Declared[];

/** Which resource: a number chooses among what the program then has, modulo its count; a kind is its first one. */
export type Which = number | Kind;

/** The next version of a program. */
export type Edit =
  | { readonly edit: "add"; readonly resource: Declared }
  | { readonly edit: "remove"; readonly which: number }
  /** Sets an argument to the other value of its case, or takes it out. `reference`: its secret is in the environment. `reversed`: a list in another order. */
  | {
      readonly edit: "argument";
      readonly which: Which;
      readonly argument: number;
      readonly to: "other" | "value" | "none" | "reference" | "reversed";
    }
  /** `adopts`, without an alias: it takes over what it had under its former name. `elsewhere`: with another Provider. */
  | {
      readonly edit: "rename";
      readonly which: number;
      readonly aliased: boolean;
      readonly adopts?: true;
      readonly elsewhere?: true;
    }
  /** Into a component of its own, or out of its parent. */
  | { readonly edit: "move"; readonly which: number; readonly aliased: boolean }
  | { readonly edit: "options"; readonly which: Which; readonly options: Options }
  /** It depends on everything that comes before it. */
  | { readonly edit: "depend"; readonly which: number }
  | { readonly edit: "reorder"; readonly which: number };

/**
 * What somebody else does by the API. `share provider`: gives up its credentials for the shared keys of the service.
 * `rotate …`: sets another secret, and nothing else.
 */
export type Act =
  | Exclude<Deed, { readonly do: "replace" }>
  | { readonly do: "share provider" | "rotate provider" | "rotate mail" | "rotate settings" };

/** What goes wrong during a command. */
export interface Trouble {
  /** The nth read, request that changes something, or deletion among these meets this. */
  readonly faults: readonly {
    readonly on: "reads" | "changes" | "deletions";
    readonly at: number;
    readonly how: How;
  }[];
  /** The key is that of another account, which sees no project. */
  readonly otherAccount?: true;
  /** The processes of the run cannot tell each other what they do: at all (0), or from the request of this number on. */
  readonly channel?: { readonly at: number; readonly how: Broken };
  /** A colleague acts before the service gets the change of this number. */
  readonly beside?: { readonly at: number; readonly deed: Act };
  /**
   * A process ends at the request of this number: before the service has it, or after it is executed and before the
   * answer. `command`: our own command (in place of a CLI that is run directly, the CLI).
   */
  readonly end?: {
    readonly who: "cli" | "provider" | "command";
    readonly signal: "SIGKILL" | "SIGTERM" | "SIGHUP" | "EPIPE";
    readonly at: number;
    readonly moment: "before" | "after";
  };
}

type Named = { readonly which: number };

/** What the command is about. Numbers choose among the program's resources, and then those that only the state has. */
interface Part {
  readonly target?: number;
  readonly exclude?: number;
}

/** Numbers choose among the program's resources. */
export type Command =
  | (Part & {
      readonly run: "up";
      readonly refresh?: true;
      /** As those of the part. */
      readonly replace?: number;
      /** The order and concurrency of the imitation. */
      readonly seed: number;
    })
  | { readonly run: "preview"; readonly refresh?: true }
  | { readonly run: "refresh" }
  | (Part & { readonly run: "destroy"; readonly excludeProtected?: true })
  | ({ readonly run: "state rename" } & Named)
  | ({ readonly run: "state taint" } & Named)
  | { readonly run: "drift"; readonly unmanaged?: true }
  | { readonly run: "drift --accept" | "drift --ignore" | "drift --repair"; readonly which?: number }
  | { readonly run: "import" | "doctor --audit" | "env" };

export type Step =
  | { readonly do: "command"; readonly command: Command; readonly trouble?: Trouble }
  | { readonly do: "edit"; readonly edits: readonly Edit[] }
  | { readonly do: "colleague"; readonly deed: Act }
  /** The secret behind a name from now on; null: none. */
  | { readonly do: "environment"; readonly name: string; readonly value: string | null };

export interface History {
  readonly program: Program;
  /** The secrets by name. */
  readonly environment: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
  /** Whose resources the program declares: `changing` ones with each `up`. @default dynamic */
  readonly protocol?: "native" | "changing";
  /** Lists show two objects at once. */
  readonly pages?: true;
  /** How responses show secrets. @default as they are */
  readonly secrets?: "masked" | "absent";
  /** For a while, lists lack what was created (docs/design/api.md, Delays). On the imitation, where waiting costs nothing. */
  readonly lateLists?: true;
}

/** Where a history takes place. */
export type Surroundings = Pick<History, "protocol" | "lateLists" | "pages" | "secrets">;

/** Of its emulator, but for late lists. */
export const optionsOf = ({ pages, secrets }: Surroundings): EmulatorOptions => ({
  // The second one is the other value of the cases (test/kinds).
  projects: [DEMO.projectId, "prj-other"],
  otherApiKeys: [OTHER_KEY],
  ...(pages === true && { pageSize: 2 }),
  ...(secrets !== undefined && { secretAnswers: secrets }),
});

/** The key of another account. */
export const OTHER_KEY = "key-of-another-account";

/** The last of those that only the state has. */
export const FORMER = -1;

/** The names among which the numbers of a part choose. */
export function namedIn(program: Program, held: readonly string[], which: number): string | undefined {
  const own = program.map(({ name }) => name);
  const all = [...new Set([...own, ...held])];
  return all.at(which < 0 ? which : which % all.length);
}

/** Every text that must be nowhere in clear begins with this. */
export const CANARY = "canary-chance-";
