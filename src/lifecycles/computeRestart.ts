import { BadRequestError, ConflictError, type ChangeOptions, type Endpoint } from "../client";
import type { Call } from "../dynamic/lifecycle";

/**
 * Restarts a compute that is active (service.md 3). An idle one starts afresh by itself at the next query, so nothing
 * is called; it may also have gone idle while the call was on its way, which is no failure.
 */
export async function restartActive(
  call: Call<never>,
  projectId: string,
  endpoint: Endpoint,
  options: ChangeOptions,
): Promise<Endpoint> {
  const skip = ({ current_state, pending_state }: Endpoint) => {
    const state = pending_state === "idle" ? "going idle" : current_state;
    call.note(`${endpoint.id} is ${state}, so it was not restarted: its next start is fresh anyway`);
  };
  if (endpoint.current_state !== "active") {
    skip(endpoint);
    return endpoint;
  }
  try {
    return await call.client.restartEndpoint(projectId, endpoint.id, options);
  } catch (error) {
    if (!(error instanceof BadRequestError || error instanceof ConflictError)) throw error;
    const now = await call.client.getEndpoint(projectId, endpoint.id, { fresh: true, deadline: call.deadline });
    if (now?.current_state !== "idle" && now?.pending_state !== "idle") throw error;
    skip(now);
    return now;
  }
}
