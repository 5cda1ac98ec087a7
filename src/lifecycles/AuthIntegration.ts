import type { AuthIntegration, KeySet } from "../client";
import type { Call, Lifecycle } from "../dynamic/lifecycle";
import type { ArgumentSpecs } from "../dynamic/shape";
import type { AuthIntegrationOutputs, AuthIntegrationShape } from "../resources/AuthIntegration";
import { withoutAbsent } from "./absent";
import { madeAgo } from "./age";
import { boolean, textUpTo } from "./argumentSchemas";
import { gone, OR_ALIAS } from "./conflictWords";
import { creatingUnlisted } from "./creatingUnlisted";
import { defaultBranchId } from "./defaultBranch";
import { authProviderSchema, branchIdSchema, projectIdSchema, splitId } from "./identifiers";
import { homeWasReplaced } from "./integrationOf";

type Shape = AuthIntegrationShape;
type Outputs = AuthIntegrationOutputs & Partial<Shape>;

const databaseIdentifier = textUpTo(63);

/** What the service takes when no role is given (service.md 4.1). */
const DEFAULT_ROLE = "svcdb_owner";

const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: true },
  branchId: { schema: branchIdSchema, replaces: true },
  databaseName: { schema: databaseIdentifier, replaces: true },
  roleName: { schema: databaseIdentifier, replaces: true, unreadable: true },
  authProvider: { schema: authProviderSchema, replaces: true },
  adopt: { schema: boolean, createOnly: true },
};

/** An auth integration with the key set of its creation (service.md 2.2, 2.3, 4.1). */
export const authIntegration: Lifecycle<Shape, Outputs> = {
  kind: "AuthIntegration",
  version: 1,
  args,
  deleteBeforeReplace: true,

  warnings: ({ stored: { id }, replaces }) => (replaces.size === 0 ? [] : [replacementWarning(id, replaces)]),

  async create(call, given) {
    const { projectId, authProvider = call.authProvider } = given;
    const id = `${projectId}/${authProvider}`;
    const made = await takenOverOrNew(call, given, id);
    // Kept before anything else is asked: the server key cannot be read again.
    const known = { projectId, authProvider, ...made };
    call.keep(id, known);
    const integration = await find(call, id, known);
    return { id, outputs: { ...known, ...(integration && recordOutputs(integration)) } };
  },

  async read(call, { id, outs }) {
    const { projectId, rest: authProvider } = splitId(id);
    const integration = await find(call, id, outs);
    if (integration === undefined) return undefined;
    return {
      args: { projectId, authProvider, branchId: integration.branch_id, ...databaseOf(integration) },
      outputs: { ...keptOutputs(outs), ...recordOutputs(integration) },
      ready: true,
    };
  },

  async update(call, { id, outs }) {
    // Every argument replaces, so this only completes what a failed creation left open.
    const integration = await find(call, id, outs);
    if (integration === undefined) {
      throw gone();
    }
    return { ...keptOutputs(outs), ...recordOutputs(integration) };
  },

  async delete(call, { id, outs }) {
    const { client, deadline } = call;
    const { projectId, rest: authProvider } = splitId(id);
    if (await homeWasReplaced(call, projectId, outs)) {
      call.note(`AuthIntegration ${id}: another auth integration stands in its place, which was not deleted`);
      return;
    }
    await client.deleteAuthIntegration(projectId, authProvider, { deadline });
  },
};

function replacementWarning(id: string, replaces: ReadonlySet<keyof Shape>): string {
  const lost = `AuthIntegration ${id} is deleted and made again: all of its users and keys are lost, and only what is declared with its "projectId" output comes back`;
  const elsewhere = (["projectId", "branchId", "databaseName"] as const).some((name) => replaces.has(name));
  return elsewhere
    ? lost
    : `${lost}. It comes back on the same database: the service may keep the schema of the old one there (svc_auth by default), and then refuses the new one until it is dropped`;
}

/**
 * The integration that an id names. Another auth project under the same name is another one: the stored one, with its
 * keys, is gone then.
 */
async function find(
  { client, deadline }: Call<Outputs>,
  id: string,
  { authProviderProjectId }: Partial<Outputs>,
): Promise<AuthIntegration | undefined> {
  const { projectId, rest: authProvider } = splitId(id);
  // A service without data of its own never answers with another spelling, so names are compared as they are.
  const isIt = (integration: AuthIntegration): boolean =>
    integration.auth_provider === authProvider &&
    (authProviderProjectId === undefined || integration.auth_provider_project_id === authProviderProjectId);
  const shows = (list: readonly AuthIntegration[]): boolean => list.some(isIt);
  return (await client.listAuthIntegrations(projectId, { deadline, shows })).find(isIt);
}

type Made = ReturnType<typeof keyOutputs> & { branchId: string; roleName?: string };

async function takenOverOrNew(call: Call<Outputs>, given: Shape, id: string): Promise<Made> {
  const { client, deadline } = call;
  const { projectId, rest: authProvider } = splitId(id);
  const known = await client.listAuthIntegrations(projectId, { fresh: true, deadline });
  const existing = known.find((integration) => integration.auth_provider === authProvider);
  if (existing !== undefined) return adopted(call, given, existing);
  const { databaseName, roleName, branchId = await defaultBranchId(call, projectId) } = given;
  const request = {
    auth_provider: authProvider,
    branch_id: branchId,
    database_name: databaseName,
    role_name: roleName,
  };
  return creatingUnlisted({
    create: async () => {
      const keys = await client.createAuthIntegration(projectId, withoutAbsent(request), { deadline, known });
      return { branchId, roleName: roleName ?? DEFAULT_ROLE, ...keyOutputs(keys) };
    },
    look: () => find(call, id, {}),
    standing: (found) => adopted(call, given, found),
    advice:
      "Yet no list shows an integration in this project, and lists can lag behind: run pulumi up again in a while. " +
      "When it says the same, what is in the way is most likely the database schema of an earlier one, which stays when an integration is deleted. " +
      "Look at the users in it, then drop the schema in the database (svc_auth by default), or choose another database",
  });
}

/**
 * Keys cannot be read back, so a new set is made; whoever holds the older ones goes on. Nothing shows the role that it
 * was made with.
 */
async function adopted({ client, deadline }: Call<Outputs>, given: Shape, existing: AuthIntegration): Promise<Made> {
  const what = `an auth integration stands on ${existing.branch_id}${madeAgo(existing.created_at)}`;
  if (given.adopt !== true) {
    throw new Error(
      `${what}. An interrupted pulumi up may have made it. Set "adopt: true" to manage it here (a new key set is made, older keys stay valid), or delete it first${OR_ALIAS}`,
    );
  }
  const differing = [
    ...(given.branchId !== undefined && given.branchId !== existing.branch_id ? ["branchId"] : []),
    ...(given.databaseName !== undefined && existing.db_name !== undefined && given.databaseName !== existing.db_name
      ? ["databaseName"]
      : []),
  ];
  if (differing.length > 0) {
    throw new Error(
      `${what}, and differs from the program in ${differing.map((name) => `"${name}"`).join(" and ")}, which cannot be changed. Declare what stands there, or delete it first`,
    );
  }
  const keys = await client.createAuthKeys(given.projectId, existing.auth_provider, { deadline });
  return { branchId: existing.branch_id, ...keyOutputs(keys) };
}

function keyOutputs(keys: KeySet) {
  return withoutAbsent({
    authProviderProjectId: keys.auth_provider_project_id,
    pubClientKey: keys.pub_client_key,
    secretServerKey: keys.secret_server_key,
    jwksUrl: keys.jwks_url,
    schemaName: keys.schema_name,
    tableName: keys.table_name,
  });
}

/** What a list need not tell again. A resource that is only looked up has no keys: they stay empty there. */
function keptOutputs(outs: Partial<Outputs>) {
  const { pubClientKey = "", secretServerKey = "", jwksUrl = "" } = outs;
  const { schemaName, tableName, projectId, authProvider, roleName } = outs;
  const optional = withoutAbsent({ schemaName, tableName, projectId, authProvider, roleName });
  return { pubClientKey, secretServerKey, jwksUrl, ...optional };
}

const databaseOf = ({ db_name }: AuthIntegration) => withoutAbsent({ databaseName: db_name });

function recordOutputs(integration: AuthIntegration) {
  return {
    authProviderProjectId: integration.auth_provider_project_id,
    branchId: integration.branch_id,
    ...databaseOf(integration),
    ...withoutAbsent({
      jwksUrl: integration.jwks_url,
      ownedBy: integration.owned_by,
      createdAt: integration.created_at,
    }),
  };
}
