import fc from "fast-check";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { histories } from "./histories";
import type { History } from "./history";
import { play, type Played } from "./play";
import type { Player } from "./player";

/**
 * How long to look, and from where. A seed repeats the histories of a lane; what depends on time may end otherwise.
 * `npm run test:chance -- --seed S --minutes M` sets the variables.
 */
const { PULUMI_SVC_CHANCE_SEED, PULUMI_SVC_CHANCE_MINUTES } = process.env;
export const MINUTES = PULUMI_SVC_CHANCE_MINUTES === undefined ? undefined : Number(PULUMI_SVC_CHANCE_MINUTES);
const FIXED_SEED = 1;
/** Printed. */
const SEED = Number(PULUMI_SVC_CHANCE_SEED ?? (MINUTES === undefined ? FIXED_SEED : Date.now() % 1e6));
/** Cases that were found; a file that is kept there runs with all tests. */
const FOUND = join(__dirname, "found");

export type Engine = "imitation" | "engine";

export interface Search {
  readonly engine: Engine;
  readonly start: () => Promise<Player>;
  /** Histories in all, where no time is set. */
  readonly runs: number;
  /** At once: most of the time is waiting. */
  readonly lanes: number;
  /** Attempts to make a failing history smaller. */
  readonly attempts: number;
}

interface Figures {
  histories: number;
  healed: number;
}

/** Plays histories until one breaks an oracle, in each lane, and writes it as a test file. Throws with what was found. */
export async function search({ engine, start, runs, lanes, attempts }: Search): Promise<Figures> {
  const figures: Figures = { histories: 0, healed: 0 };
  const ends = await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const seed = SEED + lane * 1_000_000;
      let failing: { history: History; played: Played } | undefined;
      let left = attempts;
      const property = fc.asyncProperty(histories({ real: engine === "engine" }), async (history) => {
        // Enough was tried: the smallest one so far is taken.
        if (failing !== undefined && left-- <= 0) return;
        if (process.env["DBG"]) process.stderr.write(JSON.stringify(history).slice(0, 300) + "\n");
        const t0 = performance.now();
        const played = await playOn(start, history);
        if (process.env["DBG"])
          process.stderr.write(`${Math.round(performance.now() - t0)} ms ${played.broken.length} ${played.isHealed}\n`);
        figures.histories += 1;
        if (played.isHealed) figures.healed += 1;
        if (played.broken.length === 0) return;
        failing = { history, played };
        throw new Error(played.broken.join("\n"));
      });
      const limit =
        MINUTES === undefined
          ? { numRuns: Math.ceil(runs / lanes) }
          : { numRuns: 1e6, interruptAfterTimeLimit: MINUTES * 60_000 };
      const { errorInstance } = await fc.check(property, { seed, ...limit });
      if (errorInstance !== null && failing === undefined) throw errorInstance;
      return failing === undefined ? [] : [told(engine, seed, failing.history, failing.played)];
    }),
  );
  process.stdout.write(
    `${engine}: ${figures.histories} histories from seed ${SEED}, ${figures.healed} to their end.\n`,
  );
  const found = ends.flat();
  if (found.length > 0) throw new Error(found.join("\n\n"));
  return figures;
}

async function playOn(start: () => Promise<Player>, history: History): Promise<Played> {
  const player = await start();
  try {
    return await play(player, history);
  } catch (error) {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { broken: [`it cannot be played: ${what}`], log: [], isHealed: false };
  } finally {
    await player.close();
  }
}

/** A test file of a found case. Runs it alone. */
export async function expectToHold(start: () => Promise<Player>, history: History): Promise<void> {
  const { broken, log } = await playOn(start, history);
  if (broken.length > 0) throw new Error([...broken, ...log].join("\n"));
}

/** Writes the case, and says where and what. */
function told(engine: Engine, seed: number, history: History, { broken, log }: Played): string {
  mkdirSync(FOUND, { recursive: true });
  const file = join(FOUND, `${engine}-${seed}.test.ts`);
  const [module, start] = engine === "engine" ? ["engine", "startEngine"] : ["imitated", "startImitated"];
  const text = `import type { History } from "../history";
import { ${start} } from "../${module}";
import { expectToHold } from "../search";

const HISTORY: History = ${JSON.stringify(history, undefined, 2)};

test(${JSON.stringify(broken[0] ?? "")}, () => expectToHold(${start}, HISTORY));
`;
  writeFileSync(file, text);
  // A log that outlives the file has it, too.
  const whole = JSON.stringify(history);
  return [`${engine}, seed ${seed}; the smallest history is in ${file}:`, ...broken, ...log, whole].join("\n");
}
