import type { SchemasOf } from "../../host/arguments";
import { authProviderSchema, projectIdSchema } from "../shared/identifiers";
import { triggersSchema } from "../shared/argumentSchemas";
import type { AuthOwnershipTransferShape } from "./authOwnershipTransferDeclaration";

export const schemas: SchemasOf<AuthOwnershipTransferShape> = {
  projectId: projectIdSchema,
  authProvider: authProviderSchema,
  triggers: triggersSchema,
};
