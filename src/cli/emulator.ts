import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { setImmediate } from "node:timers/promises";
import { Option, type Command } from "commander";
import type { Emulator, EmulatorOptions, EmulatorSeed } from "../emulator";
import { connectionUri } from "../helpers/connectionUri";
import { addTokenCommand } from "./emulatorToken";
import { exitCodes } from "./options";

/** Where the flag has another name, or another value, than the option. */
type Renamed =
  "log" | "projects" | "seed" | "anyOAuthProvider" | "oauthProviderIds" | "otherApiKeys" | "lockStatus" | "variants";

interface Flags extends Omit<EmulatorOptions, Renamed> {
  readonly log?: boolean;
  readonly anyOauthProvider?: boolean;
  readonly oauthProviderId?: string[];
  readonly otherApiKey?: string[];
  readonly lockStatus: "423" | "409";
  readonly project?: string[];
  /** The path of a file. */
  readonly seed?: string;
  readonly exec?: string;
}

/** The source of the key. Only the well-known default key is printed. */
type KeySource = "default" | "env" | "cli";

/** Not a usage error: the command line is well-formed, but the value is wrong. */
const wholeNumber =
  (flag: string) =>
  (text: string): number => {
    if (!/^\d{1,15}$/.test(text)) throw new Error(`${flag} takes a whole number, 0 or more`);
    return Number(text);
  };

/** For a flag that may be repeated. */
const collected = (value: string, earlier: string[] = []): string[] => [...earlier, value];

const numberOption = (flag: string, description: string, standard: number): Option =>
  new Option(`${flag} <number>`, description).argParser(wholeNumber(flag)).default(standard);

const NO_ARGUMENTS =
  "error: the emulator takes no arguments, and --postgres no address: it makes a Postgres of its own for each branch";

/** The signals that stop the emulator. If a command runs beside it, these and more go to the command. */
const STOPPING = ["SIGTERM", "SIGINT"] as const;
const PASSED_ON = [...STOPPING, "SIGHUP"] as const;

/**
 * `pulumi-svc emulator`: a flag for each of EmulatorOptions except the variants, an optional command to run beside it,
 * and `token`.
 */
export function addEmulatorCommand(program: Command): void {
  const command = program
    .command("emulator")
    .description("Run a local emulator of the service until it is stopped")
    .enablePositionalOptions()
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .addOption(numberOption("--port", "port to listen on, 0 = any free one", 8787))
    .addOption(new Option("--api-key <key>", "the key to accept").env("SVC_EMULATOR_API_KEY").default("test-key"))
    .option("--other-api-key <key>", "a key of another account, which sees no project; may be repeated", collected)
    .option("--auth-provider <name>", "the supported auth provider", "supported_provider")
    .addOption(numberOption("--activation-ms", "how long a compute takes to start", 1500))
    .addOption(numberOption("--latency-ms", "delay before each response", 0))
    .addOption(numberOption("--idle-after-ms", "suspend an active compute after this time, 0 = never", 0))
    .option("--lock-projects", "answer 423 while an operation of the project runs")
    .addOption(new Option("--lock-status <status>", "the status of that answer").choices(["423", "409"]).default("423"))
    .option("--project <id>", "start with this project instead of prj-demo; may be repeated", collected)
    .option("--seed <file>", "start with the projects in this JSON file, and their contents")
    .option("--exec <command>", "run this command with SVC_BASE_URL, SVC_API_KEY and others set, and stop when it ends")
    .option("--seed-only", "serve only the routes of the API document")
    .option("--data <file>", "keep the state in this file")
    .addOption(numberOption("--rate-per-second", "requests per second and route before a 429, 0 = no limit", 0))
    .addOption(numberOption("--rate-per-minute", "requests per minute before a 429, 0 = no limit", 0))
    .addOption(numberOption("--list-lag-ms", "lists leave out objects that are younger than this", 0))
    .addOption(numberOption("--page-size", "lists show this many objects at once, with a cursor, 0 = all", 0))
    .addOption(
      new Option("--secret-answers <how>", "how responses show secrets")
        .choices(["echo", "masked", "absent"])
        .default("echo"),
    )
    .option("--any-auth-branch", "an integration may belong to a branch that is not the default one")
    .option("--any-oauth-provider", "an OAuth provider may have any id")
    .option("--oauth-provider-id <id>", "the only ids that an OAuth provider may have; may be repeated", collected)
    .option("--app-domains", "a redirect domain may be the address of an app, such as myapp://callback")
    .option("--postgres", "let the computes accept connections, with a Postgres of its own for each branch")
    .addOption(numberOption("--postgres-port", "port for connections to the computes, 0 = any free one", 0))
    .addOption(numberOption("--time-scale", "let the suspend timeouts of computes pass this many times faster", 1))
    .option("--log", "print a line for each request and connection on standard error")
    .option("--mail-remote", "let POST /_emulator/mail send to e-mail servers on other machines")
    .addHelpText("after", exitCodes("it was stopped. With --exec, the exit code of the command"));

  addTokenCommand(command);
  // Otherwise commander refuses the address that an earlier --postgres took, without saying why.
  command.allowExcessArguments();
  command.action(async (given: Flags) => {
    if (command.args.length > 0) command.error(NO_ARGUMENTS);
    const isGiven = (flag: string): boolean => command.getOptionValueSource(flag) !== "default";
    const {
      project,
      seed,
      exec,
      log = false,
      anyOauthProvider = false,
      oauthProviderId,
      otherApiKey,
      ...flags
    } = given;
    const options: EmulatorOptions = {
      ...flags,
      anyOAuthProvider: anyOauthProvider,
      lockStatus: flags.lockStatus === "409" ? 409 : 423,
      ...(oauthProviderId !== undefined && { oauthProviderIds: oauthProviderId }),
      ...(otherApiKey !== undefined && { otherApiKeys: otherApiKey }),
      ...(project !== undefined && { projects: project }),
      ...(seed !== undefined && { seed: readSeed(seed) }),
      ...(log && { log: (line: string) => void process.stderr.write(`${line}\n`) }),
      // The command receives the port, so it need not be known in advance.
      ...(exec !== undefined && !isGiven("port") && { port: 0 }),
    };
    // A reader may close the pipe early; the emulator continues to serve.
    for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
    const [emulator, signal] = await holdingBack(exec === undefined ? STOPPING : PASSED_ON, () =>
      started(options, seed),
    );
    if (signal !== undefined) {
      await emulator.close();
      // The exit code that a shell reports for a command ended by a signal. Without a command, a signal is the normal
      // way to stop.
      process.exitCode = exec === undefined ? 0 : 128 + constants.signals[signal];
      return;
    }
    if (exec !== undefined) {
      process.exitCode = await runBeside(emulator, exec);
      return;
    }
    stopOnSignal(emulator);
    // The only sources that commander has for this flag.
    process.stdout.write(greeting(emulator, command.getOptionValueSource("apiKey") as KeySource));
  });
}

/** Not validated here: the emulator checks it. */
function readSeed(file: string): EmulatorSeed {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as EmulatorSeed;
  } catch (error) {
    // The parser's message quotes the file, which may contain secrets.
    const why = error instanceof SyntaxError ? "it is not JSON" : messageOf(error);
    throw new Error(`cannot read the seed file "${file}": ${why}`);
  }
}

async function started(options: EmulatorOptions, seedFile: string | undefined): Promise<Emulator> {
  // Loaded on demand: the other commands need no web server.
  const { startEmulator } = await import("../emulator/index.js");
  return startEmulator(options).catch((error: unknown) => {
    throw new Error(startFailure(error, options, seedFile));
  });
}

/**
 * The result of the work, and the signal that arrived meanwhile. An interrupted start would leave temporary folders. A
 * second signal ends the process at once.
 */
async function holdingBack<T>(
  signals: readonly NodeJS.Signals[],
  work: () => Promise<T>,
): Promise<[made: T, signal: NodeJS.Signals | undefined]> {
  let came: NodeJS.Signals | undefined;
  const note = (signal: NodeJS.Signals): void => {
    came = signal;
    stopNoting();
  };
  const stopNoting = (): void => signals.forEach((signal) => process.off(signal, note));
  for (const signal of signals) process.on(signal, note);
  try {
    const made = await work();
    // A signal is noticed between two turns of the event loop, and the work may have taken none.
    for (let turn = 0; turn < 2; turn += 1) await setImmediate();
    return [made, came];
  } finally {
    stopNoting();
  }
}

function startFailure(error: unknown, { host, port }: EmulatorOptions, seedFile: string | undefined): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return `port ${port} on ${host} is in use: choose another with --port, 0 takes any free one`;
  if (code === "SEED" && seedFile !== undefined) return `${messageOf(error)} (in "${seedFile}")`;
  return inFlags(messageOf(error));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A flag that may be repeated is named after one of its values. */
const REPEATED = new Map([
  ["projects", "project"],
  ["otherApiKeys", "otherApiKey"],
  ["oauthProviderIds", "oauthProviderId"],
]);

/** The emulator names its options as in code. */
const inFlags = (message: string): string =>
  message.replace(/^emulator option (\w+)/, (_, option: string) => {
    const name = REPEATED.get(option) ?? option;
    return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  });

/**
 * Every route requires the key there, but a web page whose name points at this machine (DNS rebinding) knows the
 * default key, too.
 */
const OPEN =
  "warning: other machines, and web pages in a browser here, can reach this address, and everybody knows the default " +
  "key: set your own in SVC_EMULATOR_API_KEY";

function greeting(emulator: Emulator, keySource: KeySource): string {
  const { baseUrl, apiKey } = emulator;
  // A shell may take the brackets of an IPv6 address for a pattern.
  const typed = baseUrl.includes("[") ? `"${baseUrl}"` : baseUrl;
  const projects = emulator.projects().map(({ id, branches }) => {
    const named = branches.map((branch) => {
      const facts = [branch.default && "default", branch.primaryId !== undefined && "with a primary compute"];
      const words = facts.filter((fact) => fact !== false).join(", ");
      return words === "" ? branch.id : `${branch.id} (${words})`;
    });
    return `project ${id}: branches ${named.join(", ")}`;
  });
  const given = "the one that was given";
  const asked = "   # asks for the key";
  // libpq and the drivers of Node read PGPASSWORD.
  const [shown, exported, configured, login] = {
    default: [`${apiKey} (the default)`, `SVC_API_KEY=${apiKey}`, ` ${apiKey}`, ""],
    env: [given, 'SVC_API_KEY="$SVC_EMULATOR_API_KEY"', asked, 'PGPASSWORD="$SVC_EMULATOR_API_KEY" '],
    cli: [given, "SVC_API_KEY   # read -rs SVC_API_KEY asks for it", asked, 'PGPASSWORD="$SVC_API_KEY" '],
  }[keySource];
  // On an address that other machines can reach, the page's URL has no token.
  const isReached = new URL(emulator.pageUrl).hash === "";
  const warning = isReached && keySource === "default" ? `${OPEN}\n` : "";
  const asks = isReached ? " (the page asks for the API key)" : "";
  const uri = connectionString(emulator, keySource === "default" ? apiKey : undefined);
  const connecting = uri === undefined ? "" : `${login}psql "${uri}"\n`;
  const authority = emulator.gateCa === undefined ? "" : `authority of its TLS: ${emulator.gateCa}\n`;
  return `listening on ${baseUrl}
${projects.join("\n")}
API key: ${shown}
${warning}${connecting}${authority}look at it in a browser: ${emulator.pageUrl}${asks}

To use it, in the shell of the program:
  export SVC_BASE_URL=${typed} ${exported}
or in the configuration of its stack:
  pulumi config set svc:baseUrl ${typed}
  pulumi config set --secret svc:apiKey${configured}
`;
}

/** For the primary on the default branch of the first project. */
function connectionString(emulator: Emulator, password: string | undefined): string | undefined {
  const [project] = emulator.projects();
  const primaryId = project?.branches.find((branch) => branch.default)?.primaryId;
  if (emulator.gate === undefined || primaryId === undefined) return undefined;
  const login = { role: "svcdb_owner", database: "svcdb", ...(password !== undefined && { password }) };
  return connectionUri({ host: primaryId, gate: emulator.gate, ...login });
}

function stopOnSignal(emulator: Emulator): void {
  const stop = (): void => {
    emulator.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`pulumi-svc: ${messageOf(error)}\n`);
        process.exit(1);
      },
    );
  };
  for (const signal of STOPPING) process.once(signal, stop);
}

/** Resolves to the command's exit code, as a shell reports it. */
async function runBeside(emulator: Emulator, command: string): Promise<number> {
  const isWindows = process.platform === "win32";
  const child = spawn(command, {
    shell: true,
    stdio: "inherit",
    env: {
      ...process.env,
      SVC_BASE_URL: emulator.baseUrl,
      SVC_API_KEY: emulator.apiKey,
      ...(emulator.gate !== undefined && { SVC_POSTGRES_GATE: emulator.gate, SVC_POSTGRES_CA: emulator.gateCa }),
      SVC_POSTGRES_URL: connectionString(emulator, emulator.apiKey),
    },
    // In its own process group: Ctrl-C reaches only this process, which passes it once to everything the command
    // started.
    detached: !isWindows,
  });
  for (const signal of PASSED_ON) {
    process.on(signal, () => {
      if (child.pid === undefined) return;
      try {
        process.kill(isWindows ? child.pid : -child.pid, signal);
      } catch {
        // The process has already ended.
      }
    });
  }
  try {
    return await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 1 : constants.signals[signal])));
    });
  } finally {
    await emulator.close();
  }
}
