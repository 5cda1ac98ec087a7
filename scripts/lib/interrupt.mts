import { say } from "./log.mjs";

const controller = new AbortController();
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * Aborted by Ctrl-C, TERM and a closed terminal; the reason is the exit code. What runs is ended then (exec.mts), and the
 * code that waits for it cleans up in its `finally`.
 */
export const interrupted = controller.signal;

export function watchInterrupts(): void {
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.on(signal, () => {
      if (interrupted.aborted) process.exit(code);
      say(`\n${signal}: cleaning up (once more to leave at once)`);
      controller.abort(code);
    });
  }
}
