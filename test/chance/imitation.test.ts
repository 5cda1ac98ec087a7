import { startImitated } from "./imitated";
import { MINUTES, ofHistories, search } from "./search";

const LONGEST_MS = ((MINUTES ?? 0) + 5) * 60_000;

test(
  "histories of the imitation break nothing",
  () =>
    search({
      ...ofHistories("imitation", startImitated),
      runs: 250,
      lanes: 1,
      attempts: 300,
    }),
  LONGEST_MS,
);
