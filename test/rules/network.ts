import {
  Agent,
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/**
 * What becomes of a request. `lost`: the connection ends without an answer. `done`: after the service has carried it
 * out; else it never gets there.
 */
export type How = "lost" | "lost, done" | "502" | "502, done" | "odd 200" | "text 404";
export const HOWS: readonly How[] = ["lost", "lost, done", "502", "502, done", "odd 200", "text 404"];

/** What happens to the requests of one project while one command runs. */
export interface Weather {
  /** By the number of the request among those of its sort. */
  readonly reads: ReadonlyMap<number, How>;
  readonly changes: ReadonlyMap<number, How>;
  /** Called while a change is on its way, before the service sees it. */
  readonly onChange?: (n: number) => Promise<void>;
}

interface Real {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

interface Seen {
  readonly weather: Weather;
  reads: number;
  changes: number;
}

/** A proxy before the service, for many projects at the same time: each has a weather of its own. */
export class Network {
  readonly #projects = new Map<string, Seen>();
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(
    readonly baseUrl: string,
    readonly server: Server,
  ) {}

  static async before(serviceUrl: string): Promise<Network> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A TCP server has no other kind of address.
    const { port } = server.address() as AddressInfo;
    const { origin, pathname } = new URL(serviceUrl);
    const network = new Network(`http://127.0.0.1:${port}${pathname}`, server);
    server.on("request", (request, response) => {
      network.#pass(origin, request, response).catch(() => request.socket.destroy());
    });
    return network;
  }

  /** From now on; without a weather every request passes. */
  set(projectId: string, weather?: Weather): void {
    if (weather === undefined) this.#projects.delete(projectId);
    else this.#projects.set(projectId, { weather, reads: 0, changes: 0 });
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
    this.#agent.destroy();
  }

  async #pass(origin: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    // Chunks of a request are buffers: no encoding was set.
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = "GET", url = "" } = request;
    const how = await this.#howFor(method, url, body.toString());
    if (how === "lost") return void request.socket.destroy();
    if (how === "502") return answer(response, 502, "text/html", "<html>bad gateway</html>");
    if (how === "text 404") return answer(response, 404, "text/plain", "default backend - 404");
    if (how === "odd 200") {
      const odd = { code: "internal", message: "something went wrong, nothing was executed" };
      return answer(response, 200, "application/json", JSON.stringify(odd));
    }
    const real = await this.#forward(origin + url, method, request.headers.authorization ?? "", body);
    if (how === "lost, done") return void request.socket.destroy();
    if (how === "502, done") return answer(response, 502, "text/html", "<html>bad gateway</html>");
    answer(response, real.status, real.type, real.text);
  }

  /** By node:http and over kept connections, since there are tens of thousands of them. */
  #forward(url: string, method: string, authorization: string, body: Buffer): Promise<Real> {
    return new Promise((resolve, reject) => {
      const headers = { authorization, "content-type": "application/json", "content-length": body.length };
      const sent = send(url, { method, agent: this.#agent, headers }, (answered) => {
        const chunks: Buffer[] = [];
        answered.on("data", (chunk: Buffer) => chunks.push(chunk));
        answered.on("error", reject);
        answered.on("end", () => {
          const { statusCode: status = 500, headers: given } = answered;
          resolve({ status, type: given["content-type"], text: Buffer.concat(chunks).toString() });
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  async #howFor(method: string, url: string, body: string): Promise<How | undefined> {
    const projectId = /\/projects\/(prj-[^/?]+)/.exec(url)?.[1] ?? /"project_id":"([^"]+)"/.exec(body)?.[1] ?? "";
    const seen = this.#projects.get(projectId);
    if (seen === undefined) return undefined;
    if (method === "GET") return seen.weather.reads.get(seen.reads++);
    const n = seen.changes++;
    await seen.weather.onChange?.(n);
    return seen.weather.changes.get(n);
  }
}

function answer(response: ServerResponse, status: number, type: string | undefined, text: string): void {
  response.writeHead(status, type === undefined ? {} : { "content-type": type });
  response.end(status === 204 ? undefined : text);
}
