import type { SchemasOf } from "../../host/arguments";
import { authProviderSchema, branchIdSchema, projectIdSchema } from "../shared/identifiers";
import { boolean, textUpTo } from "../shared/argumentSchemas";
import type { AuthIntegrationShape } from "./authIntegrationDeclaration";

/** The limit of Postgres. */
const identifier = textUpTo(63);

export const schemas: SchemasOf<AuthIntegrationShape> = {
  projectId: projectIdSchema,
  branchId: branchIdSchema,
  databaseName: identifier,
  roleName: identifier,
  authProvider: authProviderSchema,
  adopt: boolean,
  deletionProtection: boolean,
};
