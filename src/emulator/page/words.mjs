/** How the page words values. */

/** @typedef {import("./records.mjs").Value} Value */

export const plural = (/** @type {number} */ count, /** @type {string} */ noun) =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

export const sizeOf = (/** @type {Value} */ { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max }) =>
  min === max ? `${min} CU` : `${min}–${max} CU`;

/** @type {(seconds: number) => string} */
export function timeoutOf(seconds) {
  if (seconds === -1) return "never";
  if (seconds === 0) return "by default";
  if (seconds % 3600 === 0) return `after ${seconds / 3600} h`;
  return seconds % 60 === 0 ? `after ${seconds / 60} min` : `after ${seconds} s`;
}

export const durationOf = (/** @type {number} */ ms) =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

/** @type {(moment: string) => string} The time of day, as the clock on the wall shows it. */
export const clockOf = (moment) => {
  const time = new Date(moment);
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(":");
};

/** @type {(value: Value) => string} A connection's client, as far as it has said who it is. */
export const clientOf = ({ role, database, application_name }) =>
  [role ?? "", database === null ? "" : `on ${database}`, application_name ?? ""].filter(Boolean).join(" ");

export const typeOf = (/** @type {Value} */ { type }) =>
  type === "read_write" ? "primary" : type === "read_only" ? "replica" : String(type);

export const UNFINISHED = new Set(["scheduling", "running", "cancelling"]);
