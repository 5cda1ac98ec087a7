const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
];

/** `, made 3 minutes ago` from an ISO 8601 timestamp; nothing where there is none. */
export function madeAgo(createdAt: string | undefined, now = Date.now()): string {
  const made = createdAt === undefined ? Number.NaN : Date.parse(createdAt);
  if (Number.isNaN(made)) return "";
  const seconds = Math.max(0, Math.round((now - made) / 1_000));
  for (const [size, name] of UNITS) {
    const count = Math.floor(seconds / size);
    if (count > 0) return `, made ${count} ${name}${count === 1 ? "" : "s"} ago`;
  }
  return ", made just now";
}
