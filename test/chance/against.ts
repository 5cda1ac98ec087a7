import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { act } from "./deeds";
import { edited } from "./edits";
import { startEngine } from "./engine";
import type { Command, History, Program, Step } from "./history";
import { startImitated } from "./imitated";
import type { Player } from "./player";

/** The same history on both engines: what each gives to our provider, command by command. */

interface Call {
  readonly method: string;
  readonly urn: string;
  readonly given: readonly unknown[];
}

/** How much was compared. */
export const figures = { commands: 0, calls: 0 };

/** What a command came to. */
interface Came {
  readonly command: Command;
  readonly isGood: boolean;
  readonly said: string;
  /** The calls and their number, in no order. */
  readonly calls: ReadonlyMap<string, number>;
}

/**
 * The differences of the first command that has one. A command that fails ends the history: what had begun by then, and
 * often that it fails, is a matter of time. Of it only calls of both for the same resource are compared.
 */
export async function differencesOf(history: History): Promise<string[]> {
  const real = await onEngine(history);
  const imitated = await onImitation(history);
  for (const [i, engine] of real.entries()) {
    const imitation = imitated[i];
    if (imitation === undefined) return [];
    figures.commands += 1;
    figures.calls += sum(engine.calls);
    const areGood = engine.isGood && imitation.isGood;
    const found = areGood ? differing(engine, imitation) : differingByResource(engine, imitation);
    if (found.length > 0 || !areGood)
      return found.map((text) => `command ${i} (${JSON.stringify(engine.command)}): ${text}`);
  }
  return [];
}

const sum = (calls: Came["calls"]): number => [...calls.values()].reduce((all, one) => all + one, 0);

function differing(engine: Came, imitation: Came): string[] {
  const all = new Set([...engine.calls.keys(), ...imitation.calls.keys()]);
  return [...all].toSorted().flatMap((call) => {
    const [here, there] = [engine.calls.get(call) ?? 0, imitation.calls.get(call) ?? 0];
    return here === there ? [] : [`engine ${here}, imitation ${there} times ${call}`];
  });
}

/** Calls of one method for one resource, of which none is the same. */
function differingByResource(engine: Came, imitation: Came): string[] {
  const [here, there] = [byResource(engine), byResource(imitation)];
  return [...here].flatMap(([of, calls]) => {
    const others = there.get(of) ?? [];
    const isOdd = others.length > 0 && !calls.some((call) => others.includes(call));
    return isOdd ? [...calls.map((call) => `engine ${call}`), ...others.map((call) => `imitation ${call}`)] : [];
  });
}

function byResource({ calls }: Came): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const call of calls.keys()) {
    const [of = ""] = call.split(" [");
    groups.set(of, [...(groups.get(of) ?? []), call]);
  }
  return groups;
}

async function onEngine(history: History): Promise<readonly Came[]> {
  const player = await startEngine();
  const file = join(player.stack.folder, "calls.jsonl");
  player.stack.env["PROVIDER_CALLS"] = file;
  try {
    return await played(player, history, () => {
      const lines = read(file).split("\n").filter(Boolean);
      rmSync(file, { force: true });
      // As providerHost.cjs writes them.
      return lines.map((line) => JSON.parse(line) as Call);
    });
  } finally {
    await player.close();
  }
}

async function onImitation(history: History): Promise<readonly Came[]> {
  const player = await startImitated();
  const calls: Call[] = [];
  // What the engine gives is JSON; the provider may work on what it gets.
  player.stack.observe = (call) => void calls.push(JSON.parse(JSON.stringify(call)) as Call);
  try {
    return await played(player, history, () => calls.splice(0));
  } finally {
    await player.close();
  }
}

async function played(player: Player, history: History, take: () => readonly Call[]): Promise<readonly Came[]> {
  const came: Came[] = [];
  let { program } = history;
  const environment: Record<string, string> = { ...history.environment };
  for (const step of history.steps) {
    program = await afterStep(player, step, program, environment, (one) =>
      came.push({ ...one, calls: counted(take()) }),
    );
    if (came.at(-1)?.isGood === false) break;
  }
  return came;
}

async function afterStep(
  player: Player,
  step: Step,
  program: Program,
  environment: Record<string, string>,
  add: (came: Omit<Came, "calls">) => void,
): Promise<Program> {
  if (step.do === "edit") return step.edits.reduce(edited, program);
  if (step.do === "colleague") await act(player.world, step.deed);
  else if (step.do === "environment") {
    if (step.value === null) delete environment[step.name];
    else environment[step.name] = step.value;
  } else {
    const { command } = step;
    const ran = await player.run(command, { ...UNDISTURBED, program, environment });
    add({ command, isGood: ran.code === 0, said: ran.text });
    return ran.program ?? program;
  }
  return program;
}

const UNDISTURBED = {
  trouble: undefined,
  act: () => Promise.resolve(),
  executing: <Result>(_method: string, _url: string, work: () => Promise<Result>): Promise<Result> => work(),
};

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // No call was made.
    return "";
  }
};

function counted(calls: readonly Call[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const call of calls) {
    const text = textOf(call);
    if (!text.includes("dynamic:Resource")) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

/** Without what the service draws, and the time. */
function textOf({ method, urn, given }: Call): string {
  const sorted = JSON.stringify(given, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  const text = DRAWN.reduce((known, [pattern, word]) => known.replace(pattern, word), sorted);
  return `${method} ${urn} ${text}`;
}

const DRAWN: readonly (readonly [RegExp, string])[] = [
  [/ep-[a-z]+-[a-z]+-\d+/g, "ep"],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "uuid"],
  [/supported_provider\/[0-9a-f]{12}/g, "supported_provider/hash"],
  [/\b[ps][cs]k_[\w-]+/g, "key"],
  [/scrypt(-bound)?\$[^"]+/g, "digest"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time"],
  [/exports\.handler=.*?\)"/g, 'pointer"'],
  [/127\.0\.0\.1:\d+/g, "address"],
];
