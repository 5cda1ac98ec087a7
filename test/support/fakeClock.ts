/** A clock that only this file's tests advance; every jitter uses `random`. Call it at the top of the file. */
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

/** Advances the time, and runs everything due. */
export const pass = async (ms = 0): Promise<void> => jest.advanceTimersByTimeAsync(ms);

/**
 * A clock that nobody moves: as soon as all work waits for a timer it is at the next one. Minutes pass at once, and as on an idle
 * machine. A socket knows no such clock, so a client under it is one `inMemory` (scriptedServer.ts). Call it at the top of the file.
 */
export function skippingClock(): void {
  beforeEach(() => {
    jest.useFakeTimers();
    // The types of jest 30.0 do not include it yet.
    (jest as unknown as { setTimerTickMode(config: { mode: "nextAsync" }): void }).setTimerTickMode({
      mode: "nextAsync",
    });
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });
}
