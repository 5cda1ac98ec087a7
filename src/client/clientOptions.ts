/** One account at one service: an address and a key that have passed the settings' checks. */
export interface ClientOptions {
  /** The versioned API root, without a trailing slash. */
  baseUrl: string;
  /** Secret. */
  apiKey: string;
  /** The current key, or undefined: called when the service has refused the one that was sent. Must not throw. */
  renewKey?: (() => string | undefined) | undefined;
  /** Receives a line for each attempt, without values of path or body, headers or secrets. */
  trace?: ((line: string) => void) | undefined;
  /** Receives each attempt that the service answered, with its bodies: they may hold secrets, so nobody prints them. */
  observe?: ((exchange: ObservedExchange) => void) | undefined;
  /** How long one attempt of a read may take. @default 10_000 */
  attemptTimeoutMs?: number | undefined;
  /** How long one attempt of a change may take. @default attemptTimeoutMs if given, else 60_000 */
  mutationAttemptTimeoutMs?: number | undefined;
  /** How long a read may take in total. @default 30_000 */
  readDeadlineMs?: number | undefined;
  /** How long a read may wait in addition because of a 429 or 423. @default 150_000 */
  throttledMs?: number | undefined;
  /** How long lists may lag behind a change. @default 3_000 */
  lagMs?: number | undefined;
  /** The longest pause between two polls of a wait. @default 2_000 */
  pollCeilingMs?: number | undefined;
  /** The longest delay of the first retry. @default 250 */
  baseDelayMs?: number | undefined;
  /** The length of the request budget's minute. @default 60_000 */
  minuteMs?: number | undefined;
}

/** One attempt and its response, as they were on the wire. Times are those of performance.now. */
export interface ObservedExchange {
  readonly method: string;
  /** The path template, such as `/projects/{project_id}/endpoints`. */
  readonly template: string;
  /** The path as sent. */
  readonly path: string;
  /** As sent. May hold secrets. */
  readonly sent: unknown;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  /** The body of the response. May hold secrets. */
  readonly text: string;
}

/** With all defaults filled in. */
export type ClientTimings = {
  [Name in Exclude<keyof ClientOptions, "baseUrl" | "apiKey" | "renewKey" | "trace" | "observe">]-?: Exclude<
    ClientOptions[Name],
    undefined
  >;
};
