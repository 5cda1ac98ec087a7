import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
    const direct = emulator.directUrl();
    const seen = await latencies(direct, emulator.url);
    for (const [p, share] of [
      ["p50", 0.5],
      ["p99", 0.99],
    ] as const) {
      figures.add(`a query without the gate, ${p}, ms`, quantile(seen.direct, share), undefined, 3);
      figures.add(`a query with the gate, ${p}, ms`, quantile(seen.gated, share), undefined, 3);
    }
    figures.add("what the gate adds at p50, ms", quantile(seen.gated, 0.5) - quantile(seen.direct, 0.5), 0.05, 3);
    for (const [what, sql] of [
      ["small queries", "select 1"],
      ["queries of a thousand rows", LARGE],
    ] as const) {
      const without: number[] = [];
      const ratios: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const alone = await throughput(direct, sql);
        without.push(alone);
        ratios.push((await throughput(emulator.url, sql)) / alone);
      }
      figures.add(`${what} a second, ${CLIENTS} clients, without the gate`, median(without), undefined, 0);
      const share = "the same with the gate, as a share of that (aim: at least 0.6)";
      figures.add(share, median(ratios), undefined, 2);
    }
    const results: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const alone = await duration(direct, RESULT);
      results.push((await duration(emulator.url, RESULT)) / alone);
    }
    figures.add("a result of 500 MB with the gate, as a share of without", median(results), 1.5, 2);
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

/** The times of single queries, alternately without and with the gate. */
async function latencies(direct: string, gated: string): Promise<{ direct: number[]; gated: number[] }> {
  const [without, through] = [await connected(direct), await connected(gated)];
  const timed = async (client: Client): Promise<number> => {
    const began = performance.now();
    await client.query("select 1");
    return performance.now() - began;
  };
  const seen = { direct: [] as number[], gated: [] as number[] };
  for (let query = -QUERIES / 10; query < QUERIES; query += 1) {
    const [one, other] = [await timed(without), await timed(through)];
    // The first ones, before the code is compiled, do not count.
    if (query < 0) continue;
    seen.direct.push(one);
    seen.gated.push(other);
  }
  await Promise.all([without.end(), through.end()]);
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
  directUrl(): string {
    const files = readdirSync(this.folder, { recursive: true, encoding: "utf8" });
    const socket = files.find((file) => file.endsWith(".s.PGSQL.5432"));
    if (socket === undefined) throw new Error("no Postgres runs");
    return `postgresql://svcdb_owner@${encodeURIComponent(join(this.folder, socket, ".."))}/svcdb`;
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
