import type { Emulator, EmulatorOptions } from "../../src/emulator";
import { Digests } from "../../src/host/digests";
import { start } from "../support/emulator";
import { Service } from "../support/service";
import type { Target } from "./before";
import type { Judged, LiveReport } from "./report";
import { type Delays, perform, prepare } from "./suite";

export const KEY = "canary-key-live";

/** The demo project: `br-dev` and `br-test` have no compute, and `br-main` is the default branch. */
export const WHOLE: Target = {
  projectId: "prj-demo",
  branchId: "br-dev",
  authBranchId: "br-main",
  moveTo: "br-test",
  parts: ["compute", "auth"],
};
export const COMPUTE: Target = { ...WHOLE, authBranchId: undefined, moveTo: undefined, parts: ["compute"] };
export const AUTH: Target = { ...COMPUTE, branchId: "br-main", parts: ["auth"] };

export const DELAYS: Delays = {
  client: { baseDelayMs: 5, lagMs: 60, pollCeilingMs: 20, attemptTimeoutMs: 1_000, minuteMs: 200 },
  pollMs: 10,
  patienceMs: 1_000,
  stepSeconds: 4,
  digests: new Digests({ N: 16, r: 1, p: 1 }),
};

export interface Trial {
  readonly report: LiveReport;
  readonly plan: string;
  /** What was said during the run. */
  readonly said: readonly string[];
  /** The objects of the service before and after, without its history. */
  readonly before: unknown;
  readonly after: unknown;
  readonly verdict: (name: string) => string;
}

interface Circumstances {
  /** Called with each line that the run says, such as `ok         rename it (0 s)`. */
  readonly onSaid?: (line: string, stop: AbortController) => Promise<void> | void;
  readonly delays?: Delays;
  readonly key?: string;
}

const HISTORY = ["operations", "deleted_endpoints", "kept_schemas"];

export async function objectsOf(emulator: Emulator): Promise<unknown> {
  const { projects } = await new Service(emulator).state();
  return projects.map((project) => Object.entries(project).filter(([name]) => !HISTORY.includes(name)));
}

/** An emulator with quick computes, for one or more runs. */
export const startService = (options: EmulatorOptions = {}): Promise<Emulator> =>
  start({ activationMs: 5, apiKey: KEY, ...options });

/** A whole run, in this process. */
export async function tryAt(
  emulator: Emulator,
  target: Target,
  { onSaid, delays = {}, key = KEY }: Circumstances = {},
): Promise<Trial> {
  const settings: Record<string, string> = { apiKey: key, baseUrl: emulator.baseUrl };
  const before = await objectsOf(emulator);
  const prepared = await prepare(target, (name) => settings[name], { ...DELAYS, ...delays });
  const said: string[] = [];
  const stop = new AbortController();
  const report = await perform(prepared, stop.signal, (line) => {
    said.push(line);
    return onSaid?.(line, stop);
  });
  const judged = (name: string): Judged => {
    const found = report.statements.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no statement ${name}`);
    return found;
  };
  const verdict = (name: string): string => `${judged(name).verdict}: ${judged(name).seen}`;
  return { report, plan: prepared.plan, said, before, after: await objectsOf(emulator), verdict };
}
