/** Keeps an edit of the program only if the stack's plan shows the accepted values, and no other change. */
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { containsUnknown, isUnknown, type Properties, visible } from "../../../contract/hiddenKeys";
import { isObject } from "../../../contract/ignoredChanges";
import { nameInUrn, typeInUrn } from "../../../contract/identifiers";
import { kindOfType } from "../../../contract/pointer";
import { ownValue, segmentsOf } from "../../../contract/propertyPath";
import { holdsSecret } from "../../../contract/secretNames";
import { ENDING, type Pulumi, withoutSecrets } from "../../stack/pulumi";
import { parsed } from "../../stack/state";
import { type Rewritten, writeFiles } from "../writeFiles";
import { declares, same } from "./proposals";
import { type Candidate, textsWith } from "./edit";
import type { ProjectFiles } from "./projectFiles";
import { withChange } from "./propertyPlace";

/** What `pulumi up` would do with a resource, and the arguments that the program gives to it. */
export interface Step {
  readonly op: string;
  readonly inputs: Properties;
}

/** By URN, without resources that the program does not declare. */
export type StackPlan = ReadonlyMap<string, Step>;

/** The plan of the stack with the program as it is now. */
export type Planned = () => Promise<StackPlan>;

const NOT_REACHED =
  "with an edit here the plan of the stack still shows another value, so the edit was undone: the program creates the resource elsewhere, sets the value again, or is compiled before it runs";
const NOT_SHOWN =
  "the text has the value here, but the plan of the stack shows another one: the program creates the resource elsewhere, or sets the value again";
const NOT_NEEDED =
  "the plan of the stack shows the value without an edit here: the program creates the resource elsewhere, or an option of the resource, such as ignoreChanges, keeps the value";

/**
 * Writes the edits that hold. Edits that do not hold together are tried in halves.
 * @returns why the others were not kept, by URN
 * @throws if there is no plan of the program as it is, or after a signal: then nothing stays written.
 */
export async function writeProven(
  candidates: readonly Candidate[],
  { planned, files }: { readonly planned: Planned; readonly files: ProjectFiles },
): Promise<ReadonlyMap<string, string>> {
  const proof = new Proof(candidates, planned, files);
  // Before the first file is written: a signal then ends the plan and not this process, which reverts the edit.
  const stop = (): void => proof.stop();
  for (const signal of ENDING) process.on(signal, stop);
  try {
    await proof.run();
  } finally {
    for (const signal of ENDING) process.off(signal, stop);
  }
  return proof.dropped;
}

/** Why edits do not hold. */
interface Problem {
  readonly reason: string;
  /** Which of the resources alone, if that is known. */
  readonly of?: readonly string[];
  /** The edits may not be the cause. */
  readonly isFailure?: true;
}

class Proof {
  readonly dropped = new Map<string, string>();
  /** The edits that the files have: each was in a plan. */
  #held: readonly Candidate[] = [];
  #before: StackPlan = new Map();
  #isStopped = false;

  constructor(
    readonly candidates: readonly Candidate[],
    readonly planned: Planned,
    readonly files: ProjectFiles,
  ) {}

  stop(): void {
    this.#isStopped = true;
  }

  async run(): Promise<void> {
    this.#before = await this.planned().catch(refuse);
    for (const { target, property, actions } of this.candidates) {
      const isShown = shows(this.#before, { target, property });
      if (actions.length > 0 && isShown) this.dropped.set(target.urn, NOT_NEEDED);
      if (actions.length === 0 && !isShown) this.dropped.set(target.urn, NOT_SHOWN);
    }
    const urns = new Set(this.candidates.map(({ target }) => target.urn));
    try {
      await this.#hold([...urns].filter((urn) => !this.dropped.has(urn)));
    } catch (error) {
      this.#undo(this.#held, []);
      throw error;
    }
  }

  /** Adds the edits of these resources to the held ones, or as many of them as the plan allows. */
  async #hold(urns: readonly string[]): Promise<void> {
    if (urns.length === 0) return;
    const kept = this.#held;
    const all = [...kept, ...this.candidates.filter(({ target }) => urns.includes(target.urn))];
    const problem = await this.#tried(kept, all);
    if (problem === undefined) this.#held = all;
    else if (problem.of === undefined && urns.length > 1) {
      await this.#hold(urns.slice(0, urns.length / 2));
      await this.#hold(urns.slice(urns.length / 2));
    } else {
      const { reason, of: wrong = urns, isFailure } = problem;
      if (isFailure === true) await this.planned().catch(refuse);
      for (const urn of wrong) this.dropped.set(urn, reason);
      await this.#hold(urns.filter((urn) => !wrong.includes(urn)));
    }
  }

  /** Writes further edits, and reverts them if the plan is not as expected. */
  async #tried(kept: readonly Candidate[], all: readonly Candidate[]): Promise<Problem | undefined> {
    // What the text has already is in the plan before the edit.
    if (all.every((one) => kept.includes(one) || one.actions.length === 0)) return undefined;
    if (this.#isStopped) refuse(new Error("A signal has stopped it."));
    writeFiles(this.#between(kept, all));
    let problem: Problem | undefined;
    try {
      problem = this.#problemOf(await this.planned(), { kept, all });
    } catch (error) {
      this.#undo(all, kept);
      if (this.#isStopped) refuse(error);
      const reason = `with an edit here the stack has no plan, so the edit was undone: ${messageOf(error)}`;
      return { reason, isFailure: true };
    }
    if (problem !== undefined) this.#undo(all, kept);
    return problem;
  }

  #problemOf(
    after: StackPlan,
    { kept, all }: { readonly kept: readonly Candidate[]; readonly all: readonly Candidate[] },
  ): Problem | undefined {
    const unseen = all.filter((one) => !shows(after, one));
    const wrong = unseen.filter((one) => !kept.includes(one)).map(({ target }) => target.urn);
    if (wrong.length > 0) return { of: wrong, reason: NOT_REACHED };
    const others = [...new Set([...this.#before.keys(), ...after.keys()])].filter(
      (urn) => !this.#isExpected(this.#before.get(urn), after.get(urn), urn),
    );
    if (others.length === 0 && unseen.length === 0) return undefined;
    const isOwn = (urn: string): boolean => all.some(({ target }) => target.urn === urn);
    const what = others.map(
      (urn) => `${isOwn(urn) ? "other arguments" : "the plan"} of ${JSON.stringify(nameInUrn(urn))}`,
    );
    return { reason: `an edit here also changes ${what.join(", ")}, so it was undone` };
  }

  /**
   * Whether the plan of a resource is as before, apart from what is accepted. Of resources of other packages only the
   * kind of change counts, because their arguments may differ in each run.
   */
  #isExpected(was: Step | undefined, now: Step | undefined, urn: string): boolean {
    if (was === undefined || now === undefined) return false;
    const isOfSameKind = now.op === was.op || now.op === "same";
    if (kindOfType(typeInUrn(urn)) === undefined) return isOfSameKind;
    const [given, inputs] = [visible(was.inputs), visible(now.inputs)];
    const own = this.candidates.filter(({ target }) => target.urn === urn && !this.dropped.has(urn));
    const found = own.reduce<unknown>((args, { property: { path, found: value } }) => {
      return withChange(args, segmentsOf(path), value);
    }, given);
    return (isOfSameKind && matches(given, inputs)) || (own.length > 0 && matches(found, inputs));
  }

  #undo(from: readonly Candidate[], to: readonly Candidate[]): void {
    const files = this.#between(from, to);
    try {
      writeFiles(files);
    } catch (error) {
      const names = files.map(({ name }) => name).join(", ");
      throw new Error(`a wrong edit could not be undone. Check ${names}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** The files whose text with some edits differs from that with others. */
  #between(from: readonly Candidate[], to: readonly Candidate[]): Rewritten[] {
    const [before, after] = [textsWith(from), textsWith(to)];
    const originals = new Map(this.candidates.map(({ file }) => [file.name, file.text]));
    return [...originals].flatMap(([name, text]) => {
      const texts = { before: before.get(name) ?? text, after: after.get(name) ?? text };
      return texts.before === texts.after ? [] : [{ name, path: this.files.absolute(name), ...texts }];
    });
  }
}

const shows = (plan: StackPlan, { target, property }: Pick<Candidate, "target" | "property">): boolean =>
  declares(plan.get(target.urn)?.inputs ?? {}, property) && plan.has(target.urn);

/** Before an edit, a value may depend on a resource that has to be updated. */
function matches(expected: unknown, now: unknown): boolean {
  if (isUnknown(expected)) return true;
  if (isObject(expected) && isObject(now))
    return Object.keys({ ...expected, ...now }).every((key) => matches(ownValue(expected, key), ownValue(now, key)));
  if (Array.isArray(expected) && Array.isArray(now) && containsUnknown(expected))
    return expected.length === now.length && expected.every((value, index) => matches(value, now[index]));
  return same(expected, now);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function refuse(error: unknown): never {
  const reason = messageOf(error);
  throw new Error(`nothing was edited, because the plan that must confirm an edit failed. ${reason}`, { cause: error });
}

/** The parts of `pulumi preview --json` that are used. */
const output = z.object({
  steps: z
    .array(
      z.object({
        op: z.string(),
        urn: z.string(),
        newState: z.object({ inputs: z.record(z.string(), z.unknown()).optional() }).nullish(),
      }),
    )
    .nullish(),
  diagnostics: z.array(z.object({ message: z.string(), severity: z.string() })).nullish(),
});

/**
 * The plan of `up --refresh`. Nothing else is read from the output, which hides secrets and stays in memory.
 * @throws the CLI's message if there is no plan.
 */
export async function planOfStack(pulumi: Pulumi): Promise<StackPlan> {
  const { ok, stdout, reason } = await pulumi(["preview", "--refresh", "--json", "--show-sames"], { isLong: true });
  const { data: { steps, diagnostics } = {}, success } = output.safeParse(parsed(stdout));
  const error = diagnostics?.find(({ severity }) => severity === "error")?.message;
  if (!ok) throw new Error(`pulumi preview failed: ${error === undefined ? reason : inOneLine(error)}`);
  if (!success) throw new Error("pulumi preview --json printed no plan");
  return new Map(
    (steps ?? []).flatMap(({ op, urn, newState }) =>
      op === "refresh" || !newState ? [] : [[urn, { op, inputs: newState.inputs ?? {} }] as const],
    ),
  );
}

/** If a program throws, the first line only says that it did. */
function inOneLine(message: string): string {
  const lines = stripVTControlCharacters(message).split("\n");
  const [first = "", second = ""] = lines.map((line) => line.trim()).filter((line) => line !== "");
  const words = first.endsWith(":") ? `${first} ${second}` : first;
  // A program may throw what it knows.
  return holdsSecret(words)
    ? "its message may hold a secret"
    : withoutSecrets(words.replace(/^error:\s*/, "")).slice(0, 300);
}
