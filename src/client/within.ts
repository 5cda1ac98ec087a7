import { type Deadline, LONGEST_TIMER_MS } from "./deadline";

/** The timer is ref'd on purpose: somebody awaits it. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS)));
}

/** The promise, or the error of `onLate` once the deadline has passed. What the promise stands for goes on. */
export function within<T>(
  deadline: Deadline | undefined,
  promise: Promise<T>,
  onLate: (deadline: Deadline) => Error,
): Promise<T> {
  if (deadline === undefined) return promise;
  return new Promise((resolve, reject) => {
    const unsubscribe = deadline.onExpire(() => reject(onLate(deadline)));
    promise.then(resolve, reject).finally(unsubscribe);
  });
}
