import { request as httpRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import type { Proxy } from "../../contract/proxy";

/** How long a proxy may take to answer. Until then nothing was sent to the service. */
const PROXY_ANSWERS_MS = 10_000;

/** The proxy did not open a connection: nothing was sent to the service. `status`: its answer, if there was one. */
class TunnelError extends Error {
  constructor(
    readonly code: string,
    readonly status?: number,
  ) {
    super(code);
  }
}

/** The failure of a proxy in an error of axios, which holds what the agent said as its cause. */
export function tunnelErrorIn(error: unknown): TunnelError | undefined {
  if (!(error instanceof Error)) return undefined;
  return error instanceof TunnelError ? error : tunnelErrorIn(error.cause);
}

/**
 * The connections to a service with https:// through a proxy (CONNECT). The agent of axios makes a new connection for
 * each request, passes an answer of the proxy on as one of the service, and names an IPv6 address without its brackets.
 */
export class TunnelAgent extends Agent {
  readonly #proxy: Proxy;
  readonly #target: string;

  /** @param target host and port of the service */
  constructor(proxy: Proxy, target: string, options: { readonly keepAlive: boolean }) {
    super(options);
    this.#proxy = proxy;
    this.#target = target;
  }

  override createConnection(
    options: Parameters<Agent["createConnection"]>[0],
    onCreated: (error: Error | null, stream: Duplex) => void = () => undefined,
  ): undefined {
    const [proxy, target] = [this.#proxy, this.#target];
    // With an error nobody looks at the stream.
    const fail = (error: TunnelError): void => (onCreated as (error: Error) => void)(error);
    const { username = "", password = "" } = proxy.credentials ?? {};
    const login = Buffer.from(`${username}:${password}`, "utf8").toString("base64");
    const connecting = (proxy.isSecure ? httpsRequest : httpRequest)({
      method: "CONNECT",
      host: proxy.host,
      port: proxy.port,
      path: target,
      agent: false,
      headers: { host: target, ...(proxy.credentials && { "proxy-authorization": `Basic ${login}` }) },
      timeout: PROXY_ANSWERS_MS,
    });
    connecting.once("timeout", () => connecting.destroy(Object.assign(new Error(), { code: "ETIMEDOUT" })));
    connecting.once("error", ({ code }: NodeJS.ErrnoException) => fail(new TunnelError(code ?? "unknown reason")));
    connecting.once("connect", ({ statusCode = 0 }, socket: Duplex) => {
      connecting.setTimeout(0);
      if (statusCode >= 200 && statusCode < 300) {
        const secured = super.createConnection({ ...options, socket } as typeof options);
        if (secured) onCreated(null, secured);
        return;
      }
      socket.destroy();
      fail(new TunnelError("EPROXY", statusCode));
    });
    connecting.end();
    return undefined;
  }
}
