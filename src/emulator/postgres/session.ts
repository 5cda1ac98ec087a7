/** A session on the socket of a cluster: a client's, whose bytes are passed on, or one of the emulator itself. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { errorOf, queryMessage, SessionError, startupMessage } from "./protocol";
import { Input, readMessage } from "./startup";

/** Longer than any statement of the emulator takes, even on a slow disk. */
const PATIENCE_MS = 60_000;

/** A session after its start. The socket is paused: attach listeners, then call `resume()`. */
export interface ServerSession {
  readonly socket: Socket;
  readonly processId: number;
  /** The parameters that the server reported at the start (`server_version`, `client_encoding`…). */
  readonly parameters: ReadonlyMap<string, string>;
}

type Row = readonly (string | undefined)[];
/** One or more statements, in one transaction. All values are texts. */
export type Query = (text: string) => Promise<Row[]>;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** With E, so that a backslash is independent of standard_conforming_strings. */
export const literal = (text: string): string => `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;

/** @throws SessionError with the words of the server */
export async function openSession(path: string, startup: Readonly<Record<string, string>>): Promise<ServerSession> {
  const { session, input } = await begin(path, startup);
  input.release();
  return session;
}

/** @throws SessionError */
export async function within<T>(
  path: string,
  { user, database }: { user: string; database: string },
  work: (query: Query) => Promise<T>,
): Promise<T> {
  const { session, input } = await begin(path, {
    ...{ user, database, application_name: "pulumi-svc emulator" },
    // A database and its settings belong to clients. With their search_path, a statement would call their functions.
    ...{ search_path: "pg_catalog", role: "none", default_transaction_read_only: "off" },
    statement_timeout: String(PATIENCE_MS),
  });
  try {
    return await work(async (text) => {
      session.socket.write(queryMessage(text));
      return readAnswer(input);
    });
  } finally {
    session.socket.destroy();
  }
}

/**
 * Cancels the query of a session (SIGINT), or ends it (SIGTERM), as pg_cancel_backend and pg_terminate_backend do:
 * closing its socket leaves a query running. The server's error arrives on the socket.
 */
export function signal({ socket, processId }: ServerSession, kind: "SIGINT" | "SIGTERM"): void {
  try {
    if (!socket.destroyed) process.kill(processId, kind);
  } catch {
    // It has just ended.
  }
}

async function begin(
  path: string,
  startup: Readonly<Record<string, string>>,
): Promise<{ session: ServerSession; input: Input }> {
  const socket = connect(path);
  const closed = new AbortController();
  const lost = (): void => closed.abort(new SessionError("08006", "the connection to the compute's Postgres was lost"));
  socket.once("close", lost).on("error", lost);
  const input = new Input(socket, closed.signal);
  const parameters = new Map<string, string>();
  let processId = 0;
  try {
    if (socket.connecting) await once(socket, "connect", { signal: closed.signal });
    socket.write(startupMessage(startup));
    for (;;) {
      const { type, body } = await readMessage(input);
      if (type === "E") throw errorOf(body);
      if (type === "Z") return { session: { socket, processId, parameters }, input };
      if (type === "K") processId = body.readInt32BE(0);
      if (type === "S") {
        const [name = "", value = ""] = body.toString("utf8").split("\0");
        parameters.set(name, value);
      }
    }
  } catch (error) {
    socket.destroy();
    throw closed.signal.aborted ? closed.signal.reason : error;
  }
}

async function readAnswer(input: Input): Promise<Row[]> {
  const rows: Row[] = [];
  let failure: SessionError | undefined;
  for (;;) {
    const { type, body } = await readMessage(input);
    if (type === "D") rows.push(valuesOf(body));
    if (type === "E") failure ??= errorOf(body);
    if (type !== "Z") continue;
    if (failure !== undefined) throw failure;
    return rows;
  }
}

/** Of a DataRow: each value with its length before it; -1 is NULL. */
function valuesOf(body: Buffer): Row {
  let at = 2;
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const length = body.readInt32BE(at);
    at += 4;
    if (length < 0) return undefined;
    at += length;
    return body.toString("utf8", at - length, at);
  });
}
