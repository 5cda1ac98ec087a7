import type { Client } from "../client";

/** Of each compute that this process has deleted: its project. */
const deletions = new WeakMap<Client, Map<string, string>>();

/** A replacement deletes first and creates in the same process: what a program still names is told from a mistake so. */
export function noteDeleted(client: Client, projectId: string, endpointId: string): void {
  const known = deletions.get(client) ?? new Map<string, string>();
  deletions.set(client, known.set(endpointId, projectId));
}

/** The project that this process has deleted the compute from. */
export const deletedFrom = (client: Client, endpointId: string): string | undefined =>
  deletions.get(client)?.get(endpointId);
