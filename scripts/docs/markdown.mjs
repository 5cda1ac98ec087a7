/**
 * Where each documented name stands: its page and heading.
 * @typedef {Map<string, { page: string, heading: string }>} Places
 */

/** @param {string} heading */
function anchor(heading) {
  return heading.toLowerCase();
}

/**
 * Code that leads to the first documented name in it.
 * @param {string} code
 * @param {Places} places
 * @param {string} page the one that the link stands on
 */
export function typeLink(code, places, page) {
  const found = [...code.matchAll(/(?<!")\b\w+\b(?!")/g)].map(([name]) => places.get(name)).find(Boolean);
  if (!found) return `\`${code}\``;
  return `[\`${code}\`](${found.page === page ? "" : found.page}#${anchor(found.heading)})`;
}

/**
 * A table of the columns that say something.
 * @param {Record<string, string>[]} rows each with the same keys: the headings
 */
export function table(rows) {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => rows.some((row) => row[column]));
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [
    line(columns),
    line(columns.map(() => "---")),
    ...rows.map((row) => line(columns.map((column) => cell(row[column])))),
  ].join("\n");
}

/**
 * A line of a table of contents.
 * @param {string} heading
 * @param {string} [text] the first sentence of it is shown
 */
export function contentsLine(heading, text = "") {
  const [first = ""] = oneLine(text).split(/(?<=\.) (?=[A-Z`])/);
  return `- [${heading}](#${anchor(heading)})${first && `: ${first}`}`;
}

/** @param {string} text */
export function oneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}

/** @param {string[]} parts */
export function paragraphs(...parts) {
  return parts.filter((part) => part !== "").join("\n\n");
}

/** @param {string} text */
function cell(text) {
  return oneLine(text).replace(/\|/g, "\\|");
}
