import { createServer, type AddressInfo, type Socket } from "node:net";

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number): Buffer => Buffer.concat([int16(value >>> 16), int16(value & 0xffff)]);

/** One row of one column. A `t` is a boolean, anything else a text. */
function row(name: string, value: string): Buffer {
  const type = value === "t" ? 16 : 25;
  const column = [Buffer.from(`${name}\0`), int32(0), int16(0), int32(type), int16(1), int32(-1), int16(0)];
  return Buffer.concat([
    message("T", Buffer.concat([int16(1), ...column])),
    message("D", Buffer.concat([int16(1), int32(value.length), Buffer.from(value)])),
    message("C", Buffer.from("SELECT 1\0")),
  ]);
}

const ready = message("Z", Buffer.from("I"));

/** A server that reports an earlier version, and answers only the queries before the check of it. */
export async function oldPostgres(version: number): Promise<{ url: string; stop(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write(Buffer.concat([message("R", int32(0)), ready]));
      socket.on("data", (data) => {
        if (data[0] === "Q".charCodeAt(0)) socket.write(Buffer.concat([row("version", String(version)), ready]));
        if (data[0] === "P".charCodeAt(0)) {
          socket.write(
            Buffer.concat([message("1", Buffer.alloc(0)), message("2", Buffer.alloc(0)), row("locked", "t"), ready]),
          );
        }
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // A listening TCP server has such an address.
  const stop = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `postgres://postgres:secret@127.0.0.1:${port}/postgres`, stop };
}
