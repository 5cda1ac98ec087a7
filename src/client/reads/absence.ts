/**
 * When something counts as gone, and how long a list may lag: the one place that decides on a 404
 * (docs/design/rules.md, 3).
 */
import { type Deadline, sleep, withDeadline } from "../http/deadline";
import { BadResponseError, inSeconds, NotFoundError, SvcError, TimeoutError } from "../http/errors";
import type { ChangeResponse } from "../http/requests";
import { isGoneStatus } from "../http/responses";
import type { CachedReads, WaitOptions } from "./sharedReads";

/** The service lacks this route, provided that the project exists. A 404 without the error body says nothing about routes. */
export const isRouteMissing = (error: unknown): error is SvcError =>
  error instanceof NotFoundError || (error instanceof SvcError && error.status === 405);

/** An observation that is believed once every poll has repeated it for as long as lists may lag. */
export class SteadyObservation {
  #since: number | undefined;

  constructor(private readonly lagMs: number) {}

  /** Records what a read of this time (performance.now) has shown; true once it is believed. */
  observe(holds: boolean, observedAt: number): boolean {
    this.#since = holds ? (this.#since ?? observedAt) : undefined;
    return this.#since !== undefined && observedAt > this.#since && observedAt - this.#since >= this.lagMs;
  }
}

export interface ListOptions extends WaitOptions {
  /** The read must have started at this time (performance.now) or later. */
  since?: number | undefined;
}

interface Deletion<T, Body> {
  readonly matches: (item: T) => boolean;
  /** For messages. */
  readonly thing: string | (() => string);
  /** Whether an accepted deletion is believed without a list. @default where its response has a body */
  readonly needsNoList?: (response: ChangeResponse<Body>) => boolean;
}

export class Collection<T> {
  constructor(
    private readonly lagMs: number,
    private readonly readsSince: (since: number | undefined) => CachedReads<readonly T[]>,
  ) {}

  /** Shared by all callers, and cached until a change of ours. */
  async list({ since, ...options }: ListOptions = {}): Promise<readonly T[]> {
    return this.readsSince(since).latest.wait(options);
  }

  /** The matching item; undefined when it is gone: two good lists lack it, a lag apart, with no change of ours between. */
  async find(matches: (item: T) => boolean, { since, ...options }: ListOptions = {}): Promise<T | undefined> {
    const { first, latest } = this.readsSince(since);
    const found = (await latest.wait(options)).find(matches);
    if (found !== undefined) return found;
    const earliest = first.loaded?.value.some(matches) === false ? first : latest;
    if (latest.startedAt - earliest.startedAt >= this.lagMs) return undefined;
    return (await this.listAfterLag(options, earliest.startedAt)).find(matches);
  }

  /** A list that shows every change from before `from`. */
  async listAfterLag(options: WaitOptions = {}, from = performance.now()): Promise<readonly T[]> {
    const since = from + this.lagMs;
    const late = ({ totalMs }: Deadline): Error =>
      new TimeoutError(`lists can be out of date, and a second one could not be read within ${inSeconds(totalMs)}`);
    // A timer may fire a moment early, and the list is to be shared by all who wait for it.
    await withDeadline(options.deadline, sleep(Math.ceil(since - performance.now()) + 1), late);
    return this.list({ ...options, since });
  }

  /** Polls until `select` returns something, for as long as a list may lag. */
  async pollWithinLag<R>(
    select: (items: readonly T[]) => R | undefined,
    options: WaitOptions = {},
  ): Promise<R | undefined> {
    const began = performance.now();
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 300)) {
      const since = performance.now();
      const selected = select(await this.list({ ...options, since }));
      if (selected !== undefined || since - began >= this.lagMs) return selected;
      await sleep(Math.min(pauseMs, began + this.lagMs - performance.now()));
    }
  }

  /**
   * What proves that the matching item is deleted. A 404 of the service means deleted (undefined), also when its container is
   * gone. An empty response has to be confirmed by a list within the lag; an inconclusive one by a list after the lag.
   * @throws BadResponseError when it is still listed.
   */
  deletion<Body>(
    { matches, thing, needsNoList = ({ value }) => value !== undefined }: Deletion<T, Body>,
    options: WaitOptions,
  ) {
    const still = (): string => `${typeof thing === "string" ? thing : thing()} is still listed`;
    const lacks = (items: readonly T[]): true | undefined => (items.some(matches) ? undefined : true);
    return {
      accepted: async (response: ChangeResponse<Body>): Promise<ChangeResponse<Body> | undefined> => {
        if (needsNoList(response) || (await this.pollWithinLag(lacks, options))) return response;
        throw new BadResponseError(`the deletion was accepted, but ${still()}`);
      },
      failed: async (error: unknown): Promise<undefined> => {
        if (error instanceof NotFoundError) return undefined;
        if (!(error instanceof SvcError) || !isInconclusive(error)) throw error;
        const listed = await undefinedIfGone(() => this.listAfterLag(options));
        if (listed === undefined || lacks(listed)) return undefined;
        throw new BadResponseError(`${error.what}; ${still()}`, error.facts);
      },
    };
  }
}

/** Undefined where the service answers 404: it is gone, maybe with its container. */
export async function undefinedIfGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** A good status whose body is not the route's, or a 404 without the error body of the service. */
const isInconclusive = ({ status = 0 }: SvcError): boolean => (status >= 200 && status < 300) || isGoneStatus(status);
