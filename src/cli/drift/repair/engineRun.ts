import { terminalText } from "../../output";
import { type Pulumi, withoutSecrets } from "../../stack/pulumi";
import type { EventLog } from "../eventLog";
import { loggedRun } from "../previewRefresh";
import { MARK_NAME } from "./mark";
import { type ProgramRun, serveProgram } from "./programServer";

const SHOW_EVERY_MS = 300;
/** So that the history of the stack tells it from a deployment. */
const MESSAGE = "pulumi-svc drift --repair";

/** The first CLI that keeps the order of a state whose program declares a part of it, whatever depends on what. */
const OLDEST_CLI = [3, 259, 0] as const;

/** @throws where the CLI is missing or too old. An older one could write a state that it refuses to read afterwards. */
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

/** What an update of the engine would do, after a refresh. */
export function previewed(pulumi: Pulumi, targets: readonly string[], program: Program): Promise<EventLog> {
  return engineRun(pulumi, ["preview", "--refresh", "--message", MESSAGE], targets, program);
}

const UPDATE = ["up", "--yes", "--skip-preview", "--message", MESSAGE] as const;

/** An update of the engine, after a refresh, with its progress on standard error. */
export function updated(pulumi: Pulumi, targets: readonly string[], program: Program): Promise<EventLog> {
  return engineRun(pulumi, [...UPDATE, "--refresh"], targets, program);
}

/** An update of the engine that asks no provider. */
export function stored(pulumi: Pulumi, targets: readonly string[], program: Program): Promise<EventLog> {
  return engineRun(pulumi, UPDATE, targets, program);
}

/** `soFar` reads what the engine has reported until then: the refresh is over when a program runs. */
type Program = (run: ProgramRun, soFar: () => EventLog) => Promise<void>;

async function engineRun(
  pulumi: Pulumi,
  command: readonly [string, ...string[]],
  targets: readonly string[],
  program: Program,
): Promise<EventLog> {
  let soFar: (() => EventLog) | undefined;
  let shown = 0;
  const show = ({ progress }: EventLog): void => {
    const news = progress.slice(shown).filter((line) => !line.startsWith(`${MARK_NAME}: `));
    shown = progress.length;
    process.stderr.write(news.map((line) => `${terminalText(withoutSecrets(line))}\n`).join(""));
  };
  const server = await serveProgram((run) => {
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
    const log = await loggedRun(pulumi, args, targets, (reader) => (soFar = reader));
    if (isShown) show(log);
    return log;
  } catch (error) {
    // Where the program itself refused, its words are those that count.
    throw server.failure() ?? error;
  } finally {
    clearInterval(timer);
    server.close();
  }
}
