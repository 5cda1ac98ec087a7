import type { Kind } from "../../src/contract/pointer";
import type { Properties } from "../../src/contract/hiddenKeys";
import type { Executing, How } from "../support/rules/network";
import type { World } from "../support/rules/world";
import type { Command, Program, Trouble } from "./history";

/** One of ours in the state, secrets in clear. */
export interface Held {
  readonly urn: string;
  readonly kind: Kind;
  readonly name: string;
  readonly id: string;
  readonly inputs: Properties;
  readonly outs: Properties;
  readonly protect: boolean;
  readonly retainOnDelete: boolean;
  /** Its last create or update ended with a partial error. */
  readonly unfinished: boolean;
  /** A replaced object that is still to be deleted. */
  readonly toDelete: boolean;
  /** It is deleted, and its replacement is not there yet. */
  readonly isDeleted: boolean;
}

/** What a command is given, beside the stack. */
export interface Given {
  readonly program: Program;
  /** The secrets by name. */
  readonly environment: Readonly<Record<string, string>>;
  readonly trouble: Trouble | undefined;
  /** A colleague's act of the trouble. */
  readonly act: () => Promise<void>;
  /** Called in place of each request of ours that the service executes, which it does. */
  readonly executing: Executing;
}

/** More than a command sends. */
const ALL = 1_000;

/** What the requests of a sort meet, by their number. A key that is refused stays refused. */
export function faultsOn(
  on: Trouble["faults"][number]["on"],
  { faults = [] }: Partial<Trouble> = {},
): Map<number, How> {
  const met = faults.filter((fault) => fault.on === on);
  return new Map(
    met.flatMap(({ at, how }) =>
      Array.from({ length: how === "401" ? ALL : 1 }, (_, more): [number, How] => [at + more, how]),
    ),
  );
}

export interface Ran {
  /**
   * The exit code (those of `pulumi-svc`: AGENTS.md, Exit codes). 0: it found nothing that it reports by its code, or did
   * all, or there was nothing to do; -1: a signal has ended it.
   */
  readonly code: number;
  /** All that it said, also on success. */
  readonly text: string;
  /** The resource steps that the engine has begun, as `create one`; with the text `replace` in the plan's words. */
  readonly steps: readonly string[];
  /** The plan that was shown before, with the same program and state; undefined: none was made. */
  readonly plan?: { readonly steps: readonly string[]; readonly text: string };
  /** A process was ended as the trouble says. */
  readonly isCut: boolean;
  /** The program as the command has left it (`drift --accept`, `import`), if it has edited it. */
  readonly program?: Program;
}

/** A stack of one of the two engines, on an emulator of this process. */
export interface Player {
  readonly world: World;
  run(command: Command, given: Given): Promise<Ran>;
  held(): Promise<readonly Held[]>;
  /** Text of everything stored or said, in which no canary may be. */
  stored(): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}
