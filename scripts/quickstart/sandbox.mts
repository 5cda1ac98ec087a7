import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { indented, say } from "../lib/console.mjs";
import { ROOT } from "../lib/paths.mjs";
import { directLoopback, run } from "../lib/processes.mts";

/** A Pulumi of its own: home, state and passphrase in a temporary folder, so that nothing of the user's is read or changed. */
export class Sandbox {
  folder = mkdtempSync(join(tmpdir(), "pulumi-svc-quickstart-"));
  stack = `quickstart-${randomBytes(3).toString("hex")}`;
  apiKey = randomBytes(24).toString("hex");
  passphrase = randomBytes(24).toString("hex");
  /** What a user who goes on by hand needs as well. */
  #settings: Record<string, string> = {
    PULUMI_HOME: join(this.folder, "home"),
    PULUMI_BACKEND_URL: `file://${join(this.folder, "state")}`,
    PULUMI_CONFIG_PASSPHRASE: this.passphrase,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    ...directLoopback(process.env),
  };

  constructor() {
    mkdirSync(join(this.folder, "home"));
    mkdirSync(join(this.folder, "state"));
  }

  /**
   * Runs a pulumi command as a user would type it, and shows it with its output, unless that holds secrets (`quiet`). `hint`
   * tells the reader where the input comes from; `code` is the exit code that it has to end with.
   */
  async pulumi(args: string[], { input = "", hint = "", code = 0, quiet = false } = {}): Promise<string> {
    if (!quiet) say(`   $ pulumi ${args.join(" ")}${hint}`);
    const kept = Object.entries(process.env).filter(([name]) => !/^(PULUMI_|SVC_)/.test(name));
    const env = { ...Object.fromEntries(kept), ...this.#settings };
    const onLine = quiet ? undefined : (line: string) => say(indented(line));
    const ended = await run("pulumi", args, { env, extendEnv: false, input, onLine });
    if (ended.code !== code) throw new Error(`the command ended with ${ended.code}, not ${code}`);
    return ended.stdout;
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

/**
 * What a shell has to source to go on with a stack by hand. It takes the caller's own settings away, as `pulumi` does here.
 * @public for the tests
 */
export function environmentFile(settings: Record<string, string>): string {
  const unset = `unset SVC_API_KEY $(env | sed -nE 's/^((PULUMI|SVC)_[A-Za-z0-9_]*)=.*/\\1/p')`;
  const exports = Object.entries(settings).map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  return `${[unset, ...exports].join("\n")}\n`;
}

/** The commands to go on with what `--keep` has left, and those that end it. */
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

/** A text as one word of a shell, whatever is in it. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
