import type { SchemasOf } from "../../host/arguments";
import { authProviderSchema, projectIdSchema } from "../shared/identifiers";
import { triggersSchema } from "../shared/schemas";
import type { AuthKeysShape } from "./declaration";

export const schemas: SchemasOf<AuthKeysShape> = {
  projectId: projectIdSchema,
  authProvider: authProviderSchema,
  rotationTriggers: triggersSchema,
};
