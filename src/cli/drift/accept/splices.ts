/** Edits of a text that keep everything else byte for byte. */
import type * as ts from "typescript";
import type { ProgramFile } from "./programFile";

/** Replaces the text from `start` to `end`. */
interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** @throws if two overlap. Of two at the same position the first comes first. */
function spliced(text: string, splices: readonly Splice[]): string {
  let result = "";
  let done = 0;
  for (const { start, end, text: inserted } of splices.toSorted((one, other) => one.start - other.start)) {
    if (start < done) throw new Error("two edits of a program overlap");
    result += text.slice(done, start) + inserted;
    done = end;
  }
  return result + text.slice(done);
}

export type List = ts.ArrayLiteralExpression | ts.ObjectLiteralExpression;

export type Action =
  | { readonly replace: ts.Node; readonly by: string }
  | { readonly remove: ts.Node; readonly list: List }
  | { readonly add: string; readonly list: List };

/** The text of a file after edits. @throws if two of them overlap. */
export function edited(file: ProgramFile, actions: readonly Action[]): string {
  const lists = new Map<List, ListChange>();
  const splices = actions.flatMap((action): Splice[] => {
    if ("replace" in action)
      return [{ start: action.replace.getStart(file.source), end: action.replace.end, text: action.by }];
    // Edits of one list are combined, because they share its commas.
    const change = lists.get(action.list) ?? { removed: new Set(), added: [] };
    lists.set(action.list, change);
    if ("remove" in action) change.removed.add(action.remove);
    else change.added.push(action.add);
    return [];
  });
  return spliced(file.text, [...splices, ...[...lists].flatMap(([list, change]) => listSplices(file, list, change))]);
}

/** The elements or properties to remove, and the code of those to add. */
interface ListChange {
  readonly removed: Set<ts.Node>;
  readonly added: string[];
}

/** An element and its layout in the list. */
interface Item {
  readonly node: ts.Node;
  readonly start: number;
  /** The start of its comma. */
  readonly comma: number | undefined;
  /** The position after the comma and after comments on the same line. */
  readonly end: number;
  /** Nothing precedes it on its line. */
  readonly beginsLine: boolean;
  /** Nothing follows it on its line. */
  readonly endsLine: boolean;
}

/**
 * An element on its own line is removed with the line, and new elements get lines of their own. Comments on other lines
 * stay. New elements are appended in the layout of the previous one.
 */
function listSplices(file: ProgramFile, list: List, { removed, added }: ListChange): Splice[] {
  const { text, source } = file;
  const items = itemsOf(file, list);
  const [inside, close] = [list.getStart(source) + 1, list.end - 1];
  const gone = items.filter(({ node }) => removed.has(node));
  const last = items.filter(({ node }) => !removed.has(node)).at(-1);
  if (last === undefined) return emptied(file, list, { items, added, inside, close });
  const endsWithComma = items.at(-1)?.comma !== undefined;
  const splices: Splice[] = [];
  const needsComma = added.length > 0 || endsWithComma;
  if (needsComma && last.comma === undefined) splices.push(insertion(last.node.end, ","));
  if (!needsComma && last.comma !== undefined) splices.push({ start: last.comma, end: last.comma + 1, text: "" });
  if (added.length > 0) {
    const trailing = endsWithComma ? "," : "";
    const hasLine = last.beginsLine && last.endsLine;
    const before = hasLine ? `${newLineAt(text, last.end)}${indentAt(text, last.start)}` : " ";
    const at = hasLine ? last.end : behindComma(last);
    splices.push(insertion(at, added.map((code) => before + code).join(",") + trailing));
  }
  const place = items.indexOf(last);
  return [...splices, ...removals(text, gone, { items, isFollowed: (item) => items.indexOf(item) < place })];
}

/** Two neighbours may both include the whitespace between them. */
function removals(
  text: string,
  gone: readonly Item[],
  { items, isFollowed }: { items: readonly Item[]; isFollowed: (item: Item) => boolean },
): Splice[] {
  let done = 0;
  return gone.flatMap((item) =>
    removal(text, item, isFollowed(item), items).map(([start, end]) => {
      const from = Math.max(start, done);
      done = Math.max(end, from);
      return { start: from, end: done, text: "" };
    }),
  );
}

const insertion = (at: number, text: string): Splice => ({ start: at, end: at, text });

function itemsOf({ source, text, typescript }: ProgramFile, list: List): Item[] {
  const commas = new Map<number, number>();
  let before = -1;
  // The second child contains elements and commas in turn; the other children are the brackets.
  for (const token of list.getChildren(source)[1]?.getChildren(source) ?? []) {
    if (token.kind === typescript.SyntaxKind.CommaToken) commas.set(before, token.getStart(source));
    before = token.end;
  }
  const nodes: readonly ts.Node[] = "elements" in list ? list.elements : list.properties;
  return nodes.map((node) => {
    const start = node.getStart(source);
    const comma = commas.get(node.end);
    const begin = comma === undefined ? node.end : comma + 1;
    const comments = typescript.getTrailingCommentRanges(text, begin) ?? [];
    const end = comments.at(-1)?.end ?? begin;
    return {
      node,
      start,
      comma,
      end,
      beginsLine: /^[^\S\r\n]*$/.test(text.slice(lineStart(text, start), start)),
      endsLine: /^[^\S\r\n]*\r?\n/.test(text.slice(end)) && !/[\r\n]/.test(text.slice(node.end, end)),
    };
  });
}

/** All elements were removed. */
function emptied(
  file: ProgramFile,
  list: List,
  { items, added, inside, close }: { items: readonly Item[]; added: readonly string[]; inside: number; close: number },
): Splice[] {
  const { text } = file;
  const [first, final] = [items[0], items.at(-1)];
  const pad = "properties" in list ? " " : "";
  if (first === undefined || final === undefined) {
    if (added.length === 0) return [];
    const content = text.slice(inside, close);
    // If the bracket has its own line, so has each element.
    if (/[\r\n][^\S\r\n]*$/.test(content)) {
      const indent = indentAt(text, close);
      const at = lineStart(text, close);
      const lines = added.map((code) => `${indent}${indentUnit(text)}${code},${newLineAt(text, inside)}`);
      return [insertion(at, lines.join(""))];
    }
    if (content.trim() === "") return [{ start: inside, end: close, text: `${pad}${added.join(", ")}${pad}` }];
    return [insertion(inside + content.trimEnd().length, ` ${added.join(", ")}`)];
  }
  const isAlone = items.every(
    (item, index) => text.slice(items[index - 1]?.end ?? inside, item.start).trim() === "" && noComment(text, item),
  );
  const endsWithComma = final.comma !== undefined;
  if (added.length === 0) {
    if (isAlone && text.slice(final.end, close).trim() === "") return [{ start: inside, end: close, text: "" }];
    return removals(text, items, { items, isFollowed: () => false });
  }
  if (items.every(({ beginsLine, endsLine }) => beginsLine && endsLine)) {
    const indent = indentAt(text, first.start);
    const lines = added.map((code, index) => {
      const comma = endsWithComma || index < added.length - 1 ? "," : "";
      return `${indent}${code}${comma}${newLineAt(text, final.end)}`;
    });
    const at = lineStart(text, first.start);
    return [insertion(at, lines.join("")), ...removals(text, items, { items, isFollowed: () => false })];
  }
  const gone = removals(text, items, { items, isFollowed: () => false });
  return [insertion(inside, pad + added.join(", ")), ...gone];
}

const noComment = (text: string, { node, comma, end }: Item): boolean =>
  text.slice(node.end, end).trim() === (comma === undefined ? "" : ",");

/** The ranges to remove. `isFollowed`: a remaining element follows. */
function removal(
  text: string,
  item: Item,
  isFollowed: boolean,
  items: readonly Item[],
): (readonly [start: number, end: number])[] {
  const { start, comma, end, node, beginsLine, endsLine } = item;
  if (beginsLine && endsLine) {
    return [[lineStart(text, start), end + matched(/^[^\S\r\n]*\r?\n/, text.slice(end)).length]];
  }
  const behind = behindComma(item);
  const blanks = matched(/^[^\S\r\n]*/, text.slice(behind)).length;
  const isLastOfLine = /^\r?\n/.test(text.slice(behind + blanks));
  const goesOn = isFollowed && !isLastOfLine;
  const from = goesOn
    ? start
    : start - blanksBefore(text, item, isFollowed ? undefined : items[items.indexOf(item) - 1]);
  const to = goesOn ? behind + blanks : behind;
  // A comment may precede the comma.
  if (comma === undefined || text.slice(node.end, comma).trim() === "") return [[from, to]];
  return [
    [from, node.end],
    [comma, to],
  ];
}

/**
 * The start of the whitespace (with line ends) before an element, if only whitespace separates it from the previous
 * one. A comment may need its line end.
 */
function blanksBefore(text: string, { start }: Item, previous: Item | undefined): number {
  const gap = previous !== undefined && previous.end === behindComma(previous) ? text.slice(previous.end, start) : "-";
  return gap.trim() === "" ? gap.length : matched(/[^\S\r\n]*$/, text.slice(lineStart(text, start), start)).length;
}

const behindComma = ({ comma, node }: Item): number => (comma === undefined ? node.end : comma + 1);

const matched = (pattern: RegExp, text: string): string => pattern.exec(text)?.[0] ?? "";

const lineStart = (text: string, position: number): number => text.lastIndexOf("\n", position - 1) + 1;

/** The indentation of a position's line. */
const indentAt = (text: string, position: number): string =>
  matched(/^[^\S\r\n]*/, text.slice(lineStart(text, position)));

/** The indentation of the first indented line. */
const indentUnit = (text: string): string => /^(\t| {2,8})(?=\S)/m.exec(text)?.[1] ?? "  ";

/** The line end used at a position. */
const newLineAt = (text: string, position: number): string =>
  text[text.indexOf("\n", position) - 1] === "\r" ? "\r\n" : "\n";
