import type { ObservedExchange } from "../../client";

/** One request and its response, with the step of the run that sent it. Bodies may hold secrets: nobody prints them. */
export interface Exchange extends ObservedExchange {
  readonly step: string;
  /** The body as JSON; undefined if it is empty or not JSON. */
  readonly json: unknown;
}

export const LISTS = {
  endpoints: ["/projects/{project_id}/endpoints", "endpoints"],
  operations: ["/projects/{project_id}/operations", "operations"],
  branches: ["/projects/{project_id}/branches", "branches"],
  integrations: ["/projects/{project_id}/auth/integrations", "data"],
  providers: ["/projects/{project_id}/auth/oauth_providers", "providers"],
  domains: ["/projects/{project_id}/auth/domains", "domains"],
} as const;
export type List = keyof typeof LISTS;

export const ENDPOINTS = LISTS.endpoints[0];
export const ENDPOINT = `${ENDPOINTS}/{endpoint_id}`;
export const CREATE_INTEGRATION = "/projects/auth/create";
export const INTEGRATION = "/projects/{project_id}/auth/integration/{auth_provider}";
export const KEYS = "/projects/auth/keys";
export const NEW_USER = "/projects/auth/user";
export const USER = "/projects/{project_id}/auth/users/{auth_user_id}";
export const PROVIDERS = LISTS.providers[0];
export const PROVIDER = `${PROVIDERS}/{oauth_provider_id}`;
export const DOMAINS = LISTS.domains[0];
export const EMAIL = "/projects/{project_id}/auth/email_server";

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The field of an object; undefined for anything else. */
export const fieldOf = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce((part, name) => (isFields(part) ? part[name] : undefined), value);

/** The objects in a list field of a body. */
export function recordsIn(body: unknown, ...path: readonly string[]): readonly Fields[] {
  const list = fieldOf(body, ...path);
  return Array.isArray(list) ? list.filter(isFields) : [];
}

/** The objects of a list that a response shows; undefined if it is not the response of that list. */
export function listed({ method, template, status, json }: Exchange, list: List): readonly Fields[] | undefined {
  const [route, name] = LISTS[list];
  const isList = method === "GET" && template.split("?")[0] === route && isGood(status);
  return isList && Array.isArray(fieldOf(json, name)) ? recordsIn(json, name) : undefined;
}

export const isGood = (status: number): boolean => status >= 200 && status < 300;

/** The service has understood the request and will not execute it. */
export const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 408, 423, 429].includes(status);

/** The route does not exist. */
export const isMissingRoute = (status: number): boolean => status === 404 || status === 405;

interface Question {
  readonly method?: string;
  readonly template?: string;
  readonly step?: string;
}

/** Everything that the service has answered in this run, in the order of the requests. */
export class Exchanges {
  readonly #all: Exchange[] = [];
  readonly #listeners = new Set<(exchange: Exchange) => void>();
  /** The step that runs. */
  step = "";

  add(exchange: ObservedExchange): void {
    const one: Exchange = { ...exchange, step: this.step, json: jsonOf(exchange.text) };
    this.#all.push(one);
    for (const listener of this.#listeners) listener(one);
  }

  /** Calls `listener` with each further one. Returns how to stop. */
  onAdded(listener: (exchange: Exchange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get all(): readonly Exchange[] {
    return this.#all;
  }

  where({ method, template, step }: Question): readonly Exchange[] {
    return this.#all.filter(
      (one) =>
        (method === undefined || one.method === method) &&
        (template === undefined || one.template.split("?")[0] === template) &&
        (step === undefined || one.step === step),
    );
  }

  /** The last response to such a request that is neither "locked" nor "too many requests". */
  answer(question: Question): Exchange | undefined {
    return this.where(question).findLast(({ status }) => status !== 423 && status !== 429);
  }

  /** All records of computes that any response showed. */
  get computes(): readonly Fields[] {
    return this.#all.flatMap((one) => {
      const endpoint = fieldOf(one.json, "endpoint");
      return [...(listed(one, "endpoints") ?? []), ...(isGood(one.status) && isFields(endpoint) ? [endpoint] : [])];
    });
  }

  /** All records of operations that any response showed. */
  get operations(): readonly Fields[] {
    return this.#all.flatMap(({ status, json }) => (isGood(status) ? recordsIn(json, "operations") : []));
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
