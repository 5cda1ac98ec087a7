/** Keeps an edit of the program only if the stack's plan shows the accepted values. */
import { readFileSync, rmSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import type { Properties } from "../../../contract/hiddenKeys";
import { type Pulumi, withoutSecrets } from "../../stack/pulumi";
import { parsed } from "../../stack/state";
import { type Rewritten, writeFiles } from "../writeFiles";
import type { Accepted, Target } from "./edit";
import { declares } from "./acceptPlan";

/** The arguments that the current program gives to resources of the stack. */
export type Planned = (urns: readonly string[]) => Promise<ReadonlyMap<string, Properties>>;

/** The reasons why resources are not edited, by URN. */
type Disproofs = ReadonlyMap<string, string>;

const NOT_REACHED =
  "with an edit here the plan of the stack still shows another value, so the edit was undone: the program creates the resource elsewhere, or is compiled before it runs";
const NOT_NEEDED =
  "the plan of the stack shows the value without an edit here: the program creates the resource elsewhere, or an option of the resource, such as ignoreChanges, keeps the value";

interface Proof {
  readonly targets: readonly Target[];
  readonly planned: Planned;
  /** Runs after the files are written, before the plan. */
  readonly written?: () => Promise<void>;
  /** The resources whose edit changes the plan of others. */
  readonly refused?: (given: ReadonlyMap<string, Properties>) => Disproofs;
}

/**
 * Writes the files, and reverts them if the plan fails or shows other values than the accepted ones.
 * @returns the resources that the edit does not change, need not change, or changes together with others. If there are
 * none, the files stay.
 */
export async function writtenIfProven(
  files: readonly Rewritten[],
  accepted: readonly Accepted[],
  asked: Proof,
): Promise<Disproofs> {
  // Before the first file is written: a signal then ends the plan and not this process, which reverts the edit.
  const wait = (): void => undefined;
  for (const signal of SIGNALS) process.on(signal, wait);
  try {
    return await proven(files, accepted, asked);
  } finally {
    for (const signal of SIGNALS) process.off(signal, wait);
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

async function proven(
  files: readonly Rewritten[],
  accepted: readonly Accepted[],
  { targets, planned, written, refused }: Proof,
): Promise<Disproofs> {
  const targetOf = ({ urn }: Accepted): Target | undefined => targets.find((target) => target.urn === urn);
  const plan = async (some: readonly Accepted[]): ReturnType<Planned> =>
    planned([...new Set(some.map(({ urn }) => urn))]);
  /** The properties whose accepted value a plan shows. */
  const shownIn = (given: ReadonlyMap<string, Properties>): Accepted[] =>
    accepted.filter((one) => {
      const args = given.get(one.urn);
      const change = targetOf(one)?.changes.find(({ path }) => path === one.path);
      return args !== undefined && change !== undefined && declares(args, change);
    });
  // A creation found by name may be another stack's. A value that is planned without the edit does not prove it.
  const searched = accepted.filter((one) => one.isEdited && targetOf(one)?.place === undefined);
  if (searched.length > 0) {
    const before = shownIn(await plan(searched).catch(refuse));
    if (before.length > 0) return disproofs(NOT_NEEDED, before);
  }
  writeFiles(files);
  const planAfter = async (): ReturnType<Planned> => {
    await written?.();
    return plan(accepted);
  };
  const given = await planAfter().catch((error: unknown) => {
    takeBack(files);
    return refuse(error);
  });
  const after = shownIn(given);
  const wrong = new Map([
    ...disproofs(
      NOT_REACHED,
      accepted.filter((one) => !after.includes(one)),
    ),
    ...(refused?.(given) ?? []),
  ]);
  if (wrong.size > 0) takeBack(files);
  return wrong;
}

function refuse(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(`nothing was edited, because the plan that must confirm an edit failed. ${reason}`, { cause: error });
}

const disproofs = (why: string, some: readonly Accepted[]): Disproofs => new Map(some.map(({ urn }) => [urn, why]));

function takeBack(files: readonly Rewritten[]): void {
  try {
    const there = files.filter(({ before }) => before !== undefined);
    writeFiles(there.map(({ before = "", after, ...file }) => ({ ...file, before: after, after: before })));
    for (const { before, after, path } of files)
      if (before === undefined && readFileSync(path, "utf8") === after) rmSync(path);
  } catch (error) {
    const names = files.map(({ name }) => name).join(", ");
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`a wrong edit could not be undone. Check ${names}: ${reason}`, { cause: error });
  }
}

/** The parts of `pulumi preview --json` that are used. */
const plan = z.object({
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
 * The arguments that the program gives to resources, by URN, from the plan of `up --refresh`; without resources that it
 * does not declare. Nothing else is read from the plan, which hides secrets and stays in memory.
 * @throws the CLI's message if there is no plan.
 */
export async function plannedArguments(
  pulumi: Pulumi,
  urns: readonly string[],
): Promise<ReadonlyMap<string, Properties>> {
  const targets = urns.flatMap((urn) => ["--target", urn]);
  const { ok, stdout, reason } = await pulumi(["preview", "--refresh", "--json", "--show-sames", ...targets], {
    isLong: true,
  });
  const { data: { steps, diagnostics } = {}, success } = plan.safeParse(parsed(stdout));
  const error = diagnostics?.find(({ severity }) => severity === "error")?.message;
  if (!ok) throw new Error(`pulumi preview failed: ${error === undefined ? reason : inOneLine(error)}`);
  if (!success) throw new Error("pulumi preview --json printed no plan");
  const entries = (steps ?? []).flatMap(({ op, urn, newState }) =>
    op === "refresh" || newState === null || newState === undefined ? [] : [[urn, newState.inputs ?? {}] as const],
  );
  return new Map(entries);
}

/** If a program throws, the first line only says that it did. */
function inOneLine(message: string): string {
  const lines = stripVTControlCharacters(message).split("\n");
  const [first = "", second = ""] = lines.map((line) => line.trim()).filter((line) => line !== "");
  const words = first.endsWith(":") ? `${first} ${second}` : first;
  return withoutSecrets(words.replace(/^error:\s*/, "")).slice(0, 300);
}
