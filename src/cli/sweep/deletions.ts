/** Deletes one object, with the proof that it is still the one that was shown, and that it is gone afterwards. */
import { Deadline, type Destruction, Granted, mayHaveTakenEffect, NotOursError, type Permission } from "../../client";
import { messageOf } from "../../contract/untrusted";
import { ChangedError, GoneError } from "../../resources/tools";
import type { FoundObject } from "./leftBehind";

/** `gone`: somebody else has deleted it. `unknown`: it may be deleted, or not. */
export type Outcome = "deleted" | "gone" | "left" | "unknown";

export interface Result {
  readonly outcome: Outcome;
  /** Why it is not deleted, or not known to be. */
  readonly reason?: string;
  /** Whether the service failed, so that nothing more should be sent. */
  readonly isFailure?: boolean;
}

interface Sending {
  /** How long the deletion may take, with all waits but the reading of states. */
  readonly deadlineMs: number;
  /** Whether no state names the object by now. */
  readonly mayGoByStates: (isRepeated: boolean) => Promise<Permission>;
  readonly onProgress: (text: string) => void;
}

/** Never throws. */
export async function deleted(
  { leftover }: FoundObject,
  { deadlineMs, mayGoByStates, onProgress }: Sending,
): Promise<Result> {
  let attempts = 0;
  let refused = 0;
  const deadline = new Deadline(deadlineMs);
  const destruction: Destruction = {
    deadline,
    onProgress,
    onError: (error) => {
      if (error.method === "DELETE" && !mayHaveTakenEffect(error)) refused += 1;
    },
    // Also before each repetition: minutes may pass while a project is locked.
    isMeant: async () => {
      const goOn = deadline.pause();
      // First: it takes longer than the lists.
      const byStates = await mayGoByStates(attempts > 0).finally(goOn);
      if (!(byStates instanceof Granted)) return byStates;
      const permission = await leftover.isSame({ deadline, onProgress, since: performance.now() });
      if (permission instanceof Granted) attempts += 1;
      return permission;
    },
    // The states and the list were read for this attempt.
    mayGo: () => Granted.proven(),
  };
  try {
    await leftover.delete(destruction);
    return { outcome: attempts === 0 ? "gone" : "deleted" };
  } catch (error) {
    if (error instanceof GoneError) return { outcome: attempts === 0 ? "gone" : "deleted" };
    const reason = reasonOf(error);
    // What was only refused cannot have taken effect.
    if (attempts > refused) return { outcome: "unknown", reason, isFailure: true };
    return { outcome: "left", reason, isFailure: !(error instanceof ChangedError || error instanceof NotOursError) };
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof NotOursError ? "its auth integration has been deleted or replaced" : messageOf(error);
