/**
 * The short form of `npm run bench -- --cases jobs`: real processes and a real service, with the limit of a second, so
 * that it ends soon. What they learn of a minute's limit: test/client/http/manyJobs.test.ts.
 */
import { runJobs } from "../../support/manyJobs";

test("jobs that share an account and know nothing of each other all end well", async () => {
  const { failures, refused, computes } = await runJobs({
    jobs: 3,
    creations: 5,
    emulator: { ratePerSecond: 3, activationMs: 100 },
  });
  expect(failures).toEqual([]);
  expect(computes).toBe(15);
  expect(refused).toBeGreaterThan(0);
});
