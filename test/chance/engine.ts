import type { ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { KINDS, kindOfType } from "../../src/contract/pointer";
import type { Properties } from "../../src/contract/hiddenKeys";
import { withSecrets } from "../support/backend";
import { descendants, isAlive, run, type Run, type RunningProcess } from "../support/cli";
import { MAIN } from "../support/command";
import { Network, type Weather } from "../support/rules/network";
import { worldOf, type World } from "../support/rules/world";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";
import { DEMO } from "../kinds/KindCase";
import {
  CANARY,
  namedIn,
  optionsOf,
  OTHER_KEY,
  type Surroundings,
  type Command,
  type Declared,
  type History,
  type Program,
  type Trouble,
} from "./history";
import { faultsOn, type Given, type Held, type Player, type Ran } from "./player";
import { renamed } from "./edits";
import { declaredIn, OTHERS, textOf } from "./text";

/** The real engine: a stack of the CLI, its program in index.js, and a network in front of the emulator. */

const LONGEST_ORPHANED_MS = 120_000;
const LONGEST_UNASKED_MS = 10_000;

/** An entry of a state, secrets in clear. */
interface Entry {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Properties;
  readonly outputs?: Properties;
  readonly protect?: boolean;
  readonly retainOnDelete?: boolean;
  readonly initErrors?: readonly string[];
  readonly delete?: boolean;
  readonly pendingReplacement?: boolean;
}

/** How a process of a command ended. */
interface Ended {
  readonly code: number;
  readonly stdout: string;
  /** Both outputs. */
  readonly text: string;
  readonly isCut: boolean;
}

const nameOf = (urn: string): string => urn.slice(urn.lastIndexOf("::") + 2);

/** `beside`: another player on the same account and projects, which is closed later. */
export const startEngine = (beside?: Engine, where: Surroundings = {}): Promise<Engine> => Engine.start(beside, where);

export class Engine implements Player {
  readonly world: World;
  /** What index.js says after an `--accept`, without the canaries of the program. */
  #edited = "";

  /** Whether the program declares resources of the native plugin. */
  #isNative = false;

  private constructor(
    readonly stack: Stack,
    readonly network: Network,
    readonly protocol: History["protocol"],
  ) {
    this.#isNative = protocol === "native";
    this.world = worldOf(stack.service.emulator);
  }

  static async start(beside: Engine | undefined, where: Surroundings): Promise<Engine> {
    const { protocol } = where;
    const stack = await Stack.create({
      program: "",
      native: protocol !== undefined,
      emulator: { activationMs: 2, anyOAuthProvider: true, ...optionsOf(where) },
      cheapDigests: true,
      ...(beside !== undefined && { service: beside.stack.service }),
    });
    const { baseUrl } = stack.service.emulator;
    const engine = new Engine(stack, await Network.before(baseUrl), protocol);
    stack.write("others.js", OTHERS);
    stack.write("Pulumi.dev.yaml", engine.#read("Pulumi.dev.yaml").replace(baseUrl, engine.network.baseUrl));
    // For --event-log.
    stack.env["PULUMI_DEBUG_COMMANDS"] = "true";
    mkdirSync(join(stack.folder, "reports"));
    return engine;
  }

  async run(command: Command, given: Given): Promise<Ran> {
    const { program, trouble, environment } = given;
    const { env } = this.stack;
    if (this.protocol === "changing" && command.run === "up") this.#isNative = !this.#isNative;
    this.stack.program(textOf(program), this.#isNative ? "pulumi-svc/native" : "pulumi-svc");
    this.#edited = "";
    const before = Object.keys(env);
    Object.assign(env, environment);
    const { projectId } = DEMO;
    try {
      // What a plan would change is seen, too.
      this.network.set(projectId, this.#weather({ ...given, trouble: undefined }));
      const isPlanned = command.run === "up" && command.seed % 2 === 0 && trouble === undefined;
      const plan = isPlanned ? await this.#engine(["preview", ...(await this.#flagsOf(command, program))]) : undefined;
      await this.network.calm(projectId);
      this.network.set(projectId, this.#weather(given));
      if (trouble?.otherAccount === true) this.network.key = OTHER_KEY;
      // The processes of one command, which have that of the channel, are told apart by their ids.
      if (trouble?.channel !== undefined) this.stack.ownProcess = true;
      if (trouble?.channel?.at === 0) this.#breakChannel(trouble.channel.how);
      const ran = await this.#command(command, program, trouble?.end);
      return plan?.code !== 0 ? ran : { ...ran, text: plan.text + ran.text, plan };
    } finally {
      await this.network.calm(projectId);
      this.network.key = undefined;
      this.stack.ownProcess = false;
      if (trouble?.channel !== undefined) rmSync(this.#channel(), { recursive: true, force: true });
      for (const name of Object.keys(env)) if (!before.includes(name)) delete env[name];
    }
  }

  async held(): Promise<readonly Held[]> {
    const entries = await this.#entries();
    return KINDS.flatMap((kind) =>
      entries
        .filter(({ type }) => kindOfType(type) === kind)
        .map(({ urn, id = "", inputs = {}, outputs = {}, initErrors = [], ...entry }) => ({
          urn,
          kind,
          name: nameOf(urn),
          id,
          inputs,
          outs: outputs,
          protect: entry.protect ?? false,
          retainOnDelete: entry.retainOnDelete ?? false,
          unfinished: initErrors.length > 0,
          toDelete: entry.delete ?? false,
          isDeleted: entry.pendingReplacement ?? false,
        })),
    );
  }

  async stored(): Promise<ReadonlyMap<string, string>> {
    const places = await this.stack.places();
    return places.set("svc-drift.json", this.#read("svc-drift.json")).set("the edited program", this.#edited);
  }

  async close(): Promise<void> {
    this.network.close();
    await this.stack.close();
  }

  /** The folder in which the processes of a run tell each other what they do (src/contract/runFolder.ts). */
  #channel(): string {
    return join(this.stack.folder, "home", `pulumi-svc-${process.getuid?.() ?? ""}`);
  }

  #breakChannel(how: NonNullable<Trouble["channel"]>["how"]): void {
    const folder = this.#channel();
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (how === "folder") chmodSync(folder, 0o755);
    else for (const file of readdirSync(folder)) truncateSync(join(folder, file));
  }

  #weather({ trouble, act, executing }: Given): Weather {
    const { beside, end, channel } = trouble ?? {};
    return {
      executing,
      reads: faultsOn("reads", trouble),
      changes: faultsOn("changes", trouble),
      deletions: faultsOn("deletions", trouble),
      onChange: async (n) => {
        if (n === beside?.at) await act();
      },
      onRequest: async (n, moment) => {
        if (n === channel?.at) this.#breakChannel(channel.how);
        if (n + 1 === end?.at && moment === end.moment) await this.#strike();
      },
    };
  }

  async #command(command: Command, program: Program, end: End | undefined): Promise<Ran> {
    const which = "which" in command ? command.which : undefined;
    const chosen = which === undefined ? undefined : at(program, which);
    const names = chosen === undefined ? [] : [chosen.name];
    switch (command.run) {
      case "up":
      case "refresh":
      case "destroy":
        return this.#engine([command.run, "--yes", "--skip-preview", ...(await this.#flagsOf(command, program))], end);
      case "preview":
        return this.#engine(["preview", ...(await this.#flagsOf(command, program))], end);
      case "state rename":
      case "state taint": {
        const urn = (await this.#entries()).find((entry) => names.includes(nameOf(entry.urn)))?.urn;
        // The names of what our components contain begin with theirs: nobody renames them this way.
        const isOfOurs = chosen?.kind === "ComputeGroup" || chosen?.kind === "ProjectAuth";
        if (chosen === undefined || urn === undefined || isOfOurs) return NOTHING;
        const name = `${chosen.name}-again`;
        const isRename = command.run === "state rename";
        const args = isRename ? ["rename", urn, name] : ["taint", urn];
        const ended = await this.#play("pulumi", ["state", ...args, "--yes"]);
        return {
          ...ranBy(ended),
          ...(isRename && ended.code === 0 && { program: renamed(program, chosen.name, name) }),
        };
      }
      case "drift":
        return this.#ours(["drift", "--format", "markdown", ...(command.unmanaged ? ["--unmanaged"] : [])], end);
      case "drift --accept":
        return this.#accept(program, names, end);
      case "drift --repair": {
        const held = await this.held();
        const ended = await this.#play("pulumi-svc", ["drift", "--repair", ...names, "--yes", "--json"], end);
        // It is written at the end. One that was cut before may have begun any.
        const isWhole = ended.stdout.trimEnd().endsWith("}");
        if (!isWhole && ended.isCut) return { ...ranBy(ended), steps: held.map(({ name }) => `update ${name}`) };
        const { plan } = JSON.parse(isWhole ? ended.stdout : '{ "plan": [] }') as Repair;
        const steps = plan.map(({ action, name }) => `${action} ${name}`);
        return { ...ranBy(ended), steps, plan: { steps, text: ended.text } };
      }
      case "drift --ignore": {
        const all = program.map(({ name }) => name);
        return ranBy(
          await this.#play(
            "pulumi-svc",
            ["drift", "--ignore", ...(chosen ? names : all), "--reason", "by chance"],
            end,
          ),
        );
      }
      case "import":
        return this.#import(program, end);
      case "doctor --audit":
      case "env":
        return ranBy(await this.#play("pulumi-svc", command.run.split(" "), end));
    }
  }

  async #flagsOf(command: Command, program: Program): Promise<string[]> {
    const entries = await this.#entries();
    const held = entries.filter(({ type }) => !type.startsWith("pulumi:")).map(({ urn }) => nameOf(urn));
    const on = (flag: string, which: number | undefined): string[] => {
      const name = which === undefined ? undefined : namedIn(program, held, which);
      return name === undefined ? [] : [flag, `**::${name}`];
    };
    return [
      ...("refresh" in command ? ["--refresh"] : []),
      ...("excludeProtected" in command ? ["--exclude-protected"] : []),
      ...("target" in command ? on("--target", command.target) : []),
      ...("exclude" in command ? on("--exclude", command.exclude) : []),
      ...("replace" in command ? on("--replace", command.replace) : []),
    ];
  }

  /** A command that makes steps. */
  async #engine(args: readonly string[], end?: End): Promise<Ran> {
    // It contains secrets (docs/design/engine.md, Secrets and settings).
    const log = join(this.stack.folder, "events.json");
    const ended = await this.#play("pulumi", [...args, "--event-log", log], end);
    const steps = existsSync(log) ? stepsIn(readFileSync(log, "utf8")) : [];
    rmSync(log, { force: true });
    return { ...ranBy(ended), steps };
  }

  /** A form of `drift` that writes a report. */
  async #ours(args: readonly string[], end: End | undefined): Promise<Ran> {
    const out = join(this.stack.folder, "reports", "drift");
    rmSync(out, { force: true });
    const ran = ranBy(await this.#play("pulumi-svc", [...args, "--out", out], end));
    return { ...ran, text: ran.text + this.#read("../reports/drift") };
  }

  async #accept(program: Program, names: readonly string[], end: End | undefined): Promise<Ran> {
    const own = this.#read("index.js");
    const ran = await this.#ours(["drift", "--accept", ...names, "--force", "--json"], end);
    const edited = this.#read("index.js");
    if (edited === own) return ran;
    const canaries = own.match(new RegExp(`${CANARY}[\\w-]+`, "g")) ?? [];
    this.#edited = canaries.reduce((text, canary) => text.replaceAll(canary, ""), edited);
    const args = new Map(declaredIn(edited).map((one) => [one.name, one.args]));
    return { ...ran, program: program.map((one) => ({ ...one, args: args.get(one.name) ?? one.args })) };
  }

  /** With the printed steps, if all of the program is deployed, as its user would do first. */
  async #import(program: Program, end: End | undefined): Promise<Ran> {
    const files = ["--out", "import.json", "--program", "imported.js", "--force"];
    const args = ["import", "--project", DEMO.projectId, ...files];
    const ended = await this.#play("pulumi-svc", args, end);
    const names = (await this.#entries()).map(({ urn }) => nameOf(urn));
    const isDeployed = program.every(({ name }) => names.includes(name));
    const written = this.#read("imported.js");
    rmSync(this.#path("imported.js"), { force: true });
    const [, printed] = /^ *pulumi (import --file .*)$/m.exec(ended.stdout) ?? [];
    if (ended.code !== 0 || !isDeployed || written === "" || printed === undefined) return ranBy(ended);
    const into = await this.#play("pulumi", printed.trim().split(" "));
    const ran = { ...ranBy(ended), code: into.code, text: ended.text + into.text };
    if (into.code !== 0 || !/# add to .*imported/.test(ended.stdout)) return ran;
    const auth = program.find(({ kind }) => kind === "AuthIntegration")?.name;
    const imported = declaredIn(written).map(({ kind, name, args }): Declared => {
      // As the printed note says.
      const isInside = auth !== undefined && kind !== "ComputeEndpoint" && kind !== "AuthIntegration";
      const projectId = { $output: [auth ?? "", "projectId"] } as const;
      return { kind, name, args: { ...args, ...(isInside && { projectId }) }, options: {} };
    });
    return { ...ran, program: [...program, ...imported] };
  }

  /** Ends a process of the command that is running. */
  #strike = (): Promise<void> => Promise.resolve();

  /** `end`: the command may be cut, so it has processes of its own. */
  async #play(file: "pulumi" | "pulumi-svc", args: readonly string[], end?: End): Promise<Ended> {
    const { stack } = this;
    if (end === undefined && file === "pulumi") return endedAs(await stack.run(...args));
    if (end === undefined) {
      const { code, stdout, stderr } = await svc(stack, args);
      return { code, stdout, text: stdout + stderr, isCut: false };
    }
    const seen: RunningProcess[] = [];
    let isCut = false;
    const onStart = (child: ChildProcess): void => {
      this.#strike = async () => {
        seen.push(...descendants(child.pid ?? Number.NaN));
        isCut = await strike(child, seen, end);
      };
    };
    const whole = [MAIN, ...args];
    const ran = await (file === "pulumi"
      ? stack.started(onStart, ...args)
      : run(process.execPath, whole, { cwd: this.#path("."), env: stack.env, onStart }));
    this.#strike = () => Promise.resolve();
    if (file !== "pulumi") stack.said += ran.text;
    await haveEnded(seen);
    const isLocked = stack.stateFiles().some((path) => path.includes("/locks/"));
    const cancelled = isLocked ? await stack.run("cancel", "--yes") : undefined;
    return { ...endedAs(ran), text: ran.text + (cancelled?.text ?? ""), isCut };
  }

  async #entries(): Promise<readonly Entry[]> {
    const state = withSecrets(await this.stack.exported(), (plaintext) => JSON.parse(plaintext));
    return (state as { deployment: { resources?: Entry[] } }).deployment.resources ?? [];
  }

  #path = (file: string): string => join(this.stack.folder, "program", file);

  /** "" if there is none. */
  #read(file: string): string {
    return existsSync(this.#path(file)) ? readFileSync(this.#path(file), "utf8") : "";
  }
}

/** Its report. */
interface Repair {
  readonly plan: readonly { readonly action: string; readonly name: string }[];
}

type End = NonNullable<Trouble["end"]>;

const NOTHING: Ran = { code: 0, text: "", steps: [], isCut: false };
const ranBy = ({ code, text, isCut }: Ended): Ran => ({ code, text, steps: [], isCut });
const endedAs = ({ code, text, stdout }: Run): Ended => ({ code: code ?? -1, text, stdout, isCut: false });
const at = (program: Program, which: number): Program[number] | undefined => program[which % program.length];

/** Of an event log, whose last line may be cut. */
function stepsIn(log: string): string[] {
  const lines = log.slice(0, log.lastIndexOf("\n") + 1).split("\n");
  return lines.filter(Boolean).flatMap((line) => {
    const event = JSON.parse(line) as { resourcePreEvent?: { metadata: { op: string; urn: string; type: string } } };
    const { op, urn, type } = event.resourcePreEvent?.metadata ?? { op: "same", urn: "", type: "" };
    // Neither the stack nor a provider.
    return op === "same" || type.startsWith("pulumi:") ? [] : [`${op} ${nameOf(urn)}`];
  });
}

/** False: there is no such process. */
async function strike(child: ChildProcess, started: readonly RunningProcess[], end: End): Promise<boolean> {
  if (end.signal === "EPIPE") {
    child.stdout?.destroy();
    child.stderr?.destroy();
    return true;
  }
  const all = [{ pid: child.pid ?? Number.NaN, command: child.spawnargs.join(" ") }, ...started];
  const victim = all.find(({ command }) => end.who === "command" || VICTIMS[end.who].test(command));
  if (victim === undefined || !isAlive(victim)) return false;
  process.kill(victim.pid, end.signal);
  // Until its sockets are closed.
  if (end.signal === "SIGKILL") await endWithin(1_000, [victim]);
  return true;
}

const VICTIMS = {
  cli: /^(\S*\/)?pulumi /,
  // Once it does something, it has a title (src/runtime/run/processList.ts).
  provider: /^\S*node .*(dynamic-provider|pulumi-resource-svc)|^pulumi-svc \S+:\d+ /,
};

/** The language host, which looks for its engine every few minutes only, and holds nothing. */
const HOST = /pulumi-language-nodejs/;
const PROVIDER = /pulumi-resource-pulumi-nodejs|dynamic-provider|pulumi-resource-svc|^pulumi-svc /;

/**
 * Waits for processes that were left alone. A provider ends with its engine if it has loaded our package
 * (docs/design/engine.md, Dynamic resources); one that was never asked is ended here.
 */
async function haveEnded(all: readonly RunningProcess[]): Promise<void> {
  const kill = (some: readonly RunningProcess[]): void => {
    for (const { pid } of some.filter(isAlive)) process.kill(pid, "SIGKILL");
  };
  const providers = all.filter(({ command }) => PROVIDER.test(command));
  const hosts = all.filter(({ command }) => HOST.test(command));
  const others = all.filter((one) => !providers.includes(one) && !hosts.includes(one));
  if (!(await endWithin(LONGEST_ORPHANED_MS, others)))
    throw new Error(
      `still running: ${others
        .filter(isAlive)
        .map(({ command }) => command)
        .join()}`,
    );
  kill(hosts);
  if (!(await endWithin(LONGEST_UNASKED_MS, providers))) kill(providers);
}

async function endWithin(ms: number, all: readonly RunningProcess[]): Promise<boolean> {
  for (const end = Date.now() + ms; all.some(isAlive) && Date.now() < end;)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return !all.some(isAlive);
}
