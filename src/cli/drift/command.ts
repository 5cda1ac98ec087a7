import { type Command, Option } from "commander";
import { exitCodes, jsonOption, STACK } from "../options";
import type { DriftFlags } from "./drift";
import { FORMATS } from "./formats";

/** `pulumi-svc drift`: what was changed at the service outside Pulumi. */
export function addDriftCommand(program: Command): void {
  program
    .command("drift")
    .description(
      "Report what was changed at the service outside Pulumi. Changes of the program that are not deployed are not drift",
    )
    .option(
      "--stack <name>",
      `${STACK}; may be repeated: each is checked, and an object in any of them counts as declared`,
      (name, names: string[] = []) => [...names, name],
    )
    .addOption(
      new Option(
        "--from <file>",
        "read an earlier result instead: a report written with --format json, or an event log of the Pulumi CLI",
      ).conflicts(["stack", "unmanaged"]),
    )
    .option("--unmanaged", "also report what exists in the projects of the stack and is not declared in it")
    .addOption(new Option("--format <format>", "format of the report").choices(FORMATS).default("text"))
    .addOption(jsonOption("--format json").conflicts("format"))
    .option("--out <file>", "write the report to this file, and one line about it to standard output")
    .addHelpText(
      "after",
      exitCodes("no drift", "failure", { 7: "drift", 8: "no drift, but objects that are not declared" }),
    )
    .action(async ({ json, ...flags }: DriftFlags & { json?: true }) => {
      // Loaded here, so that the other commands do not pay for it.
      const { drift } = await import("./drift.js");
      process.exitCode = await drift(json === true ? { ...flags, format: "json" } : flags);
    });
}
