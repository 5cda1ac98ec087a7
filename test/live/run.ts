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
  /** The option that it needs. */
  readonly option?: "moveTo" | "authBranchId";
  readonly run: (run: Run) => Promise<unknown>;
}

export const step = (name: string, does: string, run: Step["run"]): Step => ({ name, does, run });
export const stepIf = (
  options: Pick<Step, "needs" | "mayBeRefused" | "option">,
  name: string,
  does: string,
  run: Step["run"],
): Step => ({ ...options, name, does, run });
/** A service may refuse it. */
export const REFUSABLE = { mayBeRefused: true } as const;

export interface StepResult extends Pick<Step, "name" | "does"> {
  readonly outcome: "ok" | "refused" | "failed" | "left out";
  readonly seconds: number;
  /** Why it did not succeed. */
  readonly message?: string;
}

/** Runs the steps in order, until `stop`. None throws; what a failed step needs for others is left out. */
export async function runSteps(
  run: Run,
  steps: readonly Step[],
  stop: AbortSignal,
  /** Awaited before the next step. */
  onStep: (result: StepResult) => Promise<void> | void,
): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const one of steps) {
    const began = performance.now();
    const missing = one.needs?.find((need) => !results.some(({ name, outcome }) => name === need && outcome === "ok"));
    const why = stop.aborted ? "the run was stopped" : missing === undefined ? undefined : `it needs "${missing}"`;
    const outcome = why === undefined ? await perform(run, one) : ({ outcome: "left out", message: why } as const);
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    results.push({ name: one.name, does: one.does, seconds, ...outcome });
    await onStep({ name: one.name, does: one.does, seconds, ...outcome });
  }
  run.exchanges.step = "";
  return results;
}

async function perform(run: Run, one: Step): Promise<Pick<StepResult, "outcome" | "message">> {
  if (!isAsked(run, one)) return { outcome: "left out", message: "its option is not given" };
  run.exchanges.step = one.name;
  try {
    await one.run(run);
    return { outcome: "ok" };
  } catch (error) {
    const isRefused = one.mayBeRefused === true && isStepRefused(run, one.name);
    return { outcome: isRefused ? "refused" : "failed", message: messageOf(error) };
  }
}

/** Whether the run has the option that the step needs. */
export const isAsked = (run: Run, { option }: Step): boolean => option === undefined || run[option] !== undefined;

/** Whether the service has refused what the step sent, whatever the lifecycle made of it. */
function isStepRefused({ exchanges }: Run, step: string): boolean {
  const last = exchanges.where({ step }).findLast(({ method }) => method !== "GET");
  return last !== undefined && isRefusal(last.status);
}
