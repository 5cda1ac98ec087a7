import { FateUnknownError, SvcError } from "./errors";
import { sleep } from "./within";

const PAUSE_MS = 300;

/** Looks into a list, again and again while it may lag, for what a request of unknown fate may have made. */
export async function lookFor<T>(
  look: () => Promise<T | undefined>,
  lookMs: number,
  mayStop = () => true,
): Promise<T | undefined> {
  const began = performance.now();
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS)) {
    const found = await look();
    if (found !== undefined) return found;
    const leftMs = lookMs - (performance.now() - began);
    if (leftMs <= 0 && mayStop()) return undefined;
    await sleep(Math.min(pauseMs, Math.max(leftMs, 10)));
  }
}

/** Sends a request; when its fate is unknown, looks for what it may have made and goes on with that as if it had been answered. */
export async function sendOrFind<T>(
  send: () => Promise<T>,
  find: () => Promise<T | undefined>,
  thing: string,
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof FateUnknownError)) throw error;
    const again = "Run it again: should it turn up, it is reported as already there";
    let found: T | undefined;
    try {
      found = await find();
    } catch (trouble) {
      if (!(trouble instanceof SvcError)) throw trouble;
      throw new FateUnknownError(
        `${error.what}; ${thing} could not be looked for: ${trouble.what}`,
        error.facts,
        again,
      );
    }
    if (found !== undefined) return found;
    throw new FateUnknownError(`${error.what}; ${thing} was looked for and is not there`, error.facts, again);
  }
}
