/** What `import` prints for people. */
import type { Kind } from "../../contract/pointer";
import { toolsOf } from "../../resources/tools";
import { EXIT } from "../exitCodes";
import type { CommandReport } from "../report/commandReport";
import { lineOf } from "../report/terminal";
import { counted, joined, message, type Text, text } from "../report/text";
import type { ImportReport } from "./importProject";

/** For standard error: one line for each object that is not imported. */
export function leftOutText({ leftOut }: ImportReport): string {
  const lines = leftOut.map(({ kind, describe, reasons }) => {
    const why = message(`${describe}: ${reasons.join("; ")}${insteadOf(kind)}`);
    return lineOf(text`pulumi-svc: left out, because no program can declare it: ${why}`);
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** How to import objects one by one that one resource cannot declare together. */
function insteadOf(kind: Kind): string {
  const { gathers } = toolsOf(kind);
  if (gathers === undefined) return "";
  return `. Without --${gathers.option} the other ${gathers.noun} are imported, as one ${gathers.kind} each`;
}

export function importReport(report: ImportReport): CommandReport {
  const { imported, held, notes, next } = report;
  return {
    json: report,
    title: text`Import`,
    headline: resultOf(report),
    sections: [
      { rows: imported.map(({ kind, name, describe }) => [text`${kind}`, text`${name}`, text`${describe}`]) },
      {
        title: text`already in the stack:`,
        rows: held.map(({ kind, describe }) => [text`${kind}`, text`${describe}`]),
      },
      { title: text`notes:`, lines: notes.map(message) },
      { title: text`next:`, lines: next.map((command) => stepOf(report, command)) },
    ],
    exitCode: EXIT.done,
  };
}

function resultOf({ project, files, imported, held, leftOut }: ImportReport): Text {
  if (files.length > 0) {
    const written = joined(files.map(message), text` and `);
    return text`wrote ${written}: ${counted(imported.length, "resource")} of project ${project}`;
  }
  const isElse = leftOut.length > 0 ? text`else that a program can declare` : undefined;
  const what = isElse ?? (held.length > 0 ? text`that the stack does not hold` : text`to import`);
  return text`wrote nothing: project ${project} holds nothing ${what}`;
}

/** A command, with what it will show. */
function stepOf({ configuration }: ImportReport, command: string): Text {
  if (command !== "pulumi preview") return message(command);
  const changed = [...new Set(configuration.map(({ resource }) => resource))];
  const named = joined(
    changed.map((name) => text`"${name}"`),
    text` and `,
  );
  const after =
    changed.length === 0
      ? text`shows no changes`
      : text`changes at most ${named}: it sets the values that you have configured`;
  return text`${command}  # ${after}, and deletes nothing`;
}
