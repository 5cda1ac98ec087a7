/** What the page knows: the records of the emulator, and the element of each. */

/** @typedef {Record<string, any>} Value A record as the control routes show it, each kind with its own fields. */
/** @typedef {{ kind: string, project: string, id: string, value: Value }} Entry */
/** How records are shown, by their kind. @typedef {Record<string, { show(entry: Entry, key: string): void, gone?(entry: Entry, key: string): void }>} Kinds */

/** @type {Map<string, Entry>} */
export const entries = new Map();
/** The element of each record. @type {Map<string, any>} */
export const elements = new Map();
export const keyOf = (/** @type {string} */ kind, /** @type {string} */ project, /** @type {string} */ id) =>
  JSON.stringify([kind, project, id]);

/** @type {(project: string) => any} */
export const projectElement = (project) => elements.get(keyOf("project", "", project));

export const valueOf = (/** @type {string} */ kind, /** @type {string} */ project, /** @type {string} */ id) =>
  entries.get(keyOf(kind, project, id))?.value;

/** The operations of each compute, oldest first: so that a row is found without a look at all of them. @type {Map<string, Map<string, Value>>} */
export const operationsOf = new Map();
