import type { Deadline } from "../client";

/** Time for the lifecycle's own words about its deadline to come out first. */
const GRACE_MS = 15_000;

/**
 * The last resort: a call that is over its deadline and still has not ended is given up, so that no defect can hang the
 * engine (which waits for a call for ever, also after Ctrl-C).
 */
export function withDeadline<Result>(deadline: Deadline, work: () => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const unsubscribe = deadline.onExpire(() => {
      timer = setTimeout(
        () =>
          reject(
            new Error(`no end after ${Math.round((deadline.totalMs + GRACE_MS) / 1000)} s; the call was given up`),
          ),
        GRACE_MS,
      );
    });
    Promise.resolve()
      .then(work)
      .then(resolve, reject)
      .finally(() => {
        unsubscribe();
        clearTimeout(timer);
      });
  });
}
