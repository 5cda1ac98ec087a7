import { BadRequestError, ConflictError, OperationFailedError, type Endpoint } from "../client";
import type { Call } from "../dynamic/lifecycle";
import type { ComputeEndpointShape } from "../resources/ComputeEndpoint";
import { changeOptions, type ComputeOutputs as Outputs } from "./computeChanges";

type Shape = ComputeEndpointShape;

/**
 * Goes on waiting where an earlier call has ended; where its operation has failed, the compute is started again. A
 * disabled one refuses that: what failed is all there is to say.
 */
export async function finish(
  call: Call<Outputs>,
  args: Shape,
  { id, disabled }: Endpoint,
  secretsIn: readonly unknown[],
): Promise<Endpoint> {
  const { projectId } = args;
  const options = { ...changeOptions(call, args, { secretsIn }), idleIsReady: true };
  try {
    return await call.client.waitForEndpoint(projectId, id, options);
  } catch (error) {
    if (!(error instanceof OperationFailedError) || disabled === true) throw error;
    const started = await call.client.startEndpoint(projectId, id, options);
    // A service that cannot be asked to start it: again, what failed is all there is to say.
    if (started === undefined) throw error;
    return started;
  }
}

/** After a start that has failed a change alone never gets the compute ready; it may yet be what the start lacked. */
export async function startAnyway(
  { client, deadline, progress }: Call<Outputs>,
  args: Shape,
  { id, disabled }: Endpoint,
  secretsIn: readonly unknown[],
): Promise<void> {
  if (disabled === true) return;
  try {
    // Nothing to keep: the change itself is still to be sent.
    await client.startEndpoint(args.projectId, id, {
      deadline,
      onProgress: progress,
      secretsIn: [args, ...secretsIn],
    });
  } catch (error) {
    const refused = error instanceof BadRequestError || error instanceof ConflictError;
    if (!refused && !(error instanceof OperationFailedError)) throw error;
  }
}

/** A suspension that has failed leaves a disabled compute running: it is to be disabled once more. */
export const runsOn = (args: Partial<Shape>, { disabled, current_state, pending_state }: Endpoint): boolean =>
  args.disabled === true && disabled === true && current_state === "active" && pending_state === undefined;
