import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { mapSecrets, SECRET, SIGNATURE } from "../../src/contract/engineSecrets";
import { isOurEntry } from "../../src/contract/pointer";
import { typeInUrn } from "../../src/contract/identifiers";
import { act } from "./deeds";
import { edited } from "./edits";
import { startEngine, type Engine } from "./engine";
import type { Command, History } from "./history";
import { startImitated, type Imitated } from "./imitated";
import type { Given, Player } from "./player";

/** The same history on both engines: what each gives to our provider and what it stores, command by command. */

/** How much was compared. */
export const figures = { commands: 0, calls: 0 };

interface Call {
  readonly method: string;
  readonly urn: string;
  readonly given: readonly unknown[];
}

/** What a command came to. The texts are without what differs from run to run. */
export interface Came {
  readonly command: Command;
  readonly isGood: boolean;
  readonly steps: readonly string[];
  readonly said: string;
  /** In no order. */
  readonly calls: readonly string[];
  /** The entries of the state. */
  readonly state: readonly string[];
}

/**
 * The differences of the first command that has one. Of a command that fails, only calls for the same resource are
 * compared: what had begun by then, and sometimes whether it fails, is a matter of time. If it leaves different states,
 * the rest of the history is another one.
 */
export async function differencesOf(history: History): Promise<string[]> {
  const engine = await onEngine(history);
  const imitation = await onImitation(history);
  for (const [i, here] of engine.entries()) {
    const there = imitation[i];
    if (there === undefined) return [];
    figures.commands += 1;
    figures.calls += here.calls.length;
    const areGood = here.isGood && there.isGood;
    const inState = differing(here.state, there.state);
    const found = areGood
      ? [...differing(here.calls, there.calls), ...inState]
      : differing(...onBoth(here.calls, there.calls));
    if (found.length > 0) return found.map((text) => `command ${i} (${JSON.stringify(here.command)}): ${text}`);
    if (inState.length > 0) return [];
  }
  return [];
}

function differing(here: readonly string[], there: readonly string[]): string[] {
  const count = (all: readonly string[], text: string): number => all.filter((one) => one === text).length;
  return [...new Set([...here, ...there])].toSorted().flatMap((text) => {
    const [engine, imitation] = [count(here, text), count(there, text)];
    return engine === imitation ? [] : [`engine ${engine}, imitation ${imitation} times ${text}`];
  });
}

/** Calls of one method for one resource that both have, where none is the same. */
function onBoth(here: readonly string[], there: readonly string[]): [string[], string[]] {
  const of = (call: string): string => call.slice(0, call.indexOf(" ["));
  const odd = (all: readonly string[], others: readonly string[]): string[] =>
    all.filter((call) => {
      const same = all.filter((one) => of(one) === of(call));
      return others.some((one) => of(one) === of(call)) && !same.some((one) => others.includes(one));
    });
  return [odd(here, there), odd(there, here)];
}

async function onEngine(history: History): Promise<readonly Came[]> {
  const player = await startEngine(undefined, history);
  const file = join(player.stack.folder, "calls");
  player.stack.env["PROVIDER_CALLS"] = file;
  const calls = (): Call[] => {
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
    rmSync(file, { force: true });
    // As calls.cjs writes them.
    return lines.map((line) => JSON.parse(line) as Call);
  };
  return played(player, history, calls, () => entriesOfEngine(player)).finally(() => player.close());
}

async function onImitation(history: History): Promise<readonly Came[]> {
  const player = await startImitated(history);
  const calls: string[] = [];
  // The provider may work on what it gets.
  player.stack.observe = (call) => void calls.push(JSON.stringify(call));
  const taken = (): Call[] => calls.splice(0).map((text) => JSON.parse(text) as Call);
  return played(player, history, taken, () => Promise.resolve(entriesOfImitation(player))).finally(() =>
    player.close(),
  );
}

export async function played(
  player: Player,
  history: History,
  calls: () => readonly Call[],
  entries: () => Promise<readonly object[]>,
): Promise<readonly Came[]> {
  const came: Came[] = [];
  let { program } = history;
  const environment: Record<string, string> = { ...history.environment };
  for (const step of history.steps) {
    if (step.do === "edit") program = step.edits.reduce(edited, program);
    else if (step.do === "colleague") await act(player.world, step.deed);
    else if (step.do === "environment") {
      if (step.value === null) delete environment[step.name];
      else environment[step.name] = step.value;
    } else {
      const { command } = step;
      const ran = await player.run(command, { ...UNDISTURBED, program, environment });
      program = ran.program ?? program;
      const made = calls().filter(({ urn }) => isOurEntry({ type: typeInUrn(urn) }));
      const texts = made.map(({ method, urn, given }) => `${method} ${urn} ${textOf(given)}`);
      came.push({
        ...{ command, isGood: ran.code === 0, steps: ran.steps, said: ran.text, calls: texts },
        state: (await entries()).map(textOf),
      });
    }
  }
  return came;
}

const UNDISTURBED: Omit<Given, "program" | "environment"> = {
  trouble: undefined,
  act: () => Promise.resolve(),
  executing: (_request, work) => work(),
};

/** As `pulumi stack export` writes an entry. */
interface Exported {
  readonly urn: string;
  readonly type: string;
  readonly inputs?: object;
  readonly outputs?: object;
  readonly parent?: string;
  readonly dependencies?: readonly string[];
  readonly deletedWith?: string;
  readonly protect?: boolean;
  readonly retainOnDelete?: boolean;
  readonly delete?: boolean;
  readonly pendingReplacement?: boolean;
  readonly taint?: boolean;
  readonly initErrors?: readonly string[];
}

async function entriesOfEngine({ stack }: Engine): Promise<object[]> {
  const { deployment } = JSON.parse(await stack.exported()) as { deployment: { resources?: Exported[] } };
  return (deployment.resources ?? [])
    .filter(({ type }) => !type.startsWith("pulumi:"))
    .map(({ urn, type, inputs = {}, outputs = {}, parent = "", dependencies = [], ...entry }) => ({
      urn,
      ...(isOurEntry({ type }) && { inputs: hidden(inputs), outs: hidden(outputs) }),
      ...{ parent: parent.endsWith("::proj-dev") ? "" : parent, dependencies: dependencies.toSorted() },
      deletedWith: entry.deletedWith ?? "",
      flags: flagsOf({ ...entry, unfinished: entry.initErrors !== undefined, toDelete: entry.delete }),
    }));
}

export function entriesOfImitation({ stack }: Imitated): object[] {
  return stack.all.map((entry) => {
    const { urn, kind, inputs, outs, parent = "", dependencies, dependsOn = [], deletedWith = "" } = entry;
    return {
      urn,
      ...(kind !== "Group" && kind !== "Foreign" && { inputs: hidden(inputs), outs: hidden(outs) }),
      ...{ parent, dependencies: [...new Set([...Object.keys(dependencies), ...dependsOn])].toSorted() },
      ...{ deletedWith, flags: flagsOf({ ...entry, taint: entry.tainted }) },
    };
  });
}

/** With a word for everything that is encrypted. */
const hidden = (properties: object): unknown => mapSecrets(properties, () => ({ [SIGNATURE]: SECRET }));

type Flag = "protect" | "retainOnDelete" | "toDelete" | "pendingReplacement" | "taint" | "unfinished";
const FLAGS: readonly Flag[] = ["protect", "retainOnDelete", "toDelete", "pendingReplacement", "taint", "unfinished"];

const flagsOf = (entry: { readonly [Name in Flag]?: boolean | undefined }): string[] =>
  FLAGS.filter((flag) => entry[flag] === true);

/** Without what the service draws, and the time. */
function textOf(value: unknown): string {
  const sorted = JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
  return withoutDrawn(sorted);
}

export const withoutDrawn = (text: string): string =>
  DRAWN.reduce((known, [pattern, word]) => known.replace(pattern, word), text);

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
