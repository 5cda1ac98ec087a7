import { NOTHING_TO_DELETE } from "../../client";
import type { SchemasOf } from "../../runtime/arguments";
import { declaration, type AuthKeysOutputs, type AuthKeysShape } from "./authKeysDeclaration";
import { triggersSchema } from "../shared/argumentSchemas";
import { authProviderSchema, childId, projectIdSchema, splitChildId } from "../shared/identifiers";
import { keepStored, inIntegration } from "../shared/integrationChild";
import { keyOutputs, storedKeys } from "../shared/keySet";

type AuthKeysOuts = AuthKeysOutputs & Partial<AuthKeysShape>;

const schemas: SchemasOf<AuthKeysShape> = {
  projectId: projectIdSchema,
  authProvider: authProviderSchema,
  rotationTriggers: triggersSchema,
};

const NOT_REVOKED = "the service cannot revoke keys: the old keys stay valid";

/** A key set of an integration (docs/design/api.md). */
export const authKeys = inIntegration(declaration, schemas, {
  objects: () => [],

  replacement: () => `a new key set is created; ${NOT_REVOKED}`,
  recreation: "the new key set has other keys",

  async create(call, { projectId }) {
    const { authProvider } = call;
    const keys = await call.client.auth.createKeys(projectId, authProvider, call);
    return {
      id: childId(projectId, authProvider, keys.pub_client_key),
      outputs: { projectId, authProvider, ...keyOutputs(keys) },
    };
  },

  ...keepStored<AuthKeysShape, AuthKeysOuts>(splitChildId, storedOutputs),

  async delete({ note }, { id }) {
    note(`AuthKeys ${id} was removed from the stack only: ${NOT_REVOKED}`);
    return NOTHING_TO_DELETE;
  },
});

function storedOutputs(id: string, outs: Partial<AuthKeysOuts>): AuthKeysOuts {
  return { ...splitChildId(id), ...storedKeys(outs) };
}
