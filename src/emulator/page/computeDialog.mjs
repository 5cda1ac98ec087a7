/** The dialog of a compute: its facts, and what can be done with it. */

import { askToDelete, copy, edit, notify, notifyDrift, send, setUp, show } from "./commands.mjs";
import { byId, element, find, setText } from "./elements.mjs";
import { entries, keyOf, operationsOf, valueOf } from "./records.mjs";
import { clientOf, clockOf, durationOf, sizeOf, timeoutOf, UNFINISHED } from "./words.mjs";

/** @typedef {import("./records.mjs").Entry} Entry */
/** @typedef {import("./records.mjs").Value} Value */

const dialog = byId("compute-dialog");
/** The compute that the dialog is about. @type {string | undefined} */
let openKey;
/** @type {(from: number, to: number, step: number) => number[]} */
const steps = (from, to, step) => Array.from({ length: (to - from) / step + 1 }, (_, index) => from + index * step);
const SIZES = [0.25, 0.5, ...steps(1, 16, 1), ...steps(18, 56, 2)];

/** @type {(key: string) => void} */
export function openCompute(key) {
  const entry = entries.get(key);
  if (entry === undefined) return;
  openKey = key;
  setText(find(dialog, "[data-title]"), `Compute ${entry.id}`);
  setText(find(dialog, "[data-said]"), "");
  for (const name of ["min", "max"]) {
    const select = find(dialog, `select[name="${name}"]`);
    const current = entry.value[`autoscaling_limit_${name}_cu`];
    // An edit may have set any number.
    const sizes = [...new Set([...SIZES, current])].sort((one, other) => one - other);
    select.replaceChildren(...sizes.map((size) => new Option(String(size), String(size), false, size === current)));
  }
  const others = [...entries.values()].filter(
    ({ kind, project, id }) => kind === "branch" && project === entry.project && id !== entry.value.branch_id,
  );
  find(dialog, '[data-form="move"]').hidden = others.length === 0;
  find(dialog, 'select[name="branch"]').replaceChildren(
    ...others.map(({ id, value }) => new Option(`${value.name} ${id}`, id)),
  );
  for (const part of dialog.querySelectorAll("[data-connection], [data-watched]"))
    part.hidden = entries.get(keyOf("emulator", "", ""))?.value.has_gate !== true;
  showFacts();
  dialog.showModal();
}

/** @type {(key: string) => void} */
export function computeChanged(key) {
  if (key === openKey) showFacts();
}

/** @type {(key: string) => void} */
export function computeGone(key) {
  if (key === openKey) dialog.close();
}

function showFacts() {
  const entry = entries.get(openKey ?? "");
  if (entry === undefined) return;
  const { value, project } = entry;
  /** @type {[string, string][]} */
  const facts = [
    ["Name", value.name ?? "none"],
    ["Branch", `${value.branch_id} of ${project}`],
    [
      "State",
      value.pending_state === undefined ? value.current_state : `${value.current_state} → ${value.pending_state}`,
    ],
    ["Size", `${sizeOf(value)}, suspends ${timeoutOf(value.suspend_timeout_seconds)}`],
    ["Host", value.host],
    ["Settings", JSON.stringify(value.settings)],
    ["Pooler", value.pooler_enabled ? value.pooler_mode : "off"],
    ["Created", value.created_at],
    ["Changed", value.updated_at],
  ];
  find(dialog, "[data-facts]").replaceChildren(
    ...facts.flatMap(([name, text]) => [element("dt", name), element("dd", text)]),
  );
  const { count = 0, latest: clients = [] } = valueOf("connections", project, entry.id) ?? {};
  find(dialog, "[data-connections]").replaceChildren(
    ...clients.map((/** @type {Value} */ client) =>
      element("li", `${clientOf(client)}, since ${clockOf(client.since)}: ${client.state}`),
    ),
    ...(count > clients.length ? [element("li", `and ${count - clients.length} more`, "muted")] : []),
  );
  const latest = [...(operationsOf.get(openKey ?? "")?.values() ?? [])].slice(-6).reverse();
  find(dialog, "[data-operations]").replaceChildren(
    ...latest.map(({ action, status, created_at, total_duration_ms, error }) => {
      const took = UNFINISHED.has(status) ? "" : ` in ${durationOf(total_duration_ms)}`;
      return element(
        "li",
        `${clockOf(created_at)} ${action} ${status}${took}${error === undefined ? "" : `: ${error}`}`,
      );
    }),
  );
}

/** @type {(selector: string, event: string, act: (entry: Entry, elements: any) => unknown) => void} `elements`: of a form. */
const when = (selector, event, act) =>
  find(dialog, selector).addEventListener(event, (/** @type {Event} */ happened) => {
    happened.preventDefault();
    const entry = entries.get(openKey ?? "");
    if (entry !== undefined) void act(entry, /** @type {any} */ (happened.target).elements);
  });

/** @type {(entry: Entry, action: string, more?: object) => Promise<any>} */
const run = ({ project, id }, action, more) =>
  send("POST", "/_emulator/computes", { project_id: project, id, action, ...more });

for (const action of ["start", "suspend", "restart"])
  when(`[data-action="${action}"]`, "click", async (entry) => {
    const done = await run(entry, action);
    if (done === undefined) return;
    const names = done.operations.map((/** @type {{ action: string }} */ operation) => operation.action);
    notify(names.length === 0 ? "There is nothing to do." : `Scheduled: ${names.join(", ")}.`);
  });

when('[data-form="size"]', "submit", ({ project, id }, { min, max }) => {
  const [from, to] = [Number(min.value), Number(max.value)].sort((one, other) => one - other);
  dialog.close();
  const set = { autoscaling_limit_min_cu: from, autoscaling_limit_max_cu: to };
  const size = sizeOf({ autoscaling_limit_min_cu: from, autoscaling_limit_max_cu: to });
  return edit({ kind: "endpoint", project_id: project, id, set }, `The size of ${id} was changed by hand to ${size}.`);
});

when('[data-form="move"]', "submit", async (entry, { branch }) => {
  const { value: branch_id } = branch;
  if ((await run(entry, "move", { branch_id })) === undefined) return;
  dialog.close();
  notifyDrift(`${entry.id} was moved by hand to ${branch_id}.`);
});

/** @type {(selector: string, use: (title: string, uri: string) => unknown) => void} It has the password: it is never kept. */
const withConnection = (selector, use) =>
  when(selector, "click", async ({ project, id }) => {
    const answer = await send("GET", `/_page/connection?${new URLSearchParams({ project, id })}`);
    if (answer !== undefined) await use(`Connection string of ${id}`, answer.uri);
  });
withConnection("[data-copy]", (title, uri) => copy(title, uri, "The connection string was copied."));
withConnection("[data-show]", show);

when("[data-delete]", "click", (entry) => {
  dialog.close();
  askToDelete(entry);
});
dialog.addEventListener("close", () => (openKey = undefined));
setUp(dialog);
