import { z } from "zod";
import type { CommandReport, Page, Section } from "../../report/commandReport";
import { columns, counted, message, type Text, text, word } from "../../report/text";
import { driftedItem } from "../driftReport";
import { driftedSchema } from "../report";

const resource = { urn: z.string(), name: z.string(), id: z.string() };

/** The (planned) repair of one resource. */
const step = z.object({
  ...driftedSchema.omit({ repair: true }).shape,
  /** As the engine plans it. */
  action: z.enum(["update", "replace", "create", "delete"]),
  restarts: z.boolean(),
  messages: z.array(z.string()).readonly(),
  /** The URNs of unchanged resources that use this resource's outputs. */
  dependants: z.array(z.string()),
  /** The URNs of resources inside this one that are lost when its object is replaced. */
  lost: z.array(z.string()),
});

/** The output of `drift --repair --format json`: a contract with scripts (docs/drift.md). */
export const repairReportSchema = z.object({
  stack: z.string(),
  plan: z.array(step),
  /** Resources of the plan that were repaired. `id`: the current one. */
  repaired: z.array(z.object(resource)),
  /** Resources of the plan that still differ. */
  left: z.array(driftedSchema),
  /** Why nothing was done, or not everything. */
  messages: z.array(z.string()),
  /** Fingerprint of the planned repairs, for `--expect`. */
  fingerprint: z.string(),
});

export type Step = z.infer<typeof step>;
export type RepairReport = z.infer<typeof repairReportSchema>;

export const isDestructive = ({ action }: Step): boolean => action === "replace" || action === "delete";

/** Plan and result. */
export const repairReport = (report: RepairReport, exitCode: number): CommandReport => ({
  ...planPage(report),
  json: report,
  sections: [planSection(report), { title: text`Result`, lines: resultLines(report) }],
  exitCode,
});

/** The plan, for the user to approve. */
export const planPage = (report: RepairReport): Page => ({
  title: text`Repair`,
  headline: text`${report.stack === "" ? text`Repair` : text`Stack ${report.stack}`}: ${planned(report)}`,
  sections: [planSection(report)],
  fingerprint: report.fingerprint === "" ? undefined : report.fingerprint,
});

/** The result. It follows the plan, if there was one. */
export function resultPage(report: RepairReport): Page {
  const { title, headline } = planPage(report);
  const isAlone = report.plan.length + report.left.length === 0;
  return { title, ...(isAlone && headline !== undefined && { headline }), sections: [{ lines: resultLines(report) }] };
}

function planned({ plan, left, messages }: RepairReport): Text {
  if (plan.length > 0) return text`${counted(plan.length, "resource")} to repair`;
  if (left.length > 0) return text`nothing that a repair can restore`;
  return messages.length > 0 ? text`nothing was repaired` : text`no drift, nothing to repair`;
}

const PROPERTIES = columns`resource, property, deployed, found`;

const planSection = (report: RepairReport): Section => ({
  head: PROPERTIES,
  items: report.plan.map((one) => driftedItem(report, { ...one, repair: { ...one, messages: messagesOf(one) } })),
});

const resultLines = ({ repaired, left, messages }: RepairReport): Text[] => [
  ...repaired.map(({ name, id }) => text`repaired ${name} (${id})`),
  ...left.map(({ kind, name, id }) => text`still different: ${word(kind)} ${name} (${id})`),
  ...messages.map(message),
];

function messagesOf({ messages, dependants, lost }: Step): string[] {
  return [
    ...messages,
    ...(lost.length === 0
      ? []
      : [`deleted at the service together with it, until another repair creates them again: ${lost.join(", ")}`]),
    ...(dependants.length === 0 ? [] : [`keep its old outputs until the next pulumi up: ${dependants.join(", ")}`]),
  ];
}
