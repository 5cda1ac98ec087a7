/** The result of one check. */
export interface Check {
  readonly name: string;
  /** A warning alone leaves the exit code at 0. */
  readonly status: "ok" | "warning" | "failure" | "skipped";
  readonly message: string;
  /** What to do about a warning or a failure. */
  readonly remedy?: string;
}

export const ok = (name: string, message: string): Check => ({ name, status: "ok", message });
export const skipped = (name: string, message: string): Check => ({ name, status: "skipped", message });
export const warning = (name: string, message: string, remedy: string): Check => ({
  name,
  status: "warning",
  message,
  remedy,
});
export const failure = (name: string, message: string, remedy: string): Check => ({
  name,
  status: "failure",
  message,
  remedy,
});
