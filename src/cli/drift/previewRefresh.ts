import { setTimeout as pause } from "node:timers/promises";
import { visible } from "../../contract/hiddenKeys";
import { nameInUrn } from "../../contract/identifiers";
import { isOurEntry, OUR_TYPES } from "../../contract/pointer";
import { terminalText } from "../output";
import { say } from "../report/terminal";
import { message, text } from "../report/text";
import { missingPackage } from "../stack/nativePackage";
import { NamelessFile } from "../stack/namelessFile";
import { type Pulumi, pulumiIn, withoutSecrets } from "../stack/pulumi";
import { exportedState, stateKey, type StackState } from "../stack/state";
import { BusyError, refuseLocked, refuseUnfinished, repairMarkIn, UnfinishedError } from "../stack/unfinished";
import { type EventLog, keyOf, readEventLog, type RefreshResult } from "./eventLog";
import { type Refreshed, refreshedBy } from "./refreshed";

/** Our resources at any depth. No other package is refreshed, so no other credentials are needed. */
const OURS = OUR_TYPES.map((begin) => `**${begin}*::**`);

/** The result of a refresh, and the state before and after it. */
export interface RefreshedStack {
  readonly resources: readonly Refreshed[];
  readonly state: StackState;
}

export interface LookOptions {
  /** The states contain decrypted secrets: they stay in memory. */
  readonly withSecrets: boolean;
  /** How long to wait for a running update before giving up. */
  readonly waitSeconds: number | undefined;
  /** The URNs of the resources to refresh. @default all of ours */
  readonly targets?: readonly string[];
  /** For a state with the mark of a repair: brings back the state from before it, or throws. @default nothing does */
  readonly resume?: (pulumi: Pulumi, state: StackState) => Promise<void>;
}

/**
 * Refreshes stacks while nobody changes them: what an update has changed at the service but not stored yet would look
 * like drift. The engine stores a pending operation before it asks a provider for a change, and the result afterwards.
 * So an update that changed anything during the refresh leaves a pending operation before it or a different state after
 * it. A lock shows only if the CLI refuses to run beside it (`refuseLocked`): no command requests one.
 * @param names the stacks, by default the selected one. They run in sequence, because each reads everything from the
 * service.
 * @param look further checks that must happen before anybody may change the stack
 * @throws the CLI's message, or an error if a stack has none of our resources or an update runs longer than the time to
 * wait.
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
      if (!isTold) say(text`${message(error.what)}. Waiting for its end, ${waitSeconds} s at most`);
      await pause(Math.min(LOOK_EVERY_MS, left));
    }
  }
}

/** Each check of a busy state costs a CLI command. */
const LOOK_EVERY_MS = 3_000;

/** Like `lookedAt`, without further checks. */
export function refreshedStacks(names: readonly string[], options: LookOptions): Promise<readonly RefreshedStack[]> {
  return lookedAt(names, options, (stacks) => Promise.resolve(stacks));
}

async function lookedOnce<Found>(
  names: readonly string[],
  { withSecrets, targets, resume }: LookOptions,
  look: (stacks: readonly RefreshedStack[]) => Promise<Found>,
): Promise<Found> {
  const asked: { readonly name: string | undefined; readonly pulumi: Pulumi; readonly state: StackState }[] = [];
  for (const name of new Set(names.length === 0 ? [undefined] : names)) {
    const pulumi = pulumiIn(process.cwd(), name);
    let state = await exportedState(pulumi, withSecrets);
    if (resume !== undefined && repairMarkIn(state) !== undefined) {
      await resume(pulumi, state);
      state = await exportedState(pulumi, withSecrets);
    }
    refuseUnfinished(state);
    asked.push({ name, pulumi, state });
  }
  const mustBeAsBefore = async (): Promise<void> => {
    for (const { pulumi, state } of asked) {
      const now = await exportedState(pulumi, withSecrets);
      refuseUnfinished(now);
      if (now.text !== state.text) throw new UnfinishedError("it changed the state while this command read it");
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
    // A running update can also make the refresh fail: then the update is reported as the reason.
    await mustBeAsBefore().catch((reason: unknown) => {
      if (reason instanceof BusyError) throw reason;
    });
    throw error;
  }
}

/**
 * Runs the CLI's refresh, which changes nothing and does not run the program, and reads its event log, as the
 * Automation API does. The output of `--json` contains the state from before.
 * @throws if a resource was not refreshed, or if the stack has none of ours.
 */
async function refreshed(
  { name, pulumi, state }: { readonly name: string | undefined; readonly pulumi: Pulumi; readonly state: StackState },
  targets: readonly string[] | undefined,
): Promise<RefreshedStack> {
  const command = ["refresh", "--preview-only", "--run-program=false"] as const;
  const { results } = await loggedRun(pulumi, command, targets ?? OURS).catch((error: unknown) => {
    const missing = missingPackage(process.cwd(), state);
    if (missing === undefined || error instanceof BusyError || !(error instanceof Error)) throw error;
    throw new Error(`${missing.what}: ${error.message}. ${missing.remedy}`);
  });
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

/** "No drift" may be reported only for resources that were refreshed. */
function mustHoldAll(results: readonly RefreshResult[], state: StackState, targets?: readonly string[]): void {
  const seen = new Set(results.map(keyOf));
  const missing = state.resources.filter(
    ({ urn, id, inputs, delete: isLeft, pendingReplacement, ...entry }) =>
      // One of a kind that this version does not know is ours, too.
      isOurEntry(entry) &&
      (targets?.includes(urn) ?? true) &&
      // A resource without arguments is only read (`get`). A refresh skips what a replacement has deleted.
      Object.keys(visible(inputs ?? {})).length > 0 &&
      pendingReplacement !== true &&
      !seen.has(stateKey(urn, { id, delete: isLeft })),
  );
  if (missing.length === 0) return;
  const names = [...new Set(missing.map(({ urn }) => `"${nameInUrn(urn)}"`))].join(", ");
  throw new Error(`pulumi refresh did not report what it found for ${names}. Run this again`);
}

/**
 * Runs a CLI command that takes targets and writes an event log.
 * @param onStart receives a function that reads the log written so far
 * @throws the CLI's message.
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
    // The last line may be incomplete.
    return readEventLog(text.slice(0, text.lastIndexOf("\n") + 1));
  };
  onStart(soFar);
  try {
    const run = await pulumi([...command, ...targets.flatMap((target) => ["--target", target])], { events });
    const log = soFar();
    process.stderr.write(log.traced.map((line) => `${terminalText(line)}\n`).join(""));
    if (!run.ok || log.errors.length > 0) throw failure(command[0], [...log.errors, ...run.errors], run.reason);
    if (!log.isComplete)
      throw new Error(
        `the event log of pulumi ${command[0]} is incomplete: check whether the disk for temporary files is full`,
      );
    return log;
  } finally {
    events.close();
  }
}

function failure(command: string, errors: readonly string[], reason: string): Error {
  // What all of them met, such as a refused key, is told whole by one of them: the longest.
  const [first = reason, ...others] = [...new Set(errors)]
    .filter((text) => !/^(preview|update) failed$/.test(text))
    .toSorted((a, b) => b.length - a.length);
  // The remaining lines are a stack trace, printed with SVC_DEBUG.
  const [line = ""] = first.split("\n");
  refuseLocked(line);
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  // An older CLI reports nothing more specific.
  const advice = line.startsWith("unknown flag") ? ". This Pulumi CLI is too old for pulumi-svc: update it" : "";
  return new Error(`pulumi ${command} failed: ${withoutSecrets(line)}${more}${advice}`);
}
