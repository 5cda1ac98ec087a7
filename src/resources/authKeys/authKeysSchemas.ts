import type { SchemasOf } from "../../host/arguments";
import { authProviderSchema, projectIdSchema } from "../shared/identifiers";
import { triggersSchema } from "../shared/argumentSchemas";
import type { AuthKeysShape } from "./authKeysDeclaration";

export const schemas: SchemasOf<AuthKeysShape> = {
  projectId: projectIdSchema,
  authProvider: authProviderSchema,
  rotationTriggers: triggersSchema,
};
