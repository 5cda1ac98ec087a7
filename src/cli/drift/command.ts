import { type Command, Option } from "commander";
import { exitCodes, jsonOption, STACK } from "../options";
import type { DriftFlags } from "./drift";
import { FORMATS } from "./formats";

/** `pulumi-svc drift`: what somebody changed at the service. */
export function addDriftCommand(program: Command): void {
  program
    .command("drift")
    .description(
      "Tell what somebody changed at the service: what a refresh of the stack finds, not what the program has pending",
    )
    .option(
      "--stack <name>",
      `${STACK}; may be repeated: each is checked, and what any of them holds is declared`,
      (name, names: string[] = []) => [...names, name],
    )
    .addOption(
      new Option(
        "--from <file>",
        "read the result of an earlier run instead: a report that --format json has written, or an event log of the Pulumi CLI",
      ).conflicts(["stack", "unmanaged"]),
    )
    .option("--unmanaged", "tell also what exists in the projects of the stack and is declared nowhere in it")
    .addOption(new Option("--format <format>", "how to tell it").choices(FORMATS).default("text"))
    .addOption(jsonOption("--format json").conflicts("format"))
    .option("--out <file>", "write the report to this file, and one line about it to standard output")
    .addHelpText("after", exitCodes("no drift", "failure", { 7: "drift", 8: "only something that is not declared" }))
    .action(async ({ json, ...flags }: DriftFlags & { json?: true }) => {
      // Loaded here, so that the other commands do not pay for it.
      const { drift } = await import("./drift.js");
      process.exitCode = await drift(json === true ? { ...flags, format: "json" } : flags);
    });
}
