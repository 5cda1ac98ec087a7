/** The imitation of the engine (test/support/rules/program.ts) gives our provider what the engine gives it. */
import fc from "fast-check";
import { differencesOf, figures } from "../chance/against";
import { histories } from "../chance/histories";
import type { History } from "../chance/history";

const { PULUMI_SVC_CHANCE_MINUTES, PULUMI_SVC_CHANCE_SEED } = process.env;
const MINUTES = Number(PULUMI_SVC_CHANCE_MINUTES ?? 0);
const SEED = Number(PULUMI_SVC_CHANCE_SEED ?? 1);
/** In a run of everything. */
const HISTORIES = Number(process.env["N"] ?? 2);

/** Commands of the engine alone, and what a colleague does between them. */
const undisturbed = histories({ real: false }).map((history): History => ({
  ...history,
  steps: history.steps.map((step) => (step.do === "command" ? { do: "command", command: step.command } : step)),
}));

test(
  "in random histories the imitation of the engine makes the engine's calls",
  async () => {
    const end = Date.now() + MINUTES * 60_000;
    const found: string[] = [];
    for (let i = 0; i < HISTORIES || Date.now() < end; i += 1) {
      const [history] = fc.sample(undisturbed, { seed: SEED + i, numRuns: 1 });
      if (history === undefined) throw new Error("nothing was drawn");
      const differences = await differencesOf(history).catch((e: Error) => [`thrown ${e.stack ?? ""}`]);
      process.stderr.write(`seed ${SEED + i}: ${differences.length} ${JSON.stringify(figures)}\n`);
      if (differences.length > 0) process.stderr.write(`${JSON.stringify(history)}\n${differences.join("\n")}\n`);
      found.push(...differences.map((text) => `seed ${SEED + i}, ${text}`));
    }
    expect(found).toEqual([]);
  },
  (MINUTES + 10) * 60_000,
);
