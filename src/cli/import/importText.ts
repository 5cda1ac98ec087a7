/** What `import` prints for people. */
import type { Kind } from "../../contract/pointer";
import { toolsOf } from "../../resources/tools";
import { terminalText } from "../output";
import type { ImportReport } from "./importProject";

/** For standard error: one line for each object that is not imported. */
export function leftOutText({ leftOut }: ImportReport): string {
  const lines = leftOut.map(
    ({ kind, describe, reasons }) =>
      `pulumi-svc: left out, because no program can declare it: ${describe}: ${reasons.join("; ")}${insteadOf(kind)}`,
  );
  return lines.map((line) => `${terminalText(line)}\n`).join("");
}

/** How to import objects one by one that one resource cannot declare together. */
function insteadOf(kind: Kind): string {
  const { gathers } = toolsOf(kind);
  if (gathers === undefined) return "";
  return `. Without --${gathers.option} the other ${gathers.noun} are imported, as one ${gathers.kind} each`;
}

/** The report as text for users. */
export function toText(report: ImportReport): string {
  const { project, files, imported, held, leftOut, configuration, notes, next } = report;
  const count = `${imported.length} resource${imported.length === 1 ? "" : "s"}`;
  const result =
    files.length > 0
      ? `wrote ${files.join(" and ")}: ${count} of project ${project}`
      : `wrote nothing: project ${project} holds nothing ${leftOut.length > 0 ? "else that a program can declare" : held.length > 0 ? "that the stack does not hold" : "to import"}`;
  const changed = [...new Set(configuration.map(({ resource }) => `"${resource}"`))];
  const after =
    changed.length === 0
      ? "shows no changes"
      : `changes at most ${changed.join(" and ")}: it sets the values that you have configured`;
  const withOutcome = (command: string): string =>
    command === "pulumi preview" ? `${command}  # ${after}, and deletes nothing` : command;
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
  return [
    result,
    ...aligned(imported.map(({ kind, name, describe }) => [kind, name, describe])).map((line) => `  ${line}`),
    ...section("already in the stack:", aligned(held.map(({ kind, describe }) => [kind, describe]))),
    ...section("notes:", notes),
    ...section("next:", next.map(withOutcome)),
    "",
  ]
    .map(terminalText)
    .join("\n");
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const width = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(width(column)))
      .join("  ")
      .trimEnd(),
  );
}
