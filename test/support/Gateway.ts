import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Json } from "./emulator";

/** The progress of a request: before it reaches the service, or executed there and not yet answered. */
export type Moment = "before" | "after";

export interface Asked {
  readonly method: string;
  /** Below the base URL. */
  readonly path: string;
  readonly sent: string;
}

/**
 * A proxy in front of the service for whole CLI commands. It counts requests, so that something can happen at an exact
 * one. For single requests of a lifecycle see rules/hostile.ts, and for a whole project rules/network.ts.
 */
export class Gateway {
  /** Called at each request, which waits for it. */
  at: (count: number, moment: Moment) => void = () => undefined;
  /** Responds instead of the service if it returns something. */
  instead: (asked: Asked) => Promise<Json | undefined> = () => Promise.resolve(undefined);
  count = 0;
  /** All responses of the service, for secrets that it returns once. */
  answers = "";
  readonly #server: Server;

  private constructor(private readonly target: URL) {
    this.#server = createServer((incoming, outgoing) => {
      this.#pass(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  static async start(target: string): Promise<Gateway> {
    const gateway = new Gateway(new URL(target));
    await new Promise<void>((resolve) => gateway.#server.listen(0, "127.0.0.1", resolve));
    return gateway;
  }

  get baseUrl(): string {
    // A TCP server has an address of this form.
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${this.target.pathname}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const count = ++this.count;
    const sent = await text(incoming);
    this.at(count, "before");
    const { method = "", url: path = "" } = incoming;
    const refusal = await this.instead({ method, path: path.replace(this.target.pathname, ""), sent });
    if (refusal !== undefined) {
      outgoing.writeHead(Number(refusal["status"]), { "content-type": "application/json" });
      return void outgoing.end(JSON.stringify(refusal["body"]));
    }
    // Even if the sender has gone away, its request reaches the service.
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const { method, headers } = incoming;
      const url = new URL(incoming.url ?? "/", this.target);
      const onward = request(url, { method, headers: { ...headers, host: this.target.host } }, resolve);
      onward.on("error", reject).end(sent);
    });
    const body = await text(answer);
    this.answers += body;
    this.at(count, "after");
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(body);
  }
}
