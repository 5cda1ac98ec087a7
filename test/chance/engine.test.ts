import fc from "fast-check";
import { startEngine } from "./engine";
import { histories } from "./histories";
import { MINUTES, ofHistories, playPair, search } from "./search";

/** Beside the time that is set: what has begun ends, and the last case is made smaller. */
const LONGEST_MS = ((MINUTES ?? 0) + 15) * 60_000;

test(
  "histories of the real engine break nothing",
  () =>
    search({ ...ofHistories("engine", (history) => startEngine(undefined, history)), runs: 4, lanes: 2, attempts: 40 }),
  LONGEST_MS,
);

const drawn = histories({ real: true });

test(
  "two stacks at once do to each other what the rules allow",
  () =>
    search({
      ...{ engine: "engine", name: "pairs", cases: fc.tuple(drawn, drawn), runs: 1, lanes: 1, attempts: 10 },
      play: (pair) => playPair(startEngine, pair),
      asTest: "expectPairToHold(startEngine, CASE)",
    }),
  LONGEST_MS,
);
