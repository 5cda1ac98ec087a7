import { randomBytes } from "node:crypto";
import type { Client } from "../../src/client";
import { messageOf } from "../../src/contract/untrusted";
import { type Exchanges, isRefusal } from "./exchanges";
import type { Objects } from "./objects";

/** What a run works on, and with what. */
export interface Run {
  /** Its host and port. */
  readonly service: string;
  readonly projectId: string;
  readonly branchId: string;
  /** The branch for the auth integration, if it is another one. */
  readonly authBranchId: string | undefined;
  /** A second branch, which the compute is moved to. */
  readonly moveTo: string | undefined;
  readonly authProvider: string;
  /** What every name that this run chooses contains. Random, so that no other run has it. */
  readonly token: string;
  readonly client: Client;
  /** The same address, with a key that the service has never issued. */
  readonly strangerClient: () => Client;
  readonly objects: Objects;
  readonly exchanges: Exchanges;
  /** The pause between two looks at the service. */
  readonly pollMs: number;
  /** How long to wait for what the service may never show. */
  readonly patienceMs: number;
}

/** A secret of this run: nobody else knows it, so wherever it appears it was repeated. */
export const canary = (): string => `canary-${randomBytes(12).toString("hex")}`;

/** `.example.com` is reserved: no mail arrives there, and no page is there. */
export const originOf = ({ token }: Run, name: string): string => `https://${token}-${name}.example.com`;
export const emailOf = ({ token }: Run): string => `${token}@example.com`;

/** One step of a run: it sends requests, and asserts nothing: the statements judge what was answered. */
export interface Step {
  /** Also the name by which the statements find its requests. */
  readonly name: string;
  /** For the plan and the report. */
  readonly does: string;
  /** The steps that must have succeeded. Undefined: the one that its kind needs. */
  readonly needs?: readonly string[];
  /** A service may refuse it: then that is what was found out, and not a failure. */
  readonly mayBeRefused?: true;
  /** Undefined: it applies. Else why it does not, for the report. */
  readonly leftOut?: (run: Run) => string | undefined;
  readonly run: (run: Run) => Promise<unknown>;
}

export const step = (name: string, does: string, run: Step["run"]): Step => ({ name, does, run });
export const stepIf = (
  options: Pick<Step, "needs" | "mayBeRefused" | "leftOut">,
  name: string,
  does: string,
  run: Step["run"],
): Step => ({ ...options, name, does, run });
/** A service may refuse it. */
export const REFUSABLE = { mayBeRefused: true } as const;

export interface StepResult {
  readonly name: string;
  readonly does: string;
  readonly outcome: "ok" | "refused" | "failed" | "left out";
  readonly seconds: number;
  /** Why it did not succeed. */
  readonly message?: string;
}

interface Watching {
  /** Aborted: no further step begins. */
  readonly stop: AbortSignal;
  /** Awaited before the next step. */
  readonly onStep: (result: StepResult) => Promise<void> | void;
}

/** Runs the steps in order. None throws; what a failed step needs for others is left out. */
export async function runSteps(run: Run, steps: readonly Step[], { stop, onStep }: Watching): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const step of steps) {
    const began = performance.now();
    const outcome = await perform(run, step, results, stop);
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    const result = { name: step.name, does: step.does, seconds, ...outcome };
    results.push(result);
    await onStep(result);
  }
  run.exchanges.step = "";
  return results;
}

type Outcome = Pick<StepResult, "outcome" | "message">;

async function perform(run: Run, step: Step, before: readonly StepResult[], stop: AbortSignal): Promise<Outcome> {
  const { name, needs = [], mayBeRefused = false, leftOut } = step;
  const missing = needs.find((need) => !before.some((one) => one.name === need && one.outcome === "ok"));
  const why = stop.aborted ? "the run was stopped" : missing === undefined ? leftOut?.(run) : `it needs "${missing}"`;
  if (why !== undefined) return { outcome: "left out", message: why };
  run.exchanges.step = name;
  try {
    await step.run(run);
    return { outcome: "ok" };
  } catch (error) {
    return { outcome: mayBeRefused && isStepRefused(run, name) ? "refused" : "failed", message: messageOf(error) };
  }
}

/** Whether the service has refused what the step sent, whatever the lifecycle made of it. */
function isStepRefused({ exchanges }: Run, step: string): boolean {
  const last = exchanges.where({ step }).findLast(({ method }) => method !== "GET");
  return last !== undefined && isRefusal(last.status);
}
