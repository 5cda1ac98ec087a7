import { type Command, InvalidArgumentError, Option } from "commander";
import { exitCodes, jsonOption, STACK } from "../options";
import type { DriftFlags } from "./drift";
import { FORMATS } from "./formats";

interface Flags extends DriftFlags {
  readonly json?: true;
  readonly ignore?: readonly string[];
  readonly reason?: string;
  readonly until?: string;
  readonly property?: string;
}

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
    .addOption(
      new Option(
        "--ignore <resources...>",
        "write to svc-drift.json that what differs now may differ: in these resources (names or URNs; with --unmanaged also ids of objects)",
      ).conflicts(["from", "accept", "repair"]),
    )
    .addOption(new Option("--reason <text>", "with --ignore: why it may differ").argParser(reasonText))
    .addOption(new Option("--until <date>", "with --ignore: the last day, as 2027-01-31 (UTC)").argParser(lastDay))
    .option("--property <path>", "with --ignore: only this property and what is below it, such as size.max")
    .addHelpText(
      "after",
      exitCodes("no drift, or the entries of --ignore are written", "failure", {
        7: "drift",
        8: "no drift, but objects that are not declared",
      }),
    )
    .action(async ({ json, ...given }: Flags, command: Command) => {
      const flags = json === true ? { ...given, format: "json" as const } : given;
      const { ignore: ignoring, reason, until, property } = flags;
      // Loaded here, so that the other commands do not pay for it.
      if (ignoring !== undefined) {
        if (reason === undefined) command.error("error: --ignore needs --reason: why it may differ");
        const { ignore } = await import("./ignore.js");
        process.exitCode = await ignore({ ...flags, ignore: ignoring, reason });
        return;
      }
      if ([reason, until, property].some((value) => value !== undefined))
        command.error("error: --reason, --until and --property go with --ignore");
      const { drift } = await import("./drift.js");
      process.exitCode = await drift(flags);
    });
}

function reasonText(text: string): string {
  if (text.trim() !== "") return text.trim();
  throw new InvalidArgumentError("It must not be empty.");
}

function lastDay(text: string): string {
  const day = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text)
    throw new InvalidArgumentError("It must be a date, as 2027-01-31.");
  if (text < new Date().toISOString().slice(0, 10)) throw new InvalidArgumentError("This day is over.");
  return text;
}
