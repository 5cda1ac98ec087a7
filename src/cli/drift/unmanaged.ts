import type { Client } from "../../client";
import { presentId } from "../../contract/oauthProviderId";
import { projectOf } from "../../contract/identifiers";
import { requestTrace } from "../../contract/settings";
import { Session } from "../../host/session";
import { isThereByItself, listProjectObjects, type ProjectObject } from "../projectObjects";
import { fromProgram } from "../stack/configuration";
import type { RefreshedStack } from "./previewRefresh";
import type { Report } from "./report";

/** A project, as the provider of a resource reaches it. */
interface UnmanagedRequest {
  /** Of the service: another one may have a project of the same id. */
  readonly address: string;
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
  const session = new Session(() => undefined, { client: { trace: requestTrace() } });
  const projects = new Map<string, UnmanagedRequest>();
  const declared = new Set<string>();
  for (const { resources, state } of stacks) {
    for (const { kind, id, provider, isHeld, authProvider } of resources) {
      const { client, settings } = session.account(fromProgram(process.cwd(), state.settingsOf(provider)));
      const projectId = projectOf(id);
      // In one spelling.
      const address = new URL(settings.baseUrl).href;
      // Whoever asks, and with which key: at one address a project has one list.
      const key = JSON.stringify([address, projectId]);
      if (!projects.has(key)) projects.set(key, { address, client, projectId, authProvider: settings.authProvider });
      if (!isHeld) continue;
      declared.add(`${address} ${kind} ${id}`);
      // One that is declared absent and is there all the same is drift.
      if (kind === "OAuthProvider") declared.add(`${address} ${kind} ${presentId(id).id}`);
      // Of the same project there may be domains of several auth providers.
      declared.add(`${address} ${kind} ${id} ${authProvider ?? settings.authProvider}`);
    }
  }
  const isDeclared = (address: string, object: ProjectObject): boolean => {
    const { kind, id, record } = object;
    if (kind !== "WhitelistDomain") return declared.has(`${address} ${kind} ${id}`);
    const ofProvider = record.auth_provider === undefined ? "" : ` ${record.auth_provider}`;
    // The whole list is that of a Whitelist: what it does not declare is drift.
    return [`WhitelistDomain ${id}`, `Whitelist ${projectOf(id)}`].some((one) =>
      declared.has(`${address} ${one}${ofProvider}`),
    );
  };
  const asked = [...projects.values()];
  const found = await Promise.all(
    asked.map((project) => {
      const isAmbiguous = asked.some((other) => other !== project && other.projectId === project.projectId);
      return undeclaredOf(project, isDeclared, isAmbiguous ? `, at ${project.address}` : "");
    }),
  );
  return {
    unmanaged: found.flatMap(({ unmanaged }) => unmanaged),
    byItself: found.flatMap(({ byItself }) => byItself),
  };
}

async function undeclaredOf(
  { address, client, projectId, authProvider }: UnmanagedRequest,
  isDeclared: (address: string, object: ProjectObject) => boolean,
  /** Where the id of the project does not tell it. */
  where: string,
): Promise<Pick<Report, "unmanaged" | "byItself">> {
  const all = await listProjectObjects(client, projectId, authProvider);
  const objects = all.filter((object) => !isDeclared(address, object));
  // Only a primary may be there by itself, on the default branch. Not every service lists branches.
  const hasPrimary = objects.some(({ kind, record }) => kind === "ComputeEndpoint" && record.type === "read_write");
  const branches = hasPrimary ? ((await client.projects.branches(projectId)) ?? []) : [];
  const defaultBranch = branches.find((branch) => branch.default === true)?.id;
  const told = (isByItself: boolean) =>
    objects
      .filter((object) => isThereByItself(object, defaultBranch) === isByItself)
      .map(({ kind, id, describe, adopt }) => ({ kind, id, describe: describe + where, adopt }));
  return { unmanaged: told(false), byItself: told(true) };
}
