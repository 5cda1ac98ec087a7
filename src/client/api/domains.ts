/** The redirect domains of a whitelist: their spellings, and the deletion of several in one request. */
import { isSameName } from "../../contract/forms";
import { domainForm } from "../../contract/redirectDomains";
import type { Account } from "../account";
import { StillListedError } from "../collection";
import { type Destruction, gatedRequest } from "../gate";
import { Gone, Granted, NOTHING_TO_DELETE, type Permission, Refused } from "../proof";
import type { WaitOptions } from "../reads/sharedReads";
import type { WhitelistDomainRecord } from "../records";

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
  /**
   * The origins that may go. Called again before each attempt, which is sent in the same tick. If it returns none,
   * nothing is sent.
   */
  readonly origins: () => ReadonlyMap<string, Granted>;
}

type Options = WaitOptions & Pick<Destruction, "isMeant">;

const NOTHING_LEFT = new Error("no domain is left to delete");

/**
 * Deletes origins in the spellings that the service stores, in one request. An unlisted one is sent too: lists lag, and
 * the service ignores an origin that is gone.
 */
export async function deleteDomains(
  account: Account,
  { projectId, authProvider, origins }: DomainsDeletion,
  options: Options,
): Promise<Gone> {
  if (origins().size === 0) return NOTHING_TO_DELETE;
  const collection = account.collection("domains", projectId);
  // A list of any age, or a part of it, shows how an origin is spelled. The request and its proof decide.
  const known = spellingsOf(await collection.shown({ ...options, since: 0 }), authProvider);
  const domains = () => [...origins().keys()].flatMap((origin) => known.get(domainForm(origin)) ?? [origin]);
  const refused = await deleteInOneRequest(account, { projectId, authProvider, domains }, options);
  // One missing domain may have failed the request for the others.
  for (const origin of new Set(refused.map(domainForm))) {
    const later = spellingsOf(await collection.list(options), authProvider);
    const isStill = (): boolean => [...origins().keys()].some((one) => domainForm(one) === origin);
    const still = () => (isStill() ? (later.get(origin) ?? []) : []);
    const again = await deleteInOneRequest(account, { projectId, authProvider, domains: still }, options);
    if (again.length > 0)
      throw new StillListedError(`its deletion was refused, but ${again.join(", ")} is still listed`);
  }
  return Gone.proven("the whitelist lacks them");
}

/** The domains that are still listed after a request that was refused because one of them is gone. */
async function deleteInOneRequest(
  account: Account,
  {
    projectId,
    authProvider,
    domains,
  }: Omit<DomainsDeletion, "origins"> & { readonly domains: () => readonly string[] },
  options: Options,
): Promise<readonly string[]> {
  let sent = domains();
  const collection = account.collection("domains", projectId);
  const route = {
    method: "DELETE",
    ...collection.all(),
    currentBody: () => ({ auth_provider: authProvider, domains: sent.map((domain) => ({ domain })) }),
  } as const;
  const mayGo = (): Permission => {
    sent = domains();
    return sent.length === 0 ? Refused.proven(NOTHING_LEFT) : Granted.proven();
  };
  const request = gatedRequest(route, { ...options, mayGo });
  const send = () => account.requests.send(request);
  const deletion = {
    // In any spelling: the service ignores a deletion that spells a listed domain differently.
    matches: (item: WhitelistDomainRecord): boolean =>
      isOfProvider(authProvider)(item) && sent.map(domainForm).includes(domainForm(item.domain)),
    thing: () => sent.join(", "),
  };
  if (sent.length === 0) return [];
  try {
    await collection.changing(() => collection.proveDeleted(send, deletion, options));
    return [];
  } catch (error) {
    if (error === NOTHING_LEFT) return [];
    if (!(error instanceof StillListedError) || error.status !== 404 || sent.length < 2) throw error;
    return (await collection.list(options)).filter(deletion.matches).map(({ domain }) => domain);
  }
}
