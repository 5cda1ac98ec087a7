/**
 * Marks the error of a mistake in a program: the Pulumi SDK then shows its message alone, without a stack. This is what
 * makes a `pulumi.RunError`, for files that load no SDK, and for errors whose class is documented.
 */
export function shownAlone<Thrown extends Error>(error: Thrown): Thrown {
  return Object.defineProperty(error, "__pulumiRunError", { value: true });
}
