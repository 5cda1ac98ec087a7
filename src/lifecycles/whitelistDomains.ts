import { NotFoundError, type WhitelistDomain } from "../client";
import type { Call } from "../dynamic/lifecycle";
import { unseen } from "./conflictWords";
import { creatingUnlisted } from "./creatingUnlisted";
import { normalisedOrigin } from "./origin";

type Reading = Pick<Call<never>, "client" | "deadline">;

/** What stands on the whitelist for an auth provider. An entry that names none is anybody's. */
export async function listedFor(
  { client, deadline }: Reading,
  projectId: string,
  authProvider: string,
  options: { fresh?: boolean; shows?: (listed: readonly WhitelistDomain[]) => boolean } = {},
): Promise<WhitelistDomain[]> {
  const ofProvider = (all: readonly WhitelistDomain[]): WhitelistDomain[] =>
    all.filter(({ auth_provider }) => auth_provider === undefined || auth_provider === authProvider);
  const { fresh, shows } = options;
  const wanted = shows === undefined ? {} : { shows: (all: readonly WhitelistDomain[]) => shows(ofProvider(all)) };
  return ofProvider(await client.listDomains(projectId, { deadline, fresh, ...wanted }));
}

/** A redirect domain as an object that resources of both forms may hold. */
export const domainObject = (projectId: string, origin: string): string => `redirect domain ${projectId}/${origin}`;

export function isListed(listed: readonly WhitelistDomain[], origin: string): boolean {
  return listed.some(({ domain }) => normalisedOrigin(domain) === origin);
}

/** Adds an origin that `known` lacks. Where it turns out to stand already: a list that shows it. */
export async function addOrigin(
  call: Reading,
  projectId: string,
  origin: string,
  authProvider: string,
  known: readonly WhitelistDomain[],
): Promise<readonly WhitelistDomain[] | undefined> {
  const { client, deadline } = call;
  const shows = (listed: readonly WhitelistDomain[]): boolean => isListed(listed, origin);
  return creatingUnlisted<readonly WhitelistDomain[] | undefined, readonly WhitelistDomain[]>({
    create: async () => void (await client.addDomain(projectId, origin, authProvider, { known, deadline })),
    look: async () => {
      const listed = await listedFor(call, projectId, authProvider, { shows });
      return shows(listed) ? listed : undefined;
    },
    standing: (listed) => Promise.resolve(listed),
    advice: unseen(`${origin} on the whitelist`),
  });
}

/**
 * Deletes origins in the spellings that the service stores. One that is not listed is named all the same: lists lag, and
 * what is gone already is passed over.
 */
export async function deleteOrigins(
  call: Pick<Call<never>, "client" | "deadline" | "heldElsewhere" | "note">,
  projectId: string,
  declared: readonly string[],
  authProvider: string,
): Promise<void> {
  // Where a program goes over to the other form, that holds them by now.
  const origins = declared.filter((origin) => !call.heldElsewhere(domainObject(projectId, origin)));
  if (origins.length < declared.length) {
    const rest = declared.filter((origin) => !origins.includes(origin)).sort();
    call.note(`stays on the whitelist of ${projectId}, since another resource holds it now: ${rest.join(", ")}`);
  }
  if (origins.length === 0) return;
  let listed: WhitelistDomain[];
  try {
    listed = await listedFor(call, projectId, authProvider);
  } catch (error) {
    // The integration is gone, and its whitelist with it.
    if (error instanceof NotFoundError) return;
    throw error;
  }
  const spellings = origins.flatMap((origin) => {
    const stored = listed.filter(({ domain }) => normalisedOrigin(domain) === origin).map(({ domain }) => domain);
    return stored.length > 0 ? stored : [origin];
  });
  await call.client.deleteDomains(projectId, spellings, authProvider, { deadline: call.deadline });
}

/** Said once for each project, by the resource that is declared after the other form. */
export const bothForms = (projectId: string | undefined): string =>
  `project ${projectId} has both a Whitelist and a WhitelistDomain: the Whitelist removes every domain that it does not list. Declare the redirect domains of a project in one of the two forms`;
