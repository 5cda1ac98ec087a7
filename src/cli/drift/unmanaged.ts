import { z } from "zod";
import { Session } from "../../host/session";
import { listProjectObjects, type ProjectObject, projectOf } from "../projectObjects";
import type { RefreshedStack } from "./pulumiCli";
import type { Unmanaged } from "./report";

/** A secret as `--show-secrets` has it: its JSON. */
const secret = z.object({ plaintext: z.string() });

/**
 * What exists in the projects of these resources and is none of them. It is asked with the settings that the refresh
 * used: those that the state holds of each provider, else the environment.
 */
export async function unmanagedObjects({ resources, state }: RefreshedStack): Promise<Unmanaged[]> {
  const session = new Session(() => undefined);
  const lists = new Map<string, Promise<ProjectObject[]>>();
  for (const { id, provider } of resources) {
    const inputs = state.find(provider)?.inputs ?? {};
    const { client, settings } = session.account((name) => inClear(inputs[`svc:${name}`]));
    const projectId = projectOf(id);
    // Two providers of one account have one list.
    const key = JSON.stringify([settings.baseUrl, settings.apiKey, settings.authProvider, projectId]);
    if (!lists.has(key)) lists.set(key, listProjectObjects(client, projectId, settings.authProvider));
  }
  const declared = new Set(resources.flatMap(({ kind, id, isHeld }) => (isHeld ? [`${kind} ${id}`] : [])));
  const isDeclared = ({ kind, id }: ProjectObject): boolean =>
    declared.has(`${kind} ${id}`) ||
    // The whole list is that resource's: what it does not declare is drift.
    (kind === "WhitelistDomain" && declared.has(`Whitelist ${projectOf(id)}`));
  const found = (await Promise.all(lists.values())).flat().filter((object) => !isDeclared(object));
  return found.map(({ kind, id, describe, adopt }) => ({ kind, id, describe, adopt }));
}

function inClear(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const { success, data } = secret.safeParse(value);
  const text: unknown = success ? JSON.parse(data.plaintext) : undefined;
  return typeof text === "string" ? text : undefined;
}
