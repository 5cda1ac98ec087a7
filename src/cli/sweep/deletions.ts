/** Deletes one object, with the proof that it is still the one that was shown, and that it is gone afterwards. */
import { Deadline, mayHaveTakenEffect, NotOursError, SvcError, type SendOptions } from "../../client";
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

/** Never throws. `deadlineMs`: how long the deletion may take, with all waits. */
export async function deleted(found: FoundObject, deadlineMs: number): Promise<Result> {
  let attempts = 0;
  const deadline = new Deadline(deadlineMs);
  const options: SendOptions = {
    deadline,
    // Also before each repetition: minutes may pass while a project is locked.
    beforeAttempt: async () => {
      await mustBeSame(found, { deadline, since: performance.now() });
      attempts += 1;
    },
  };
  try {
    await ("branch" in found ? deleteCompute(found, options) : deleteDomain(found, options));
    return { outcome: attempts === 0 ? "gone" : "deleted" };
  } catch (error) {
    if (error instanceof GoneError) return { outcome: attempts === 0 ? "gone" : "deleted" };
    const reason = reasonOf(error);
    if (attempts > 0 && !isRefused(error, attempts)) return { outcome: "unknown", reason, isFailure: true };
    return { outcome: "left", reason, isFailure: !(error instanceof ChangedError || error instanceof NotOursError) };
  }
}

/** Whether the only attempt cannot have taken effect. */
const isRefused = (error: unknown, attempts: number): boolean =>
  attempts === 1 && error instanceof SvcError && error.method === "DELETE" && !mayHaveTakenEffect(error);

const reasonOf = (error: unknown): string =>
  error instanceof NotOursError ? "its auth integration has been deleted or replaced" : messageOf(error);

interface Reading {
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

/** A list shows nothing else of a domain. That its integration is the same is proven beside this. */
async function mustBeListed({ place, object: { record } }: FoundDomain, reading: Reading): Promise<void> {
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
  const { place, origin, authProvider, integration: item } = found;
  const { projectId, client } = place;
  const isNamed = ({ auth_provider }: { auth_provider: string }): boolean => auth_provider === authProvider;
  const integration = client.auth.ownIntegration(projectId, isNamed, item?.auth_provider_project_id);
  await client.auth.deleteDomains({ projectId, authProvider, origins: () => [origin] }, { ...options, integration });
}
