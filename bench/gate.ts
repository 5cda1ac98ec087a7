import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { postgresBin } from "../test/support/postgres";
import { type Figure, Figures, megabytes, median } from "./report";
import { ROOT } from "./stack";

const QUERIES = 5_000;
const CLIENTS = 8;
const SECONDS = 3;
const CONNECTIONS = 200;
const ACTIVATION_MS = 100;
const STARTS = 9;
/** A thousand rows, some 130 kB. */
const LARGE = "select g, repeat('x', 100) from generate_series(1, 1000) g";

/** 500 MB in half a million messages. */
const RESULT = "copy (select repeat('x', 1000) from generate_series(1, 500000)) to stdout";

const COMPUTE = "ep-demo-main-10000001";
const ENDPOINT = `/projects/prj-demo/endpoints/${COMPUTE}`;

/**
 * What the emulator's gate adds to a query. The same server gets queries with the gate and without it, alternately, so
 * that a slow or busy machine affects both. The emulator is a separate process, as for its users.
 */
export async function gateFigures(rounds: number): Promise<readonly Figure[]> {
  const figures = new Figures("the gate of `emulator --postgres`");
  if (postgresBin() === undefined) {
    console.log("not measured: there is no Postgres (`npm run test:services` gets one)");
    return figures.all;
  }
  const emulator = await Emulator.start();
  let proxy: BareProxy | undefined;
  try {
    // The smallest size allows fewer connections.
    const size = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 };
    await emulator.api("PATCH", ENDPOINT, { endpoint: size });
    await emulator.settled("active");
    const before = megabytes(emulator.pid);
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connected(emulator.url)));
    for (const client of clients) await client.query("select 1");
    figures.add(`memory of the emulator, MB`, before);
    figures.add(`the same with ${CONNECTIONS} open connections, MB`, megabytes(emulator.pid));
    await Promise.all(clients.map((client) => client.end()));
    const direct = emulator.direct();
    proxy = await BareProxy.start(direct.socket);
    const ways = { direct: direct.url, proxy: proxy.url, gate: emulator.url };
    const seen = await latencies(ways);
    for (const [p, share] of [
      ["p50", 0.5],
      ["p99", 0.99],
    ] as const) {
      figures.add(`a query without the gate, ${p}, ms`, quantile(seen.direct, share), undefined, 3);
      figures.add(`a query with a bare proxy, ${p}, ms`, quantile(seen.proxy, share), undefined, 3);
      figures.add(`a query with the gate, ${p}, ms`, quantile(seen.gate, share), undefined, 3);
    }
    const p50 = { proxy: quantile(seen.proxy, 0.5), gate: quantile(seen.gate, 0.5) };
    figures.add("what the gate adds to a bare proxy at p50, ms", p50.gate - p50.proxy, 0.05, 3);
    for (const [what, sql] of [
      ["small queries", "select 1"],
      ["queries of a thousand rows", LARGE],
    ] as const) {
      const alone: number[] = [];
      const ratios = { proxy: [] as number[], gate: [] as number[] };
      for (let round = 0; round < rounds; round += 1) {
        const without = await throughput(ways.direct, sql);
        alone.push(without);
        ratios.proxy.push((await throughput(ways.proxy, sql)) / without);
        ratios.gate.push((await throughput(ways.gate, sql)) / without);
      }
      figures.add(`${what} a second, ${CLIENTS} clients, without the gate`, median(alone), undefined, 0);
      figures.add("the same with a bare proxy, as a share of that", median(ratios.proxy), undefined, 2);
      figures.add("the same with the gate, as a share of that (aim: at least 0.6)", median(ratios.gate), undefined, 2);
    }
    const results = { proxy: [] as number[], gate: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      const alone = await duration(ways.direct, RESULT);
      results.proxy.push((await duration(ways.proxy, RESULT)) / alone);
      results.gate.push((await duration(ways.gate, RESULT)) / alone);
    }
    figures.add("a result of 500 MB with a bare proxy, as a share of without", median(results.proxy), undefined, 2);
    figures.add("the same with the gate", median(results.gate), 1.5, 2);
    const starts: number[] = [];
    for (let start = 0; start < STARTS; start += 1) {
      await emulator.api("POST", `${ENDPOINT}/suspend`);
      await emulator.settled("idle");
      const began = performance.now();
      const client = await connected(emulator.url);
      await client.query("select 1");
      starts.push(performance.now() - began - ACTIVATION_MS);
      await client.end();
    }
    figures.add("a first query to an idle compute, over its activation, ms", median(starts));
  } finally {
    proxy?.stop();
    await emulator.stop();
  }
  return figures.all;
}

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  // A suspend ends the session.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

type Way = "direct" | "proxy" | "gate";

/** The times of single queries, by turns. */
async function latencies(urls: Record<Way, string>): Promise<Record<Way, number[]>> {
  const ways = Object.keys(urls) as Way[];
  const clients = await Promise.all(ways.map(async (way) => [way, await connected(urls[way])] as const));
  const seen: Record<Way, number[]> = { direct: [], proxy: [], gate: [] };
  for (let query = -QUERIES / 10; query < QUERIES; query += 1) {
    for (const [way, client] of clients) {
      const began = performance.now();
      await client.query("select 1");
      // The first ones, before the code is compiled, do not count.
      if (query >= 0) seen[way].push(performance.now() - began);
    }
  }
  await Promise.all(clients.map(([, client]) => client.end()));
  return seen;
}

/** In ms. */
async function duration(url: string, sql: string): Promise<number> {
  const client = await connected(url);
  const began = performance.now();
  await client.query(sql);
  const ms = performance.now() - began;
  await client.end();
  return ms;
}

async function throughput(url: string, sql: string): Promise<number> {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connected(url)));
  const began = performance.now();
  let queries = 0;
  await Promise.all(
    clients.map(async (client) => {
      for (; performance.now() - began < SECONDS * 1_000; queries += 1) await client.query(sql);
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  await Promise.all(clients.map((client) => client.end()));
  return queries / seconds;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Passes bytes on, and does nothing else: what any gate in a process of Node costs at least. */
const PROXY = `
  require("net").createServer((client) => {
    const server = require("net").connect(process.argv[1]);
    client.setNoDelay(true).on("error", () => server.destroy()).pipe(server);
    server.on("error", () => client.destroy()).pipe(client);
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });
`;

class BareProxy {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(socket: string): Promise<BareProxy> {
    const child = spawn(process.execPath, ["-e", PROXY, socket], { stdio: ["ignore", "pipe", "inherit"] });
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    return new BareProxy(child, `postgresql://svcdb_owner@127.0.0.1:${port.toString().trim()}/svcdb`);
  }

  stop(): void {
    this.child.kill();
  }
}

/** The command `pulumi-svc emulator`, as it is built. */
class Emulator {
  private constructor(
    private readonly child: ChildProcess,
    readonly pid: number,
    readonly baseUrl: string,
    /** The compute's connection string, at the gate. */
    readonly url: string,
    /** Its temporary files. */
    private readonly folder: string,
  ) {}

  static async start(): Promise<Emulator> {
    const program = join(ROOT, "dist", "cli", "main.js");
    const args = [program, "emulator", "--port", "0", "--activation-ms", String(ACTIVATION_MS), "--postgres"];
    const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
    // If this is root, the server runs as another user.
    chmodSync(folder, 0o755);
    const env = { ...process.env, TMPDIR: folder };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`the emulator ended with ${code}`)));
    const ready = async (): Promise<[baseUrl: string, url: string]> => {
      for (;;) {
        const [, baseUrl] = /listening on (\S+)/.exec(said) ?? [];
        const [url] = new RegExp(`postgresql://[^"\\s]*${COMPUTE}`).exec(said) ?? [];
        if (baseUrl !== undefined && url !== undefined) return [baseUrl, url];
        await sleep(20);
      }
    };
    const [baseUrl, url] = await Promise.race([ready(), ended]);
    ended.catch(() => undefined);
    if (child.pid === undefined) throw new Error("a process that prints has an id");
    return new Emulator(child, child.pid, baseUrl, url, folder);
  }

  /** The socket of the only Postgres that runs. */
  direct(): { url: string; socket: string } {
    const files = readdirSync(this.folder, { recursive: true, encoding: "utf8" });
    const file = files.find((name) => name.endsWith(".s.PGSQL.5432"));
    if (file === undefined) throw new Error("no Postgres runs");
    const socket = join(this.folder, file);
    return { url: `postgresql://svcdb_owner@${encodeURIComponent(dirname(socket))}/svcdb`, socket };
  }

  async api(method: string, path: string, body?: unknown): Promise<unknown> {
    const headers = { authorization: "Bearer test-key", "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(this.baseUrl + path, { method, headers, ...sent });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async settled(state: string): Promise<void> {
    for (;;) {
      const { endpoint } = (await this.api("GET", ENDPOINT)) as { endpoint: Record<string, unknown> };
      if (endpoint["current_state"] === state && endpoint["pending_state"] === undefined) return;
      await sleep(10);
    }
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null) {
      this.child.kill("SIGTERM");
      await once(this.child, "exit");
    }
    // Not rmSync, which stops in silence when a file goes meanwhile: a template is deleted after the emulator has ended.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
