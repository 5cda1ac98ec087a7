/** A connection starts its compute and waits until it is active. */
import { isUnfinished } from "../model/operations";
import type { StoredOperation } from "../model/records";
import type { Service } from "../model/service";
import { SessionError } from "./protocol";
import { requireCompute, type Compute } from "./target";

/** Enough for a suspend, a start and a change in between; a stuck compute must not block a client for ever. */
const longestWaitMs = (activationMs: number): number => 10_000 + 5 * activationMs;

const HAS_FAILED: ReadonlySet<string> = new Set(["failed", "error", "cancelled"]);

/**
 * Resolves to the compute once it is active and no operation is changing it. `nextChange` waits for the next change of
 * the service's state; `stop` aborts when the client disconnects, and here after waiting for too long.
 * @throws SessionError, or the reason of `stop`
 */
export async function activeCompute(
  service: Service,
  endpointId: string,
  nextChange: (signal: AbortSignal) => Promise<unknown>,
  stop: AbortController,
): Promise<Compute> {
  const waitMs = longestWaitMs(service.options.activationMs);
  let state = "";
  const timer = setTimeout(() => {
    const words = `the compute ${endpointId} is still "${state}" after ${waitMs / 1000} s`;
    stop.abort(new SessionError("57P03", words));
  }, waitMs).unref();
  const watched = new Set<StoredOperation>();
  try {
    for (;;) {
      const compute = requireCompute(service.store, endpointId);
      const { project, endpoint } = compute;
      state = endpoint.current_state;
      for (const operation of project.operations) {
        if (operation.endpoint_id === endpointId && isUnfinished(operation)) watched.add(operation);
      }
      if (endpoint.pending_state === undefined) {
        if (state === "active") return compute;
        const failed = [...watched].find(({ status }) => HAS_FAILED.has(status));
        if (failed !== undefined) throw notStarted(endpointId, failed);
        const willBeActive = service.operations.willBeActive(project, endpoint);
        if (!willBeActive && (state === "idle" || state === "init")) {
          service.operations.schedule({ project, endpoint, actions: ["start_compute"] });
          service.store.changed();
          continue;
        }
      }
      await nextChange(stop.signal);
    }
  } finally {
    clearTimeout(timer);
  }
}

function notStarted(endpointId: string, { action, status, error }: StoredOperation): SessionError {
  const words = error === undefined ? "" : `: ${error}`;
  return new SessionError("57P03", `the compute ${endpointId} did not start: ${action} ended as ${status}${words}`);
}
