import { isDeepStrictEqual } from "node:util";
import { STAND_INS } from "../../src/contract/standIns";
import { hashed } from "../../src/emulator/model/records";
import type { Properties } from "../../src/contract/hiddenKeys";
import { KIND_CASES } from "../kinds";
import { outputOf } from "./edits";
import { CANARY, type Command, type Declared, type Program, type Value } from "./history";
import { isOurs } from "./programs";
import { parsed } from "../support/rules/engine/paths";
import { differences, holds, LISTS, valueAt, type Change, type Thing, type Things } from "./objects";
import type { Held, Ran } from "./player";

/** One command, and what was there before and after it. */
export interface Observed {
  readonly command: Command;
  /** As it was given to the command. */
  readonly program: Program;
  readonly ran: Ran;
  readonly before: readonly Held[];
  readonly after: readonly Held[];
  /** What stood at the service before it, and what stands after it. */
  readonly first: Things;
  readonly things: Things;
  /** What changed at the service meanwhile, but for what a colleague did. */
  readonly changes: readonly Change[];
  /** Secrets that the service has answered with. */
  readonly issued: ReadonlySet<string>;
  /** The names, also former ones, of what a program leaves or did: the engine does not call `delete` for it. */
  readonly mayLeave: ReadonlySet<string>;
  /** A colleague acted during it. */
  readonly isBeside: boolean;
  /** Faults, or the end of a process. */
  readonly isTroubled: boolean;
  /** Our requests that may have changed something, as `METHOD path`. */
  readonly sent: readonly string[];
  /** The paths of POSTs that were sent again without a look, although they had taken effect. */
  readonly repeated: readonly string[];
  /** The keys of everything that this history's commands have created, whether or not a state knows it. */
  readonly made: ReadonlySet<string>;
  /** By URN: the arguments as the last command has deployed or refreshed them that may do so. */
  readonly deployed: ReadonlyMap<string, Properties>;
  readonly stored: ReadonlyMap<string, string>;
}

type Oracle = (seen: Observed) => string[];

/** A line of the CLI that names a resource of the plan, whatever comes of it. */
const STEP = /^\s*\S*\s+(?:[├└│─]+ )*(?:pulumi-nodejs:dynamic\/svc|svc:index):\w+ \S+ /;

const nameOf = ({ thing }: Change): string => `${thing.list} ${thing.name || thing.projectId}`;
const holdersOf = ({ before, after }: Observed, { thing }: Change): Held[] =>
  [...before, ...after].filter((held) => holds(held, thing));

/** The commands that may change the service. */
const CHANGING: readonly Command["run"][] = ["up", "destroy", "drift --repair"];

/** Whether it leaves a part of the program alone. */
const isPartial = (command: Command): boolean => ["target", "exclude", "replace"].some((option) => option in command);

/** Names of the resources with a step that may change something, also those that they had before. */
const touched = ({ ran, program }: Observed): Set<string> =>
  namesOfSteps(
    ran.steps.filter((step) => !/^(refresh|read|same|plan) /.test(step)),
    program,
  );

function namesOfSteps(steps: readonly string[], program: Program): Set<string> {
  const names = steps.map((step) => step.slice(step.lastIndexOf(" ") + 1));
  const former = program.filter(({ name }) => names.includes(name)).flatMap(({ options }) => options.aliases ?? []);
  return new Set([...names, ...former.map(({ name }) => name)]);
}

/**
 * A Whitelist that is created clears its list, and an update of one removes what its state has. An integration takes
 * along what is in it.
 */
function isTakenAlong(seen: Observed, change: Change): boolean {
  const steps = touched(seen);
  const { thing } = change;
  const isCleared = ({ kind, name, id, urn }: Held): boolean => {
    if (kind !== "Whitelist" || !steps.has(name) || id.split("/")[0] !== thing.projectId) return false;
    // A refresh of the same command shows it.
    const isRefreshed = "refresh" in seen.command || seen.command.run === "drift --repair";
    if (isRefreshed && seen.first.has(change.key)) return true;
    const known = seen.before.find((held) => held.urn === urn);
    return (
      known === undefined ||
      known.unfinished ||
      known.toDelete ||
      known.isDeleted ||
      holds(known, thing) ||
      seen.ran.steps.some((step) => /creat|replace|delete/.test(step) && step.endsWith(` ${name}`))
    );
  };
  if (thing.list === "domains" && [...seen.before, ...seen.after].some(isCleared)) return true;
  const integration = seen.changes.find((one) => one.thing.list === "integrations" && one.thing.name === thing.home);
  return (
    integration !== undefined &&
    integration.what === change.what &&
    (isMade(seen, integration) || holdersOf(seen, integration).length > 0)
  );
}

/** A creation that was cut off had taken it over, as its resource says. */
function isBeingTaken(seen: Observed, { thing }: Change): boolean {
  const steps = touched(seen);
  const mayTake = ({ kind, name, args }: Declared): boolean =>
    steps.has(name) && LISTS[kind] === thing.list && (kind === "EmailServer" || (args["adopt"] ?? false) !== false);
  return seen.ran.isCut && seen.program.some(mayTake);
}

const isMade = ({ made }: Observed, { key }: Change): boolean => made.has(key);

/** A creation of what is absent has deleted what was there, as its plan says. */
function isDeclaredAbsent(seen: Observed, { what, thing }: Change): boolean {
  const steps = touched(seen);
  const declaresAbsent = ({ kind, name, args }: Declared): boolean =>
    kind === "ProjectAuth"
      ? Object(args["oauth"])[thing.name] === false && steps.has(`${name}-${thing.name}`)
      : args["absent"] === true && args["providerId"] === thing.name && steps.has(name);
  return what === "removed" && thing.list === "oauth_providers" && seen.program.some(declaresAbsent);
}

/** A part of an integration that this command has made: a plan tells of what exists. */
const cameAlong = ({ changes }: Observed, { thing: { home } }: Change): boolean =>
  changes.some(({ what, thing }) => what === "added" && thing.list === "integrations" && thing.name === home);

const ORACLES: Readonly<Record<string, Oracle>> = {
  "a command that only looks sends no change": ({ command, sent }) => (CHANGING.includes(command.run) ? [] : [...sent]),

  "a request that took effect is not sent again": ({ repeated, program }) => {
    // Resources of one kind may ask for the same.
    const alike = program.length - new Set(program.map(({ kind }) => kind)).size;
    return repeated.length > alike ? [...repeated] : [];
  },

  "nothing of others is changed": (seen) =>
    seen.changes
      .filter((change) => change.what !== "added" && holdersOf(seen, change).length === 0)
      .filter((change) => !isMade(seen, change) && !isTakenAlong(seen, change) && !isBeingTaken(seen, change))
      .filter((change) => !isDeclaredAbsent(seen, change))
      .map((change) => `${nameOf(change)} was ${change.what}`),

  "what is there becomes ours only by adopt": (seen) => {
    if (seen.command.run === "import") return [];
    const known = new Set(seen.before.map(({ urn }) => urn));
    // Nothing tells an equal one that somebody else made at that time from ours. Nothing is said if a body was missing.
    const isFound = ({ id, kind, inputs }: Held): boolean =>
      seen.isBeside &&
      (seen.ran.text.includes(`${id.split("/").at(-1)} was found after the response to its creation was lost`) ||
        (seen.isTroubled && kind === "ComputeEndpoint" && inputs["name"] === undefined));
    return seen.after
      .filter(
        (held) =>
          !known.has(held.urn) &&
          !["EmailServer", "Whitelist"].includes(held.kind) &&
          [undefined, false].includes(held.inputs["adopt"] as undefined) &&
          !isFound(held),
      )
      .flatMap((held) =>
        [...seen.things]
          .filter(
            ([key, thing]) =>
              holds(held, thing) && !seen.made.has(key) && !seen.before.some((one) => holds(one, thing)),
          )
          .map(([key]) => `${key} is "${held.name}" now`),
      );
  },

  "a change has a step": (seen) => {
    const steps = touched(seen);
    return seen.changes
      .filter((change) => !isTakenAlong(seen, change) && !isDeclaredAbsent(seen, change))
      .filter((change) => {
        const holders = holdersOf(seen, change);
        return holders.length > 0 && !holders.some(({ name }) => steps.has(name));
      })
      .map((change) => `${nameOf(change)} was ${change.what}, and no step is for it: ${seen.ran.steps.join(", ")}`);
  },

  "an update does what its plan shows": ({ ran, program }) => {
    const { plan } = ran;
    if (plan === undefined) return [];
    // What a run that fails has deleted may have been planned as a part of a replacement.
    const plain = (step: string): string => step.replace("delete-replaced ", "delete ");
    // An output that becomes known may turn out to be the same, or one that replaces, as the plan says.
    const isOpen = (step: string): boolean =>
      program.some(
        ({ name, args }) =>
          step.endsWith(` ${name}`) && Object.values(args).some((value) => outputOf(value) !== undefined),
      );
    const missing = (steps: readonly string[], from: readonly string[]): string[] =>
      steps.filter((step) => !step.startsWith("refresh ") && !isOpen(step) && !from.map(plain).includes(plain(step)));
    return [
      ...missing(ran.steps, plan.steps).map((step) => `not planned: ${step}`),
      ...(ran.code === 0 ? missing(plan.steps, ran.steps) : []).map((step) => `planned, not done: ${step}`),
    ];
  },

  "what is destroyed was named by the plan": (seen) => {
    const { plan } = seen.ran;
    // What another stack changes meanwhile is not planned.
    if (plan === undefined || seen.isBeside) return [];
    const ending = namesOfSteps(
      plan.steps.filter((step) => /delete|replace/.test(step)),
      seen.program,
    );
    const isNamed = (change: Change): boolean =>
      plan.text.includes(change.thing.name || change.thing.projectId) ||
      holdersOf(seen, change).some(({ name }) => ending.has(name));
    const containerOf = ({ thing: { home } }: Change): Change | undefined =>
      seen.changes.find(
        ({ what, thing }) => what === "removed" && thing.list === "integrations" && thing.name === home,
      );
    return seen.changes
      .filter((change) => change.what === "removed" && !isNamed(change))
      .filter((change) => !isDeclaredAbsent(seen, change) || !cameAlong(seen, change))
      .filter((change) => {
        const container = containerOf(change);
        return container === undefined || !isNamed(container);
      })
      .map((change) => `${nameOf(change)} was removed`);
  },

  "what is protected or retained stays": (seen) => {
    const { before, changes, program } = seen;
    // The program of the command may free what the state protects, and protects from the next command on.
    const declaredAs = (name: string): Declared | undefined =>
      seen.command.run === "destroy" ? undefined : program.find((one) => namesOf(one).includes(name));
    const isKept = ({ name, retainOnDelete, inputs, ...held }: Held): boolean => {
      // The engine has asked for it when it was replaced.
      const protect = held.protect && !held.toDelete;
      const options = declaredAs(name)?.options;
      if (inputs["deletionProtection"] === true) return true;
      return options === undefined
        ? protect || retainOnDelete
        : (protect && options.protect === true) || (retainOnDelete && options.retainOnDelete === true);
    };
    const steps = touched(seen);
    // The program no longer has the protected one: another resource, which is not protected, has adopted the object.
    const isTakenOver = (held: Held, { thing }: Change): boolean =>
      declaredAs(held.name) === undefined &&
      before.some((one) => one.urn !== held.urn && steps.has(one.name) && holds(one, thing) && !isKept(one));
    return changes
      .filter((change) => change.what === "removed")
      .filter((change) => !isTakenAlong(seen, change) && !isDeclaredAbsent(seen, change))
      .flatMap((change) =>
        before
          .filter((held) => holds(held, change.thing) && isKept(held) && !isTakenOver(held, change))
          .map(({ name }) => `"${name}": ${nameOf(change)} was removed`),
      );
  },

  "no secret in clear": ({ stored, issued }) =>
    [...stored].flatMap(([place, text]) =>
      [CANARY, ...issued].flatMap((secret) => {
        const at = text.indexOf(secret);
        return at < 0 ? [] : [`${place}: …${text.slice(Math.max(0, at - 80), at + 60)}…`];
      }),
    ),

  "what stands stays in the state": (seen) => {
    const { before, after, things, ran, command } = seen;
    if (ran.isCut) return [];
    // A plan of ours may leave it to another entry, or keep what it gives up.
    const isReleased = (held: Held): boolean =>
      held.isDeleted || held.retainOnDelete || seen.mayLeave.has(held.name) || command.run === "state rename";
    return before
      .filter((held) => !isReleased(held) && held.kind !== "EmailServer" && held.inputs["absent"] !== true)
      .flatMap((held) =>
        [...things.values()]
          .filter((thing) => holds(held, thing) && !after.some((one) => holds(one, thing)))
          .map((thing) => `"${held.name}": ${thing.list} ${thing.name}`),
      );
  },

  "what a command has removed is in no state": (seen) => {
    const { before, after, things, ran } = seen;
    // A part of a destroy runs no program, so nothing knows of another entry for the object: whoever took it over was told.
    const isPart =
      seen.command.run === "destroy" && (isPartial(seen.command) || seen.command.excludeProtected === true);
    if (ran.code !== 0 || ran.isCut || seen.isBeside || isPart) return [];
    const steps = touched(seen);
    // The engine loses the dependencies of the arguments that a transform replaces, and a part of an up does not ask us.
    const isTransformed = (name: string): boolean =>
      seen.program.some((one) => namesOf(one).includes(name) && one.options.transform !== undefined);
    // A new Whitelist clears the whole list, and an integration goes with what is in it, whatever entry of it a part of
    // an up leaves out.
    const isLeftOut = ({ kind, name }: Held, change: Change): boolean =>
      (kind === "Whitelist" || isTransformed(name)) &&
      isPartial(seen.command) &&
      !steps.has(name) &&
      isTakenAlong(seen, change);
    return seen.changes
      .filter(({ what, key }) => what === "removed" && !things.has(key))
      .flatMap((change) =>
        after
          .filter((one) => !one.toDelete && !one.isDeleted && holds(one, change.thing))
          .filter(({ urn }) => before.some((one) => one.urn === urn && holds(one, change.thing)))
          .filter(({ name }) => !ran.text.includes(`"${name}" of this program is in `))
          .filter((one) => !isLeftOut(one, change))
          .map(({ name }) => `"${name}": ${nameOf(change)} was removed`),
      );
  },

  "what the program ignores is not overwritten": (seen) => {
    if (seen.isBeside) return [];
    // One that is created or deleted gets what is declared, or nothing.
    const isUpdated = ({ urn, name, unfinished, toDelete }: Held): boolean =>
      !unfinished &&
      !toDelete &&
      seen.after.some((one) => one.urn === urn) &&
      seen.ran.steps.every((step) => step.startsWith("update ") || !step.endsWith(` ${name}`));
    const steps = touched(seen);
    // Another resource, which does not ignore it, manages the object, too.
    const isOfOther = (held: Held, thing: Thing): boolean =>
      !steps.has(held.name) &&
      seen.before.some((one) => one.urn !== held.urn && steps.has(one.name) && holds(one, thing));
    return seen.changes
      .filter(({ what }) => what === "changed")
      .flatMap(({ key, thing }) => {
        const former = seen.first.get(key);
        if (former === undefined) return [];
        return seen.before
          .filter((held) => holds(held, thing) && isUpdated(held) && !isOfOther(held, thing))
          .flatMap(({ name }) =>
            ignoredBy(seen.program.find((one) => one.name === name))
              .filter((path) => !isDeepStrictEqual(valueAt(former, path), valueAt(thing, path)))
              .filter(([argument]) => !seen.ran.text.includes(`"${argument}"`))
              .map((path) => `${path.join(".")} of "${name}"`),
          );
      });
  },

  "an interrupted repair leaves the state as it was, or drift says so": ({ command, ran, after, deployed }) => {
    if (command.run !== "drift" || ran.code !== 0) return [];
    return after
      .filter(
        ({ urn, inputs }) => deployed.has(urn) && !isDeepStrictEqual(visible(inputs), visible(deployed.get(urn) ?? {})),
      )
      .map(
        ({ name, inputs, urn }) =>
          `"${name}": ${JSON.stringify(visible(inputs))}, deployed ${JSON.stringify(visible(deployed.get(urn) ?? {}))}`,
      );
  },

  "no stand-in reaches the service": ({ things }) =>
    [...things]
      .filter(([, { record }]) =>
        Object.values(STAND_INS).some((text) =>
          [text, hashed(text)].some((one) => JSON.stringify(record).includes(one)),
        ),
      )
      .map(([key]) => key),

  "a refused key is said with its place": ({ ran }) =>
    / 401\b/.test(ran.text) && ran.code !== 0 && !/It comes from|Set a valid key|Write a valid key/.test(ran.text)
      ? [ran.text.split("\n").find((line) => line.includes(" 401")) ?? ""]
      : [],

  "what was made is in the state or in the message": (seen) => {
    if (seen.ran.isCut) return [];
    const words = seen.ran.text;
    const failures = /Could not (?:create|update|delete) (\w+)|(\w+) \S+ \("[^"]*"\) was deleted to be replaced, and/g;
    const failed = [...words.matchAll(failures)].map(([, kind, lost]) => LISTS[kind ?? lost ?? ""]);
    return seen.changes
      .filter((change) => change.what === "added" && seen.things.has(change.key))
      .filter(({ thing }) => !seen.after.some((held) => holds(held, thing)))
      .filter(({ thing }) => !isAlwaysThere(thing.name, seen, thing.home))
      .filter(({ thing }) => !words.includes(thing.name) && !failed.includes(thing.list))
      .map((change) => `${nameOf(change)} was made`);
  },

  "what is said to be kept is in the state": ({ ran, after }) =>
    [...ran.text.matchAll(/(\w+) (\S+) exists, but [^\n]*It is kept in the stack/g)]
      .filter(([, kind, id]) => !after.some((held) => held.kind === kind && held.id === id))
      .map(([text]) => text),

  "a failure says what it has changed": (seen) => {
    if (seen.ran.code === 0 || seen.ran.isCut) return [];
    const steps = touched(seen);
    // What differed before it, too, is not its doing.
    const known = new Set(drifted(seen.program, seen.before, { things: seen.first, made: seen.made }));
    const said = seen.ran.text
      .split("\n")
      .filter((line) => !STEP.test(line))
      .join("\n");
    return seen.changes
      .filter((change) => change.what !== "added" && !isTakenAlong(seen, change))
      .flatMap((change) =>
        seen.after
          .filter((held) => holds(held, change.thing) && steps.has(held.name) && !held.unfinished)
          // An entry that an earlier failure has left is still to be deleted.
          .filter(({ kind, name }) => seen.after.filter((one) => one.kind === kind && one.name === name).length === 1)
          .filter((held) => drifted(seen.program, [held], seen).some((text) => !known.has(text)))
          // After a rename in the state, a deletion knows only the former name.
          .filter(({ name, id }) => ![name, id].some((text) => said.includes(text)))
          .map((held) => `"${held.name}": ${nameOf(change)} was ${change.what}`),
      );
  },

  "nothing to do means equal": (seen) => {
    const { command, ran, isTroubled, isBeside, program, after } = seen;
    const isEmpty = ran.steps.every((step) => step.startsWith("refresh "));
    if (ran.code !== 0 || ran.isCut || isBeside || !isEmpty || isPartial(command)) return [];
    if (command.run === "drift") return isTroubled ? [] : drifted(program, after, seen);
    if (command.run === "up" && !("refresh" in command)) return planned(program, after);
    if (command.run === "up") return [...planned(program, after), ...drifted(program, after, seen)];
    if (command.run !== "preview") return [];
    // It stores nothing: what it has found makes the state of the program's resources and the program one.
    return "refresh" in command ? drifted(program, asDeclared(program, after), seen) : planned(program, after);
  },

  "a repair that cannot be planned is said in our words": ({ command, ran }) =>
    command.run === "drift --repair"
      ? (ran.text.match(/^pulumi-svc: pulumi preview failed: .*\burn:pulumi:.*$/gm) ?? []).map(String)
      : [],

  "a failure is in words": ({ ran }) => {
    if (ran.code === 0 || ran.isCut) return [];
    return ran.text
      .split("\n")
      .filter((line) =>
        /^\s+at .*\.(js|ts|cjs|mts):\d+:\d+|<h1>|<html>|Axios|\[object |undefined\b|TypeError|\bNaN\b/.test(line),
      )
      .map((line) => line.trim());
  },
};

const visible = (inputs: Properties): Properties =>
  Object.fromEntries(Object.entries(inputs).filter(([name]) => !name.startsWith("__")));

/** A new integration has them. */
const isAlwaysThere = (name: string, { made, things }: Observed, home: string): boolean =>
  ["google", "github"].includes(name) &&
  [...things].some(([key, { list, name: id }]) => list === "integrations" && id === home && made.has(key));

/** The paths, each of which begins with an argument. */
const ignoredBy = ({ options }: Partial<Declared> = {}): readonly (readonly string[])[] =>
  (options?.ignoreChanges ?? []).map(parsed);

/** Whether an argument, or a part of it, is ignored. */
const isIgnored = (declared: Declared | undefined, argument: string): boolean =>
  ignoredBy(declared).some(([first]) => first === "*" || first === argument);

/** Entries that differ from the service in what the program does not ignore. */
export const drifted = (
  program: Program,
  held: readonly Held[],
  { things, made }: Pick<Observed, "things" | "made">,
): string[] =>
  held
    .filter(({ toDelete, isDeleted }) => !toDelete && !isDeleted)
    .flatMap((one) => {
      const declared = program.find(({ name }) => name === one.name);
      const isOurOwn = [...things].some(([key, thing]) => holds(one, thing) && made.has(key));
      return (
        differences(one, things)
          .filter((text) => !isIgnored(declared, text.slice(0, text.indexOf(":"))))
          // A list does not show it: only that of our own is known.
          .filter((text) => !text.startsWith("clientId:") || isOurOwn)
          .map((text) => `"${one.name}" (${one.id}): ${text}`)
      );
    });

/** Its name in the state may be a former one. */
export const namesOf = ({ name, options }: Declared): string[] => [
  name,
  ...(options.aliases ?? []).map((one) => one.name),
];

/** Where program and state differ. A plan may name by an alias what the state has under its old name. */
export function planned(program: Program, all: readonly Held[]): string[] {
  // What a replacement has deleted goes without a step.
  const held = all.filter(({ isDeleted }) => !isDeleted);
  const ours = program.filter(({ kind }) => isOurs(kind));
  const components = program.filter(({ kind }) => kind === "ComputeGroup" || kind === "ProjectAuth");
  // The names of what they contain begin with theirs.
  const isContained = (name: string): boolean =>
    components.some((one) => namesOf(one).some((own) => name === own || name.startsWith(`${own}-`)));
  const entryOf = (one: Declared): Held | undefined =>
    namesOf(one)
      .flatMap((name) => held.filter((entry) => entry.name === name && entry.kind === one.kind))
      .at(0);
  const missing = [
    ...ours.filter((one) => entryOf(one) === undefined),
    ...components.filter((one) => !held.some(({ name }) => namesOf(one).some((own) => name.startsWith(own)))),
  ].map(({ name }) => `"${name}" is not in the state`);
  const more = held
    .filter(({ name }) => !ours.some((one) => namesOf(one).includes(name)) && !isContained(name))
    .map(({ name }) => `"${name}" is not in the program`);
  const differ = ours.flatMap((one) => {
    const { kind, name, args } = one;
    const entry = entryOf(one);
    if (entry === undefined || !isOurs(kind)) return [];
    const rules = KIND_CASES[kind].arguments;
    return (
      Object.entries(args)
        .filter(([key, value]) => !isIgnored(one, key) && outputOf(value) === undefined)
        // Only a creation uses it.
        .filter(([key, value]) => rules[key]?.change !== "nothing" && !isSameValue(value, entry.inputs[key]))
        .map(
          ([key, value]) =>
            `"${name}": ${key} is ${JSON.stringify(value)} in the program, and ${JSON.stringify(entry.inputs[key])} in the state`,
        )
    );
  });
  return [...missing, ...more, ...differ];
}

/**
 * The entries of the program's resources, with its arguments in place of the stored ones. Of two of one name, which a
 * move without an alias leaves if its deletion is cut off, nothing here tells which is the program's.
 */
function asDeclared(program: Program, held: readonly Held[]): Held[] {
  return held.flatMap((entry) => {
    if (held.some((one) => one.kind === entry.kind && one.name === entry.name && one.urn !== entry.urn)) return [];
    const declared = program.find((one) => one.kind === entry.kind && namesOf(one).includes(entry.name));
    if (declared === undefined) return [];
    const args = Object.entries(declared.args).filter(([, value]) => outputOf(value) === undefined);
    return [
      {
        ...entry,
        inputs: { ...entry.inputs, ...Object.fromEntries(args.map(([name, value]) => [name, plain(value)])) },
      },
    ];
  });
}

/** The value as the state stores it, without marks. */
function plain(value: Value): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("$secret" in value) return value.$secret;
  if ("$env" in value) return { fromEnv: value.$env };
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value as Properties).map(([key, one]) => [key, plain(one as Value)]));
}

/** `check` normalises case and paths, and drops what a list has twice; the effect of that is tested by each kind. */
function isSameValue(value: Value, stored: unknown): boolean {
  const loose = (one: unknown): string => {
    if (Array.isArray(one)) return [...new Set(one.map(loose))].sort().join();
    if (typeof one === "object" && one !== null)
      return Object.entries(one)
        .map(([name, its]) => `${name}: ${loose(its)}`)
        .sort()
        .join();
    return JSON.stringify(one ?? null)
      .toLowerCase()
      .replaceAll('/"', '"');
  };
  return isDeepStrictEqual(plain(value), stored) || loose(plain(value)) === loose(stored);
}

/** What the command has broken, each with the oracle's name. */
export const broken = (seen: Observed): string[] =>
  Object.entries(ORACLES).flatMap(([name, oracle]) => oracle(seen).map((what) => `${name}: ${what}`));
