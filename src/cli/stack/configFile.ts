/**
 * Edits of `Pulumi.<stack>.yaml` that leave all else of the file as it is: `pulumi config set` drops blank lines, and writes other
 * values anew. Only forms that `pulumi config set` and people write are known; of any other one there is no edit.
 */

type Path = readonly (string | number)[];

interface YamlEntry {
  /** Its first line, by its index. */
  readonly at: number;
  /** The key, the colon and blanks. */
  readonly head: string;
  /** The value as it is written; empty where it begins on the next line. */
  readonly value: string;
  /** Blanks and a comment. */
  readonly tail: string;
}

/**
 * The text with another value of a key. `whole`: the value of the key as a whole, where the file has none.
 * @returns undefined where the form of the file is not known.
 */
export function withSetting(
  text: string,
  keys: readonly string[],
  { path, value, whole }: { readonly path: Path; readonly value: unknown; readonly whole: unknown },
): string | undefined {
  const newLine = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(/\r?\n/);
  // Another document, or what a line may have to do with another one.
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
  /** Behind the last line that is neither blank nor a comment. */
  readonly end: number;
}

const isText = (line: string): boolean => !/^\s*(#|$)/.test(line);
export const indentOf = (line: string): number => line.length - line.trimStart().length;

/** What is indented below a line. */
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

/** Changes the lines. */
function edited(
  lines: string[],
  { at, head, value: old, tail }: YamlEntry,
  indent: number,
  { path, value }: { readonly path: Path; readonly value: unknown },
): boolean {
  const [key, ...rest] = path;
  if (key === undefined) {
    // A block, an anchor, a tag: the value is more than this line.
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
  // A flow of one level and without texts, of which a part may look like another one.
  const isFlow = /^\{\s*(?:"?\w+"?\s*:\s*[\w.-]+\s*(?:,\s*|(?=\})))*\}$/.test(old);
  if (rest.length > 0 || !isFlow || !/^\w+$/.test(key) || isContinued(lines, at, indent)) return false;
  const part = new RegExp(`([{,]\\s*"?${key}"?\\s*:\\s*)[\\w.-]+`);
  if (!part.test(old)) return false;
  lines[at] = `${head}${old.replace(part, (_all, before: string) => before + written(value, ""))}${tail}`;
  return true;
}

/** Whether the value goes on below. */
function isContinued(lines: readonly string[], at: number, indent: number): boolean {
  const next = lines.slice(at + 1).find(isText);
  return next !== undefined && indentOf(next) > indent;
}

/** As YAML, in one line. `old`: as the value was written before. */
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
