import type { SchemasOf } from "../../host/arguments";
import { oauthProviderIdSchema, projectIdSchema } from "../shared/identifiers";
import { boolean, orReference, text } from "../shared/argumentSchemas";
import type { OAuthProviderShape } from "./oauthProviderDeclaration";

export const schemas: SchemasOf<OAuthProviderShape> = {
  projectId: projectIdSchema,
  providerId: oauthProviderIdSchema,
  clientId: text,
  clientSecret: orReference(text),
  adopt: boolean,
  absent: boolean,
};
