import { z } from "zod";

/** Request bodies of the auth routes (docs/design/api.md). An unknown field is refused. */
const project = { project_id: z.string().min(1), auth_provider: z.string().min(1) };
/** Lenient, as services are: `a@localhost` and international names are addresses. */
const email = z.string().regex(/^[^\s@<>,;]+@[^\s@<>,;]+$/u);
const credential = z.string().min(1).optional();

export const createIntegrationBody = z.strictObject({
  ...project,
  branch_id: z.string().startsWith("br-"),
  database_name: z.string().min(1).default("svcdb"),
  role_name: z.string().min(1).default("svcdb_owner"),
});

export const integrationBody = z.strictObject(project);

export const createUserBody = z.strictObject({
  ...project,
  email,
  name: z.string().min(1).max(255).optional(),
});

/** docs/design/api.md, Responses. */
export const deleteIntegrationBody = z.strictObject({ delete_data: z.boolean().optional() });

export const addOAuthProviderBody = z
  .strictObject({
    id: z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, "is not the identifier of a provider"),
    client_id: credential,
    client_secret: credential,
  })
  .refine(
    ({ client_id, client_secret }) => (client_id === undefined) === (client_secret === undefined),
    "client_id and client_secret are given both or not at all",
  );

export const updateOAuthProviderBody = z.strictObject({ client_id: credential, client_secret: credential });

/**
 * The origin as the service stores it: lower case, without a default port. Null when it is none. A URL parser
 * corrects much without an error (a backslash, control characters): only case and default port may differ from what was sent.
 */
function normalisedOrigin(text: string): string | null {
  // Visible ASCII: a host of other letters is sent in its xn-- form.
  if (!/^https?:\/\/[!-~]+$/i.test(text) || !URL.canParse(text)) return null;
  const { origin, protocol } = new URL(text);
  const spelt = [origin, `${origin}:${protocol === "https:" ? 443 : 80}`];
  return spelt.includes(text.toLowerCase()) ? origin : null;
}

const origin = z.string().transform((text, context) => {
  const normalised = normalisedOrigin(text);
  if (normalised !== null) return normalised;
  context.addIssue("must be an http or https origin: scheme, host and port only");
  return z.NEVER;
});

export const addDomainBody = z.strictObject({ domain: origin, auth_provider: project.auth_provider });

export const deleteDomainsBody = z.strictObject({
  auth_provider: project.auth_provider,
  domains: z.array(z.strictObject({ domain: z.string().min(1) })),
});

const smtp = {
  host: z.string().min(1),
  port: z.int().min(1).max(65_535),
  username: z.string().min(1),
  password: z.string().min(1),
  sender_email: email,
  sender_name: z.string().min(1),
};

export const emailServerBody = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("shared"), ...z.object(smtp).partial().shape }),
  z.strictObject({ type: z.literal("standard"), ...smtp }),
]);
