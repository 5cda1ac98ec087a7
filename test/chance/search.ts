import fc from "fast-check";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { histories } from "./histories";
import type { History } from "./history";
import { play, playBeside, type Played } from "./play";
import type { Player } from "./player";

/**
 * How long to look, and from where. A seed repeats the histories of a lane; what depends on time may end otherwise.
 * `npm run test:chance -- --seed S --minutes M` sets the variables.
 */
const { PULUMI_SVC_CHANCE_SEED, PULUMI_SVC_CHANCE_MINUTES } = process.env;
export const MINUTES = PULUMI_SVC_CHANCE_MINUTES === undefined ? undefined : Number(PULUMI_SVC_CHANCE_MINUTES);
export const FIXED_SEED = 1;
/** Printed. */
export const SEED = Number(PULUMI_SVC_CHANCE_SEED ?? (MINUTES === undefined ? FIXED_SEED : Date.now() % 1e6));
/** The least part of the histories that must come to an empty plan and an empty project. */
const LEAST_HEALED = 0.4;
/** Cases that were found; a file that is kept there runs with all tests. */
const FOUND = join(__dirname, "found");

export type Engine = "imitation" | "engine";

export interface Search<Case> {
  readonly engine: Engine;
  /** The name of the file of a found case. */
  readonly name: string;
  readonly cases: fc.Arbitrary<Case>;
  readonly play: (found: Case) => Promise<Played>;
  /** The statements that play a found case `CASE` in a test. */
  readonly asTest: string;
  /** How many in all, where no time is set. */
  readonly runs: number;
  /** At once: most of the time is waiting. */
  readonly lanes: number;
  /** Attempts to make a failing case smaller. */
  readonly attempts: number;
}

/** The smallest case so far. `after`: when the first one was found. */
interface Failing<Case> {
  readonly found: Case;
  readonly played: Played;
  readonly after: string;
}

/** Plays cases until one breaks an oracle, in each lane, and writes it as a test file. Throws with what was found. */
export async function search<Case>(about: Search<Case>): Promise<void> {
  const { engine, name, cases, runs, lanes, attempts } = about;
  const figures = { played: 0, healed: 0 };
  const began = process.hrtime.bigint();
  let isFound = false;
  const ends = await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const seed = SEED + lane * 1_000_000;
      let failing: Failing<Case> | undefined;
      let left = attempts;
      let hasEnded = false;
      let playing: Promise<unknown> = Promise.resolve();
      const property = fc.asyncProperty(cases, async (drawn) => {
        // Enough was tried: the smallest one so far is taken.
        if (failing !== undefined && left-- <= 0) return;
        if (failing === undefined && isFound) {
          // fast-check ends only with a failure, which it then tries to make smaller.
          if (hasEnded) return;
          hasEnded = true;
          throw new Error("another lane has found something");
        }
        const play = about.play(drawn);
        playing = play;
        const played = await play;
        figures.played += 1;
        if (played.isHealed) figures.healed += 1;
        if (played.broken.length === 0) return;
        const seconds = Math.round(Number(process.hrtime.bigint() - began) / 1e9);
        const after = failing?.after ?? `${figures.played} histories in ${seconds} s`;
        failing = { found: drawn, played, after };
        isFound = true;
        throw new Error(played.broken.join("\n"));
      });
      const limit =
        MINUTES === undefined
          ? { numRuns: Math.ceil(runs / lanes) }
          : { numRuns: 1e6, interruptAfterTimeLimit: MINUTES * 60_000 };
      const { errorInstance } = await fc.check(property, { seed, ...limit });
      // The limit of time interrupts nothing: what is still played would go on after the test.
      await Promise.allSettled([playing]);
      if (errorInstance !== null && failing === undefined && !hasEnded) throw errorInstance;
      return failing === undefined ? [] : [told(about, seed, failing)];
    }),
  );
  process.stdout.write(`${engine}, ${name}: ${figures.played} from seed ${SEED}, ${figures.healed} to their end.\n`);
  const found = ends.flat();
  // Else most of the oracles had nothing to look at.
  if (found.length === 0 && figures.healed < figures.played * LEAST_HEALED)
    throw new Error(`only ${figures.healed} of ${figures.played} came to their end`);
  if (found.length > 0) throw new Error(found.join("\n\n"));
}

/** What a test of single histories needs, with the player that `start` starts. */
export const ofHistories = (engine: Engine, start: Start) => ({
  ...{ engine, name: "histories", cases: histories({ real: engine === "engine" }) },
  play: (history: History) => playOn(start, history),
  asTest: `expectToHold(${engine === "engine" ? "(history) => startEngine(undefined, history)" : "startImitated"}, CASE)`,
});

type Start = (history: History) => Promise<Player>;

async function playOn(start: Start, history: History): Promise<Played> {
  const player = await start(history);
  try {
    return await play(player, history).catch(notPlayed);
  } finally {
    await player.close();
  }
}

function notPlayed(error: unknown): Played {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { broken: [`it cannot be played: ${what}`], log: [], isHealed: false };
}

/**
 * For the test file of a found case.
 * @public
 */
export async function expectToHold(start: Start, history: History): Promise<void> {
  const { broken, log } = await playOn(start, history);
  if (broken.length > 0) throw new Error([...broken, ...log].join("\n"));
}

type Pair = readonly [History, History];

/** Two stacks on one account and one project. */
export async function playPair<One extends Player>(
  start: (beside?: One) => Promise<One>,
  [one, two]: Pair,
): Promise<Played> {
  const first = await start();
  const second = await start(first);
  try {
    const ends = await Promise.all([playBeside(first, one).catch(notPlayed), playBeside(second, two).catch(notPlayed)]);
    return { broken: ends.flatMap(({ broken }) => broken), log: ends.flatMap(({ log }) => log), isHealed: true };
  } finally {
    await second.close();
    await first.close();
  }
}

/** @public */
export async function expectPairToHold<One extends Player>(
  start: (beside?: One) => Promise<One>,
  pair: Pair,
): Promise<void> {
  const { broken, log } = await playPair(start, pair);
  if (broken.length > 0) throw new Error([...broken, ...log].join("\n"));
}

/** Writes the case, and says where and what. */
function told<Case>(
  { engine, name, asTest }: Search<Case>,
  seed: number,
  { found, played: { broken, log }, after }: Failing<Case>,
): string {
  mkdirSync(FOUND, { recursive: true });
  const file = join(FOUND, `${engine}-${name}-${seed}.test.ts`);
  const [module, start] = engine === "engine" ? ["engine", "startEngine"] : ["imitated", "startImitated"];
  const text = `import { ${start} } from "../${module}";
import { ${asTest.slice(0, asTest.indexOf("("))} } from "../search";

const CASE = ${JSON.stringify(found, undefined, 2)} as const;

test(${JSON.stringify(broken[0] ?? "")}, () => ${asTest});
`;
  writeFileSync(file, text);
  // A log that outlives the file has it, too.
  const whole = JSON.stringify(found);
  return [
    `${engine}, seed ${seed}, after ${after}; the smallest history is in ${file}:`,
    ...broken,
    ...log,
    whole,
  ].join("\n");
}
