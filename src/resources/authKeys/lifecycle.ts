import type { KeySetRecord } from "../../client";
import type { ArgumentSpecs } from "../../host/shape";
import type { AuthKeysOutputs, AuthKeysShape } from "./AuthKeys";
import { withoutAbsent } from "../shared/omitUndefined";
import { triggersSchema } from "../shared/schemas";
import { authProviderSchema, childId, projectIdSchema, splitChildId } from "../shared/identifiers";
import { asStored, inIntegration } from "../shared/integrationChild";

type Shape = AuthKeysShape;
type Outputs = AuthKeysOutputs & Partial<Shape>;

const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: "container" },
  authProvider: { schema: authProviderSchema, replaces: true },
  rotationTriggers: { schema: triggersSchema, replaces: true, assumed: [] },
};

const NOT_REVOKED = "the service cannot revoke keys, so the old ones stay valid for whoever holds them";

/** A key set of an integration (docs/design/api.md). */
export const authKeys = inIntegration<Shape, Outputs>({
  kind: "AuthKeys",
  version: 1,
  args,
  // The new set is in use before the old one is forgotten.
  deleteBeforeReplace: false,
  objects: () => [],

  replacement: () => `a new key set is made; ${NOT_REVOKED}`,

  async create(call, { projectId }) {
    const { authProvider } = call;
    const keys = await call.client.auth.createKeys(projectId, authProvider, call);
    return {
      id: childId(projectId, authProvider, keys.pub_client_key),
      outputs: { projectId, authProvider, ...keyOutputs(keys) },
    };
  },

  ...asStored<Shape, Outputs>(splitChildId, kept),

  async delete({ note }, { id }) {
    note(`AuthKeys ${id} was only taken out of the stack: ${NOT_REVOKED}`);
  },
});

export function keyOutputs(keys: KeySetRecord) {
  return withoutAbsent({
    pubClientKey: keys.pub_client_key,
    secretServerKey: keys.secret_server_key,
    jwksUrl: keys.jwks_url,
    schemaName: keys.schema_name,
    tableName: keys.table_name,
    authProviderProjectId: keys.auth_provider_project_id,
  });
}

/** Keys cannot be read back. What is only looked up has none: they stay empty there. */
export function storedKeys(outs: Partial<Outputs>) {
  const { pubClientKey = "", secretServerKey = "", jwksUrl = "", schemaName, tableName, authProviderProjectId } = outs;
  return { pubClientKey, secretServerKey, jwksUrl, ...withoutAbsent({ schemaName, tableName, authProviderProjectId }) };
}

function kept(id: string, outs: Partial<Outputs>): Outputs {
  return { ...splitChildId(id), ...storedKeys(outs) };
}
