/** The stream of the records, and what a request of the page carries. */

import { byId, setText } from "./elements.mjs";

/** @typedef {{ set: [string, import("./records.mjs").Entry][], gone: string[], fresh: boolean, now: number }} Message */

/** Takes what arrives. @type {(message: Message) => void} */
let take = () => undefined;
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
export const credentials = () => ({
  "svc-page-token": token,
  ...(apiKey !== "" && { authorization: `Bearer ${apiKey}` }),
});

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
export const refusalOf = async (response) => {
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
    for (const event of events) if (event.startsWith("data: ")) take(JSON.parse(event.slice("data: ".length)));
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

/** @type {(apply: (message: Message) => void) => void} Opens the stream, and opens it again whenever it ends. */
export function follow(apply) {
  take = apply;
  takeToken();
  void connect();
}
