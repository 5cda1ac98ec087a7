import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { AcceptedKey } from "../../../src/emulator/http/access";
import { Authority } from "../../../src/emulator/postgres/authority";
import { authenticatePlainly } from "../../../src/emulator/postgres/plainPassword";
import { parseStartup, SessionError } from "../../../src/emulator/postgres/protocol";
import { Input, readFirstMessage, type FirstMessage } from "../../../src/emulator/postgres/startup";
import { computeNamed, targetOf, type GateTarget } from "../../../src/emulator/postgres/target";

const int32 = (value: number): Buffer => {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value | 0);
  return buffer;
};
const packet = (...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([int32(body.length + 4), body]);
};
const words = (...texts: readonly string[]): Buffer => Buffer.from(texts.map((text) => `${text}\0`).join(""));
const VERSION = int32(3 << 16);
const NEWER = int32((3 << 16) + 2);
const SSL = packet(int32(80_877_103));
const startup = packet(VERSION, words("user", "me", ""));
const GSS = packet(int32(80_877_104));

/** How it is refused. */
const codeOf = (action: () => unknown): string => {
  try {
    action();
    return "none";
  } catch (error) {
    if (error instanceof SessionError) return error.code;
    throw error;
  }
};

describe("the body of a startup message", () => {
  test("holds parameters by name", () => {
    const { parameters, unknownOptions } = parseStartup(
      Buffer.concat([VERSION, words("user", "me", "options", "", "database", "größe", "")]),
    );
    expect([...parameters]).toEqual([
      ["user", "me"],
      ["options", ""],
      ["database", "größe"],
    ]);
    expect(unknownOptions).toBeUndefined();
  });

  test("of a newer client names what is to be negotiated", () => {
    const startup = parseStartup(Buffer.concat([NEWER, words("user", "me", "_pq_.future", "on", "")]));
    expect(startup.unknownOptions).toEqual(["_pq_.future"]);
    expect([...startup.parameters.keys()]).toEqual(["user"]);
    expect(parseStartup(Buffer.concat([NEWER, words("user", "me", "")])).unknownOptions).toEqual([]);
  });

  test("of another protocol, or without its end, is refused", () => {
    expect(codeOf(() => parseStartup(Buffer.concat([int32(2 << 16), words("user", "me", "")])))).toBe("0A000");
    for (const body of [words("user", "me"), words("user", ""), words("user"), Buffer.from("user"), Buffer.alloc(0)]) {
      const code = codeOf(() => parseStartup(Buffer.concat([VERSION, body])));
      expect([body.toString(), code]).toEqual([body.toString(), "08P01"]);
    }
  });

  test("whatever it is, it is understood or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, isVersioned) => {
        const body = Buffer.concat([isVersioned ? VERSION : Buffer.alloc(4), bytes]);
        expect(["none", "08P01", "0A000"]).toContain(codeOf(() => parseStartup(body)));
      }),
    );
  });
});

describe("the compute that a client asks for", () => {
  const target = (parameters: Record<string, string>, byHost?: string): GateTarget =>
    targetOf(new Map(Object.entries({ user: "me", ...parameters })), byHost);

  test("is taken out of the options, and the others stay as they were written", () => {
    expect(target({ options: "endpoint=ep-a" })).toEqual({
      name: "ep-a",
      user: "me",
      database: "me",
      startup: {},
    });
    const options = "-c search_path=a\\ b,c  endpoint=ep-a\t--work_mem=4MB";
    expect(target({ options, database: "app", application_name: "x" })).toEqual({
      name: "ep-a",
      user: "me",
      database: "app",
      startup: { application_name: "x", options: "-c search_path=a\\ b,c --work_mem=4MB" },
    });
  });

  test("may be that of the host name, and is still open without either", () => {
    expect(target({}, "ep-a").name).toBe("ep-a");
    expect(target({ options: "endpoint=ep-a" }, "ep-a").name).toBe("ep-a");
    expect(target({}).name).toBeUndefined();
    expect(target({ options: "endpoint=" }).name).toBeUndefined();
  });

  test("is one, and the hint shows how to give it", () => {
    const several = expect.objectContaining({
      code: "08004",
      message: "the connection names several computes: ep-a, ep-b",
      hint: expect.stringContaining("options=endpoint%3D"),
    });
    expect(() => target({ options: "endpoint=ep-a endpoint=ep-b" })).toThrow(several);
    expect(() => target({ options: "endpoint=ep-b" }, "ep-a")).toThrow(several);
  });

  test("may be named by its pooler", () => {
    expect(computeNamed("ep-a-pooler")).toEqual({ endpointId: "ep-a", isPooled: true });
    expect(computeNamed("ep-a")).toEqual({ endpointId: "ep-a", isPooled: false });
  });

  test("is not replicated from, and somebody asks for it", () => {
    expect(codeOf(() => target({ options: "endpoint=ep-a", replication: "database" }))).toBe("0A000");
    expect(codeOf(() => target({ options: "endpoint=ep-a", replication: "off" }))).toBe("none");
    expect(codeOf(() => target({ options: "endpoint=ep-a", user: "" }))).toBe("28000");
  });
});

describe("the first bytes of a client", () => {
  let server: Server;
  let client: Socket;
  const folder = mkdtempSync(join(tmpdir(), "svc-authority-"));
  const authority = new Authority(folder, "127.0.0.1");
  afterAll(() => rmSync(folder, { recursive: true }));
  let arrived: Socket;

  beforeEach(async () => {
    server = createServer();
    const connection = once(server, "connection");
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    client = createConnection((server.address() as AddressInfo).port, "127.0.0.1").setNoDelay(true);
    await once(client, "connect");
    [arrived] = (await connection) as [Socket];
  });
  afterEach(() => {
    client.destroy();
    arrived.destroy();
    server.close();
  });

  /** What is understood, or how it is refused. */
  async function read(...sent: readonly Buffer[]): Promise<FirstMessage | string> {
    const stop = new AbortController();
    arrived.once("close", () => stop.abort());
    arrived.on("error", () => undefined);
    const understood = readFirstMessage(new Input(arrived, stop.signal), (socket) =>
      authority.encrypt(socket, () => false),
    ).catch((error: unknown) => (error instanceof SessionError ? error.code : "gone"));
    for (const bytes of sent) {
      client.write(bytes);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return understood;
  }
  test("may ask for encryption by GSS, which is declined, and then for a session", async () => {
    const answers: Buffer[] = [];
    client.on("data", (chunk: Buffer) => answers.push(chunk));
    expect(await read(GSS, startup)).toMatchObject({ kind: "startup" });
    arrived.end();
    await once(client, "close");
    expect(Buffer.concat(answers).toString()).toBe("N");
  });

  test("may come one by one, and with more behind them, which is left", async () => {
    const bytes = Buffer.concat([startup, Buffer.from("more")]);
    expect(await read(...[...bytes].map((byte) => Buffer.from([byte])))).toMatchObject({ kind: "startup" });
    while (arrived.readableLength < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(String(arrived.read(4))).toBe("more");
  });

  test("may ask for a cancellation, which is never a session", async () => {
    expect(await read(packet(int32(80_877_102), int32(7), int32(-9)))).toEqual({
      kind: "cancel",
      processId: 7,
      secretKey: -9,
    });
  });

  test.each([
    ["announce more than 10 kB", int32(10_001)],
    ["announce less than a version", int32(7)],
    ["are of HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    ["ask for TLS and send more at once", Buffer.concat([SSL, startup])],
  ])("are refused where they %s", async (_words, bytes) => {
    expect(await read(bytes)).toBe("08P01");
  });

  test("end with a client that goes", async () => {
    const understood = read(startup.subarray(0, 6));
    client.end();
    expect(await understood).toBe("gone");
  });

  test.each([
    ["encryption is asked for without end", [GSS, GSS, GSS, GSS]],
    ["TLS is none", [Buffer.from([0x16, 3, 1, 0, 4, 1, 0, 0, 0])]],
  ])("end where %s", async (_words, bytes) => {
    expect(await read(...bytes)).toBe("gone");
  });

  test("end where a session begins in clear after TLS was agreed on", async () => {
    client.once("data", () => client.write(startup));
    expect(await read(SSL)).toBe("gone");
  });

  test("are not asked for a password in clear where others could read it", async () => {
    Object.defineProperty(arrived, "remoteAddress", { value: "192.0.2.7" });
    const input = new Input(arrived, new AbortController().signal);
    await expect(authenticatePlainly(input, "me", new AcceptedKey("key"))).rejects.toThrow(
      expect.objectContaining({ code: "08004", hint: expect.stringContaining("with TLS") }),
    );
    expect(arrived.bytesWritten).toBe(0);
  });
});
