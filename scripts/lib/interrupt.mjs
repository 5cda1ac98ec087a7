import { say } from "./log.mjs";

/** @type {Set<() => unknown>} */
const cleanups = new Set();
/** @type {Record<string, number>} */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
let ending = false;

/**
 * Has `cleanup` called when the run is interrupted (Ctrl-C, TERM, a closed terminal), the newest first.
 * @param {() => unknown} cleanup
 * @returns {() => void} takes it back
 */
export function onInterrupt(cleanup) {
  cleanups.add(cleanup);
  return () => cleanups.delete(cleanup);
}

/** @param {NodeJS.Signals} signal */
async function interrupted(signal) {
  if (ending) process.exit(EXIT_CODES[signal]);
  ending = true;
  say(`\n${signal}: cleaning up (once more to leave at once)`);
  for (const cleanup of [...cleanups].reverse()) {
    try {
      await cleanup();
    } catch {
      // The other cleanups still have to run.
    }
  }
  process.exit(EXIT_CODES[signal]);
}

/** Called once, by run.mjs. */
export function watchInterrupts() {
  for (const signal of /** @type {NodeJS.Signals[]} */ (Object.keys(EXIT_CODES))) {
    process.on(signal, () => void interrupted(signal));
  }
}

/** True from the first signal on: what fails now fails because it was ended. */
export function isInterrupted() {
  return ending;
}
