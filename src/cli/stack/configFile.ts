/**
 * Edits `Pulumi.<stack>.yaml` and keeps the rest of the file: `pulumi config set` drops blank lines and rewrites
 * values. It supports only the forms that `pulumi config set` and people write, and makes no edit in any other.
 */

type Path = readonly (string | number)[];

interface YamlEntry {
  /** The index of its first line. */
  readonly at: number;
  /** The key, the colon and spaces. */
  readonly head: string;
  /** The value as written; empty if it begins on the next line. */
  readonly value: string;
  /** Spaces and a comment. */
  readonly tail: string;
}

/**
 * The text with a new value for a key. `whole`: the value of the entire key, if the file does not have the key.
 * @returns undefined if the form of the file is not supported.
 */
export function withSetting(
  text: string,
  keys: readonly string[],
  { path, value, whole }: { readonly path: Path; readonly value: unknown; readonly whole: unknown },
): string | undefined {
  const newLine = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(/\r?\n/);
  // Several documents, or lines that may depend on each other.
  if (lines.some((line) => /^(---|\.\.\.|%)/.test(line) || /^\s*\t/.test(line))) return undefined;
  const own = `${keys[0] ?? ""}: ${written(whole, "")}`;
  const start = lines.findIndex((line) => /^(config|"config"|'config')\s*:/.test(line));
  if (start < 0) {
    const before = text === "" || text.endsWith("\n") ? text : text + newLine;
    return `${before}config:${newLine}  ${own}${newLine}`;
  }
  if (!/^config:\s*(#.*)?$/.test(lines[start] ?? "")) return undefined;
  const block = blockBelow(lines, start, -1);
  if (block === undefined) {
    lines.splice(start + 1, 0, `  ${own}`);
    return lines.join(newLine);
  }
  const entries = keys.flatMap((key) => entriesOf(lines, block, key));
  const [entry, second] = entries;
  if (second !== undefined) return undefined;
  if (entry === undefined) {
    lines.splice(block.end, 0, `${" ".repeat(block.indent)}${own}`);
    return lines.join(newLine);
  }
  const isEdited = edited(lines, entry, block.indent, { path, value });
  return isEdited ? lines.join(newLine) : undefined;
}

interface Block {
  readonly indent: number;
  readonly start: number;
  /** The index after the last line that is neither blank nor a comment. */
  readonly end: number;
}

const isText = (line: string): boolean => !/^\s*(#|$)/.test(line);
export const indentOf = (line: string): number => line.length - line.trimStart().length;

/** The lines indented below a line. */
function blockBelow(lines: readonly string[], start: number, above: number): Block | undefined {
  const next = lines.findIndex((line, index) => index > start && isText(line));
  const indent = next < 0 ? 0 : indentOf(lines[next] ?? "");
  if (next < 0 || indent <= Math.max(above, 0)) return undefined;
  const after = lines.findIndex((line, index) => index > next && isText(line) && indentOf(line) < indent);
  const inside = lines.slice(0, after < 0 ? lines.length : after);
  return { indent, start: next, end: inside.findLastIndex(isText) + 1 };
}

function entriesOf(lines: readonly string[], { indent, start, end }: Block, key: string): YamlEntry[] {
  return lines.slice(start, end).flatMap((line, index) => {
    if (indentOf(line) !== indent) return [];
    const [, quoted, single, plain, rest = ""] =
      /^\s*(?:"([^"\\]*)"|'([^']*)'|([^"'#\s][^#]*?))\s*:(?:\s+|$)(.*)$/.exec(line) ?? [];
    if ((quoted ?? single ?? plain) !== key) return [];
    const [, value = "", tail = ""] =
      /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^#\s"'](?:[^#]|(?<=\S)#)*?|)(\s*(?:(?<=\s|^)#.*)?)$/.exec(rest) ?? [];
    if (value + tail !== rest) return [];
    return { at: start + index, head: line.slice(0, line.length - rest.length), value, tail };
  });
}

/** Changes `lines` in place. */
function edited(
  lines: string[],
  { at, head, value: old, tail }: YamlEntry,
  indent: number,
  { path, value }: { readonly path: Path; readonly value: unknown },
): boolean {
  const [key, ...rest] = path;
  if (key === undefined) {
    // A block, an anchor or a tag: the value extends beyond this line.
    const isInLine = old !== "" && !/^[|>&*!%@`]/.test(old) && !isContinued(lines, at, indent);
    if (isInLine) lines[at] = `${head}${written(value, old)}${tail}`;
    return isInLine;
  }
  if (typeof key === "number") return false;
  if (old === "") {
    const block = blockBelow(lines, at, indent);
    const [entry, second] = block === undefined ? [] : entriesOf(lines, block, key);
    if (block === undefined || second !== undefined) return false;
    if (entry !== undefined) return edited(lines, entry, block.indent, { path: rest, value });
    if (rest.length > 0) return false;
    lines.splice(block.end, 0, `${" ".repeat(block.indent)}${key}: ${written(value, "")}`);
    return true;
  }
  // A flow mapping of one level without strings, so that no part can be mistaken for another.
  const isFlow = /^\{\s*(?:"?\w+"?\s*:\s*[\w.-]+\s*(?:,\s*|(?=\})))*\}$/.test(old);
  if (rest.length > 0 || !isFlow || !/^\w+$/.test(key) || isContinued(lines, at, indent)) return false;
  const part = new RegExp(`([{,]\\s*"?${key}"?\\s*:\\s*)[\\w.-]+`);
  if (!part.test(old)) return false;
  lines[at] = `${head}${old.replace(part, (_all, before: string) => before + written(value, ""))}${tail}`;
  return true;
}

/** Whether the value continues on the next line. */
function isContinued(lines: readonly string[], at: number, indent: number): boolean {
  const next = lines.slice(at + 1).find(isText);
  return next !== undefined && indentOf(next) > indent;
}

/** As YAML on one line. `old`: the previous notation. */
function written(value: unknown, old: string): string {
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  const text = String(value);
  if (old.startsWith('"')) return JSON.stringify(text);
  if (old.startsWith("'")) return `'${text.replaceAll("'", "''")}'`;
  const isPlain =
    typeof value !== "string" ||
    (/^[A-Za-z][\w./-]*$/.test(text) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(text));
  return isPlain ? text : JSON.stringify(text);
}
