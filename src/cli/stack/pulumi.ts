import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { KnownValues } from "../../client/http/knownValues";
import { projectFolder } from "../../contract/projectFile";
import { resolveReference, variable } from "../../contract/references";
import { NamelessFile } from "./namelessFile";
import { startOfPaths } from "./projectFile";

const LONGEST_LOOK_MS = 60_000;

/** Secrets of the environment that the Pulumi CLI may repeat. */
const SECRETS = ["SVC_API_KEY", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"];

/** Of any other variable: a program may name it for a secret or for the key of an account. The path of a file is none. */
const SECRET_VARIABLE = /(secret|pass|token|key|credential)(?!.*_FILE$)/i;

/** Of a variable that only sounds like a secret, such as a flag: a shorter text is a part of words. */
const SHORTEST_SECRET = 6;

export interface Run {
  readonly ok: boolean;
  readonly stdout: string;
  /** The errors that the CLI reports on standard error. */
  readonly errors: readonly string[];
  /** Of a failure: why, in one line, without secrets. */
  readonly reason: string;
}

export interface RunOptions {
  /**
   * It may take long, and writes its events there. There is no limit then. It hangs neither on our pipes nor on our terminal,
   * so that what it has begun comes to its end whatever becomes of this process; a signal to us is passed on, for it knows how
   * to end.
   */
  readonly events?: NamelessFile;
  /** The same of a plan that is read from its standard output: without a limit, and with signals that are passed on. */
  readonly isLong?: boolean;
  /** It is to end whatever happens: Ctrl-C does not reach it. */
  readonly isShielded?: boolean;
  /** For its standard input, which no list of processes shows. */
  readonly input?: string;
  /** Variables beside those of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs the Pulumi CLI. What it prints may hold secrets: it goes nowhere but to the caller. */
export type Pulumi = (args: readonly string[], options?: RunOptions) => Promise<Run>;

/** In this folder. `stack`: instead of the selected one. */
export function pulumiIn(folder: string, stack: string | undefined): Pulumi {
  const selected = stack === undefined ? [] : ["--stack", stack];
  return (args, { events, isLong = events !== undefined, isShielded = false, input, env = {} } = {}) => {
    const options = events === undefined ? [] : ["--event-log", events.pathAs(3)];
    const all = [...args, ...options, ...(args[0] === "version" ? [] : ["--non-interactive", ...selected])];
    const messages = events && new NamelessFile();
    const child = spawn("pulumi", all, {
      cwd: folder,
      env: { ...environment(), ...(isLong && { NODE_OPTIONS: endingWithEngine() }), ...env },
      stdio: events && messages ? ["ignore", "ignore", messages.fd, events.fd] : "pipe",
      // A terminal signals the processes of one group, and hangs up on those of one session.
      detached: isShielded || isLong,
      // Not its option `timeout`: where the CLI is missing, that keeps this process until it is over.
      ...(!isLong && { signal: AbortSignal.timeout(LONGEST_LOOK_MS) }),
    });
    // One that ends before it has read all says why on standard error.
    child.stdin?.on("error", () => undefined).end(input);
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
    let isAsked = false;
    const pass = (signal: NodeJS.Signals): void => {
      // A second signal ends the CLI at once. Only who presses Ctrl-C again means that.
      if (signal === "SIGINT" || !isAsked) child.kill(signal === "SIGINT" ? signal : "SIGTERM");
      isAsked = true;
    };
    if (isLong) for (const signal of ENDING) process.on(signal, pass);
    return new Promise<Run>((resolve) => {
      child.on("error", (error) => resolve({ ok: false, stdout, errors: [], reason: reasonOf(error) }));
      child.on("close", (code) => {
        stderr += messages?.text() ?? "";
        const errors = [...stderr.matchAll(/^error:\s*(.*)$/gm)].map(([, text = ""]) => text);
        const [line = "it gave no reason"] = [...errors, ...stderr.split("\n").filter((text) => text.trim() !== "")];
        resolve({ ok: code === 0, stdout: stdout.trim(), errors, reason: withoutSecrets(line.trim()).slice(0, 300) });
      });
    }).finally(() => {
      messages?.close();
      for (const signal of ENDING) process.off(signal, pass);
    });
  };
}

/** What asks a process to end: who presses Ctrl-C, a runner, and a terminal that is closed. */
export const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Its providers end with it, whatever ends it. */
function endingWithEngine(): string {
  const preload = join(__dirname, "..", "..", "doors", "dynamic", "watched.js");
  return `${process.env["NODE_OPTIONS"] ?? ""} --require ${JSON.stringify(preload)}`.trim();
}

function environment(): NodeJS.ProcessEnv {
  // The first one brings out the flag --event-log.
  const env: NodeJS.ProcessEnv = { ...process.env, PULUMI_DEBUG_COMMANDS: "true", PULUMI_SKIP_UPDATE_CHECK: "true" };
  // The CLI refuses it beside --preview-only.
  delete env["PULUMI_SKIP_CONFIRMATIONS"];
  // No command of ours runs the program.
  delete env["PULUMI_RUN_PROGRAM"];
  // After an error nothing more is deleted.
  delete env["PULUMI_CONTINUE_ON_ERROR"];
  delete env["PULUMI_OPTION_CONTINUE_ON_ERROR"];
  return { ...env, NO_COLOR: "1" };
}

function reasonOf(error: Error & { code?: string }): string {
  if (error.name === "AbortError") return `it did not end within ${LONGEST_LOOK_MS / 1000} s`;
  if (error.code === "ENOENT") return "the Pulumi CLI was not found: install it, and put its folder on PATH";
  return `the Pulumi CLI could not be started: ${error.message}`;
}

/** What the CLI says, without the secrets of the environment and of key files, and without an address that may hold one. */
export function withoutSecrets(text: string): string {
  const known = new KnownValues();
  // What is around a key is cut before it is sent.
  for (const secret of secretTexts()) known.add(secret.trim());
  return known
    .hide(text)
    .replace(/\b[a-z][\w+.-]*:\/\/[^\s"']+/gi, (address) => (/[@?]/.test(address) ? "[address]" : address));
}

/** Read anew each time: what is told is rare, and a file may change meanwhile. */
function secretTexts(): string[] {
  const { variables, files } = configuredNames();
  const sure = [...SECRETS, ...variables].map((name) => variable(name) ?? "");
  const likely = Object.entries(process.env).flatMap(([name, value = ""]) =>
    SECRET_VARIABLE.test(name) && value.trim().length >= SHORTEST_SECRET ? value : [],
  );
  return [...sure, ...likely, ...files.map(textOfFile)];
}

/** Where the key of the account is: what the configurations of all stacks around this folder name, and the environment. */
function configuredNames(): { variables: string[]; files: string[] } {
  const variables: string[] = [];
  const files = [process.env["SVC_API_KEY_FILE"] ?? ""];
  const folder = projectFolder(process.cwd());
  for (const text of folder === undefined ? [] : stackFiles(folder)) {
    // Of YAML: one setting a line. A name that is encrypted is not seen.
    for (const [, form, name = ""] of text.matchAll(/^\s*["']?svc:apiKey(Env|File)["']?:\s*["']?([^"'#\r\n]+)/gm))
      (form === "Env" ? variables : files).push(name.trim());
  }
  const start = startOfPaths(process.cwd());
  return { variables, files: files.filter((path) => path.trim() !== "").map((path) => resolve(start, path.trim())) };
}

function stackFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => /^Pulumi\..+\.ya?ml$/.test(name));
    return names.map((name) => readFileSync(join(folder, name), "utf8"));
  } catch {
    // What cannot be read names nothing.
    return [];
  }
}

function textOfFile(path: string): string {
  const found = resolveReference({ fromFile: path });
  return "value" in found ? found.value : "";
}
