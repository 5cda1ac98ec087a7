import { z } from "zod";
import { terminalJson } from "../../output";
import { code, type Format, inColumns, columnWidths, printable, rowsOf, table } from "../formats";
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

const HEAD = ["property", "deployed", "found"];
const NOTES: Readonly<Record<Step["change"], string>> = {
  changed: "no property differs",
  unfinished: "a creation of pulumi up is not finished",
  deleted: "it does not exist at the service",
  leftover: "it is left over from a replacement",
};

/** The plan, for the user to approve. */
export function planText({ stack, plan, fingerprint }: RepairReport): string {
  const widths = columnWidths([HEAD, ...plan.flatMap(({ properties }) => properties.flatMap(rowsOf))]);
  const lines = plan.flatMap((one) => [
    "",
    `${titleOf(one)}: ${actionOf(one)}`,
    ...(one.properties.length === 0 || one.change === "unfinished" ? [`  ${NOTES[one.change]}`] : []),
    ...(one.properties.length > 0
      ? [HEAD, ...one.properties.flatMap(rowsOf)].map((row) => inColumns(row, widths))
      : []),
    ...notesOf(one).map((note) => `  ${printable(note, LONGEST)}`),
  ]);
  return [
    `Stack ${printable(stack)}: ${counted(plan.length)} to repair`,
    ...lines,
    "",
    `fingerprint ${fingerprint}`,
    "",
  ].join("\n");
}

/** The result. It follows `planText`. */
export function resultText({ stack, plan, repaired, left, messages }: RepairReport): string {
  return [
    ...(plan.length + left.length === 0 ? [`Stack ${printable(stack)}: no drift, nothing to repair`] : []),
    ...repaired.map(({ name, id }) => `repaired ${printable(name)} (${printable(id)})`),
    ...left.map(({ kind, name, id }) => `still different: ${kind} ${printable(name)} (${printable(id)})`),
    ...messages.map((text) => printable(text, LONGEST)),
    "",
  ].join("\n");
}

/** Plan and result as one document. */
export function render(report: RepairReport, format: Exclude<Format, "text">): string {
  return format === "json" ? `${terminalJson(report)}\n` : markdown(report);
}

const LONGEST = 2_000;

function markdown({ stack, plan, repaired, left, messages, fingerprint }: RepairReport): string {
  const rows = plan.flatMap((one) => {
    const properties = one.properties.flatMap(rowsOf).map((row) => row.map((cell) => code(cell)));
    const note = properties.length === 0 || one.change === "unfinished" ? [[NOTES[one.change], "", ""]] : [];
    return [...note, ...properties].map((row) => [`${one.kind} ${code(one.name)}`, actionOf(one), ...row]);
  });
  const notes = plan.flatMap((one) => notesOf(one).map((note) => `- ${code(one.name)}: ${code(note, LONGEST)}`));
  const results = [
    ...repaired.map(({ name, id }) => `- repaired ${code(name)} (${code(id)})`),
    ...left.map(({ kind, name, id }) => `- still different: ${kind} ${code(name)} (${code(id)})`),
    ...messages.map((text) => `- ${code(text, LONGEST)}`),
  ];
  return `${[
    "## Repair",
    plan.length + left.length === 0
      ? `Stack ${code(stack)}: no drift, nothing to repair`
      : table(["Resource", "Action", "Property", "Deployed", "Found"], rows),
    ...(notes.length > 0 ? [notes.join("\n")] : []),
    ...(results.length > 0 ? ["### Result", results.join("\n")] : []),
    `Fingerprint ${code(fingerprint)}`,
  ].join("\n\n")}\n`;
}

const counted = (count: number): string => (count === 1 ? "1 resource" : `${count} resources`);
const titleOf = ({ kind, name, id }: Step): string => `${kind} ${printable(name)} (${printable(id)})`;
const actionOf = ({ action, restarts }: Step): string => (restarts ? `${action}, which restarts the compute` : action);

function notesOf({ messages, dependants, lost }: Step): string[] {
  return [
    ...messages,
    ...(lost.length === 0
      ? []
      : [`deleted at the service together with it, until another repair creates them again: ${lost.join(", ")}`]),
    ...(dependants.length === 0 ? [] : [`keep its old outputs until the next pulumi up: ${dependants.join(", ")}`]),
  ];
}
