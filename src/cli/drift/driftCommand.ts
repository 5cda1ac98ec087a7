import { type Command, InvalidArgumentError, Option } from "commander";
import { dayOf } from "../../contract/expiry";
import { exitCodes, jsonOption, STACK } from "../options";
import { mustBeWritable } from "./deliver";
import type { DriftFlags } from "./drift";
import { EXIT } from "../exitCodes";
import { FORMATS } from "../report/render";

/** The options of a single mode, by the property names that commander gives them. */
interface ModeFlags {
  readonly json?: true;
  readonly accept?: true;
  readonly dryRun?: true;
  readonly force?: true;
  readonly ignore?: true;
  readonly reason?: string;
  readonly until?: string;
  readonly property?: string;
  readonly allStacks?: true;
  readonly repair?: true;
  readonly yes?: true;
  readonly expect?: string;
  readonly allowReplace?: true;
}

const MODES = {
  accept: ["dryRun", "force"],
  repair: ["yes", "expect", "allowReplace"],
  ignore: ["reason", "until", "property", "allStacks"],
} as const satisfies Readonly<Record<string, readonly (keyof ModeFlags)[]>>;

type Mode = keyof typeof MODES;
// The keys of the table above.
const MODE_NAMES = Object.keys(MODES) as Mode[];

/** `pulumi-svc drift`: reports what was changed at the service outside Pulumi. */
export function addDriftCommand(program: Command): void {
  program
    .command("drift")
    .description(
      "Report what was changed at the service outside Pulumi. Changes of the program that are not deployed are not drift",
    )
    .option(
      "--stack <name>",
      `${STACK}; may be repeated: each is checked, and an object in any of them counts as declared`,
      (name, names: string[] = []) => [...names, name],
    )
    .addOption(
      new Option(
        "--from <file>",
        "read an earlier result instead: a report written with --format json, or an event log of the Pulumi CLI",
      ).conflicts(["stack", "unmanaged"]),
    )
    .addOption(
      new Option("--wait <seconds>", "if an update of the stack is running, wait for its end, at most this long")
        .argParser(seconds)
        .conflicts("from"),
    )
    .option("--unmanaged", "also report what exists in the projects of the stack and is not declared in it")
    .addOption(new Option("--format <format>", "format of the report").choices(FORMATS).default("text"))
    .addOption(jsonOption("--format json").conflicts("format"))
    .option("--out <file>", "write the report to this file, and one line about it to standard output")
    .argument("[resource...]", "with --accept, --repair and --ignore: the resources, each by its name or URN")
    .addOption(modeOption("accept", "edit the program, so that it declares what was found", ["from", "unmanaged"]))
    .option("--dry-run", "with --accept: show the edit as a diff, and write nothing")
    .option("--force", "with --accept: also edit files that are not committed in git")
    .addOption(
      modeOption(
        "repair",
        "restore the last deployed state of what drifted, and of nothing else; pending changes of the program stay pending",
        ["from", "unmanaged", "out"],
      ),
    )
    .option("--yes", "with --repair: do not ask for confirmation")
    .option("--expect <fingerprint>", "with --repair: refuse if the drift has another fingerprint than this")
    .option("--allow-replace", "with --repair: also repair what needs a replacement or a deletion")
    .addOption(
      modeOption(
        "ignore",
        "tolerate the present drift of these resources (with --unmanaged also ids of objects): add it to svc-drift.json",
        ["from"],
      ),
    )
    .addOption(new Option("--reason <text>", "with --ignore: why it may differ").argParser(reasonText))
    .addOption(new Option("--until <date>", "with --ignore: the last day, as 2027-01-31 (UTC)").argParser(lastDay))
    .option("--property <path>", "with --ignore: only this property and what is below it, such as size.max")
    .option("--all-stacks", "with --ignore: also for the resources of these names in the other stacks of the program")
    .addHelpText(
      "after",
      exitCodes("no drift, or all of it accepted, repaired or ignored", "failure, or the user declined", {
        [EXIT.usage]: "wrong usage, or no terminal to ask on and no --yes",
        [EXIT.drift]: "drift, or some of it is left after --accept or --repair",
        [EXIT.undeclared]: "no drift, but objects that are not declared",
        [EXIT.otherDrift]: "with --repair: other drift than what was expected or shown",
        [EXIT.busy]: "an update of the stack is running, or was interrupted: the result is unknown",
      }),
    )
    .action(async (resources: string[], given: DriftFlags & ModeFlags, command: Command) => {
      const misuse = misuseOf(resources, given);
      if (misuse !== undefined) command.error(`error: ${misuse}`);
      const flags = given.json === true ? { ...given, format: "json" as const } : given;
      process.exitCode = await run(resources, flags);
    });
}

/** Loaded on demand, to keep the other commands fast. */
async function run(resources: readonly string[], flags: DriftFlags & ModeFlags): Promise<number> {
  const { stack, reason, out } = flags;
  // First: nothing is done that could not be reported.
  if (out !== undefined) await mustBeWritable(out);
  if (flags.accept === true) {
    const { accept } = await import("./accept/accept.js");
    return accept(resources, { ...flags, stack: stack?.[0] });
  }
  if (flags.repair === true) {
    const { repair } = await import("./repair/repair.js");
    return repair(resources, { ...flags, stack: stack?.[0] });
  }
  if (flags.ignore === true && reason !== undefined) {
    const { ignore } = await import("./ignore.js");
    return ignore({ ...flags, ignore: resources, reason });
  }
  const { drift } = await import("./drift.js");
  return drift(flags);
}

/** A mode excludes the other modes and these options of the report. */
function modeOption(mode: Mode, description: string, excluded: readonly (keyof DriftFlags)[]): Option {
  return new Option(`--${mode}`, description).conflicts([...MODE_NAMES.filter((other) => other !== mode), ...excluded]);
}

/** Why this combination of options is invalid, beyond the pairwise exclusions that the parser knows. */
function misuseOf(resources: readonly string[], flags: DriftFlags & ModeFlags): string | undefined {
  const mode = MODE_NAMES.find((one) => flags[one] === true);
  for (const other of MODE_NAMES) {
    const [option] = other === mode ? [] : MODES[other].filter((name) => flags[name] !== undefined);
    if (option === undefined) continue;
    if (mode === undefined) return `--${kebab(option)} needs --${other}`;
    const own = MODES[mode].map((name) => `--${kebab(name)}`).join(", ");
    return `--${kebab(option)} belongs to --${other}. --${mode} takes ${own}${mode === "repair" ? "" : ", and never asks"}`;
  }
  if (mode === undefined) {
    return resources.length > 0 ? `resources need one of ${MODE_NAMES.map((one) => `--${one}`).join(", ")}` : undefined;
  }
  if (mode === "ignore") {
    if (resources.length === 0) return "--ignore needs the resources that may differ";
    if (flags.reason === undefined) return "--ignore needs --reason: why they may differ";
    if (flags.allStacks !== true) return undefined;
    if ((flags.stack ?? []).length > 1)
      return "--all-stacks takes one --stack: the one whose found values are tolerated";
    return resources.some((one) => one.startsWith("urn:pulumi:"))
      ? "--all-stacks needs the names of resources: a URN belongs to one stack"
      : undefined;
  }
  return (flags.stack ?? []).length > 1 ? `--${mode} takes one --stack` : undefined;
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function reasonText(text: string): string {
  if (text.trim() !== "") return text.trim();
  throw new InvalidArgumentError("It must not be empty.");
}

function seconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a number of seconds.");
}

function lastDay(text: string): string {
  const day = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || dayOf(day) !== text)
    throw new InvalidArgumentError("It must be a date, as 2027-01-31.");
  if (text < dayOf(new Date())) throw new InvalidArgumentError("This day is in the past.");
  return text;
}
