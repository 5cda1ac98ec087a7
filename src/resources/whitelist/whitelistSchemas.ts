import { z } from "zod";
import type { SchemasOf } from "../../runtime/arguments";
import { originIn } from "../../contract/expiry";
import { authProviderSchema, projectIdSchema } from "../shared/identifiers";
import { boolean, eitherOr, list, needs, object } from "../shared/argumentSchemas";
import type { DatedDomain, WhitelistDomainShape, WhitelistShape } from "./whitelistDeclaration";
import { originSchema } from "./origin";

const expiresOn = z.iso.date({ error: needs("a day such as 2027-01-31", "string") });

const AN_ELEMENT = "a string, or an object with origin and expiresOn";

const dated = object({ origin: originSchema, expiresOn }, AN_ELEMENT);

const form: z.ZodType<unknown> = z.union([z.string(), z.looseObject({})], {
  error: needs(AN_ELEMENT, "string"),
});

const element = form.pipe(eitherOr<string | DatedDomain>(dated, originSchema));

/** A set: if two origins are equal, the error on the second names the first. */
const domains = list(element, "origins").superRefine((elements, context) => {
  const origins = elements.map(originIn);
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
  expiresOn,
  adopt: boolean,
};
