import type { KeySet } from "../client";
import type { Lifecycle } from "../dynamic/lifecycle";
import type { ArgumentSpecs } from "../dynamic/shape";
import type { AuthKeysOutputs, AuthKeysShape } from "../resources/AuthKeys";
import { withoutAbsent } from "./absent";
import { childId, splitChildId } from "./childId";
import { authProviderSchema, projectIdSchema } from "./identifiers";
import { creatingAtHome, homeStands } from "./integrationOf";
import { triggersSchema } from "./triggers";

type Shape = AuthKeysShape;
type Outputs = AuthKeysOutputs & Partial<Shape>;

const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: "container" },
  authProvider: { schema: authProviderSchema, replaces: true },
  rotationTriggers: { schema: triggersSchema, replaces: true, assumed: [] },
};

const NOT_REVOKED = "the service cannot revoke keys, so the old ones stay valid for whoever holds them";

/** A key set of an integration (service.md 2.3, 4.1). */
export const authKeys: Lifecycle<Shape, Outputs> = {
  kind: "AuthKeys",
  version: 1,
  args,
  // The new set is in use before the old one is forgotten.
  deleteBeforeReplace: false,

  warnings: ({ stored, replaces }) =>
    replaces.size === 0 ? [] : [`AuthKeys ${stored.id} is replaced by a new key set: ${NOT_REVOKED}`],

  async create({ client, deadline, authProvider: standard, progress }, given) {
    const { projectId, authProvider = standard } = given;
    const keys = await creatingAtHome(() =>
      client.createAuthKeys(projectId, authProvider, { deadline, onProgress: progress }),
    );
    return {
      id: childId(projectId, authProvider, keys.pub_client_key),
      outputs: { projectId, authProvider, ...toOutputs(keys) },
    };
  },

  async read(call, { id, outs }) {
    const { projectId, authProvider } = splitChildId(id);
    if (!(await homeStands(call, projectId, outs))) return undefined;
    return { args: { projectId, authProvider }, outputs: kept(id, outs), ready: true };
  },

  // Every argument replaces: there is nothing to send.
  update: async (_call, { id, outs }) => kept(id, outs),

  async delete({ note }, { id }) {
    note(`AuthKeys ${id} was only taken out of the stack: ${NOT_REVOKED}`);
  },
};

function toOutputs(keys: KeySet) {
  return withoutAbsent({
    pubClientKey: keys.pub_client_key,
    secretServerKey: keys.secret_server_key,
    jwksUrl: keys.jwks_url,
    schemaName: keys.schema_name,
    tableName: keys.table_name,
    authProviderProjectId: keys.auth_provider_project_id,
  });
}

/** Keys cannot be read back. A set that is only looked up has none: they stay empty there. */
function kept(id: string, outs: Partial<Outputs>): Outputs {
  const { pubClientKey = "", secretServerKey = "", jwksUrl = "", schemaName, tableName, authProviderProjectId } = outs;
  const optional = withoutAbsent({ schemaName, tableName, authProviderProjectId });
  return { ...splitChildId(id), pubClientKey, secretServerKey, jwksUrl, ...optional };
}
