import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { KnownValues } from "../../client/http/knownValues";
import { projectFolder } from "../../contract/projectFile";
import { resolveReference, variable } from "../../contract/references";
import { NamelessFile } from "./namelessFile";
import { startOfPaths } from "./projectFile";

const LONGEST_LOOK_MS = 60_000;

/** Secret environment variables that the Pulumi CLI may print. */
const SECRETS = ["SVC_API_KEY", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"];

/**
 * Other variables whose name suggests a secret: a program may use them for a secret or an account's key. The path of a
 * file is not secret.
 */
const SECRET_VARIABLE = /(secret|pass|token|key|credential)(?!.*_FILE$)/i;

/** For variables that only sound secret, such as flags: a shorter text would match parts of words. */
const SHORTEST_SECRET = 6;

export interface Run {
  readonly ok: boolean;
  readonly stdout: string;
  /** The errors that the CLI prints on standard error. */
  readonly errors: readonly string[];
  /** For a failure: the reason in one line, without secrets. */
  readonly reason: string;
}

export interface RunOptions {
  /**
   * A long run that writes its events to this file, without a time limit. It uses neither our pipes nor our terminal,
   * so it finishes what it has begun even if this process ends. Signals are passed on, because the CLI knows how to
   * stop.
   */
  readonly events?: NamelessFile;
  /** The same for a plan that is read from standard output: no time limit, and signals are passed on. */
  readonly isLong?: boolean;
  /** The run must finish: Ctrl-C does not reach it. */
  readonly isShielded?: boolean;
  /** Its standard input, which no process list shows. */
  readonly input?: string;
  /** Additional environment variables. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs the Pulumi CLI. Its output may contain secrets and is passed only to the caller. */
export type Pulumi = (args: readonly string[], options?: RunOptions) => Promise<Run>;

/** Runs in this folder. `stack`: instead of the selected one. */
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
      // A terminal signals its foreground process group, and sends a hangup to its session.
      detached: isShielded || isLong,
      // Not the option `timeout`: if the CLI is missing, that keeps this process alive until the time is over.
      ...(!isLong && { signal: AbortSignal.timeout(LONGEST_LOOK_MS) }),
    });
    // If the CLI ends before it has read all input, it gives the reason on standard error.
    child.stdin?.on("error", () => undefined).end(input);
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
    let isAsked = false;
    const pass = (signal: NodeJS.Signals): void => {
      // A second signal ends the CLI at once. Only a second Ctrl-C is passed on as such.
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

/** Signals that ask a process to end: Ctrl-C, a runner, and a closed terminal. */
export const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Makes providers end together with the engine, however it ends. */
function endingWithEngine(): string {
  const preload = join(__dirname, "..", "..", "protocols", "engine", "watched.js");
  return `${process.env["NODE_OPTIONS"] ?? ""} --require ${JSON.stringify(preload)}`.trim();
}

function environment(): NodeJS.ProcessEnv {
  // PULUMI_DEBUG_COMMANDS enables the flag --event-log.
  const env: NodeJS.ProcessEnv = { ...process.env, PULUMI_DEBUG_COMMANDS: "true", PULUMI_SKIP_UPDATE_CHECK: "true" };
  // The CLI refuses it with --preview-only.
  delete env["PULUMI_SKIP_CONFIRMATIONS"];
  // Our commands never run the program.
  delete env["PULUMI_RUN_PROGRAM"];
  // After an error nothing more may be deleted.
  delete env["PULUMI_CONTINUE_ON_ERROR"];
  delete env["PULUMI_OPTION_CONTINUE_ON_ERROR"];
  return { ...env, NO_COLOR: "1" };
}

function reasonOf(error: Error & { code?: string }): string {
  if (error.name === "AbortError") return `it did not end within ${LONGEST_LOOK_MS / 1000} s`;
  if (error.code === "ENOENT") return "the Pulumi CLI was not found: install it, and put its folder on PATH";
  return `the Pulumi CLI could not be started: ${error.message}`;
}

const REPEATS_SECRET = "[the Pulumi CLI's message repeats a secret]";

/**
 * A text of the CLI without addresses that may contain a secret; or `instead`, if it repeats a secret of the environment
 * or of a key file.
 */
export function withoutSecrets(text: string, instead = REPEATS_SECRET): string {
  const known = new KnownValues();
  // The whitespace around a key is removed before it is sent.
  for (const secret of secretTexts()) known.add(secret.trim());
  return known
    .hide(text, instead)
    .replace(/\b[a-z][\w+.-]*:\/\/[^\s"']+/gi, (address) => (/[@?]/.test(address) ? "[address]" : address));
}

/** Read for each message: messages are rare, and a file may change. */
function secretTexts(): string[] {
  const { variables, files } = configuredNames();
  const sure = [...SECRETS, ...variables].map((name) => variable(name) ?? "");
  const likely = Object.entries(process.env).flatMap(([name, value = ""]) =>
    SECRET_VARIABLE.test(name) && value.trim().length >= SHORTEST_SECRET ? value : [],
  );
  return [...sure, ...likely, ...files.map(textOfFile)];
}

/**
 * The variables and files for an account's key that the stacks' configurations around this folder and the environment
 * name.
 */
function configuredNames(): { variables: string[]; files: string[] } {
  const variables: string[] = [];
  const files = [process.env["SVC_API_KEY_FILE"] ?? ""];
  const folder = projectFolder(process.cwd());
  for (const text of folder === undefined ? [] : stackFiles(folder)) {
    // YAML with one setting on each line. An encrypted name is not found.
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
    // A file that cannot be read names nothing.
    return [];
  }
}

function textOfFile(path: string): string {
  const found = resolveReference({ fromFile: path });
  return "value" in found ? found.value : "";
}
