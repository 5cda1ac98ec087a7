import { asSecret, inClear } from "../support/engineMarks";
import type { Process } from "../support/rules/engine/process";
import { output, type AnyProgram, type Course, type Outcome, type Part, type Stack } from "../support/rules/program";
import { world, type World } from "../support/rules/world";
import {
  namedIn,
  optionsOf,
  OTHER_KEY,
  type Surroundings,
  type Command,
  type Declared,
  type History,
  type Program,
  type Trouble,
  type Value,
} from "./history";
import { faultsOn, type Given, type Held, type Player, type Ran } from "./player";
import { renamed } from "./edits";
import { connect, startWire, withoutWaiting, type Link } from "./wire";

/**
 * The imitation of the engine as a player: a command takes milliseconds of a processor and no time, since the service is
 * asked in memory and the clock skips each wait. One player at a time: the clock, the network and the environment are
 * those of the process.
 */
export async function startImitated(where: Surroundings = {}): Promise<Imitated> {
  const options = { ...optionsOf(where), ...(where.lateLists === true && { listLagMs: LATE_MS }) };
  const kind = JSON.stringify(options);
  const worlds = idle.get(kind) ?? [];
  idle.set(kind, worlds);
  const given = worlds.pop() ?? (await world(options));
  await given.reset();
  return new Imitated(given, startWire(), worlds, where.protocol);
}

/** Emulators of earlier players, by their options. */
const idle = new Map<string, World[]>();
// They end with the test.
afterEach(() => idle.clear());

/** What our client does by itself: waiting costs nothing here. */
const PATIENT = { baseDelayMs: 250, lagMs: 3_000, pollCeilingMs: 2_000, attemptTimeoutMs: 10_000 };
/** Less than what our client waits for. */
const LATE_MS = 2_500;
/** `20m`, as the constructor sends it. */
const TIMEOUTS = { create: 1_200, update: 1_200, delete: 1_200 };

export class Imitated implements Player {
  readonly stack: Stack;
  #said = "";
  #process: Process | undefined;
  #onProcess: (process: Process) => void = () => undefined;
  readonly world: World;
  #hasOther = false;
  #isNative: boolean;

  constructor(
    readonly given: World,
    readonly stop: () => void,
    readonly worlds: World[],
    readonly protocol: History["protocol"],
  ) {
    this.#isNative = protocol === "native";
    this.stack = given.stack(PATIENT);
    const ask: World["ask"] = (...request) => {
      this.#hasOther = true;
      return given.ask(...request);
    };
    this.world = { ...given, ask };
    this.stack.onProcess = (process) => {
      this.#process = process;
      this.#onProcess(process);
    };
  }

  async run(command: Command, given: Given): Promise<Ran> {
    const { program, environment, trouble } = given;
    if (this.protocol === "changing" && command.run === "up") this.#isNative = !this.#isNative;
    Object.assign(process.env, environment);
    // Of what a colleague has made, the lists of a new command are true: no oracle could tell what it should have seen.
    if (this.#hasOther) jest.advanceTimersByTime(LATE_MS);
    this.#hasOther = false;
    try {
      return await withoutWaiting(async () => {
        const isPlanned = command.run === "up" && command.seed % 2 === 0 && trouble === undefined;
        connect(linkOf(undefined));
        const plan = isPlanned ? await this.#engine({ ...command, run: "preview" }, program) : undefined;
        const link = linkOf(given, () => this.#process);
        connect(link);
        const { channel } = trouble ?? {};
        if (channel?.at === 0) this.#onProcess = (process) => process.breakChannel(channel.how);
        const ran = await this.#command(command, program);
        this.#said += (plan?.text ?? "") + ran.text;
        return { ...ran, isCut: link.isCut, ...(plan?.code === 0 && { text: `${plan.text}\n${ran.text}`, plan }) };
      });
    } finally {
      this.#onProcess = () => undefined;
      for (const name of Object.keys(environment)) delete process.env[name];
    }
  }

  held(): Promise<readonly Held[]> {
    return Promise.resolve(
      this.stack.ours.map(
        ({
          protect = false,
          retainOnDelete = false,
          toDelete = false,
          pendingReplacement: isDeleted = false,
          ...entry
        }) => ({
          ...entry,
          ...{ protect, retainOnDelete, toDelete, isDeleted },
        }),
      ),
    );
  }

  stored(): Promise<ReadonlyMap<string, string>> {
    return Promise.resolve(
      new Map([
        ["what was said", this.#said],
        ["the state", this.stack.all.map((entry) => inClear(entry)).join("\n")],
      ]),
    );
  }

  close(): Promise<void> {
    this.stop();
    this.worlds.push(this.given);
    return Promise.resolve();
  }

  async #command(command: Command, program: Program): Promise<Ran> {
    switch (command.run) {
      case "up":
      case "preview":
      case "refresh":
      case "destroy":
        return this.#engine(command, program);
      case "state rename":
      case "state taint": {
        const name = program[command.which % program.length]?.name;
        const urn = this.stack.all.find((entry) => entry.name === name)?.urn;
        if (name === undefined || urn === undefined) return ranBy([], []);
        try {
          if (command.run === "state taint") this.stack.taint(urn);
          else this.stack.rename(urn, `${name}-again`);
        } catch (error) {
          return ranBy([String(error)], []);
        }
        const isRename = command.run === "state rename";
        return { ...ranBy([], []), ...(isRename && { program: renamed(program, name, `${name}-again`) }) };
      }
      default:
        throw new Error(`the imitation has no command "${command.run}"`);
    }
  }

  async #engine(command: EngineCommand, program: Program): Promise<Ran> {
    const { seed = 1, refresh, target, exclude, replace, excludeProtected } = command;
    const course: Course = {
      ...{ seed, jitterMs: 0, order: "any", looks: true, preview: "none" },
      ...(refresh === true && { refreshFirst: () => Promise.resolve() }),
    };
    const { stack } = this;
    /** The pattern `**::name`. */
    const named = (which: number | undefined): Part["targets"] => {
      const held = stack.all.map(({ name }) => name);
      const name = which === undefined ? undefined : namedIn(program, held, which);
      return name === undefined ? undefined : (urn) => urn.endsWith(`::${name}`);
    };
    const part: Part = { targets: named(target), excludes: named(exclude), replaces: named(replace) };
    const protocol = this.#isNative ? "native" : "dynamic";
    const rendered = program.map((one) => ({ ...imitated(one), protocol }) as const);
    if (command.run === "up") return ranOf(await stack.up(rendered, course, part));
    if (command.run === "preview") return ranOf(await stack.preview(rendered, course, part));
    if (command.run === "refresh") return ranOf(await stack.refresh(course));
    if (part.targets !== undefined && excludeProtected === true)
      return ranBy(["you cannot specify --target and --exclude-protected"], []);
    return ranOf(await stack.destroy(course, { ...part, excludeProtected: excludeProtected === true }));
  }
}

interface EngineCommand {
  readonly run: "up" | "preview" | "refresh" | "destroy";
  readonly seed?: number;
  readonly refresh?: true;
  readonly target?: number;
  readonly exclude?: number;
  readonly replace?: number;
  readonly excludeProtected?: true;
}

const ranBy = (errors: readonly string[], steps: readonly string[]): Ran => ({
  ...{ code: errors.length > 0 ? 255 : 0, text: errors.join("\n"), steps, isCut: false },
});

/** In the words of the engine's events. */
function ranOf({ errors, log, steps }: Outcome): Ran {
  const replaced = new Set(steps.flatMap((step) => /^plan replace (.*)$/.exec(step)?.[1] ?? []));
  const named = steps.flatMap((step) => {
    const [, verb, name = ""] = /^(\w+)(?: replaced)? (.*)$/.exec(step) ?? [];
    if (verb === "plan") return [];
    if (verb === "read") return [`refresh ${name}`];
    if (verb === "create" && replaced.has(name)) return [`replace ${name}`, `create-replacement ${name}`];
    if (verb === "delete" && (replaced.has(name) || step.startsWith("delete replaced")))
      return [`delete-replaced ${name}`];
    return [step];
  });
  const lines = log.map(({ message }) => message);
  return { ...ranBy(errors, named), text: [...lines, ...errors].join("\n") };
}

function linkOf(given: Given | undefined, process: () => Process | undefined = () => undefined): Link {
  const { beside, end, channel, otherAccount }: Partial<Trouble> = given?.trouble ?? {};
  const on = (which: keyof Link["on"]) => faultsOn(which, given?.trouble);
  const link: Link = {
    executing: given?.executing ?? ((_request, work) => work()),
    on: { reads: on("reads"), changes: on("changes"), deletions: on("deletions") },
    onChange: async (n) => {
      if (n === beside?.at) await given?.act();
    },
    onRequest: (n, moment) => {
      if (n === channel?.at) process()?.breakChannel(channel.how);
      if (n + 1 !== end?.at || moment !== end.moment) return;
      link.isCut = true;
      process()?.kill();
    },
    ...(otherAccount === true && { key: OTHER_KEY }),
    isCut: false,
  };
  return link;
}

function imitated({ kind, name, args, options }: Declared): AnyProgram[number] {
  if (kind === "ComputeGroup" || kind === "ProjectAuth") throw new Error(`the imitation has no ${kind}`);
  const { aliases, customTimeouts, ...others } = options;
  // What text.ts writes for it.
  const inputs = kind === "Foreign" ? { given: args["text"] ?? null } : args;
  return {
    ...{ kind, name },
    inputs: Object.fromEntries(Object.entries(inputs).map(([key, value]) => [key, given(value)])),
    ...(aliases !== undefined && { aliases }),
    options: { ...others, ...(customTimeouts === true && { customTimeouts: TIMEOUTS }) },
  };
}

function given(value: Value): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(given);
  const { $output, $secret, $env, ...properties } = value as { readonly [key: string]: Value };
  if (isList($output)) return output(String($output[0]), String($output[1]));
  if (typeof $secret === "string") return asSecret($secret);
  if (typeof $env === "string") return { fromEnv: $env };
  // In a literal it is no property.
  const entries = Object.entries(properties).filter(([key]) => key !== "__proto__");
  return Object.fromEntries(entries.map(([key, one]) => [key, given(one)]));
}

// Array.isArray does not narrow a list that is read-only.
const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value);
