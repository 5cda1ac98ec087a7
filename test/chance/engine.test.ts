import { startEngine } from "./engine";
import { MINUTES, search } from "./search";

/** A history of the real engine takes some twenty seconds. */
const LONGEST_MS = ((MINUTES ?? 0) + 15) * 60_000;

test(
  "histories of the real engine break nothing",
  () => search({ engine: "engine", start: () => startEngine(), runs: 6, lanes: 1, attempts: 40 }).then(() => undefined),
  LONGEST_MS,
);
