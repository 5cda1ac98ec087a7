/** The redirect domains of a whitelist: their spellings, and the deletion of several in one request. */
import { isSameName } from "../../contract/forms";
import { domainForm } from "../../contract/redirectDomains";
import type { Account } from "../account";
import { changeRequest } from "../changes";
import { undefinedIfGone } from "../reads/absence";
import type { WhitelistDomainRecord } from "../records";
import type { ProvenOptions } from "./ownIntegration";

/** An entry without an auth provider belongs to every provider. */
export const isOfProvider =
  (authProvider: string) =>
  ({ auth_provider = authProvider }: WhitelistDomainRecord): boolean =>
    isSameName(auth_provider, authProvider);

/** The origins on the whitelist of an auth provider, each with the spellings that the service stores. */
export function spellingsOf(listed: readonly WhitelistDomainRecord[], authProvider: string): Map<string, string[]> {
  const spellings = new Map<string, string[]>();
  for (const { domain } of listed.filter(isOfProvider(authProvider))) {
    const origin = domainForm(domain);
    spellings.set(origin, [...(spellings.get(origin) ?? []), domain]);
  }
  return spellings;
}

export interface DomainsDeletion {
  readonly projectId: string;
  readonly authProvider: string;
  /** Called again before each attempt, which is sent in the same tick. If it returns none, nothing is sent. */
  readonly origins: () => readonly string[];
}

class NothingToDelete extends Error {}

/**
 * Deletes origins in the spellings that the service stores, in one request. An unlisted one is sent too: lists lag, and
 * the service ignores an origin that is gone.
 */
export async function deleteDomains(
  account: Account,
  { projectId, authProvider, origins }: DomainsDeletion,
  options: ProvenOptions,
): Promise<void> {
  if (origins().length === 0) return;
  const collection = account.collection("domains", projectId);
  // A list of any age shows how an origin is spelled.
  const listed = await undefinedIfGone(() => collection.list({ ...options, since: 0 }));
  // The integration is gone, and its whitelist with it.
  if (listed === undefined) return;
  const known = spellingsOf(listed, authProvider);
  const domains = () => origins().flatMap((origin) => known.get(domainForm(origin)) ?? [origin]);
  const refused = await deleteInOneRequest(account, { projectId, authProvider, domains }, options);
  if (refused.length < 2) return;
  // One missing domain may have failed the request for the others.
  const later = spellingsOf((await undefinedIfGone(() => collection.listAfterLag(options))) ?? [], authProvider);
  for (const origin of new Set(refused.map(domainForm))) {
    const still = () => (origins().includes(origin) ? (later.get(origin) ?? []) : []);
    await deleteInOneRequest(account, { projectId, authProvider, domains: still }, options);
  }
}

/** The domains of a request that was refused because one of them is gone. */
async function deleteInOneRequest(
  account: Account,
  {
    projectId,
    authProvider,
    domains,
  }: Omit<DomainsDeletion, "origins"> & { readonly domains: () => readonly string[] },
  options: ProvenOptions,
): Promise<readonly string[]> {
  let sent = domains();
  const beforeAttempt = async (): Promise<void> => {
    await options.beforeAttempt?.();
    sent = domains();
    if (sent.length === 0) throw new NothingToDelete();
  };
  const collection = account.collection("domains", projectId);
  const route = {
    method: "DELETE",
    ...collection.all(),
    currentBody: () => ({ auth_provider: authProvider, domains: sent.map((domain) => ({ domain })) }),
  } as const;
  const request = changeRequest(route, { ...options, beforeAttempt });
  const send = () => account.requests.send(request);
  const deletion = {
    // In any spelling: the service ignores a deletion that spells a listed domain differently.
    matches: (item: WhitelistDomainRecord): boolean =>
      isOfProvider(authProvider)(item) && sent.map(domainForm).includes(domainForm(item.domain)),
    thing: () => sent.join(", "),
  };
  try {
    const accepted = await collection.changing(() => collection.proveDeleted(send, deletion, options));
    return accepted === undefined ? sent : [];
  } catch (error) {
    if (error instanceof NothingToDelete) return [];
    throw error;
  }
}
