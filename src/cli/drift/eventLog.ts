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
  /** The differences between the inputs in the state and those that the refresh found, by path. */
  detailedDiff: z.record(z.string(), z.unknown()).nullish(),
});
const step = z.object({ metadata });

/** The parts of an event log line that are used; the rest is not validated. */
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

/** The refresh result of one resource. */
export type RefreshResult = z.infer<typeof metadata>;

/** The engine's (planned) operation on one resource: `create`, `update`, `delete-replaced` and so on. */
export interface Step {
  readonly urn: string;
  readonly op: string;
}

export interface EventLog {
  /** One for each failure, the most informative first. */
  readonly errors: readonly string[];
  /** The log has its final event. */
  readonly isComplete: boolean;
  readonly results: readonly RefreshResult[];
  /** The steps after the refresh, in order; `same` for unchanged resources. */
  readonly steps: readonly Step[];
  /** For a waiting user: what starts, and what a provider reports, also of what it has done. */
  readonly progress: readonly string[];
  /** What providers warn of, by resource. */
  readonly warnings: ReadonlyMap<string, readonly string[]>;
  /** The requests, which providers report with SVC_LOG=debug. */
  readonly traced: readonly string[];
}

/**
 * Reads an event log of the CLI. Only the refresh itself counts: a log of `preview --refresh` also contains the changes
 * of the program.
 * @throws if a line is not an event.
 */
export function readEventLog(text: string): EventLog {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const events = lines.map((line) => event.parse(JSON.parse(line)));
  const errors: string[] = [];
  const refreshing = new Set<string>();
  const results: RefreshResult[] = [];
  const steps: Step[] = [];
  const progress: string[] = [];
  const warnings = new Map<string, readonly string[]>();
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
    if (diagnosticEvent === undefined) continue;
    const { severity, urn = "", ephemeral = false } = diagnosticEvent;
    const message = diagnosticEvent.message.trim();
    const isOfProvider = urn !== "" && message !== "";
    if (severity === "error") errors.push(message.replace(/^Preview failed: /, ""));
    else if (severity === "info" && message.startsWith(TRACED)) traced.push(message);
    else if (severity === "warning" && isOfProvider) warnings.set(urn, [...(warnings.get(urn) ?? []), message]);
    else if (ephemeral ? message !== "" : severity === "info" && isOfProvider)
      progress.push(`${nameInUrn(urn)}: ${message}`);
  }
  return {
    errors,
    results,
    steps,
    progress,
    warnings,
    traced,
    isComplete: events.some(({ summaryEvent }) => summaryEvent !== undefined),
  };
}

/** The resource's key in a state. */
export const keyOf = ({ urn, old }: RefreshResult): string => stateKey(urn, old);
