import type { Command } from "commander";
import { exitCodes, jsonOption, projectOption, STACK } from "../options";
import type { DoctorFlags } from "./doctor";

/** `pulumi-svc doctor`: what a program needs. */
export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("Check what a program needs: versions, settings, the service, the API key, a project")
    .addOption(projectOption("a project that the key must reach"))
    .option("--stack <name>", STACK)
    .addOption(jsonOption("{ ok, checks: [{ name, status, message, remedy }] }"))
    .addHelpText("after", exitCodes("no check failed, whatever warnings there are", "a check failed"))
    .action(async (flags: DoctorFlags) => {
      // Loaded here, so that the other commands do not pay for it.
      const { doctor } = await import("./doctor.js");
      process.exitCode = await doctor(flags);
    });
}
