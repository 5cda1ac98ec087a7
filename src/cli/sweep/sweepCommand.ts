import { type Command, InvalidArgumentError, Option } from "commander";
import { EXIT } from "../exitCodes";
import { exitCodes, jsonOption, projectOption } from "../options";
import { durationMs, hasWords } from "./matching";
import type { SweepFlags } from "./sweep";

/** `pulumi-svc sweep`: deletes what previews have left behind. */
export function addSweepCommand(program: Command): void {
  program
    .command("sweep")
    .description(
      "Delete computes and redirect domains that previews have left behind: what matches, is old enough, and is named neither in a state of the backend nor after an open branch. It shows them and asks first",
    )
    .addOption(
      new Option(
        "--match <pattern>",
        "the name of a compute or of its branch, or the origin of a domain, such as 'pr-*' or 'https://pr-*.example.com'; * stands for any text; may be repeated",
      )
        .argParser(repeated)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--older-than <duration>",
        "only what was created this long ago, such as 12h or 7d; 0: of any age, also where the service shows none, as for domains",
      )
        .argParser(duration)
        .default(durationMs("1d"), "1d"),
    )
    .addOption(
      new Option("--keep <branch...>", "branches that are open: what is named after one stays").argParser(repeated),
    )
    .addOption(
      projectOption(
        "look in this project, with the settings of this folder (default: where the states hold something)",
      ),
    )
    .option(
      "--service <host>",
      "the host of the service. --yes needs it where no state stores the address; another service is refused",
    )
    .option("--dry-run", "show what is left behind, and delete nothing")
    .option("--yes", "do not ask for confirmation")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nAll states of the backend that is logged in to are read. Other backends are not seen: do not use this where they hold objects of the same projects.",
    )
    .addHelpText(
      "after",
      exitCodes(
        "nothing is left behind, or all of it was deleted",
        "failure, the user declined, or some of it may still exist",
        {
          [EXIT.usage]:
            "wrong usage; no terminal to ask on and no --yes; or --yes, and no state says which service it is",
          [EXIT.undeclared]: "with --dry-run: something is left behind",
          [EXIT.busy]: "a stack is being updated or locked, or has changed meanwhile: nothing more was deleted",
        },
      ),
    )
    .action(async ({ olderThan, ...flags }: Omit<SweepFlags, "olderThanMs"> & { readonly olderThan: number }) => {
      // Loaded on demand, to keep the other commands fast.
      const { sweep } = await import("./sweep.js");
      process.exitCode = await sweep({ ...flags, olderThanMs: olderThan });
    });
}

function repeated(text: string, before: readonly string[] = []): string[] {
  if (hasWords(text)) return [...before, text];
  throw new InvalidArgumentError("It must contain a letter or a digit.");
}

function duration(text: string): number {
  const found = durationMs(text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError("It must be a number of minutes, hours or days, such as 30m, 12h or 7d, or 0.");
}
