import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../lib/exec.mjs";
import { indented, say } from "../lib/log.mjs";
import { directLoopback } from "../lib/proxies.mjs";
import { environmentFile } from "./byHand.mjs";

/**
 * A Pulumi of its own: home, state and passphrase in a temporary folder, so that nothing of the user's is read or changed.
 */
export class Sandbox {
  /** @param {import("../setup/setup.mjs").Toolchain} toolchain */
  constructor({ root, env }) {
    this.root = root;
    this.folder = mkdtempSync(join(tmpdir(), "pulumi-svc-quickstart-"));
    this.stack = `quickstart-${randomBytes(3).toString("hex")}`;
    this.stackFile = join(root, `Pulumi.${this.stack}.yaml`);
    this.apiKey = randomBytes(24).toString("hex");
    this.passphrase = randomBytes(24).toString("hex");
    mkdirSync(join(this.folder, "home"));
    mkdirSync(join(this.folder, "state"));
    /** What a user who goes on by hand needs as well. @type {Record<string, string>} */
    this.settings = {
      PULUMI_HOME: join(this.folder, "home"),
      PULUMI_BACKEND_URL: `file://${join(this.folder, "state")}`,
      PULUMI_CONFIG_PASSPHRASE: this.passphrase,
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      ...directLoopback(env),
    };
    const foreign = /^(PULUMI_|SVC_)/;
    const kept = Object.entries(env).filter(([name]) => !foreign.test(name));
    this.env = { ...Object.fromEntries(kept), ...this.settings };
  }

  /**
   * Runs a pulumi command as a user would type it, and shows it with its output.
   * @param {string[]} args
   * @param {{ input?: string, hint?: string }} [options] `hint` tells the reader where the input comes from
   */
  async pulumi(args, { input, hint = "" } = {}) {
    say(`   $ pulumi ${args.join(" ")}${hint}`);
    const result = await this.#run(args, input, (line) => say(indented(line)));
    this.refuseSecrets(result.output, `the output of pulumi ${args[0]}`);
    return result;
  }

  /**
   * The same without a word: for what holds secrets, or is of no interest.
   * @param {string[]} args
   */
  async quietly(args) {
    return await this.#run(args);
  }

  /**
   * @param {string[]} args
   * @param {string} [input]
   * @param {(line: string) => void} [onLine]
   */
  async #run(args, input, onLine) {
    return await run("pulumi", args, { cwd: this.root, env: this.env, input, onLine });
  }

  /**
   * @param {string} text
   * @param {string} where
   * @param {string[]} more further values that may not stand there
   */
  refuseSecrets(text, where, more = []) {
    if ([this.apiKey, this.passphrase, ...more].some((secret) => text.includes(secret))) {
      throw new Error(`${where} holds a secret in clear`);
    }
  }

  /**
   * Writes what a shell has to source to go on with this stack by hand. Readable by the user alone: the passphrase is in it.
   * @returns {string} the file
   */
  writeEnvFile() {
    const file = join(this.folder, "env.sh");
    writeFileSync(file, environmentFile({ ...this.settings, PATH: this.env.PATH ?? "" }), { mode: 0o600 });
    return file;
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(this.stackFile, { force: true });
  }
}
