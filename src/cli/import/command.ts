import type { Command } from "commander";
import { exitCodes, jsonOption, projectOption, STACK } from "../options";
import type { ImportOptions, ImportReport } from "./importProject";
import { terminalJson, terminalText } from "../output";

/** `pulumi-svc import`: brings a project that was set up by hand under Pulumi. */
export function addImportCommand(program: Command): void {
  program
    .command("import")
    .description("Write the import file of everything in a project, and the TypeScript program that matches it")
    .addOption(projectOption("the project").makeOptionMandatory())
    .option("--stack <name>", STACK)
    .option("--out <file>", "the file for pulumi import --file", "import.json")
    .option("--program <file>", "the file for the program", "index.ts")
    .option("--whitelist", "the redirect domains as one Whitelist, instead of a WhitelistDomain each")
    .option("--auth-provider <name>", "the auth provider, where it is not the one of the settings")
    .option("--state <file>", "what pulumi stack export wrote: leave out what that stack holds already")
    .option("--force", "overwrite the two files where they exist")
    .addOption(jsonOption())
    .addHelpText("after", "\nThe settings are those of the stack's configuration, then of the environment.")
    .addHelpText("after", exitCodes("the files are written, or there is nothing to write"))
    .action(async ({ json = false, ...options }: ImportOptions & { json?: boolean }) => {
      // Loaded here, so that the other commands do not pay for it.
      const { importProject } = await import("./importProject.js");
      const report = await importProject(options);
      process.stdout.write(json ? `${terminalJson(report)}\n` : inWords(report));
      process.stderr.write(leftOutInWords(report));
    });
}

/** For standard error: a line for each object that stays at the service alone. */
export function leftOutInWords({ leftOut }: ImportReport): string {
  const lines = leftOut.map(
    ({ kind, describe, reasons }) =>
      `pulumi-svc: left out, since no program can declare it: ${describe}: ${reasons.join("; ")}${kind === "Whitelist" ? WITHOUT_WHITELIST : ""}`,
  );
  return lines.map((line) => `${terminalText(line)}\n`).join("");
}

const WITHOUT_WHITELIST = ". Without --whitelist the other domains are imported, each by itself";

/** The report for a person. */
export function inWords({ project, files, imported, held, leftOut, configuration, notes, next }: ImportReport): string {
  const count = `${imported.length} resource${imported.length === 1 ? "" : "s"}`;
  const result =
    files.length > 0
      ? `wrote ${files.join(" and ")}: ${count} of project ${project}`
      : `wrote nothing: project ${project} holds nothing ${leftOut.length > 0 ? "else that a program can declare" : held.length > 0 ? "that the stack does not hold" : "to import"}`;
  const changed = [...new Set(configuration.map(({ resource }) => `"${resource}"`))];
  const after =
    changed.length === 0
      ? "shows no changes"
      : `changes ${changed.join(" and ")} alone: what the service does not show is set anew`;
  const withOutcome = (command: string): string => (command === "pulumi preview" ? `${command}  # ${after}` : command);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
  return [
    result,
    ...aligned(imported.map(({ kind, name, describe }) => [kind, name, describe])).map((line) => `  ${line}`),
    ...section("held by the stack already:", aligned(held.map(({ kind, describe }) => [kind, describe]))),
    ...section("to know:", notes),
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
