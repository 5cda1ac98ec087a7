/**
 * `pulumi-svc/provider`: the module that the pointer in users' states loads (contract/pointer.ts). This path, `load`
 * and the names of the kinds are a permanent contract.
 */
import { isKind, KINDS } from "./contract/pointer";
import { dynamicProvider } from "./protocols/dynamic/provider";
import type { DynamicProvider } from "./protocols/dynamic/types";
import { endWithEngine } from "./protocols/engine/end";
import { engineSession } from "./protocols/engine/session";
import { packageVersion } from "./contract/installation";
import { lifecycleOf } from "./resources/lifecycles";

/** One per process: all resources share the clients, their queues and the engine's log. */
const session = engineSession();
let watched = false;

/**
 * The dynamic provider of a kind.
 * @throws for a kind that this version does not know.
 */
export function load(kind: string): DynamicProvider {
  if (!isKind(kind)) throw unknownKind(kind);
  if (!watched) endWithEngine();
  watched = true;
  return dynamicProvider(lifecycleOf(kind), session);
}

function unknownKind(kind: string): Error {
  const error = new Error(
    `pulumi-svc ${packageVersion() ?? ""} has no resource ${JSON.stringify(kind)} (it knows ${KINDS.join(", ")}). The program was written with another version: two are installed. Make the program and its packages depend on the same one.`,
  );
  error.stack = "";
  return error;
}
