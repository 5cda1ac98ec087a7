import { type Command, InvalidArgumentError, Option } from "commander";
import { mustBeWritable } from "../drift/deliver";
import { EXIT } from "../exitCodes";
import { exitCodes, jsonOption } from "../options";
import { FORMATS } from "../report/render";
import type { FleetDriftFlags, FleetFormat } from "./fleetDrift";

/** Each state is read by a process of the Pulumi CLI. */
const PARALLEL = 8;

interface Shorthands {
  readonly json?: true;
  readonly markdown?: true;
  readonly prometheus?: true;
}

/** `pulumi-svc fleet`: commands for many stacks at a time. */
export function addFleetCommand(program: Command): void {
  const fleet = program.command("fleet").description("Commands for many stacks").addHelpText("after", CODES);
  fleet
    .command("drift")
    .description(
      "Report what was changed at the service outside Pulumi, for many stacks of the backend at once: without their programs and their engine",
    )
    .argument("[folder...]", "folders of programs, whose stacks are checked (default: all stacks of the backend)")
    .option(
      "--stack <pattern>",
      "only stacks with this name, or with names that end in it after a slash; * stands for any text without a slash; may be repeated",
      (pattern, patterns: string[] = []) => [...patterns, pattern],
    )
    .option("--unmanaged", "also report what exists in the projects of the stacks and no stack declares")
    .addOption(
      new Option("--parallel <number>", "how many states, and how many projects, are read at a time")
        .argParser(wholeNumber)
        .default(PARALLEL),
    )
    .option("--previous <file>", "an earlier report, written with --json: drift that it has keeps its time")
    .addOption(
      new Option("--format <format>", "format of the report").choices([...FORMATS, "prometheus"]).default("text"),
    )
    .addOption(jsonOption("--format json").conflicts(["format", "markdown", "prometheus"]))
    .addOption(new Option("--markdown", "report as Markdown: --format markdown").conflicts(["format", "prometheus"]))
    .addOption(new Option("--prometheus", "metrics for Prometheus: --format prometheus").conflicts("format"))
    .option("--out <file>", "write the report to this file, and one line about it to standard output")
    .addHelpText("after", CODES)
    .action(async (folders: string[], given: FleetDriftFlags & Shorthands) => {
      // First: nothing is done that could not be reported.
      if (given.out !== undefined) await mustBeWritable(given.out);
      // Loaded on demand, to keep the other commands fast.
      const { fleetDrift } = await import("./fleetDrift.js");
      process.exitCode = await fleetDrift(folders, { ...given, format: formatOf(given) });
    });
}

const CODES = exitCodes(
  "no drift",
  "failure, or some stacks are not known: the report names them, and has the others",
  { [EXIT.drift]: "drift", [EXIT.undeclared]: "no drift, but objects that no stack declares" },
);

function formatOf({ format, json, markdown, prometheus }: FleetDriftFlags & Shorthands): FleetFormat {
  if (json === true) return "json";
  if (markdown === true) return "markdown";
  return prometheus === true ? "prometheus" : format;
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number from 1 to 999.");
}
