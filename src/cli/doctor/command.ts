import { styleText } from "node:util";
import type { Command } from "commander";
import { exitCodes, jsonOption, projectOption, STACK } from "../options";
import { terminalJson, terminalText, wantsColours } from "../terminal";
import type { Check } from "./check";
import { installationChecks, programFolder } from "./installation";
import { serviceChecks } from "./service";
import { readStack } from "./stack";

interface Flags {
  readonly project?: string;
  readonly stack?: string;
  readonly json?: true;
}

const COLOURS = { ok: "green", warning: "yellow", failure: "red", skipped: "gray" } as const;

/** `pulumi-svc doctor`: 0 when all is well, warnings or not; 1 when something is not. */
export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("Check what a program needs: versions, settings, the service, the key, a project")
    .addOption(projectOption("the project to look for"))
    .option("--stack <name>", STACK)
    .addOption(jsonOption("{ ok, checks: [{ name, status, message, remedy }] }"))
    .addHelpText("after", exitCodes("all is well, warnings or not", "something is not"))
    .action(async ({ project, stack, json }: Flags) => {
      const checks = await diagnose(process.cwd(), project, stack);
      const ok = checks.every(({ status }) => status !== "failure");
      process.stdout.write(json === true ? `${terminalJson({ ok, checks })}\n` : asText(checks));
      if (!ok) process.exitCode = 1;
    });
}

async function diagnose(folder: string, project: string | undefined, stack: string | undefined): Promise<Check[]> {
  const program = programFolder(folder);
  const { checks, configuration, providers } = await readStack(folder, program !== undefined, stack);
  return [...installationChecks(program), ...checks, ...(await serviceChecks(configuration, providers, project))];
}

/** One line for each check, and its remedy below. */
function asText(checks: readonly Check[]): string {
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
