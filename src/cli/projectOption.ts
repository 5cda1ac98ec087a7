import { InvalidArgumentError, Option } from "commander";
import { SEGMENT } from "../contract/settings";

/** `--project <id>`, refused as wrong usage where no project can have that id. */
export function projectOption(description: string): Option {
  return new Option("--project <id>", description).argParser((text) => {
    if (SEGMENT.test(text)) return text;
    throw new InvalidArgumentError("It must be the id of a project: letters, digits and . _ ~ -");
  });
}
