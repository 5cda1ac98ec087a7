import { styleText } from "node:util";
import { terminalJson, terminalText } from "../output";
import { type Drifted, type Ignored, type Property, type Report, stackOf, type Unmanaged } from "./report";

export const FORMATS = ["text", "json", "markdown"] as const;
export type Format = (typeof FORMATS)[number];

/** The one change without a property: the engine plans an update of it, too. */
const UNFINISHED = "no property differs, but a change that pulumi up started is not finished";
const CHANGES: Readonly<Record<Drifted["change"], string>> = {
  changed: "changed",
  deleted: "deleted",
  leftover: "left over from a replacement",
};
const NOT_SET = "not set";
const NOT_THERE = "not in the list";
const LONGEST_VALUE = 160;
const LONGEST_MESSAGE = 2_000;

type Style = (format: "bold" | "red" | "yellow" | "green" | "dim", text: string) => string;

const plain: Style = (_format, text) => text;
// The caller has looked whether they are wanted.
const colourful: Style = (format, text) => styleText(format, text, { validateStream: false });

/** `colours`: for a terminal. */
export function render(report: Report, format: Format, colours = false): string {
  if (format === "json") return `${terminalJson(report)}\n`;
  return format === "markdown" ? toMarkdown(report) : toText(report, colours ? colourful : plain);
}

/** The result in one line. */
export function summary({ stack, drift, unmanaged }: Report): string {
  const counts = [
    ...(["changed", "deleted", "leftover"] as const).flatMap((change) => {
      const count = drift.filter((one) => one.change === change).length;
      return count > 0 ? [`${count} ${CHANGES[change]}`] : [];
    }),
    ...(drift.length === 0 ? ["no drift"] : []),
    ...(unmanaged.length > 0 ? [`${unmanaged.length} not declared`] : []),
  ];
  return `Stack${isOfSeveral(stack) ? "s" : ""} ${printable(stack)}: ${counts.join(", ")}`;
}

function toText(report: Report, style: Style): string {
  const { drift, ignored, unmanaged, byItself, fingerprint } = report;
  const isClean = drift.length + unmanaged.length === 0;
  const lines = [style(isClean ? "green" : "bold", summary(report))];
  // One width for the whole report, so that the columns stand below each other.
  const widths = columnWidths([...drift, ...ignored].flatMap(({ properties }) => properties.flatMap(rowsOf)));
  for (const resource of drift) {
    const { kind, name, id, change, properties, repair } = resource;
    const colour = change === "deleted" ? "red" : "yellow";
    lines.push(
      "",
      `${style(colour, `${kind} ${printable(name)}`)}${ofStack(report, resource)} (${printable(id)}) ${CHANGES[change]}`,
    );
    if (properties.length > 0) lines.push(style("dim", inColumns(HEAD, widths)));
    else if (change === "changed") lines.push(`  ${UNFINISHED}`);
    for (const row of properties.flatMap(rowsOf)) lines.push(inColumns(row, widths));
    lines.push(
      `  repair: ${repairText(resource)}`,
      ...repair.messages.map((text) => `    ${printable(text, LONGEST_MESSAGE)}`),
    );
  }
  if (drift.length > 0) lines.push("", `${REPAIR_COMMAND} ${REPAIR_ADVICE}`);
  if (ignored.length > 0) {
    lines.push("", style("dim", IGNORED));
    for (const resource of ignored) {
      const { kind, name, id, properties } = resource;
      lines.push(`  ${kind} ${printable(name)}${ofStack(report, resource)} (${printable(id)})`);
      lines.push(...[HEAD, ...properties.flatMap(rowsOf)].map((row) => `  ${inColumns(row, widths)}`));
    }
  }
  for (const [title, objects, format] of [
    [notDeclaredIn(report), unmanaged, "yellow"],
    [BY_ITSELF, byItself, "dim"],
  ] as const) {
    if (objects.length > 0) lines.push("", style(format, title), ...objectRows(objects));
  }
  if (!isClean) lines.push("", style("dim", `fingerprint ${printable(fingerprint)}`));
  return `${lines.join("\n")}\n`;
}

const notDeclaredIn = ({ stack }: Report): string =>
  `Not declared in ${isOfSeveral(stack) ? "any of these stacks" : "this stack"}`;
const BY_ITSELF = "Not drift: a new project has these by default";
const HEAD = ["property", "declared", "found"];
const IGNORED = "Not drift: covered by ignoreChanges";
const REPAIR_COMMAND = "pulumi up --refresh";
const REPAIR_ADVICE = "repairs this. It also deploys pending changes of the program.";

function objectRows(objects: readonly Unmanaged[]): string[] {
  const rows = objects.map(({ kind, id, describe, adopt }) =>
    [`${kind} ${id}`, describe, `to take it over: ${adopt}`].map((cell) => printable(cell)),
  );
  const widths = columnWidths(rows);
  return rows.map((row) => inColumns(row, widths));
}

/** The name of a stack has no comma. */
const isOfSeveral = (stack: string): boolean => stack.includes(",");

/** Where the report is about several. */
function ofStack({ stack: all }: Report, { urn }: { readonly urn: string }): string {
  const { stack } = stackOf(urn);
  return stack === all ? "" : ` of stack ${printable(stack)}`;
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  return [0, 1, 2].map((column) => Math.max(8, ...rows.map((row) => row[column]?.length ?? 0)));
}

function inColumns(row: readonly string[], widths: readonly number[]): string {
  return `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd();
}

function repairText({ repair: { action, restarts } }: Drifted): string {
  return restarts ? `${action}, which restarts the compute` : action;
}

/** Path, declared, found. Of two lists only what one of them lacks, each in a row of its own. */
function rowsOf({ path, declared, found }: Property): string[][] {
  if (!Array.isArray(declared) || !Array.isArray(found))
    return [[path, valueText(declared), valueText(found)].map((cell) => printable(cell))];
  const [before, after] = [declared.map(valueText), found.map(valueText)];
  const rows = [
    ...before.filter((item) => !after.includes(item)).map((item) => [path, item, NOT_THERE]),
    ...after.filter((item) => !before.includes(item)).map((item) => [path, NOT_THERE, item]),
  ];
  return (rows.length > 0 ? rows : [[path, valueText(declared), valueText(found)]]).map((row) =>
    row.map((cell) => printable(cell)),
  );
}

function valueText(value: Property["found"]): string {
  return value === null ? NOT_SET : JSON.stringify(value);
}

/** One line, without anything that a terminal or a page obeys, and not longer than a person reads. */
function printable(text: string, longest = LONGEST_VALUE): string {
  const visible = terminalText(text);
  return visible.length > longest ? `${visible.slice(0, longest - 1)}…` : visible;
}

function toMarkdown(report: Report): string {
  const { drift, ignored, unmanaged, byItself, fingerprint } = report;
  const named = (resource: Drifted | Ignored): string => {
    const stack = ofStack(report, resource);
    return `${resource.kind} ${code(resource.name)}${stack === "" ? "" : ` of stack ${code(stackOf(resource.urn).stack)}`}`;
  };
  const blocks = [`## Drift`, code(summary(report))];
  if (drift.length > 0) {
    const rows = drift.flatMap((one) => {
      const { change, properties } = one;
      const resource = named(one);
      const differing = properties.flatMap(rowsOf).map((row) => [resource, ...row.map((cell) => code(cell))]);
      return differing.length > 0
        ? differing
        : [[resource, change === "changed" ? UNFINISHED : CHANGES[change], "", ""]];
    });
    const repairs = drift.flatMap((resource) => [
      `- ${named(resource)} (${code(resource.id)}): ${repairText(resource)}`,
      ...resource.repair.messages.map((text) => `  - ${code(text, LONGEST_MESSAGE)}`),
    ]);
    blocks.push(table(["Resource", "Property", "Declared", "Found"], rows));
    blocks.push("### Repair", `\`${REPAIR_COMMAND}\` ${REPAIR_ADVICE}`, repairs.join("\n"));
  }
  if (ignored.length > 0) {
    const rows = ignored.flatMap((resource) =>
      resource.properties.flatMap(rowsOf).map((row) => [named(resource), ...row.map((cell) => code(cell))]),
    );
    blocks.push(`### ${IGNORED}`, table(["Resource", "Property", "Declared", "Found"], rows));
  }
  for (const [title, objects] of [
    [notDeclaredIn(report), unmanaged],
    [BY_ITSELF, byItself],
  ] as const) {
    const rows = objects.map(({ kind, id, describe, adopt }) => [`${kind} ${code(id)}`, code(describe), code(adopt)]);
    if (rows.length > 0) blocks.push(`### ${title}`, table(["Object", "What it is", "To take it over"], rows));
  }
  if (drift.length + unmanaged.length > 0) blocks.push(`Fingerprint ${code(fingerprint)}`);
  return `${blocks.join("\n\n")}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/**
 * Any text, as code: there neither HTML nor a mention, a link or emphasis counts. What ends a code span or a cell of a
 * table is written by its number instead.
 */
function code(text: string, longest = LONGEST_VALUE): string {
  const line = printable(text, longest);
  if (line.trim() !== "" && !/[`|\\]/.test(line)) return `\`${line}\``;
  return `<code>${line.replace(/[^A-Za-z0-9 ]/gu, (char) => `&#${char.codePointAt(0)};`)}</code>`;
}
