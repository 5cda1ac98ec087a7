import { nameInUrn } from "../../../contract/identifiers";
import { REPAIR_VARIABLE } from "../../../contract/settings";
import { terminalText } from "../../output";
import { type Pulumi, withoutSecrets } from "../../stack/pulumi";
import type { EventLog } from "../eventLog";
import { loggedRun } from "../previewRefresh";
import { MARK_NAME } from "./mark";
import { otherPackages } from "./otherPackages";
import { type ProgramRun, serveProgram } from "./programServer";
import type { PartialProgram } from "./registration";

const SHOW_EVERY_MS = 300;
/** Distinguishes the update from a deployment in the stack's history. */
export const MESSAGE = "pulumi-svc drift --repair";

/** The first CLI that keeps the order of the state for a program that declares only a part of it. */
const OLDEST_CLI = [3, 259, 0] as const;

/** @throws if the CLI is missing or too old. An older CLI could write a state that it cannot read afterwards. */
export async function checkCli(pulumi: Pulumi): Promise<void> {
  const { ok, stdout, reason } = await pulumi(["version"]);
  if (!ok) throw new Error(`pulumi version failed: ${reason}`);
  const version = /(\d+)\.(\d+)\.(\d+)/.exec(stdout)?.slice(1).map(Number) ?? [];
  const at = OLDEST_CLI.findIndex((part, index) => part !== version[index]);
  if (at >= 0 && (version[at] ?? 0) < (OLDEST_CLI[at] ?? 0)) {
    throw new Error(
      `drift --repair needs the Pulumi CLI ${OLDEST_CLI.join(".")} or later, and this is ${terminalText(stdout.slice(0, 40))}: update it`,
    );
  }
}

/** The engine's message for a protected resource, also for one that is replaced along with another. */
const PROTECTED = /unable to replace resource "([^"]+)"(?: as part of replacing "([^"]+)")?/;

/** The engine's words before what the provider has to say against a plan. */
const PROBLEM = /\bresource '[^']*' has a problem: (.+)/;

/**
 * Previews an update of the engine with a refresh.
 * @throws if the engine refuses the update, with our own message for a protected resource.
 */
export async function previewed(pulumi: Pulumi, declared: PartialProgram): Promise<EventLog> {
  const command = ["preview", "--refresh", "--message", MESSAGE] as const;
  try {
    return await engineRun(pulumi, command, declared, ({ register }) => register());
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const [, problem] = PROBLEM.exec(message) ?? [];
    if (problem !== undefined) throw new Error(`nothing was changed: ${problem}`);
    const [, urn, cause = urn] = PROTECTED.exec(message) ?? [];
    if (urn === undefined || cause === undefined) throw error;
    const why =
      cause === urn ? "its repair replaces it" : `it depends on ${nameInUrn(cause)}, whose repair replaces both`;
    throw new Error(
      `nothing was changed: ${nameInUrn(urn)} is protected, and ${why}. Run pulumi state unprotect '${urn}' first (with deletionProtection, turn that off by a pulumi up instead), or repair the others by their names`,
    );
  }
}

const UPDATE = ["up", "--yes", "--skip-preview", "--message", MESSAGE] as const;

/** Runs an update of the engine with a refresh, and shows its progress on standard error. */
export function updated(pulumi: Pulumi, declared: PartialProgram, program: Program): Promise<EventLog> {
  return engineRun(pulumi, [...UPDATE, "--refresh"], declared, program);
}

/** Runs an update of the engine that calls no provider. */
export function stored(pulumi: Pulumi, declared: PartialProgram, program: Program): Promise<EventLog> {
  return engineRun(pulumi, UPDATE, declared, program);
}

/** `soFar` reads the engine's events so far: the refresh is over when a program runs. */
type Program = (run: ProgramRun, soFar: () => EventLog) => Promise<void>;

async function engineRun(
  pulumi: Pulumi,
  command: readonly [string, ...string[]],
  declared: PartialProgram,
  program: Program,
): Promise<EventLog> {
  let soFar: (() => EventLog) | undefined;
  let shown = 0;
  const show = ({ progress }: EventLog): void => {
    const news = progress.slice(shown).filter((line) => !line.startsWith(`${MARK_NAME}: `));
    shown = progress.length;
    process.stderr.write(news.map((line) => `${terminalText(withoutSecrets(line))}\n`).join(""));
  };
  const server = await serveProgram(declared, (run) => {
    if (soFar === undefined) throw new Error("the program was asked for before the CLI was started");
    return program(run, soFar);
  });
  const isShown = command[0] === "up";
  const look = (): void => {
    if (soFar !== undefined) show(soFar());
  };
  const timer = isShown ? setInterval(look, SHOW_EVERY_MS) : undefined;
  try {
    const args = [...command, `--client=${server.address}`] as const;
    const env = { ...withOthers(otherPackages(declared), server.port), [REPAIR_VARIABLE]: "1" };
    const cli: Pulumi = (given, options) => pulumi(given, { ...options, env });
    const log = await loggedRun(cli, args, [...declared.targets], (reader) => (soFar = reader));
    if (isShown) show(log);
    return log;
  } catch (error) {
    // If the program itself refused, its message is the useful one.
    throw server.failure() ?? error;
  } finally {
    clearInterval(timer);
    server.close();
  }
}

/**
 * The engine connects to the provider at this variable's port instead of starting one for the package. The first entry
 * wins.
 */
function withOthers(packages: readonly string[], port: number): NodeJS.ProcessEnv {
  const given = process.env["PULUMI_DEBUG_PROVIDERS"] ?? "";
  const entries = [...packages.map((name) => `${name}:${port}`), ...(given === "" ? [] : [given])];
  return entries.length === 0 ? {} : { PULUMI_DEBUG_PROVIDERS: entries.join(",") };
}
