import { z } from "zod";
import type { SchemasOf } from "../../host/arguments";
import { projectIdSchema } from "../shared/identifiers";
import { email, needs, orReference, string, text } from "../shared/argumentSchemas";
import type { EmailServerArguments } from "./emailServerDeclaration";

/** A name or an address, without a port. An IPv6 address has at least two colons. */
const HOST = /^([^\s/@:[\]]+|\[?[\da-f]*:[\da-f]*:[\da-f:.]*\]?)$/i;
const PORT = { error: needs("a whole number from 1 to 65535", "number") };

export const schemas: SchemasOf<EmailServerArguments> = {
  projectId: projectIdSchema,
  type: z.enum(["shared", "standard"], { error: 'must be "shared" or "standard"' }),
  host: string.regex(HOST, { error: "must be a host name, such as smtp.example.com" }),
  port: z.int(PORT).min(1, PORT).max(65_535, PORT),
  username: text,
  password: orReference(text),
  senderEmail: email,
  senderName: text,
};
