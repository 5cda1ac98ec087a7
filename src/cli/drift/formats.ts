import { styleText } from "node:util";
import { terminalJson, terminalText } from "../output";
import { objectsText, removalOf } from "../stack/sharedObjects";
import { IGNORE_FILE } from "./ignoreFile";
import {
  type Drifted,
  type ExpiredDomain,
  type Ignored,
  isBeyondRepair,
  isLeftToProgram,
  type Property,
  type Report,
  stackOf,
  type ToldEntry,
  type Tolerated,
  type ToleratedUnmanaged,
  unfinishedText,
  type Unmanaged,
} from "./report";

export const FORMATS = ["text", "json", "markdown"] as const;
export type Format = (typeof FORMATS)[number];

/** What a resource is about beside its properties: an unfinished change, or one that the engine updates all the same. */
function remarkOf({ change, properties, unfinished }: Drifted): string | undefined {
  if (unfinished !== undefined) return unfinishedText(unfinished);
  return change === "changed" && properties.length === 0
    ? "no property differs, but pulumi up has to update it"
    : undefined;
}

const CHANGES: Readonly<Record<Drifted["change"], string>> = {
  changed: "changed",
  deleted: "deleted",
  leftover: "left over from a replacement",
  unfinished: "unfinished",
};
export const CHANGE_WORDS = Object.keys(CHANGES) as Drifted["change"][]; // The keys of the table above.
const NOT_SET = "not set";
const NOT_THERE = "not in the list";
const LONGEST_VALUE = 160;
const LONGEST_MESSAGE = 2_000;

export type Style = (format: "bold" | "red" | "yellow" | "green" | "dim", text: string) => string;

export const plain: Style = (_format, text) => text;
// The caller has checked whether colours are wanted.
export const colourful: Style = (format, text) => styleText(format, text, { validateStream: false });

/** `colours`: for a terminal. */
export function render(report: Report, format: Format, colours = false): string {
  if (format === "json") return `${terminalJson(report)}\n`;
  return format === "markdown" ? toMarkdown(report) : toText(report, colours ? colourful : plain);
}

/** The result as one line. */
export function summary(report: Report): string {
  const { stack, drift, tolerated, unmanaged, toleratedUnmanaged, expiredDomains, sharedObjects } = report;
  const countTolerated = tolerated.length + toleratedUnmanaged.length;
  const counts = [
    ...CHANGE_WORDS.flatMap((change) => {
      const count = drift.filter((one) => one.change === change).length;
      return count > 0 ? [`${count} ${CHANGES[change]}`] : [];
    }),
    ...(drift.length === 0 ? ["no drift"] : []),
    ...(unmanaged.length > 0 ? [`${unmanaged.length} not declared`] : []),
    ...(countTolerated > 0 ? [`${countTolerated} tolerated`] : []),
    ...(expiredDomains.length > 0
      ? [`${expiredDomains.length} expired domain${expiredDomains.length === 1 ? "" : "s"}`]
      : []),
    ...(sharedObjects.length > 0 ? [`${sharedObjects.length} held by several resources`] : []),
  ];
  return `Stack${isOfSeveral(stack) ? "s" : ""} ${printable(stack)}: ${counts.join(", ")}`;
}

function toText(report: Report, style: Style): string {
  const { drift, ignored, tolerated, unmanaged, fingerprint } = report;
  const isClean = drift.length + unmanaged.length === 0;
  const lines = [style(isClean ? "green" : "bold", summary(report))];
  // The whole report uses the same widths, so that its columns line up.
  const widths = columnWidths(
    [...drift, ...ignored, ...tolerated].flatMap(({ properties }) => properties.flatMap(rowsOf)),
  );
  for (const resource of drift) {
    const { kind, name, id, change, properties } = resource;
    const remark = remarkOf(resource);
    const colour = change === "deleted" ? "red" : "yellow";
    lines.push(
      "",
      `${style(colour, `${kind} ${printable(name)}`)}${ofStack(report, resource)} (${printable(id)}) ${CHANGES[change]}`,
    );
    if (remark !== undefined) lines.push(`  ${printable(remark, LONGEST_MESSAGE)}`);
    if (properties.length > 0) lines.push(style("dim", inColumns(HEAD, widths)));
    for (const row of properties.flatMap(rowsOf)) lines.push(inColumns(row, widths));
    lines.push(...repairLines(resource));
  }
  if (isRepairable(drift)) lines.push("", ...answers((command) => command));
  const apart = (resource: Ignored): string[] => [
    `  ${resource.kind} ${printable(resource.name)}${ofStack(report, resource)} (${printable(resource.id)})`,
    ...[HEAD, ...resource.properties.flatMap(rowsOf)].map((row) => `  ${inColumns(row, widths)}`),
  ];
  if (ignored.length > 0) lines.push("", style("dim", IGNORED), ...ignored.flatMap(apart));
  if (tolerated.length > 0) {
    lines.push("", style("dim", TOLERATED));
    for (const resource of tolerated) {
      lines.push(...apart(resource), `    reason: ${printable(reasonText(resource), LONGEST_MESSAGE)}`);
      lines.push(...repairLines(resource).map((line) => `  ${line}`));
    }
    if (isRepairable(tolerated)) lines.push("", toleratedAdvice(REPAIR_COMMAND));
  }
  if (report.expiredDomains.length > 0) {
    const rows = report.expiredDomains.map((one) => expiredCells(report, one));
    lines.push("", style("yellow", EXPIRED_DOMAINS), ...aligned(rows));
  }
  if (report.sharedObjects.length > 0) {
    lines.push("", style("yellow", SHARED_OBJECTS));
    for (const { resources, ...shared } of report.sharedObjects) {
      const rows = resources.map((one) => [`  ${one.kind} ${one.name}${ofStack(report, one)}`, one.id, removalOf(one)]);
      lines.push(`  ${printable(objectsText(shared))}`, ...aligned(rows));
    }
  }
  lines.push(...objectLines(report, notDeclaredIn(report), style));
  if (!isClean) lines.push("", style("dim", `fingerprint ${printable(fingerprint)}`));
  return `${lines.join("\n")}\n`;
}

/** What a report has beside the drift of resources. */
type Objects = Pick<Report, "unmanaged" | "toleratedUnmanaged" | "byItself" | "expired" | "unused">;

/** The undeclared objects, and the entries of the file. `title`: of the undeclared ones. */
export const objectLines = (objects: Objects, title: string, style: Style): string[] =>
  (
    [
      [title, objects.unmanaged.map(objectCells), "yellow"],
      [TOLERATED_UNMANAGED, objects.toleratedUnmanaged.map(toleratedCells), "dim"],
      [BY_ITSELF, objects.byItself.map(objectCells), "dim"],
      [EXPIRED, objects.expired.map(entryCells), "yellow"],
      [UNUSED, objects.unused.map(entryCells), "dim"],
    ] as const
  ).flatMap(([head, rows, format]) => (rows.length > 0 ? ["", style(format, head), ...aligned(rows)] : []));

const notDeclaredIn = ({ stack }: Report): string =>
  `Not declared in ${isOfSeveral(stack) ? "any of these stacks" : "this stack"}`;
const BY_ITSELF = "Not drift: a new project has these by default";
const HEAD = ["property", "declared", "found"];
const IGNORED = "Not drift: covered by ignoreChanges";
const TOLERATED = `Not drift: tolerated by ${IGNORE_FILE}`;
const TOLERATED_UNMANAGED = `Not declared, and tolerated by ${IGNORE_FILE}`;
const SHARED_OBJECTS =
  "Held by several resources of one stack, so that each can change and delete it for the others. Remove from the state what the program does not declare, which deletes nothing at the service";
const EXPIRED_DOMAINS = "Not drift: redirect domains whose day has come. Remove them from the program";
export const EXPIRED = `Entries of ${IGNORE_FILE} that have expired and have no effect`;
export const UNUSED = `Entries of ${IGNORE_FILE} that match nothing now`;
export const REPAIR_COMMAND = "pulumi up --refresh";

/** Whether anything can be repaired. The other entries explain what to do themselves. */
const isRepairable = (resources: readonly Repaired[]): boolean =>
  resources.some((one) => !isBeyondRepair(one) && !isLeftToProgram(one));

/** How to respond to drift. */
const answers = (shown: (command: string) => string): string[] => [
  `${shown(REPAIR_COMMAND)} repairs this. It also deploys pending changes of the program.`,
  `${shown("pulumi-svc drift --repair")} repairs this alone, ${shown("--accept")} edits the program, ${shown("--ignore")} tolerates it.`,
];

/** `command`: formatted for the output format. */
export const toleratedAdvice = (command: string): string =>
  `${command} also repairs what is tolerated. To keep it, name the property in ignoreChanges of the resource.`;

const objectCells = ({ kind, id, describe, adopt }: Unmanaged): string[] => [
  `${kind} ${id}`,
  describe,
  `to manage it: ${adopt}`,
];

const expiredCells = (report: Report, one: ExpiredDomain): string[] => [
  `${one.kind} ${one.name}${ofStack(report, one)}`,
  one.domain,
  `since ${one.expiresOn}`,
];

const toleratedCells = (object: ToleratedUnmanaged): string[] => [
  `${object.kind} ${object.id}`,
  object.describe,
  `reason: ${reasonText(object)}`,
];

export const entryCells = (entry: ToldEntry): string[] => [entry.entry, subjectOf(entry), reasonText(entry)];

/** The subject of an entry. */
function subjectOf({ resource, property, found, unmanaged, kind }: ToldEntry): string {
  if (unmanaged !== undefined) return kind === undefined ? unmanaged : `${kind} ${unmanaged}`;
  const value = found === undefined ? [] : [`found ${valueText(found)}`];
  return [resource ?? "", ...(property === undefined ? [] : [property]), ...value].join(" ");
}

type Reason = Pick<ToldEntry, "reason"> & { readonly until?: string | null | undefined };

export const reasonText = ({ reason = "", until }: Reason): string =>
  until === undefined || until === null ? reason : `${reason} (until ${until})`;

export function aligned(all: readonly (readonly string[])[]): string[] {
  const rows = all.map((cells) =>
    // The last cell may hold a reason.
    cells.map((cell, column) => printable(cell, column < 2 ? LONGEST_VALUE : LONGEST_MESSAGE)),
  );
  const widths = columnWidths(rows);
  return rows.map((row) => inColumns(row, widths));
}

/** The name of a stack contains no comma. */
const isOfSeveral = (stack: string): boolean => stack.includes(",");

/** Only if the report covers several stacks. */
function ofStack({ stack: all }: Report, { urn }: { readonly urn: string }): string {
  const { stack } = stackOf(urn);
  return stack === all ? "" : ` of stack ${printable(stack)}`;
}

export function columnWidths(rows: readonly (readonly string[])[]): number[] {
  return [0, 1, 2].map((column) => Math.max(8, ...rows.map((row) => row[column]?.length ?? 0)));
}

export function inColumns(row: readonly string[], widths: readonly number[]): string {
  return `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd();
}

type Repaired = Pick<Drifted, "kind" | "properties" | "repair" | "unfinished">;

function repairText(resource: Repaired): string {
  if (isLeftToProgram(resource)) return "by pulumi up only";
  if (isBeyondRepair(resource)) return "none";
  const { action, restarts } = resource.repair;
  return restarts ? `${action}, which restarts the compute` : action;
}

function repairLines(resource: Repaired): string[] {
  const messages = resource.repair.messages.map((text) => `    ${printable(text, LONGEST_MESSAGE)}`);
  return [`  repair: ${repairText(resource)}`, ...messages];
}

/** Path, declared, found. For two lists: a row for each element that is in one of them only. */
export function rowsOf({ path, declared, found }: Property): string[][] {
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

export function valueText(value: Property["found"]): string {
  return value === null ? NOT_SET : JSON.stringify(value);
}

/** One line of limited length, without control characters for a terminal or a page. */
export function printable(text: string, longest = LONGEST_VALUE): string {
  const visible = terminalText(text);
  return visible.length > longest ? `${visible.slice(0, longest - 1)}…` : visible;
}

function toMarkdown(report: Report): string {
  const { drift, ignored, tolerated, unmanaged, fingerprint } = report;
  const named = (resource: Pick<Ignored, "urn" | "kind" | "name">): string => {
    const stack = ofStack(report, resource);
    return `${resource.kind} ${code(resource.name)}${stack === "" ? "" : ` of stack ${code(stackOf(resource.urn).stack)}`}`;
  };
  const differing = ({ properties }: Ignored) => properties.flatMap(rowsOf).map((row) => row.map((cell) => code(cell)));
  const repairs = (resources: readonly (Drifted | Tolerated)[]): string =>
    resources
      .flatMap((resource) => [
        `- ${named(resource)} (${code(resource.id)}): ${repairText(resource)}`,
        ...resource.repair.messages.map((text) => `  - ${code(text, LONGEST_MESSAGE)}`),
      ])
      .join("\n");
  const blocks = [`## Drift`, code(summary(report))];
  if (drift.length > 0) {
    const rows = drift.flatMap((one) => {
      const rowsOfOne = differing(one).map((row) => [named(one), ...row]);
      const remark = remarkOf(one);
      const whole = remark === undefined ? CHANGES[one.change] : code(remark, LONGEST_MESSAGE);
      return remark !== undefined || rowsOfOne.length === 0 ? [[named(one), whole, "", ""], ...rowsOfOne] : rowsOfOne;
    });
    blocks.push(table(["Resource", "Property", "Declared", "Found"], rows));
    const advice = isRepairable(drift) ? [answers((command) => `\`${command}\``).join("\n")] : [];
    blocks.push("### Repair", ...advice, repairs(drift));
  }
  if (ignored.length > 0) {
    const rows = ignored.flatMap((resource) => differing(resource).map((row) => [named(resource), ...row]));
    blocks.push(`### ${IGNORED}`, table(["Resource", "Property", "Declared", "Found"], rows));
  }
  if (tolerated.length > 0) {
    const rows = tolerated.flatMap((resource) =>
      differing(resource).map((row) => [named(resource), ...row, code(reasonText(resource), LONGEST_MESSAGE)]),
    );
    blocks.push(`### ${TOLERATED}`, table(["Resource", "Property", "Declared", "Found", "Reason"], rows));
    blocks.push(...(isRepairable(tolerated) ? [toleratedAdvice(`\`${REPAIR_COMMAND}\``)] : []), repairs(tolerated));
  }
  if (report.expiredDomains.length > 0) {
    const rows = report.expiredDomains.map((one) => expiredCells(report, one).map((cell) => code(cell)));
    blocks.push(`### ${EXPIRED_DOMAINS}`, table(["Resource", "Domain", "Expired"], rows));
  }
  if (report.sharedObjects.length > 0) {
    const rows = report.sharedObjects.flatMap(({ resources, ...shared }) =>
      resources.map((one) => [code(objectsText(shared)), named(one), code(removalOf(one), LONGEST_MESSAGE)]),
    );
    blocks.push(`### Held by several resources`, SHARED_OBJECTS, table(["Object", "Resource", "To remove it"], rows));
  }
  blocks.push(...objectBlocks(report, notDeclaredIn(report)));
  if (drift.length + unmanaged.length > 0) blocks.push(`Fingerprint ${code(fingerprint)}`);
  return `${blocks.join("\n\n")}\n`;
}

/** The same as `objectLines` in Markdown. */
export function objectBlocks(objects: Objects, title: string): string[] {
  const object = ({ kind, id, describe }: Pick<Unmanaged, "kind" | "id" | "describe">) => [
    `${kind} ${code(id)}`,
    code(describe),
  ];
  const entry = (one: ToldEntry) => entryCells(one).map((cell) => code(cell, LONGEST_MESSAGE));
  return (
    [
      [title, OBJECT_HEAD, objects.unmanaged.map((one) => [...object(one), code(one.adopt)])],
      [
        TOLERATED_UNMANAGED,
        ["Object", "What it is", "Reason"],
        objects.toleratedUnmanaged.map((one) => [...object(one), code(reasonText(one), LONGEST_MESSAGE)]),
      ],
      [BY_ITSELF, OBJECT_HEAD, objects.byItself.map((one) => [...object(one), code(one.adopt)])],
      [EXPIRED, ENTRY_HEAD, objects.expired.map(entry)],
      [UNUSED, ENTRY_HEAD, objects.unused.map(entry)],
    ] as const
  ).flatMap(([heading, head, rows]) => (rows.length > 0 ? [`### ${heading}`, table(head, rows)] : []));
}

const OBJECT_HEAD = ["Object", "What it is", "To manage it"];
export const ENTRY_HEAD = ["Entry", "What it is about", "Reason"];

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/**
 * Text formatted as code, where HTML, mentions, links and emphasis have no effect. Characters that would end a code
 * span or a table cell are written as numeric references.
 */
export function code(text: string, longest = LONGEST_VALUE): string {
  const line = printable(text, longest);
  if (line.trim() !== "" && !/[`|\\]/.test(line)) return `\`${line}\``;
  return `<code>${line.replace(/[^A-Za-z0-9 ]/gu, (char) => `&#${char.codePointAt(0)};`)}</code>`;
}
