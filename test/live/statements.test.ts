import { KINDS } from "../../src/contract/pointer";
import { textOf } from "../support/codeBlocks";
import { Exchanges } from "./exchanges";
import { COMPUTES } from "./kinds/computeStatements";
import { judge, STATEMENTS } from "./report";

const flat = (text: string): string => text.replace(/\s+/g, " ");

/** The text below each heading, up to the next one, on one line. */
function sections(): Map<string, string> {
  const [, ...parts] = textOf("docs/design/api.md").split(/^#+ /m);
  return new Map(
    parts.map((part) => [part.slice(0, part.indexOf("\n")), flat(part.slice(part.indexOf("\n")))] as const),
  );
}

const ALL = STATEMENTS.flatMap((table) =>
  Object.entries(table).flatMap(([section, rows]) => rows.map(({ name, quote }) => ({ section, name, quote }))),
);

/** Marks that are no statement about the service. */
const NO_STATEMENTS = [{ section: "Not known", quote: "Not described, not observed, and not assumed" }];
/** It says what the marks mean. */
const LEGEND = "The service's API";

const MARK = /\b(?:observed|assumed)\b/gi;

test("each statement quotes words of its section of docs/design/api.md", () => {
  const texts = sections();
  expect(ALL.filter(({ section, quote }) => texts.get(section)?.includes(quote) !== true)).toEqual([]);
});

test("each mark of docs/design/api.md belongs to a statement that is tried, or says why not", () => {
  const unmatched = [...sections()].flatMap(([section, text]) => {
    if (section === LEGEND) return [];
    const quotes = [...ALL, ...NO_STATEMENTS].filter((one) => one.section === section);
    const spans = quotes.map(({ quote }) => [text.indexOf(quote), text.indexOf(quote) + quote.length] as const);
    const isQuoted = (at: number): boolean => spans.some(([from, to]) => from >= 0 && at >= from && at < to);
    const marks = [...text.matchAll(MARK)].filter(({ index }) => !isQuoted(index));
    return marks.map(({ index }) => `${section}: ${text.slice(Math.max(0, index - 60), index + 20)}`);
  });
  expect(unmatched).toEqual([]);
});

test("a step runs the lifecycle of each kind", () => {
  const runs = (kind: string): boolean =>
    new RegExp(`(create|tryOut)\\(\\s*"${kind}"`).test(textOf(`test/live/kinds/${kind}.ts`));
  expect(KINDS.filter((kind) => !runs(kind))).toEqual([]);
});

test("a name stands for one statement", () => {
  const names = ALL.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index || !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
});

test.each([
  [2_010, { verdict: "holds", seen: "computes after 2000 ms" }],
  [4_010, { verdict: "differs", seen: "computes after 4000 ms", isHandled: false }],
])(
  "a list that lacks a new compute until %i ms: the report says how long, and whether that is too long",
  (at, seen) => {
    const exchanges = new Exchanges();
    const { template } = COMPUTES;
    const add = (method: string, sentAt: number, status: number, body: object): void => {
      const text = JSON.stringify(body);
      const time = { sentAt, answeredAt: method === "POST" ? 10 : sentAt };
      exchanges.add({
        method,
        template,
        status,
        text,
        path: "",
        contentType: "",
        retryAfter: undefined,
        sent: {},
        ...time,
      });
    };
    exchanges.step = "compute-create";
    add("POST", 0, 201, { endpoint: { id: "ep-1" } });
    for (const [sentAt, endpoints] of [
      [20, []],
      [at, []],
      [at + 500, [{ id: "ep-1" }]],
      // Deleted by the same step.
      [at + 900, []],
    ] as const)
      add("GET", sentAt, 200, { endpoints });
    expect(judge(exchanges).find(({ name }) => name === "list-lag")).toMatchObject(seen);
  },
);
