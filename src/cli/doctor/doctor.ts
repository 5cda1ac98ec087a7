import { styleText } from "node:util";
import { programFolder } from "../../contract/projectFile";
import { projectName } from "../stack/projectFile";
import { terminalJson, terminalText, wantsColours } from "../output";
import type { Check } from "./check";
import { installationChecks } from "./installedPackages";
import { serviceChecks } from "./service";
import { readStack } from "./stack";

export interface DoctorFlags {
  readonly project?: string;
  readonly stack?: string;
  readonly json?: true;
}

/** Reports what is set up and what is missing, and returns the exit code: 1 if a check failed. */
export async function doctor({ project, stack, json }: DoctorFlags): Promise<number> {
  const folder = process.cwd();
  const program = programFolder(folder);
  const { checks: ofStack, configuration, providers } = await readStack(folder, program !== undefined, stack);
  const ofService = await serviceChecks({ configuration, providers, projectName: projectName(folder) }, project);
  const checks = [...installationChecks(program), ...ofStack, ...ofService];
  const ok = checks.every(({ status }) => status !== "failure");
  process.stdout.write(json === true ? `${terminalJson({ ok, checks })}\n` : toText(checks));
  return ok ? 0 : 1;
}

const COLOURS = { ok: "green", warning: "yellow", failure: "red", skipped: "gray" } as const;

/** One line for each check, followed by its remedy. */
function toText(checks: readonly Check[]): string {
  const isColoured = wantsColours();
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, status, message, remedy }) => {
    const word = status.padEnd("warning".length);
    const shown = isColoured ? styleText(COLOURS[status], word) : word;
    const line = `${shown}  ${name.padEnd(width)}  ${terminalText(message)}`;
    return remedy === undefined ? [line] : [line, `${" ".repeat("warning".length + width + 4)}${terminalText(remedy)}`];
  });
  const [failures, warnings] = (["failure", "warning"] as const).map(
    (status) => checks.filter((check) => check.status === status).length,
  );
  return `${[...lines, "", `failures: ${failures}, warnings: ${warnings}`].join("\n")}\n`;
}
