import { setTimeout as sleep } from "node:timers/promises";
import lockfile from "proper-lockfile";
import { SetupError } from "../lib/errors.mjs";
import { interrupted } from "../lib/interrupt.mts";
import { say, stopwatch } from "../lib/log.mjs";

/** Runs `work` while no other process does. A lock that its holder has not refreshed for a minute counts as left behind. */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  { pollMs = 1_000, giveUpMs = 30 * 60_000 } = {},
): Promise<T> {
  const elapsed = stopwatch();
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const unlock = await tryLock(path);
    if (unlock) return await work().finally(unlock);
    if (waitedMs >= giveUpMs) {
      throw new SetupError(`the lock ${path} is still held after ${elapsed()}`, "If nothing is running, delete it.");
    }
    if (waitedMs % 20_000 === 0) say(`   another clone holds the lock ${path}; waiting, ${elapsed()} so far`);
    await sleep(pollMs, undefined, { signal: interrupted });
  }
}

async function tryLock(path: string): Promise<(() => Promise<void>) | undefined> {
  try {
    return await lockfile.lock(path, { lockfilePath: path, realpath: false, stale: 60_000 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ELOCKED") return undefined; // proper-lockfile's errors are Node's
    throw error;
  }
}
