/** What is shown of many: the filter, folded branches, and large projects in brief. */

import { byId, find, mark, setText } from "./elements.mjs";
import { plural } from "./words.mjs";

/** A project with more computes first shows only its default branch and what has an operation on the time line. */
const MANY = 40;
/** The text of the filter, in lower case. */
let wanted = "";

const matches = (/** @type {string} */ words) => wanted === "" || words.toLowerCase().includes(wanted);

/** @type {(button: HTMLElement, isOpen: boolean) => void} */
function setExpanded(button, isOpen) {
  if (button.ariaExpanded !== String(isOpen)) button.ariaExpanded = String(isOpen);
}

/** @type {(group: any, isWanted: boolean, isLarge: boolean) => number} Arranges a branch, and counts its matching computes. */
function arrangeBranch(group, isWanted, isLarge) {
  const isMatch = isWanted || matches(group.words);
  let count = 0;
  for (const row of [...group.rows].slice(1)) {
    const isShown = isMatch || matches(row.words);
    mark(row, "unmatched", !isShown);
    if (isShown) count += 1;
  }
  mark(group, "unmatched", !isMatch && count === 0);
  const isOpen = group.choice ?? (wanted !== "" || !isLarge);
  mark(group, "folded", !isOpen);
  mark(group, "chosen", group.choice !== undefined);
  setExpanded(find(group, "[data-fold]"), isOpen);
  return count;
}

/** Brings the page in line with the filter, with what a person has folded, and with what there is. */
export function arrange() {
  let found = 0;
  let all = 0;
  for (const section of byId("projects").children) {
    const computes = section.querySelectorAll(".compute").length;
    const groups = [...section.querySelectorAll(".branch")];
    const isLarge = computes > MANY;
    const isWanted = matches(section.words);
    const count = groups.reduce((sum, group) => sum + arrangeBranch(group, isWanted, isLarge), 0);
    mark(section, "unmatched", !isWanted && groups.every((group) => group.classList.contains("unmatched")));
    const isWhole = section.isWhole === true;
    mark(section, "brief", isLarge && wanted === "" && !isWhole);
    const whole = find(section, "[data-whole]");
    whole.hidden = !isLarge || wanted !== "";
    setExpanded(whole, isWhole);
    setText(whole, isWhole ? "Show fewer branches" : `Show all ${groups.length} branches`);
    found += count;
    all += computes;
  }
  setText(byId("found"), wanted === "" ? "" : `${found} of ${plural(all, "compute")}`);
}

byId("filter").addEventListener("input", (/** @type {Event} */ { target }) => {
  wanted = /** @type {HTMLInputElement} */ (target).value.trim().toLowerCase();
  for (const group of /** @type {NodeListOf<any>} */ (document.querySelectorAll(".branch"))) group.choice = undefined;
  arrange();
});

/** @type {(group: any) => void} */
export function makeFoldable(group) {
  find(group, "[data-fold]").addEventListener("click", () => {
    group.choice = group.classList.contains("folded");
    arrange();
  });
}

/** @type {(section: any) => void} */
export function makeBrief(section) {
  find(section, "[data-whole]").addEventListener("click", () => {
    section.isWhole = section.isWhole !== true;
    arrange();
  });
}
