/**
 * A service with scripted responses, for tests of the client: over HTTP (`scripted`) for tests of the wire, or in
 * memory (`inMemory`) for tests of time: with `skippingClock` all waits end at once.
 */
import axios, { type AxiosInstance, type AxiosRequestConfig } from "axios";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { Client, type ClientOptions } from "../../src/client";

/** A received request. */
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
  /** `reset`: closes the connection without a response. `cut`: in the middle of the body. `hang`: never responds. */
  fault?: "reset" | "cut" | "hang";
}

export type Script = (request: Seen, nth: number) => Reply | Promise<Reply>;

/** The requests that a service has received. */
export interface Received {
  baseUrl: string;
  seen: Seen[];
  lines: () => string[];
  count: (line: string) => number;
}

export interface ScriptedServer extends Received {
  connections: () => number;
  close: () => Promise<void>;
}

function received(): Omit<Received, "baseUrl"> {
  const seen: Seen[] = [];
  return {
    seen,
    lines: () => seen.map(({ line }) => line),
    count: (line) => seen.filter((request) => request.line === line).length,
  };
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

/** An HTTP server that responds as scripted. `nth` counts the requests of one line, from 1. */
async function startScripted(script: Script): Promise<ScriptedServer> {
  const root = "/api/v2";
  const requests = received();
  let connections = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const arrived = await seenOf(request, root);
      requests.seen.push(arrived);
      await answer(await script(arrived, requests.count(arrived.line)), response);
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
    ...requests,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const open: { close: () => unknown }[] = [];

/** A server, which `closeAll` closes, and a fast client. */
export async function scripted(
  script: Script,
  options: Partial<ClientOptions> = {},
): Promise<{ server: ScriptedServer; client: Client }> {
  const server = await startScripted(script);
  open.push(server);
  return { server, client: quickClient(server.baseUrl, options) };
}

const quickClient = (baseUrl: string, options: Partial<ClientOptions>): Client =>
  new Client({ baseUrl, apiKey: "test-key", baseDelayMs: 5, lagMs: 150, pollCeilingMs: 50, minuteMs: 200, ...options });

/** The travel time of a request in memory: time passes, as over a network. */
const TRAVEL_MS = 1;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const connectionReset = (): Error => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

/** The same without a network: the whole client runs, down to its transport; only axios is replaced. */
export function inMemory(script: Script, options: Partial<ClientOptions> = {}): { server: Received; client: Client } {
  const baseUrl = `http://service-${services.size}.test:8080/api/v2`;
  const server = { baseUrl, ...received() };
  const respond = async ({ method = "", url: path = "", data, headers = {} }: AxiosRequestConfig<string>) => {
    await pause(TRAVEL_MS);
    const line = `${method} ${path}`;
    const body: unknown = data === undefined ? undefined : JSON.parse(data);
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
    );
    const arrived = { method, path, line, body, text: data ?? "", headers: sent, at: performance.now() };
    server.seen.push(arrived);
    const reply = await script(arrived, server.count(line));
    await pause(TRAVEL_MS + (reply.delayMs ?? 0));
    if (reply.fault === "hang") return new Promise<never>(() => undefined);
    if (reply.fault === "reset") throw connectionReset();
    const { status = 200, json, text = json === undefined ? "" : JSON.stringify(json) } = reply;
    const type = json === undefined ? {} : { "content-type": "application/json" };
    const answer = Readable.from([Buffer.from(text)]);
    return { status, headers: { ...type, ...reply.headers }, data: reply.fault === "cut" ? brokenOff(text) : answer };
  };
  const requestWith = (defaults: object) => (config: AxiosRequestConfig<string>) =>
    new Promise((resolve, reject) => {
      config.signal?.addEventListener?.("abort", () => reject(new Error("canceled")));
      respond({ ...config, headers: { ...defaults, ...config.headers } }).then(resolve, reject);
    });
  services.set(baseUrl, requestWith);
  jest.spyOn(axios, "create").mockImplementation(({ baseURL = "", headers = {} } = {}) => {
    const service = services.get(baseURL);
    if (service === undefined) throw new Error(`no service in memory has the address ${baseURL}`);
    // The transport uses only `request` of an instance.
    return { request: service(headers) } as unknown as AxiosInstance;
  });
  return { server, client: quickClient(baseUrl, options) };
}

/** By base URL: handles a request for an instance with these headers. */
const services = new Map<string, (headers: object) => (config: AxiosRequestConfig<string>) => Promise<unknown>>();

/** A body whose connection closes in the middle. */
const brokenOff = (text: string): Readable =>
  Readable.from(
    (async function* () {
      yield Buffer.from(text);
      await pause(TRAVEL_MS);
      throw connectionReset();
    })(),
  );

export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((item) => item.close()));
}

/** The error of a rejected promise. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
