import type { Command } from "commander";
import type { ImportOptions, ImportReport } from "./importProject";

/** `pulumi-svc import`: brings a project that was set up by hand under Pulumi. */
export function addImportCommand(program: Command): void {
  program
    .command("import")
    .description("Write the import file of everything in a project, and the TypeScript program that matches it")
    .requiredOption("--project <id>", "the project")
    .option("--out <file>", "the file for pulumi import --file", "import.json")
    .option("--program <file>", "the file for the program", "index.ts")
    .option(
      "--auth-provider <name>",
      "the auth provider, where it is not the one of SVC_AUTH_PROVIDER or the standard one",
    )
    .option("--state <file>", "what pulumi stack export wrote: leave out what that stack holds already")
    .option("--force", "overwrite the two files where they exist")
    .option("--json", "report as JSON")
    .addHelpText("after", "\nThe settings come from the environment: SVC_API_KEY and SVC_BASE_URL.")
    .action(async ({ json = false, ...options }: ImportOptions & { json?: boolean }) => {
      // Loaded here, so that the other commands do not pay for it.
      const { importProject } = await import("./importProject.js");
      const report = await importProject(options);
      process.stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : inWords(report));
    });
}

/** The report for a person. */
export function inWords({ project, files, imported, held, configuration, notes, next }: ImportReport): string {
  const count = `${imported.length} resource${imported.length === 1 ? "" : "s"}`;
  const result =
    files.length > 0
      ? `wrote ${files.join(" and ")}: ${count} of project ${project}`
      : `wrote nothing: project ${project} holds nothing ${held.length > 0 ? "that the stack does not hold" : "to import"}`;
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
  ].join("\n");
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
