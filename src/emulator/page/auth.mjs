/** The auth of a project: its integration, what is in it, and its keys. */

import { ask, askToDelete, copy, nameOf, notify, send } from "./commands.mjs";
import { copyOf, element, fill, find } from "./elements.mjs";
import { elements, entries, projectElement } from "./records.mjs";

/** @typedef {import("./records.mjs").Entry} Entry */
/** @typedef {import("./records.mjs").Kinds} Kinds */
/** A button of an item; with `of`, "of" stands before the item's name. @typedef {{ text: string, of?: string, act: (entry: Entry) => unknown }} Action */

/** @type {(harm?: string) => Action} */
const deletion = (harm) => ({ text: "Delete", act: (entry) => askToDelete(entry, harm) });

/** A kind that is a list item: what it says, and its buttons. @type {(words: (entry: Entry) => { what: string, more: string }, actions: Action[]) => { show(entry: Entry, key: string): void }} */
const item = (words, actions) => ({
  show: (entry, key) => {
    const known = elements.get(key);
    const shown = known ?? copyOf("item");
    const { what, more } = words(entry);
    fill(shown, { what, more });
    if (known !== undefined) return;
    elements.set(key, shown);
    for (const { text, of = "", act } of actions) {
      const button = element("button", text, "quiet");
      button.setAttribute("aria-label", `${text} ${of}${nameOf(entry)}`);
      button.addEventListener("click", () => void act(entries.get(key) ?? entry));
      shown.append(button);
    }
    find(projectElement(entry.project), `[data-list="${entry.kind}"]`).append(shown);
  },
});

const integration = item(
  ({ id, value }) => ({
    what: id,
    more: `on ${value.branch_id}, database ${value.db_name}, owned by ${value.owned_by}, keys at ${value.jwks_url}`,
  }),
  [
    deletion(
      "Its OAuth providers, domains and users are deleted with it, and the e-mail server is the shared one again.",
    ),
  ],
);

/** @type {Kinds} */
export const authKinds = {
  integration: {
    show: (entry, key) => {
      integration.show(entry, key);
      const link = find(elements.get(key), "a");
      const path = `/auth/${encodeURIComponent(entry.value.auth_provider_project_id)}/.well-known/openid-configuration`;
      link.hidden = false;
      if (link.getAttribute("href") !== path) link.href = path;
    },
  },
  oauth_provider: item(
    ({ id, value }) => ({
      what: id,
      more: value.client_id === undefined ? value.type : `${value.type}, client ${value.client_id}`,
    }),
    [deletion()],
  ),
  domain: item(({ id }) => ({ what: id, more: "" }), [deletion()]),
  user: item(
    ({ value }) => ({ what: value.email, more: value.name ?? "" }),
    [{ text: "Copy token", of: "of ", act: copyToken }, deletion()],
  ),
  signing_key: item(
    ({ id, value }) => ({ what: id, more: `${value.alg}, made ${value.created_at}${value.signs ? ", signs" : ""}` }),
    [{ text: "Drop", act: askToDrop }],
  ),
  key_set: item(({ id, value }) => ({ what: id, more: `made ${value.created_at}` }), []),
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
};

/** @type {(entry: Entry) => Promise<void>} */
async function copyToken({ project, id, value }) {
  const made = await send("POST", "/_emulator/tokens", { project_id: project, user: id });
  if (made === undefined) return;
  await copy(`Token of ${value.email}`, made.token, `A token of ${value.email} was copied. It expires in an hour.`);
}

/** @type {(entry: Entry) => void} */
function askToDrop({ id }) {
  const words = { title: `Drop signing key ${id}?`, text: "Tokens that it has signed verify no more.", verb: "Drop" };
  ask(words, async () => {
    if (await send("DELETE", `/_emulator/keys/${encodeURIComponent(id)}`)) notify(`Signing key ${id} was dropped.`);
  });
}

/** @type {(section: Element, project: string) => void} */
export function offerNewKey(section, project) {
  find(section, "[data-new-key]").addEventListener("click", async () => {
    if (await send("POST", "/_emulator/keys", { project_id: project }))
      notify("A new key signs from now on. What the earlier ones have signed verifies until they are dropped.");
  });
}
