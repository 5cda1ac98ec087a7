/** Branches, their computes, and the operations of these. */

import { askToDelete } from "./commands.mjs";
import { computeChanged, computeGone, openCompute } from "./computeDialog.mjs";
import { copyOf, fill, find, mark, setText, takeOut } from "./elements.mjs";
import { makeFoldable } from "./folding.mjs";
import { elements, keyOf, operationsOf, projectElement, valueOf } from "./records.mjs";
import { removeBar, showBar, stripGone } from "./timeLine.mjs";
import { plural, sizeOf, typeOf } from "./words.mjs";

/** @typedef {import("./records.mjs").Value} Value */
/** @typedef {import("./records.mjs").Kinds} Kinds */

/** The group of a branch. Of one that does not exist, if a compute names it. @type {(project: string, branch: string) => any} */
function branchGroup(project, branch) {
  const key = keyOf("branch", project, branch);
  const known = elements.get(key);
  if (known !== undefined) return known;
  const group = copyOf("branch");
  elements.set(key, group);
  find(projectElement(project), ".computes").append(group);
  makeFoldable(group);
  find(group, "[data-delete]").setAttribute("aria-label", `Delete branch ${branch}`);
  find(group, "[data-delete]").addEventListener("click", () =>
    askToDelete(
      { kind: "branch", project, id: branch },
      "Everything on it is deleted with it: its computes, and its integration.",
    ),
  );
  return group;
}

/** @type {(project: string, branch: string) => void} */
function labelBranch(project, branch) {
  const group = branchGroup(project, branch);
  const value = valueOf("branch", project, branch);
  const count = group.rows.length - 1;
  if (value === undefined && count === 0) {
    elements.delete(keyOf("branch", project, branch));
    takeOut(group);
    return;
  }
  group.words = `${branch} ${value?.name ?? ""}`;
  fill(group, {
    name: value?.name ?? "",
    id: branch,
    default: value?.default === true ? "default" : "",
    computes: value === undefined ? "does not exist" : count === 0 ? "no compute" : plural(count, "compute"),
  });
  mark(group, "default", value?.default === true);
  find(group, "[data-delete]").hidden = value === undefined;
}

/** Primary first, then by age. */
const rankOf = (/** @type {Value} */ value) => `${value.type === "read_write" ? 0 : 1} ${value.created_at} ${value.id}`;

/** @type {(row: any, group: any, rank: string) => void} */
function place(row, group, rank) {
  row.rank = rank;
  const rows = [...group.rows].slice(1);
  const after = rows.find((other) => other !== row && other.rank > rank) ?? null;
  if (row.parentNode === group && row.nextElementSibling === after) return;
  const focused = document.activeElement;
  const isInside = row.contains(focused);
  group.insertBefore(row, after);
  if (isInside && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
}

/** @type {(project: string, id: string) => void} */
function showState(project, id) {
  const row = elements.get(keyOf("endpoint", project, id));
  const value = valueOf("endpoint", project, id);
  if (row === undefined || value === undefined) return;
  const queued = [...(operationsOf.get(keyOf("endpoint", project, id))?.values() ?? [])].filter(
    ({ status }) => status === "scheduling",
  ).length;
  const state = find(row, ".state");
  const moving = value.pending_state !== undefined && value.pending_state !== value.current_state;
  const parts = [
    moving ? `${value.current_state} → ${value.pending_state}` : value.current_state,
    value.disabled ? "disabled" : "",
    queued > 0 ? `${queued} queued` : "",
  ];
  setText(state, parts.filter(Boolean).join(", "));
  const tone = moving || value.current_state === "init" ? "moving" : value.current_state;
  if (state.dataset.tone !== tone) state.dataset.tone = tone;
}

/** @type {(project: string, id: string) => void} */
function showConnections(project, id) {
  const key = keyOf("endpoint", project, id);
  const row = elements.get(key);
  if (row === undefined) return;
  const { count = 0, waiting = 0 } = valueOf("connections", project, id) ?? {};
  const waits = waiting > 0 ? `, ${waiting} waiting` : "";
  fill(row, { connections: count > 0 ? plural(count, "connection") + waits : "" });
  computeChanged(key);
}

/** @type {Kinds} */
export const computeKinds = {
  branch: {
    show: ({ project, id }) => labelBranch(project, id),
    gone: ({ project, id }) => labelBranch(project, id),
  },
  endpoint: {
    show: ({ project, id, value }, key) => {
      const known = elements.get(key);
      const row = known ?? copyOf("compute");
      row.words = `${id} ${value.name ?? ""}`;
      fill(row, {
        id,
        name: value.name ?? "",
        type: typeOf(value),
        size: sizeOf(value),
      });
      if (known === undefined) {
        elements.set(key, row);
        find(row, "[data-open]").addEventListener("click", () => openCompute(key));
        for (const [operation, shown] of operationsOf.get(key) ?? []) showBar(key, operation, shown);
      }
      const before = row.branch;
      row.branch = value.branch_id;
      place(row, branchGroup(project, value.branch_id), rankOf(value));
      showState(project, id);
      labelBranch(project, value.branch_id);
      if (before !== undefined && before !== value.branch_id) labelBranch(project, before);
      computeChanged(key);
    },
    gone: ({ project }, key) => {
      const row = elements.get(key);
      takeOut(row);
      stripGone(row);
      labelBranch(project, row.branch);
      computeGone(key);
    },
  },
  connections: {
    show: ({ project, id }) => showConnections(project, id),
    gone: ({ project, id }) => showConnections(project, id),
  },
  operation: {
    show: ({ project, id, value }) => {
      const key = keyOf("endpoint", project, value.endpoint_id);
      const list = operationsOf.get(key) ?? new Map();
      operationsOf.set(key, list.set(id, value));
      showBar(key, id, value);
      showState(project, value.endpoint_id);
      computeChanged(key);
    },
    gone: ({ project, id, value }) => {
      const key = keyOf("endpoint", project, value.endpoint_id);
      const list = operationsOf.get(key);
      list?.delete(id);
      if (list?.size === 0) operationsOf.delete(key);
      removeBar(id);
    },
  },
};
