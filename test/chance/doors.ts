import { visible, type Properties } from "../../src/contract/hiddenKeys";
import type { LogLine } from "../../src/host/progress";
import { marksOf } from "../../src/host/state";
import { entriesOfImitation, played, withoutDrawn, type Came } from "./against";
import type { History } from "./history";
import { startImitated } from "./imitated";

/** The same history through each door, on the imitation: what each command plans, does, says and stores. */

/** How much was compared. */
export const figures = { commands: 0 };

/** What only one of them says, by the name of the difference, whose reason is in docs/design/native.md, Differences between the doors. */
const SAID_BY_ONE: Readonly<Record<string, RegExp>> = {
  "a path of an option that leads to no argument":
    /^only dynamic: "(ignoreChanges|replaceOnChanges)" of .* which is no argument and no part of one/,
  "after a state rename a refresh knows the present URN": /declares an object that the stack holds as/,
  "a creation is looked at when more is compared":
    /^only dynamic: pulumi up will fail here, .*: the branch already has a read replica of this name/,
  "what the engine replaces by itself is no update":
    /^only dynamic: pulumi up will fail here: the auth integration of this resource .* no longer exists/,
  "a path that leads nowhere is seen later, or not at all": /is no argument and no part of one, so it has no effect/,
  "the option deleteBeforeReplace is in the plan": /the option "deleteBeforeReplace" deletes the old one before it/,
};
/** For a program with that option: the plan says in which order. */
const ORDER = / is replaced, because .*: /;
const REFUSED_BY_ONE: Readonly<Record<string, RegExp>> = {
  "a plan whose replacement lacks a value": /: the replacement needs .* Nothing is deleted/,
  "what retainOnDelete keeps is not replaced": /the option "retainOnDelete" keeps it at the service/,
};
const isKnown = (known: Readonly<Record<string, RegExp>>, text: string): boolean =>
  Object.values(known).some((pattern) => pattern.test(text));

/**
 * The differences of the first command that has one. If it leaves different states, the rest is another history. Of a
 * command that fails, only that is compared: the native door says of a creation only when that begins, and what had begun
 * by then is a matter of time.
 */
export async function differencesOfDoors(history: History): Promise<string[]> {
  const dynamic = await through(undefined, history);
  const native = await through("native", history);
  const isOrdered = JSON.stringify(history).includes('"deleteBeforeReplace"');
  for (const [i, here] of dynamic.entries()) {
    const there = native[i];
    if (there === undefined) return [`command ${i} is missing`];
    figures.commands += 1;
    const inState = differing(here.state, there.state);
    const found =
      here.isGood && there.isGood
        ? [...differing(here.steps, there.steps), ...ofWords(here, there, isOrdered), ...inState]
        : [];
    if (here.isGood !== there.isGood && ![here, there].some(({ said }) => isKnown(REFUSED_BY_ONE, said)))
      found.push(`dynamic: ${here.isGood}, ${here.said}`, `native: ${there.isGood}, ${there.said}`);
    if (found.length > 0) return found.map((text) => `command ${i} (${JSON.stringify(here.command)}): ${text}`);
    if (inState.length > 0) return [];
  }
  return [];
}

async function through(door: History["door"], { door: _own, ...history }: History): Promise<readonly Came[]> {
  const player = await startImitated({ ...history, ...(door && { door }) });
  const logs: (readonly LogLine[])[] = [];
  player.stack.onProcess = ({ log }) => void logs.push(log);
  const entries = () => Promise.resolve(entriesOfImitation(player).map(ofBoth));
  const came = await played(player, history, () => [], entries).finally(() => player.close());
  // Time decides about progress.
  const passing = new Set(logs.flat().flatMap(({ ephemeral, message }) => (ephemeral ? message.split("\n") : [])));
  return came.map((one) => ({
    ...one,
    said: one.said
      .split("\n")
      .filter((line) => !passing.has(line))
      .join("\n"),
  }));
}

const typesOfBoth = (text: string): string => text.replaceAll("pulumi-nodejs:dynamic/svc:", "svc:index:");

/** An entry without the types, and without the hidden keys that are those of one door. */
function ofBoth(entry: object): object {
  const {
    inputs = {},
    outs = {},
    dependencies,
    ...others
  } = JSON.parse(typesOfBoth(JSON.stringify(entry))) as {
    readonly inputs?: Properties;
    readonly outs?: Properties;
    readonly dependencies: readonly string[];
  };
  const marks = marksOf(outs);
  return { ...others, dependencies: dependencies.toSorted(), inputs: visible(inputs), outs: visible(outs), marks };
}

const differing = (dynamic: readonly string[], native: readonly string[]): string[] => [
  ...dynamic.filter((text) => !native.includes(text)).map((text) => `only dynamic: ${text}`),
  ...native.filter((text) => !dynamic.includes(text)).map((text) => `only native: ${text}`),
];

/** Without ages. */
const linesOf = ({ said }: Came): string[] =>
  typesOfBoth(withoutDrawn(said))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(/\d+ \w+ ago/, "ago"));

const ofWords = (dynamic: Came, native: Came, isOrdered: boolean): string[] =>
  differing(linesOf(dynamic), linesOf(native)).filter(
    (line) => !isKnown(SAID_BY_ONE, line) && !(isOrdered && ORDER.test(line)),
  );
