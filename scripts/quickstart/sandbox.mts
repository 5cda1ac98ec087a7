import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../lib/exec.mts";
import { indented, say } from "../lib/log.mjs";
import { ROOT } from "../lib/paths.mjs";
import { directLoopback } from "../lib/proxies.mts";
import { environmentFile } from "./byHand.mts";

/** A Pulumi of its own: home, state and passphrase in a temporary folder, so that nothing of the user's is read or changed. */
export class Sandbox {
  folder = mkdtempSync(join(tmpdir(), "pulumi-svc-quickstart-"));
  stack = `quickstart-${randomBytes(3).toString("hex")}`;
  apiKey = randomBytes(24).toString("hex");
  #passphrase = randomBytes(24).toString("hex");
  /** What a user who goes on by hand needs as well. */
  #settings: Record<string, string> = {
    PULUMI_HOME: join(this.folder, "home"),
    PULUMI_BACKEND_URL: `file://${join(this.folder, "state")}`,
    PULUMI_CONFIG_PASSPHRASE: this.#passphrase,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    ...directLoopback(process.env),
  };

  constructor() {
    mkdirSync(join(this.folder, "home"));
    mkdirSync(join(this.folder, "state"));
  }

  /**
   * Runs a pulumi command as a user would type it, and shows it with its output. `hint` tells the reader where the input
   * comes from; `code` is the exit code that it has to end with.
   */
  async pulumi(args: string[], { input = "", hint = "", code = 0 } = {}): Promise<string> {
    say(`   $ pulumi ${args.join(" ")}${hint}`);
    const { output } = await this.#run(args, code, { input, onLine: (line) => say(indented(line)) });
    this.refuseSecrets(output, `the output of pulumi ${args[0]}`);
    return output;
  }

  /** What a command prints, without showing it: for what holds secrets. */
  async quietly(...args: string[]): Promise<string> {
    return (await this.#run(args, 0, {})).stdout;
  }

  async #run(args: string[], expected: number, options: { input?: string; onLine?: (line: string) => void }) {
    const foreign = /^(PULUMI_|SVC_)/;
    const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
    const env = { ...Object.fromEntries(kept), ...this.#settings };
    const result = await run("pulumi", args, { env, extendEnv: false, ...options });
    if (result.code !== expected) throw new Error(`the command ended with ${result.code}, not ${expected}`);
    return result;
  }

  refuseSecrets(text: string, where: string, ...more: string[]): void {
    if ([this.apiKey, this.#passphrase, ...more].some((secret) => text.includes(secret))) {
      throw new Error(`${where} holds a secret in clear`);
    }
  }

  /** Writes what a shell has to source to go on by hand. Readable by the user alone: the passphrase is in it. */
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
