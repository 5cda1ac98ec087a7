import { type Command, InvalidArgumentError, Option } from "commander";
import { EXIT } from "../exitCodes";
import { exitCodes, jsonOption, STACK } from "../options";
import type { EnvFlags } from "./env";
import { FORMATS } from "./formats";
import type { Mapping } from "./variables";

/** `pulumi-svc env`: what an application needs from the resources of a stack, as environment variables. */
export function addEnvCommand(program: Command): void {
  program
    .command("env")
    .description("Write the hosts, connection strings and keys of a stack as environment variables for an application")
    .option("--stack <name>", STACK)
    .addOption(new Option("--format <format>", "format of the result").choices(FORMATS).default("dotenv"))
    .addOption(jsonOption("--format json").conflicts("format"))
    .addOption(
      new Option("--map <entry>", "RESOURCE.output=NAME: another name for a variable; may be repeated").argParser(
        (text, mappings: readonly Mapping[] = []) => [...mappings, mapping(text)],
      ),
    )
    .addOption(new Option("--role <name>", "the role in the connection strings").argParser(text))
    .addOption(new Option("--database <name>", "the database in the connection strings").argParser(text))
    .addOption(
      new Option(
        "--password-env <variable>",
        "the environment variable with the password for the connection strings",
      ).argParser(text),
    )
    .option("--show-secrets", "write secrets too: to --out or to a pipe, never to a terminal")
    .option("--out <file>", "write to this file, which only you can read, instead of to standard output")
    .option("--force", "overwrite the file if it exists")
    .addHelpText(
      "after",
      exitCodes("the variables were written", "failure", { [EXIT.usage]: "wrong usage, or secrets for a terminal" }),
    )
    .action(async ({ json, ...flags }: EnvFlags & { json?: true }, command: Command) => {
      const { showSecrets, passwordEnv, out, force } = flags;
      if (passwordEnv !== undefined && showSecrets !== true)
        command.error("error: --password-env needs --show-secrets: a connection string with its password is a secret");
      if (force === true && out === undefined) command.error("error: --force needs --out");
      if (showSecrets === true && out === undefined && process.stdout.isTTY)
        command.error(
          "error: secrets are not written to a terminal. Use --out, or a pipe to the command that needs them",
        );
      // Loaded on demand, to keep the other commands fast.
      const { env } = await import("./env.js");
      await env(json === true ? { ...flags, format: "json" } : flags);
    });
}

/** A resource's name or URN may contain dots and equals signs. */
function mapping(entry: string): Mapping {
  const [, resource, output, name] = /^(.+)\.(\w+)=([A-Za-z_]\w*)$/s.exec(entry) ?? [];
  if (resource !== undefined && output !== undefined && name !== undefined) return { resource, output, name };
  throw new InvalidArgumentError(
    "It must be RESOURCE.output=NAME, such as api.host=DATABASE_HOST, with letters, digits and _ in the NAME",
  );
}

function text(given: string): string {
  if (given !== "") return given;
  throw new InvalidArgumentError("It must not be empty");
}
