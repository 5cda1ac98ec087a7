import type { WhitelistDomain as WhitelistEntry } from "../client";
import type { Lifecycle } from "../dynamic/lifecycle";
import type { ArgumentSpecs } from "../dynamic/shape";
import type { WhitelistDomainOutputs, WhitelistDomainShape } from "../resources/WhitelistDomain";
import { withoutAbsent } from "./absent";
import { boolean } from "./argumentSchemas";
import { OR_ALIAS } from "./conflictWords";
import { authProviderSchema, projectIdSchema, splitId } from "./identifiers";
import { creatingAtHome, homeOf, homeStands, homeWasReplaced } from "./integrationOf";
import { normalisedOrigin, originSchema } from "./origin";
import { anyOf } from "./others";
import { addOrigin, bothForms, deleteOrigins, domainObject, isListed, listedFor } from "./whitelistDomains";

type Shape = WhitelistDomainShape;
type Outputs = WhitelistDomainOutputs & Partial<Shape>;

const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: "container" },
  domain: { schema: originSchema, required: true, replaces: true },
  authProvider: { schema: authProviderSchema, replaces: true },
  adopt: { schema: boolean, createOnly: true },
};

/** One redirect domain (service.md 2.5, 4.3). */
export const whitelistDomain: Lifecycle<Shape, Outputs> = {
  kind: "WhitelistDomain",
  version: 1,
  args,
  // The service takes a domain once.
  deleteBeforeReplace: true,

  remarks: ({ args: { projectId }, others }) =>
    anyOf(others("Whitelist"), projectId) && !anyOf(others("WhitelistDomain"), projectId) ? [bothForms(projectId)] : [],

  holds: (id) => {
    const { projectId, domain } = split(id);
    return [domainObject(projectId, domain)];
  },

  async create(call, given) {
    const { projectId, domain, authProvider = call.authProvider } = given;
    // Asked before, so that nothing can fail once the domain is there.
    const home = await homeOf(call, projectId, authProvider);
    await creatingAtHome(async () => {
      const known = await listedFor(call, projectId, authProvider, { fresh: true });
      const stands =
        isListed(known, domain) || (await addOrigin(call, projectId, domain, authProvider, known)) !== undefined;
      if (!stands || given.adopt === true) return;
      throw new Error(
        `${domain} is on the whitelist already; an interrupted pulumi up may have added it. Set "adopt: true" to manage it here, or delete it first${OR_ALIAS}`,
      );
    });
    return { id: `${projectId}/${domain}`, outputs: { authProvider, ...home } };
  },

  async read(call, { id, outs }) {
    const { projectId, domain } = split(id);
    if (!(await homeStands(call, projectId, outs))) return undefined;
    const { authProvider = call.authProvider } = outs;
    const shows = (listed: readonly WhitelistEntry[]): boolean => isListed(listed, domain);
    if (!shows(await listedFor(call, projectId, authProvider, { shows }))) return undefined;
    return { args: { projectId, domain, authProvider }, outputs: kept(outs, authProvider), ready: true };
  },

  // Every argument replaces: there is nothing to send.
  update: async (call, { outs }) => kept(outs, outs.authProvider ?? call.authProvider),

  async delete(call, { id, outs }) {
    const { projectId, domain } = split(id);
    if (await homeWasReplaced(call, projectId, outs)) return;
    await deleteOrigins(call, projectId, [domain], outs.authProvider ?? call.authProvider);
  },
};

/** A person who looks a domain up may spell its origin in any way. */
function split(id: string): { projectId: string; domain: string } {
  const { projectId, rest } = splitId(id);
  return { projectId, domain: normalisedOrigin(rest) };
}

function kept({ authProviderProjectId }: Partial<Outputs>, authProvider: string): Outputs {
  return { authProvider, ...withoutAbsent({ authProviderProjectId }) };
}
