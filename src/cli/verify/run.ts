import type { Client } from "../../client";
import { messageOf } from "../../contract/untrusted";
import { type Exchanges, isRefusal } from "./exchanges";
import type { Part } from "./flags";
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

/** One step of a run: it sends requests, and asserts nothing: the assumptions judge what was answered. */
export interface Step {
  /** Also the name by which the assumptions find its requests. */
  readonly name: string;
  /** Undefined: it runs whatever is asked for. */
  readonly part?: Part;
  /** For the plan and the report. */
  readonly does: string;
  /** The steps that must have succeeded. */
  readonly needs?: readonly string[];
  /** A service may refuse it: then that is what was found out, and not a failure. */
  readonly mayBeRefused?: true;
  /** Undefined: it applies. Else why it does not, for the report. */
  readonly leftOut?: (run: Run) => string | undefined;
  readonly run: (run: Run) => Promise<unknown>;
}

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
  for (const { name, does, needs = [], mayBeRefused = false, leftOut, run: work } of steps) {
    const began = performance.now();
    const end = async (outcome: StepResult["outcome"], message?: string): Promise<void> => {
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      const result = { name, does, outcome, seconds, ...(message !== undefined && { message }) };
      results.push(result);
      await onStep(result);
    };
    const missing = needs.find((need) => !results.some((one) => one.name === need && one.outcome === "ok"));
    const why = stop.aborted ? "the run was stopped" : missing === undefined ? leftOut?.(run) : `it needs "${missing}"`;
    if (why !== undefined) {
      await end("left out", why);
      continue;
    }
    run.exchanges.step = name;
    try {
      await work(run);
    } catch (error) {
      await end(mayBeRefused && isStepRefused(run, name) ? "refused" : "failed", messageOf(error));
      continue;
    }
    await end("ok");
  }
  run.exchanges.step = "";
  return results;
}

/** Whether the service has refused what the step sent, whatever the lifecycle made of it. */
function isStepRefused({ exchanges }: Run, step: string): boolean {
  const last = exchanges.where({ step }).findLast(({ method }) => method !== "GET");
  return last !== undefined && isRefusal(last.status);
}
