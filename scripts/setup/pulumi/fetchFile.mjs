/**
 * `node fetchFile.mjs URL FILE`, a process of its own so that NODE_USE_ENV_PROXY (read when Node starts) is obeyed.
 * Gives up when nothing answers within 5 s, or when no data comes for 30 s.
 */
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const CONNECT_MS = 5_000;
const STALL_MS = 30_000;

const [url, file] = process.argv.slice(2);
if (!url || !file) throw new Error("usage: fetchFile.mjs URL FILE");

const abort = new AbortController();
let timer = setTimeout(() => abort.abort(new Error(`no answer within ${CONNECT_MS / 1000} s`)), CONNECT_MS);

try {
  const response = await fetch(url, { signal: abort.signal });
  if (!response.ok || !response.body) throw new Error(`answered ${response.status}`);
  const body = Readable.fromWeb(/** @type {import("node:stream/web").ReadableStream} */ (response.body));
  body.on("data", () => {
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(new Error(`no data for ${STALL_MS / 1000} s`)), STALL_MS);
  });
  await pipeline(body, createWriteStream(file));
} catch (error) {
  const { message, cause } = /** @type {Error} */ (error);
  process.stderr.write(`${cause instanceof Error ? `${message}: ${cause.message}` : message}\n`);
  process.exitCode = 1;
} finally {
  clearTimeout(timer);
}
