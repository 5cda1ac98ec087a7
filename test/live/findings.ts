/** Statements of docs/design/api.md, and what the exchanges of a run show of them. */
import { readable } from "../../src/helpers/masked";
import type { Exchange, Exchanges, Fields, Question } from "./exchanges";
import { fieldOf, isFields, isGood, isRefusal, recordsIn, sentField } from "./exchanges";

/** What a run has shown of one statement. The text contains names, statuses and times, and no value. */
export interface Finding {
  readonly verdict: "holds" | "differs" | "not tried";
  readonly seen: string;
}

type Look = (exchanges: Exchanges) => Finding;

export interface Statement {
  /** Short, and never another one: reports are compared by it. */
  readonly name: string;
  /** Words of docs/design/api.md. */
  readonly quote: string;
  /** The provider copes with a service that differs. */
  readonly isHandled: boolean;
  readonly look: Look;
}

/** The statements below the heading of their section. */
export type Sections = Readonly<Record<string, readonly Statement[]>>;

/** The provider copes with a service that differs. */
export const handled = (name: string, quote: string, look: Look): Statement => ({ name, quote, isHandled: true, look });
/** The provider relies on it. */
export const needed = (name: string, quote: string, look: Look): Statement => ({ name, quote, isHandled: false, look });
/** No run can try it, or should. */
export const untried = (name: string, quote: string, why: string) => handled(name, quote, () => notTried(why));
/** The provider takes it either way, so that nothing can differ. */
export const either = (name: string, quote: string) => untried(name, quote, "either way is right");

export const holds = (seen: string): Finding => ({ verdict: "holds", seen });
export const differs = (seen: string): Finding => ({ verdict: "differs", seen });
export const notTried = (seen = "no step of this run has sent it"): Finding => ({ verdict: "not tried", seen });
export const judged = (isSo: boolean, seen: string): Finding => (isSo ? holds(seen) : differs(seen));

type Judge = (answer: Exchange, exchanges: Exchanges) => Finding;

/** Judges the last response to such a request, if there is one. */
export const ofAnswer =
  (question: Question, judge: Judge): Look =>
  (exchanges) => {
    const answer = exchanges.answer(question);
    return answer === undefined ? notTried() : judge(answer, exchanges);
  };

/** The same, if it succeeded. */
export const ofSuccess = (question: Question, judge: Judge): Look =>
  ofAnswer(question, (answer, exchanges) =>
    isGood(answer.status) ? judge(answer, exchanges) : notTried(`status ${answer.status}`),
  );

/** Judges all successful responses to such requests. */
export const ofGood =
  (questions: readonly Question[], judge: (answers: readonly Exchange[]) => Finding): Look =>
  (exchanges) => {
    const good = exchanges.good(...questions);
    return good.length === 0 ? notTried() : judge(good);
  };

/** Judges a number of values, if there are any. */
export const ofAny = <Value>(values: readonly Value[], judge: (values: readonly Value[]) => Finding): Finding =>
  values.length === 0 ? notTried() : judge(values);

export const unique = (texts: readonly unknown[]): string => [...new Set(texts.map(String))].sort().join(", ");

export const statusesOf = (answers: readonly Exchange[]): string => unique(answers.map(({ status }) => status));

/** All statuses are among these. */
export const hasStatus =
  (...statuses: readonly number[]) =>
  (given: Exchange | readonly Exchange[]): Finding => {
    const answers = [given].flat();
    const isSo = answers.every(({ status }) => statuses.includes(status));
    return judged(isSo, `status ${statusesOf(answers)}`);
  };

export const isAccepted = ({ status }: Exchange): Finding => judged(isGood(status), `status ${status}`);
export const isRefused = ({ status }: Exchange): Finding => judged(isRefusal(status), `status ${status}`);

/** A word of the service, such as a state: anything else is not repeated. */
export const word = (value: unknown): string =>
  typeof value === "string" && /^[\w-]{1,40}$/.test(value) ? value : "(not a word)";

/** Whether the fields of the records have only known values. */
export function onlyKnown(records: readonly Fields[], fields: readonly string[], known: readonly string[]): Finding {
  const shown = records.flatMap((record) => fields.map((field) => record[field] ?? undefined));
  const given = shown.filter((value) => value !== undefined);
  const others = given.filter((value) => !known.some((one) => one === value));
  return ofAny(given, () => judged(others.length === 0, unique((others.length > 0 ? others : given).map(word))));
}

/** Successful deletions answer 200 without a body. */
export function emptyDeletions(good: readonly Exchange[]): Finding {
  const isEmpty = good.every(({ text }) => text.trim() === "");
  const isSo = isEmpty && good.every(({ status }) => status === 200);
  return judged(isSo, `status ${statusesOf(good)}, ${isEmpty ? "without a body" : "with a body"}`);
}

/** How a secret came back. Undefined: it is another text than was sent, and no mask. */
function secretForm(shown: unknown, sent: unknown): string | undefined {
  if (shown === undefined || shown === null) return "not at all";
  if (shown === sent) return "in full";
  return typeof shown === "string" && readable(shown) === undefined ? "masked" : undefined;
}

export const secretForms = (questions: readonly Question[], field: string): Look =>
  ofGood(questions, (good) => {
    const sending = good.filter((one) => typeof sentField(one, field) === "string" && isFields(one.json));
    const forms = sending.map((one) => secretForm(fieldOf(one.json, field), sentField(one, field)));
    return ofAny(forms, () =>
      forms.includes(undefined) ? differs("another text than was sent") : holds(unique(forms)),
    );
  });

export const actionsIn = ({ json }: Exchange): string[] =>
  recordsIn(json, "operations").map(({ action }) => String(action));

/** For a report. */
export function operationsText(answer: Exchange): string {
  const actions = actionsIn(answer);
  return actions.length === 0 ? "no operations" : `operations ${actions.map(word).join(", ")}`;
}
