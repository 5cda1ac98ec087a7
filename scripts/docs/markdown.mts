/** A table of the columns that say something, from rows with the same keys: the headings. */
export function table(rows: Record<string, string>[]): string {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => rows.some((row) => row[column]));
  const cells = rows.map((row) => columns.map((column) => oneLine(row[column]).replace(/\|/g, "\\|")));
  const lines = [columns, columns.map(() => "---"), ...cells];
  return rows.length === 0 ? "" : lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** A list of links to headings, each with the first sentence of its text. */
export function contents(title: string, headings: { name: string; text: string }[]): string {
  const lines = headings.map(({ name, text }) => {
    const [first] = oneLine(text).split(/(?<=\.) (?=[A-Z`])/);
    return `- [${name}](#${name.toLowerCase()})${first && `: ${first}`}`;
  });
  return `**${title}**\n\n${lines.join("\n")}`;
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

export function paragraphs(...parts: (string | undefined)[]): string {
  return parts.filter(Boolean).join("\n\n");
}
