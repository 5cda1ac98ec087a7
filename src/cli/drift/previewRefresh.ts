import { visible } from "../../contract/hiddenKeys";
import { nameInUrn } from "../../contract/identifiers";
import { KINDS, typeToken } from "../../contract/pointer";
import { NamelessFile } from "../stack/namelessFile";
import { type Pulumi, pulumiIn, withoutSecrets } from "../stack/pulumi";
import { exportedState, stateKey, type StackState } from "../stack/state";
import { refuseLocked, refuseUnfinished } from "../stack/unfinished";
import { type EventLog, keyOf, readEventLog, type RefreshResult } from "./eventLog";
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
 * @param targets the resources that are asked, by their URNs. Without: all of ours.
 * @throws in the words of the CLI, while an update of the stack runs, and where a resource was not looked at.
 */
export async function previewRefresh(
  stack: string | undefined,
  withSecrets: boolean,
  targets?: readonly string[],
): Promise<RefreshedStack> {
  const pulumi = pulumiIn(process.cwd(), stack);
  const command = ["refresh", "--preview-only", "--run-program=false"] as const;
  const { results } = await loggedRun(pulumi, command, targets ?? [OURS]);
  const state = await exportedState(pulumi, withSecrets);
  refuseUnfinished(state);
  mustHoldAll(results, state, targets);
  return { resources: refreshedBy(results, state), state };
}

const TYPES: ReadonlySet<string> = new Set(KINDS.map(typeToken));

/** "No drift" is said of what was looked at. */
function mustHoldAll(results: readonly RefreshResult[], state: StackState, targets?: readonly string[]): void {
  const seen = new Set(results.map(keyOf));
  const missing = state.resources.filter(
    ({ urn, id, type, inputs, delete: isLeft, pendingReplacement }) =>
      TYPES.has(type) &&
      (targets?.includes(urn) ?? true) &&
      // One without arguments is only looked up. What a replacement has deleted is passed over by a refresh.
      Object.keys(visible(inputs ?? {})).length > 0 &&
      pendingReplacement !== true &&
      !seen.has(stateKey(urn, { id, delete: isLeft })),
  );
  if (missing.length === 0) return;
  const names = [...new Set(missing.map(({ urn }) => `"${nameInUrn(urn)}"`))].join(", ");
  throw new Error(`pulumi refresh did not tell what it found of ${names}. Run this again`);
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
  onStart: (soFar: () => EventLog) => void = () => undefined,
): Promise<EventLog> {
  const events = new NamelessFile();
  const soFar = (): EventLog => {
    const text = events.text();
    // The last line may be half written.
    return readEventLog(text.slice(0, text.lastIndexOf("\n") + 1));
  };
  onStart(soFar);
  try {
    const run = await pulumi([...command, ...targets.flatMap((target) => ["--target", target])], { events });
    const log = soFar();
    if (!run.ok || log.errors.length > 0) throw failure(command[0], [...log.errors, ...run.errors], run.reason);
    if (!log.isComplete)
      throw new Error(`the events of pulumi ${command[0]} end too early: is the disk of the temporary files full?`);
    return log;
  } finally {
    events.close();
  }
}

function failure(command: string, errors: readonly string[], reason: string): Error {
  const [first = reason, ...others] = [...new Set(errors)].filter((text) => !/^(preview|update) failed$/.test(text));
  // The rest is a stack, where SVC_DEBUG asks for it.
  const [line = ""] = first.split("\n");
  refuseLocked(line);
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  // An older CLI has nothing but these words for it.
  const advice = line.startsWith("unknown flag") ? ". This CLI is too old for pulumi-svc: update it" : "";
  return new Error(`pulumi ${command} failed: ${withoutSecrets(line)}${more}${advice}`);
}
