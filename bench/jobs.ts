import { runJobs } from "../test/support/manyJobs";
import { type Figure, Figures } from "./report";

const JOBS = 8;
const CREATIONS = 5;

const share = (used: number, all: number): number => (all === 0 ? 0 : (100 * used) / all);

/**
 * Eight jobs that share an account, each a provider process that creates five computes in a project of its own, under
 * limits of the account; and the same with a configured share, where the least one (10) fits about. A run takes as long
 * as its limit: eight minutes with 15 requests a minute.
 */
export async function jobFigures(limits: readonly number[], rounds: number): Promise<readonly Figure[]> {
  const all: Figure[] = [];
  for (const perMinute of limits) {
    const part = Math.max(10, Math.floor(perMinute / JOBS));
    const shares = part * JOBS > 1.5 * perMinute ? [undefined] : [undefined, part];
    for (let round = 0; round < rounds; round += 1)
      for (const noRetryAfter of [false, true])
        for (const maxRequests of shares) all.push(...(await oneRun({ perMinute, noRetryAfter, maxRequests })));
  }
  return all;
}

interface Limited {
  readonly perMinute: number;
  readonly noRetryAfter: boolean;
  /** The configured share of each job. */
  readonly maxRequests: number | undefined;
}

async function oneRun({ perMinute, noRetryAfter, maxRequests }: Limited): Promise<readonly Figure[]> {
  const told = `${noRetryAfter ? "without" : "with"} Retry-After`;
  const how = maxRequests === undefined ? "" : `, with a share of ${maxRequests}`;
  const figures = new Figures(`${JOBS} jobs of ${CREATIONS} creations, ${perMinute} requests a minute, ${told}${how}`);
  const { seconds, accepted, refused, acceptedLater, refusedLater, failures } = await runJobs({
    jobs: JOBS,
    creations: CREATIONS,
    emulator: { ratePerMinute: perMinute, variants: { noRetryAfter } },
    ...(maxRequests !== undefined && { config: { "svc:maxRequestsPerMinute": String(maxRequests) } }),
  });
  const goal = (most: number): number | undefined => (maxRequests === undefined ? most : undefined);
  if (failures.length > 0) console.log(failures[0]);
  figures.add("creations that failed", failures.length, 0, 0);
  // Spread evenly. Processes that start together need some 10 s, whatever the limit.
  const limit = Math.max(15, (60 * accepted) / perMinute);
  figures.add("until the last job has ended, s", seconds, goal(Math.round(1.3 * limit)), 0);
  figures.add("requests that got through", accepted, undefined, 0);
  figures.add("refused, %", share(refused, accepted + refused), goal(perMinute < 60 ? 35 : 10), 0);
  const later = share(refusedLater, acceptedLater + refusedLater);
  figures.add("refused from a minute after the first refusal on, %", later, goal(perMinute < 60 ? 15 : 10), 0);
  return figures.all;
}
