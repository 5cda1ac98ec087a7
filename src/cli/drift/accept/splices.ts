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
  for (const { start, end, text: inserted } of splices.toSorted(
    (one, other) => one.start - other.start || one.end - other.end,
  )) {
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

/** An element, and the text around it. */
interface Item {
  readonly node: ts.Node;
  readonly start: number;
  /** What precedes it, from the end of the previous item. */
  readonly lead: string;
  /** Between it and its comma. */
  readonly after: string;
  readonly hasComma: boolean;
  /** Comments after the comma, on the same line. */
  readonly trail: string;
  readonly end: number;
}

/**
 * The texts between the elements that stay. An element is removed with its line, and new elements get the layout of the
 * previous one. Comments on other lines stay.
 */
function listSplices(file: ProgramFile, list: List, { removed, added }: ListChange): Splice[] {
  const [inside, close] = [list.getStart(file.source) + 1, list.end - 1];
  const items = itemsOf(file, list, inside);
  const last = items.at(-1);
  if (last === undefined) return [filled(file, list, { added, inside, close })];
  const splices: Splice[] = [];
  let gap: Gap = { start: inside, text: "" };
  let following = items.length - removed.size + added.length;
  for (const item of items) {
    if (removed.has(item.node)) {
      const isBelow = item.after.includes("\n");
      gap.carry = merged(merged(gap.carry, item.lead), isBelow ? item.after + item.trail : "");
      continue;
    }
    splices.push({ start: gap.start, end: item.start, text: joined(gap.text, merged(gap.carry, item.lead)) });
    following -= 1;
    const comma = following > 0 || last.hasComma ? "," : "";
    gap = { start: item.node.end, text: item.after + comma + item.trail, layout: item.lead };
  }
  const tail = file.text.slice(last.end, close);
  const end = { start: gap.start, end: close, text: endOf(gap, added, { tail, comma: last.hasComma ? "," : "" }) };
  return [...splices, end].filter((one) => one.text !== file.text.slice(one.start, one.end));
}

/** The text after an element that stays, or after the bracket. */
interface Gap {
  readonly start: number;
  readonly text: string;
  /** The layout of this element. */
  readonly layout?: string;
  /** The layout and the comments of what is removed after it. */
  carry?: string;
}

/** The last gap of a list, with the elements that are added. */
function endOf(
  { text: before, layout, carry = "" }: Gap,
  added: readonly string[],
  { tail, comma }: { readonly tail: string; readonly comma: string },
): string {
  const line = /\r?\n[^\S\r\n]*$/.exec(layout ?? carry)?.[0] ?? " ";
  const first = layout === undefined ? carry : line;
  const codes = added.map((code, index) => (index === 0 ? joined(first, code) : line + code)).join(",");
  const isUsed = layout === undefined && added.length > 0;
  const after = carry.trim() === "" || isUsed ? tail : joined(carry.trimEnd(), tail);
  if (added.length > 0) return joined(before, codes) + comma + after;
  const text = joined(before, after);
  return layout === undefined && text.trim() === "" ? "" : text;
}

function itemsOf({ source, text, typescript }: ProgramFile, list: List, inside: number): Item[] {
  // The second child contains elements and commas in turn; the other children are the brackets.
  const tokens = list.getChildren(source)[1]?.getChildren(source) ?? [];
  const items: Item[] = [];
  for (const [index, node] of tokens.entries()) {
    if (node.kind === typescript.SyntaxKind.CommaToken) continue;
    const [comma, start] = [tokens[index + 1], node.getStart(source)];
    const begin = comma?.end ?? node.end;
    const end = typescript.getTrailingCommentRanges(text, begin)?.at(-1)?.end ?? begin;
    const lead = text.slice(items.at(-1)?.end ?? inside, start);
    const after = comma === undefined ? "" : text.slice(node.end, comma.getStart(source));
    items.push({ node, start, lead, after, hasComma: comma !== undefined, trail: text.slice(begin, end), end });
  }
  return items;
}

/** The layout of one element followed by that of the next: their comments stay. */
function merged(one: string | undefined, next: string): string {
  if (one === undefined || (one.trim() === "" && next.trim() !== "")) return next;
  if (next.trim() !== "") return joined(one.trimEnd(), next);
  return one.trim() === "" || /\n[^\S\r\n]*$/.test(one) ? one : joined(one, next);
}

/** A line comment needs the end of its line. */
const joined = (one: string, next: string): string =>
  /\/\/(?!.*\*\/)[^\r\n]*$/.test(one) && !/^[^\S\r\n]*\r?\n/.test(next) ? `${one}\n${next}` : one + next;

/** A list without elements. If its bracket has its own line, so has each element. */
function filled(
  { text }: ProgramFile,
  list: List,
  { added, inside, close }: { readonly added: readonly string[]; readonly inside: number; readonly close: number },
): Splice {
  const content = text.slice(inside, close);
  const [, newLine, indent = ""] = /(\r?\n)([^\S\r\n]*)$/.exec(content) ?? [];
  if (newLine !== undefined) {
    const unit = /^(\t| {2,8})(?=\S)/m.exec(text)?.[1] ?? "  ";
    const at = close - indent.length;
    return { start: at, end: at, text: added.map((code) => `${indent}${unit}${code},${newLine}`).join("") };
  }
  const pad = "properties" in list ? " " : "";
  const [before, after] = content.trim() === "" ? [pad, pad] : [`${content.trimEnd()} `, ""];
  return { start: inside, end: close, text: added.length === 0 ? content : before + added.join(", ") + after };
}
