import { z } from "zod";
import { KINDS } from "../../../contract/pointer";
import { terminalJson, terminalText } from "../../output";
import { IGNORE_FILE } from "../ignoreFile";
import { code, type Format, printable, table, valueText } from "../formats";

const named = { urn: z.string(), kind: z.enum(KINDS), name: z.string() };

/** `null`: not set. */
const values = { declared: z.json(), found: z.json() };

const accepted = z.object({ ...named, path: z.string(), ...values, file: z.string(), line: z.int() });

const left = z.object({
  ...named,
  /** `null`: the whole resource. */
  path: z.string().nullable(),
  ...values,
  file: z.string().nullable(),
  line: z.int().nullable(),
  reason: z.string(),
  /** `property: value` as code of the program. */
  code: z.string().nullable(),
});

/** The output of `drift --accept --format json`: a contract with scripts (docs/drift.md). */
export const acceptSchema = z.object({
  stack: z.string(),
  dryRun: z.boolean(),
  accepted: z.array(accepted),
  left: z.array(left),
  /** Paths relative to the project's folder. */
  files: z.array(z.string()),
  /** The program's other stacks, whose plans the edit may change. */
  otherStacks: z.array(z.string()),
  /**
   * The URNs of resources whose drift svc-drift.json covers and that were not accepted. `up --refresh` repairs them.
   */
  tolerated: z.array(z.string()),
  /** After a dry run: why the edit would be refused without it, such as "index.ts is not added to git". */
  refusals: z.array(z.string()),
  /** The edit as a unified diff. */
  patch: z.string(),
  /** Why it failed. */
  messages: z.array(z.string()),
  /** Fingerprint of the drift to accept, as in a report. */
  fingerprint: z.string(),
});

export type AcceptResult = z.infer<typeof acceptSchema>;
export type AcceptedProperty = AcceptResult["accepted"][number];
export type LeftProperty = AcceptResult["left"][number];

const EXIT = { accepted: 0, left: 7 } as const;

export const exitCode = ({ left }: AcceptResult): number => (left.length > 0 ? EXIT.left : EXIT.accepted);

const LONGEST_TEXT = 2_000;

export function render(result: AcceptResult, format: Format): string {
  if (format === "json") return `${terminalJson(result)}\n`;
  return format === "markdown" ? toMarkdown(result) : toText(result);
}

/** The result as one line. */
export function summary({ stack, dryRun, accepted, left }: AcceptResult): string {
  const counts = [
    ...(accepted.length > 0 ? [`${accepted.length} ${dryRun ? "can be accepted" : "accepted"}`] : []),
    ...(left.length > 0 ? [`${left.length} left`] : []),
  ];
  return `Stack ${printable(stack)}: ${counts.length === 0 ? "no drift" : counts.join(", ")}`;
}

const LEFT = "Not edited";
export const COMMIT_FIRST = "Commit first, so that the edit can be undone, or use --force";

/** The next step for the user. `shown` formats a name or a reason for the output format. */
function next({ dryRun, refusals, tolerated, ...result }: AcceptResult, shown: (text: string) => string): string {
  const files = result.files.map(shown);
  if (refusals.length > 0) {
    const reasons = refusals.map(shown).join("; ");
    return `Nothing was written. Without --dry-run this edit is refused: ${reasons}. ${COMMIT_FIRST}.`;
  }
  if (dryRun)
    return `Nothing was written. Without --dry-run it edits ${files.join(", ")}, if the plan of the stack confirms it.`;
  const edited = `Edited ${files.join(", ")}.`;
  if (tolerated.length === 0) return `${edited} Now run pulumi up --refresh: it shows no change for what was accepted.`;
  return `${edited} pulumi up --refresh shows no change for what was accepted, but also repairs what ${IGNORE_FILE} tolerates. To keep that, run it with --target for the accepted resources, or name the property in ignoreChanges.`;
}

/** Singular or plural. */
const isTheirs = (names: readonly string[]): string =>
  names.length === 1
    ? "Another stack uses this program, too. Check its plan before you commit the edit"
    : "Other stacks use this program, too. Check their plans before you commit the edit";

function toText(result: AcceptResult): string {
  const { dryRun, accepted, left, files, otherStacks, patch } = result;
  const lines = [summary(result)];
  if (accepted.length > 0) lines.push("");
  for (const { kind, name, path, declared, found, file, line } of accepted) {
    lines.push(
      `${printable(file)}:${line}  ${kind} ${printable(name)}  ${printable(path)}: ${shortValue(declared)} -> ${shortValue(found)}`,
    );
  }
  if (left.length > 0) lines.push("", LEFT);
  for (const { kind, name, path, file, line, reason, code: text } of left) {
    const property = path === null ? "" : ` ${printable(path)}`;
    lines.push(`  ${kind} ${printable(name)}${property}${at(file, line)}: ${printable(reason, LONGEST_TEXT)}`);
    if (text !== null) lines.push(`    ${printable(text, LONGEST_TEXT)}`);
  }
  if (dryRun && patch !== "") lines.push("", ...patchLines(patch));
  if (files.length > 0)
    lines.push(
      "",
      next(result, (text) => printable(text)),
    );
  if (otherStacks.length > 0) {
    lines.push(`${isTheirs(otherStacks)}: ${otherStacks.map((name) => printable(name)).join(", ")}.`);
  }
  return `${lines.join("\n")}\n`;
}

const at = (file: string | null, line: number | null): string =>
  file === null ? "" : ` (${printable(file)}${line === null ? "" : `:${line}`})`;

/** For a terminal or a page: keeps tabs, and escapes all other control characters. */
const patchLines = (patch: string): string[] =>
  patch
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => line.split("\t").map(terminalText).join("\t"));

const shortValue = (value: AcceptedProperty["found"]): string => printable(valueText(value));

/** For the body of a pull request. */
function toMarkdown(result: AcceptResult): string {
  const { dryRun, accepted, left, files, otherStacks, patch, messages } = result;
  const blocks = [
    "## Accepted drift",
    ...(messages.length > 0 ? messages.map((text) => code(text, LONGEST_TEXT)) : [code(summary(result))]),
  ];
  const resource = ({ kind, name }: AcceptedProperty | LeftProperty): string => `${kind} ${code(name)}`;
  if (accepted.length > 0) {
    const rows = accepted.map((one) => {
      const { path, declared, found, file, line } = one;
      return [
        resource(one),
        ...[path, valueText(declared), valueText(found), `${file}:${line}`].map((cell) => code(cell)),
      ];
    });
    blocks.push(table(["Resource", "Property", "Declared before", "Accepted", "Place"], rows));
  }
  if (left.length > 0) {
    const rows = left.map((one) => {
      const { path, file, line, reason, code: text } = one;
      const place = file === null ? "" : code(`${file}${line === null ? "" : `:${line}`}`);
      return [
        resource(one),
        path === null ? "" : code(path),
        place,
        // Formatted as code, so its own backticks are removed.
        code(reason.replaceAll("`", ""), LONGEST_TEXT),
        text === null ? "" : code(text, LONGEST_TEXT),
      ];
    });
    blocks.push(`### ${LEFT}`, table(["Resource", "Property", "Place", "Why", "To be declared"], rows));
  }
  if (dryRun && patch !== "") {
    // Longer than any fence in the program.
    const fence = "`".repeat(Math.max(3, ...[...patch.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
    blocks.push(`${fence}diff\n${patchLines(patch).join("\n")}\n${fence}`);
  }
  if (files.length > 0) blocks.push(next(result, (text) => code(text)));
  if (otherStacks.length > 0) {
    blocks.push(
      `### Other stacks`,
      `${isTheirs(otherStacks)}:`,
      otherStacks.map((name) => `- ${code(name)}`).join("\n"),
    );
  }
  if (accepted.length + left.length > 0) blocks.push(`Fingerprint ${code(result.fingerprint)}`);
  return `${blocks.join("\n\n")}\n`;
}
