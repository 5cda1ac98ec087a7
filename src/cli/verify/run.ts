import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "../../client";
import { messageOf } from "../../contract/untrusted";
import { ENDPOINTS, type Exchanges, fieldOf, type Fields, isFields, isRefusal, jsonOf, recordsIn } from "./exchanges";
import type { Part } from "./flags";
import type { Objects } from "./objects";

/** What a run works on, and with what. */
export interface Run {
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

interface ProbeOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Called right before each attempt; it throws if nothing may be sent. */
  readonly prove?: () => Promise<void>;
  /** A 423 is the answer, and not a reason to try again. */
  readonly isOnce?: true;
}

export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

const BUSY: ReadonlySet<number> = new Set([423, 429]);

/** Sends a request without a lifecycle. A locked project and a full minute are waited for. */
export async function probe(
  { client, projectId, pollMs, patienceMs }: Run,
  method: "GET" | "POST" | "PATCH" | "DELETE",
  template: string,
  { params, body, prove, isOnce }: ProbeOptions = {},
): Promise<Answer> {
  const request = {
    method,
    template,
    params: { project_id: projectId, ...params },
    ...(body !== undefined && { body }),
    ...(prove !== undefined && { beforeAttempt: prove }),
  };
  for (const began = performance.now(); ; await pause(pollMs * 4)) {
    const { status, text } = await client.probe(request);
    const isLate = performance.now() - began > patienceMs;
    if (isOnce === true || isLate || !BUSY.has(status)) return { status, json: jsonOf(text) };
  }
}

/** The compute as its list shows it; undefined if it does not. */
export async function computeNow(run: Run, id: string): Promise<Fields | undefined> {
  const { json } = await probe(run, "GET", ENDPOINTS);
  return recordsIn(json, "endpoints").find((one) => one["id"] === id);
}

/** Waits until the compute has ended its changes. Whoever asks judges what it shows then. */
export async function settled(run: Run, id: string): Promise<Fields | undefined> {
  for (const began = performance.now(); ; await pause(run.pollMs)) {
    const now = await computeNow(run, id);
    const isLate = performance.now() - began > run.patienceMs;
    // Null and absent are the same.
    if (isLate || now === undefined || (now["pending_state"] ?? undefined) === undefined) return now;
  }
}

/**
 * Polls a list while `work` runs, from the moment in which the service has accepted a change until the list shows it:
 * the assumptions about delays read the responses.
 */
export async function watching<Result>(
  run: Run,
  { change, list, shows }: Watch,
  work: () => Promise<Result>,
): Promise<Result> {
  let polls: Promise<void> | undefined;
  let isOver = false;
  const poll = async (accepted: unknown, sent: unknown): Promise<void> => {
    for (const began = performance.now(); performance.now() - began < run.patienceMs; await pause(run.pollMs)) {
      const { json } = await probe(run, "GET", list);
      if (shows(json, accepted, sent)) return;
      // The lifecycle has failed, so the object may be gone by now.
      if (isOver) return;
    }
  };
  const stop = run.exchanges.onAdded(({ method, template, status, json, sent }) => {
    const isIt = method === change[0] && template === change[1] && status >= 200 && status < 300;
    if (isIt) polls ??= poll(json, sent).catch(() => undefined);
  });
  try {
    return await work();
  } catch (error) {
    isOver = true;
    throw error;
  } finally {
    stop();
    await polls;
  }
}

export interface Watch {
  readonly change: readonly [method: "POST" | "PATCH", template: string];
  readonly list: string;
  /** Whether the list's body shows the change: its response, and what was sent. */
  readonly shows: (list: unknown, accepted: unknown, sent: unknown) => boolean;
}

/** The id of the compute in a response to its change. */
export function endpointIdIn(accepted: unknown): string {
  const id = fieldOf(accepted, "endpoint", "id");
  return typeof id === "string" ? id : "";
}

/** A field of the outputs or of a record that has to be text. */
export function textIn(record: unknown, name: string): string {
  const value = isFields(record) ? record[name] : undefined;
  if (typeof value === "string") return value;
  throw new Error(`the service did not show "${name}"`);
}
