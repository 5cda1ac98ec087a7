import type { AxiosInstance, AxiosProxyConfig, AxiosResponse, AxiosStatic } from "axios";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Readable } from "node:stream";
import { hostAndPort } from "../../contract/hostAndPort";
import { type Proxy, type Route, routeTo } from "../../contract/proxy";
import type { ObservedExchange } from "../clientOptions";
import type { ApiKey } from "./apiKey";
import { ConnectionError, type ErrorFacts, inSeconds, ProxyError, TimeoutError } from "./errors";
import { TunnelAgent, tunnelErrorIn } from "./tunnel";

const BODY_LIMIT_BYTES = 10 * 1024 * 1024;

/** The reason of a ConnectionError for a response that exceeds the size limit. */
export const TOO_LONG = "ETOOLONG";

export interface Attempt {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path template, such as /projects/{project_id}/endpoints. */
  template: string;
  readonly body?: unknown;
  /** The path as sent, with its values encoded. */
  path: string;
  timeoutMs: number;
  /** False: sending it twice does harm, so it gets its own connection. */
  repeatable: boolean;
}

export interface RawResponse {
  status: number;
  text: string;
  contentType: string;
  retryAfter: string | undefined;
  /** Where a redirect points to. */
  location: string | undefined;
  /** The service's time, from its response. */
  date: string | undefined;
  requestId: string | undefined;
}

/** Codes of failures to reach the host: no byte of the request has been sent. */
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EHOSTUNREACH", "ENETUNREACH"]);
/** For a port without TLS, and for TLS that breaks later. */
export const NO_TLS = "EPROTO";
/** The certificate was refused before anything was sent, and a repetition does not help. */
const CERTIFICATE = /^(CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;
/** The reasons of a ProxyError that a repetition does not change. */
const [UNUSABLE_PROXY, REFUSING_PROXY] = ["EPROXYVARIABLE", "EPROXYREFUSES"];

/** Whether nothing was sent, and a repetition does not help. */
export function isHopeless(reason: string): boolean {
  return CERTIFICATE.test(reason) || reason === UNUSABLE_PROXY || reason === REFUSING_PROXY;
}

/** What to do if the service cannot be reached, by the reason of the ConnectionError. No full stop: more may follow. */
function connectionAdvice(reason: string, hostname: string): string | undefined {
  if (reason === "ENOTFOUND" || reason === "EAI_AGAIN")
    return `DNS does not resolve ${hostname}: check svc:baseUrl (or SVC_BASE_URL) and the network`;
  if (reason === "ECONNREFUSED") return "Nothing listens there: check the port of the base URL, or start the emulator";
  if (reason === NO_TLS)
    return "The server does not speak TLS on that port: check whether the base URL begins with http:// or https://";
  if (CERTIFICATE.test(reason)) return "If a proxy intercepts TLS, set NODE_EXTRA_CA_CERTS to its CA certificate";
  return undefined;
}

class TooLongError extends Error {}

async function textOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT_BYTES) throw new TooLongError();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function headerOf(response: AxiosResponse, name: string): string | undefined {
  const value: unknown = response.headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function fieldOf(error: unknown, name: "code" | "syscall"): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === "string" ? value : fieldOf(Reflect.get(error, "cause"), name);
}

/** A plan without a refresh sends nothing, and loading axios would take 70 ms. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would load it with this file
const loadAxios = () => require("axios") as AxiosStatic;

interface Agents {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
}

/** @param target host and port of the service */
const agentsFor = (route: Route, target: string, keepAlive: boolean): Agents => ({
  httpAgent: new HttpAgent({ keepAlive }),
  httpsAgent:
    route.through === "proxy" ? new TunnelAgent(route.proxy, target, { keepAlive }) : new HttpsAgent({ keepAlive }),
});

/** For a service with http://, whose requests a proxy forwards. */
const forwarding = ({ isSecure, host, port, credentials }: Proxy): AxiosProxyConfig => ({
  protocol: isSecure ? "https:" : "http:",
  host,
  port,
  ...(credentials && { auth: credentials }),
});

/** Sends one attempt over HTTP. Nothing of axios leaves it: its errors contain the key and the body. */
export class Transport {
  readonly #connect: () => AxiosInstance;
  #connected: AxiosInstance | undefined;
  /** Host and port, for messages. */
  readonly where: string;
  readonly #hostname: string;
  readonly #route: Route;
  readonly #shared: Agents;
  // If the service closed a reused connection at that moment, the fate of a request would be unknown for no good
  // reason.
  readonly #own: Agents;

  /**
   * How far the service's clock is ahead of performance.now, rounded down to whole seconds, from the latest response
   * with a date. The maximum of a run would be at most a second more precise, and one wrong clock would count until its
   * end.
   */
  #aheadMs = Number.NaN;

  constructor(
    baseUrl: string,
    private readonly key: ApiKey,
    private readonly observe?: ((exchange: ObservedExchange) => void) | undefined,
  ) {
    const { hostname } = new URL(baseUrl);
    this.where = hostAndPort(baseUrl);
    this.#hostname = hostname;
    const route = (this.#route = routeTo(baseUrl));
    this.#shared = agentsFor(route, this.where, true);
    this.#own = agentsFor(route, this.where, false);
    this.#connect = () =>
      loadAxios().create({
        adapter: "http",
        baseURL: baseUrl,
        headers: { Accept: "application/json", "User-Agent": "pulumi-svc" },
        maxRedirects: 0,
        // Else axios would read the environment, too. A tunnel is the agent's.
        proxy: route.through === "proxy" && baseUrl.startsWith("http:") ? forwarding(route.proxy) : false,
        maxBodyLength: BODY_LIMIT_BYTES,
        responseType: "stream",
        transformResponse: [(data: unknown) => data],
        validateStatus: () => true,
      });
  }

  /** The service's time, or up to a second before it; NaN if no response had a date. */
  serviceNow(): number {
    return this.#aheadMs + performance.now();
  }

  async send(attempt: Attempt): Promise<RawResponse> {
    if (this.#route.through === "unusable") {
      const { problem, variable } = this.#route;
      const facts = { method: attempt.method, path: attempt.template, reason: UNUSABLE_PROXY };
      throw this.#proxyFailure(`nothing was sent to ${this.where}, because ${problem}`, facts, variable);
    }
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), attempt.timeoutMs);
    timer.unref();
    const sentAt = performance.now();
    try {
      const response = await (this.#connected ??= this.#connect()).request<Readable>({
        method: attempt.method,
        url: attempt.path,
        headers: {
          ...this.key.headers(),
          ...(attempt.body === undefined ? {} : { "Content-Type": "application/json" }),
        },
        ...(attempt.body === undefined ? {} : { data: JSON.stringify(attempt.body) }),
        ...(attempt.repeatable ? this.#shared : this.#own),
        signal: abort.signal,
      });
      const date = Date.parse(headerOf(response, "date") ?? "");
      if (!Number.isNaN(date)) this.#aheadMs = date - performance.now();
      const raw: RawResponse = {
        status: response.status,
        text: await textOf(response.data),
        contentType: headerOf(response, "content-type") ?? "",
        retryAfter: headerOf(response, "retry-after"),
        location: headerOf(response, "location"),
        date: headerOf(response, "date"),
        requestId: headerOf(response, "x-request-id"),
      };
      const { method, template, path, body: sent } = attempt;
      this.observe?.({ ...raw, method, template, path, sent, sentAt, answeredAt: performance.now() });
      return raw;
    } catch (error) {
      throw this.#plain(error, attempt, abort.signal.aborted);
    } finally {
      clearTimeout(timer);
    }
  }

  #plain(error: unknown, { method, template: path, timeoutMs }: Attempt, timedOut: boolean): Error {
    const facts = { method, path };
    if (timedOut) return new TimeoutError(`no complete response within ${inSeconds(timeoutMs)}`, facts);
    if (error instanceof TooLongError)
      return new ConnectionError("the response is longer than 10 MB", { ...facts, reason: TOO_LONG });
    const code = fieldOf(error, "code") ?? "unknown reason";
    // OpenSSL's code in some versions of Node and states of a connection, such as ERR_SSL_WRONG_VERSION_NUMBER.
    const reason = code.startsWith("ERR_SSL_") ? NO_TLS : code;
    const failed = (what: string, beforeSending: boolean): Error =>
      new ConnectionError(
        `${what}: ${reason}`,
        { ...facts, reason, beforeSending },
        connectionAdvice(reason, this.#hostname),
      );
    const neverConnected = reason === "ETIMEDOUT" && fieldOf(error, "syscall") === "connect";
    const isNotSent = NOT_SENT.has(reason) || neverConnected;
    const tunnel = tunnelErrorIn(error);
    if (this.#route.through === "proxy" && (tunnel !== undefined || isNotSent)) {
      const { where, variable } = this.#route.proxy;
      const proxy = `the proxy at ${where} (from ${variable})`;
      const status = tunnel?.status;
      if (status === undefined)
        return this.#proxyFailure(`${proxy} cannot be reached: ${reason}`, { ...facts, reason }, variable);
      const why = status === 407 ? ", because it requires a user name and a password" : "";
      const what = `${proxy} does not connect to ${this.where}: it answers ${status}${why}`;
      return this.#proxyFailure(what, { ...facts, reason: status < 500 ? REFUSING_PROXY : reason }, variable);
    }
    if (CERTIFICATE.test(reason)) return failed(`the certificate of ${this.where} was refused`, true);
    if (isNotSent) return failed(`the service cannot be reached at ${this.where}`, true);
    return failed(`the connection to ${this.where} failed`, false);
  }

  #proxyFailure(what: string, facts: ErrorFacts & { reason: string }, variable: string): Error {
    const advice = `Correct ${variable}, or except ${this.#hostname} from it with NO_PROXY`;
    return new ProxyError(what, { ...facts, beforeSending: true }, advice);
  }
}
