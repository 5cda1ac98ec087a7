import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cliEnvironment, ROOT } from "../support/cli";
import { type CodeBlock, codeBlocks, textOf } from "../support/codeBlocks";
import { ownPort } from "../support/service";

const LONGEST_BLOCK_MS = 300_000;
jest.setTimeout(6 * LONGEST_BLOCK_MS);

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-tour-"));
const home = join(folder, "home");
mkdirSync(home);
const open: Terminal[] = [];
afterEach(async () => {
  for (const terminal of open.splice(0)) await terminal.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In place of the registry: the package as it was built here, with the SDK that is installed here. */
const NPM = `npm() {
  if [ "$*" = "install pulumi-svc @pulumi/pulumi" ]; then ln -s '${join(ROOT, "node_modules")}' node_modules; else command npm "$@"; fi
}`;

test("a reader of README.md gets from nothing to a first up", async () => {
  const [, start = ""] = textOf("README.md").split(/^(?=## )/m);
  expect(start).toMatch(/^## From nothing/);
  await follow(codeBlocks("README.md", start), "svc-start");
});

test("a reader of docs/tour.md sees what it shows, block by block", async () => {
  await follow(codeBlocks("docs/tour.md"), "svc-tour");
});

/** Types what stands there. `project` is the folder that the first block makes. */
async function follow(blocks: readonly CodeBlock[], project: string): Promise<void> {
  const port = String(ownPort());
  const atOurPort = (text: string): string =>
    text.replaceAll("8787", port).replace("pulumi-svc emulator", `pulumi-svc emulator --port ${port}`);
  const first = new Terminal();
  await first.run(NPM);
  let said = "";
  for (const { language, text, note, file, page } of blocks) {
    const script = atOurPort(text);
    if (file !== undefined) writeFileSync(join(folder, project, file), text);
    else if (language === "text") expect(`${page}\n${missing(script, said)}`).toBe(`${page}\n`);
    else if (note === "another terminal") said = await new Terminal(project).until(script, "API key");
    else if (language === "sh" && !note.startsWith("not run")) {
      const { code, output } = await first.run(script);
      said = output;
      expect({ page, script, code, output }).toMatchObject({ code: 0 });
    }
  }
}

/** The lines of what a document shows which do not come, in this order, in what was said; `…` is anything. */
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

/** A shell: what one block sets, the next one sees. */
class Terminal {
  readonly #shell;
  readonly #closed;
  #said = "";

  constructor(cwd = ".") {
    const env = cliEnvironment(home, join(folder, "backend of the caller"));
    this.#shell = spawn("bash", { cwd: join(folder, cwd), env, detached: true });
    for (const stream of [this.#shell.stdout, this.#shell.stderr]) {
      stream.on("data", (chunk: Buffer) => (this.#said += chunk.toString()));
    }
    this.#closed = once(this.#shell, "close");
    open.push(this);
  }

  /** Types a script, and answers with what is said until `end` is. */
  async until(script: string, end: string | RegExp): Promise<string> {
    this.#said = "";
    this.#shell.stdin.write(`${script}\n`);
    for (const deadline = Date.now() + LONGEST_BLOCK_MS; this.#said.search(end) < 0; await sleep(20)) {
      if (Date.now() > deadline) throw new Error(`this took too long:\n${script}\n${this.#said}`);
    }
    return this.#said;
  }

  async run(script: string): Promise<{ code: number; output: string }> {
    // On a line of its own: what a command prints may end without one.
    const ended = /\nended with (\d+)\.\n$/;
    // Of each command, not of the last one alone.
    const counted = `failed=0; trap 'failed=$?' ERR\n{\n${script}\n} </dev/null 2>&1`;
    const said = await this.until(`${counted}; printf '\\nended with %s.\\n' $failed`, ended);
    return { code: Number(ended.exec(said)?.[1]), output: said.replace(ended, "") };
  }

  /** With all that it has started. */
  async close(): Promise<void> {
    if (this.#shell.pid !== undefined) process.kill(-this.#shell.pid, "SIGTERM");
    await this.#closed;
  }
}
