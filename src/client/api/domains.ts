/**
 * The redirect domains of a whitelist: the comparison of their spellings, and the deletion of several in one request.
 */
import type { Account } from "../account";
import { changeRequest } from "../changes";
import { undefinedIfGone } from "../reads/absence";
import type { WhitelistDomainRecord } from "../records";
import type { ProvenOptions } from "./ownIntegration";

/** An entry without an auth provider belongs to every provider. */
export const isOfProvider =
  (authProvider: string) =>
  ({ auth_provider = authProvider }: WhitelistDomainRecord): boolean =>
    auth_provider === authProvider;

/**
 * An origin as browsers compare it: lower case, without the default port and a trailing slash. For anything else, such
 * as the address of an app, only the scheme is normalised.
 */
export function normalisedOrigin(text: string): string {
  const trimmed = text.trim().replace(/^[a-z][a-z0-9+.-]*(?=:)/i, (scheme) => scheme.toLowerCase());
  if (!/^https?:/.test(trimmed) || !URL.canParse(trimmed)) return trimmed;
  return new URL(trimmed).origin;
}

export interface DomainsDeletion {
  readonly projectId: string;
  readonly authProvider: string;
  /** Called again before each attempt, which is sent in the same tick. If it returns none, nothing is sent. */
  readonly domains: () => readonly string[];
}

class NothingToDelete extends Error {}

export async function deleteDomains(
  account: Account,
  deletion: DomainsDeletion,
  options: ProvenOptions,
): Promise<void> {
  const { projectId, domains, authProvider } = deletion;
  const refused = await deleteInOneRequest(account, deletion, options);
  if (refused.length < 2) return;
  // One missing domain may have failed the request for the others. The whitelist is deleted with its integration.
  const listed = (await undefinedIfGone(() => account.collection("domains", projectId).listAfterLag(options))) ?? [];
  for (const origin of new Set(refused.map(normalisedOrigin))) {
    const matches = (domain: string): boolean => normalisedOrigin(domain) === origin;
    const spellings = listed.filter((item) => isOfProvider(authProvider)(item) && matches(item.domain));
    const still = (): string[] => (domains().some(matches) ? spellings.map(({ domain }) => domain) : []);
    await deleteInOneRequest(account, { ...deletion, domains: still }, options);
  }
}

/** The domains of a request that was refused because one of them is gone. */
async function deleteInOneRequest(
  account: Account,
  { projectId, domains, authProvider }: DomainsDeletion,
  options: ProvenOptions,
): Promise<readonly string[]> {
  let sent = domains();
  const beforeAttempt = (): void => {
    sent = domains();
    if (sent.length === 0) throw new NothingToDelete();
  };
  const collection = account.collection("domains", projectId);
  const route = {
    method: "DELETE",
    ...collection.all(),
    currentBody: () => ({ auth_provider: authProvider, domains: sent.map((domain) => ({ domain })) }),
  } as const;
  // In any spelling: the service ignores a deletion that spells a listed domain differently.
  const matches = (item: WhitelistDomainRecord): boolean =>
    isOfProvider(authProvider)(item) && sent.map(normalisedOrigin).includes(normalisedOrigin(item.domain));
  try {
    const request = changeRequest(route, { ...options, beforeAttempt });
    const send = () => account.requests.send(request);
    const deletion = { matches, thing: () => sent.join(", ") };
    const accepted = await collection.changing(() => collection.proveDeleted(send, deletion, options));
    return accepted === undefined ? sent : [];
  } catch (error) {
    if (error instanceof NothingToDelete) return [];
    throw error;
  }
}
