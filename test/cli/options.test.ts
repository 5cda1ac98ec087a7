import { Command } from "commander";
import { addDoctorCommand } from "../../src/cli/doctor/doctorCommand";
import { addDriftCommand } from "../../src/cli/drift/driftCommand";
import { addEmulatorCommand } from "../../src/cli/emulator";
import { addEnvCommand } from "../../src/cli/env/envCommand";
import { addFleetCommand } from "../../src/cli/fleet/fleetCommand";
import { addImportCommand } from "../../src/cli/import/importCommand";
import { addInitCommand } from "../../src/cli/init";
import { addSweepCommand } from "../../src/cli/sweep/sweepCommand";

const program = new Command();
const adds = [
  addDoctorCommand,
  addDriftCommand,
  addEmulatorCommand,
  addEnvCommand,
  addFleetCommand,
  addImportCommand,
  addInitCommand,
  addSweepCommand,
];
for (const add of adds) add(program);
const { commands } = program;
const fleet = commands.find((command) => command.name() === "fleet")?.commands ?? [];

function help(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

test("each command says its exit codes at the end of its help, in one form", () => {
  expect(commands.map((command) => command.name())).toEqual([
    "doctor",
    "drift",
    "emulator",
    "env",
    "fleet",
    "import",
    "init",
    "sweep",
  ]);
  for (const command of [...commands, ...fleet])
    expect(help(command)).toMatch(/\nExit codes: 0 [^;]+; 1 [^;]+; 2 wrong usage[^;]*(; [^\n]+)?\.\n$/);
});

test("an option that two commands have takes the same in both", () => {
  const flags = new Map<string, Set<string>>();
  for (const { long, flags: spelling } of commands.flatMap(({ options }) => options))
    flags.set(long ?? "", (flags.get(long ?? "") ?? new Set()).add(spelling));
  expect([...flags].filter(([, spellings]) => spellings.size > 1)).toEqual([]);
});

test.each([
  ["--stack", ["doctor", "drift", "env", "import"], /^the stack \(default: the selected one\)/],
  ["--json", ["doctor", "drift", "env", "import", "sweep"], /^report as JSON\b/],
])("%s is described in the same words wherever it stands", (long, expected, words) => {
  const found = commands.flatMap((command) =>
    command.options.filter((option) => option.long === long).map(({ description }) => [command.name(), description]),
  );
  expect(found.map(([name]) => name)).toEqual(expected);
  for (const [, description] of found) expect(description).toMatch(words);
});
