import type { Client } from "../../client";
import { projectOf } from "../../contract/identifiers";
import { Session } from "../../host/session";
import { isThereByItself, listProjectObjects, type ProjectObject } from "../projectObjects";
import { fromProgram } from "../stack/configuration";
import type { RefreshedStack } from "./previewRefresh";
import type { Report } from "./report";

/** A project, as the provider of a resource reaches it. */
interface Asked {
  readonly client: Client;
  readonly projectId: string;
  readonly authProvider: string;
}

/**
 * What exists in the projects of these stacks and is in none of them. It is asked with the settings that the refresh
 * used: those that the state holds of each provider, else the environment.
 */
export async function unmanagedObjects(
  stacks: readonly RefreshedStack[],
): Promise<Pick<Report, "unmanaged" | "byItself">> {
  const session = new Session(() => undefined);
  const projects = new Map<string, Asked>();
  const declared = new Set<string>();
  for (const { resources, state } of stacks) {
    for (const { kind, id, provider, isHeld, authProvider } of resources) {
      const { client, settings } = session.account(fromProgram(process.cwd(), state.settingsOf(provider)));
      const projectId = projectOf(id);
      // Whoever asks, and with which key: a project has one list.
      const key = JSON.stringify([settings.baseUrl, projectId]);
      if (!projects.has(key)) projects.set(key, { client, projectId, authProvider: settings.authProvider });
      if (isHeld) declared.add(`${kind} ${id}`);
      // Of the same project there may be domains of several auth providers.
      if (isHeld) declared.add(`${kind} ${id} ${authProvider ?? settings.authProvider}`);
    }
  }
  const isDeclared = (object: ProjectObject): boolean => {
    const { kind, id, record } = object;
    if (kind !== "WhitelistDomain") return declared.has(`${kind} ${id}`);
    const ofProvider = record.auth_provider === undefined ? "" : ` ${record.auth_provider}`;
    // The whole list is that of a Whitelist: what it does not declare is drift.
    return [`WhitelistDomain ${id}`, `Whitelist ${projectOf(id)}`].some((one) => declared.has(one + ofProvider));
  };
  const found = await Promise.all([...projects.values()].map((project) => undeclaredOf(project, isDeclared)));
  return {
    unmanaged: found.flatMap(({ unmanaged }) => unmanaged),
    byItself: found.flatMap(({ byItself }) => byItself),
  };
}

async function undeclaredOf(
  { client, projectId, authProvider }: Asked,
  isDeclared: (object: ProjectObject) => boolean,
): Promise<Pick<Report, "unmanaged" | "byItself">> {
  const all = await listProjectObjects(client, projectId, authProvider);
  const objects = all.filter((object) => !isDeclared(object));
  // Only a primary may be there by itself, on the default branch. Not every service lists branches.
  const hasPrimary = objects.some(({ kind, record }) => kind === "ComputeEndpoint" && record.type === "read_write");
  const branches = hasPrimary ? ((await client.projects.branches(projectId)) ?? []) : [];
  const defaultBranch = branches.find((branch) => branch.default === true)?.id;
  const told = (isByItself: boolean) =>
    objects
      .filter((object) => isThereByItself(object, defaultBranch) === isByItself)
      .map(({ kind, id, describe, adopt }) => ({ kind, id, describe, adopt }));
  return { unmanaged: told(false), byItself: told(true) };
}
