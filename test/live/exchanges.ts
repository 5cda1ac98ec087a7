import type { ObservedExchange } from "../../src/client";

/** One request and its response, with the step of the run that sent it. Bodies may hold secrets: nobody prints them. */
export interface Exchange extends ObservedExchange {
  readonly step: string;
  /** The body as JSON; undefined if it is empty or not JSON. */
  readonly json: unknown;
}

/** A route that answers with a list. */
export interface List {
  /** In reports. */
  readonly name: string;
  readonly template: string;
  /** The field of the body that holds it. */
  readonly field: string;
  /** The POST that adds an object to it, and whether a record is that object. */
  readonly added?: { readonly template: string; readonly isIt: (record: Fields, accepted: Exchange) => boolean };
}

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The field of an object; undefined for anything else. */
export const fieldOf = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce((part, name) => (isFields(part) ? part[name] : undefined), value);

/** A field of what the request has sent. */
export const sentField = ({ sent }: Exchange, ...path: readonly string[]): unknown => fieldOf(sent, ...path);

/** The objects in a list field of a body. */
export function recordsIn(body: unknown, ...path: readonly string[]): readonly Fields[] {
  const list = fieldOf(body, ...path);
  return Array.isArray(list) ? list.filter(isFields) : [];
}

/** The objects of a list that a response shows; undefined if it is not the response of that list. */
export function listed({ method, template, status, json }: Exchange, list: List): readonly Fields[] | undefined {
  const isList = method === "GET" && template.split("?")[0] === list.template && isGood(status);
  return isList && Array.isArray(fieldOf(json, list.field)) ? recordsIn(json, list.field) : undefined;
}

export const isGood = (status: number): boolean => status >= 200 && status < 300;

/** The service has understood the request and will not execute it. */
export const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 408, 423, 429].includes(status);

/** The route does not exist. */
export const isMissingRoute = (status: number): boolean => status === 404 || status === 405;

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Which exchanges are meant; what is left out may be anything. */
export interface Question {
  readonly method?: Method;
  readonly template?: string;
  readonly step?: string;
}

/** The requests to a route, or in a step. */
const asking = (method: Method) => ({
  to: (template: string): Question => ({ method, template }),
  in: (step: string): Question => ({ method, step }),
});
export const [GET, POST, PATCH, DELETE] = [asking("GET"), asking("POST"), asking("PATCH"), asking("DELETE")] as const;

/** Everything that the service has answered in this run, in the order of the requests. */
export class Exchanges {
  readonly all: Exchange[] = [];
  /** The step that runs. */
  step = "";

  add(exchange: ObservedExchange): void {
    this.all.push({ ...exchange, step: this.step, json: jsonOf(exchange.text) });
  }

  where(question: Question): readonly Exchange[] {
    const isMeant = ({ method, template, step }: Exchange): boolean =>
      method === (question.method ?? method) &&
      template.split("?")[0] === (question.template ?? template.split("?")[0]) &&
      step === (question.step ?? step);
    return this.all.filter(isMeant);
  }

  /** The successful ones. */
  good(...questions: readonly Question[]): readonly Exchange[] {
    return questions.flatMap((question) => this.where(question)).filter(({ status }) => isGood(status));
  }

  /** The last response to such a request that is neither "locked" nor "too many requests". */
  answer(question: Question): Exchange | undefined {
    return this.where(question).findLast(({ status }) => status !== 423 && status !== 429);
  }

  /** Those of several requests, as far as they were sent. */
  answers(...questions: readonly Question[]): readonly Exchange[] {
    return questions.flatMap((question) => this.answer(question) ?? []);
  }
}

/** Undefined if it is empty or not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
