import { createOrStanding, isOf, orGone, type AuthCreation, type WhitelistDomainRecord } from "../client";
import type { Call } from "../dynamic/lifecycle";
import type { Claim } from "../dynamic/memory";
import { normalisedOrigin } from "./origin";
import { unseen } from "./standing";

/** A redirect domain, by the origin that browsers compare. */
export const domainObject = (projectId: string, origin: string): string => `redirect domain ${projectId}/${origin}`;

/** A `Whitelist` declares the whole list of a project; several `WhitelistDomain`s share it, beside no `Whitelist`. */
export const listClaim = (projectId: string, shared: boolean): Claim => ({
  object: `redirect domains ${projectId}`,
  what: 'the redirect domains of the same "projectId" (a Whitelist removes every domain that it does not list)',
  shared,
});

const isOrigin =
  (origin: string, authProvider: string) =>
  (item: WhitelistDomainRecord): boolean =>
    isOf(authProvider)(item) && normalisedOrigin(item.domain) === origin;

/** What stands on the whitelist for an auth provider. An entry that names none is anybody's. */
export async function listed(
  call: Call<never>,
  projectId: string,
  authProvider: string,
  since?: number,
): Promise<WhitelistDomainRecord[]> {
  const all = await call.client.auth.domains(projectId).list({ ...call, since });
  return all.filter(isOf(authProvider));
}

/** Undefined when it is gone for sure. */
export function find(call: Call<never>, projectId: string, origin: string, authProvider: string) {
  return call.client.auth.domains(projectId).find(isOrigin(origin, authProvider), call);
}

export const isListed = (all: readonly WhitelistDomainRecord[], origin: string): boolean =>
  all.some(({ domain }) => normalisedOrigin(domain) === origin);

/** How an origin is added, and what may stand in its place. */
export function addition(call: Call<never>, projectId: string, origin: string, authProvider: string) {
  const { auth } = call.client;
  const isIt = isOrigin(origin, authProvider);
  const creation: AuthCreation<WhitelistDomainRecord> = {
    isCandidate: isIt,
    isOurs: isIt,
    describe: ({ domain }) => domain,
    onFound: () => call.note(`${origin} was found on the whitelist after the answer to its creation was lost`),
  };
  return {
    collection: auth.domains(projectId),
    isIt,
    create: () => auth.addDomain(projectId, origin, authProvider, creation, call),
    advice: unseen(`${origin} on the whitelist`),
  };
}

/** Adds an origin. One that turns out to stand already is as good. */
export async function add(call: Call<never>, projectId: string, origin: string, authProvider: string): Promise<void> {
  const { create, collection, isIt, advice } = addition(call, projectId, origin, authProvider);
  await createOrStanding(create, collection, isIt, () => Promise.resolve(), advice, call);
}

/**
 * Deletes origins in the spellings that the service stores, in one request. One that is not listed is named all the
 * same: lists lag, and what is gone already is passed over. What another resource manages by now stays.
 */
export async function deleteOrigins(
  call: Call<never>,
  projectId: string,
  origins: readonly string[],
  authProvider: string,
): Promise<void> {
  if (origins.length === 0) return;
  // Any list tells how an origin is spelled, however old it is.
  const known = await orGone(() => listed(call, projectId, authProvider, 0));
  // The integration is gone, and its whitelist with it.
  if (known === undefined) return;
  const isKept = (origin: string): boolean => call.run.isKept(domainObject(projectId, origin));
  const spellings = (): string[] =>
    origins
      .filter((origin) => !isKept(origin))
      .flatMap((origin) => {
        const stored = known.filter(({ domain }) => normalisedOrigin(domain) === origin).map(({ domain }) => domain);
        return stored.length > 0 ? stored : [origin];
      });
  await call.client.auth.deleteDomains(projectId, spellings, authProvider, call);
  const kept = origins.filter(isKept);
  if (kept.length > 0) {
    call.note(
      `stays on the whitelist of ${projectId}, since another resource manages it now: ${kept.sort().join(", ")}`,
    );
  }
}
