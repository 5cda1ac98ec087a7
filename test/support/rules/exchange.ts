import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true });

/** The response. */
export interface Exchanged {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

/**
 * One request by node:http with kept connections: the tests of the rules send tens of thousands, and fetch is slower.
 */
export function exchange(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer | string = "",
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const all = { ...headers, "content-length": Buffer.byteLength(body) };
    const sent = request(url, { method, agent, headers: all }, (answered) => {
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
