import { styleText } from "node:util";
import { messageOf } from "../../contract/untrusted";
import { terminalJson, terminalText, wantsColours } from "../output";
import { type Assumption, ASSUMPTIONS, type Finding, type Tried } from "./assumptions";
import type { Exchanges } from "./exchanges";
import type { Format } from "./flags";
import { byHand, type Made } from "./objects";
import { wrapped } from "./plan";
import type { StepResult } from "./run";

export interface Judged extends Finding {
  readonly name: string;
  /** The section and the words of docs/design/api.md. */
  readonly section: string;
  readonly statement: string;
  /** What a difference means for users of the provider. */
  readonly meaning?: string;
}

/** An object that could not be removed, and the request that removes it. */
export interface Left {
  readonly kind: string;
  readonly id: string;
  readonly reason: string;
  readonly byHand: string;
}

export interface VerifyReport {
  /** Its host and port. */
  readonly service: string;
  readonly project: string;
  readonly branch: string;
  /** The version of this package. */
  readonly version: string;
  /** A signal has ended it before its last step. */
  readonly isStopped: boolean;
  readonly steps: readonly StepResult[];
  readonly assumptions: readonly Judged[];
  readonly left: readonly Left[];
}

export const EXIT = { holds: 0, failed: 1, notAsked: 2, differs: 12 } as const;

/** A failure and leftovers come first: then the report is incomplete. */
export function exitCodeOf({ isStopped, steps, assumptions, left }: VerifyReport): number {
  if (isStopped || left.length > 0 || steps.some(({ outcome }) => outcome === "failed")) return EXIT.failed;
  return assumptions.some(({ verdict }) => verdict === "differs") ? EXIT.differs : EXIT.holds;
}

const HANDLED = "the provider copes with it: nothing to do";
const RELIED_ON = "the provider relies on it: please report it, with this report";

/** Every statement, with what the exchanges show of it. */
export function judge(exchanges: Exchanges, assumptions: readonly Assumption[] = ASSUMPTIONS): Judged[] {
  return assumptions.map((one) => {
    const { name, section, quote: statement } = one;
    if ("reason" in one) return { name, section, statement, verdict: "not tried", seen: one.reason };
    const { verdict, seen } = found(one, exchanges);
    const meaning = verdict === "differs" ? (one.isHandled ? HANDLED : RELIED_ON) : undefined;
    return { name, section, statement, verdict, seen, ...(meaning !== undefined && { meaning }) };
  });
}

/** A response that nobody expected must not cost the report. */
function found({ look }: Tried, exchanges: Exchanges): Finding {
  try {
    return look(exchanges);
  } catch (error) {
    return { verdict: "not tried", seen: `it could not be judged: ${messageOf(error)}` };
  }
}

export const leftOf = (made: Made, reason: string, authProvider: string): Left => ({
  kind: made.kind,
  id: made.id,
  reason,
  byHand: byHand(made, authProvider),
});

export function render(report: VerifyReport, format: Format): string {
  return format === "json" ? `${terminalJson(report)}\n` : toText(report);
}

const COLOURS = { holds: "green", ok: "green", differs: "yellow", refused: "yellow", failed: "red" } as const;
const isColour = (word: string): word is keyof typeof COLOURS => Object.hasOwn(COLOURS, word);

const coloured = (word: string, width: number): string => {
  const padded = word.padEnd(width);
  return wantsColours() && isColour(word) ? styleText(COLOURS[word], padded) : padded;
};

const INDENT = " ".repeat(11);

function toText({ service, project, branch, isStopped, steps, assumptions, left }: VerifyReport): string {
  const lines = [`verify: project ${project}, branch ${branch}, at ${service}`, "", "Steps"];
  for (const { does, outcome, seconds, message } of steps) {
    lines.push(...entry(outcome, `${does} (${seconds} s)`, message));
  }
  let section: string | undefined;
  for (const one of assumptions) {
    if (one.section !== section) lines.push("", one.section);
    ({ section } = one);
    lines.push(...entry(one.verdict, `${one.name}: ${one.seen}`));
    if (one.verdict !== "differs") continue;
    lines.push(...wrapped(terminalText(`docs/design/api.md says: ${plain(one.statement)}`), INDENT, INDENT));
    lines.push(...wrapped(one.meaning ?? "", INDENT, INDENT));
  }
  if (left.length > 0) {
    lines.push("", "Left behind: remove it by hand, with your key");
    for (const { kind, id, reason, byHand: request } of left)
      lines.push(...wrapped(terminalText(`${kind} ${id}: ${reason}`), "  ", "    "), `    ${terminalText(request)}`);
  }
  const count = (verdict: Finding["verdict"]): number => assumptions.filter((one) => one.verdict === verdict).length;
  const failed = steps.filter(({ outcome }) => outcome === "failed").length;
  lines.push(
    "",
    ...(isStopped ? ["A signal has ended this run: what was not tried then says nothing", ""] : []),
    `holds: ${count("holds")}, differs: ${count("differs")}, not tried: ${count("not tried")}, failed steps: ${failed}, left behind: ${left.length}`,
    "",
  );
  return lines.join("\n");
}

/** Without the marks of a table and of code. */
const plain = (quote: string): string => quote.replaceAll("`", "").replace(/^\W+/, "").replaceAll(" | ", ", ");

function entry(word: string, text: string, message?: string): string[] {
  const [first = "", ...others] = wrapped(terminalText(text), INDENT, INDENT);
  const more = message === undefined ? [] : wrapped(terminalText(message), INDENT, INDENT);
  return [`${coloured(word, INDENT.length)}${first.slice(INDENT.length)}`, ...others, ...more];
}
