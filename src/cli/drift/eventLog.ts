import { z } from "zod";
import { nameInUrn } from "../../contract/identifiers";
import { TRACED } from "../../contract/settings";
import { stateKey } from "../stack/state";

const state = z.object({
  id: z.string(),
  delete: z.boolean().optional(),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  outputs: z.record(z.string(), z.unknown()).nullish(),
});
const metadata = z.object({
  op: z.string(),
  urn: z.string(),
  type: z.string(),
  provider: z.string().nullish(),
  old: state.nullish(),
  new: state.nullish(),
  /** By path: what differs between the inputs of the state and those that the refresh found. */
  detailedDiff: z.record(z.string(), z.unknown()).nullish(),
});
const step = z.object({ metadata });

/** What is looked at in a line of the event log; the rest of it may be anything. */
const event = z.object({
  resourcePreEvent: step.optional(),
  resOutputsEvent: step.optional(),
  diagnosticEvent: z
    .object({
      severity: z.string(),
      message: z.string(),
      urn: z.string().optional(),
      ephemeral: z.boolean().optional(),
    })
    .optional(),
  summaryEvent: z.unknown().optional(),
});

/** What the refresh of one resource found. */
export type RefreshResult = z.infer<typeof metadata>;

/** What the engine does, or would do, with one resource: `create`, `update`, `delete-replaced` and the like. */
export interface Step {
  readonly urn: string;
  readonly op: string;
}

export interface EventLog {
  /** One for each failure, the most telling first. */
  readonly errors: readonly string[];
  /** The log was written to its end. */
  readonly isComplete: boolean;
  readonly results: readonly RefreshResult[];
  /** What comes after the refresh, in its order, with `same` for what stays. */
  readonly steps: readonly Step[];
  /** For a person who waits: what begins, and what a provider says of it meanwhile. */
  readonly progress: readonly string[];
  /** The requests, which providers tell of with SVC_LOG=debug. */
  readonly traced: readonly string[];
}

/**
 * Reads an event log of the CLI. Only what the refresh itself did is looked at: a log of `preview --refresh` also holds
 * what the program changes.
 * @throws when a line is no event.
 */
export function readEventLog(text: string): EventLog {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const events = lines.map((line) => event.parse(JSON.parse(line)));
  const errors: string[] = [];
  const refreshing = new Set<string>();
  const results: RefreshResult[] = [];
  const steps: Step[] = [];
  const progress: string[] = [];
  const traced: string[] = [];
  for (const { resourcePreEvent, resOutputsEvent, diagnosticEvent } of events) {
    if (resourcePreEvent?.metadata.op === "refresh") refreshing.add(keyOf(resourcePreEvent.metadata));
    else if (resourcePreEvent !== undefined) {
      const { urn, op } = resourcePreEvent.metadata;
      steps.push({ urn, op });
      if (op !== "same") progress.push(`${nameInUrn(urn)}: ${op}`);
    }
    if (resOutputsEvent !== undefined && refreshing.delete(keyOf(resOutputsEvent.metadata)))
      results.push(resOutputsEvent.metadata);
    if (diagnosticEvent?.severity === "error")
      errors.push(diagnosticEvent.message.trim().replace(/^Preview failed: /, ""));
    if (diagnosticEvent?.severity === "info" && diagnosticEvent.message.startsWith(TRACED))
      traced.push(diagnosticEvent.message.trim());
    if (diagnosticEvent?.ephemeral === true && diagnosticEvent.message.trim() !== "")
      progress.push(`${nameInUrn(diagnosticEvent.urn ?? "")}: ${diagnosticEvent.message.trim()}`);
  }
  return {
    errors,
    results,
    steps,
    progress,
    traced,
    isComplete: events.some(({ summaryEvent }) => summaryEvent !== undefined),
  };
}

/** The key of the resource in a state. */
export const keyOf = ({ urn, old }: RefreshResult): string => stateKey(urn, old);
