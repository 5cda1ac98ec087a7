/** Requests that no lifecycle sends. */
import { setTimeout as pause } from "node:timers/promises";
import type { Kind } from "../../src/contract/pointer";
import { isFields, isGood, isRefusal, jsonOf, type Method } from "./exchanges";
import type { Run } from "./run";

interface ProbeOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Called right before each attempt; it throws if nothing may be sent. */
  readonly prove?: () => Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

const BUSY: ReadonlySet<number> = new Set([423, 429]);

/** Sends a request without a lifecycle. A locked project and a full minute are waited for. */
export async function probe(
  { client, projectId, pollMs, patienceMs }: Run,
  method: Method,
  template: string,
  { params, body, prove }: ProbeOptions = {},
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
    if (isLate || !BUSY.has(status)) return { status, json: jsonOf(text) };
  }
}

/** Sends a change of what is in the integration of this run, or of its place. */
export const probeInside = (run: Run, method: Method, template: string, body: unknown): Promise<Answer> =>
  probe(run, method, template, { body, prove: () => run.objects.proveIntegration() });

/**
 * Does what creates an object without a lifecycle. Unless the service has refused it, or says what it has made,
 * something may exist that only the sweep finds.
 */
export async function probeCreation({ objects }: Run, kind: Kind, send: () => Promise<Answer>): Promise<Answer> {
  const { unproven } = objects;
  const wasUnproven = unproven.has(kind);
  unproven.add(kind);
  const answer = await send();
  const { status, json } = answer;
  const isClear = isRefusal(status) || BUSY.has(status) || status === 401 || (isGood(status) && isFields(json));
  if (isClear && !wasUnproven) unproven.delete(kind);
  return answer;
}
