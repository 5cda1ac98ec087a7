import { InvalidArgumentError, Option } from "commander";
import { SEGMENT } from "../contract/identifiers";
import { EXIT } from "./exitCodes";

/** Options shared by several commands have the same description in each `--help`. */
export const STACK = "the stack (default: the selected one)";

export const jsonOption = (shape = ""): Option =>
  new Option("--json", shape === "" ? "report as JSON" : `report as JSON: ${shape}`);

/** The exit codes at the end of a `--help`. Every command distinguishes wrong usage from a failure. */
export function exitCodes(zero: string, one = "failure", others: Readonly<Record<number, string>> = {}): string {
  const codes = { [EXIT.done]: zero, [EXIT.failure]: one, [EXIT.usage]: "wrong usage", ...others };
  return `\nExit codes: ${Object.entries(codes)
    .map(([code, meaning]) => `${code} ${meaning}`)
    .join("; ")}.`;
}

/** `--project <id>`. An impossible id is wrong usage. */
export const projectOption = (description: string): Option =>
  new Option("--project <id>", description).argParser((text) => {
    if (SEGMENT.test(text)) return text;
    throw new InvalidArgumentError("It must be the id of a project: letters, digits and . _ ~ -");
  });
