/** Lines around a change. */
const CONTEXT = 3;

/** A line that both texts have, or one of them. */
interface Line {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** The unified diff of two texts of one file, as git writes it; nothing where they are equal. */
export function unifiedDiff(name: string, before: string, after: string): string {
  const lines = compared(linesOf(before), linesOf(after));
  const hunks = hunksOf(lines);
  if (hunks.length === 0) return "";
  return [`--- a/${name}\n`, `+++ b/${name}\n`, ...hunks.map((hunk) => hunkText(lines, hunk))].join("");
}

/** With their line ends. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** By Myers' greedy algorithm: its time and memory follow from the size of the difference, and an edit is small. */
function compared(before: readonly string[], after: readonly string[]): Line[] {
  // For each diagonal, how far into `before` so many changes lead: one entry for each number of changes.
  const steps: ReadonlyMap<number, number>[] = [];
  const reached = new Map([[1, 0]]);
  const at = (from: ReadonlyMap<number, number>, diagonal: number): number => from.get(diagonal) ?? -1;
  // Whether the best way onto a diagonal is a line of `after`, else it is one of `before`.
  const isAdded = (from: ReadonlyMap<number, number>, diagonal: number, changes: number): boolean =>
    diagonal === -changes || (diagonal !== changes && at(from, diagonal - 1) < at(from, diagonal + 1));
  for (let changes = 0, isEnd = false; !isEnd; changes++) {
    steps.push(new Map(reached));
    for (let diagonal = -changes; diagonal <= changes && !isEnd; diagonal += 2) {
      let x = isAdded(reached, diagonal, changes) ? at(reached, diagonal + 1) : at(reached, diagonal - 1) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++;
      reached.set(diagonal, x);
      isEnd = x >= before.length && x - diagonal >= after.length;
    }
  }
  const lines: Line[] = [];
  const add = (sign: Line["sign"], text = ""): void => void lines.push({ sign, text });
  let [x, y] = [before.length, after.length];
  for (const [changes, from] of [...steps.entries()].toReversed()) {
    const added = isAdded(from, x - y, changes);
    const previous = x - y + (added ? 1 : -1);
    // Where the change of this step begins; without one, the start.
    const [startX, startY] = changes === 0 ? [0, 0] : [at(from, previous), at(from, previous) - previous];
    for (; x > startX && y > startY; x--, y--) add(" ", before[x - 1]);
    if (changes > 0 && added) add("+", after[--y]);
    else if (changes > 0) add("-", before[--x]);
  }
  return lines.toReversed();
}

/** From and to which line: changes with their context, those that meet as one. */
function hunksOf(lines: readonly Line[]): [number, number][] {
  const hunks: [number, number][] = [];
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    const last = hunks.at(-1);
    const to = Math.min(lines.length, index + CONTEXT + 1);
    if (last !== undefined && index - CONTEXT <= last[1]) last[1] = to;
    else hunks.push([Math.max(0, index - CONTEXT), to]);
  }
  return hunks;
}

function hunkText(lines: readonly Line[], [from, to]: [number, number]): string {
  const count = (part: readonly Line[], sign: "-" | "+"): number =>
    part.filter((line) => line.sign === " " || line.sign === sign).length;
  const [above, within] = [lines.slice(0, from), lines.slice(from, to)];
  const range = (sign: "-" | "+"): string => {
    const length = count(within, sign);
    return `${count(above, sign) + (length === 0 ? 0 : 1)},${length}`;
  };
  const body = within.map(
    ({ sign, text }) => `${sign}${text}${text.endsWith("\n") ? "" : "\n\\ No newline at end of file\n"}`,
  );
  return `@@ -${range("-")} +${range("+")} @@\n${body.join("")}`;
}
