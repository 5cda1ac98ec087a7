/**
 * The messages of the PostgreSQL protocol, version 3, that the gate itself reads and writes
 * (https://www.postgresql.org/docs/current/protocol-message-formats.html).
 */

/** Requests that a client may send in place of a version. */
export const REQUESTS = { cancel: 80_877_102, ssl: 80_877_103, gssEncryption: 80_877_104 } as const;

/** Why a session is refused or ends, as an error for the client. */
export class SessionError extends Error {
  constructor(
    /** SQLSTATE. */
    readonly code: string,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
    this.name = "SessionError";
  }
}

/** The length of a message's type and length. */
export const HEAD = 5;

/** An error in the words of the server. */
class ServerError extends SessionError {}

/** The emulator's own errors. Those with other codes imitate Postgres or the service's pooler, in their words. */
const OWN_CODES: ReadonlySet<string> = new Set(["08004", "08006", "57P03", "XX000"]);

/** A string cannot contain its terminating byte. */
export const text = (value: string): Buffer => Buffer.from(`${value.replaceAll("\0", "")}\0`);

function int32(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) buffer.writeInt32BE(value | 0, 4 * index);
  return buffer;
}

function withLength(...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([int32(body.length + 4), body]);
}

export const message = (type: string, ...parts: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from(type), withLength(...parts)]);

/** FATAL: it ends the session. */
export function fatal(error: SessionError): Buffer {
  const { code, message: words, hint } = error;
  // So that nobody looks for the cause in the server.
  const isOwn = OWN_CODES.has(code) && !(error instanceof ServerError);
  const fields = {
    S: "FATAL",
    V: "FATAL",
    C: code,
    M: isOwn ? `svc emulator: ${words}` : words,
    ...(hint !== undefined && { H: hint }),
  };
  return message("E", ...Object.entries(fields).map(([key, value]) => text(key + value)), Buffer.from([0]));
}

const authentication = (kind: number, ...parts: readonly Buffer[]): Buffer => message("R", int32(kind), ...parts);

export const authenticationOk = (): Buffer => authentication(0);
export const cleartextPassword = (): Buffer => authentication(3);
export const saslMechanisms = (...names: readonly string[]): Buffer =>
  authentication(10, ...names.map(text), Buffer.from([0]));
export const saslContinue = (data: string): Buffer => authentication(11, Buffer.from(data));
export const saslFinal = (data: string): Buffer => authentication(12, Buffer.from(data));

export const parameterStatus = (name: string, value: string): Buffer => message("S", text(name), text(value));
export const backendKeyData = (processId: number, secretKey: number): Buffer =>
  message("K", int32(processId, secretKey));
export const readyForQuery = (): Buffer => message("Z", Buffer.from("I"));

export const startupMessage = (parameters: Readonly<Record<string, string>>): Buffer =>
  withLength(int32(VERSION_3), ...Object.entries(parameters).flat().map(text), Buffer.from([0]));
export const queryMessage = (sql: string): Buffer => message("Q", text(sql));

/** A server's ErrorResponse. */
export function errorOf(body: Buffer): SessionError {
  const parts = body.toString("utf8").split("\0");
  const field = (letter: string): string | undefined => parts.find((part) => part.startsWith(letter))?.slice(1);
  return new ServerError(field("C") ?? "XX000", field("M") ?? "", field("H"));
}

/** Offers 3.0 instead of the newer version that the client requested. */
export const negotiateVersion = (unknownOptions: readonly string[]): Buffer =>
  message("v", int32(VERSION_3, unknownOptions.length), ...unknownOptions.map(text));

const VERSION_3 = 3 << 16;

export interface Startup {
  /** Undefined if everything that the client requests is supported. */
  readonly unknownOptions: readonly string[] | undefined;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * The startup message after its length.
 * @throws SessionError
 */
export function parseStartup(body: Buffer): Startup {
  const version = body.readUInt32BE(0);
  if (version >>> 16 !== 3) {
    throw new SessionError(
      "0A000",
      `unsupported frontend protocol ${version >>> 16}.${version & 0xffff}: 3.0 is supported`,
    );
  }
  // Pairs of name and value, then an empty name.
  const words = body.subarray(4).toString("utf8").split("\0");
  const parameters = new Map<string, string>();
  let at = 0;
  for (; words[at] !== undefined && words[at] !== ""; at += 2) {
    const [name, value] = [words[at], words[at + 1]];
    if (name !== undefined && value !== undefined) parameters.set(name, value);
  }
  if (at + 2 !== words.length || words[at + 1] !== "") {
    throw new SessionError("08P01", "invalid startup message: expected a terminator as its last byte");
  }
  const unknownOptions = [...parameters.keys()].filter((name) => name.startsWith("_pq_."));
  for (const name of unknownOptions) parameters.delete(name);
  return {
    unknownOptions: version === VERSION_3 && unknownOptions.length === 0 ? undefined : unknownOptions,
    parameters,
  };
}
