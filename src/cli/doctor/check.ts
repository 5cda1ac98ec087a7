/** What one look has found. */
export interface Check {
  readonly name: string;
  /** A warning alone leaves the exit code at 0. */
  readonly status: "ok" | "warning" | "failure" | "skipped";
  readonly says: string;
  /** What to do about a warning or a failure. */
  readonly remedy?: string;
}

export const ok = (name: string, says: string): Check => ({ name, status: "ok", says });
export const skipped = (name: string, says: string): Check => ({ name, status: "skipped", says });
export const warning = (name: string, says: string, remedy: string): Check => ({
  name,
  status: "warning",
  says,
  remedy,
});
export const failure = (name: string, says: string, remedy: string): Check => ({
  name,
  status: "failure",
  says,
  remedy,
});
