/** Removes what a run has made, and finds what it may have made. It deletes nothing else. */
import type { OAuthProviderRecord } from "../../src/client";
import { messageOf } from "../../src/contract/untrusted";
import { computesNamed, hasPrefix, type Leftover, leftovers, type Target } from "./before";
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

/** Empty if it was removed. */
async function removedLeftover(run: Run, { kind, id, identity }: Leftover, say: Say): Promise<Left[]> {
  try {
    if (kind === "AuthIntegration") await run.objects.noteOwnProviders(isOfRun);
    const made = await run.objects.take(kind, id, id);
    if (identity !== undefined && made.outs["authProviderProjectId"] !== identity)
      throw new Error("it stays, because another one has taken its place");
    return await removed(run, made, say);
  } catch (error) {
    return [{ kind, id, reason: messageOf(error), byHand: byHand({ kind, id, args: {} }, run.authProvider) }];
  }
}

/** Computes whose creation nobody has confirmed: what has the random token of this run in its name was made by it. */
async function sweepUnproven(run: Run, say: Say): Promise<Left[]> {
  const { objects, projectId, client, token } = run;
  try {
    const left: Left[] = [];
    for (const compute of await computesNamed(client, projectId, token))
      if (!objects.holds(compute.id)) left.push(...(await removedLeftover(run, compute, say)));
    return left;
  } catch (error) {
    const reason = `a creation may have taken effect, and its compute (${token}-…) could not be looked for: ${messageOf(error)}`;
    return [{ kind: "ComputeEndpoint", id: projectId, reason, byHand: `GET /projects/${projectId}/endpoints` }];
  }
}

/** Nothing in an integration shows who made it, so it is not deleted. */
async function unprovenIntegration({ client, projectId, authProvider }: Run): Promise<Left[]> {
  const id = `${projectId}/${authProvider}`;
  const request = byHand({ kind: "AuthIntegration", id, args: {} }, authProvider);
  const reason = "a creation may have taken effect, but nothing proves it";
  const left = (why: string): Left => ({ kind: "AuthIntegration", id, reason: `${reason}: ${why}`, byHand: request });
  try {
    const listed = await client.auth.integrations(projectId).list({ since: performance.now() });
    return listed.map((one) => left(`delete ${one.auth_provider_project_id} if nobody else made it`));
  } catch (error) {
    return [left(messageOf(error))];
  }
}

/**
 * Removes what earlier runs have left. `run` has the prefix as its token, so that what any run has made is its own. An
 * integration with something in it that has no prefix stays. Returns what is still there.
 * @throws if the project cannot be read.
 */
export async function clean(run: Run, target: Target, say: Say): Promise<Left[]> {
  const left: Left[] = [];
  for (const leftover of await leftovers(run.client, target)) left.push(...(await removedLeftover(run, leftover, say)));
  return left;
}

/** What exists by itself needs no credentials, and a run puts its prefix into the client id of its own. */
const isOfRun = ({ type, client_id: clientId }: OAuthProviderRecord): boolean =>
  type === "shared" || hasPrefix(clientId ?? "");
