/** Bounds of what somebody else wrote (a program, a transformation, the service), before it is walked through or shown. */

/** Deeper than anything that is meant. What walks through a value calls itself, and would run out of stack. */
export const DEEPEST = 100;

/** Whether objects and lists are nested beyond so many levels. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const key of Object.keys(value)) if (isDeeperThan(levels - 1, Reflect.get(value, key))) return true;
  return false;
}

/** Where a value holds what matches, at any depth: `password`, `settings.pgSettings.work_mem`. Nothing is looked for within a match. */
export function pathsTo(matches: (value: unknown) => boolean, value: unknown, path = ""): string[] {
  if (matches(value)) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => pathsTo(matches, inner, path === "" ? key : `${path}.${key}`));
}

/**
 * The first character of what a CI runner obeys in the output of a job: `##vso[…]` and `##[…]` anywhere in a line (Azure
 * Pipelines, GitHub Actions, others alike), `::…::` at its beginning (GitHub Actions). Their comparison passes over characters
 * that show nothing (`\p{DI}`), so this does, too.
 */
export const RUNNER_COMMAND = /#(?=\p{DI}*#[\p{DI}\w]*\[)|(?<=^[\s\p{DI}]*):(?=\p{DI}*:)/gmu;

/** Nothing that moves a terminal's cursor, begins a line, turns the direction of reading, or is a command of a CI runner. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").replace(RUNNER_COMMAND, "$& ");
}

/** The message of whatever was thrown. It may quote the service, so it is one line. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error && thrown.message !== "") return oneLine(thrown.message);
  if (typeof thrown === "string" && thrown !== "") return oneLine(thrown);
  return "an unexpected failure without a message";
}

/** For messages: the first names, and how many more there are. */
export function listed(names: readonly string[], most: number): string {
  const more = names.length - most;
  return names.slice(0, most).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
