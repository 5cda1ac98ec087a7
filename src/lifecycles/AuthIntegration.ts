import { z } from "zod";
import { ConflictError, type AuthIntegration, type KeySet } from "../client";
import type { Call, Lifecycle } from "../dynamic/lifecycle";
import type { ArgumentSpecs } from "../dynamic/shape";
import type { AuthIntegrationOutputs, AuthIntegrationShape } from "../resources/AuthIntegration";
import { withoutAbsent } from "./absent";
import { madeAgo } from "./age";
import { defaultBranchId } from "./defaultBranch";
import { authProviderSchema, branchIdSchema, projectIdSchema, splitId } from "./identifiers";
import { homeWasReplaced } from "./integrationOf";

type Shape = AuthIntegrationShape;
type Outputs = AuthIntegrationOutputs & Partial<Shape>;

const databaseIdentifier = z
  .string({ error: "must be a string" })
  .min(1, { error: "must have 1 to 63 characters" })
  .max(63, { error: "must have 1 to 63 characters" });

/** What the service takes when no role is given (service.md 4.1). */
const DEFAULT_ROLE = "svcdb_owner";

const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: true },
  branchId: { schema: branchIdSchema, replaces: true },
  databaseName: { schema: databaseIdentifier, replaces: true },
  roleName: { schema: databaseIdentifier, replaces: true, unreadable: true },
  authProvider: { schema: authProviderSchema, replaces: true },
  adopt: { schema: z.boolean({ error: "must be true or false" }), createOnly: true },
};

/** An auth integration with the key set of its creation (service.md 2.2, 2.3, 4.1). */
export const authIntegration: Lifecycle<Shape, Outputs> = {
  kind: "AuthIntegration",
  version: 1,
  args,
  deleteBeforeReplace: true,

  warnings: ({ stored, replaces }) =>
    replaces.size === 0
      ? []
      : [
          `AuthIntegration ${stored.id} is deleted and made again: all of its users and keys are lost, and only what is declared with its "projectId" output comes back`,
        ],

  async create(call, given) {
    const { projectId, authProvider = call.authProvider } = given;
    const id = `${projectId}/${authProvider}`;
    const { client, deadline } = call;
    const before = await client.listAuthIntegrations(projectId, { fresh: true, deadline });
    const existing = before.find((integration) => integration.auth_provider === authProvider);
    const branchId = given.branchId ?? existing?.branch_id ?? (await defaultBranchId(call, projectId));
    const keys =
      existing === undefined
        ? await createNew(call, { ...given, branchId, authProvider }, before)
        : await adopted(call, given, existing);
    // Kept before anything else is asked: the server key cannot be read again.
    // An integration that stands has been made with a role that nothing shows.
    const role = existing === undefined ? { roleName: given.roleName ?? DEFAULT_ROLE } : {};
    const known = { ...stored(given, authProvider, branchId), ...role, ...keyOutputs(keys) };
    call.keep(id, known);
    const integration = await find(call, projectId, authProvider);
    return { id, outputs: { ...known, ...(integration && recordOutputs(integration)) } };
  },

  async read(call, { id, outs }) {
    const { projectId, rest: authProvider } = splitId(id);
    const integration = await find(call, projectId, authProvider);
    // Another auth project under the same name: the stored one, with its keys, is gone.
    if (integration === undefined || isAnother(integration, outs)) return undefined;
    return {
      args: { projectId, authProvider, branchId: integration.branch_id, ...databaseOf(integration) },
      outputs: { ...keptOutputs(outs), ...recordOutputs(integration) },
      ready: true,
    };
  },

  async update(call, { id, outs }) {
    // Every argument replaces, so this only completes what a failed creation left open.
    const { projectId, rest: authProvider } = splitId(id);
    const integration = await find(call, projectId, authProvider);
    if (integration === undefined) {
      throw new Error("it is not there any more. Run pulumi up --refresh, which plans to create it again");
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

/** A service without data of its own never answers with another spelling, so names are compared as they are. */
async function find({ client, deadline }: Call<Outputs>, projectId: string, authProvider: string) {
  const isIt = (integration: AuthIntegration): boolean => integration.auth_provider === authProvider;
  const integrations = await client.listAuthIntegrations(projectId, { deadline, shows: (list) => list.some(isIt) });
  return integrations.find(isIt);
}

async function createNew(
  { client, deadline }: Call<Outputs>,
  given: Shape & { branchId: string; authProvider: string },
  known: readonly AuthIntegration[],
): Promise<KeySet> {
  const request = {
    auth_provider: given.authProvider,
    branch_id: given.branchId,
    database_name: given.databaseName,
    role_name: given.roleName,
  };
  try {
    return await client.createAuthIntegration(given.projectId, withoutAbsent(request), { deadline, known });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw new Error(
      `${error.message} No integration stands in this project, so what is in the way is most likely the database schema of an earlier one, ` +
        `which stays when an integration is deleted. Look at the users in it, then drop the schema in the database (svc_auth by default), or choose another database`,
      { cause: error },
    );
  }
}

/** Keys cannot be read back, so a new set is made; whoever holds the older ones goes on. */
async function adopted({ client, deadline }: Call<Outputs>, given: Shape, existing: AuthIntegration): Promise<KeySet> {
  const what = `an auth integration stands on ${existing.branch_id}${madeAgo(existing.created_at)}`;
  if (given.adopt !== true) {
    throw new Error(
      `${what}. An interrupted pulumi up may have made it. Set "adopt: true" to manage it here (a new key set is made, older keys stay valid), or delete it first`,
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
  return client.createAuthKeys(given.projectId, existing.auth_provider, { deadline });
}

function isAnother(integration: AuthIntegration, { authProviderProjectId }: Partial<Outputs>): boolean {
  return authProviderProjectId !== undefined && integration.auth_provider_project_id !== authProviderProjectId;
}

function stored({ projectId }: Shape, authProvider: string, branchId: string) {
  return { projectId, authProvider, branchId };
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

/** What a list cannot tell again. A resource that is only looked up has no keys: they stay empty there. */
function keptOutputs(outs: Partial<Outputs>) {
  const { pubClientKey = "", secretServerKey = "", schemaName, tableName, projectId, authProvider, roleName } = outs;
  return withoutAbsent({ pubClientKey, secretServerKey, schemaName, tableName, projectId, authProvider, roleName });
}

const databaseOf = ({ db_name }: AuthIntegration) => withoutAbsent({ databaseName: db_name });

function recordOutputs(integration: AuthIntegration) {
  return {
    authProviderProjectId: integration.auth_provider_project_id,
    branchId: integration.branch_id,
    jwksUrl: integration.jwks_url ?? "",
    ...databaseOf(integration),
    ...withoutAbsent({ ownedBy: integration.owned_by, createdAt: integration.created_at }),
  };
}
