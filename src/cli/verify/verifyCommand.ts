import { type Command, Option } from "commander";
import { exitCodes, idOption, projectOption, STACK } from "../options";
import { FORMATS, PARTS, type VerifyFlags } from "./flags";

/** `pulumi-svc verify`: tries the provider and what it assumes at a real service. */
export function addVerifyCommand(program: Command): void {
  program
    .command("verify")
    .description(
      "Create, change and delete every kind of object at the service, on a throw-away branch, and report which assumptions of this package hold there. It tells the cost first, and removes what it has made",
    )
    .addOption(projectOption("the project, best a throw-away one").makeOptionMandatory())
    .addOption(branchOption("--branch", "a throw-away branch without computes").makeOptionMandatory())
    .addOption(branchOption("--auth-branch", "the branch for the auth integration, whose database may keep its schema"))
    .addOption(branchOption("--move-to", "a second throw-away branch without computes: a compute is moved there"))
    .addOption(new Option("--part <part>", "only the computes, or only the auth").choices(PARTS))
    .option("--stack <name>", STACK)
    .option("--dry-run", "show what would be made and what it costs, and change nothing")
    .option("--yes", "do not ask for confirmation")
    .addOption(new Option("--format <format>", "format of the report").choices(FORMATS).default("text"))
    .addHelpText("after", "\nSettings are read from the stack's configuration, then from the environment.")
    .addHelpText(
      "after",
      exitCodes(
        "every assumption that was tried holds, or --dry-run",
        "a step failed, a signal ended the run, something is left behind, or nothing was begun",
        { 2: "wrong usage, or no terminal to ask on and no --yes", 12: "an assumption differs" },
      ),
    )
    .action(async (flags: VerifyFlags, command: Command) => {
      const { part, authBranch, branch, moveTo } = flags;
      if (part === "compute" && authBranch !== undefined) command.error("error: --auth-branch is of the part auth");
      if (part === "auth" && moveTo !== undefined) command.error("error: --move-to is of the part compute");
      if (moveTo === branch) command.error("error: --move-to must be another branch than --branch");
      // Loaded on demand, to keep the other commands fast.
      const { verify } = await import("./verify.js");
      process.exitCode = await verify(flags);
    });
}

const branchOption = (long: string, description: string): Option => idOption(long, "a branch", description);
