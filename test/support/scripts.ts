import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

export const SCRIPTS = join(__dirname, "..", "..", "scripts");

/** The Node of the set-up, which runs TypeScript, independent of the Node that runs these tests. */
export const NODE = realpathSync(join(SCRIPTS, "..", "node_modules", ".bin", "node"));

/** The other programs that the scripts and fakes need: pulumi, npm and go are never included, even if installed. */
const TOOLS = "bash cat chmod cp dirname env grep gzip ls mkdir mktemp rm sed sh tar".split(" ");

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-scripts-"));
  folders.push(folder);
  return folder;
}

/** A folder with these files, each by its path. */
export function folderWith(files: Record<string, string>): string {
  const root = temporaryFolder();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

/** Writes a shell script that can be run under that name. */
export function fakeExecutable(folder: string, name: string, script: string): void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** An environment whose PATH contains only these folders and the tools. */
export function environment(path: string[], more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { PATH: [...path, toolsFolder()].join(delimiter), ...more };
}

let tools: string | undefined;

function toolsFolder(): string {
  if (tools !== undefined) return tools;
  tools = temporaryFolder();
  symlinkSync(process.execPath, join(tools, "node"));
  const path = (process.env.PATH ?? "").split(delimiter);
  for (const name of TOOLS) {
    const found = path.map((folder) => join(folder, name)).find((file) => existsSync(file));
    if (found === undefined) throw new Error(`these tests need ${name} on PATH`);
    symlinkSync(found, join(tools, name));
  }
  return tools;
}

export interface Ended {
  code: number;
  output: string;
}

/** Runs a command and returns both outputs combined. */
export function runProcess(
  command: string,
  args: string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? -1, output }));
  });
}

const MARK = "result of the call: ";

/** The result of a call: its value, or the error. */
export interface Called {
  value?: unknown;
  error?: { name: string; message: string; advice?: string };
  output: string;
}

/**
 * Calls an exported function of a script in a separate process: the scripts are ES modules and read their environment
 * when they are loaded. Its arguments are JavaScript expressions; `node` is the Node that runs it.
 */
export async function call(
  script: string,
  name: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  node = NODE,
): Promise<Called> {
  const program = `
    import { ${name} } from ${JSON.stringify(pathToFileURL(join(SCRIPTS, script)).href)};
    const { env } = process;
    const result = await Promise.resolve().then(() => ${name}(${args.join(", ")})).then(
      (value) => ({ value }),
      (error) => ({ error: { name: error.name, message: error.message, advice: error.advice } }),
    );
    console.log(${JSON.stringify(MARK)} + JSON.stringify(result));`;
  const { output } = await runProcess(node, ["--input-type=module", "-e", program], { env });
  const at = output.lastIndexOf(MARK);
  if (at < 0) throw new Error(`the call of ${name} left no result:\n${output}`);
  const result = JSON.parse(output.slice(at + MARK.length)) as Omit<Called, "output">; // written by the program above
  return { ...result, output: output.slice(0, at) };
}
