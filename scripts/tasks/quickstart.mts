import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT, indented, messageOf, say, stopwatch, UsageError } from "../lib/console.mjs";
import { NODE, ROOT } from "../lib/paths.mjs";
import { directLoopback, interrupted, run } from "../lib/processes.mts";

/** The default of examples/quickstart, and what it asks for. */
const PROJECT = "prj-demo";
const BRANCH = "br-dev";
const SIZE = { min: 0.5, max: 2 };

/** Pulumi's exit code for changes if none were expected. */
const EXPECTED_NO_CHANGES = 7;

export async function quickstart(args: string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--keep");
  if (unknown) throw new UsageError(`quickstart does not know "${unknown}".`);
  const keep = args.includes("--keep");
  const elapsed = stopwatch();
  const sandbox = new Sandbox();
  const emulator = new Emulator(sandbox.apiKey, join(sandbox.folder, "emulator.log"), keep);
  let left = false;
  try {
    say("\n== 0. Start a local emulator of the service");
    say("   $ SVC_EMULATOR_API_KEY=… node dist/cli/main.js emulator --port 0");
    await emulator.listens();
    say(`   | listening on ${emulator.baseUrl}`);
    const summary = await story(sandbox, emulator, keep);
    say(`\n== Done in ${elapsed()}`);
    for (const line of summary) say(`   ${line}`);
    if (keep) {
      const stateUrl = emulator.controlUrl("state");
      const commands = commandsByHand(sandbox.folder, sandbox.writeEnvFile(), stateUrl, emulator.child.pid);
      say("\n== The emulator and the stack are kept. To continue by hand, in the clone:");
      for (const command of commands) say(`   ${command}`);
    }
    left = keep;
    return EXIT.good;
  } catch (error) {
    // A command that Ctrl-C ended is not a failure.
    interrupted.throwIfAborted();
    say(`\n${messageOf(error)}\nThe quickstart failed after ${elapsed()}; what it created was removed.`);
    return EXIT.failed;
  } finally {
    if (left) emulator.child.unref();
    else {
      await emulator.stop();
      sandbox.remove();
    }
  }
}

/**
 * The life of a stack; returns a line for each scene. Each scene checks the service itself (the emulator's state), not
 * only Pulumi's output.
 */
async function story(sandbox: Sandbox, emulator: Emulator, keep: boolean): Promise<string[]> {
  const summary: string[] = [];

  /** `play` returns what it has shown, or throws. */
  async function scene(title: string, play: () => Promise<string>): Promise<void> {
    const number = summary.length + 1;
    say(`\n== ${number}. ${title}`);
    const elapsed = stopwatch();
    try {
      const shown = `${await play()} (${elapsed()})`;
      say(`   -> ${shown}`);
      summary.push(`${number}. ${shown}`);
    } catch (error) {
      throw new Error(`Step ${number} "${title}" failed: ${messageOf(error)}.`, { cause: error });
    }
  }

  const before = new Set((await emulator.project(PROJECT)).endpoints.map(({ id }) => id));

  async function compute() {
    const { endpoints } = await emulator.project(PROJECT);
    const ours = endpoints.filter(({ id, branch_id }) => branch_id === BRANCH && !before.has(id));
    if (ours.length !== 1) throw new Error(`the service shows ${ours.length} new computes on ${BRANCH}, not one`);
    return ours[0];
  }

  await scene("Create a stack and configure the service's address and key", async () => {
    await sandbox.pulumi(["stack", "init", sandbox.stack]);
    await sandbox.pulumi(["config", "set", "svc:baseUrl", emulator.baseUrl]);
    const fromInput = { input: sandbox.apiKey, hint: "   (reads the key from standard input)" };
    await sandbox.pulumi(["config", "set", "--secret", "svc:apiKey"], fromInput);
    return `stack ${sandbox.stack}, the key encrypted`;
  });

  await scene("Deploy: a compute for br-dev, the project's auth integration", async () => {
    await sandbox.pulumi(["up", "--yes"]);
    const { current_state: state, id } = await compute();
    if (state !== "active") throw new Error(`the compute ${id} is ${state}`);
    if ((await emulator.project(PROJECT)).integrations.length !== 1) throw new Error("there is no integration");
    return `created; the service shows ${id} active, and the integration`;
  });

  await scene("The outputs, and no secret in plain text in the state", async () => {
    const output = await sandbox.pulumi(["stack", "output"]);
    const key = await sandbox.pulumi(["stack", "output", "secretServerKey", "--show-secrets"], { quiet: true });
    const state = await sandbox.pulumi(["stack", "export"], { quiet: true });
    if (!/secretServerKey\s+\[secret\]/.test(output)) throw new Error("the server key is not shown as [secret]");
    const isClear = [key.trim(), sandbox.apiKey, sandbox.passphrase].some((secret) =>
      (output + state).includes(secret),
    );
    if (isClear) throw new Error("the outputs or the stack's state hold a secret in plain text");
    return "host, endpointId, jwksUrl, secretServerKey as [secret]";
  });

  await scene("Plan again: nothing to do", async () => {
    await sandbox.pulumi(["preview", "--expect-no-changes"]);
    return "no changes";
  });

  await scene("Somebody resizes the compute in the service's console", async () => {
    const { id } = await compute();
    const set = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 8 };
    const change = { kind: "endpoint", project_id: PROJECT, id, set };
    say(`   $ curl ${emulator.controlUrl("edit")} --json ${shellQuote(JSON.stringify(change))}`);
    await emulator.edit(change);
    return `${id} is 4 to 8 CU now, the program says ${SIZE.min} to ${SIZE.max}`;
  });

  await scene("Find the drift, as a CI job would", async () => {
    await sandbox.pulumi(["preview", "--refresh", "--expect-no-changes"], { code: EXPECTED_NO_CHANGES });
    say(indented(`exit code ${EXPECTED_NO_CHANGES}: changes where none were expected`));
    return `drift found: exit code ${EXPECTED_NO_CHANGES}`;
  });

  await scene("Repair it", async () => {
    await sandbox.pulumi(["up", "--refresh", "--yes"]);
    const { id, autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = await compute();
    if (min !== SIZE.min || max !== SIZE.max) throw new Error(`${id} is ${min} to ${max} CU after the repair`);
    return `repaired: the service shows ${id} at ${min} to ${max} CU`;
  });

  await scene("Plan once more, with a refresh: nothing to do", async () => {
    await sandbox.pulumi(["preview", "--refresh", "--expect-no-changes"]);
    return "no changes, no drift";
  });

  if (keep) return summary;
  await scene("Destroy", async () => {
    await sandbox.pulumi(["destroy", "--yes"]);
    const { endpoints, integrations } = await emulator.project(PROJECT);
    const left = endpoints.some(({ id }) => !before.has(id)) || integrations.length > 0;
    if (left) throw new Error("the service still holds something of the stack");
    await sandbox.pulumi(["stack", "rm", "--yes"]);
    return "destroyed: the service no longer holds anything of the stack";
  });
  return summary;
}

/** A project in the emulator's state, with the fields used here. */
interface Project {
  id: string;
  integrations: unknown[];
  endpoints: (Record<"id" | "branch_id" | "current_state", string> &
    Record<"autoscaling_limit_min_cu" | "autoscaling_limit_max_cu", number>)[];
}

/** The emulator as a separate process. */
export class Emulator {
  readonly child: ChildProcess;
  readonly #logFile: string;
  /** The address it listens on. */
  baseUrl = "";

  /**
   * Starts it with the package's command, as a user would. The key is passed in the environment, because command lines
   * are public. With `outlivesUs`, Ctrl-C does not reach it, and its output goes to a file, so that it needs no pipe of
   * this process.
   */
  constructor(apiKey: string, logFile: string, outlivesUs: boolean) {
    this.#logFile = logFile;
    const log = openSync(logFile, "w", 0o600);
    this.child = spawn(NODE, ["dist/cli/main.js", "emulator", "--port", "0"], {
      cwd: ROOT,
      env: { ...process.env, SVC_EMULATOR_API_KEY: apiKey },
      stdio: ["ignore", log, log],
      detached: outlivesUs,
    });
    closeSync(log);
  }

  async listens(): Promise<void> {
    for (const deadline = Date.now() + 20_000; ; await sleep(50, undefined, { signal: interrupted })) {
      const said = readFileSync(this.#logFile, "utf8");
      this.baseUrl = /^listening on (\S+)$/m.exec(said)?.[1] ?? "";
      if (this.baseUrl !== "") return;
      const ended = Date.now() > deadline || this.child.exitCode !== null;
      if (ended) throw new Error(`the emulator did not start:\n${said.trimEnd()}`);
    }
  }

  async stop(): Promise<void> {
    if (this.child.kill()) await once(this.child, "exit");
  }

  controlUrl(path: "state" | "edit"): string {
    return new URL(`/_emulator/${path}`, this.baseUrl).href;
  }

  async project(id: string): Promise<Project> {
    const { projects } = (await this.#request("state")) as { projects: Project[] }; // As the emulator documents it.
    const project = projects.find((candidate) => candidate.id === id);
    if (!project) throw new Error(`the emulator has no project ${id}`);
    return project;
  }

  /** An out-of-band change, as a user makes it in the service's console. */
  async edit(change: Record<string, unknown>): Promise<void> {
    const headers = { "content-type": "application/json" };
    await this.#request("edit", { method: "POST", headers, body: JSON.stringify(change) });
  }

  async #request(path: "state" | "edit", init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(this.controlUrl(path), { ...init, signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`the emulator answered ${response.status} to ${path}: ${await response.text()}`);
    return await response.json();
  }
}

/**
 * A separate Pulumi: home, state and passphrase in a temporary folder, so that nothing of the user's is read or
 * changed.
 */
export class Sandbox {
  folder = mkdtempSync(join(tmpdir(), "pulumi-svc-quickstart-"));
  stack = `quickstart-${randomBytes(3).toString("hex")}`;
  apiKey = randomBytes(24).toString("hex");
  passphrase = randomBytes(24).toString("hex");
  /** Additional settings for a user who continues by hand. */
  #settings: Record<string, string> = {
    PULUMI_HOME: join(this.folder, "home"),
    PULUMI_BACKEND_URL: `file://${join(this.folder, "state")}`,
    PULUMI_CONFIG_PASSPHRASE: this.passphrase,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    // Faster runs, as docs/performance.md has it.
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
    NODE_COMPILE_CACHE: join(this.folder, "compiled"),
    ...directLoopback(process.env),
  };

  constructor() {
    mkdirSync(join(this.folder, "home"));
    mkdirSync(join(this.folder, "state"));
  }

  /**
   * Runs a pulumi command like a user, and shows it with its output, unless that contains secrets (`quiet`). `hint`
   * tells the reader where the input comes from; `code` is the expected exit code; `more` is added to the environment.
   */
  async pulumi(
    args: string[],
    { input = "", hint = "", code = 0, quiet = false, cwd = ROOT, more = {} as Record<string, string> } = {},
  ): Promise<string> {
    if (!quiet) say(`   $ pulumi ${args.join(" ")}${hint}`);
    const kept = Object.entries(process.env).filter(([name]) => !/^(PULUMI_|SVC_)/.test(name));
    const env = { ...Object.fromEntries(kept), ...this.#settings, ...more };
    const onLine = quiet ? undefined : (line: string) => say(indented(line));
    const ended = await run("pulumi", args, { cwd, env, extendEnv: false, input, onLine });
    if (ended.code !== code) throw new Error(`the command ended with ${ended.code}, not ${code}`);
    return ended.stdout;
  }

  /** Writes a file that a shell sources to continue by hand. Only the user can read it: it contains the passphrase. */
  writeEnvFile(): string {
    const file = join(this.folder, "env.sh");
    writeFileSync(file, environmentFile({ ...this.#settings, PATH: process.env.PATH ?? "" }), { mode: 0o600 });
    return file;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(join(ROOT, `Pulumi.${this.stack}.yaml`), { force: true });
  }
}

/**
 * The file that a shell sources to continue with a stack by hand. It removes the caller's own settings, as `pulumi`
 * does here.
 * @public for the tests
 */
export function environmentFile(settings: Record<string, string>): string {
  const unset = `unset SVC_API_KEY $(env | sed -nE 's/^((PULUMI|SVC)_[A-Za-z0-9_]*)=.*/\\1/p')`;
  const exports = Object.entries(settings).map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  return `${[unset, ...exports].join("\n")}\n`;
}

/**
 * The commands to continue with what `--keep` has left, and to end it.
 * @public for the tests
 */
export function commandsByHand(folder: string, envFile: string, stateUrl: string, pid: number | undefined): string[] {
  return [
    `source ${shellQuote(envFile)}     # Pulumi's home, state and passphrase of this stack, and PATH`,
    "pulumi stack output",
    "pulumi preview --refresh --diff",
    "pulumi up                                # after a change to examples/quickstart/index.ts",
    `curl ${shellQuote(stateUrl)}   # what the service holds`,
    "# To end it:",
    "pulumi destroy --yes && pulumi stack rm --yes",
    `kill ${pid} && rm -r ${shellQuote(folder)}`,
  ];
}

/** Quotes any text as one word of a shell. */
function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
