import { z } from "zod";
import { NotFoundError, type EmailServer } from "../client";
import type { Call, Declared, Lifecycle } from "../dynamic/lifecycle";
import { sameArgument, specOf, type ArgumentSpecs, type Problem } from "../dynamic/shape";
import type { EmailServerOutputs, EmailServerShape, SmtpShape } from "../resources/EmailServer";
import { withoutAbsent } from "./absent";
import { email, string, text } from "./argumentSchemas";
import { projectIdSchema } from "./identifiers";
import { creatingAtHome, homeOf, homeStands, homeWasReplaced } from "./integrationOf";
import { readable } from "../helpers/masked";
import { anyOf } from "./others";

/** Both members of the union at once: which fields belong together is what `rules` say. */
interface Shape extends Partial<SmtpShape> {
  projectId: string;
  type: EmailServerShape["type"];
}
type Outputs = EmailServerOutputs;

const SMTP = [
  "host",
  "port",
  "username",
  "password",
  "senderEmail",
  "senderName",
] as const satisfies readonly (keyof SmtpShape)[];

/** A name or an address, without a port: an IPv6 address has two colons at least. */
const HOST = /^([^\s/@:[\]]+|\[?[\da-f]*:[\da-f]*:[\da-f:.]*\]?)$/i;
const PORT = { error: "must be a whole number from 1 to 65535" };

/** The shared server has none of these: leaving them out takes them away. */
const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: "container" },
  type: { schema: z.enum(["shared", "standard"], { error: 'must be "shared" or "standard"' }), required: true },
  host: {
    schema: string.regex(HOST, { error: "must be a host name, such as smtp.example.com" }),
    equal: (left, right) => left.toLowerCase() === right.toLowerCase(),
    unset: "update",
  },
  port: { schema: z.int(PORT).min(1, PORT).max(65_535, PORT), unset: "update" },
  username: { schema: text, unset: "update" },
  password: { schema: text, unset: "update" },
  senderEmail: { schema: email, unset: "update" },
  senderName: { schema: text, unset: "update" },
};

/** The one mail configuration of a project (service.md 2.6, 4.4): its id is the project's. */
export const emailServer: Lifecycle<Shape, Outputs> = {
  kind: "EmailServer",
  version: 1,
  args,
  // Deleted afterwards, the old one would take the configuration of the new one along.
  deleteBeforeReplace: true,

  rules,
  remarks,

  async create(call, given) {
    const { projectId } = given;
    const home = await homeOf(call, projectId);
    const before = await creatingAtHome(() =>
      call.client.getEmailServer(projectId, { fresh: true, deadline: call.deadline }),
    );
    await send(call, given);
    tellOverwritten(call, given, before);
    return { id: projectId, outputs: home };
  },

  async read(call, { id: projectId, outs, managed }) {
    if (!(await homeStands(call, projectId, outs))) return undefined;
    const server = await call.client.getEmailServer(projectId, { deadline: call.deadline });
    const { password, ...found } = toArguments(projectId, server);
    return {
      // Somebody else's password is none of the state's business.
      args: managed.has("password") ? withoutAbsent({ ...found, password }) : found,
      outputs: kept(outs),
      ready: true,
    };
  },

  async update(call, { outs }, given, { changed }) {
    if (changed.size > 0) await send(call, given);
    return kept(outs);
  },

  async delete(call, { id: projectId, outs }) {
    if (await homeWasReplaced(call, projectId, outs)) return;
    try {
      await call.client.updateEmailServer(projectId, { type: "shared" }, { deadline: call.deadline });
    } catch (error) {
      // The integration is gone, and its configuration with it.
      if (error instanceof NotFoundError) return;
      throw error;
    }
    call.note(`EmailServer ${projectId}: mail goes through the shared server of the service again`);
  },
};

function rules({ type }: Partial<Shape>, given: ReadonlySet<string>): Problem[] {
  if (type === "standard") {
    const missing = SMTP.filter((name) => !given.has(name));
    return missing.map((path) => ({ path, reason: 'is required for the type "standard"' }));
  }
  if (type !== "shared") return [];
  const surplus = SMTP.filter((name) => given.has(name));
  return surplus.map((path) => ({ path, reason: 'is for the type "standard" only: the shared server has none' }));
}

function remarks({ args: { projectId }, others }: Declared<Shape>): string[] {
  if (!anyOf(others("EmailServer"), projectId)) return [];
  return [`project ${projectId} has two EmailServers, of which each overwrites the other. Declare one`];
}

/** As a whole: a standard configuration requires all of it (service.md 4.4). */
async function send({ client, deadline }: Call<Outputs>, { projectId, ...server }: Shape): Promise<void> {
  const { senderEmail, senderName, ...rest } = server;
  const request = withoutAbsent({ ...rest, sender_email: senderEmail, sender_name: senderName });
  await client.updateEmailServer(projectId, request, { deadline });
}

/** What can be read of it; a shared one shows its type only (service.md 2.6). */
function toArguments(projectId: string, server: EmailServer): Partial<Shape> {
  return {
    projectId,
    // An unknown type is passed on as it is: it is a difference, and shows as one.
    type: server.type as Shape["type"],
    ...withoutAbsent({
      host: readable(server.host),
      port: server.port,
      username: readable(server.username),
      password: readable(server.password),
      senderEmail: readable(server.sender_email),
      senderName: readable(server.sender_name),
    }),
  };
}

function tellOverwritten(call: Call<Outputs>, given: Shape, before: EmailServer): void {
  if (before.type === "shared") return;
  const found = toArguments(given.projectId, before);
  const differing = (["type", ...SMTP] as const).filter((name) => {
    const spec = specOf(args, name);
    return found[name] !== undefined && spec !== undefined && !sameArgument(spec, found[name], given[name]);
  });
  if (differing.length === 0) return;
  const names = differing.map((name) => `"${name}"`).join(", ");
  call.note(
    `EmailServer ${given.projectId}: another server was configured there${found.host === undefined ? "" : ` (${found.host})`}, different in ${names}; it is overwritten`,
  );
}

const kept = ({ authProviderProjectId }: Partial<Outputs>) => withoutAbsent({ authProviderProjectId });
