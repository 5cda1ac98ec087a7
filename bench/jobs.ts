import { runJobs } from "../test/support/manyJobs";
import { type Figure, Figures } from "./report";

const JOBS = 8;
const CREATIONS = 5;

const share = (used: number, all: number): number => (all === 0 ? 0 : (100 * used) / all);

/**
 * Eight jobs that share an account, each a provider process that creates five computes in a project of its own, under
 * limits of the account. Each run takes as long as its limit: seven minutes with 15 requests a minute.
 */
export async function jobFigures(limits: readonly number[], rounds: number): Promise<readonly Figure[]> {
  const all: Figure[] = [];
  for (const perMinute of limits)
    for (const noRetryAfter of [false, true])
      for (let round = 0; round < rounds; round += 1) all.push(...(await oneRun(perMinute, noRetryAfter)));
  return all;
}

async function oneRun(perMinute: number, noRetryAfter: boolean): Promise<readonly Figure[]> {
  const told = noRetryAfter ? "without Retry-After" : "with Retry-After";
  const figures = new Figures(`${JOBS} jobs of ${CREATIONS} creations, ${perMinute} requests a minute, ${told}`);
  const run = await runJobs({
    jobs: JOBS,
    creations: CREATIONS,
    emulator: { ratePerMinute: perMinute, variants: { noRetryAfter } },
  });
  const { seconds, accepted, refused, acceptedLater, refusedLater, failures } = run;
  // The first requests of a window may arrive together, and a creation takes 1.5 s.
  const limit = Math.max(10, (60 * accepted) / perMinute);
  if (failures.length > 0) console.log(failures[0]);
  figures.add("creations that failed", failures.length, 0, 0);
  figures.add("until the last job has ended, s", seconds, 1.3 * limit, 0);
  figures.add("requests that got through", accepted, undefined, 0);
  figures.add("refused, %", share(refused, accepted + refused), perMinute < 60 ? 35 : 10, 0);
  const later = share(refusedLater, acceptedLater + refusedLater);
  figures.add("refused from a minute after the first refusal on, %", later, perMinute < 60 ? 15 : 10, 0);
  return figures.all;
}
