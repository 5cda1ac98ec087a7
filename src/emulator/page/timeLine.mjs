/** The time line: a bar for each operation of a compute, moved with the clock. */

import { byId, element, fill, find, mark, setText } from "./elements.mjs";
import { elements, entries, keyOf, projectElement } from "./records.mjs";
import { durationOf, UNFINISHED } from "./words.mjs";

/** @typedef {import("./records.mjs").Value} Value */

const START = Date.now();
let span = 60_000;
/** How far the emulator's clock is ahead of the browser's. */
let ahead = 0;
/** `now`: of the emulator. */
export const setClock = (/** @type {number} */ now) => (ahead = now - Date.now());
/** @type {Map<string, { bar: HTMLElement, from: number, to: number | undefined, key: string }>} */
const bars = new Map();
/** @type {number | undefined} */
let clock;

export const spanWords = () => `last ${span / 60_000 === 1 ? "minute" : `${span / 60_000} minutes`}`;
const percent = (/** @type {number} */ ms) => `${((ms / span) * 100).toFixed(3)}%`;

/** @type {(key: string, id: string, value: Value) => void} */
export function showBar(key, id, value) {
  const row = elements.get(key);
  if (row === undefined || value.started_ms === undefined) return;
  const from = value.started_ms - ahead;
  const to = UNFINISHED.has(value.status) ? undefined : from + value.total_duration_ms;
  if (to !== undefined && to < Date.now() - span) return removeBar(id);
  const known = bars.get(id);
  const bar = known?.bar ?? element("li", "");
  const took = to === undefined ? "" : ` in ${durationOf(to - from)}`;
  const error = value.error === undefined ? "" : `: ${value.error}`;
  bar.dataset.status = value.status;
  bar.dataset.action = value.action;
  bar.title = `${value.action} ${value.status}${took}${error}`;
  if (known === undefined) {
    bar.append(element("span", value.action.replace("_compute", "").replace("_", " ")), element("span", "", "unseen"));
    find(row, ".strip").append(bar);
  }
  setText(/** @type {Element} */ (bar.lastElementChild), `: ${bar.title}`);
  bar.style.left = percent(from - START);
  if (to !== undefined) bar.style.width = percent(to - from);
  bars.set(id, { bar, from, to, key });
  mark(row, "busy", true);
  startClock();
}

/** @type {(id: string) => void} */
export function removeBar(id) {
  const bar = bars.get(id)?.bar;
  const row = bar?.closest("tr");
  bar?.remove();
  bars.delete(id);
  if (row) mark(row, "busy", find(row, ".strip").childElementCount > 0);
}

/** @type {(row: Element) => void} */
export function stripGone(row) {
  for (const [id, { bar }] of bars) if (row.contains(bar)) bars.delete(id);
}

/** Moves only strips with bars, and only while there are any. */
function tick() {
  clock = undefined;
  const now = Date.now();
  const strips = new Set();
  for (const [id, { bar, from, to }] of bars) {
    if (to !== undefined && to < now - span) removeBar(id);
    else {
      if (to === undefined) bar.style.width = percent(now - from);
      strips.add(bar.parentElement);
    }
  }
  const shift = `translateX(${percent(START + span - now)})`;
  for (const strip of strips) strip.style.transform = shift;
  startClock();
}

function startClock() {
  if (clock === undefined && bars.size > 0) clock = setTimeout(() => requestAnimationFrame(tick), span / 300);
}

byId("span").addEventListener("change", (/** @type {Event} */ { target }) => {
  span = Number(/** @type {HTMLSelectElement} */ (target).value) * 1000;
  for (const { kind, id, value } of entries.values()) {
    if (kind === "project") fill(projectElement(id), { span: spanWords() });
    if (kind === "operation") showBar(keyOf("endpoint", value.project_id, value.endpoint_id), id, value);
  }
  tick();
});
