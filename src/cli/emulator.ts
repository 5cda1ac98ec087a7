import { Option, type Command } from "commander";
import type { Emulator, EmulatorOptions } from "../emulator";

/** Not a usage error: the command is well-formed, its value is not. */
const wholeNumber =
  (flag: string) =>
  (text: string): number => {
    if (!/^\d{1,15}$/.test(text)) throw new Error(`${flag} takes a whole number, 0 or more`);
    return Number(text);
  };

const numberOption = (flag: string, description: string, standard: number): Option =>
  new Option(`${flag} <number>`, description).argParser(wholeNumber(flag)).default(standard);

const goneStatus = (text: string): 204 | 404 => (text === "404" ? 404 : 204);

/** `pulumi-svc emulator`: one flag for each of EmulatorOptions. */
export function addEmulatorCommand(program: Command): void {
  const command = program
    .command("emulator")
    .description("Run a local emulator of the service until it is told to stop")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .addOption(numberOption("--port", "port to listen on, 0 = any free one", 8787))
    .addOption(new Option("--api-key <key>", "the key to accept").env("SVC_EMULATOR_API_KEY").default("test-key"))
    .option("--auth-provider <name>", "the auth provider that is supported", "supported_provider")
    .addOption(numberOption("--activation-ms", "how long a compute takes to start", 1500))
    .addOption(numberOption("--latency-ms", "time added before each answer", 0))
    .addOption(numberOption("--idle-after-ms", "suspend an active compute after that long, 0 = never", 0))
    .option("--lock-projects", "answer 423 while an operation of the project runs")
    .option("--seed-only", "leave out the routes that merely complete the picture")
    .option("--data <file>", "keep the state in this file")
    .addOption(numberOption("--rate-per-second", "requests a second and route before 429, 0 = no limit", 0))
    .addOption(numberOption("--rate-per-minute", "requests of any minute before 429, 0 = no limit", 0))
    .addOption(numberOption("--list-lag-ms", "lists leave out what is younger", 0))
    .addOption(
      new Option("--secret-answers <how>", "how secrets come back")
        .choices(["echo", "masked", "absent"])
        .default("echo"),
    )
    .addOption(
      new Option("--gone-endpoint-delete <status>", "what deleting a deleted compute answers")
        .choices(["204", "404"])
        .default("204"),
    )
    .option("--keep-schemas", "a deleted integration leaves its schema behind")
    .option("--any-auth-branch", "an integration may belong to a branch that is not the default one")
    .option("--extra-fields", "answers carry fields that no document lists")
    .option("--stuck-activation", "computes never get past their activation")
    .option("--start-replicas", "a new read replica starts at once");

  command.action(async (flags: Omit<EmulatorOptions, "goneEndpointDelete"> & { goneEndpointDelete: string }) => {
    const ownKey = command.getOptionValueSource("apiKey") !== "default";
    await run({ ...flags, goneEndpointDelete: goneStatus(flags.goneEndpointDelete) }, ownKey);
  });
}

async function run(options: EmulatorOptions, ownKey: boolean): Promise<void> {
  // Loaded here, so that the other commands do not pay for a web server.
  const { startEmulator } = await import("../emulator/index.js");
  const emulator = await startEmulator(options).catch((error: unknown) => {
    throw new Error(startFailure(error, options));
  });
  // A reader that has seen enough may close the pipe; that is no reason to stop serving.
  process.stdout.on("error", () => undefined);
  stopOnSignal(emulator);
  process.stdout.write(greeting(emulator, ownKey));
}

function startFailure(error: unknown, { host, port }: EmulatorOptions): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return `port ${port} on ${host} is in use: choose another with --port, 0 takes any free one`;
  return error instanceof Error ? error.message : String(error);
}

const greeting = ({ baseUrl, apiKey }: Emulator, ownKey: boolean): string =>
  [
    `listening on ${baseUrl}`,
    "project prj-demo: branches br-main (default, with a primary compute), br-dev, br-test",
    `API key: ${ownKey ? "the one that was given" : `${apiKey} (the default)`}`,
    "",
  ].join("\n");

function stopOnSignal(emulator: Emulator): void {
  const stop = (): void => {
    emulator.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`pulumi-svc: ${error instanceof Error ? error.message : String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
}
