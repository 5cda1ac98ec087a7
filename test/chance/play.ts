import type { Properties } from "../../src/contract/hiddenKeys";
import { DEMO } from "../kinds/KindCase";
import type { Executing } from "../support/rules/network";
import type { World } from "../support/rules/world";
import { act } from "./deeds";
import { edited, freed } from "./edits";
import type { Act, Command, Declared, History, Program, Step, Trouble } from "./history";
import { changesBetween, holds, thingsAt, type Change, type Things } from "./objects";
import { broken, drifted, namesOf, type Observed, planned } from "./oracles";
import { isOurs } from "./programs";
import type { Held, Player, Ran } from "./player";

/** What a history came to. */
export interface Played {
  /** What was broken, with the step. Empty: all oracles hold. */
  readonly broken: readonly string[];
  /** The commands as they ended, for a person who reads a failing case. */
  readonly log: readonly string[];
  /** It came to its end with an empty plan and an empty project. */
  readonly isHealed: boolean;
}

/** After these the state says what it says. */
const DEPLOYING: readonly Command["run"][] = ["up", "refresh", "destroy", "import", "state rename"];

/** What a last `up` may refuse, since only a person can decide: its program, or what stands in its place, is to change. */
const REFUSALS = [
  /: \w+: (?:must|is (?:only allowed|required|missing))/,
  /of this program(?: declares .* too)?\. Declare it once/,
  /declares an object that the stack holds as/,
  /It differs from the program in .*, which cannot be changed/,
  /the program declares no credentials, and the service cannot remove them/,
  // After the advice of a creation that met one of ours, which the run had not compared yet.
  /is managed by both ".*" and ".*", which would undo each other's changes/,
  /is declared absent, and exists with the type standard: somebody has set it up/,
  // The CLI breaks the line after it.
  /cannot be deleted/,
  /a branch can have only one\. Nothing was changed\. Use two steps/,
  // There may be no free branch for the first step: the demo project has three, and one has a compute of its own.
  /computes cannot swap branches in one step\. Nothing was changed\. Use two steps/,
  // What follows from it for another one.
  /whose move has failed or has not started/,
  // Of a resource that the program no longer has, too.
  /: its "deletionProtection" is on, so nothing was sent, and it is kept/,
  /unable to replace resource .* as part of replacing /,
  // What the program ignores and the service does not show.
  /it is not known whether this change would set .* back: .* is in ignoreChanges/,
  // Of two that declare one branch, too.
  /nothing is deleted, because .* might not come back: /,
  /is not replaced, although the change of .* requires it: its "deletionProtection" is on/,
];

/**
 * A deletion that asks for a look at another resource, while the program is refused because of that one: the two declare
 * one object.
 */
function isUnseen(line: string, lines: readonly string[]): boolean {
  const [, other] = /it is not known whether "([^"]+)" of this program manages the same object/.exec(line) ?? [];
  return other !== undefined && lines.some((one) => one.includes(other) && one.includes("Declare it once"));
}

/** Whether all that failed is such a refusal. */
function isRefused(text: string): boolean {
  const lines = text.split("\n");
  const failures = lines.filter(
    (line) =>
      /Could not |error: |was deleted to be replaced, and/.test(line) && !/error: (?:update|preview) failed/.test(line),
  );
  return (failures.length === 0 ? [text] : failures).every(
    (one) => REFUSALS.some((refusal) => refusal.test(one)) || isUnseen(one, lines),
  );
}

/** How often a last `up` follows the advice of its messages. */
const MOST_TRIES = 6;

export async function play(player: Player, history: History): Promise<Played> {
  const run = new Play(player, history);
  await run.all();
  return { broken: run.broken, log: run.log, isHealed: run.isHealed };
}

const changing = (steps: readonly string[]): string[] => steps.filter((step) => !/^(refresh|read) /.test(step));

/** Two stacks on one account and one project at once: each is a colleague of the other. */
export async function playBeside(player: Player, history: History): Promise<Played> {
  const run = new Play(player, history, true);
  await run.steps();
  return { broken: run.broken, log: run.log, isHealed: true };
}

class Play {
  readonly broken: string[] = [];
  readonly log: string[] = [];
  isHealed = false;
  #program: Program;
  readonly #environment: Record<string, string>;
  /** The keys of what our commands have created. */
  readonly #made = new Set<string>();
  /** Secrets that the service has answered with. */
  readonly #issued = new Set<string>();
  readonly #deployed = new Map<string, Properties>();
  #said = "";
  /** The names of what a version of the program leaves at the service: the engine does not call `delete` for it. */
  readonly #mayLeave = new Set<string>();
  /** The keys of what those of these names have held. */
  readonly #mayStay = new Set<string>();

  constructor(
    readonly player: Player,
    readonly history: History,
    readonly hasOther = false,
  ) {
    this.#program = history.program;
    this.#environment = { ...history.environment };
  }

  async all(): Promise<void> {
    await this.steps();
    if (this.broken.length === 0) await this.#heal();
  }

  async steps(): Promise<void> {
    for (const [i, step] of this.history.steps.entries()) {
      await this.#step(step, `step ${i}`);
      if (this.broken.length > 0) return;
    }
  }

  async #step(step: Step, when: string): Promise<void> {
    if (step.do === "edit") {
      this.#program = step.edits.reduce(edited, this.#program);
    } else if (step.do === "colleague") {
      await this.#act(step.deed);
    } else if (step.do === "environment") {
      if (step.value === null) delete this.#environment[step.name];
      else this.#environment[step.name] = step.value;
    } else {
      await this.#withLooks(step.command, when, step.trouble);
    }
  }

  /** What an acceptance or an import is for shows in the next plan. */
  async #withLooks(command: Command, when: string, trouble?: Trouble): Promise<void> {
    const isAccept = command.run === "drift --accept";
    // What the other stack does between would show as well.
    if (this.hasOther || (!isAccept && command.run !== "import"))
      return void (await this.#command(command, when, trouble));
    const plan = { run: "preview", refresh: true } as const;
    const before = await this.#command(plan, `${when}, the plan before`);
    const ran = await this.#command(command, when, trouble);
    if (ran.code !== 0 || ran.isCut || trouble?.beside !== undefined || this.broken.length > 0) return;
    const after = await this.#command(plan, `${when}, the plan after`);
    if (after.code !== 0 && before.code !== 0) return;
    // Such as one that would delete what was imported protected.
    if (after.code !== 0) this.broken.push(`${when}: after ${command.run} there is no plan: ${after.text}`);
    const more = changing(after.steps).filter(
      (step) => !before.steps.includes(step) && (isAccept || /delete|replace/.test(step)),
    );
    this.broken.push(...more.map((step) => `${when}: after ${command.run} the plan has ${step}`));
  }

  async #command(
    command: Command,
    when: string,
    trouble?: Trouble,
  ): Promise<Ran & { after: readonly Held[]; things: Things }> {
    const { player } = this;
    const program = this.#program;
    for (const one of program)
      if (one.options.retainOnDelete === true || one.options.deletedWith !== undefined)
        for (const name of namesOf(one)) this.#mayLeave.add(name);
    const before = await player.held();
    const ours = new Ledger(player.world, this.#made, this.#issued);
    let isBeside = this.hasOther;
    const first = await thingsAt(player.world);
    const ran = await player.run(command, {
      program,
      environment: this.#environment,
      trouble,
      executing: ours.executing,
      act: async () => {
        const { beside } = trouble ?? {};
        if (beside === undefined) return;
        isBeside = true;
        await ours.alone(() => this.#act(beside.deed));
      },
    });
    const last = await thingsAt(player.world);
    // Nobody else acts there.
    ours.add(changesBetween(first, last).filter(({ thing }) => thing.projectId !== DEMO.projectId));
    const { changes, sent, repeated } = ours;
    if (ran.program !== undefined) this.#program = ran.program;
    this.#said += ran.text;
    const after = await player.held();
    // What our components contain has their options, and names that begin with theirs.
    for (const { name } of [...before, ...after])
      if (program.some((one) => !isOurs(one.kind) && this.#mayLeave.has(one.name) && name.startsWith(`${one.name}-`)))
        this.#mayLeave.add(name);
    // It may have another name now.
    const mayLeave = before.filter(({ name }) => this.#mayLeave.has(name)).map(({ id }) => id);
    for (const { id, name } of after) if (mayLeave.includes(id)) this.#mayLeave.add(name);
    for (const held of [...before, ...after].filter(({ name }) => this.#mayLeave.has(name)))
      for (const [key, thing] of [...first, ...last]) if (holds(held, thing)) this.#mayStay.add(key);
    // The engine's words on a creation that was cut off are all that tells of its object.
    if (ran.isCut)
      for (const [key, thing] of last)
        if (!first.has(key) && !after.some((held) => holds(held, thing))) this.#mayStay.add(key);
    const seen: Observed = {
      ...{ command, program, ran, before, after, changes, isBeside, sent, repeated, first, things: last },
      ...{
        made: this.#made,
        issued: this.#issued,
        mayLeave: this.#mayLeave,
        deployed: this.#deployed,
      },
      isTroubled: trouble !== undefined && (trouble.faults.length > 0 || trouble.end !== undefined),
      stored: await player.stored(),
    };
    if (DEPLOYING.includes(command.run)) for (const { urn, inputs } of after) this.#deployed.set(urn, inputs);
    const wrong = broken(seen).map((text) => `${when} (${command.run}): ${text}`);
    this.broken.push(...wrong);
    this.log.push(
      `${when}: ${JSON.stringify(command)} -> ${ran.code}${ran.isCut ? ", cut" : ""}\n  ${ran.steps.join(", ")}\n${ran.text}`,
    );
    return { ...ran, after, things: last };
  }

  /** What a colleague has removed or made anew is not ours. */
  async #act(deed: Act): Promise<void> {
    const before = await thingsAt(this.player.world);
    await act(this.player.world, deed);
    for (const { what, key } of changesBetween(before, await thingsAt(this.player.world)))
      if (what !== "changed") this.#made.delete(key);
  }

  /** From here on nothing goes wrong: program, state and service come together, and all of ours goes. */
  async #heal(): Promise<void> {
    Object.assign(this.#environment, this.history.environment);
    const last = await this.#follow({ run: "up", refresh: true, seed: 1 }, "the last up");
    if (this.broken.length > 0 || last === undefined) return;
    for (const command of [{ run: "preview" }, { run: "preview", refresh: true }] as const) {
      const plan = await this.#command(command, "after the last up");
      const steps = changing(plan.steps);
      if (plan.code !== 0 || steps.length > 0)
        this.broken.push(`the plan after the last up is not empty: ${steps.join(", ")} ${plan.text}`);
    }
    const { after, things } = last;
    const wrong = [...planned(this.#program, after), ...drifted(this.#program, after, { things, made: this.#made })];
    this.broken.push(...wrong.map((text) => `after the last up, program, state and service differ: ${text}`));
    if (this.broken.length > 0) return;
    await this.#end();
  }

  async #end(): Promise<void> {
    // Nothing keeps it any more.
    this.#program = this.#program.map(freed);
    const ran = await this.#follow({ run: "up", seed: 1 }, "the up before the end");
    if (this.broken.length > 0 || ran === undefined) return;
    const end = await this.#command({ run: "destroy" }, "the end");
    if (this.broken.length > 0) return;
    if (end.code !== 0 || end.after.length > 0) {
      this.broken.push(`the destroy does not end well: ${end.after.map(({ name }) => name).join()} ${end.text}`);
      return;
    }
    this.isHealed = true;
    const left = [...end.things]
      .filter(([key]) => this.#made.has(key) && !this.#mayStay.has(key))
      .filter(([, { name }]) => !this.#said.includes(name))
      // Nobody can list users.
      .filter(([, { list }]) => list !== "users" || !this.#said.includes("the user may or may not have been created"))
      // One without a name may have been made while no list could be read.
      .filter(
        ([, { list }]) => list !== "endpoints" || !this.#said.includes("look for a new read replica without a name"),
      );
    this.broken.push(...left.map(([key]) => `made, in no state, and never mentioned: ${key}`));
  }

  /** A command again and again, as long as its message says what to do. */
  async #follow(command: Command, when: string) {
    let last: Ran | undefined;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const ran = await this.#command(command, when);
      if (ran.code === 0 || this.broken.length > 0) return ran;
      last = ran;
      if (!(await this.#advised(ran.text)) && tries > 1) break;
    }
    if (!isRefused(last?.text ?? "")) this.broken.push(`${when} does not end well: ${last?.text}`);
    return undefined;
  }

  /** Does what a message asks for; false if it asks for nothing that we know. */
  async #advised(text: string): Promise<boolean> {
    let isDone = false;
    for (const line of text.split("\n")) {
      const name = createdIn(line);
      const [, value] = /set "adopt: (true|'ep-[^']+')"/i.exec(line) ?? [];
      if (name !== undefined && value !== undefined && !value.includes("…")) {
        const adopt = value === "true" ? true : value.slice(1, -1);
        this.#program = this.#program.map((one) => adopting(one, name, adopt));
        isDone = true;
      }
      const [, kept] =
        /unable to (?:replace|delete) resource "[^"]*::([^":]+)"/.exec(line) ??
        /\("([^"]+)"\)[^"]*: its "deletionProtection" is on/.exec(line) ??
        // The program ignores it.
        /\("([^"]+)"\): "[^"]+" is a placeholder in the state/.exec(line) ??
        /\("([^"]+)"\): "clientId" is in ignoreChanges, and .* Remove "clientId" from ignoreChanges/.exec(line) ??
        [];
      if (this.#program.some(({ name: one }) => one === kept)) {
        this.#program = this.#program.map((one) => (one.name === kept ? freed(one) : one));
        isDone = true;
      }
      const [, option] = /"(deleteBeforeReplace|retainOnDelete)".*Leave the option out/.exec(line) ?? [];
      const [, replaced] = /\("([^"]+)"\)/.exec(line) ?? [];
      if (option !== undefined && this.#program.some(({ name: one }) => one === replaced)) {
        this.#program = this.#program.map((one) => (one.name === replaced ? without(one, option) : one));
        isDone = true;
      }
      const user = /AuthUser .* exists already/.test(line) ? name : undefined;
      const email = this.#program.find((one) => one.name === user)?.args["email"];
      if (typeof email === "string") {
        await this.#act({ do: "remove user", email });
        isDone = true;
      }
    }
    return isDone;
  }
}

/** The name of the resource whose creation has failed. */
function createdIn(line: string): string | undefined {
  const [, name, lost] =
    /Could not create \w+ \("([^"]+)"\)|\w+ \S+ \("([^"]+)"\) was deleted to be replaced, and/.exec(line) ?? [];
  return name ?? lost;
}

function without({ options, ...one }: Declared, option: string): Declared {
  return { ...one, options: Object.fromEntries(Object.entries(options).filter(([name]) => name !== option)) };
}

/** What adopts under this name, which may be that of a resource in a component of ours. */
function adopting(one: Declared, name: string, adopt: true | string): Declared {
  const { kind, args } = one;
  if (one.name === name) return { ...one, args: { ...args, adopt } };
  if (kind === "ComputeGroup" && name === `${one.name}-primary`)
    return { ...one, args: { ...args, primary: { ...Object(args["primary"]), adopt } } };
  return kind === "ProjectAuth" && name.startsWith(`${one.name}-`) ? { ...one, args: { ...args, adopt } } : one;
}

const ISSUED = /"(?:secret_server_key|url)":"([^"]+)/g;

/** One at a time at a service: what it changes is seen before and after. */
const turns = new Map<string, Promise<unknown>>();

/** What the requests of one command change, whoever else acts meanwhile. */
class Ledger {
  readonly changes: Change[] = [];
  /** As `METHOD path`. */
  readonly sent: string[] = [];
  /** The POSTs that were sent again, although they had taken effect and nothing was read since. */
  readonly repeated: string[] = [];
  /** Those with an effect since the last read. */
  readonly #posted = new Set<string>();

  constructor(
    readonly world: World,
    readonly made: Set<string>,
    readonly issued: Set<string>,
  ) {}

  readonly executing: Executing = ({ method, url, body }, work) => {
    if (method === "GET") {
      this.#posted.clear();
      return work();
    }
    this.sent.push(`${method} ${url}`);
    return this.alone(async () => {
      const before = await thingsAt(this.world);
      const result = await work();
      for (const [, secret = ""] of result.text.matchAll(ISSUED)) this.issued.add(secret);
      this.add(changesBetween(before, await thingsAt(this.world)));
      const post = `${url} ${body}`;
      if (method === "POST" && this.#posted.has(post)) this.repeated.push(url);
      if (method === "POST" && result.status < 300) this.#posted.add(post);
      return result;
    });
  };

  async alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = (turns.get(this.world.url) ?? Promise.resolve()).then(work);
    turns.set(
      this.world.url,
      turn.catch(() => undefined),
    );
    return turn;
  }

  add(changes: readonly Change[]): void {
    const added = changes.filter(({ what }) => what === "added");
    // A new integration comes with some providers: who declares one of these has not made it.
    const comesAlong = ({ thing: { list, home } }: Change): boolean =>
      list === "oauth_providers" && added.some(({ thing }) => thing.list === "integrations" && thing.name === home);
    this.changes.push(...changes);
    for (const change of added) if (!comesAlong(change)) this.made.add(change.key);
  }
}
