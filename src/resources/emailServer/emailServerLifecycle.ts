import { serverObject } from "../../contract/claims";
import { z } from "zod";
import {
  Gone,
  Granted,
  mustBeKnown,
  requireGranted,
  type EmailServerRecord,
  type EmailServerRequest,
  type Expected,
  type Permission,
} from "../../client";
import type { Call, Changes, Stored } from "../../host/lifecycle";
import type { Problem, SchemasOf } from "../../host/arguments";
import { effect, staysInTheWay } from "../../host/lookAhead";
import { expectedOf, unconfirmed } from "../../host/confirmed";
import { isIgnored, leftToService, mayOverwrite, notSentBy } from "../../host/ignored";
import { overwriteFindings, overwriteNote, overwritten, type Overwritten } from "../../host/overwritten";
import {
  declaration,
  SMTP_ARGUMENTS,
  type EmailServerArguments,
  type EmailServerOutputs,
} from "./emailServerDeclaration";
import { email, line, needs, orReference, string, text } from "../shared/argumentSchemas";
import { omitUndefined } from "../shared/omitUndefined";
import { projectIdSchema } from "../shared/identifiers";
import { inIntegration, type ChildCall } from "../shared/integrationChild";
import { resumed, sentAgain } from "../shared/resumed";
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

  warnings({ stored, news, changes, label }) {
    if (stored.unfinished === false) return [];
    const ignored = notSentBy(stored, changes);
    const names = Object.keys(news).filter((name) => name !== "projectId");
    const again = names.some((name) => isIgnored(ignored, name))
      ? sentAgain(names, ignored)
      : ["all of its arguments are sent again"];
    return [resumed(`EmailServer ${stored.id}${label}`, stored, again)];
  },

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

  async lookAtUpdate({ args: known, givenNames, client, reading }, { stored, changes, label }) {
    const what = `the e-mail server of project ${stored.id}${label}`;
    const before = await client.auth.emailServer(stored.id, reading);
    const { args, permission } = leftToProject(known, before, { what, stored, changes });
    if (!(permission instanceof Granted)) return [staysInTheWay(permission.error.message)];
    return overwriteFindings(what, overwrittenBy(args, givenNames, { before, stored, changes }));
  },

  async create(call, args) {
    const { projectId } = args;
    const before = await current(call, projectId);
    await call.run.waitUntilFree(serverObject(projectId));
    // Before the request, so that no deletion in this run begins meanwhile: it would reset the server.
    call.run.takeOver(serverObject(projectId));
    await send(call, args, { before, bodyOf: () => requestOf(call, args) });
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

  async update(call, stored, args, changes) {
    const { id: projectId, unfinished } = stored;
    if (changes.changed.size === 0 && unfinished === false) return {};
    const what = `the e-mail server of project ${projectId}`;
    const bodyOf = (server: EmailServerRecord): EmailServerRequest => {
      const { args: merged, permission } = leftToProject(args, server, { what, stored, changes });
      requireGranted(permission);
      return requestOf(call, merged);
    };
    const { ignored } = changes;
    const first = await current(call, projectId);
    const before = await send(call, args, { before: first, bodyOf, stored, ignored });
    const { args: sent } = leftToProject(call.withValues(args), before, { what, stored, changes });
    const did = overwrittenBy(sent, new Set(Object.keys(omitUndefined({ ...args }))), { before, stored, changes });
    const note = overwriteNote(`EmailServer ${projectId}`, did);
    if (note !== undefined) call.note(note);
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
 * What an update sends, which replaces the whole configuration: the arguments, with what the service has where
 * `ignoreChanges` says so. It is not permitted where the service does not show that. The shared server has nothing that
 * could be lost, and an unfinished creation goes on with what it had sent.
 */
function leftToProject<Args extends Partial<EmailServerArguments>>(
  args: Args,
  server: EmailServerRecord,
  {
    what,
    stored,
    changes: { ignored },
  }: {
    readonly what: string;
    readonly stored: Stored<EmailServerArguments, EmailServerOuts>;
    readonly changes: Changes<EmailServerArguments>;
  },
): { readonly args: Args; readonly permission: Permission } {
  const { args: merged, hidden } = leftToService(declaration.args, args, {
    shown: toArguments(stored.id, server),
    ignored,
  });
  const isFree = server.type === "shared" || stored.unfinished === "create";
  return { args: isFree ? { ...args, ...merged } : merged, permission: mayOverwrite(what, isFree ? [] : hidden) };
}

/** What an update overwrites in the configuration `before` it. */
function overwrittenBy(
  sent: Partial<EmailServerArguments>,
  givenNames: ReadonlySet<string>,
  {
    before,
    stored,
    changes: { changed },
  }: {
    readonly before: EmailServerRecord;
    readonly stored: Stored<EmailServerArguments, EmailServerOuts>;
    readonly changes: Changes<EmailServerArguments>;
  },
): Overwritten {
  return overwritten(declaration.args, {
    // The shared server has no more than its type.
    sent: before.type === "shared" ? { type: sent.type } : sent,
    unset: SMTP_ARGUMENTS.filter((name) => !givenNames.has(name)),
    // One of its own requires all of them; the password may be masked, or missing in the response.
    present: before.type === "standard" ? SMTP_ARGUMENTS : [],
    changed,
    stored: stored.outs,
    shown: toArguments(stored.id, before),
  });
}

/** @throws if what the service has for an argument in `ignoreChanges` does not go with the others. */
function requestOf(call: ChildCall<EmailServerOuts>, args: EmailServerArguments): EmailServerRequest {
  const [problem] = rules(args, new Set(Object.keys(omitUndefined({ ...args }))));
  if (problem !== undefined)
    throw new Error(
      `"type" is in ignoreChanges, and the service has "${args.type}" there: "${problem.path}" ${problem.reason}. Nothing was sent. Remove "type" from ignoreChanges`,
    );
  const { projectId: _project, senderEmail, senderName, password, ...rest } = args;
  return omitUndefined({
    ...rest,
    password: password === undefined ? undefined : call.resolve(password),
    sender_email: senderEmail,
    sender_name: senderName,
  });
}

interface Sending {
  /** The configuration that was read before. */
  readonly before: EmailServerRecord;
  /** The request, from the configuration that is read right before it. @throws if it must not be sent */
  readonly bodyOf: (before: EmailServerRecord) => EmailServerRequest;
  /** For an update: its password is the one that is known to be applied. */
  readonly stored?: Stored<EmailServerArguments, EmailServerOuts>;
  /** The paths of `ignoreChanges`. @default none */
  readonly ignored?: readonly string[];
}

/** Sends the whole configuration: a standard one requires all of it. Returns the one that it has replaced. */
async function send(
  call: ChildCall<EmailServerOuts>,
  args: EmailServerArguments,
  { before: first, bodyOf, stored, ignored = [] }: Sending,
): Promise<EmailServerRecord> {
  const { projectId } = args;
  let before = first;
  let body = bodyOf(before);
  const argumentsOf = (server: EmailServerRecord) => toArguments(projectId, server);
  const sent = isIgnored(ignored, "password") ? args : { ...args, password: body.password };
  const expected: Expected<EmailServerRecord> = {
    ...expectedOf(declaration.args, {
      sent,
      stored,
      ignored,
      argumentsOf,
      // A password cannot be read back: the state keeps the one known to be applied.
      checkpoint: (shown) => call.checkpoint(projectId, {}, { ...shown, password: stored?.outs.password }),
    }),
    // If a response shows neither this nor the previous configuration, a list proves nothing: it does not show the
    // password.
    mayBeOld(server) {
      const { password: _unread, ...earlier } = argumentsOf(before);
      return unconfirmed(declaration.args, { sent: earlier, shown: argumentsOf(server), proof: true }).length === 0;
    },
  };
  const beforeAttempt = async (): Promise<void> => {
    before = await current(call, projectId);
    body = bodyOf(before);
  };
  // What is sent back has to be what the service has when the request leaves.
  const reading = ignored.length === 0 ? {} : { beforeAttempt, currentBody: () => body };
  // The service replaces the configuration as a whole.
  call.sending(Object.keys(args).filter((name) => name !== "projectId" && !isIgnored(ignored, name)));
  await call.client.auth.emailServers(projectId).update({ body, expected }, { ...call, ...reading });
  return before;
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

/** The existing own server, unless it is certainly what is given. */
function otherServer(
  args: Partial<EmailServerArguments> & Pick<EmailServerArguments, "projectId">,
  before: EmailServerRecord,
): string | undefined {
  if (before.type === "shared") return undefined;
  const found = toArguments(args.projectId, before);
  const unset = Object.fromEntries(["type", ...SMTP_ARGUMENTS].map((name) => [name, ""]));
  const differing = unconfirmed(declaration.args, { sent: { ...unset, ...args }, shown: found });
  const masked = SMTP_ARGUMENTS.filter((name) => !Object.hasOwn(found, name) && !differing.includes(name));
  const there = `server was configured there${found.host === undefined ? "" : ` (${found.host})`}`;
  const isNotShown = `the service does not show its ${quoted(masked)}`;
  if (differing.length > 0)
    return `another ${there}, different in ${quoted(differing)}${masked.length > 0 ? `; ${isNotShown}` : ""}`;
  return masked.length > 0 ? `a ${there}, and ${isNotShown}` : undefined;
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");
