import {
  isOfProvider,
  normalisedOrigin,
  spellingsOf,
  type CreationRecovery,
  type ListOptions,
  type WhitelistDomainRecord,
} from "../../client";
import type { Call } from "../../host/lifecycle";
import type { Claim } from "../../host/memory";
import { effect, inTheWay } from "../../host/lookAhead";
import { whitelistDomainDeclaration } from "./whitelistDeclaration";
import { domainWarnings, expiryWarnings } from "./origin";
import { whitelistDomainSchemas } from "./whitelistSchemas";
import { claim, splitId } from "../shared/identifiers";
import { inIntegration, type ChildCall } from "../shared/integrationChild";
import { createOrUseExisting, useExistingOrCreate } from "../shared/adoption";
import { adoptionNote, ALIAS_ADVICE, possibleOwner, notListedAdvice } from "../shared/conflictMessages";

/** One redirect domain (docs/design/api.md). */
export const whitelistDomain = inIntegration(whitelistDomainDeclaration, whitelistDomainSchemas, {
  declares: ({ projectId, domain }) => [
    ...listClaim(projectId, true),
    ...claim('the redirect domain with the same "projectId" and "domain"', domainObject, projectId, domain),
  ],
  objects: (id) => {
    const { projectId, domain } = split(id);
    return [domainObject(projectId, domain)];
  },

  replacement: ({ news }) =>
    `the domain is removed from the whitelist, and the declared one is added${adoptionNote(news)}`,

  createWarnings: ({ args: { domain, expiresOn }, label, isNew }) => [
    ...(isNew && domain !== undefined ? domainWarnings(domain, `"domain" of the WhitelistDomain${label}`) : []),
    ...expiryWarnings(expiresOn, `"expiresOn" of the WhitelistDomain${label}`),
  ],

  async lookAhead(look) {
    const { projectId, domain, adopt } = look.args;
    if (domain === undefined || look.planned(domainObject(projectId, domain)) !== undefined) return [];
    // It is still unknown whether it may be taken over.
    if (look.givenNames.has("adopt") && adopt === undefined) return undefined;
    const listed = await look.client.auth.domains(projectId).list(look.reading);
    if (!listed.some(isOrigin(look, domain))) return [];
    return [
      adopt === true
        ? effect(
            `pulumi up takes over ${domain}, which is on the whitelist of project ${projectId} already: destroying removes it, unless retainOnDelete is set`,
          )
        : inTheWay(onTheList(domain)),
    ];
  },

  async create(call, args) {
    const { projectId, domain, adopt } = args;
    const object = domainObject(projectId, domain);
    const useExisting = (): void => {
      if (adopt !== true) throw new Error(onTheList(domain));
      call.run.takeOver(object);
    };
    await useExistingOrCreate(call, () => object, domainToAdd(call, { projectId, origin: domain }, useExisting));
    return { id: `${projectId}/${domain}`, outputs: { authProvider: call.authProvider } };
  },

  async read(call, { id }) {
    const { projectId, domain } = split(id);
    const { authProvider } = call;
    const found = await call.client.auth.domains(projectId).find(isOrigin(call, domain), call);
    if (found === undefined) return undefined;
    return { args: { projectId, domain, authProvider }, outputs: { authProvider }, ready: true };
  },

  // Every other argument replaces.
  update: async ({ authProvider }) => ({ authProvider }),

  async delete(call, { id }) {
    const { projectId, domain } = split(id);
    call.beforeDelete();
    await deleteOrigins(call, projectId, [domain]);
  },
});

const onTheList = (domain: string): string =>
  `${domain} is on the whitelist already.${possibleOwner()} Set "adopt: true" to manage it here, or delete it first${ALIAS_ADVICE}`;

/** A looked-up id may spell its origin in any way. */
function split(id: string): { projectId: string; domain: string } {
  const { projectId, rest } = splitId(id);
  return { projectId, domain: normalisedOrigin(rest) };
}

export const domainObject = (projectId: string, origin: string): string => `redirect domain ${projectId}/${origin}`;

/**
 * A `Whitelist` declares the whole list of a project; several `WhitelistDomain`s share it, unless there is a
 * `Whitelist`.
 */
export function listClaim(projectId: string | undefined, shared: boolean): Claim[] {
  const what = 'the redirect domains of the same "projectId" (a Whitelist removes every domain that it does not list)';
  return claim(what, (project) => `redirect domains ${project}`, projectId).map((one) => ({ ...one, shared }));
}

export const isOrigin =
  ({ authProvider }: Pick<Call<never>, "authProvider">, origin: string) =>
  (item: WhitelistDomainRecord): boolean =>
    isOfProvider(authProvider)(item) && normalisedOrigin(item.domain) === origin;

/** The origins on the whitelist, each with the spellings that the service stores. */
export async function listOrigins(
  { client, authProvider }: Pick<Call<never>, "client" | "authProvider">,
  projectId: string,
  options: ListOptions,
): Promise<Map<string, string[]>> {
  return spellingsOf(await client.auth.domains(projectId).list(options), authProvider);
}

/** How an origin is added, and what happens if it is listed already. */
function domainToAdd(
  call: ChildCall<never>,
  { projectId, origin }: { projectId: string; origin: string },
  useExisting: () => void,
) {
  const collection = call.client.auth.domains(projectId);
  const { authProvider } = call;
  const matches = isOrigin(call, origin);
  const recovery: CreationRecovery<WhitelistDomainRecord> = {
    isCandidate: matches,
    isOurs: matches,
    describe: ({ domain }) => domain,
    onFound: () => call.note(`${origin} was found on the whitelist after the response to its creation was lost`),
  };
  return {
    collection,
    matches,
    useExisting,
    create: async () => {
      const body = { domain: origin, auth_provider: authProvider };
      await collection.create({ body, similarityKey: origin, recovery }, call);
    },
    advice: notListedAdvice(`${origin} on the whitelist`),
  };
}

/** Adds an origin. A listed one is not an error. */
export async function addDomain(call: ChildCall<never>, projectId: string, origin: string): Promise<void> {
  const ignore = (): void => undefined;
  await createOrUseExisting(call, domainToAdd(call, { projectId, origin }, ignore));
}

/** Deletes origins in one request. One that another resource manages by then stays. */
export async function deleteOrigins(
  call: ChildCall<never>,
  projectId: string,
  origins: readonly string[],
): Promise<void> {
  const { authProvider } = call;
  const isDeletionBlocked = (origin: string): boolean => call.run.isDeletionBlocked(domainObject(projectId, origin));
  const toDelete = (): string[] => origins.filter((origin) => !isDeletionBlocked(origin));
  await call.client.auth.deleteDomains({ projectId, authProvider, origins: toDelete }, call);
  const kept = origins.filter(isDeletionBlocked);
  if (kept.length === 0) return;
  call.note(
    `not removed from the whitelist of ${projectId}, because another resource manages them now: ${kept.sort().join(", ")}`,
  );
}
