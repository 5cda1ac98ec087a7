import type { Call } from "../dynamic/lifecycle";
import { adopting } from "../dynamic/messages";
import type { ArgumentSpecs } from "../dynamic/shape";
import type { WhitelistDomainOutputs, WhitelistDomainShape } from "../resources/WhitelistDomain";
import { boolean } from "./argumentSchemas";
import { OR_ALIAS } from "./conflictWords";
import { authProviderSchema, projectIdSchema, splitId } from "./identifiers";
import { inIntegration } from "./integrationChild";
import { normalisedOrigin, originSchema } from "./origin";
import { add, deleteOrigins, domainObject, find, isListed, listClaim, listed } from "./whitelistDomains";

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
    const outputs = { authProvider };
    if (!(await taken(call, given, authProvider)) && !(await add(call, projectId, domain, authProvider))) {
      // Listed by no list before, but the service says that it stands.
      takeOver(call, given);
    }
    return { id, outputs };
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

/** Whether it stands, and is taken over. What this run is deleting, or has deleted, does not stand. */
async function taken(call: Call<never>, given: Shape, authProvider: string): Promise<boolean> {
  const { projectId, domain } = given;
  const object = domainObject(projectId, domain);
  const known = await listed(call, projectId, authProvider, performance.now());
  if ((await call.run.untilFree(object)) || !isListed(known, domain)) return false;
  takeOver(call, given);
  return true;
}

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
