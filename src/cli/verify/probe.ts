/** Requests that no lifecycle sends, and looks at the service between the steps. */
import { setTimeout as pause } from "node:timers/promises";
import type { Kind } from "../../contract/pointer";
import { ENDPOINTS, fieldOf, type Fields, isFields, isGood, isRefusal, jsonOf, recordsIn } from "./exchanges";
import type { Run } from "./run";

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

/**
 * Sends a creation without a lifecycle. Unless the service has refused it, or says what it has made, something may exist
 * that only the sweep finds.
 */
export async function probeCreation(
  run: Run,
  kind: Kind,
  template: string,
  options: Pick<ProbeOptions, "body" | "prove">,
): Promise<Answer> {
  const { unproven } = run.objects;
  const wasUnproven = unproven.has(kind);
  unproven.add(kind);
  const answer = await probe(run, "POST", template, options);
  const { status, json } = answer;
  const isClear = isRefusal(status) || BUSY.has(status) || status === 401 || (isGood(status) && isFields(json));
  if (isClear && !wasUnproven) unproven.delete(kind);
  return answer;
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
