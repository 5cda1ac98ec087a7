/**
 * What a 409 to a change of a compute means: a compute is the reason, such as another
 * primary on the branch, or the project is locked (docs/design/api.md,
 * Operations). No field of the response tells them apart, so what the service shows decides.
 */
import { type ConflictError, LockedError, SvcError } from "../http/errors";
import type { EndpointRecord, OperationRecord } from "../records";
import { isUnfinished } from "./waits";

interface Looks {
  readonly computes: () => Promise<readonly EndpointRecord[]>;
  /** Undefined: the service does not list them. */
  readonly operations: () => Promise<readonly OperationRecord[] | undefined>;
  /** Whether a compute is the reason for a refusal. Undefined: none can be. */
  readonly explains: ((endpoint: EndpointRecord) => boolean) | undefined;
}

/** Judges the conflicts of one change. */
export class Conflicts {
  /** Whether the last conflict came although no compute explained it and no operation ran. */
  #wasUnexplained = false;

  constructor(private readonly looks: Looks) {}

  /** A LockedError if waiting helps. Nothing was executed in any case. */
  async meaningOf(conflict: ConflictError): Promise<SvcError> {
    const { explains, computes, operations } = this.looks;
    try {
      if (explains !== undefined && (await computes()).some(explains)) return conflict;
      const listed = await operations();
      // Without a list of them, nothing else explains it.
      const isRunning = listed === undefined || listed.some(isUnfinished);
      // The operation may have ended since: then the next attempt gets through.
      const isExplained = isRunning || !this.#wasUnexplained;
      this.#wasUnexplained = !isRunning;
      return isExplained ? new LockedError("the project has a running operation", conflict.facts) : conflict;
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      return conflict;
    }
  }
}
