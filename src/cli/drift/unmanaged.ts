import { z } from "zod";
import { Session } from "../../host/session";
import { listProjectObjects, type ProjectObject, projectOf } from "../projectObjects";
import { exportedState } from "./pulumiCli";
import type { Refreshed } from "./refreshed";
import type { Unmanaged } from "./report";

const exported = z.object({
  deployment: z.object({
    resources: z.array(
      z.object({ urn: z.string(), id: z.string().optional(), inputs: z.record(z.string(), z.unknown()).optional() }),
    ),
  }),
});

/** A secret as `--show-secrets` has it: its JSON. */
const secret = z.object({ plaintext: z.string() });

/**
 * What exists in the projects of these resources and is none of them. It is asked with the settings that the refresh
 * used: those that the state holds of each provider, else the environment.
 */
export async function unmanagedObjects(
  resources: readonly Refreshed[],
  stack: string | undefined,
): Promise<Unmanaged[]> {
  const { deployment } = exported.parse(await exportedState(stack));
  const inputsOf = new Map(deployment.resources.map(({ urn, id = "", inputs }) => [`${urn}::${id}`, inputs]));
  const session = new Session(() => undefined);
  const lists = new Map<string, Promise<ProjectObject[]>>();
  for (const { id, provider } of resources) {
    const inputs = inputsOf.get(provider) ?? {};
    const { client, settings } = session.account((name) => inClear(inputs[`svc:${name}`]));
    const projectId = projectOf(id);
    // Two providers of one account have one list.
    const key = JSON.stringify([settings.baseUrl, settings.apiKey, settings.authProvider, projectId]);
    if (!lists.has(key)) lists.set(key, listProjectObjects(client, projectId, settings.authProvider));
  }
  const declared = new Set(resources.map(({ kind, id }) => `${kind} ${id}`));
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
