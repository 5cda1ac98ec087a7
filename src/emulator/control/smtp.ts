import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type nodemailer from "nodemailer";
import { isThisMachine } from "../http/access";
import { HttpError } from "../http/errorResponses";
import type { StoredEmailServer } from "../model/records";
import { optionalPackage } from "../optionalPackage";

export type SmtpSettings = Extract<StoredEmailServer, { type: "standard" }>;

export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Port 465 uses TLS from the start; on other ports the server may offer STARTTLS (RFC 8314). */
const TLS_PORT = 465;
const DEADLINE_MS = 10_000;

/** Before the @. A domain has a form in ASCII, and so have the headers. */
const NEEDS_UTF8 = /[^\0-\x7f].*@/u;
const WITHOUT_UTF8 = /^MAIL FROM:<[^>]*>(?!.* SMTPUTF8\b)/;

/** The reason why a message was not sent, for the response. */
class SmtpFailure extends Error {}

/**
 * Sends a message with exactly these settings. Returns whether the server asked for the user name and the password: if
 * it did not, wrong ones remain undetected.
 * @throws an HttpError that names the server and its behaviour. It never contains the password.
 */
export async function sendBySmtp(
  settings: SmtpSettings,
  message: Message,
  { remote, deadlineMs = DEADLINE_MS }: { remote: boolean; deadlineMs?: number },
): Promise<{ authenticated: boolean }> {
  const { createTransport } = optionalPackage(
    "nodemailer",
    "sending a message to an e-mail server",
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- only where it is needed, and also under jest
    () => require("nodemailer") as typeof nodemailer,
  );
  const signal = AbortSignal.timeout(deadlineMs);
  const international = [message.to, settings.sender_email].find((address) => NEEDS_UTF8.test(address));
  let refusal: SmtpFailure | undefined;
  const work = async (): Promise<{ authenticated: boolean }> => {
    const socket = await connected(settings, remote, signal);
    // A loopback address has no trusted certificate, and its traffic stays on this machine.
    const isLocal = isThisMachine(socket.remoteAddress ?? "");
    let authenticated = false;
    const silent = (): void => undefined;
    const transport = createTransport({
      host: settings.host,
      port: settings.port,
      secure: settings.port === TLS_PORT,
      connection: socket,
      auth: { user: settings.username, pass: settings.password },
      tls: { rejectUnauthorized: !isLocal },
      disableFileAccess: true,
      disableUrlAccess: true,
      transactionLog: true,
      logger: {
        ...{ level: silent, trace: silent, warn: silent, error: silent, fatal: silent },
        // nodemailer reports it nowhere else.
        info: (entry: object) => {
          if ("action" in entry && entry.action === "authenticated") authenticated = true;
        },
        // Called before a command is sent. nodemailer sends such an address to any server, which may read another.
        debug: (_entry: object, line: unknown) => {
          if (international === undefined || !WITHOUT_UTF8.test(String(line))) return;
          refusal = new SmtpFailure(`it does not announce SMTPUTF8, which the address ${international} needs`);
          socket.destroy();
        },
      },
    });
    // As objects, so that a text is not parsed as several addresses.
    await transport.sendMail({
      from: { name: settings.sender_name, address: settings.sender_email },
      to: { name: "", address: message.to },
      subject: message.subject,
      text: message.text,
    });
    return { authenticated };
  };
  const late = async (): Promise<never> => {
    await once(signal, "abort");
    throw new SmtpFailure();
  };
  try {
    return await Promise.race([work(), late()]);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    const where = `the e-mail server ${settings.host}:${settings.port}`;
    const reason = signal.aborted ? `no answer within ${deadlineMs / 1000} s` : reasonOf(refusal ?? error, settings);
    throw new HttpError(502, `${where} did not accept the message: ${reason}`);
  }
}

/** Connects to the server. Unless `remote`, the addresses of its name are checked before and after. */
async function connected({ host, port }: SmtpSettings, remote: boolean, signal: AbortSignal): Promise<Socket> {
  const addresses = await lookup(host, { all: true }).catch((error: unknown) => {
    throw new SmtpFailure(`its name does not resolve (${codeOf(error)}). Check the host`);
  });
  signal.throwIfAborted();
  if (!remote && !addresses.every(({ address }) => isThisMachine(address))) throw elsewhere(host);
  const socket = connect({
    ...{ host, port, signal, autoSelectFamily: true },
    lookup: (_host, _options, done) => done(null, addresses),
  });
  // Errors may also come after its use, when the time is up.
  socket.on("error", () => undefined);
  await once(socket, "connect").catch((error: unknown) => {
    const code = codeOf(error);
    const words = code === "ECONNREFUSED" ? "nothing listens there" : "no connection";
    throw new SmtpFailure(`${words} (${code}). Check host and port`);
  });
  if (remote || isThisMachine(socket.remoteAddress ?? "")) return socket;
  socket.destroy();
  throw elsewhere(host);
}

const elsewhere = (host: string): HttpError =>
  new HttpError(
    403,
    `the e-mail server ${host} is not on this machine, and a test could write to real people: nothing was sent. To allow it, start the emulator with --mail-remote`,
  );

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && name in value ? Reflect.get(value, name) : undefined;

/** Node's error code. With several addresses, it is in the first of their errors. */
function codeOf(error: unknown): string {
  const errors = field(error, "errors");
  return String(field(Array.isArray(errors) ? errors[0] : error, "code") ?? "unknown error");
}

/** By nodemailer's error code. Its messages are not used, because they quote the dialogue. */
const REASONS: Readonly<Record<string, string>> = {
  EAUTH: "it refused the user name or the password. Check username and password",
  EENVELOPE: "it refused the sender or the recipient",
  EMESSAGE: "it refused the message",
  ETIMEDOUT: "no answer in time",
  ECONNECTION: "it closed the connection",
  EPROTOCOL: "it does not speak SMTP. Check host and port",
  ETLS: "TLS failed",
  ESOCKET: "the connection failed",
};

function reasonOf(error: unknown, settings: SmtpSettings): string {
  if (error instanceof SmtpFailure) return error.message;
  const code = codeOf(error);
  const reason = REASONS[code] ?? "unknown error";
  const tls =
    code === "ETLS" || code === "ESOCKET"
      ? `. Port ${TLS_PORT} is TLS from the start; on other ports a server may offer STARTTLS`
      : "";
  const response = field(error, "response");
  return `${reason}${tls}${typeof response === "string" ? quoted(response, code, settings) : ""}`;
}

/** The server's reply on one line. For a reply to a login, or one that repeats the password, only its code. */
function quoted(response: string, code: string, { username, password }: SmtpSettings): string {
  const base64 = (text: string): string => Buffer.from(text).toString("base64").replace(/=+$/, "");
  const secrets = [password, base64(password), base64(`\0${username}\0${password}`), base64(`${username}:${password}`)];
  const isQuotable = code !== "EAUTH" && !secrets.some((secret) => response.includes(secret));
  const line = response.replace(/[\s\p{Cc}]+/gu, " ");
  return ` (${isQuotable ? line.slice(0, 200) : line.slice(0, 3)})`;
}
