import { NOTHING_TO_DELETE } from "../../client";
import type { SchemasOf } from "../../runtime/arguments";
import {
  declaration,
  type AuthOwnershipTransferOutputs,
  type AuthOwnershipTransferShape,
} from "./authOwnershipTransferDeclaration";
import { triggersSchema } from "../shared/argumentSchemas";
import { authProviderSchema, childId, projectIdSchema, splitChildId } from "../shared/identifiers";
import { keepStored, inIntegration } from "../shared/integrationChild";

type AuthOwnershipTransferOuts = AuthOwnershipTransferOutputs & Partial<AuthOwnershipTransferShape>;

const schemas: SchemasOf<AuthOwnershipTransferShape> = {
  projectId: projectIdSchema,
  authProvider: authProviderSchema,
  triggers: triggersSchema,
};

const NOT_TAKEN_BACK = "an issued URL stays valid, and a confirmed transfer is not undone";

/** The first step of a transfer of ownership (docs/design/api.md): requests the address for the second. */
export const authOwnershipTransfer = inIntegration(declaration, schemas, {
  objects: () => [],

  replacement: () => `a new URL is requested; ${NOT_TAKEN_BACK}`,

  async create(call, { projectId }) {
    const { authProvider } = call;
    const { url } = await call.client.auth.transferOwnership(projectId, authProvider, call);
    const id = childId(projectId, authProvider, url);
    call.note(
      `AuthOwnershipTransfer ${id}: the transfer is not finished. Open "url" (a secret: see pulumi stack output --show-secrets) in a browser and confirm the new owner`,
    );
    return { id, outputs: { projectId, authProvider, url } };
  },

  ...keepStored<AuthOwnershipTransferShape, AuthOwnershipTransferOuts>(splitChildId, storedOutputs),

  async delete({ note }, { id }) {
    note(`AuthOwnershipTransfer ${id} was removed from the stack only: ${NOT_TAKEN_BACK}`);
    return NOTHING_TO_DELETE;
  },
});

/** The address cannot be read again; requesting another one would be another transfer. */
function storedOutputs(id: string, { url = "" }: Partial<AuthOwnershipTransferOuts>): AuthOwnershipTransferOuts {
  return { ...splitChildId(id), url };
}
