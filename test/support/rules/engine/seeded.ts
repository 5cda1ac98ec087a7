/** A number from 0 to 1 that depends on the seed and the purpose, but not on the time. */
export function chance(seed: number, purpose: string): number {
  let hash = 2166136261 ^ seed;
  for (const char of purpose) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619);
  hash = Math.imul(hash ^ (hash >>> 15), 2246822507);
  hash = Math.imul(hash ^ (hash >>> 13), 3266489909);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => (ms > 0 ? setTimeout(resolve, ms) : resolve()));

/** Limits concurrency, in order of arrival. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;
  constructor(free: number) {
    this.#free = free;
  }
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
