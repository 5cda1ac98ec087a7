/** One account at one service: an address and a key that have passed the settings' checks. */
export interface ClientOptions {
  /** The versioned API root, without a slash at its end. */
  baseUrl: string;
  /** Secret. */
  apiKey: string;
  /** The key as it is now, or undefined: asked for when the service has refused the one that was sent. Must not throw. */
  renewKey?: (() => string | undefined) | undefined;
  /** Gets a line for each attempt, without a value of path or body, a header or a secret. */
  trace?: ((line: string) => void) | undefined;
  /** How long one attempt of a read may take. @default 10_000 */
  attemptTimeoutMs?: number | undefined;
  /** How long one attempt of a change may take. @default attemptTimeoutMs where that is given, else 60_000 */
  mutationAttemptTimeoutMs?: number | undefined;
  /** How long a read may take in all. @default 30_000 */
  readDeadlineMs?: number | undefined;
  /** How long a read may wait beside that because of a 429 or 423. @default 120_000 */
  throttledMs?: number | undefined;
  /** How long lists may lag behind a change. @default 3_000 */
  lagMs?: number | undefined;
  /** The longest pause between two polls of a wait. @default 2_000 */
  pollCeilingMs?: number | undefined;
  /** The first retry's longest delay. @default 250 */
  baseDelayMs?: number | undefined;
  /** How long the minute of the request budget is. @default 60_000 */
  minuteMs?: number | undefined;
}

/** With all that is left out filled in. */
export type ClientTimings = {
  [Name in Exclude<keyof ClientOptions, "baseUrl" | "apiKey" | "renewKey" | "trace">]-?: Exclude<
    ClientOptions[Name],
    undefined
  >;
};
