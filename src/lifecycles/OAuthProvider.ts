import type { OAuthProvider } from "../client";
import type { Call, Lifecycle, Observed, Stored } from "../dynamic/lifecycle";
import type { ArgumentSpecs, Problem } from "../dynamic/shape";
import type { OAuthProviderOutputs, OAuthProviderShape } from "../resources/OAuthProvider";
import { withoutAbsent } from "./absent";
import { boolean, text } from "./argumentSchemas";
import { gone, OR_ALIAS, unseen } from "./conflictWords";
import { creatingUnlisted } from "./creatingUnlisted";
import { oauthProviderIdSchema, projectIdSchema, splitId } from "./identifiers";
import { creatingAtHome, homeOf, homeStands, homeWasReplaced } from "./integrationOf";
import { readable } from "../helpers/masked";

type Shape = OAuthProviderShape;
type Outputs = OAuthProviderOutputs;

/** What a list shows says no more than this, so a plan shows it in place of the client id (design.md, "Decisions" 12). */
const SHARED_BY_HAND = "(shared keys of the service: changed outside Pulumi)";
const STANDARD_BY_HAND = "(own credentials: changed outside Pulumi)";

const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: "container" },
  providerId: { schema: oauthProviderIdSchema, required: true, replaces: true },
  // A PATCH cannot take credentials away (service.md 4.2): going back to shared keys takes a new provider.
  clientId: { schema: text, unset: "replace" },
  clientSecret: { schema: text, unset: "replace" },
  adopt: { schema: boolean, createOnly: true },
};

/** A way to sign in (service.md 2.4, 4.2). */
export const oauthProvider: Lifecycle<Shape, Outputs> = {
  kind: "OAuthProvider",
  version: 1,
  args,
  // The service takes a provider once.
  deleteBeforeReplace: true,

  rules: (_args, given) => halfAPair(given),
  warnings: ({ stored, replaces }) =>
    replaces.has("clientId")
      ? [
          `OAuthProvider ${stored.id} goes back to the shared keys of the service by being deleted and made again: nobody can sign in with it meanwhile`,
        ]
      : [],

  async create(call, given) {
    const { client, deadline } = call;
    const { projectId, providerId } = given;
    // Asked before, so that nothing can fail once the provider is there.
    const home = await homeOf(call, projectId);
    const { type } = await creatingAtHome(async () => {
      const known = await client.listOAuthProviders(projectId, { fresh: true, deadline });
      const existing = known.find(({ id }) => id === providerId);
      if (existing !== undefined) return adopted(call, given, existing);
      const request = { id: providerId, ...credentials(given) };
      return creatingUnlisted({
        create: () => client.addOAuthProvider(projectId, request, { known, deadline }),
        look: () => listed(call, projectId, providerId),
        standing: (provider) => adopted(call, given, provider),
        advice: unseen(`the OAuth provider ${providerId}`),
      });
    });
    return { id: `${projectId}/${providerId}`, outputs: { type, ...home } };
  },

  async read(call, { id, outs, managed }) {
    const { projectId, rest } = splitId(id);
    if (!(await homeStands(call, projectId, outs))) return undefined;
    const provider = await listed(call, projectId, rest);
    if (provider === undefined) return undefined;
    return {
      args: { projectId, providerId: provider.id, ...observedCredentials(provider, managed) },
      outputs: { type: provider.type, ...home(outs) },
      ready: true,
    };
  },

  async update(call, { id, outs }, given, { changed }) {
    const { client, deadline } = call;
    const { projectId, rest } = splitId(id);
    const current = await found(call, projectId, rest);
    const all = credentials(given);
    // A shared provider has nothing that the other half could stay.
    const request = current.type === "standard" ? only(all, changed) : all;
    if (!changed.has("clientId") && !changed.has("clientSecret")) return { type: current.type, ...home(outs) };
    const { type } = await client.updateOAuthProvider(projectId, rest, request, { deadline });
    return { type, ...home(outs) };
  },

  async delete(call, { id, outs }) {
    const { projectId, rest } = splitId(id);
    if (await homeWasReplaced(call, projectId, outs)) return;
    await call.client.deleteOAuthProvider(projectId, rest, { deadline: call.deadline });
  },
};

function halfAPair(given: ReadonlySet<string>): Problem[] {
  const pair = ["clientId", "clientSecret"];
  const missing = pair.filter((name) => !given.has(name));
  if (missing.length !== 1) return [];
  return missing.map((path) => ({
    path,
    reason: 'is missing: give both "clientId" and "clientSecret", or neither to use the shared keys of the service',
  }));
}

function credentials({ clientId, clientSecret }: Partial<Shape>) {
  return withoutAbsent({ client_id: clientId, client_secret: clientSecret });
}

function only(all: ReturnType<typeof credentials>, changed: ReadonlySet<string>) {
  return {
    ...(changed.has("clientId") && withoutAbsent({ client_id: all.client_id })),
    ...(changed.has("clientSecret") && withoutAbsent({ client_secret: all.client_secret })),
  };
}

const home = ({ authProviderProjectId }: Partial<Outputs>) => withoutAbsent({ authProviderProjectId });

async function listed({ client, deadline }: Call<Outputs>, projectId: string, providerId: string, fresh = false) {
  const isIt = ({ id }: OAuthProvider): boolean => id === providerId;
  const shows = (list: readonly OAuthProvider[]): boolean => list.some(isIt);
  return (await client.listOAuthProviders(projectId, { deadline, shows, fresh })).find(isIt);
}

/** Takes over a provider that stands, and brings it to what is declared. */
async function adopted(call: Call<Outputs>, given: Shape, existing: OAuthProvider): Promise<OAuthProvider> {
  const whose = existing.type === "shared" ? "with the shared keys of the service" : `with the type ${existing.type}`;
  const what = `the OAuth provider ${existing.id} stands already, ${whose}`;
  if (given.adopt !== true) {
    throw new Error(
      `${what}. A new integration offers some shared ones by itself, and an interrupted pulumi up may have made it. Set "adopt: true" to manage it here, or delete it first${OR_ALIAS}`,
    );
  }
  if (given.clientId !== undefined) {
    const { client, deadline } = call;
    const provider = await client.updateOAuthProvider(given.projectId, existing.id, credentials(given), { deadline });
    if (existing.type !== "shared") {
      call.note(`OAuthProvider ${existing.id} had credentials of its own: those of the program have taken their place`);
    }
    return provider;
  }
  if (existing.type === "shared") return existing;
  throw new Error(
    `${what}, and the program declares no credentials, which cannot be taken away from it. Declare "clientId" and "clientSecret", or delete it first to have it with the shared keys`,
  );
}

/**
 * The credentials as far as an answer tells. Own credentials that became shared keys by hand, or the other way round, have
 * no value to show: a text stands for them in the plan, and repairing it is an update or a replacement.
 */
function observedCredentials(
  { type, client_id, client_secret }: OAuthProvider,
  managed: Stored<Shape, Outputs>["managed"],
): Observed<Shape, Outputs>["args"] {
  const clientId = readable(client_id);
  if (managed.has("clientId")) {
    if (type === "shared") return { clientId: SHARED_BY_HAND };
    return withoutAbsent({ clientId, clientSecret: readable(client_secret) });
  }
  // A provider that is only looked up is not declared to be shared.
  if (managed.size === 0) return withoutAbsent({ clientId });
  // Shared, as declared: what may be shown are the service's own credentials.
  if (type === "shared") return {};
  return { clientId: clientId ?? STANDARD_BY_HAND };
}

async function found(call: Call<Outputs>, projectId: string, providerId: string) {
  const provider = await listed(call, projectId, providerId, true);
  if (provider === undefined) {
    throw gone();
  }
  return provider;
}
