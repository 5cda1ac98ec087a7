const UNIT_SECONDS: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1, ms: 0.001 };

/**
 * Seconds of a duration as `customTimeouts` has them: `"10m"`, `"1h30m"`, `"2.5s"`.
 * @throws when it is anything else, with what was expected.
 */
export function durationSeconds(text: string): number {
  if (!/^(\d+(\.\d+)?(ms|h|m|s))+$/.test(text)) {
    throw new Error(`customTimeouts: "${text}" is not a duration such as "10m", "1h30m" or "45s"`);
  }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  return parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_SECONDS[unit] ?? 0), 0);
}
