import type { Command } from "commander";
import { exitCodes, jsonOption, projectOption, STACK } from "../options";
import type { ImportOptions, ImportReport } from "./importProject";
import { terminalJson, terminalText } from "../output";

/** `pulumi-svc import`: imports a project that was set up by hand. */
export function addImportCommand(program: Command): void {
  program
    .command("import")
    .description("Write an import file for everything in a project, and a TypeScript program that declares it")
    .addOption(projectOption("the project to import").makeOptionMandatory())
    .option("--stack <name>", STACK)
    .option("--out <file>", "the file for pulumi import --file", "import.json")
    .option("--program <file>", "the file for the program (default: index.ts, or imported.ts beside an entry point)")
    .option("--only <id>", "import this object alone, by its id; can be repeated", repeated)
    .option("--protect", "declare every resource with protect: true")
    .option("--from-env", "give secrets as svc.fromEnv instead of configuration")
    .option("--whitelist", "import the redirect domains as one Whitelist instead of one WhitelistDomain each")
    .option("--auth-provider <name>", "the auth provider, if it is not the one in the settings")
    .option(
      "--state <file>",
      "a file from pulumi stack export: what it holds is left out, instead of what the stack holds",
    )
    .option("--force", "overwrite the two files if they exist")
    .addOption(jsonOption())
    .addHelpText("after", "\nSettings are read from the stack's configuration, then from the environment.")
    .addHelpText("after", exitCodes("the files were written, or there was nothing to import"))
    .action(async ({ json = false, ...options }: ImportOptions & { json?: boolean }) => {
      // Loaded on demand, to keep the other commands fast.
      const { importProject } = await import("./importProject.js");
      const report = await importProject(options);
      process.stdout.write(json ? `${terminalJson(report)}\n` : toText(report));
      process.stderr.write(leftOutText(report));
    });
}

const repeated = (id: string, before: readonly string[] = []): string[] => [...before, id];

/** For standard error: one line for each object that is not imported. */
export function leftOutText({ leftOut }: ImportReport): string {
  const lines = leftOut.map(
    ({ kind, describe, reasons }) =>
      `pulumi-svc: left out, because no program can declare it: ${describe}: ${reasons.join("; ")}${kind === "Whitelist" ? WITHOUT_WHITELIST : ""}`,
  );
  return lines.map((line) => `${terminalText(line)}\n`).join("");
}

const WITHOUT_WHITELIST = ". Without --whitelist the other domains are imported, as one WhitelistDomain each";

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
