/** All output of the scripts goes through here, to standard output: what runs beside them writes there too. */

/** @param {string} text */
export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** @param {string} text */
export function headline(text) {
  say(`\n== ${text}`);
}

/**
 * The text with every line moved in, as the output of a command under its headline.
 * @param {string} text
 */
export function indented(text) {
  return text.replace(/^(?=.)/gm, "   | ");
}

/**
 * @param {number} ms
 * @returns {string} such as "0.4 s", "12 s", "4 min 5 s"
 */
function duration(ms) {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** @returns {() => string} tells the time since the call */
export function stopwatch() {
  const start = Date.now();
  return () => duration(Date.now() - start);
}

/**
 * Says every `everyMs` that something long still runs.
 * @param {(elapsed: string) => string} text
 * @param {{ everyMs?: number, onTick?: () => void }} [options]
 * @returns {() => void} ends it
 */
export function progress(text, { everyMs = 20_000, onTick } = {}) {
  const elapsed = stopwatch();
  const timer = setInterval(() => {
    onTick?.();
    say(`   ${text(elapsed())}`);
  }, everyMs);
  return () => clearInterval(timer);
}
