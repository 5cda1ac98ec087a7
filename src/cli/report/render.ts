import { terminalJson, wantsColours } from "../output";
import { EXIT } from "../exitCodes";
import { deliver } from "../drift/deliver";
import type { CommandReport } from "./commandReport";
import { toMarkdown } from "./markdown";
import { lineOf, toText } from "./terminal";

export const FORMATS = ["text", "json", "markdown"] as const;
export type Format = (typeof FORMATS)[number];

/** `colours`: for a terminal. */
export function render(report: CommandReport, format: Format, colours = false): string {
  if (format === "json") return `${terminalJson(report.json)}\n`;
  return format === "markdown" ? toMarkdown(report) : toText(report, colours);
}

/** Prints a report, or writes it to a file, and returns the exit code of the command. */
export const publish = (report: CommandReport, format: Format, out?: string): Promise<number> =>
  publishAs(render(report, format, out === undefined && wantsColours()), report, out);

/** The same in a format that only this command has. */
export async function publishAs(shown: string, { headline, exitCode }: CommandReport, out?: string): Promise<number> {
  const isDelivered = await deliver(shown, { out, summary: headline === undefined ? "" : lineOf(headline) });
  return isDelivered ? exitCode : EXIT.failure;
}

/** A script also gets a failure in its format, in a form that cannot be mistaken for a report. */
export function orAsJson<Result>(isJson: boolean, work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    const messages = (error instanceof Error ? error.message : String(error)).split("\n");
    if (isJson) process.stdout.write(`${terminalJson({ messages })}\n`);
    throw error;
  });
}
