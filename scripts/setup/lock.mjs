import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SetupError } from "../lib/errors.mjs";
import { onInterrupt } from "../lib/interrupt.mjs";
import { say, stopwatch } from "../lib/log.mjs";

/** A holder refreshes its lock every few seconds; one this old was left behind, whatever its pid says. */
const ABANDONED_AFTER_MS = 120_000;
const REFRESH_MS = 10_000;

/**
 * Runs `work` while no other process of this user does. The lock is a folder (making one is atomic) that names its holder.
 * @template T
 * @param {string} folder
 * @param {() => Promise<T>} work
 * @param {{ pollMs?: number, sayEveryMs?: number, giveUpMs?: number }} [options]
 * @returns {Promise<T>}
 */
export async function withLock(folder, work, { pollMs = 1_000, sayEveryMs = 20_000, giveUpMs = 30 * 60_000 } = {}) {
  mkdirSync(dirname(folder), { recursive: true });
  const elapsed = stopwatch();
  const started = Date.now();
  let nextWord = started;
  while (!tryLock(folder)) {
    if (isAbandoned(folder)) {
      removeAbandoned(folder);
      continue;
    }
    if (Date.now() - started > giveUpMs) {
      throw new SetupError(`the lock ${folder} is still held after ${elapsed()}`, "If nothing is running, delete it.");
    }
    if (Date.now() >= nextWord) {
      say(`   another clone is at it (process ${readOwner(folder)?.pid ?? "unknown"}); waiting, ${elapsed()} so far`);
      nextWord = Date.now() + sayEveryMs;
    }
    await sleep(pollMs);
  }
  const refresh = setInterval(() => touch(folder), REFRESH_MS);
  const unlock = () => {
    clearInterval(refresh);
    rmSync(folder, { recursive: true, force: true });
  };
  const forget = onInterrupt(unlock);
  try {
    return await work();
  } finally {
    forget();
    unlock();
  }
}

/** @param {string} folder */
function tryLock(folder) {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "EEXIST") return false;
    throw error;
  }
  writeFileSync(join(folder, "owner.json"), JSON.stringify({ pid: process.pid, host: hostname() }));
  return true;
}

/**
 * True when the holder is a process of this machine that has ended, or nobody has refreshed the lock for long.
 * @param {string} folder
 */
function isAbandoned(folder) {
  let age;
  try {
    age = Date.now() - statSync(folder).mtimeMs;
  } catch {
    return false; // released in this moment
  }
  if (age > ABANDONED_AFTER_MS) return true;
  const owner = readOwner(folder);
  return owner !== undefined && owner.host === hostname() && !isRunning(owner.pid);
}

/**
 * Moves the lock out of the way before it is deleted, so that of two waiters only one removes it.
 * @param {string} folder
 */
function removeAbandoned(folder) {
  const aside = `${folder}.${process.pid}`;
  try {
    renameSync(folder, aside);
  } catch {
    return; // another waiter was faster
  }
  if (!isAbandoned(aside)) {
    // Between the look and the rename somebody else made it theirs: give it back.
    try {
      renameSync(aside, folder);
    } catch {
      // A third one has taken the place: its lock stands, and the work that two do at once is put in place in one step.
      rmSync(aside, { recursive: true, force: true });
    }
    return;
  }
  rmSync(aside, { recursive: true, force: true });
}

/**
 * @param {string} folder
 * @returns {{ pid: number, host: string } | undefined}
 */
function readOwner(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, "owner.json"), "utf8"));
  } catch {
    return undefined; // just made, or just released
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/** @param {string} folder */
function touch(folder) {
  const now = new Date();
  try {
    utimesSync(folder, now, now);
  } catch {
    // Taken away from us: the work is put in place by a rename, so the worst is that it was done twice.
  }
}
