import { setTimeout as pause } from "node:timers/promises";
import { isAgreed } from "../../ask";
import { EXIT } from "../../exitCodes";
import { wantsColours } from "../../output";
import { type Format, render } from "../../report/render";
import { say, toText } from "../../report/terminal";
import { message as sentence, text } from "../../report/text";
import { ENDING, type Pulumi, pulumiIn } from "../../stack/pulumi";
import { exportedState, type StackState } from "../../stack/state";
import { BusyError, UnfinishedError } from "../../stack/unfinished";
import { type EventLog, keyOf } from "../eventLog";
import { lookedAt, refreshedStacks } from "../previewRefresh";
import { readIgnoreFile } from "../ignoreFile";
import { type Refreshed, refreshedBy } from "../refreshed";
import { type Drifted, fingerprint, isBeyondRepair, isLeftToProgram, stackOf, unfinishedText } from "../report";
import { selected } from "../selection";
import { withoutTolerated } from "../tolerated";
import { checkCli, previewed, stored, updated } from "./engineRun";
import { markAlone, repairMark } from "./mark";
import { planOf } from "./repairPlan";
import { isSameBesideMark, putBack } from "./putBack";
import { resume } from "./resume";
import { partialProgram, registrablesOf } from "./registration";
import { isDestructive, planPage, type RepairReport, repairReport, resultPage } from "./report";

export interface RepairFlags {
  readonly stack: string | undefined;
  readonly yes?: true;
  readonly expect?: string;
  readonly allowReplace?: true;
  /** How many seconds to wait for the end of a running update. */
  readonly wait?: number;
  readonly format: Format;
}

/** The drift differs from what was shown or approved. */
class OtherDrift extends Error {}

/** The result of a repair: its exit code and its messages. */
interface Ending {
  readonly code: number;
  readonly report: RepairReport;
}

/**
 * Restores the last deployed values of what drifted, and changes nothing else, by an update of the engine. Returns the
 * exit code.
 * @throws a message for the user if it failed.
 */
export async function repair(names: readonly string[], flags: RepairFlags): Promise<number> {
  const { format } = flags;
  let report: RepairReport = { stack: "", plan: [], repaired: [], left: [], messages: [], fingerprint: "" };
  try {
    const { code, report: last } = await repaired(names, flags, (known) => {
      report = known;
      if (format === "text" && known.plan.length > 0) process.stdout.write(toText(planPage(known), wantsColours()));
    });
    process.stdout.write(format === "text" ? toText(resultPage(last)) : render(repairReport(last, code), format));
    return code;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const failed = { ...report, messages: [...report.messages, ...message.split("\n")] };
    if (format !== "text") process.stdout.write(render(repairReport(failed, EXIT.failure), format));
    if (!(error instanceof OtherDrift)) throw error;
    say(sentence(message));
    return EXIT.otherDrift;
  }
}

async function repaired(
  names: readonly string[],
  flags: RepairFlags,
  tell: (report: RepairReport) => void,
): Promise<Ending> {
  const { stack, yes, allowReplace, wait } = flags;
  // First: an invalid file stops the command before any request.
  const ignoreFile = readIgnoreFile();
  const pulumi = pulumiIn(process.cwd(), stack);
  await checkCli(pulumi);
  const asked = stack === undefined ? [] : [stack];
  const options = { withSecrets: true, waitSeconds: wait, resume };
  // The plan belongs to the look: what is shown stands for one state.
  const { report, planned } = await lookedAt(asked, options, async (looks) => {
    // One stack was requested, so there is one result.
    const look = looks[0] as NonNullable<(typeof looks)[0]>;
    const { resources } = look;
    const inQuestion =
      names.length > 0 ? selected(resources, names) : withoutTolerated(resources, ignoreFile, new Date());
    return planOfLook(pulumi, look, { inQuestion, expect: flags.expect, tell });
  });
  if (planned === undefined) return { code: report.left.length > 0 ? EXIT.drift : EXIT.done, report };
  tell(report);
  const destructive = report.plan.filter(isDestructive);
  if (destructive.length > 0 && allowReplace !== true) {
    const which = destructive.map(({ name, action }) => `${name} (${action})`).join(", ");
    throw new Error(
      `nothing was changed: the repair replaces or deletes ${which}. Give --allow-replace, or name the other resources`,
    );
  }
  if (yes !== true) {
    const refusal = await refusalOf(report, flags);
    if (refusal !== undefined) return refusal;
    // The state may have changed while the user was deciding.
    checkSame(await exportedState(pulumi, true), planned.state);
  }
  await update(pulumi, planned, report);
  const targets = [...planned.declared.targets, ...report.plan.flatMap(({ lost }) => lost)];
  const [after] = await refreshedStacks(asked, { withSecrets: false, waitSeconds: wait, targets }).catch(
    (error: Error) => {
      error.message = `the repair has ended, but its result could not be read: ${error.message}`;
      throw error;
    },
  );
  return looked(report, after as NonNullable<typeof after>);
}

/** What an update of the engine is to restore, from one state. */
interface PlannedRepair {
  readonly state: StackState;
  readonly drift: readonly Drifted[];
  readonly declared: ReturnType<typeof partialProgram>;
}

/** `planned`: undefined if there is nothing to repair. */
async function planOfLook(
  pulumi: Pulumi,
  { resources, state }: { readonly resources: readonly Refreshed[]; readonly state: StackState },
  about: {
    readonly inQuestion: readonly Refreshed[];
    readonly expect: string | undefined;
    readonly tell: (report: RepairReport) => void;
  },
): Promise<{ report: RepairReport; planned?: PlannedRepair }> {
  const all = about.inQuestion.flatMap((one) => one.drift ?? []);
  const { drift, left, messages } = repairable(all, resources);
  const report: RepairReport = {
    stack: stackOf(resources[0]?.urn ?? "").stack,
    plan: [],
    repaired: [],
    left,
    messages,
    fingerprint: fingerprintOf(resources, all),
  };
  about.tell(report);
  if (about.expect !== undefined && about.expect !== report.fingerprint) {
    throw new OtherDrift(
      `nothing was changed: the drift is not the approved one. Its fingerprint is ${report.fingerprint}, not ${about.expect}. Run pulumi-svc drift, and approve what it shows`,
    );
  }
  if (drift.length === 0) return { report };
  const declared = partialProgram(registrablesOf(state), drift);
  const log = await previewed(pulumi, declared);
  return { report: { ...report, plan: planOf(drift, log, declared.all) }, planned: { state, drift, declared } };
}

/** Asks for agreement. Undefined: it was given. */
async function refusalOf(report: RepairReport, { format }: RepairFlags): Promise<Ending | undefined> {
  const ending = (code: number, message: string): Ending => ({
    code,
    report: { ...report, messages: [...report.messages, message] },
  });
  if (!process.stdin.isTTY) {
    say(text`there is no terminal to ask on. Use --yes to repair this`);
    return ending(EXIT.usage, "nothing was changed: it needs --yes");
  }
  if (format !== "text") process.stderr.write(toText(planPage(report)));
  if (await isAgreed("Repair this?")) return undefined;
  return ending(EXIT.failure, "nothing was changed: the answer was no");
}

/** Marks the stack, lets the engine update what drifted, and puts back what the engine took out of the state for it. */
async function update(
  pulumi: Pulumi,
  { state, drift, declared }: PlannedRepair,
  { plan }: RepairReport,
): Promise<void> {
  const targets = [...declared.targets];
  const mark = repairMark({ targets, before: state });
  let before: StackState | undefined;
  await orAsBefore(
    async (checkGoesOn) => {
      await stored(pulumi, markAlone(mark), async ({ register }) => {
        const now = await exportedState(pulumi, true);
        checkSame(now, state);
        before = now;
        await register();
      });
      checkGoesOn();
      // Before the second update, because its refresh would overwrite what a colleague has deployed since.
      const marked = await exportedState(pulumi, true);
      if (!isSameBesideMark(marked, state)) throw new BusyError(CHANGED);
      // The mark is a target that is not declared: the engine deletes it after everything else.
      const alsoMark = { ...declared, targets: new Set([...targets, mark.urn]) };
      await updated(pulumi, alsoMark, async ({ register }, soFar) => {
        checkSame(await exportedState(pulumi, true), marked);
        await checkFound({ state, drift }, soFar);
        await register();
      });
    },
    async (isDone) => {
      // The refresh removes a deleted resource from the dependencies of others.
      if (before !== undefined && (!isDone || plan.some(({ dependants }) => dependants.length > 0)))
        await putBack(pulumi, { before, targets, isDone });
    },
  );
}

/**
 * What is repaired, and what is skipped with the reason. An update sends all arguments of a resource. So if
 * svc-drift.json covers some of its properties, it is repaired only if the user names it or removes the entry.
 */
function repairable(inQuestion: readonly Drifted[], resources: readonly Refreshed[]) {
  const isInQuestion = ({ urn, id, properties }: Drifted): boolean =>
    inQuestion.some((one) => one.urn === urn && one.id === id && one.properties.length === properties.length);
  // The engine updates by URN, and the new resource has the same URN as an object left by a replacement.
  const isWhole = ({ urn }: Drifted): boolean =>
    resources.every((one) => one.urn !== urn || one.drift === undefined || isInQuestion(one.drift));
  const left = inQuestion.filter((one) => !isWhole(one) || isBeyondRepair(one) || isLeftToProgram(one));
  return {
    drift: inQuestion.filter((one) => !left.includes(one)),
    left,
    messages: left.map((one) => `${one.name} is left as it is: ${reasonToLeave(one)}`),
  };
}

function reasonToLeave(one: Drifted): string {
  const { unfinished } = one;
  // Its deployed values are unknown, so repairing anything of it could take the update back.
  if (unfinished !== undefined && isLeftToProgram(one))
    return `${unfinishedText(unfinished)}, and the state does not hold the values. Run pulumi up, which finishes it`;
  if (isBeyondRepair(one)) return one.repair.messages.join("; ");
  return "svc-drift.json covers a part of what differs. Name it to repair all of it";
}

const fingerprintOf = (resources: readonly Refreshed[], drift: readonly Drifted[]): string =>
  fingerprint({ ...stackOf(resources[0]?.urn ?? ""), drift: [...drift], unmanaged: [] });

/** The result of the second refresh. */
function looked(report: RepairReport, { resources }: { readonly resources: readonly Refreshed[] }): Ending {
  const differing = resources.flatMap(({ drift }) => drift ?? []);
  const left = [...report.left, ...differing];
  const repaired = report.plan.flatMap(({ urn, name, id, action }) => {
    if (differing.some((one) => one.urn === urn)) return [];
    const now = resources.find((one) => one.urn === urn);
    return { urn, name, id: action === "delete" ? id : (now?.id ?? id) };
  });
  return { code: left.length > 0 ? EXIT.drift : EXIT.done, report: { ...report, repaired, left } };
}

const CHANGED =
  "nothing was changed: the state has changed since it was read, for example by a pulumi up. Run this again";

/** Fails if the state changed since the plan was made. */
function checkSame(now: StackState, shown: StackState): void {
  if (now.text !== shown.text) throw new BusyError(CHANGED);
}

/**
 * Runs while the stack is locked, before anything is registered: checks that the engine's refresh found what was shown.
 */
async function checkFound(
  { state, drift }: { readonly state: StackState; readonly drift: readonly Drifted[] },
  soFar: () => EventLog,
): Promise<void> {
  const keys = new Set(
    drift.map(({ urn, id, change }) => `${urn}::${id}${change === "leftover" ? " (to be deleted)" : ""}`),
  );
  const log = await withAll(keys, soFar);
  const found = refreshedBy(log.results, state);
  // Within an update, a refresh does not report a change without a differing property.
  const unseen = drift.filter(
    ({ urn, id, change, properties }) =>
      change === "changed" &&
      properties.length === 0 &&
      found.some((one) => one.urn === urn && one.id === id && one.drift === undefined),
  );
  const foundDrift = found.flatMap((one) => one.drift ?? []);
  if (fingerprintOf(found, [...foundDrift, ...unseen]) !== fingerprintOf(found, drift)) {
    throw new OtherDrift(
      "nothing was changed: the drift at the service is no longer what was shown. Run pulumi-svc drift, then run this again",
    );
  }
}

const LOG_PATIENCE_MS = 30_000;

/** The refresh is over, but its events may still be on their way to the log. */
async function withAll(keys: ReadonlySet<string>, soFar: () => EventLog): Promise<EventLog> {
  for (const end = Date.now() + LOG_PATIENCE_MS; ; await pause(50)) {
    const log = soFar();
    const seen = new Set(log.results.map(keyOf));
    if ([...keys].every((key) => seen.has(key))) return log;
    if (Date.now() > end)
      throw new Error("nothing was changed: the refresh of the engine did not report what it found");
  }
}

/**
 * Removes every trace of what an update did not do.
 * @param run receives the signal that stops it between two updates if this process was asked to end
 * @param inOrder restores the state afterwards
 * @throws a message that explains the result of an interrupted run.
 */
async function orAsBefore(
  run: (checkGoesOn: () => void) => Promise<void>,
  inOrder: (isDone: boolean) => Promise<void>,
): Promise<void> {
  let isInterrupted = false;
  const note = (): void => void (isInterrupted = true);
  const checkGoesOn = (): void => {
    if (isInterrupted) throw new Error("interrupted");
  };
  for (const signal of ENDING) process.on(signal, note);
  try {
    const error = await run(checkGoesOn).then(
      () => undefined,
      (reason: Error) => reason,
    );
    // Whoever holds the lock writes the state.
    if (error instanceof UnfinishedError) throw error;
    const reason = await inOrder(error === undefined).then(
      () => undefined,
      (cause: Error) => cause.message,
    );
    if (error === undefined) {
      if (reason === undefined) return;
      throw new Error(
        `the resources are repaired, but the state could not be restored (${reason}): until the next pulumi up it lacks the resources that depend on those that were created again`,
      );
    }
    const lost =
      reason === undefined
        ? ""
        : `. The state could not be restored (${reason}): run this again, after pulumi cancel if the stack is still locked`;
    if (isInterrupted) {
      throw new Error(
        `interrupted: changes that had begun were completed, or the state holds them as unfinished, and the others were not begun. Run this again to repair the rest${lost}`,
      );
    }
    error.message += lost;
    throw error;
  } finally {
    for (const signal of ENDING) process.off(signal, note);
  }
}
