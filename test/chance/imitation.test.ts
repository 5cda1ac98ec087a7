import { startImitated } from "./imitated";
import { MINUTES, search } from "./search";

const LONGEST_MS = ((MINUTES ?? 0) + 5) * 60_000;

test(
  "histories of the imitation break nothing",
  () =>
    search({
      engine: "imitation",
      start: startImitated,
      runs: Number(process.env["N"] ?? 100),
      lanes: 1,
      attempts: 300,
    }).then(() => undefined),
  LONGEST_MS,
);
