import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, type ClientOptions } from "../../src/client";

/** A request as it arrived. */
export interface Seen {
  method: string;
  /** Path and query below the API root. */
  path: string;
  /** `METHOD path` */
  line: string;
  body: unknown;
  text: string;
  headers: IncomingMessage["headers"];
  at: number;
}

export interface Reply {
  status?: number;
  json?: unknown;
  text?: string;
  headers?: Record<string, string>;
  delayMs?: number;
  /** `reset`: the connection goes without an answer. `cut`: in the middle of the body. `hang`: no answer ever. */
  fault?: "reset" | "cut" | "hang";
}

export type Script = (request: Seen, nth: number) => Reply | Promise<Reply>;

export interface ScriptedServer {
  baseUrl: string;
  seen: Seen[];
  lines: () => string[];
  count: (line: string) => number;
  connections: () => number;
  close: () => Promise<void>;
}

async function seenOf(request: IncomingMessage, root: string): Promise<Seen> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString("utf8");
  const method = request.method ?? "";
  const path = (request.url ?? "").slice(root.length);
  const body: unknown = text === "" ? undefined : JSON.parse(text);
  return { method, path, line: `${method} ${path}`, body, text, headers: request.headers, at: performance.now() };
}

async function answer(reply: Reply, response: ServerResponse): Promise<void> {
  const {
    status = 200,
    json,
    text = json === undefined ? "" : JSON.stringify(json),
    headers = {},
    delayMs = 0,
  } = reply;
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  if (reply.fault === "hang") return;
  if (reply.fault === "reset") return void response.socket?.resetAndDestroy();
  const type = json === undefined ? {} : { "content-type": "application/json" };
  const cut = reply.fault === "cut";
  response.writeHead(status, { ...type, ...headers, ...(cut ? { "content-length": String(text.length + 10) } : {}) });
  if (!cut) return void response.end(text);
  response.write(text);
  setTimeout(() => response.socket?.destroy(), 20);
}

/** An HTTP server that answers what the script says. `nth` counts the requests of one line, from 1. */
async function startScripted(script: Script): Promise<ScriptedServer> {
  const root = "/api/v2";
  const seen: Seen[] = [];
  let connections = 0;
  const count = (line: string): number => seen.filter((request) => request.line === line).length;
  const server = createServer((request, response) => {
    void (async () => {
      const arrived = await seenOf(request, root);
      seen.push(arrived);
      await answer(await script(arrived, count(arrived.line)), response);
    })().catch((error: unknown) => {
      response.writeHead(599);
      response.end(`the script failed: ${String(error)}`);
    });
  });
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server's address is an object.
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${root}`,
    seen,
    lines: () => seen.map(({ line }) => line),
    count,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const open: { close: () => unknown }[] = [];

/** A server, which `closeAll` closes, and a quick client. */
export async function scripted(
  script: Script,
  options: Partial<ClientOptions> = {},
): Promise<{ server: ScriptedServer; client: Client }> {
  const server = await startScripted(script);
  const client = new Client({
    baseUrl: server.baseUrl,
    apiKey: "test-key",
    baseDelayMs: 5,
    lagMs: 150,
    pollCeilingMs: 50,
    ...options,
  });
  open.push(server);
  return { server, client };
}

export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((item) => item.close()));
}

/** The error that a promise is rejected with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
