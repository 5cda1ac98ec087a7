/**
 * Decides when something counts as gone, and how long a list may lag. The only code that interprets a 404
 * (docs/design/rules.md, 3).
 */
import { FateUnknownError, NotFoundError, SvcError } from "../http/errors";
import { isGoneStatus } from "../http/responses";

/**
 * The service lacks this route, provided that the project exists. A 404 without the error body says nothing about
 * routes.
 */
export const isRouteMissing = (error: unknown): error is SvcError =>
  error instanceof NotFoundError || (error instanceof SvcError && error.status === 405);

/** An observation that is believed once every poll has repeated it for as long as lists may lag. */
export class SteadyObservation {
  #since: number | undefined;

  constructor(private readonly lagMs: number) {}

  /** Records what a read at this time (performance.now) showed; true once it is believed. */
  observe(holds: boolean, observedAt: number): boolean {
    this.#since = holds ? (this.#since ?? observedAt) : undefined;
    return this.#since !== undefined && observedAt > this.#since && observedAt - this.#since >= this.lagMs;
  }
}

/** What a person can do if the service answers 404 for a whole project, as it does for the key of another account. */
export const hiddenProjectAdvice = (projectId: string): string =>
  `Use the key of the account that project ${projectId} belongs to. If the project itself was deleted, run \`SVC_GONE_PROJECT=${projectId} pulumi refresh\`, which takes what was in it out of the stack, and remove it from the program`;

/** The same if it shows the project, but not the whole list. */
export const hiddenListAdvice =
  "Run this again. If it stays like this, the service has to be repaired first: its support can help";

/** Undefined if the service answers 404: for whoever only looks at what is there, and decides nothing about it. */
export async function undefinedIfNotShown<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/**
 * A change whose fate is unknown, a good status whose body is not the route's, or a 404 without the error body of the
 * service.
 */
export const isInconclusive = (error: unknown): error is SvcError => {
  if (error instanceof FateUnknownError) return true;
  if (!(error instanceof SvcError)) return false;
  const { status = 0 } = error;
  return (status >= 200 && status < 300) || isGoneStatus(status);
};
