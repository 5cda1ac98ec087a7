import { serverObject } from "../../contract/claims";
import { z } from "zod";
import { Gone, mustBeKnown, type EmailServerRecord, type EmailServerRequest, type Expected } from "../../client";
import type { Call } from "../../host/lifecycle";
import type { Problem, SchemasOf } from "../../host/arguments";
import { effect } from "../../host/lookAhead";
import { expectedOf, unconfirmed } from "../../host/confirmed";
import {
  declaration,
  SMTP_ARGUMENTS,
  type EmailServerArguments,
  type EmailServerOutputs,
} from "./emailServerDeclaration";
import { email, line, needs, orReference, string, text } from "../shared/argumentSchemas";
import { omitUndefined } from "../shared/omitUndefined";
import { projectIdSchema } from "../shared/identifiers";
import { atIntegration, inIntegration, type ChildCall } from "../shared/integrationChild";
import { readable } from "../../helpers/masked";

type EmailServerOuts = EmailServerOutputs & Partial<EmailServerArguments>;

/** A name or an address, without a port. An IPv6 address has at least two colons. */
const HOST = /^([^\s\p{Cc}/@:[\]]+|\[?[\da-f]*:[\da-f]*:[\da-f:.]*\]?)$/iu;
const PORT = { error: needs("a whole number from 1 to 65535", "number") };

const schemas: SchemasOf<EmailServerArguments> = {
  projectId: projectIdSchema,
  type: z.enum(["shared", "standard"], { error: 'must be "shared" or "standard"' }),
  host: string.regex(HOST, { error: "must be a host name, such as smtp.example.com" }),
  port: z.int(PORT).min(1, PORT).max(65_535, PORT),
  username: line(),
  password: orReference(text),
  senderEmail: email,
  senderName: line(),
};

/** The one mail configuration of a project (docs/design/api.md): its id is the project's. */
export const emailServer = inIntegration(declaration, schemas, {
  rules,
  objects: (projectId) => [serverObject(projectId)],

  replacement: ({ deletesFirst }) =>
    deletesFirst
      ? "the project uses the shared server of the service until the declared one is set"
      : "once the declared one is set, the old project uses the shared server of the service again",
  createEffects({ args: { projectId }, isNew }) {
    const mail = `the mail configuration${projectId === undefined ? "" : ` of project ${projectId}`}`;
    return isNew
      ? [`creating an EmailServer sets ${mail}: another server that is configured there is overwritten`]
      : [];
  },

  warnings: ({ stored: { id, unfinished }, label }) =>
    unfinished === false
      ? []
      : [
          `the previous ${unfinished === "create" ? "creation" : "update"} of EmailServer ${id}${label} did not finish. This update resumes it: all of its arguments are sent again`,
        ],

  async lookAhead({ args: known, givenNames, client, reading, planned }) {
    const { projectId } = known;
    // An unknown value cannot be compared.
    const isKnown = [...givenNames].every((name) => Object.hasOwn(known, name));
    if (!isKnown) return undefined;
    if (planned(serverObject(projectId)) !== undefined) return [];
    const other = otherServer(known, await client.auth.emailServer(projectId, reading));
    return other === undefined
      ? []
      : [effect(`pulumi up overwrites the e-mail server of project ${projectId}: ${other}`)];
  },

  lookAtUpdate: atIntegration,

  async create(call, args) {
    const { projectId } = args;
    const before = await current(call, projectId);
    await call.run.waitUntilFree(serverObject(projectId));
    // Before the request, so that no deletion in this run begins meanwhile: it would reset the server.
    call.run.takeOver(serverObject(projectId));
    await send(call, args, { before });
    const other = otherServer(call.withValues(args), before);
    if (other !== undefined) call.note(`EmailServer ${projectId}: ${other}; it was overwritten`);
    return { id: projectId, outputs: {} };
  },

  async read(call, { id: projectId, managed, unfinished }) {
    const server = mustBeKnown(await call.client.auth.emailServers(projectId).find(() => true, call));
    if (server instanceof Gone) return server;
    const { password, ...found } = toArguments(projectId, server);
    // The state holds no password that the program does not manage.
    const shown = managed.has("password") ? omitUndefined({ ...found, password }) : found;
    return {
      args: server.type === "shared" ? { ...shown, ...NOTHING_OF_ITS_OWN } : shown,
      outputs: {},
      // The service does not show which password was applied last.
      ready: !(unfinished && managed.has("password")),
    };
  },

  async update(call, { id: projectId, unfinished, outs }, args, { changed }) {
    if (changed.size > 0 || unfinished !== false)
      await send(call, args, { before: await current(call, projectId), password: outs.password });
    return {};
  },

  async delete(call, { id: projectId }) {
    const { isMeant } = call.integration;
    const gone = await call.client.auth.resetEmailServer(projectId, { ...call, isMeant, mayGo: call.mayDelete });
    call.note(`EmailServer ${projectId}: mail is sent by the shared server of the service again`);
    return gone;
  },
});

function rules({ type }: Partial<EmailServerArguments>, givenNames: ReadonlySet<string>): Problem[] {
  if (type === "standard") {
    const missing = SMTP_ARGUMENTS.filter((name) => !givenNames.has(name));
    return missing.map((path) => ({ path, reason: 'is required for the type "standard"' }));
  }
  if (type !== "shared") return [];
  const surplus = SMTP_ARGUMENTS.filter((name) => givenNames.has(name));
  return surplus.map((path) => ({ path, reason: 'is only allowed for the type "standard"' }));
}

const current = (call: Call<EmailServerOuts>, projectId: string): Promise<EmailServerRecord> =>
  call.client.auth.emailServer(projectId, { ...call, since: performance.now() });

/**
 * Sends the whole configuration: a standard one requires all of it.
 * @param known `before`: the configuration that was read before; `password`: the one known to be applied.
 */
async function send(
  call: ChildCall<EmailServerOuts>,
  args: EmailServerArguments,
  known: { readonly before: EmailServerRecord; readonly password?: EmailServerArguments["password"] },
): Promise<void> {
  const { projectId, senderEmail, senderName, password: given, ...rest } = args;
  const password = given === undefined ? undefined : call.resolve(given);
  const body: EmailServerRequest = omitUndefined({
    ...rest,
    password,
    sender_email: senderEmail,
    sender_name: senderName,
  });
  const argumentsOf = (server: EmailServerRecord) => toArguments(projectId, server);
  const { password: _unread, ...before } = argumentsOf(known.before);
  const expected: Expected<EmailServerRecord> = {
    ...expectedOf(declaration.args, {
      sent: { ...args, password },
      argumentsOf,
      // A password cannot be read back: the state keeps the one known to be applied.
      checkpoint: (shown) => call.checkpoint(projectId, {}, { ...shown, password: known.password }),
    }),
    // If a response shows neither this nor the previous configuration, a list proves nothing: it does not show the
    // password.
    mayBeOld: (server) =>
      unconfirmed(declaration.args, { sent: before, shown: argumentsOf(server), proof: true }).length === 0,
  };
  // The service replaces the configuration as a whole.
  call.sending(Object.keys(args).filter((name) => name !== "projectId"));
  await call.client.auth.emailServers(projectId).update({ body, expected }, call);
}

/** The shared server has none of them. If they were only omitted, they would count as not readable. */
const NOTHING_OF_ITS_OWN = Object.fromEntries(SMTP_ARGUMENTS.map((name) => [name, undefined]));

/** The arguments that can be read back; a shared server shows only its type. */
function toArguments(projectId: string, server: EmailServerRecord): Partial<EmailServerArguments> {
  return {
    projectId,
    // An unknown type is kept, so that it shows as a difference.
    type: server.type as EmailServerArguments["type"],
    ...omitUndefined({
      host: readable(server.host),
      port: server.port,
      username: readable(server.username),
      password: readable(server.password),
      senderEmail: readable(server.sender_email),
      senderName: readable(server.sender_name),
    }),
  };
}

/** The existing own server, if it differs from what is given. */
function otherServer(
  args: Partial<EmailServerArguments> & Pick<EmailServerArguments, "projectId">,
  before: EmailServerRecord,
): string | undefined {
  if (before.type === "shared") return undefined;
  const found = toArguments(args.projectId, before);
  const unset = Object.fromEntries(["type", ...SMTP_ARGUMENTS].map((name) => [name, ""]));
  const names = unconfirmed(declaration.args, { sent: { ...unset, ...args }, shown: found }).map((name) => `"${name}"`);
  if (names.length === 0) return undefined;
  const host = found.host === undefined ? "" : ` (${found.host})`;
  return `another server was configured there${host}, different in ${names.join(", ")}`;
}
