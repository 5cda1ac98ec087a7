import type { Call } from "../dynamic/lifecycle";
import { adopting } from "../dynamic/messages";
import type { ArgumentSpecs } from "../dynamic/shape";
import type { WhitelistDomainOutputs, WhitelistDomainShape } from "../resources/WhitelistDomain";
import { boolean } from "./argumentSchemas";
import { authProviderSchema, projectIdSchema, splitId } from "./identifiers";
import { inIntegration } from "./integrationChild";
import { normalisedOrigin, originSchema } from "./origin";
import { addition, deleteOrigins, domainObject, find, listClaim } from "./whitelistDomains";
import { OR_ALIAS, standingOrNew } from "./standing";

type Shape = WhitelistDomainShape;
type Outputs = Omit<WhitelistDomainOutputs, "authProviderProjectId"> & Partial<Shape>;

const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: "container" },
  domain: { schema: originSchema, required: true, replaces: true },
  authProvider: { schema: authProviderSchema, replaces: true },
  adopt: { schema: boolean, createOnly: true },
};

/** One redirect domain (docs/design/api.md). */
export const whitelistDomain = inIntegration<Shape, Outputs>({
  kind: "WhitelistDomain",
  version: 1,
  args,
  // The service takes a domain once.
  deleteBeforeReplace: true,
  homeProvider: ({ authProvider }) => authProvider,

  declares: ({ projectId, domain }) =>
    projectId === undefined
      ? []
      : [
          listClaim(projectId, true),
          ...(domain === undefined
            ? []
            : [
                {
                  object: domainObject(projectId, domain),
                  what: 'the redirect domain with the same "projectId" and "domain"',
                },
              ]),
        ],
  objects: (id) => {
    const { projectId, domain } = split(id);
    return [domainObject(projectId, domain)];
  },

  replacement: ({ news }) => `the domain is removed from the whitelist, and the declared one is added${adopting(news)}`,

  async create(call, given) {
    const { projectId, domain, authProvider = call.authProvider } = given;
    const id = `${projectId}/${domain}`;
    await standingOrNew(call, {
      ...addition(call, projectId, domain, authProvider),
      objectOf: () => domainObject(projectId, domain),
      standing: async () => takeOver(call, given),
    });
    return { id, outputs: { authProvider } };
  },

  async read(call, { id, outs }) {
    const { projectId, domain } = split(id);
    const { authProvider = call.authProvider } = outs;
    if ((await find(call, projectId, domain, authProvider)) === undefined) return undefined;
    return { args: { projectId, domain, authProvider }, outputs: { authProvider }, ready: true };
  },

  // Every argument replaces: there is nothing to send.
  update: async (call, { outs }) => ({ authProvider: outs.authProvider ?? call.authProvider }),

  async delete(call, { id, outs }) {
    const { projectId, domain } = split(id);
    call.beforeDelete();
    await deleteOrigins(call, projectId, [domain], outs.authProvider ?? call.authProvider);
  },
});

function takeOver(call: Call<never>, { projectId, domain, adopt }: Shape): void {
  if (adopt === true) return call.run.take(domainObject(projectId, domain));
  throw new Error(
    `${domain} is on the whitelist already; an interrupted pulumi up may have added it. Set "adopt: true" to manage it here, or delete it first${OR_ALIAS}`,
  );
}

/** A person who looks a domain up may spell its origin in any way. */
function split(id: string): { projectId: string; domain: string } {
  const { projectId, rest } = splitId(id);
  return { projectId, domain: normalisedOrigin(rest) };
}
