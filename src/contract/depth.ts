/** Deeper than anything that is meant. What walks through a value calls itself, and would run out of stack. */
export const DEEPEST = 100;

/** Whether objects and lists are nested beyond so many levels. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const key of Object.keys(value)) if (isDeeperThan(levels - 1, Reflect.get(value, key))) return true;
  return false;
}
