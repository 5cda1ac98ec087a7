/** Deletes one object, with the proof that it is still the one that was shown, and that it is gone afterwards. */
import {
  Deadline,
  type Destruction,
  Gone,
  Granted,
  mayHaveTakenEffect,
  NotOursError,
  type OwnIntegration,
  type Permission,
  Refused,
  Unknown,
} from "../../client";
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

/** Why a deletion is not sent. */
class GoneError extends Error {}
class ChangedError extends Error {}

interface Sending {
  /** How long the deletion may take, with all waits but the reading of states. */
  readonly deadlineMs: number;
  /** Whether no state names the object by now. */
  readonly mayGoByStates: (isRepeated: boolean) => Promise<Permission>;
  readonly onProgress: (text: string) => void;
}

/** Never throws. */
export async function deleted(found: FoundObject, { deadlineMs, mayGoByStates, onProgress }: Sending): Promise<Result> {
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
      const permission = await isSame(found, { deadline, onProgress, since: performance.now() });
      if (permission instanceof Granted) attempts += 1;
      return permission;
    },
    // The states and the list were read for this attempt.
    mayGo: () => Granted.proven(),
  };
  try {
    await ("branch" in found ? deleteCompute(found, destruction) : deleteDomain(found, destruction));
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

interface Reading extends Pick<Destruction, "onProgress"> {
  readonly deadline: Deadline;
  readonly since: number;
}

const isSame = (found: FoundObject, reading: Reading): Promise<Permission> =>
  "branch" in found ? isSameCompute(found, reading) : isListed(found, reading);

async function isSameCompute({ place, object: { record } }: FoundCompute, reading: Reading): Promise<Permission> {
  const now = await place.client.computes.find(place.projectId, record.id, reading);
  if (now instanceof Unknown) return now;
  if (now instanceof Gone) return Refused.proven(new GoneError());
  const names = (["created_at", "branch_id", "name", "type"] as const).filter((name) => now[name] !== record[name]);
  if (names.length === 0) return Granted.proven();
  return Refused.proven(new ChangedError(`it has changed since it was listed: ${names.join(", ")}`));
}

/** A list shows nothing else of a domain, so its integration has to be the same. */
async function isListed(found: FoundDomain, reading: Reading): Promise<Permission> {
  const {
    place,
    object: { record },
  } = found;
  const ofIntegration = await integrationOf(found).isMeant(reading);
  if (!(ofIntegration instanceof Granted)) return ofIntegration;
  const domains = place.client.auth.domains(place.projectId);
  const isIt = (one: typeof record): boolean =>
    one.domain === record.domain && one.auth_provider === record.auth_provider;
  const now = await domains.find(isIt, reading);
  if (now instanceof Unknown) return now;
  return now instanceof Gone ? Refused.proven(new GoneError()) : Granted.proven();
}

async function deleteCompute({ place, object }: FoundCompute, destruction: Destruction): Promise<void> {
  const { projectId, client } = place;
  await client.computes.delete({ projectId, endpointId: object.record.id }, destruction);
}

async function deleteDomain(found: FoundDomain, { isMeant, ...waiting }: Destruction): Promise<void> {
  const { place, origin, authProvider } = found;
  const { projectId, client } = place;
  const granted = new Map([[origin, Granted.proven()]]);
  await client.auth.deleteDomains({ projectId, authProvider, origins: () => granted }, isMeant, waiting);
}

function integrationOf({ place: { client, projectId }, authProvider, integration }: FoundDomain): OwnIntegration {
  const isNamed = ({ auth_provider }: { auth_provider: string }): boolean => isSameName(auth_provider, authProvider);
  return client.auth.ownIntegration(projectId, isNamed, integration?.auth_provider_project_id);
}
