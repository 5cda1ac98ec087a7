/** Removes what a run has made, and finds what it may have made. It deletes nothing else. */
import { messageOf } from "../../src/contract/untrusted";
import { hasPrefix, leftovers } from "./before";
import { byHand, type Made } from "./objects";
import type { Run } from "./run";

/** An object that could not be removed, and the request that removes it. */
export interface Left {
  readonly kind: string;
  readonly id: string;
  readonly reason: string;
  readonly byHand: string;
}

type Say = (text: string) => Promise<void> | void;

/** Never throws. Returns what may be left behind. */
export async function sweep(run: Run, say: Say): Promise<Left[]> {
  const { objects } = run;
  const left: Left[] = [];
  for (const made of objects.left) left.push(...(await removed(run, made, say)));
  if (objects.unproven.has("ComputeEndpoint")) left.push(...(await sweepUnproven(run, say)));
  if (objects.unproven.has("AuthIntegration")) left.push(...(await unprovenIntegration(run)));
  return left;
}

/** Empty if it was removed. */
async function removed({ objects, authProvider }: Run, made: Made, say: Say): Promise<Left[]> {
  const { kind, id } = made;
  try {
    await objects.remove(made);
    await say(`removed: ${kind} ${id}`);
    return [];
  } catch (error) {
    return [{ kind, id, reason: messageOf(error), byHand: byHand(made, authProvider) }];
  }
}

/** Computes whose creation nobody has confirmed: what has the random token of this run in its name was made by it. */
async function sweepUnproven(run: Run, say: Say): Promise<Left[]> {
  const { objects, projectId, client, token } = run;
  try {
    const listed = await client.computes.list(projectId, { since: performance.now() });
    const left: Left[] = [];
    for (const { id, name } of listed.filter((one) => objects.isOwn(one.name) && !objects.hasCompute(one.id)))
      left.push(...(await removed(run, await objects.take("ComputeEndpoint", name ?? id, `${projectId}/${id}`), say)));
    return left;
  } catch (error) {
    const reason = `a creation may have taken effect, and its compute (${token}-…) could not be looked for: ${messageOf(error)}`;
    return [{ kind: "ComputeEndpoint", id: projectId, reason, byHand: `GET /projects/${projectId}/endpoints` }];
  }
}

/** Nothing in an integration shows who made it, so it is not deleted. */
async function unprovenIntegration({ client, projectId }: Run): Promise<Left[]> {
  const left = (id: string, provider: string, why: string): Left => ({
    kind: "AuthIntegration",
    id,
    reason: `a creation may have taken effect, but nothing proves it: ${why}`,
    byHand: `DELETE /projects/${projectId}/auth/integration/${provider}`,
  });
  try {
    const listed = await client.auth.integrations(projectId).list({ since: performance.now() });
    return listed.map(({ auth_provider, auth_provider_project_id }) =>
      left(`${projectId}/${auth_provider}`, auth_provider, `delete ${auth_provider_project_id} if nobody else made it`),
    );
  } catch (error) {
    return [left(projectId, "{auth_provider}", messageOf(error))];
  }
}

/**
 * Removes what earlier runs have left. `run` has the prefix as its token, so that what any run has made is its own. An
 * integration with something in it that has no prefix stays. Returns what is still there.
 * @throws if the project cannot be read.
 */
export async function clean(run: Run, say: Say): Promise<Left[]> {
  const { objects, client, projectId, authProvider } = run;
  const left: Left[] = [];
  for (const { kind, id } of await leftovers(client, projectId)) {
    try {
      if (kind === "AuthIntegration") await noteProviders(run);
      left.push(...(await removed(run, await objects.take(kind, id, id), say)));
    } catch (error) {
      const made = { kind, id, args: {} };
      left.push({ kind, id, reason: messageOf(error), byHand: byHand(made, authProvider) });
    }
  }
  return left;
}

/** Those that need no credentials exist by themselves, and a run puts its prefix into the client id of its own. */
async function noteProviders({ objects, client, projectId }: Run): Promise<void> {
  const providers = await client.auth.oauthProviders(projectId).list({ since: performance.now() });
  for (const { id, type, client_id: clientId } of providers)
    if (type === "shared" || hasPrefix(clientId ?? "")) objects.ownProviders.add(id);
}
