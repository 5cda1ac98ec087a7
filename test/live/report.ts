import { terminalText } from "../../src/cli/output";
import { messageOf } from "../../src/contract/untrusted";
import type { Exchanges } from "./exchanges";
import type { Finding, Sections, Tried } from "./findings";
import { generalStatements } from "./general";
import { EACH } from "./kinds";
import type { StepResult } from "./run";
import type { Left } from "./sweep";

/** The statements of docs/design/api.md that a run judges: of the service as a whole, and of each kind. */
export const STATEMENTS: readonly Sections[] = [generalStatements, ...EACH.map(({ statements }) => statements)];

export interface Judged extends Finding {
  readonly name: string;
  /** The section and the words of docs/design/api.md. */
  readonly section: string;
  readonly quote: string;
  /** The provider copes with a service that differs. */
  readonly isHandled: boolean;
}

export interface LiveReport {
  /** A signal has ended it before its last step. */
  readonly isStopped: boolean;
  readonly steps: readonly StepResult[];
  readonly statements: readonly Judged[];
  readonly left: readonly Left[];
}

/** Whether the provider works at this service. A difference that it copes with is no failure. */
export const isGoodReport = ({ isStopped, steps, statements, left }: LiveReport): boolean =>
  !isStopped &&
  left.length === 0 &&
  steps.every(({ outcome }) => outcome !== "failed") &&
  statements.every(({ verdict, isHandled }) => verdict !== "differs" || isHandled);

/** Every statement, with what the exchanges show of it. Those of a section follow each other. */
export function judge(exchanges: Exchanges, tables: readonly Sections[] = STATEMENTS): Judged[] {
  const sections = [...new Set(tables.flatMap((table) => Object.keys(table)))];
  return sections.flatMap((section) =>
    tables
      .flatMap((table) => table[section] ?? [])
      .map(({ name, quote, ...one }) => {
        const isHandled = "look" in one && one.isHandled;
        const finding: Finding = "look" in one ? found(one, exchanges) : { verdict: "not tried", seen: one.reason };
        return { name, section, quote, isHandled, ...finding };
      }),
  );
}

/** A response that nobody expected must not cost the report. */
function found({ look }: Pick<Tried, "look">, exchanges: Exchanges): Finding {
  try {
    return look(exchanges);
  } catch (error) {
    return { verdict: "not tried", seen: `it could not be judged: ${messageOf(error)}` };
  }
}

export const stepLine = ({ does, outcome, seconds, message }: StepResult): string =>
  line(outcome, `${does} (${seconds} s)${message === undefined ? "" : `: ${message}`}`);

/** The steps were said while they ran. */
export function render(report: LiveReport): string {
  const { isStopped, steps, statements, left } = report;
  const count = (verdict: Finding["verdict"]): number => statements.filter((one) => one.verdict === verdict).length;
  const failed = steps.filter(({ outcome }) => outcome === "failed").length;
  const ending = isStopped ? ["", "A signal has ended this run: what was not tried then says nothing"] : [];
  return [
    ...statements.flatMap((one, index) => [
      ...(one.section === statements[index - 1]?.section ? [] : ["", one.section]),
      line(one.verdict, `${one.name}: ${one.seen}`),
      ...(one.verdict === "differs"
        ? [line("", `docs/design/api.md, ${one.section}: … ${plain(one.quote)} …`), meaning(one)]
        : []),
    ]),
    ...leftLines(left),
    ...ending,
    "",
    `holds: ${count("holds")}, differs: ${count("differs")}, not tried: ${count("not tried")}, failed steps: ${failed}, left behind: ${left.length}`,
    "",
  ].join("\n");
}

export const leftLines = (left: readonly Left[]): string[] => [
  ...(left.length === 0 ? [] : ["", "Left behind: remove it by hand, with your key"]),
  ...left.flatMap(({ kind, id, reason, byHand }) => [line("", `${kind} ${id}: ${reason}`), line("", byHand)]),
];

const meaning = ({ isHandled }: Judged): string =>
  line("", isHandled ? "the provider copes with it: nothing to do" : "the provider relies on it: please report it");

/** Without the marks of a table and of code. */
const plain = (quote: string): string => quote.replaceAll("`", "").replace(/^\W+/, "").replaceAll(" | ", ", ");

const line = (word: string, text: string): string => `${word.padEnd(10)} ${terminalText(text)}`;
