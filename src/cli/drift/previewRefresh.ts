import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Pulumi, pulumiIn, withoutSecrets } from "../stack/pulumi";
import { exportedState, type StackState } from "../stack/state";
import { type EventLog, readEventLog } from "./eventLog";
import { type Refreshed, refreshedBy } from "./refreshed";

/** Resources of this package, at any depth: no other package is asked, so none needs its credentials here. */
const OURS = "**pulumi-nodejs:dynamic/svc:**";

/** What a refresh found, and the state that it began with. */
export interface RefreshedStack {
  readonly resources: readonly Refreshed[];
  readonly state: StackState;
}

/**
 * The stacks of these names, the selected one without any. One after the other: each asks the service for all that it holds.
 * @throws in the words of the CLI, and where a stack holds nothing of ours.
 */
export async function refreshedStacks(names: readonly string[], withSecrets: boolean): Promise<RefreshedStack[]> {
  const stacks: RefreshedStack[] = [];
  for (const name of new Set(names.length === 0 ? [undefined] : names)) {
    const refreshed = await previewRefresh(name, withSecrets);
    if (refreshed.resources.length === 0) {
      const which = name === undefined ? "the stack" : `the stack ${name}`;
      throw new Error(
        `${which} holds no resource of pulumi-svc, so there is nothing to check. Run pulumi up first, or name another stack with --stack`,
      );
    }
    stacks.push(refreshed);
  }
  return stacks;
}

/**
 * Runs the CLI's refresh, which changes nothing and does not run the program, and reads its event log: what the
 * Automation API reads, too. The output of `--json` holds the state from before.
 * @param withSecrets the state holds its secrets in clear: in memory only.
 * @param targets the resources that are asked, by their URNs or by patterns of them.
 * @throws in the words of the CLI.
 */
export async function previewRefresh(
  stack: string | undefined,
  withSecrets: boolean,
  targets: readonly string[] = [OURS],
): Promise<RefreshedStack> {
  const pulumi = pulumiIn(process.cwd(), stack);
  const results = await refreshResults(pulumi, targets);
  const state = await exportedState(pulumi, withSecrets);
  return { resources: refreshedBy(results, state), state };
}

async function refreshResults(pulumi: Pulumi, targets: readonly string[]) {
  const { results } = await loggedRun(pulumi, ["refresh", "--preview-only", "--run-program=false"], targets);
  return results;
}

/**
 * Runs a command of the CLI that takes targets and leaves an event log.
 * @param onStart gets a reader of the log as it is at that moment.
 * @throws in the words of the CLI.
 */
export async function loggedRun(
  pulumi: Pulumi,
  command: readonly [string, ...string[]],
  targets: readonly string[],
  onStart: (soFar: () => Promise<EventLog>) => void = () => undefined,
): Promise<EventLog> {
  const folder = await mkdtemp(join(tmpdir(), "pulumi-svc-drift-"));
  const file = join(folder, "events.json");
  const soFar = async (): Promise<EventLog> => {
    const text = await readFile(file, "utf8").catch(() => "");
    // The last line may be half written.
    return readEventLog(text.slice(0, text.lastIndexOf("\n") + 1));
  };
  onStart(soFar);
  try {
    const args = [...command, ...targets.flatMap((target) => ["--target", target]), "--event-log", file];
    const run = await pulumi(args, { isLong: true });
    const log = readEventLog(await readFile(file, "utf8").catch(() => ""));
    if (!run.ok || log.errors.length > 0) throw failure(command[0], [...log.errors, ...run.errors], run.reason);
    return log;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function failure(command: string, errors: readonly string[], reason: string): Error {
  const [first = reason, ...others] = [...new Set(errors)].filter((text) => !/^(preview|update) failed$/.test(text));
  // The rest is a stack, where SVC_DEBUG asks for it.
  const [line = ""] = first.split("\n");
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  // An older CLI has nothing but these words for it.
  const advice = line.startsWith("unknown flag") ? ". This CLI is too old for pulumi-svc: update it" : "";
  return new Error(`pulumi ${command} failed: ${withoutSecrets(line)}${more}${advice}`);
}
