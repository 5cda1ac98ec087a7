#!/usr/bin/env node
import { Command } from "commander";
import { packageVersion } from "../contract/installation";
import { addDoctorCommand } from "./doctor/doctorCommand";
import { addDriftCommand } from "./drift/driftCommand";
import { addEmulatorCommand } from "./emulator";
import { addEnvCommand } from "./env/envCommand";
import { EXIT } from "./exitCodes";
import { addFleetCommand } from "./fleet/fleetCommand";
import { addImportCommand } from "./import/importCommand";
import { addInitCommand } from "./init";
import { terminalText } from "./output";
import { addSweepCommand } from "./sweep/sweepCommand";
import { BusyError } from "./stack/unfinished";

const program = new Command("pulumi-svc")
  .description("Commands for programs with pulumi-svc resources")
  .version(packageVersion() ?? "unknown")
  // Subcommands inherit it; otherwise `emulator token --project` would be parsed as an option of `emulator`.
  .enablePositionalOptions()
  // Set before the commands are added, because they inherit it.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? EXIT.done : EXIT.usage));

addDoctorCommand(program);
addDriftCommand(program);
addEmulatorCommand(program);
addEnvCommand(program);
addFleetCommand(program);
addImportCommand(program);
addInitCommand(program);
addSweepCommand(program);

/** A reader that closes the pipe does not stop running work. Any other failure to write is an error. */
function outliveReaders(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    process.stderr.write(`pulumi-svc: standard output could not be written: ${error.code ?? error.message}\n`);
    process.once("exit", () => (process.exitCode = EXIT.failure));
  });
  process.stderr.on("error", () => undefined);
}

async function main(): Promise<void> {
  outliveReaders();
  if (process.argv.length <= 2) {
    program.outputHelp();
    return;
  }
  try {
    await program.parseAsync();
  } catch (error) {
    // The message may quote the service and the Pulumi CLI. Each line is a separate problem.
    const lines = (error instanceof Error ? error.message : String(error)).split("\n");
    process.stderr.write(lines.map((line) => `pulumi-svc: ${terminalText(line)}\n`).join(""));
    process.exitCode = error instanceof BusyError ? EXIT.busy : EXIT.failure;
  }
}

void main();
