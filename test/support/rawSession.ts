import type { ServerSession } from "../../src/emulator/postgres/upstream";

/** The server's response to a simple query. */
export interface RawAnswer {
  rows: string[][];
  /** The SQLSTATE and message of a refusal. */
  error?: { code: string; message: string };
}

/** Sends a simple query on a session's raw socket: protocol 3.0, without a library. */
export function ask({ socket }: ServerSession, sql: string): Promise<RawAnswer> {
  const answer: RawAnswer = { rows: [] };
  let bytes = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const finish = (how: () => void): void => {
      socket.off("data", read).off("close", onClose).pause();
      how();
    };
    const onClose = (): void => finish(() => (answer.error ? resolve(answer) : reject(new Error("the session ended"))));
    const read = (data: Buffer): void => {
      bytes = Buffer.concat([bytes, data]);
      while (bytes.length >= 5 && bytes.length > bytes.readInt32BE(1)) {
        const body = bytes.subarray(5, 1 + bytes.readInt32BE(1));
        const type = String.fromCharCode(bytes[0] ?? 0);
        bytes = bytes.subarray(5 + body.length);
        if (type === "D") answer.rows.push(values(body));
        if (type === "E") answer.error = fields(body);
        // The server waits for the data of a COPY: this message reports a failure.
        if (type === "G") socket.write(Buffer.concat([Buffer.from("f"), int(5), Buffer.from("\0")]));
        if (type === "Z") finish(() => resolve(answer));
      }
    };
    socket.on("data", read).on("close", onClose).resume();
    const text = Buffer.from(`${sql}\0`);
    socket.write(Buffer.concat([Buffer.from("Q"), int(text.length + 4), text]));
  });
}

/** The first value of the first row. */
export async function valueOf(session: ServerSession, sql: string): Promise<string | undefined> {
  const { rows, error } = await ask(session, sql);
  if (error !== undefined) throw new Error(error.message);
  return rows[0]?.[0];
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function values(body: Buffer): string[] {
  const row: string[] = [];
  let at = 2;
  for (let left = body.readInt16BE(0); left > 0; left--) {
    const length = Math.max(0, body.readInt32BE(at));
    row.push(body.toString("utf8", at + 4, at + 4 + length));
    at += 4 + length;
  }
  return row;
}

function fields(body: Buffer): { code: string; message: string } {
  const parts = body.toString("utf8").split("\0");
  const field = (letter: string): string => parts.find((part) => part.startsWith(letter))?.slice(1) ?? "";
  return { code: field("C"), message: field("M") };
}
