/**
 * Side by side, in one run: this package's pointer against `pulumi.dynamic.Resource`, whose serialised code is what a
 * dynamic provider usually puts into the state. Both declare the same redirect domains at the same emulator. Figures are
 * ratios of paired runs (A B A B …): the machine may be slow or busy, but it is so for both.
 *
 *   npm run bench -- [--resources 50] [--rounds 3] [--no-goals]
 *
 * Ends with 1 when the median of a ratio misses its goal.
 */
import { parseArgs } from "node:util";
import { dynamicResource, pointerResource, type Contender } from "./programs";
import { measure, type Figures } from "./measure";

const HELP = `Usage: npm run bench -- [--resources 50] [--rounds 3] [--no-goals]

  --resources  how many redirect domains both declare
  --rounds     how many pairs of runs
  --no-goals   only show the ratios; else the exit code is 1 when the median of one misses its goal`;

/** The highest ratio that is good enough. */
const GOALS: Partial<Record<keyof Figures, number>> = { "destroy, s": 1.1 };

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      resources: { type: "string", default: "50" },
      rounds: { type: "string", default: "3" },
      "no-goals": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const [resources, rounds] = [Number(values.resources), Number(values.rounds)];
  if (values.help || !(resources >= 1) || !(rounds >= 1)) {
    console.log(HELP);
    return values.help ? 0 : 2;
  }
  const runs: { ours: Figures; theirs: Figures }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const run = async (contender: Contender): Promise<Figures> => {
      console.log(`round ${round} of ${rounds}: ${contender.name}, ${resources} resources`);
      return measure(contender, resources);
    };
    runs.push({ ours: await run(pointerResource), theirs: await run(dynamicResource) });
  }
  console.log(`\npulumi-svc / pulumi.dynamic.Resource, ${resources} resources, ${rounds} paired rounds\n`);
  console.log(`${"".padEnd(30)}${"ours".padStart(12)}${"theirs".padStart(12)}   ratio (min … median … max)`);
  let missed = 0;
  for (const figure of Object.keys(runs[0]?.ours ?? {}) as (keyof Figures)[]) {
    const ours = runs.map((run) => run.ours[figure]);
    const theirs = runs.map((run) => run.theirs[figure]);
    const ratios = ours.map((value, index) => value / (theirs[index] ?? Number.NaN));
    const range = [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
    const goal = values["no-goals"] ? undefined : GOALS[figure];
    const isMissed = goal !== undefined && !(median(ratios) <= goal);
    if (isMissed) missed += 1;
    const said = goal === undefined ? "" : `   goal: at most ${goal.toFixed(2)}${isMissed ? ", MISSED" : ""}`;
    console.log(`${figure.padEnd(30)}${show(median(ours))}${show(median(theirs))}   ${range.join(" … ")}${said}`);
  }
  return missed === 0 ? 0 : 1;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

const show = (value: number): string =>
  (value < 1_000 ? value.toFixed(value < 100 ? 2 : 0) : value.toFixed(0)).padStart(12);

void main().then((code) => {
  process.exitCode = code;
});
