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

/** `AbortSignal.timeout` on the faked clock: its timer is Node's own. Returns what ends that. */
export function fakeAbortTimeout(): () => void {
  const timeout = jest.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), ms);
    return abort.signal;
  });
  return () => timeout.mockRestore();
}

/** Advances the time, and runs everything due. */
export const pass = async (ms = 0): Promise<void> => jest.advanceTimersByTimeAsync(ms);

/**
 * A clock that advances by itself: as soon as all work waits for a timer, it moves to the next one. Minutes pass at
 * once, as on an idle machine. Sockets do not use it, so a client must be `inMemory` (scriptedServer.ts). Call it at
 * the top of the file.
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
