import { REPAIR_TYPE } from "../../stack/unfinished";
import { stackOf } from "../report";
import type { PartialProgram, Registrable } from "./registration";

export const MARK_NAME = "interrupted-repair";

/**
 * A resource that is in the state from before a repair's refresh until the engine has finished: the refresh overwrites
 * what was deployed with what was found. `urn`: of any resource of the stack.
 */
export function repairMark(urn: string): Registrable {
  const { project, stack } = stackOf(urn);
  return {
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
