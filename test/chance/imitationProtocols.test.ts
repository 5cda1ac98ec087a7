import fc from "fast-check";
import { differencesOfProtocols, figures } from "./protocols";
import { histories } from "./histories";
import { FIXED_SEED, MINUTES, SEED } from "./search";

const FEW = 100;

test(
  "a history comes to the same through each protocol",
  async () => {
    const end = Date.now() + (MINUTES ?? 0) * 60_000;
    const first = MINUTES === undefined ? FIXED_SEED : SEED;
    for (let seed = first; MINUTES === undefined ? seed < first + FEW : Date.now() < end; seed += 1) {
      const [history] = fc.sample(histories({ real: false }), { seed, numRuns: 1 });
      if (history === undefined) throw new Error("nothing was drawn");
      const found = await differencesOfProtocols(history);
      if (found.length > 0) throw new Error([`seed ${seed}`, ...found, JSON.stringify(history)].join("\n"));
    }
    process.stdout.write(`imitation, protocols: ${figures.commands} commands compared, from seed ${first}.\n`);
  },
  ((MINUTES ?? 0) + 5) * 60_000,
);
