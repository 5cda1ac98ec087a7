import { domainObject } from "../../contract/claims";
import {
  Gone,
  Granted,
  isOfProvider,
  mustBeKnown,
  requireGranted,
  spellingsOf,
  Unknown,
  type CreationRecovery,
  type ListOptions,
  type WhitelistDomainRecord,
} from "../../client";

import { domainForm } from "../../contract/redirectDomains";
import type { Call } from "../../runtime/lifecycle";

import { effect, inTheWay } from "../../runtime/lookAhead";
import { whitelistDomainDeclaration } from "./whitelistDeclaration";
import { domainWarnings, expiryWarnings } from "./origin";
import { whitelistDomainSchemas } from "./whitelistSchemas";
import { splitId } from "../shared/identifiers";
import { inIntegration, type ChildCall } from "../shared/integrationChild";
import { createOrUseExisting, useExistingOrCreate } from "../shared/adoption";
import {
  adoptionNote,
  ALIAS_ADVICE,
  keptFinding,
  keptNote,
  possibleOwner,
  notListedAdvice,
} from "../shared/conflictMessages";

/** One redirect domain (docs/design/api.md). */
export const whitelistDomain = inIntegration(whitelistDomainDeclaration, whitelistDomainSchemas, {
  objects: (id) => {
    const { projectId, domain } = split(id);
    return [domainObject(projectId, domain)];
  },

  replacement: ({ news, deletesFirst }) =>
    (deletesFirst
      ? "the domain is removed from the whitelist, and then the declared one is added"
      : "the declared domain is added, and then the old one is removed from the whitelist") + adoptionNote(news),

  createWarnings: ({ args: { domain, expiresOn }, label, isNew }) => [
    ...(isNew && domain !== undefined ? domainWarnings(domain, `"domain" of the WhitelistDomain${label}`) : []),
    ...expiryWarnings(expiresOn, `"expiresOn" of the WhitelistDomain${label}`),
  ],

  async lookAhead(look) {
    const { projectId, domain, adopt } = look.args;
    if (domain === undefined) return [];
    const object = domainObject(projectId, domain);
    const left = look.leftBy(object);
    if (left !== undefined) return [keptFinding(`redirect domain ${domain}`, left)];
    if (look.planned(object) !== undefined) return [];
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
    const useExisting = async (): Promise<void> => {
      const left = adopt === true ? undefined : await call.run.leftSoon(object);
      if (adopt !== true && left === undefined) throw new Error(onTheList(domain));
      call.run.takeOver(object);
      if (left !== undefined) call.note(keptNote(`redirect domain ${domain}`, left));
    };
    await useExistingOrCreate(call, () => object, domainToAdd(call, { projectId, origin: domain }, useExisting));
    return { id: `${projectId}/${domain}`, outputs: { authProvider: call.authProvider } };
  },

  async read(call, { id }) {
    const { projectId, domain } = split(id);
    const { authProvider } = call;
    const found = mustBeKnown(await call.client.auth.domains(projectId).find(isOrigin(call, domain), call));
    if (found instanceof Gone) return found;
    return { args: { projectId, domain, authProvider }, outputs: { authProvider }, ready: true };
  },

  // Every other argument replaces.
  update: async ({ authProvider }) => ({ authProvider }),

  async delete(call, { id }) {
    const { projectId, domain } = split(id);
    requireGranted(call.mayDelete());
    return deleteOrigins(call, projectId, [domain]);
  },
});

const onTheList = (domain: string): string =>
  `${domain} is on the whitelist already.${possibleOwner()} Set "adopt: true" to manage it here, or delete it first${ALIAS_ADVICE}`;

/** A looked-up id may spell its origin in any way. */
function split(id: string): { projectId: string; domain: string } {
  const { projectId, rest } = splitId(id);
  return { projectId, domain: domainForm(rest) };
}

export function isOrigin({ authProvider }: Pick<Call<never>, "authProvider">, origin: string) {
  const [isOurs, form] = [isOfProvider(authProvider), domainForm(origin)];
  return (item: WhitelistDomainRecord): boolean => isOurs(item) && domainForm(item.domain) === form;
}

/** The origins on the whitelist in their one form, each with the spellings that the service stores. */
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
  useExisting: () => Promise<void> | void,
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
): Promise<Gone> {
  const { authProvider } = call;
  /** By the last answer: that of after the request, which may be unknown, says nothing of what was sent. */
  let kept: readonly string[] = [];
  /** @throws NotKnownError */
  const deletable = (): ReadonlyMap<string, Granted> => {
    const asked = origins.map((origin) => [origin, call.run.mayDelete(domainObject(projectId, origin))] as const);
    const granted = new Map(
      asked.flatMap(([origin, permission]) => {
        if (permission instanceof Unknown) throw permission.error;
        return permission instanceof Granted ? [[origin, permission]] : [];
      }),
    );
    kept = origins.filter((origin) => !granted.has(origin));
    return granted;
  };
  const { isMeant } = call.integration;
  const gone = await call.client.auth.deleteDomains({ projectId, authProvider, origins: deletable }, isMeant, call);
  if (kept.length === 0) return gone;
  call.note(
    `not removed from the whitelist of ${projectId}, because another resource manages them now: ${[...kept].sort().join(", ")}`,
  );
  return gone;
}
