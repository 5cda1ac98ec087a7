import type { Endpoint } from "../client";
import type { Call } from "../dynamic/lifecycle";
import type { ComputeEndpointShape } from "../resources/ComputeEndpoint";
import { changeOptions, differing, isSettled, isUpdatable, type ComputeOutputs } from "./computeChanges";
import { finish, startAnyway } from "./computeFinish";
import { toAttributes } from "./computeMapping";

/**
 * Takes over a compute that stands, and brings it to what is declared. It is in the state from the accepted change on;
 * one that is not ready, which an interrupted command may have left, from the start.
 * @throws before anything is changed, when it cannot be brought there.
 */
export async function adopt(
  call: Call<ComputeOutputs>,
  args: ComputeEndpointShape,
  endpoint: Endpoint,
): Promise<Endpoint> {
  const { projectId } = args;
  const names = differing(args, endpoint);
  if (names.has("regionId") && endpoint.region_id !== undefined) {
    throw new Error(
      `${endpoint.id} is in region ${endpoint.region_id}, and a region cannot be changed. Declare that one, or leave "regionId" out`,
    );
  }
  const updates = new Set([...names].filter(isUpdatable));
  const options = changeOptions(call, args, { secretsIn: [endpoint] });
  const settled = isSettled(endpoint);
  // From here on it may be started, whatever comes of that.
  if (!settled) options.onAccepted(endpoint);
  if (updates.size > 0) {
    if (!settled) await startAnyway(call, args, endpoint, [endpoint]);
    return call.client.updateEndpoint(projectId, endpoint.id, toAttributes(args, updates, endpoint), options);
  }
  return settled ? endpoint : finish(call, args, endpoint, [endpoint]);
}
