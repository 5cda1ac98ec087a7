import type { SchemasOf } from "../../host/arguments";
import { authProviderSchema, projectIdSchema } from "../shared/identifiers";
import { triggersSchema } from "../shared/schemas";
import type { AuthOwnershipTransferShape } from "./declaration";

export const schemas: SchemasOf<AuthOwnershipTransferShape> = {
  projectId: projectIdSchema,
  authProvider: authProviderSchema,
  triggers: triggersSchema,
};
