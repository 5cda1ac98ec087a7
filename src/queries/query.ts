/** A question to the service: what a look-up function finds, without the SDK, so that any door can ask it. */
import type { Client } from "../client";
import type { ProjectLookupArgs } from "./types";

/** Whom to ask. */
export interface Asked {
  readonly client: Client;
  /** The auth provider from the settings. */
  readonly authProvider: string;
}

export interface Query<Args extends ProjectLookupArgs, Result> {
  /** The name of the function. */
  readonly name: string;
  /** The arguments besides the project. All are strings. */
  readonly others: readonly Exclude<keyof Args & string, "projectId">[];
  readonly find: (asked: Asked, args: Args) => Promise<Result>;
}

/**
 * For a read that bypasses the cache: one process may run a program several times (Automation API) while others change
 * things.
 */
export const fresh = () => ({ since: performance.now() });
