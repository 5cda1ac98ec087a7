import { type Command, InvalidArgumentError, Option } from "commander";
import { EXIT } from "../exitCodes";
import { exitCodes, jsonOption, projectOption, STACK } from "../options";
import type { AuditFlags } from "./audit";
import type { DoctorFlags } from "./doctor";

interface CommandFlags extends DoctorFlags, AuditFlags {
  readonly audit?: true;
}

/** `pulumi-svc doctor`: checks what a program needs, and with `--audit` the state of a production stack. */
export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("Check what a program needs: versions, settings, the service, the API key, a project")
    .addOption(projectOption("a project that the key must reach"))
    .option("--stack <name>", STACK)
    .addOption(
      new Option(
        "--audit",
        "report what is unsafe for production in the stack's state, instead of the checks. Sends no request to the service, and decrypts no secret",
      ).conflicts("project"),
    )
    .addOption(new Option("--max-size <CU>", "with --audit: the largest size of a compute").argParser(size))
    .addOption(
      jsonOption(
        "{ ok, checks: [{ name, status, message, remedy }] }, with --audit { stack, findings: [{ rule, kind, name, urn, message, remedy }], accepted, expired, unused }",
      ),
    )
    .addHelpText(
      "after",
      exitCodes(
        "no check failed (warnings are allowed), or with --audit no findings",
        "a check failed, or with --audit the state could not be read",
        { [EXIT.findings]: "findings of --audit" },
      ),
    )
    .action(async (flags: CommandFlags, command: Command) => {
      if (flags.maxSize !== undefined && flags.audit !== true) command.error("error: --max-size needs --audit");
      // Loaded on demand, to keep the other commands fast.
      if (flags.audit === true) {
        const { audit } = await import("./audit.js");
        process.exitCode = await audit(flags);
        return;
      }
      const { doctor } = await import("./doctor.js");
      process.exitCode = await doctor(flags);
    });
}

function size(text: string): number {
  const cu = Number(text);
  if (text.trim() !== "" && Number.isFinite(cu) && cu > 0) return cu;
  throw new InvalidArgumentError("It must be a number of compute units (CU) above 0, such as 4.");
}
