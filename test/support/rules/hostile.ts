import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ClientOptions } from "../../../src/client";
import type { Lifecycle } from "../../../src/runtime/lifecycle";
import type { EmulatorOptions } from "../../../src/emulator";
import { harness, type Harness, type Json } from "../harness";
import { exchange } from "../inProcess";

/** A response on the wire. */
export interface Reply {
  status: number;
  text: string;
  headers?: Record<string, string>;
}

/** A received request. `path` is relative to the API root. */
export interface Arrived {
  method: string;
  path: string;
  body: Json;
}

/** What to do with matching requests instead of forwarding them. */
export interface Rule {
  method?: string;
  /** Relative to the API root; `{name}` matches one segment. */
  path?: string;
  /** Which of the matching requests, counted from 1. @default all */
  nth?: number;
  when?: (request: Arrived) => boolean;
  /** Runs first: for actions of somebody else. */
  before?: (request: Arrived) => unknown;
  /** Changes the body before it reaches the service. */
  rewrite?: (body: Json) => Json;
  /** @default true */
  executed?: boolean;
  /** Runs after the execution (or its omission), before the response. */
  after?: (request: Arrived) => unknown;
  /** `reset` ends the connection. A function receives the real response: a 502 if nothing was executed. */
  answer?: Reply | ((real: Reply) => Reply) | "reset";
}

interface Armed {
  rule: Rule;
  matched: number;
}

/** A proxy between the provider and the emulator. */
export interface Hostile {
  baseUrl: string;
  /** The received requests, in order. */
  arrived: Arrived[];
  /** The first rule that matches a request applies. */
  on(rule: Rule): void;
  /** Forwards everything again. */
  calm(): void;
}

const JSON_TYPE = { "content-type": "application/json" };
const HTML_TYPE = { "content-type": "text/html" };

export const json = (body: unknown, status = 200): Reply => ({
  status,
  text: JSON.stringify(body),
  headers: JSON_TYPE,
});
export const empty = (status = 200): Reply => ({ status, text: "" });
/** As some gateways do. */
export const emptyPage = (status = 200): Reply => ({ status, text: "", headers: HTML_TYPE });
export const page = (status: number): Reply => ({
  status,
  text: "<html><body>sorry</body></html>",
  headers: HTML_TYPE,
});
export const lost: Reply = { status: 502, text: "<html><body>502 Bad Gateway</body></html>", headers: HTML_TYPE };
/** A success status with an error in its body. */
export const errorInside = json({ request_id: "req-1", code: "internal", message: "nothing was executed" });
export const otherShape = json({ ok: true, result: [] });
/** The first half of the real response. */
export const cut = (real: Reply): Reply => ({ ...real, status: 200, text: real.text.slice(0, real.text.length / 2) });
/** The real response with changes. */
export const altered =
  (alter: (body: Json) => Json) =>
  (real: Reply): Reply =>
    // The caller knows the route, and so the shape.
    ({ ...real, text: JSON.stringify(alter(JSON.parse(real.text) as Json)) });

/** The service's own 404, usually with an empty code. */
export const OWN_404: readonly [string, Reply] = [
  "its own 404",
  json({ request_id: "req-2", code: "", message: "not found" }, 404),
];
/** 404 responses of something in front of the service. */
export const FOREIGN_404S: readonly (readonly [string, Reply])[] = [
  ["a 404 in text", { status: 404, text: "default backend - 404", headers: { "content-type": "text/plain" } }],
  ["an empty 404", { status: 404, text: "" }],
  ["a 404 page", page(404)],
  ["a 404 in JSON without a code", json({ message: "no route matched" }, 404)],
  ["a 404 in JSON with a number for a code", json({ code: 404, message: "no Route matched" }, 404)],
];

const running: Server[] = [];

afterEach(async () => {
  await Promise.all(
    running.splice(0).map(
      (server) =>
        new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        }),
    ),
  );
});

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  // A request without an encoding yields buffers.
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function bodyOf(text: string): Json {
  // Only our own client sends requests here.
  return text === "" ? {} : (JSON.parse(text) as Json);
}

const fits = ({ method, path, when }: Rule, request: Arrived): boolean => {
  const pattern = path === undefined ? undefined : new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
  return (
    (method === undefined || method === request.method) &&
    (pattern === undefined || pattern.test(request.path)) &&
    (when === undefined || when(request))
  );
};

/**
 * A proxy in front of an API root, for one lifecycle: rules decide what happens to a request. It forwards requests
 * without a rule, and is closed after the test. Gateway.ts is for the CLI, network.ts for many projects at once.
 */
async function inFrontOf(root: string): Promise<Hostile> {
  const armed: Armed[] = [];
  const arrived: Arrived[] = [];

  const ruleFor = (request: Arrived): Rule | undefined => {
    for (const one of armed) {
      if (!fits(one.rule, request)) continue;
      one.matched += 1;
      if (one.rule.nth === undefined || one.rule.nth === one.matched) return one.rule;
    }
    return undefined;
  };

  const passOn = async (incoming: IncomingMessage, path: string, body: string): Promise<Reply> => {
    const { authorization = "", "content-type": type } = incoming.headers;
    const given = { authorization, ...(type !== undefined && { "content-type": type }) };
    const { status, text, headers } = await exchange(root + path, incoming.method ?? "GET", given, body);
    const kept = ["content-type", "retry-after"].flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return { status, text, headers: Object.fromEntries(kept) };
  };

  const answerTo = async (incoming: IncomingMessage): Promise<Reply | "reset"> => {
    const text = await textOf(incoming);
    const path = (incoming.url ?? "").slice(new URL(root).pathname.length);
    const request = { method: incoming.method ?? "GET", path: path.replace(/\?.*$/, ""), body: bodyOf(text) };
    arrived.push(request);
    const rule = ruleFor(request);
    await rule?.before?.(request);
    const sent = rule?.rewrite === undefined ? text : JSON.stringify(rule.rewrite(request.body));
    const real = rule?.executed === false ? lost : await passOn(incoming, path, sent);
    await rule?.after?.(request);
    const answer = rule?.answer ?? real;
    return typeof answer === "function" ? answer(real) : answer;
  };

  const server = createServer((incoming, outgoing) => {
    answerTo(incoming).then(
      (reply) => {
        if (reply === "reset") return void incoming.socket.resetAndDestroy();
        outgoing.writeHead(reply.status, reply.headers ?? {});
        outgoing.end(reply.text);
      },
      // A failing hook must not look like a response of the service.
      () => incoming.socket.destroy(),
    );
  });
  running.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server has no other kind of address.
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${new URL(root).pathname}`,
    arrived,
    on: (rule) => void armed.push({ rule, matched: 0 }),
    calm: () => void armed.splice(0),
  };
}

/** A harness whose provider reaches the emulator through a hostile network; the test's own requests bypass it. */
export interface Scene {
  given: Harness;
  network: Hostile;
}

/** How long lists may lag according to the provider. Short, since every failure waits for it. */
const LAG_MS = 150;

export async function scene<Args extends object, Outputs extends object>(
  lifecycle: Lifecycle<Args, Outputs>,
  options: EmulatorOptions = {},
  client: Partial<ClientOptions> = {},
): Promise<Scene> {
  let network: Hostile | undefined;
  const given = await harness(lifecycle, options, { lagMs: LAG_MS, ...client }, async ({ baseUrl }) => {
    network = await inFrontOf(baseUrl);
    return network.baseUrl;
  });
  if (network === undefined) throw new Error("the harness did not ask for the address");
  return { given, network };
}
