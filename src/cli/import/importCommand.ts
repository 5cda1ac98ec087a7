import type { Command } from "commander";
import { publish } from "../report/render";
import { exitCodes, jsonOption, projectOption, STACK } from "../options";
import type { ImportOptions } from "./importProject";

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
      const { importReport, leftOutText } = await import("./importText.js");
      const report = await importProject(options);
      process.exitCode = await publish(importReport(report), json ? "json" : "text");
      process.stderr.write(leftOutText(report));
    });
}

const repeated = (id: string, before: readonly string[] = []): string[] => [...before, id];
