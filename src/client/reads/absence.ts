/**
 * When something counts as gone, and how long a list may lag: the one place that decides on a 404
 * (docs/design/rules.md, 3).
 */
import { type Deadline, sleep, within } from "../http/deadline";
import { BadResponseError, inSeconds, NotFoundError, SvcError, TimeoutError } from "../http/errors";
import type { Kept, Waiting } from "./sharedReads";

export const isGoneStatus = (status: number): boolean => status === 404 || status === 410;

/** The error body of the service: two texts. Something in front of it answers otherwise, such as a number for a code. */
export function isErrorBody(body: unknown): boolean {
  if (typeof body !== "object" || body === null || !("code" in body) || !("message" in body)) return false;
  return typeof body.code === "string" && typeof body.message === "string";
}

/** A route that the service does not have, if what it is of exists. A 404 without the error body says nothing of routes. */
export const isRouteMissing = (error: unknown): error is SvcError =>
  error instanceof NotFoundError || (error instanceof SvcError && error.status === 405);

/** Believed once each look of a loop has shown it for as long as lists may lag. */
export class Lasting {
  #since: number | undefined;

  constructor(private readonly lagMs: number) {}

  /** Takes what a look of this time (performance.now) has shown. */
  see(holds: boolean, lookedAt: number): boolean {
    this.#since = holds ? (this.#since ?? lookedAt) : undefined;
    return this.#since !== undefined && lookedAt > this.#since && lookedAt - this.#since >= this.lagMs;
  }
}

export interface ListOptions extends Waiting {
  /** The list must have been asked for at this time (performance.now) or later. */
  since?: number | undefined;
}

export class Collection<T> {
  constructor(
    private readonly lagMs: number,
    private readonly get: (since: number | undefined) => Kept<readonly T[]>,
  ) {}

  /** Shared with all who ask for it, and kept until a change of ours. */
  async list({ since, ...waiting }: ListOptions = {}): Promise<readonly T[]> {
    return this.get(since).latest.wait(waiting);
  }

  /** What `isIt` names; undefined when it is gone: two good lists without it, a lag apart, with no change of ours between. */
  async find(isIt: (item: T) => boolean, { since, ...waiting }: ListOptions = {}): Promise<T | undefined> {
    const { first, latest } = this.get(since);
    const found = (await latest.wait(waiting)).find(isIt);
    if (found !== undefined) return found;
    const earliest = first.answered?.value.some(isIt) === false ? first : latest;
    if (latest.askedAt - earliest.askedAt >= this.lagMs) return undefined;
    return (await this.settled(waiting, earliest.askedAt)).find(isIt);
  }

  /** A list in which every change of before `from` shows. */
  async settled(waiting: Waiting = {}, from = performance.now()): Promise<readonly T[]> {
    const since = from + this.lagMs;
    const late = ({ totalMs }: Deadline): Error =>
      new TimeoutError(`lists can lag, and there was no second one within ${inSeconds(totalMs)}`);
    // A timer may fire a moment early, and the list is to be shared by all who wait for it.
    await within(waiting.deadline, sleep(Math.ceil(since - performance.now()) + 1), late);
    return this.list({ ...waiting, since });
  }

  /** Looks until `see` gives something, for as long as a list may lag. */
  async lookFor<R>(see: (items: readonly T[]) => R | undefined, waiting: Waiting = {}): Promise<R | undefined> {
    const began = performance.now();
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 300)) {
      const since = performance.now();
      const seen = see(await this.list({ ...waiting, since }));
      if (seen !== undefined || since - began >= this.lagMs) return seen;
      await sleep(Math.min(pauseMs, began + this.lagMs - performance.now()));
    }
  }

  /**
   * Deletes what `isIt` names. What the service says is gone is deleted (undefined), also with what it lives in; what it
   * accepted without a word has to show; an answer that leaves it open is settled by a list of a lag later.
   * `thing`: for messages. `isEnough`: whether an accepted deletion needs no look.
   * @throws the trouble where it still stands.
   */
  async without<R extends { readonly value?: unknown }>(
    isIt: (item: T) => boolean,
    thing: string | (() => string),
    send: () => Promise<R>,
    waiting: Waiting,
    isEnough = ({ value }: R): boolean => value !== undefined,
  ): Promise<R | undefined> {
    const still = (): string => `${typeof thing === "string" ? thing : thing()} is still listed`;
    const lacks = (items: readonly T[]): true | undefined => (items.some(isIt) ? undefined : true);
    try {
      const accepted = await send();
      if (isEnough(accepted) || (await this.lookFor(lacks, waiting))) return accepted;
      throw new BadResponseError(`the deletion was accepted, but ${still()}`);
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      if (!(error instanceof SvcError) || !leavesOpen(error)) throw error;
      const settled = await orGone(() => this.settled(waiting));
      if (settled === undefined || lacks(settled)) return undefined;
      throw new BadResponseError(`${error.what}; ${still()}`, error.facts);
    }
  }
}

/** Undefined where the service says that it is gone, maybe with what it lives in. */
export async function orGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** A good status whose body is not the route's, or a 404 without the error body of the service. */
const leavesOpen = ({ status = 0 }: SvcError): boolean => (status >= 200 && status < 300) || isGoneStatus(status);
