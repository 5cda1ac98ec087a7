/**
 * The emulator's page. The emulator sends records, each with a stable key, and then those that change. A record has one
 * element, which is updated in place, so that it keeps the focus. All content is inserted as text.
 */

/** @typedef {Record<string, any>} Value A record as the control routes show it, each kind with its own fields. */
/** @typedef {{ kind: string, project: string, id: string, value: Value }} Entry */

// ---- Elements

/** @type {(root: ParentNode, selector: string) => any} The first one; the markup has it. */
const find = (root, selector) => {
  const found = root.querySelector(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
};

/** @type {(id: string) => any} */
const byId = (id) => find(document, `#${id}`);

/** @type {(name: string) => any} A copy of the element in a template. */
const copyOf = (name) => byId(`${name}-template`).content.firstElementChild.cloneNode(true);

/** @type {(element: Element, text: string) => void} Touches the document only if it differs. */
const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

/** @type {(root: ParentNode, texts: Record<string, string>) => void} */
const fill = (root, texts) => {
  for (const [name, text] of Object.entries(texts)) setText(find(root, `[data-text="${name}"]`), text);
};

/** @type {(tag: string, text: string, name?: string) => HTMLElement} */
const element = (tag, text, name = "") => {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = name;
  return made;
};

/** @type {(gone: Element | undefined) => void} Where it has the focus, the focus goes to what is nearest. */
function takeOut(gone) {
  if (gone === undefined) return;
  if (gone.contains(document.activeElement)) {
    const near = [gone.nextElementSibling, gone.previousElementSibling].map((each) => each?.querySelector("button"));
    const place = gone.closest("[tabindex]");
    const target = near.find(Boolean) ?? place;
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  }
  gone.remove();
}

// ---- Words

const plural = (/** @type {number} */ count, /** @type {string} */ noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

const sizeOf = (/** @type {Value} */ { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max }) =>
  min === max ? `${min} CU` : `${min}–${max} CU`;

/** @type {(seconds: number) => string} */
function timeoutOf(seconds) {
  if (seconds === -1) return "never";
  if (seconds === 0) return "by default";
  if (seconds % 3600 === 0) return `after ${seconds / 3600} h`;
  return seconds % 60 === 0 ? `after ${seconds / 60} min` : `after ${seconds} s`;
}

const durationOf = (/** @type {number} */ ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** @type {(moment: string) => string} The time of day, as the clock on the wall shows it. */
const clockOf = (moment) => {
  const time = new Date(moment);
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(":");
};

const typeOf = (/** @type {Value} */ { type }) =>
  type === "read_write" ? "primary" : type === "read_only" ? "replica" : String(type);

const UNFINISHED = new Set(["scheduling", "running", "cancelling"]);

// ---- What is known

/** @type {Map<string, Entry>} */
const entries = new Map();
/** The element of each record. @type {Map<string, any>} */
const elements = new Map();
const keyOf = (/** @type {string} */ kind, /** @type {string} */ project, /** @type {string} */ id) =>
  JSON.stringify([kind, project, id]);

const valueOf = (/** @type {string} */ kind, /** @type {string} */ project, /** @type {string} */ id) =>
  entries.get(keyOf(kind, project, id))?.value;

/** The operations of each compute, oldest first: so that a row is found without a look at all of them. @type {Map<string, Map<string, Value>>} */
const operationsOf = new Map();

// ---- How each kind is shown

/** @type {(project: string) => any} */
const projectElement = (project) => elements.get(keyOf("project", "", project));

/** The group of a branch. Of one that does not exist, if a compute names it. @type {(project: string, branch: string) => any} */
function branchGroup(project, branch) {
  const key = keyOf("branch", project, branch);
  const known = elements.get(key);
  if (known !== undefined) return known;
  const group = copyOf("branch");
  elements.set(key, group);
  find(projectElement(project), ".computes").append(group);
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
  fill(group, {
    name: value?.name ?? "",
    id: branch,
    default: value?.default === true ? "default" : "",
    computes: value === undefined ? "does not exist" : count === 0 ? "no compute" : plural(count, "compute"),
  });
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

/** A kind that is a list item: where it goes and what it says. @type {(list: (entry: Entry) => any, words: (entry: Entry) => { what: string, more: string }, harm?: string) => { show(entry: Entry, key: string): void }} */
const item = (list, words, harm = "") => ({
  show: (entry, key) => {
    const known = elements.get(key);
    const shown = known ?? copyOf("item");
    const { what, more } = words(entry);
    fill(shown, { what, more });
    if (known !== undefined) return;
    elements.set(key, shown);
    const button = find(shown, "[data-delete]");
    button.setAttribute("aria-label", `Delete ${nameOf(entry)}`);
    button.addEventListener("click", () => askToDelete(entry, harm));
    list(entry).append(shown);
  },
});

/** @type {(entry: Entry) => any} */
const listOf = ({ kind, project }) => find(projectElement(project), `[data-list="${kind}"]`);

/** @type {Record<string, { show(entry: Entry, key: string): void, gone?(entry: Entry, key: string): void }>} */
const KINDS = {
  emulator: {
    show: ({ value }) => {
      setText(byId("base-url"), value.base_url);
      byId("base-url").title = `version ${value.version}`;
    },
  },
  project: {
    show: ({ id, value }, key) => {
      const known = elements.get(key);
      const section = known ?? copyOf("project");
      fill(section, { name: value.name, id, region: value.region_id });
      if (known !== undefined) return;
      elements.set(key, section);
      fill(section, { span: spanWords() });
      byId("projects").append(section);
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
  branch: {
    show: ({ project, id }) => labelBranch(project, id),
    gone: ({ project, id }) => labelBranch(project, id),
  },
  endpoint: {
    show: ({ project, id, value }, key) => {
      const known = elements.get(key);
      const row = known ?? copyOf("compute");
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
      if (openKey === key) showFacts();
    },
    gone: ({ project }, key) => {
      const row = elements.get(key);
      takeOut(row);
      stripGone(row);
      labelBranch(project, row.branch);
      if (openKey === key) byId("compute-dialog").close();
    },
  },
  operation: {
    show: ({ project, id, value }) => {
      const key = keyOf("endpoint", project, value.endpoint_id);
      const list = operationsOf.get(key) ?? new Map();
      operationsOf.set(key, list.set(id, value));
      showBar(key, id, value);
      showState(project, value.endpoint_id);
      if (openKey === key) showFacts();
    },
    gone: ({ project, id, value }) => {
      const key = keyOf("endpoint", project, value.endpoint_id);
      const list = operationsOf.get(key);
      list?.delete(id);
      if (list?.size === 0) operationsOf.delete(key);
      removeBar(id);
    },
  },
  integration: item(
    listOf,
    ({ id, value }) => ({
      what: id,
      more: `on ${value.branch_id}, database ${value.db_name}, owned by ${value.owned_by}, keys at ${value.jwks_url}`,
    }),
    "Its OAuth providers, domains and users are deleted with it, and the e-mail server is the shared one again.",
  ),
  oauth_provider: item(listOf, ({ id, value }) => ({
    what: id,
    more: value.client_id === undefined ? value.type : `${value.type}, client ${value.client_id}`,
  })),
  domain: item(listOf, ({ id }) => ({ what: id, more: "" })),
  user: item(listOf, ({ value }) => ({ what: value.email, more: value.name ?? "" })),
  email_server: {
    show: ({ project, value }) =>
      fill(projectElement(project), {
        email:
          value.type === "shared"
            ? "shared"
            : `${value.username} at ${value.host}:${value.port}, sends as ${value.sender_name} <${value.sender_email}>`,
      }),
    gone: () => undefined,
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
  request: {
    show: ({ value }, key) => {
      const known = elements.get(key);
      const row = known ?? copyOf("request");
      const query = new URLSearchParams(value.query).toString();
      const path = query === "" ? value.path : `${value.path}?${query}`;
      const real = value.real_status === undefined ? "" : `\nwithout the fault: ${value.real_status}`;
      fill(row, {
        at: clockOf(value.at),
        method: value.method,
        path,
        detail: `${value.method} ${path}\n${value.at}${real}${value.body === "" ? "" : `\n\n${value.body}`}`,
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

// ---- The time line: a bar for each operation of a compute, moved with the clock

const START = Date.now();
let span = 60_000;
/** How far the emulator's clock is ahead of the browser's. */
let ahead = 0;
/** @type {Map<string, { bar: HTMLElement, from: number, to: number | undefined, key: string }>} */
const bars = new Map();
/** @type {number | undefined} */
let clock;

const spanWords = () => `last ${span / 60_000 === 1 ? "minute" : `${span / 60_000} minutes`}`;
const percent = (/** @type {number} */ ms) => `${((ms / span) * 100).toFixed(3)}%`;

/** @type {(key: string, id: string, value: Value) => void} */
function showBar(key, id, value) {
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
  startClock();
}

/** @type {(id: string) => void} */
function removeBar(id) {
  bars.get(id)?.bar.remove();
  bars.delete(id);
}

/** @type {(row: Element) => void} */
function stripGone(row) {
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

// ---- The stream

let token = "";
/** The key, on an address that other machines can reach. It is stored only here. */
let apiKey = "";
/** @type {AbortController | undefined} */
let connection;

/** Removes the token from the address, where others could see it on the screen or in a history. */
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  token = sessionStorage.getItem("token") ?? "";
}

/** @type {() => Record<string, string>} */
const credentials = () => ({
  "svc-page-token": token,
  ...(apiKey !== "" && { authorization: `Bearer ${apiKey}` }),
});

/** @type {(message: { set: [string, Entry][], gone: string[], fresh: boolean, now: number }) => void} */
function apply({ set, gone, fresh, now }) {
  ahead = now - Date.now();
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
  /** @type {Record<string, number>} */
  const counts = {};
  let requests = 0;
  let faults = 0;
  for (const { kind, value } of entries.values()) {
    if (kind === "endpoint") counts[value.current_state] = (counts[value.current_state] ?? 0) + 1;
    if (kind === "request") requests += 1;
    if (kind === "fault") faults += 1;
  }
  const states = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  setText(byId("totals"), states.length === 0 ? "no compute" : `computes: ${states.join(", ")}`);
  byId("no-requests").hidden = requests > 0;
  byId("clear-faults").hidden = faults === 0;
}

/** @type {(state: string, words: string) => void} */
function showConnection(state, words) {
  byId("connection").dataset.state = state;
  setText(byId("connection"), words);
}

/** @type {(name: "content" | "need-token" | "need-key") => void} */
function showOnly(name) {
  for (const each of ["content", "need-token", "need-key"]) byId(each).hidden = each !== name;
}

/** @type {(response: Response) => Promise<string>} */
const refusalOf = async (response) => {
  const body = await response.json().catch(() => ({}));
  return typeof body.message === "string" ? body.message : `status ${response.status}`;
};

/** Reads the events until they end. fetch, since an EventSource sends no header. @type {(signal: AbortSignal) => Promise<"again" | "stop">} */
async function read(signal) {
  const response = await fetch("/_page/events", { headers: credentials(), signal, cache: "no-store" });
  if (response.status === 401 || response.status === 403) {
    showConnection("closed", "not connected");
    if (response.status === 401 && apiKey !== "") setText(byId("key-refused"), "The emulator refused this key.");
    apiKey = "";
    showOnly(response.status === 401 ? "need-key" : "need-token");
    return "stop";
  }
  if (!response.ok || response.body === null) throw new Error(await refusalOf(response));
  showOnly("content");
  showConnection("live", "live");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return "again";
    text += value;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) if (event.startsWith("data: ")) apply(JSON.parse(event.slice("data: ".length)));
  }
}

async function connect() {
  connection?.abort();
  const own = new AbortController();
  connection = own;
  for (let wait = 250; !own.signal.aborted; wait = Math.min(wait * 2, 4000)) {
    try {
      if ((await read(own.signal)) === "stop") return;
      wait = 250;
      showConnection("connecting", "connecting again");
    } catch (error) {
      if (own.signal.aborted) return;
      // A TypeError means that nothing responded.
      showConnection("connecting", error instanceof TypeError ? "the emulator does not answer" : String(error));
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

// A browser opens at most six connections to a host: a hidden page leaves them to the others.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    connection?.abort();
    showConnection("connecting", "paused");
  } else void connect();
});
addEventListener("hashchange", () => {
  takeToken();
  void connect();
});
byId("key-form").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const { key } = byId("key-form").elements;
  apiKey = key.value;
  key.value = "";
  setText(byId("key-refused"), "");
  void connect();
});

// ---- What the buttons do

const COMMANDS = ["pulumi preview --refresh", "npx pulumi-svc drift"];

/** @type {(text: string, commands?: string[]) => void} */
function notify(text, commands = []) {
  const notice = byId("notice");
  notice.hidden = false;
  setText(find(notice, "[data-text]"), text);
  find(notice, ".commands").replaceChildren(
    ...commands.flatMap((command, index) => {
      const shown = element("code", command);
      if (!isSecureContext) return index > 0 ? [element("span", "or"), shown] : [shown];
      const copy = element("button", "Copy", "quiet");
      copy.setAttribute("aria-label", `Copy ${command}`);
      copy.addEventListener("click", async () => {
        await navigator.clipboard.writeText(command).catch(() => undefined);
        setText(copy, "Copied");
      });
      return index > 0 ? [element("span", "or"), shown, copy] : [shown, copy];
    }),
  );
}

/** @type {(method: string, path: string, body: object | undefined) => Promise<boolean>} Says what went wrong. */
async function send(method, path, body) {
  try {
    const response = await fetch(`/_emulator${path}`, {
      method,
      headers: { ...credentials(), "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (response.ok) return true;
    notify(`The emulator refused this: ${await refusalOf(response)}`);
  } catch {
    notify("The emulator does not answer. Nothing may have been changed.");
  }
  return false;
}

/** @type {(body: object, done: string, then?: () => void) => Promise<void>} */
async function edit(body, done, then) {
  if (!(await send("POST", "/edit", body))) return;
  notify(`${done} A stack that declares this has drifted. To see that:`, COMMANDS);
  then?.();
}

/** @type {(entry: { kind: string, id: string, value?: Value }) => string} */
const nameOf = ({ kind, id, value }) =>
  `${{ endpoint: "compute", oauth_provider: "OAuth provider" }[kind] ?? kind} ${kind === "user" ? value?.email : id}`;

/** Closes the dialog by its button, and says where the focus is if what opened it is gone. @type {(dialog: HTMLDialogElement) => void} */
function setUp(dialog) {
  find(dialog, "[data-close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    if (document.activeElement === document.body) byId("projects").focus({ preventScroll: true });
  });
}

/** @type {{ kind: string, project: string, id: string, value?: Value } | undefined} */
let toDelete;

/** @type {(entry: { kind: string, project: string, id: string, value?: Value }, harm: string) => void} */
function askToDelete(entry, harm) {
  toDelete = entry;
  const dialog = byId("delete-dialog");
  setText(find(dialog, "[data-title]"), `Delete ${nameOf(entry)}?`);
  setText(find(dialog, "[data-text]"), `This deletes it outside Pulumi, as another person would. ${harm}`);
  dialog.showModal();
}

/** @type {(entry: { kind: string, project: string, id: string, value?: Value }) => Promise<void>} */
const remove = (entry) =>
  edit(
    { kind: entry.kind, project_id: entry.project, id: entry.id, delete: true },
    `Deleted by hand: ${nameOf(entry)}.`,
  );

find(byId("delete-dialog"), "[data-delete]").addEventListener("click", () => {
  byId("delete-dialog").close();
  if (toDelete !== undefined) void remove(toDelete);
});

/** The compute that the dialog is about. @type {string | undefined} */
let openKey;
/** @type {(from: number, to: number, step: number) => number[]} */
const steps = (from, to, step) => Array.from({ length: (to - from) / step + 1 }, (_, index) => from + index * step);
const SIZES = [0.25, 0.5, ...steps(1, 16, 1), ...steps(18, 56, 2)];

/** @type {(key: string) => void} */
function openCompute(key) {
  const entry = entries.get(key);
  if (entry === undefined) return;
  openKey = key;
  const dialog = byId("compute-dialog");
  setText(find(dialog, "[data-title]"), `Compute ${entry.id}`);
  for (const name of ["min", "max"]) {
    const select = find(dialog, `select[name="${name}"]`);
    const current = entry.value[`autoscaling_limit_${name}_cu`];
    // An edit may have set any number.
    const sizes = [...new Set([...SIZES, current])].sort((one, other) => one - other);
    select.replaceChildren(...sizes.map((size) => new Option(String(size), String(size), false, size === current)));
  }
  showFacts();
  dialog.showModal();
}

function showFacts() {
  const entry = entries.get(openKey ?? "");
  if (entry === undefined) return;
  const { value, project } = entry;
  const dialog = byId("compute-dialog");
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

find(byId("compute-dialog"), '[data-form="size"]').addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const entry = entries.get(openKey ?? "");
  if (entry === undefined) return;
  const { min, max } = /** @type {any} */ (event.target).elements;
  const [from, to] = [Number(min.value), Number(max.value)].sort((one, other) => one - other);
  byId("compute-dialog").close();
  const set = { autoscaling_limit_min_cu: from, autoscaling_limit_max_cu: to };
  const size = sizeOf({ autoscaling_limit_min_cu: from, autoscaling_limit_max_cu: to });
  void edit(
    { kind: "endpoint", project_id: entry.project, id: entry.id, set },
    `The size of ${entry.id} was changed by hand to ${size}.`,
  );
});
find(byId("compute-dialog"), "[data-delete]").addEventListener("click", () => {
  const entry = entries.get(openKey ?? "");
  byId("compute-dialog").close();
  if (entry !== undefined) void remove(entry);
});
byId("compute-dialog").addEventListener("close", () => (openKey = undefined));
for (const name of ["compute-dialog", "delete-dialog"]) setUp(byId(name));

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
  if (!(await send("POST", "/faults", body))) return;
  const subject = isAboutRequests() ? `${method.value === "" ? "" : `${method.value} `}request ` : "";
  const which = count === 1 ? "The next" : `Each of the next ${count}:`;
  notify(
    `${which} ${subject}${chosen?.words}. ${isAboutRequests() ? "This sends requests:" : "A pulumi up that starts or changes a compute runs into it:"}`,
    [isAboutRequests() ? "pulumi preview --refresh" : "pulumi up"],
  );
});
byId("clear-faults").addEventListener("click", async () => {
  if (await send("DELETE", "/faults", undefined)) notify("No fault is set any more.");
});
byId("clear-requests").addEventListener("click", () => void send("DELETE", "/requests", undefined));
byId("changes-only").addEventListener("change", (/** @type {Event} */ { target }) =>
  byId("log").classList.toggle("changes-only", /** @type {HTMLInputElement} */ (target).checked),
);
byId("close-notice").addEventListener("click", () => {
  byId("notice").hidden = true;
  byId("projects").focus({ preventScroll: true });
});

takeToken();
void connect();
