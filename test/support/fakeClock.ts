/** A clock that only the tests of this file move; `random` is what every jitter takes then. Call it at the top of the file. */
export function fakeClock({ startsAtMs = 0, random }: { startsAtMs?: number; random?: number } = {}): void {
  beforeEach(() => {
    jest.useFakeTimers();
    jest.advanceTimersByTime(startsAtMs);
    if (random !== undefined) jest.spyOn(Math, "random").mockReturnValue(random);
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });
}

/** Lets time pass, with all that follows from it. */
export const pass = async (ms = 0): Promise<void> => jest.advanceTimersByTimeAsync(ms);
