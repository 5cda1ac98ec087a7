import type { SchemasOf } from "../../host/arguments";
import { authProviderSchema, projectIdSchema } from "../shared/identifiers";
import { email, textUpTo } from "../shared/argumentSchemas";
import type { AuthUserShape } from "./authUserDeclaration";

export const schemas: SchemasOf<AuthUserShape> = {
  projectId: projectIdSchema,
  email,
  name: textUpTo(255),
  authProvider: authProviderSchema,
};
