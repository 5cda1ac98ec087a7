import {
  type CreationRecovery,
  type ChangeOptions,
  type Client,
  type EndpointAttributes,
  type EndpointRecord,
  type Expected,
  type OAuthProviderRecord,
  type WhitelistDomainRecord,
} from "../../src/client";
import { domainForm } from "../../src/contract/redirectDomains";
import type { WaitOptions } from "../../src/client/reads/sharedReads";
import { PROVEN } from "./proven";

/** Any result counts as what was sent. */
export const ANY: Expected<object> = { differing: () => [] };

/** How to recognise a creation, as a lifecycle does: all sent fields have their values. */
export function like<Item extends object>(fields: object, onFound = (): void => undefined): CreationRecovery<Item> {
  const sent = Object.entries(fields).filter(([, value]) => value !== undefined);
  const isOurs = (item: Item): boolean => sent.every(([name, value]) => Reflect.get(item, name) === value);
  return { isOurs, isCandidate: isOurs, describe: (item) => JSON.stringify(item), onFound };
}

/** Adds a domain of project "p" and auth provider "a", which the service may normalise. */
export function addDomain(client: Client, domain: string): Promise<WhitelistDomainRecord> {
  const isOurs = (item: WhitelistDomainRecord): boolean => domainForm(item.domain) === domainForm(domain);
  const recovery = { ...like<WhitelistDomainRecord>({}), isOurs, isCandidate: isOurs };
  const body = { domain, auth_provider: "a" };
  return client.auth.domains("p").create({ body, similarityKey: domain, recovery }, PROVEN);
}

/** Adds an OAuth provider to project "p". */
export const addOAuthProvider = (
  client: Client,
  body: { readonly id: string; readonly client_id?: string; readonly client_secret?: string },
  options: WaitOptions = {},
): Promise<OAuthProviderRecord> =>
  client.auth
    .oauthProviders("p")
    .create({ body, similarityKey: body.id, recovery: like({ id: body.id }) }, { ...options, ...PROVEN });

/** Creates a compute that is recognised by everything that is sent. */
export const createCompute = (
  client: Client,
  projectId: string,
  attributes: EndpointAttributes,
  options: ChangeOptions = {},
): Promise<EndpointRecord> =>
  client.computes.create({ projectId, attributes, recovery: like(attributes), expected: ANY }, options);
