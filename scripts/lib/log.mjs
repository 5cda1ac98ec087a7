/** All output of the scripts goes to standard output: what runs beside them writes there too. @param {string} text */
export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** The text as the output of a command under its headline. @param {string} text */
export function indented(text) {
  return text.replace(/^(?=.)/gm, "   | ");
}

/** Tells the time since the call, such as "0.4 s" or "4 min 5 s". */
export function stopwatch() {
  const start = Date.now();
  return () => {
    const seconds = (Date.now() - start) / 1000;
    if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
    const whole = Math.round(seconds);
    return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
  };
}

/**
 * Says every 20 seconds that something long is still running.
 * @template T
 * @param {string} what
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withProgress(what, work) {
  const elapsed = stopwatch();
  const timer = setInterval(() => say(`   ${what}: still running, ${elapsed()}`), 20_000);
  return await work.finally(() => clearInterval(timer));
}
