/** Limits on values from outside (a program, a transformation, the service), before they are traversed or shown. */

/** Deeper than any real value. Traversal is recursive and would overflow the stack. */
export const DEEPEST = 100;

/** Whether objects and lists are nested deeper than `levels`. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const key of Object.keys(value)) if (isDeeperThan(levels - 1, Reflect.get(value, key))) return true;
  return false;
}

/**
 * The paths of matching values, at any depth: `password`, `settings.pgSettings.work_mem`. A match is not searched
 * further.
 */
export function pathsTo(matches: (value: unknown) => boolean, value: unknown, path = ""): string[] {
  if (matches(value)) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => pathsTo(matches, inner, path === "" ? key : `${path}.${key}`));
}

/**
 * The first character of a command that a CI runner obeys in a job's output: `##vso[…]` and `##[…]` anywhere in a line
 * (Azure Pipelines, GitHub Actions, and others), `::…::` at its beginning (GitHub Actions). Runners ignore invisible
 * characters (`\p{DI}`) when they compare, so this does too.
 */
export const RUNNER_COMMAND = /#(?=\p{DI}*#[\p{DI}\w]*\[)|(?<=^[\s\p{DI}]*):(?=\p{DI}*:)/gmu;

/**
 * Removes what moves a terminal's cursor, begins a line, changes the reading direction, is no character (half of a
 * surrogate pair), or is a command of a CI runner.
 */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu, " ").replace(RUNNER_COMMAND, "$& ");
}

/** The message of anything thrown, on one line. It may quote the service. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error && thrown.message !== "") return oneLine(thrown.message);
  if (typeof thrown === "string" && thrown !== "") return oneLine(thrown);
  return "an unexpected failure without a message";
}

/** The first names, and how many more there are, for messages. */
export function listed(names: readonly string[], most: number): string {
  const more = names.length - most;
  return names.slice(0, most).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
