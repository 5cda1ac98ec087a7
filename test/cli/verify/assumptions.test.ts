import { textOf } from "../../support/codeBlocks";
import { KINDS } from "../../../src/contract/pointer";
import { ASSUMPTIONS } from "../../../src/cli/verify/assumptions";
import { DESCRIBED } from "../../../src/cli/verify/undescribed";

const flat = (text: string): string => text.replace(/\s+/g, " ");

/** The text below each heading, up to the next one, on one line. */
function sections(): Map<string, string> {
  const [, ...parts] = textOf("docs/design/api.md").split(/^#+ /m);
  return new Map(
    parts.map((part) => [part.slice(0, part.indexOf("\n")), flat(part.slice(part.indexOf("\n")))] as const),
  );
}

/** Marks that are no statement about the service. */
const NO_STATEMENTS = [{ section: "Not known", quote: "Not described, not observed, and not assumed" }];
/** It says what the marks mean. */
const LEGEND = "The service's API";

const MARK = /\b(?:observed|assumed)\b/gi;

test("each assumption quotes a sentence of its section of docs/design/api.md", () => {
  const texts = sections();
  const lost = ASSUMPTIONS.filter(({ section, quote }) => texts.get(section)?.includes(quote) !== true);
  expect(lost.map(({ name, section, quote }) => [name, section, quote])).toEqual([]);
});

test("each mark of docs/design/api.md belongs to an assumption that is tried, or says why not", () => {
  const unmatched = [...sections()].flatMap(([section, text]) => {
    if (section === LEGEND) return [];
    const quotes = [...ASSUMPTIONS, ...NO_STATEMENTS].filter((one) => one.section === section);
    const spans = quotes.map(({ quote }) => [text.indexOf(quote), text.indexOf(quote) + quote.length] as const);
    const isQuoted = (at: number): boolean => spans.some(([from, to]) => from >= 0 && at >= from && at < to);
    const marks = [...text.matchAll(MARK)].filter(({ index }) => !isQuoted(index));
    return marks.map(({ index }) => `${section}: ${text.slice(Math.max(0, index - 60), index + 20)}`);
  });
  expect(unmatched).toEqual([]);
});

test("a step runs the lifecycle of each kind", () => {
  const steps = ["computeSteps", "authSteps"].map((name) => textOf(`src/cli/verify/${name}.ts`)).join("\n");
  expect(KINDS.filter((kind) => !new RegExp(`create\\(\\s*"${kind}"`).test(steps))).toEqual([]);
});

test("a name stands for one assumption", () => {
  const names = ASSUMPTIONS.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index || !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
});

test("each field that counts as described stands in docs/design/api.md", () => {
  const text = flat(textOf("docs/design/api.md"));
  const lacking = Object.values(DESCRIBED)
    .flat()
    .filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
  expect(lacking).toEqual([]);
});
