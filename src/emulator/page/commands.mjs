/** What the buttons send, what the page says about it, and the questions before a deletion. */

import { byId, element, find, setText } from "./elements.mjs";
import { credentials, refusalOf } from "./stream.mjs";

/** @typedef {import("./records.mjs").Value} Value */
/** @typedef {{ kind: string, project: string, id: string, value?: Value }} Named */

/** They find a change by hand. */
const COMMANDS = ["pulumi preview --refresh", "npx pulumi-svc drift"];

/** @type {(text: string, commands?: string[]) => void} In the open dialog, which covers the rest, if it has a place. */
export function notify(text, commands = []) {
  const said = document.querySelector("dialog[open] [data-said]");
  if (said !== null) return setText(said, text);
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

byId("close-notice").addEventListener("click", () => {
  byId("notice").hidden = true;
  byId("projects").focus({ preventScroll: true });
});

/** @type {(method: string, path: string, body?: object) => Promise<any>} The answer, or undefined: then it has said why. */
export async function send(method, path, body) {
  try {
    const response = await fetch(path, {
      method,
      headers: { ...credentials(), "content-type": "application/json" },
      cache: "no-store",
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (response.ok) return response.status === 204 ? {} : await response.json();
    notify(`The emulator refused this: ${await refusalOf(response)}`);
  } catch {
    notify(`The emulator does not answer.${method === "GET" ? "" : " Nothing may have been changed."}`);
  }
  return undefined;
}

/** @type {(done: string) => void} */
export const notifyDrift = (done) => notify(`${done} A stack that declares this has drifted. To see that:`, COMMANDS);

/** @type {(body: object, done: string, then?: () => void) => Promise<void>} */
export async function edit(body, done, then) {
  if ((await send("POST", "/_emulator/edit", body)) === undefined) return;
  notifyDrift(done);
  then?.();
}

/** @type {Record<string, string>} */
const NOUNS = { endpoint: "compute", oauth_provider: "OAuth provider", signing_key: "signing key" };

/** @type {(entry: Named) => string} */
export const nameOf = ({ kind, id, value }) => `${NOUNS[kind] ?? kind} ${kind === "user" ? value?.email : id}`;

// ---- Dialogs

/** Closes the dialog by its button, and says where the focus is if what opened it is gone. @type {(dialog: HTMLDialogElement) => void} */
export function setUp(dialog) {
  find(dialog, "[data-close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    if (document.activeElement === document.body) byId("projects").focus({ preventScroll: true });
  });
}

const question = byId("delete-dialog");
let act = () => {};

/** @type {(words: { title: string, text: string, verb?: string }, then: () => void) => void} */
export function ask({ title, text, verb = "Delete" }, then) {
  act = then;
  setText(find(question, "[data-title]"), title);
  setText(find(question, "[data-text]"), text);
  setText(find(question, "[data-delete]"), verb);
  question.showModal();
}

find(question, "[data-delete]").addEventListener("click", () => {
  question.close();
  act();
});

/** @type {(entry: Named, harm?: string) => void} */
export function askToDelete(entry, harm = "") {
  const name = nameOf(entry);
  const body = { kind: entry.kind, project_id: entry.project, id: entry.id, delete: true };
  const text = `This deletes it outside Pulumi, as another person would. ${harm}`;
  ask({ title: `Delete ${name}?`, text }, () => void edit(body, `Deleted by hand: ${name}.`));
}

const shown = byId("value-dialog");
const value = find(shown, "textarea");

/** @type {(title: string, text: string) => void} Only until the dialog is closed. */
export function show(title, text) {
  setText(find(shown, "[data-title]"), title);
  value.value = text;
  shown.showModal();
  value.select();
}
shown.addEventListener("close", () => (value.value = ""));

/** @type {(title: string, text: string, done: string) => Promise<void>} Shows what the browser does not let it copy. */
export async function copy(title, text, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return show(title, text);
  }
  notify(done);
}

for (const dialog of [question, shown]) setUp(dialog);
