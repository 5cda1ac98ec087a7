import { setTimeout as pause } from "node:timers/promises";
import { visible } from "../../contract/hiddenKeys";
import { nameInUrn } from "../../contract/identifiers";
import { KINDS, typeToken } from "../../contract/pointer";
import { terminalText } from "../output";
import { NamelessFile } from "../stack/namelessFile";
import { type Pulumi, pulumiIn, withoutSecrets } from "../stack/pulumi";
import { exportedState, stateKey, type StackState } from "../stack/state";
import { BusyError, refuseLocked, refuseUnfinished, UnfinishedError } from "../stack/unfinished";
import { type EventLog, keyOf, readEventLog, type RefreshResult } from "./eventLog";
import { type Refreshed, refreshedBy } from "./refreshed";

/** Resources of this package, at any depth: no other package is asked, so none needs its credentials here. */
const OURS = "**pulumi-nodejs:dynamic/svc:**";

/** What a refresh found, and the state that it began and ended with. */
export interface RefreshedStack {
  readonly resources: readonly Refreshed[];
  readonly state: StackState;
}

export interface LookOptions {
  /** The states hold their secrets in clear: in memory only. */
  readonly withSecrets: boolean;
  /** How long an update of a stack may go on before the look ends with it. */
  readonly waitSeconds: number | undefined;
  /** The resources that are asked, by their URNs. @default all of ours */
  readonly targets?: readonly string[];
}

/**
 * Looks at stacks that nobody changes meanwhile: what an update has changed at the service and not stored yet would look
 * like drift. The engine stores that it begins before it asks a provider to change something, and the result afterwards.
 * So an update that has changed anything of what was seen has a pending operation at the beginning, or another state at the end.
 * A lock is met only where the CLI refuses to work beside it (`refuseLocked`): no command asks for one.
 * @param names the stacks; the selected one without any. One after the other: each asks the service for all that it holds.
 * @param look what else is looked at, before anybody may change it.
 * @throws in the words of the CLI, where a stack holds nothing of ours, and where an update runs longer than one may wait.
 */
export async function lookedAt<Found>(
  names: readonly string[],
  options: LookOptions,
  look: (stacks: readonly RefreshedStack[]) => Promise<Found>,
): Promise<Found> {
  const { waitSeconds = 0 } = options;
  const end = Date.now() + waitSeconds * 1_000;
  for (let isTold = false; ; isTold = true) {
    try {
      return await lookedOnce(names, options, look);
    } catch (error) {
      const left = end - Date.now();
      if (!(error instanceof UnfinishedError) || left <= 0) throw error;
      if (!isTold)
        process.stderr.write(
          `pulumi-svc: ${terminalText(`${error.what}. Waiting for its end, ${waitSeconds} s at most`)}\n`,
        );
      await pause(Math.min(LOOK_EVERY_MS, left));
    }
  }
}

/** Each look at a state that is not at rest costs a command of the CLI. */
const LOOK_EVERY_MS = 3_000;

/** As `lookedAt`, where the refresh is all that is looked at. */
export function refreshedStacks(names: readonly string[], options: LookOptions): Promise<readonly RefreshedStack[]> {
  return lookedAt(names, options, (stacks) => Promise.resolve(stacks));
}

async function lookedOnce<Found>(
  names: readonly string[],
  { withSecrets, targets }: LookOptions,
  look: (stacks: readonly RefreshedStack[]) => Promise<Found>,
): Promise<Found> {
  const asked: { readonly name: string | undefined; readonly pulumi: Pulumi; readonly state: StackState }[] = [];
  for (const name of new Set(names.length === 0 ? [undefined] : names)) {
    const pulumi = pulumiIn(process.cwd(), name);
    const state = await exportedState(pulumi, withSecrets);
    refuseUnfinished(state);
    asked.push({ name, pulumi, state });
  }
  const mustBeAsBefore = async (): Promise<void> => {
    for (const { pulumi, state } of asked) {
      const now = await exportedState(pulumi, withSecrets);
      refuseUnfinished(now);
      if (now.text !== state.text) throw new UnfinishedError("it has changed the state during the look at it");
    }
  };
  try {
    const stacks: RefreshedStack[] = [];
    for (const one of asked) stacks.push(await refreshed(one, targets));
    const found = await look(stacks);
    await mustBeAsBefore();
    return found;
  } catch (error) {
    if (error instanceof BusyError) throw error;
    // What an update does makes a look fail, too: then that is the reason.
    await mustBeAsBefore().catch((reason: unknown) => {
      if (reason instanceof BusyError) throw reason;
    });
    throw error;
  }
}

/**
 * Runs the CLI's refresh, which changes nothing and does not run the program, and reads its event log: what the
 * Automation API reads, too. The output of `--json` holds the state from before.
 * @throws where a resource was not looked at, and where there is none of ours.
 */
async function refreshed(
  { name, pulumi, state }: { readonly name: string | undefined; readonly pulumi: Pulumi; readonly state: StackState },
  targets: readonly string[] | undefined,
): Promise<RefreshedStack> {
  const command = ["refresh", "--preview-only", "--run-program=false"] as const;
  const { results } = await loggedRun(pulumi, command, targets ?? [OURS]);
  mustHoldAll(results, state, targets);
  const resources = refreshedBy(results, state);
  if (resources.length === 0 && targets === undefined) {
    const which = name === undefined ? "the stack" : `the stack ${name}`;
    throw new Error(
      `${which} holds no resource of pulumi-svc, so there is nothing to check. Run pulumi up first, or name another stack with --stack`,
    );
  }
  return { resources, state };
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
    process.stderr.write(log.traced.map((line) => `${terminalText(line)}\n`).join(""));
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
