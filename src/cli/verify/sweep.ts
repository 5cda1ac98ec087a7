/** Removes what a run has made, and finds what it may have made. It deletes nothing else. */
import { messageOf } from "../../contract/untrusted";
import type { Made } from "./objects";
import { type Left, leftOf } from "./report";
import type { Run } from "./run";

/** Never throws. Returns what may be left behind. */
export async function sweep(run: Run, say: (text: string) => Promise<void> | void): Promise<Left[]> {
  const { objects, authProvider } = run;
  const left: Left[] = [];
  const remove = async (made: Made): Promise<void> => {
    try {
      await objects.remove(made);
      await say(`removed: ${made.kind} ${made.id}`);
    } catch (error) {
      left.push(leftOf(made, messageOf(error), authProvider));
    }
  };
  for (const made of objects.left) await remove(made);
  if (objects.unproven.has("ComputeEndpoint")) left.push(...(await sweepUnproven(run, remove)));
  if (objects.unproven.has("AuthIntegration")) left.push(...(await unprovenIntegration(run)));
  return left;
}

/** Computes whose creation nobody has confirmed: what has the random token of this run in its name was made by it. */
async function sweepUnproven(
  { objects, projectId, client, token }: Run,
  remove: (made: Made) => Promise<void>,
): Promise<Left[]> {
  try {
    const listed = await client.computes.list(projectId, { since: performance.now() });
    for (const { id, name } of listed.filter((one) => objects.isOwn(one.name) && !objects.hasCompute(one.id)))
      await remove(await objects.take("ComputeEndpoint", name ?? id, `${projectId}/${id}`));
    return [];
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
