import type { Operation } from "./schemas";

const GOOD = new Set(["finished", "skipped"]);
const BAD = new Set(["failed", "error", "cancelled"]);

const endedWell = ({ status }: Operation): boolean => GOOD.has(status);
export const endedBadly = ({ status }: Operation): boolean => BAD.has(status);
/** A status that we do not know counts as not there yet. */
export const isUnfinished = (operation: Operation): boolean => !endedWell(operation) && !endedBadly(operation);

/** What is known of the operations that a change is waiting for. */
export interface Trace {
  failed?: Operation | undefined;
  unfinished?: Operation | undefined;
  /** Every one of them was seen to end well. */
  allEndedWell: boolean;
}

function traceOf(operations: readonly Operation[]): Trace {
  return {
    failed: operations.find(endedBadly),
    unfinished: operations.find(isUnfinished),
    allEndedWell: operations.length > 0 && operations.every(endedWell),
  };
}

/** The answered operations as the list shows them now. One that the list lacks is taken as answered while `lags`, and then as not traceable. */
export function traceAnswered(answered: readonly Operation[], listed: readonly Operation[], lags: boolean): Trace {
  const now = answered.map(
    (operation) => listed.find(({ id }) => id === operation.id) ?? (lags ? operation : undefined),
  );
  const traced = now.filter((operation) => operation !== undefined);
  const trace = traceOf(traced);
  return { ...trace, allEndedWell: trace.allEndedWell && traced.length === answered.length };
}

/** The operations of a compute when no answer named any: the newest decides. The list has the newest first (service-notes.md). */
export function traceNewest(endpointId: string, listed: readonly Operation[]): Trace {
  // check_availability runs in the background: its end says nothing of a change.
  const own = listed.filter((operation) => operation.endpoint_id === endpointId);
  const newest = own.find(({ action }) => action !== "check_availability");
  return {
    failed: newest !== undefined && endedBadly(newest) ? newest : undefined,
    unfinished: own.find(isUnfinished),
    allEndedWell: newest !== undefined && endedWell(newest),
  };
}
