import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator, type Emulator, type EmulatorOptions } from "../src/emulator";

export const ROOT = join(__dirname, "..");

/** The entry of Pulumi.yaml for a program of the native plugin. */
const PLUGIN = `packages:\n  svc: ${join(ROOT, "plugin")}\n`;

/** The cost of one command. */
export interface Run {
  readonly seconds: number;
  readonly requests: number;
  /** How many of them were answered with 423. */
  readonly locked: number;
}

/** A stack of its own, with an emulator, a file backend and an engine home of its own. */
export class Stack {
  readonly #folder = mkdtempSync(join(tmpdir(), "pulumi-svc-bench-"));
  readonly #project = join(this.#folder, "program");
  readonly #env: NodeJS.ProcessEnv;

  private constructor(
    private readonly emulator: Emulator,
    private readonly parallel: number,
    isNative: boolean,
  ) {
    for (const name of ["program", "backend", "home"]) mkdirSync(join(this.#folder, name));
    writeFileSync(
      join(this.#project, "Pulumi.yaml"),
      `name: bench\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n${isNative ? PLUGIN : ""}`,
    );
    writeFileSync(join(this.#project, "package.json"), '{ "name": "bench", "private": true }\n');
    symlinkSync(join(ROOT, "node_modules"), join(this.#project, "node_modules"));
    this.#env = {
      ...process.env,
      HOME: join(this.#folder, "home"),
      PULUMI_HOME: join(this.#folder, "home", ".pulumi"),
      PULUMI_BACKEND_URL: `file://${join(this.#folder, "backend")}`,
      PULUMI_CONFIG_PASSPHRASE: "bench",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      SVC_API_KEY: emulator.apiKey,
      SVC_BASE_URL: emulator.baseUrl,
    };
  }

  static async create(
    options: EmulatorOptions,
    parallel: number,
    prepare: Prepare = () => Promise.resolve(),
    isNative = false,
  ) {
    const emulator = await startEmulator({ ...options, apiKey: "bench-key" });
    const stack = new Stack(emulator, parallel, isNative);
    await prepare(emulator);
    await stack.#pulumi(["stack", "init", "dev"]);
    return stack;
  }

  write(program: string): void {
    writeFileSync(join(this.#project, "index.js"), program);
  }

  /** A command that has to succeed. */
  async run(command: readonly string[]): Promise<Run> {
    const log = `${this.emulator.url}/_emulator/requests`;
    await fetch(log, { method: "DELETE" });
    const seconds = await this.#pulumi([...command, "--parallel", String(this.parallel)]);
    const { requests } = (await (await fetch(log)).json()) as { requests: { status: number | null }[] };
    return { seconds, requests: requests.length, locked: requests.filter(({ status }) => status === 423).length };
  }

  /** Bytes of the state for each resource: `all`, and what the engine writes of a resource that has no properties. */
  stateBytes(): { all: number; engine: number } {
    const path = join(this.#folder, "backend", ".pulumi", "stacks", "bench", "dev.json");
    const text = readFileSync(path, "utf8");
    const state = JSON.parse(text) as { checkpoint: { latest: { resources: Record<string, unknown>[] } } };
    const resources = state.checkpoint.latest.resources.filter(({ type }) => String(type).includes("dynamic"));
    const size = (of: readonly object[]): number => Buffer.byteLength(JSON.stringify(of, undefined, 4)) / of.length;
    return { all: size(resources), engine: size(resources.map((one) => ({ ...one, inputs: {}, outputs: {} }))) };
  }

  async end(): Promise<void> {
    await this.emulator.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #pulumi(args: readonly string[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const began = performance.now();
      const child = spawn("pulumi", [...args, "--non-interactive"], {
        cwd: this.#project,
        env: this.#env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
      child.on("error", reject);
      child.on("close", (code) => {
        if (code === 0) resolve((performance.now() - began) / 1_000);
        else reject(new Error(`pulumi ${args.join(" ")} ended with ${String(code)}:\n${text}`));
      });
    });
  }
}

export type Prepare = (emulator: Emulator) => Promise<unknown>;

export async function createIntegration({ baseUrl, apiKey }: Emulator): Promise<void> {
  const response = await fetch(`${baseUrl}/projects/auth/create`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ auth_provider: "supported_provider", project_id: "prj-demo", branch_id: "br-main" }),
  });
  if (!response.ok) throw new Error(`the integration was not created: ${response.status}`);
}

export async function createTenProjects({ url }: Emulator): Promise<void> {
  for (let i = 0; i < 10; i += 1) {
    const body = JSON.stringify({ id: `prj-${i}`, branches: [{ id: "br-main", default: true }] });
    const response = await fetch(`${url}/_emulator/projects`, { method: "POST", body });
    if (!response.ok) throw new Error(`prj-${i} was not created: ${response.status}`);
  }
}
