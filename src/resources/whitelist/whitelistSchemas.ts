import type { SchemasOf } from "../../host/arguments";
import { authProviderSchema, projectIdSchema } from "../shared/identifiers";
import { boolean, list } from "../shared/argumentSchemas";
import type { WhitelistDomainShape, WhitelistShape } from "./whitelistDeclaration";
import { originSchema } from "./origin";

/** A set: if two origins are equal, the error on the second names the first. */
const domains = list(originSchema, "origins").superRefine((origins, context) => {
  for (const [index, origin] of origins.entries()) {
    const first = origins.indexOf(origin);
    if (first === index) continue;
    context.addIssue({ code: "custom", path: [index], message: `is the same origin as domains[${first}]` });
  }
});

export const whitelistSchemas: SchemasOf<WhitelistShape> = {
  projectId: projectIdSchema,
  domains,
  authProvider: authProviderSchema,
};

export const whitelistDomainSchemas: SchemasOf<WhitelistDomainShape> = {
  projectId: projectIdSchema,
  domain: originSchema,
  authProvider: authProviderSchema,
  adopt: boolean,
};
