import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cliEnvironment, ROOT, TUNING } from "./cli";
import type { CodeBlock } from "./codeBlocks";
import { ownPort } from "./service";

export const LONGEST_BLOCK_MS = 300_000;

/** Packs the package built here, and returns the archive. */
export function packInto(folder: string): string {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const packed = execFileSync("npm", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  return join(folder, filename);
}

/** npm's own settings for access to its registry. Environment variables would make other programs use the proxies. */
const NETWORK = ["registry", "proxy", "https-proxy", "noproxy", "cafile", "cache"];

/**
 * A machine with Node, npm, the Pulumi CLI and an empty home: nothing of this clone is on its PATH. `first`: folders
 * before all others.
 */
function readerEnvironment(home: string, first: readonly string[] = []): Record<string, string> {
  const all = Object.entries(cliEnvironment(home, join(home, "backend of the caller")));
  const env = Object.fromEntries(all.filter(([name]) => !(name in TUNING)));
  const isOurs = (folder: string): boolean => !relative(ROOT, folder).startsWith("..");
  const path = (env["PATH"] ?? "").split(delimiter).filter((each) => !isOurs(each));
  const read = execFileSync("npm", ["config", "get", ...NETWORK], { cwd: tmpdir(), encoding: "utf8" });
  const settings = [...read.matchAll(/^([\w-]+)=(.+)$/gm)].filter(([, , value]) => value !== "null");
  const certificates = process.env["NODE_EXTRA_CA_CERTS"];
  return {
    ...env,
    ...Object.fromEntries(settings.map(([, name = "", value = ""]) => [`npm_config_${name.replace("-", "_")}`, value])),
    ...(certificates !== undefined && { NODE_EXTRA_CA_CERTS: certificates }),
    PATH: [...first, dirname(realpathSync(process.execPath)), ...path].join(delimiter),
  };
}

/** A reader who starts in an empty folder and follows a document block by block. */
export class Reader {
  readonly folder: string;
  readonly #env: Record<string, string>;
  readonly #open: Terminal[] = [];

  /** `parent`: the folder that will contain the folder and the home. */
  constructor(parent: string, first: readonly string[] = []) {
    this.folder = mkdtempSync(join(parent, "reader-"));
    const home = mkdtempSync(join(parent, "home-"));
    // It is the folder of temporary files too. If this is root, a Postgres there runs as another user.
    chmodSync(home, 0o755);
    this.#env = readerEnvironment(home, first);
  }

  terminal(cwd = "."): Terminal {
    const terminal = new Terminal(join(this.folder, cwd), this.#env);
    this.#open.push(terminal);
    return terminal;
  }

  /**
   * Types the commands, and checks for the shown output. `project`: the folder that the first block makes. `replaced`:
   * replacements for texts that must occur. `begin`: where the first terminal is opened. Returns the whole output.
   */
  async follow(
    blocks: readonly CodeBlock[],
    project: string,
    replaced: ReadonlyMap<string, string>,
    begin = ".",
  ): Promise<string> {
    const port = String(ownPort());
    const typed = (text: string): string => {
      const atOurPort = text.replaceAll("8787", port);
      const replacedText = [...replaced].reduce((all, [from, to]) => all.replaceAll(from, to), atOurPort);
      return replacedText.replace("pulumi-svc emulator", `pulumi-svc emulator --port ${port}`);
    };
    const everything = blocks.map(({ text }) => text).join("");
    for (const from of replaced.keys()) if (!everything.includes(from)) throw new Error(`${from} does not stand there`);
    const first = this.terminal(begin);
    let said = "";
    let log = "";
    for (const { language, text, note, file, page } of blocks) {
      const script = typed(text);
      if (file !== undefined) writeFileSync(join(this.folder, project, file), text);
      else if (language === "text") expect(`${page}\n${missing(script, said)}`).toBe(`${page}\n`);
      else if (note === "another terminal") said = await this.terminal(project).until(script, "API key");
      else if (language === "sh" && !note.startsWith("not run")) {
        const { code, output } = await first.run(script);
        said = output;
        log += output;
        if (code !== 0) throw new Error(`${page}: this ended with ${code}:\n${script}\n${output}`);
      }
    }
    return log;
  }

  async close(): Promise<void> {
    for (const terminal of this.#open.splice(0)) await terminal.close();
  }
}

/** The lines shown in a document that do not occur in this order in the output; `…` matches anything. */
function missing(shown: string, said: string): string {
  const lines = said.split("\n").map((line) => line.trim().replace(/ +/g, " "));
  const wanted = shown
    .trim()
    .split("\n")
    .map((line) => line.trim().replace(/ +/g, " "));
  for (let line = lines.shift(); line !== undefined && wanted[0] !== undefined; line = lines.shift()) {
    const parts = wanted[0].split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    if (new RegExp(parts.join(".*")).test(line)) wanted.shift();
  }
  return wanted.length === 0 ? "" : `${wanted.join("\n")}\nis not in\n${said}`;
}

/** A shell: settings of one block apply to the next. */
class Terminal {
  readonly #shell;
  readonly #closed;
  #said = "";

  constructor(cwd: string, env: Record<string, string>) {
    mkdirSync(cwd, { recursive: true });
    this.#shell = spawn("bash", { cwd, env, detached: true });
    for (const stream of [this.#shell.stdout, this.#shell.stderr]) {
      stream.on("data", (chunk: Buffer) => (this.#said += chunk.toString()));
    }
    this.#closed = once(this.#shell, "close");
  }

  /** Types a script, and returns the output up to `end`. */
  async until(script: string, end: string | RegExp): Promise<string> {
    this.#said = "";
    this.#shell.stdin.write(`${script}\n`);
    for (const deadline = Date.now() + LONGEST_BLOCK_MS; this.#said.search(end) < 0; await sleep(20)) {
      if (Date.now() > deadline) throw new Error(`this took too long:\n${script}\n${this.#said}`);
    }
    return this.#said;
  }

  async run(script: string): Promise<{ code: number; output: string }> {
    // On a separate line: a command's output may lack a final line end.
    const ended = /\nended with (\d+)\.\n$/;
    // Counts every command, not only the last one.
    const counted = `failed=0; trap 'failed=$?' ERR\n{\n${script}\n} </dev/null 2>&1`;
    const said = await this.until(`${counted}; printf '\\nended with %s.\\n' $failed`, ended);
    return { code: Number(ended.exec(said)?.[1]), output: said.replace(ended, "") };
  }

  /** Ends it with everything that it has started. */
  async close(): Promise<void> {
    if (this.#shell.pid !== undefined) process.kill(-this.#shell.pid, "SIGTERM");
    await this.#closed;
  }
}
