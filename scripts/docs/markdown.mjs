/**
 * A table of the columns that say something.
 * @param {Record<string, string | undefined>[]} rows each with the same keys: the headings
 */
export function table(rows) {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => rows.some((row) => row[column]));
  const lines = [columns, columns.map(() => "---"), ...rows.map((row) => columns.map((column) => cell(row[column])))];
  return rows.length === 0 ? "" : lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** @param {string} [text] */
function cell(text = "") {
  return oneLine(text).replace(/\|/g, "\\|");
}

/** @param {string} text */
export function oneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}

/**
 * A list of links to headings, each with the first sentence of its text.
 * @param {string} title
 * @param {{ name: string, text?: string }[]} headings
 */
export function contents(title, headings) {
  const lines = headings.map(({ name, text = "" }) => {
    const [first] = oneLine(text).split(/(?<=\.) (?=[A-Z`])/);
    return `- [${name}](#${name.toLowerCase()})${first && `: ${first}`}`;
  });
  return `**${title}**\n\n${lines.join("\n")}`;
}

/** @param {(string | undefined)[]} parts */
export function paragraphs(...parts) {
  return parts.filter(Boolean).join("\n\n");
}
