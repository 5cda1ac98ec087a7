/** The result of one check. */
export interface Check {
  readonly name: string;
  /** Warnings leave the exit code at 0. */
  readonly status: "ok" | "warning" | "failure" | "skipped";
  readonly message: string;
  /** How to resolve a warning or a failure. For a successful check: a hint at a better way. */
  readonly remedy?: string;
}

export const ok = (name: string, message: string, hint?: string): Check => ({
  name,
  status: "ok",
  message,
  ...(hint !== undefined && { remedy: hint }),
});
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
