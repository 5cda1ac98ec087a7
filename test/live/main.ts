/**
 * `npm run test:live`: runs the lifecycle of every kind against a service, and reports what that shows of
 * docs/design/api.md (README.md in this folder). scripts/run.mjs has its help.
 */
import { parseArgs } from "node:util";
import { terminalText } from "../../src/cli/output";
import { SEGMENT } from "../../src/contract/identifiers";
import type { ReadSetting } from "../../src/contract/settings";
import { messageOf } from "../../src/contract/untrusted";
import { startEmulator } from "../../src/emulator";
import { leftovers, PREFIX, type Target } from "./before";
import { PARTS } from "./LiveKind";
import { isGoodReport, leftLines, render } from "./report";
import { perform, prepare, type Prepared, runOf } from "./suite";
import { clean } from "./sweep";

const OPTIONS = {
  branch: { type: "string" },
  "auth-branch": { type: "string" },
  "move-to": { type: "string" },
  part: { type: "string" },
  clean: { type: "boolean", default: false },
  yes: { type: "boolean", default: false },
} as const;

const SETTINGS = ["SVC_BASE_URL", "SVC_API_KEY", "SVC_PROJECT_ID"] as const;

const QUICK = { client: { baseDelayMs: 20, pollCeilingMs: 100, lagMs: 300 }, pollMs: 50 };

const EXIT = { good: 0, failed: 1, usage: 2 };

class UsageError extends Error {}

interface Asked {
  readonly target: Omit<Target, "projectId">;
  readonly isClean: boolean;
  readonly isYes: boolean;
}

/** @throws a UsageError */
function asked(args: readonly string[]): Asked {
  const { values } = parsed(args);
  const { branch: branchId, "auth-branch": authBranchId, "move-to": moveTo, part } = values;
  const parts = PARTS.filter((one) => part === undefined || one === part);
  for (const id of [branchId, authBranchId, moveTo])
    if (id !== undefined && !SEGMENT.test(id)) throw new UsageError("A branch is given by its id.");
  if (parts.length === 0) throw new UsageError(`--part takes ${PARTS.join(" or ")}.`);
  if (part === "compute" && authBranchId !== undefined) throw new UsageError("--auth-branch is of the part auth.");
  if (part === "auth" && moveTo !== undefined) throw new UsageError("--move-to is of the part compute.");
  if (moveTo !== undefined && moveTo === branchId)
    throw new UsageError("--move-to names another branch than --branch.");
  return { target: { branchId, authBranchId, moveTo, parts }, isClean: values.clean, isYes: values.yes };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(args: readonly string[]): Promise<number> {
  const { target, isClean, isYes } = asked(args);
  const unset = SETTINGS.filter((name) => (process.env[name] ?? "") === "");
  if (unset.length === SETTINGS.length) return await atOwnEmulator(target);
  if (unset.length > 0)
    throw new UsageError(`Set ${unset.join(" and ")} too, or none of ${SETTINGS.join(", ")} for an emulator.`);
  const projectId = process.env["SVC_PROJECT_ID"] ?? "";
  if (!SEGMENT.test(projectId)) throw new UsageError("SVC_PROJECT_ID has to be the id of a project.");
  // From the environment.
  const read: ReadSetting = () => undefined;
  const place = { ...target, projectId };
  return isClean ? await cleaned(place, read, isYes) : await tried(place, read, isYes);
}

/** In the demo project, with short pauses. */
async function atOwnEmulator({ parts }: Asked["target"]): Promise<number> {
  say(`${SETTINGS.join(", ")} are not set: this run tries an emulator of its own\n`);
  const emulator = await startEmulator({ activationMs: 50 });
  const settings: Partial<Record<string, string>> = { baseUrl: emulator.baseUrl, apiKey: emulator.apiKey };
  const branches = { branchId: "br-dev", authBranchId: "br-main", moveTo: "br-test" };
  try {
    const target = { projectId: "prj-demo", ...branches, parts };
    return await reported(await prepare(target, (name) => settings[name], QUICK));
  } finally {
    await emulator.close();
  }
}

async function tried(target: Target, read: ReadSetting, isYes: boolean): Promise<number> {
  const prepared = await prepare(target, read);
  say(terminalLines(prepared.plan));
  if (!isYes) {
    say("Nothing was changed. Add --yes to begin");
    return EXIT.failed;
  }
  return await reported(prepared);
}

async function reported(prepared: Prepared): Promise<number> {
  const report = await untilSignalled((stop) => perform(prepared, stop, say));
  say(render(report));
  return isGoodReport(report) ? EXIT.good : EXIT.failed;
}

/** Removes what the prefix marks, once a person has seen what that is. */
async function cleaned(target: Target, read: ReadSetting, isYes: boolean): Promise<number> {
  const run = runOf(target, read, {}, PREFIX);
  const found = await leftovers(run.client, target.projectId);
  say(`test:live: project ${target.projectId} at ${run.service}, left from earlier runs: ${found.length}`);
  for (const { what } of found) say(terminalText(`- ${what}`));
  if (found.length === 0) return EXIT.good;
  if (!isYes) {
    say("Nothing was changed. Add --yes to delete this, once no other run is using it");
    return EXIT.failed;
  }
  const left = await clean(run, say);
  for (const text of leftLines(left)) say(text);
  return left.length === 0 ? EXIT.good : EXIT.failed;
}

/** A signal ends the steps, and not what removes their objects. */
async function untilSignalled<Result>(work: (stop: AbortSignal) => Promise<Result>): Promise<Result> {
  const stop = new AbortController();
  const onSignal = (signal: string): void => {
    say(`${signal}: the current step ends, then everything that was made is removed. Wait for that`);
    stop.abort();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await work(stop.signal);
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
}

const terminalLines = (text: string): string => text.split("\n").map(terminalText).join("\n");

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    say(terminalLines(error instanceof Error ? error.message : messageOf(error)));
    process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed;
  },
);
