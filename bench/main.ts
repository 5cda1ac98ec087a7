/**
 * Whole commands of the real CLI against the emulator, side by side in one run: this package, the same program as
 * hand-written `pulumi.dynamic.Resource`s, and the minimum that the service needs. Runs are paired (A B A B …), so that
 * a slow or busy machine affects both.
 */
import { writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { cases, type Case, type Step } from "./cases";
import { doorFigures } from "./doors";
import { fleetFigures } from "./fleet";
import { gateFigures } from "./gate";
import { jobFigures } from "./jobs";
import { processFigures } from "./process";
import type { Contender } from "./programs";
import { referenceFigures } from "./references";
import { median, printTable, type Row } from "./report";
import { Stack, type Run } from "./stack";

const COMMANDS: Readonly<Record<Step, readonly string[]>> = {
  create: ["up", "--yes", "--skip-preview"],
  plan: ["preview"],
  "refresh plan": ["preview", "--refresh"],
  "no-op up": ["up", "--yes", "--skip-preview", "--expect-no-changes"],
  change: ["up", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
};

const USUAL = ["computes", "locked", "auth", "projects", "domains", "process", "references", "gate", "fleet"];
const names = [...cases.map(({ name }) => name), "process", "references", "gate", "fleet", "doors", "jobs"];

interface Options {
  cases: readonly string[];
  resources?: number;
  rounds: number;
  rates?: readonly number[];
  byHand: boolean;
  goals: boolean;
  json?: string;
}

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error(`"${text}" is not a whole number, 1 or more`);
  return Number(text);
};

const bench = new Command("npm run bench --")
  .description("Measures whole commands against the emulator. Ends with 1 when a goal is missed.")
  .addOption(new Option("--cases <names...>", "what to measure").choices(names).default(USUAL))
  .addOption(
    new Option("--resources <number>", "how many resources, instead of the case's own numbers").argParser(wholeNumber),
  )
  .addOption(
    new Option("--rounds <number>", "number of paired runs; the median is reported").argParser(wholeNumber).default(3),
  )
  .addOption(
    new Option("--rates <numbers...>", "the limits of `jobs`, in requests a minute")
      .argParser((text: string, rates: readonly number[] = []) => [...rates, wholeNumber(text)])
      .default(undefined, "15 60 700"),
  )
  .option("--no-by-hand", "only our program, without the hand-written one")
  .option("--no-goals", "report the figures and always exit with 0")
  .option("--json <file>", "also write the figures to a file")
  .action(async (options: Options) => {
    const rows: Row[] = [];
    for (const one of cases.filter(({ name }) => options.cases.includes(name))) {
      for (const resources of options.resources === undefined ? one.resources : [options.resources]) {
        const measured = await measure(one, resources, options);
        printTable(`${one.name}: ${resources} ${one.title}`, measured);
        rows.push(...measured);
      }
    }
    const figures = [
      ...(options.cases.includes("process") ? await processFigures() : []),
      ...(options.cases.includes("references") ? await referenceFigures(options.rounds) : []),
      ...(options.cases.includes("gate") ? await gateFigures(options.rounds) : []),
      ...(options.cases.includes("fleet") ? await fleetFigures(options.rounds) : []),
      ...(options.cases.includes("doors") ? await doorFigures(options.rounds) : []),
      ...(options.cases.includes("jobs") ? await jobFigures(options.rates ?? [15, 60, 700], options.rounds) : []),
    ];
    const missed = [...rows, ...figures].filter((row) => row.missed.length > 0);
    if (options.json !== undefined)
      writeFileSync(options.json, `${JSON.stringify({ rounds: options.rounds, rows, figures }, undefined, 2)}\n`);
    if (missed.length > 0 && options.goals) {
      console.log(`\n${missed.length} goals are missed.`);
      process.exitCode = 1;
    }
  });

/** One row for each step: the floor once a round, then ours and the hand-written program in turn. */
async function measure(one: Case, resources: number, { rounds, byHand }: Options): Promise<Row[]> {
  const floors: Record<string, number[]> = {};
  const runs: Record<Contender, Record<string, Run[]>> = { ours: {}, byHand: {} };
  const bytes: { all: number; engine: number }[] = [];
  // A program without retries ends with the first 423.
  const contenders: Contender[] = byHand && one.name !== "locked" ? ["ours", "byHand"] : ["ours"];
  for (let round = 1; round <= rounds; round += 1) {
    console.log(`${one.name}, ${resources} resources: round ${round} of ${rounds}`);
    for (const [step, { seconds }] of await wholeLife(one, "ours", 0)) (floors[step] ??= []).push(seconds);
    for (const contender of contenders) {
      const seen = contender === "ours" ? bytes : undefined;
      for (const [step, run] of await wholeLife(one, contender, resources, seen))
        (runs[contender][step] ??= []).push(run);
    }
  }
  return one.steps.map((step): Row => {
    const floor = median(floors[step] ?? []);
    const ours = runs.ours[step] ?? [];
    const theirs = runs.byHand[step] ?? [];
    const over = (of: readonly Run[]): number => median(of.map(({ seconds }) => seconds)) - floor;
    const requests = median(ours.map((run) => run.requests));
    const locked = median(ours.map((run) => run.locked));
    const ratio =
      theirs.length === 0 ? undefined : median(ours.map((run, i) => run.seconds / (theirs[i]?.seconds ?? 0)));
    const goal = one.goals(step, resources);
    const [seconds, most] = [over(ours), goal.requests?.(over(ours))];
    const missed = [
      ...(goal.seconds !== undefined && seconds > goal.seconds ? ["seconds"] : []),
      ...(most !== undefined && requests > most ? ["requests"] : []),
      ...(goal.ratio !== undefined && ratio !== undefined && ratio > goal.ratio ? ["ratio"] : []),
      ...(goal.locked !== undefined && locked > goal.locked ? ["423"] : []),
    ];
    const goals = { seconds: goal.seconds, requests: most && Math.floor(most), ratio: goal.ratio, locked: goal.locked };
    const byHandSeconds = theirs.length === 0 ? undefined : over(theirs);
    const byHandRequests = theirs.length === 0 ? undefined : median(theirs.map((run) => run.requests));
    const limit = one.limit(step, resources);
    const state = step === "create" ? bytes[0] : undefined;
    return {
      ...{ case: one.name, resources, step, floor, limit, seconds, byHandSeconds, ratio },
      ...{ requests, byHandRequests, locked, state, goals, missed },
    };
  });
}

async function wholeLife(
  one: Case,
  contender: Contender,
  resources: number,
  bytes?: { all: number; engine: number }[],
): Promise<[Step, Run][]> {
  const stack = await Stack.create(one.emulator, one.parallel, one.prepare);
  try {
    const seen: [Step, Run][] = [];
    for (const step of one.steps) {
      stack.write(one.programs[contender]({ resources, changed: step === "change" }));
      seen.push([step, await stack.run(COMMANDS[step])]);
      if (step === "create" && resources > 0) bytes?.push(stack.stateBytes());
    }
    return seen;
  } finally {
    await stack.end();
  }
}

void bench.parseAsync();
