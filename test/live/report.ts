import { terminalText } from "../../src/cli/output";
import { messageOf } from "../../src/contract/untrusted";
import type { Exchanges } from "./exchanges";
import type { Finding, Sections, Statement } from "./findings";
import { generalStatements } from "./general";
import { EACH } from "./kinds";
import type { StepResult } from "./run";
import type { Left } from "./sweep";

/** The statements of docs/design/api.md that a run judges: of the service as a whole, and of each kind. */
export const STATEMENTS: readonly Sections[] = [generalStatements, ...EACH.map(({ statements = {} }) => statements)];

export interface Judged extends Omit<Statement, "look">, Finding {
  /** The section of docs/design/api.md. */
  readonly section: string;
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
  const within = (section: string): readonly Statement[] => tables.flatMap((table) => table[section] ?? []);
  return sections.flatMap((section) =>
    within(section).map(({ look, ...statement }) => ({ ...statement, section, ...found(look, exchanges) })),
  );
}

/** A response that nobody expected must not cost the report. */
function found(look: Statement["look"], exchanges: Exchanges): Finding {
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
  return [
    ...statements.flatMap((one, index) => [
      ...(one.section === statements[index - 1]?.section ? [] : ["", one.section]),
      line(one.verdict, `${one.name}: ${one.seen}`),
      ...(one.verdict === "differs" ? meaning(one) : []),
    ]),
    ...leftLines(left),
    ...(isStopped ? ["", "A signal has ended this run: what was not tried then says nothing"] : []),
    "",
    `holds: ${count("holds")}, differs: ${count("differs")}, not tried: ${count("not tried")}, failed steps: ${failed}, left behind: ${left.length}`,
    "",
  ].join("\n");
}

export const leftLines = (left: readonly Left[]): string[] => [
  ...(left.length === 0 ? [] : ["", "Left behind: remove it by hand, with your key"]),
  ...left.flatMap(({ kind, id, reason, byHand }) => [line("", `${kind} ${id}: ${reason}`), line("", byHand)]),
];

/** What a difference means. */
const meaning = ({ section, quote, isHandled }: Judged): string[] => [
  line("", `docs/design/api.md, ${section}: … ${quote} …`),
  line("", isHandled ? "the provider copes with it: nothing to do" : "the provider relies on it: please report it"),
];

const line = (word: string, text: string): string => `${word.padEnd(10)} ${terminalText(text)}`;
