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
import { type Part, PARTS } from "./kinds";
import { isGoodReport, leftLines, render } from "./report";
import { type Delays, perform, prepare, runOf } from "./suite";
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

/** @throws a UsageError, or one of parseArgs */
function asked(args: string[]) {
  const {
    branch: branchId,
    "auth-branch": authBranchId,
    "move-to": moveTo,
    ...others
  } = parseArgs({ args, options: OPTIONS }).values;
  const parts = PARTS.filter((one) => one === (others.part ?? one));
  if (parts.length === 0) throw new UsageError(`--part takes ${PARTS.join(" or ")}.`);
  const isId = (id: string | undefined): boolean => id === undefined || SEGMENT.test(id);
  if (![branchId, authBranchId, moveTo].every(isId)) throw new UsageError("A branch is given by its id.");
  return { target: { branchId, authBranchId, moveTo, parts }, isClean: others.clean, isYes: others.yes };
}

const isUsage = (error: unknown): boolean =>
  error instanceof UsageError ||
  (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));

/** A text that the service has a part in, with its lines. */
const say = (text: string): void => void process.stdout.write(`${text.split("\n").map(terminalText).join("\n")}\n`);

async function main(args: string[]): Promise<number> {
  const { target, isClean, isYes } = asked(args);
  const unset = SETTINGS.filter((name) => (process.env[name] ?? "") === "");
  const isOwn = !isClean && target.branchId === undefined && unset.length === SETTINGS.length;
  if (isOwn) return await atOwnEmulator(target.parts);
  if (unset.length > 0)
    throw new UsageError(`Set ${unset.join(" and ")} too. Without all settings and options, it tries an emulator.`);
  const projectId = process.env["SVC_PROJECT_ID"] ?? "";
  if (!SEGMENT.test(projectId)) throw new UsageError("SVC_PROJECT_ID has to be the id of a project.");
  // From the environment.
  const read: ReadSetting = () => undefined;
  const place = { ...target, projectId };
  return isClean ? await cleaned(place, read, isYes) : await tried(place, read, isYes);
}

/** In the demo project, with short pauses. */
async function atOwnEmulator(parts: readonly Part[]): Promise<number> {
  say(`${SETTINGS.join(", ")} are not set: this run tries an emulator of its own\n`);
  const emulator = await startEmulator({ activationMs: 50 });
  const settings: Partial<Record<string, string>> = { baseUrl: emulator.baseUrl, apiKey: emulator.apiKey };
  const branches = { branchId: "br-dev", authBranchId: "br-main", moveTo: "br-test" };
  try {
    return await tried({ projectId: "prj-demo", ...branches, parts }, (name) => settings[name], true, QUICK);
  } finally {
    await emulator.close();
  }
}

async function tried(target: Target, read: ReadSetting, isYes: boolean, delays: Delays = {}): Promise<number> {
  const prepared = await prepare(target, read, delays);
  say(prepared.plan);
  if (!isYes) {
    say("Nothing was changed. Add --yes to begin");
    return EXIT.failed;
  }
  const report = await perform(prepared, stopSignal(), say);
  say(render(report));
  return isGoodReport(report) ? EXIT.good : EXIT.failed;
}

/** Removes what the prefix marks, once a person has seen what that is. */
async function cleaned(target: Target, read: ReadSetting, isYes: boolean): Promise<number> {
  const run = runOf(target, read, {}, PREFIX);
  const found = await leftovers(run.client, target);
  say(`test:live: project ${target.projectId} at ${run.service}, left from earlier runs: ${found.length}`);
  for (const { what } of found) say(`- ${what}`);
  if (found.length === 0) return EXIT.good;
  if (!isYes) {
    say("Nothing was changed. Add --yes to delete this, once no other run is using it");
    return EXIT.failed;
  }
  const left = await clean(run, target, say);
  for (const text of leftLines(left)) say(text);
  return left.length === 0 ? EXIT.good : EXIT.failed;
}

/** Aborted by a signal, which ends the steps, and not what removes their objects. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => {
      say(`${signal}: the current step ends, then everything that was made is removed. Wait for that`);
      stop.abort();
    });
  return stop.signal;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    say(error instanceof Error ? error.message : messageOf(error));
    process.exitCode = isUsage(error) ? EXIT.usage : EXIT.failed;
  },
);
