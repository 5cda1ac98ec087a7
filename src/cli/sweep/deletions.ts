/** Deletes one object, with the proof that it is still the one that was shown, and that it is gone afterwards. */
import { Deadline, mayHaveTakenEffect, NotOursError, type OwnIntegration, type SendOptions } from "../../client";
import { isSameName } from "../../contract/forms";
import { messageOf } from "../../contract/untrusted";
import type { FoundCompute, FoundDomain, FoundObject } from "./leftBehind";

/** `gone`: somebody else has deleted it. `unknown`: it may be deleted, or not. */
export type Outcome = "deleted" | "gone" | "left" | "unknown";

export interface Result {
  readonly outcome: Outcome;
  /** Why it is not deleted, or not known to be. */
  readonly reason?: string;
  /** Whether the service failed, so that nothing more should be sent. */
  readonly isFailure?: boolean;
}

/** Thrown in place of sending a deletion. */
class GoneError extends Error {}
class ChangedError extends Error {}

interface Sending {
  /** How long the deletion may take, with all waits but the reading of states. */
  readonly deadlineMs: number;
  /** Throws if a state may name the object by now. */
  readonly provenByStates: (isRepeated: boolean) => Promise<void>;
  readonly onProgress: (text: string) => void;
}

/** Never throws. */
export async function deleted(
  found: FoundObject,
  { deadlineMs, provenByStates, onProgress }: Sending,
): Promise<Result> {
  let attempts = 0;
  let refused = 0;
  const deadline = new Deadline(deadlineMs);
  const options: SendOptions = {
    deadline,
    onProgress,
    onError: (error) => {
      if (error.method === "DELETE" && !mayHaveTakenEffect(error)) refused += 1;
    },
    // Also before each repetition: minutes may pass while a project is locked.
    beforeAttempt: async () => {
      const goOn = deadline.pause();
      // First: it takes longer than the lists.
      await provenByStates(attempts > 0).finally(goOn);
      await mustBeSame(found, { deadline, onProgress, since: performance.now() });
      attempts += 1;
    },
  };
  try {
    await ("branch" in found ? deleteCompute(found, options) : deleteDomain(found, options));
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

interface Reading extends Pick<SendOptions, "onProgress"> {
  readonly deadline: Deadline;
  readonly since: number;
}

const mustBeSame = (found: FoundObject, reading: Reading): Promise<void> =>
  "branch" in found ? mustBeSameCompute(found, reading) : mustBeListed(found, reading);

async function mustBeSameCompute({ place, object: { record } }: FoundCompute, reading: Reading): Promise<void> {
  const now = await place.client.computes.find(place.projectId, record.id, reading);
  if (now === undefined) throw new GoneError();
  const names = (["created_at", "branch_id", "name", "type"] as const).filter((name) => now[name] !== record[name]);
  if (names.length > 0) throw new ChangedError(`it has changed since it was listed: ${names.join(", ")}`);
}

/** A list shows nothing else of a domain, so its integration has to be the same. */
async function mustBeListed(found: FoundDomain, reading: Reading): Promise<void> {
  const {
    place,
    object: { record },
  } = found;
  await integrationOf(found).prove(reading);
  const domains = place.client.auth.domains(place.projectId);
  const isIt = (one: typeof record): boolean =>
    one.domain === record.domain && one.auth_provider === record.auth_provider;
  if ((await domains.find(isIt, reading)) === undefined) throw new GoneError();
}

async function deleteCompute({ place, object }: FoundCompute, options: SendOptions): Promise<void> {
  const { beforeAttempt = () => undefined, ...waiting } = options;
  const { projectId, client } = place;
  await client.computes.delete({ projectId, endpointId: object.record.id, beforeAttempt }, waiting);
}

async function deleteDomain(found: FoundDomain, options: SendOptions): Promise<void> {
  const { place, origin, authProvider } = found;
  const { projectId, client } = place;
  const deletion = { projectId, authProvider, origins: () => [origin] };
  await client.auth.deleteDomains(deletion, { ...options, integration: integrationOf(found) });
}

function integrationOf({ place: { client, projectId }, authProvider, integration }: FoundDomain): OwnIntegration {
  const isNamed = ({ auth_provider }: { auth_provider: string }): boolean => isSameName(auth_provider, authProvider);
  return client.auth.ownIntegration(projectId, isNamed, integration?.auth_provider_project_id);
}
