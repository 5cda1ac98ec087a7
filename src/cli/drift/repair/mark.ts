import { z } from "zod";
import { asSecret, clearText, parsed, StackState } from "../../stack/state";
import { REPAIR_TYPE, repairMarkIn } from "../../stack/unfinished";
import { stackOf } from "../report";
import type { PartialProgram, Registrable } from "./registration";

export const MARK_NAME = "interrupted-repair";

/** What a repair was about. */
export interface Begun {
  /** The URNs to repair. */
  readonly targets: readonly string[];
  /** The state before the repair, with decrypted secrets. */
  readonly before: StackState;
}

/**
 * A resource that is in the state from before a repair's refresh until the engine has finished: the refresh overwrites
 * what was deployed with what was found. It holds what was deployed, so that the repair can go on after it was killed.
 */
export function repairMark({ targets, before }: Begun): Registrable {
  const { project, stack } = stackOf(targets[0] ?? "");
  return {
    inputs: { before: asSecret(JSON.stringify({ targets, state: before.text })) },
    urn: `urn:pulumi:${stack}::${project}::${REPAIR_TYPE}::${MARK_NAME}`,
    type: REPAIR_TYPE,
    id: "",
    custom: false,
    delete: false,
    external: false,
    pendingReplacement: false,
    hasLeftover: false,
    parent: "",
    provider: "",
    protect: false,
    retainOnDelete: false,
    deletedWith: "",
  };
}

/** The program that declares only the mark. */
export function markAlone(mark: Registrable): PartialProgram {
  const urns = new Set([mark.urn]);
  return { all: new Map([[mark.urn, mark]]), declared: urns, targets: urns };
}

const begun = z.object({ targets: z.array(z.string()), state: z.string() });

/** What the mark in a state with decrypted secrets says. Undefined: there is none, or an older version has left it. */
export function begunIn(state: StackState): Begun | undefined {
  const { success, data } = begun.safeParse(parsed(clearText(repairMarkIn(state)?.inputs?.["before"]) ?? ""));
  return success ? { targets: data.targets, before: new StackState(data.state) } : undefined;
}
