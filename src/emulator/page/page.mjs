/**
 * The emulator's page. The emulator sends records, each with a stable key, and then those that change. A record has one
 * element, which is updated in place, so that it keeps the focus. All content is inserted as text.
 */

import { authKinds, offerNewKey } from "./auth.mjs";
import { ask, edit, notify, send } from "./commands.mjs";
import { computeKinds } from "./computes.mjs";
import { byId, copyOf, element, fill, find, setText, takeOut } from "./elements.mjs";
import { arrange, makeBrief } from "./folding.mjs";
import { elements, entries } from "./records.mjs";
import { follow } from "./stream.mjs";
import { setClock, spanWords } from "./timeLine.mjs";
import { clientOf, clockOf } from "./words.mjs";

/** @typedef {import("./records.mjs").Value} Value */
/** @typedef {import("./records.mjs").Kinds} Kinds */

// ---- How each kind is shown

/** The length of a query that is shown beside the path. */
const SHOWN_QUERY = 20;

/** @type {Kinds} */
const KINDS = {
  ...computeKinds,
  ...authKinds,
  emulator: {
    show: ({ value }) => {
      setText(byId("base-url"), value.base_url);
      byId("base-url").title = `version ${value.version}`;
      byId("refusals").hidden = !value.has_gate;
    },
  },
  project: {
    show: ({ id, value }, key) => {
      const known = elements.get(key);
      const section = known ?? copyOf("project");
      section.words = `${id} ${value.name}`;
      fill(section, { name: value.name, id, region: value.region_id });
      if (known !== undefined) return;
      elements.set(key, section);
      fill(section, { span: spanWords() });
      byId("projects").append(section);
      makeBrief(section);
      offerNewKey(section, id);
      const form = find(section, '[data-form="domain"]');
      form.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const domain = form.elements.domain.value;
        edit({ kind: "domain", project_id: id, create: { domain } }, `Domain ${domain} was added by hand.`, () =>
          form.reset(),
        );
      });
    },
  },
  fault: {
    show: ({ value }, key) => {
      const shown = elements.get(key) ?? element("li", "");
      setText(shown, faultWords(value));
      if (elements.has(key)) return;
      elements.set(key, shown);
      byId("fault-list").append(shown);
    },
  },
  mail: {
    show: ({ id, value }, key) => {
      const known = elements.get(key);
      const shown = known ?? copyOf("mail");
      fill(shown, { subject: value.subject, to: value.to, at: clockOf(value.created_at) });
      if (known !== undefined) return;
      elements.set(key, shown);
      find(shown, "time").dateTime = value.created_at;
      const details = find(shown, "details");
      details.addEventListener("toggle", () =>
        details.open ? void showMessage(id, shown) : fill(shown, { message: "" }),
      );
      byId("mail-list").prepend(shown);
    },
  },
  refusal: {
    show: ({ value }, key) => {
      const shown = elements.get(key) ?? copyOf("refusal");
      const compute = value.endpoint_id ?? "no compute named";
      fill(shown, {
        ...{ at: clockOf(value.since), code: value.code, compute },
        detail: `${value.message}\n\n${value.since}\n${clientOf(value)}`,
      });
      if (elements.has(key)) return;
      elements.set(key, shown);
      find(shown, "time").dateTime = value.since;
      byId("refusal-list").prepend(shown);
    },
  },
  request: {
    show: ({ value }, key) => {
      const known = elements.get(key);
      const row = known ?? copyOf("request");
      const query = new URLSearchParams(value.query).toString();
      const whole = query === "" ? value.path : `${value.path}?${query}`;
      // The path is shown from its end: a long query would leave nothing of it.
      const path = query.length > SHOWN_QUERY ? `${value.path}?…` : whole;
      const real = value.real_status === undefined ? "" : `\nwithout the fault: ${value.real_status}`;
      fill(row, {
        at: clockOf(value.at),
        method: value.method,
        path,
        detail: `${value.method} ${whole}\n${value.at}${real}${value.body === "" ? "" : `\n\n${value.body}`}`,
        status: String(value.status ?? "–"),
        duration: value.status === null ? "" : String(value.duration_ms),
      });
      row.className = value.method === "GET" ? "reads" : "";
      const status = find(row, ".status");
      status.dataset.tone = value.status === null ? "none" : `${Math.floor(value.status / 100)}xx`;
      status.title = value.real_status === undefined ? "" : `a fault; without it ${value.real_status}`;
      if (known !== undefined) return;
      elements.set(key, row);
      find(row, "time").dateTime = value.at;
      find(document, "#log tbody").prepend(row);
    },
  },
};

/** @type {(id: string, shown: Element) => Promise<void>} Its text is not in the record: it may contain a secret. */
async function showMessage(id, shown) {
  const message = await send("GET", `/_emulator/mail/${encodeURIComponent(id)}`);
  if (message === undefined) return;
  const { to, subject, created_at, project_id, text } = message;
  fill(shown, { message: `To: ${to}\nSubject: ${subject}\nDate: ${created_at}\nProject: ${project_id}\n\n${text}` });
}

/** @type {(value: Value) => string} */
function faultWords(value) {
  const left = value.left === null ? "until cleared" : `${value.left} left`;
  if (value.operation !== undefined) {
    return `${value.operation.action ?? "any operation"} → ${value.operation.status} · ${value.left === null ? "until cleared" : left}`;
  }
  if (value.stuck === true) return `start_compute → never ends · ${left}`;
  const which = `${value.method ?? "any"} ${value.path ?? "request"}`;
  const what = [
    value.status,
    value.drop,
    value.delayMs > 0 ? `${value.delayMs} ms late` : undefined,
    value.effect === "done" ? "after it was done" : undefined,
  ];
  const skip = value.skip > 0 ? ` · after ${value.skip} more` : "";
  return `${which} → ${what.filter((part) => part !== undefined).join(", ")} · ${left}${skip}`;
}

// ---- What arrives

/** @type {(message: import("./stream.mjs").Message) => void} */
function apply({ set, gone, fresh, now }) {
  setClock(now);
  const arrived = new Set(set.map(([key]) => key));
  const left = fresh ? [...entries.keys()].filter((key) => !arrived.has(key)) : gone;
  // The content of a container is placed before it.
  for (const key of left.reverse()) {
    const entry = entries.get(key);
    if (entry === undefined) continue;
    entries.delete(key);
    const { gone: leave } = KINDS[entry.kind] ?? {};
    if (leave !== undefined) leave(entry, key);
    else takeOut(elements.get(key));
    if (entry.kind !== "branch") elements.delete(key);
  }
  for (const [key, entry] of set) {
    entries.set(key, entry);
    KINDS[entry.kind]?.show(entry, key);
  }
  sumUp();
}

function sumUp() {
  /** By name: a compute may be in any state. @type {Map<string, number>} */
  const states = new Map();
  const kinds = new Set();
  for (const { kind, value } of entries.values()) {
    kinds.add(kind);
    if (kind === "endpoint") states.set(value.current_state, (states.get(value.current_state) ?? 0) + 1);
  }
  const parts = [...states].map(([state, count]) => `${count} ${state}`);
  setText(byId("totals"), parts.length === 0 ? "no compute" : `computes: ${parts.join(", ")}`);
  byId("no-requests").hidden = kinds.has("request");
  byId("no-mail").hidden = kinds.has("mail");
  byId("clear-mail").hidden = !kinds.has("mail");
  byId("clear-faults").hidden = !kinds.has("fault");
  arrange();
}

// ---- What the buttons do

/** @type {Record<string, { fault: object, words: string }>} */
const FAULTS = {
  503: { fault: { status: 503 }, words: "fails with 503" },
  429: { fault: { status: 429, headers: { "retry-after": "1" } }, words: "fails with 429" },
  done: { fault: { status: 502, effect: "done" }, words: "is done, but answered with 502" },
  reset: { fault: { drop: "reset" }, words: "has its connection reset" },
  slow: { fault: { delayMs: 3000 }, words: "takes 3 s longer" },
  "start-fails": {
    fault: { operation: { action: "start_compute", status: "failed", error: "no capacity" } },
    words: "start of a compute fails",
  },
  "apply-fails": {
    fault: { operation: { action: "apply_config", status: "failed", error: "cannot be applied" } },
    words: "change of an active compute fails",
  },
  stuck: { fault: { stuck: true }, words: "start of a compute never ends" },
};

const faultForm = byId("fault-form");
const isAboutRequests = () => find(faultForm, "option:checked").parentElement.label === "To a request";
faultForm.addEventListener("change", () => (faultForm.elements.method.disabled = !isAboutRequests()));
faultForm.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const { what, method, times } = faultForm.elements;
  const chosen = FAULTS[what.value];
  const count = Number(times.value);
  const { operation, ...rest } = /** @type {Value} */ (chosen?.fault);
  const body =
    operation === undefined
      ? { ...rest, times: count, ...(isAboutRequests() && method.value !== "" && { method: method.value }) }
      : { operation: { ...operation, times: count } };
  if (!(await send("POST", "/_emulator/faults", body))) return;
  const subject = isAboutRequests() ? `${method.value === "" ? "" : `${method.value} `}request ` : "";
  const which = count === 1 ? "The next" : `Each of the next ${count}:`;
  notify(
    `${which} ${subject}${chosen?.words}. ${isAboutRequests() ? "This sends requests:" : "A pulumi up that starts or changes a compute runs into it:"}`,
    [isAboutRequests() ? "pulumi preview --refresh" : "pulumi up"],
  );
});
byId("clear-faults").addEventListener("click", async () => {
  if (await send("DELETE", "/_emulator/faults")) notify("No fault is set any more.");
});
byId("clear-requests").addEventListener("click", () => void send("DELETE", "/_emulator/requests"));
byId("changes-only").addEventListener("change", (/** @type {Event} */ { target }) =>
  byId("log").classList.toggle("changes-only", /** @type {HTMLInputElement} */ (target).checked),
);
byId("clear-mail").addEventListener("click", () =>
  ask({ title: "Clear the inbox?", text: "This deletes its messages for good.", verb: "Clear" }, async () => {
    if (await send("DELETE", "/_emulator/mail")) notify("The inbox is empty.");
  }),
);

follow(apply);
