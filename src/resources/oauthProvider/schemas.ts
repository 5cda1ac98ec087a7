import type { SchemasOf } from "../../host/arguments";
import { oauthProviderIdSchema, projectIdSchema } from "../shared/identifiers";
import { boolean, text } from "../shared/schemas";
import type { OAuthProviderShape } from "./declaration";

export const schemas: SchemasOf<OAuthProviderShape> = {
  projectId: projectIdSchema,
  providerId: oauthProviderIdSchema,
  clientId: text,
  clientSecret: text,
  adopt: boolean,
};
