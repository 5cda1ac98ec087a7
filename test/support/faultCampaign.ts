/** The fault campaign: the changing requests, what can happen to them, and the program that sends them all. */
import { EACH_CASE } from "../kinds";
import type { Mutation, Step } from "../kinds/KindCase";

export type { Step };

const P = "/projects/{project_id}";

const MUTATIONS = EACH_CASE.flatMap(({ mutations }) => mutations);
const routeOf = ({ method, path }: Mutation): string => `${method} ${path}`;

const stepsOf = ({ from, to, campaignSteps }: Mutation): readonly Step[] =>
  campaignSteps ?? [to === undefined ? "destroy" : from === undefined ? "up" : "change"];

/** Each changing route, and the steps whose requests meet the fault. */
export const ROUTES: Readonly<Record<string, readonly Step[]>> = Object.fromEntries(
  MUTATIONS.map((mutation) => {
    const route = routeOf(mutation);
    const same = MUTATIONS.filter((one) => routeOf(one) === route);
    return [route, [...new Set(same.flatMap(stepsOf))]];
  }),
);

/** Routes without a response body: an empty response is not a fault there. */
const BODILESS = MUTATIONS.filter(({ bodiless }) => bodiless).map(routeOf);

/** No list contains credentials or users (docs/design/decisions.md, Known weaknesses). */
const UNSHOWN = [
  `PATCH ${P}/auth/oauth_providers/{oauth_provider_id}`,
  ...MUTATIONS.filter(({ unlisted }) => unlisted).map(routeOf),
];

/** The project of an integration's contents. `apart`: one for each kind. */
const shopOf = (kind: string, apart: boolean): string => (apart ? `prj-shop-${kind.toLowerCase()}` : "prj-shop");

/** The projects beside a colleague who replaces integrations. */
export const SHOPS_APART: readonly string[] = EACH_CASE.filter(({ inIntegration }) => inIntegration).map(({ kind }) =>
  shopOf(kind, true),
);

export interface Fault {
  /** The emulator's fault, once on each route unless it sets `times`. */
  readonly request?: () => object;
  /** The operations that fail in each step, and how many. */
  readonly operations?: Readonly<Record<Step, Readonly<Record<string, number>>>>;
  readonly refused?: true;
  /** Attempts time out after 2 s instead of 60 s. */
  readonly shortAttempts?: true;
  /** The service acts after this delay, and attempts time out before. */
  readonly actsAfterMs?: number;
  readonly listLagMs?: number;
  /** The first attempt gets a 423, and a colleague replaces its object meanwhile. */
  readonly colleague?: true;
  /** Why it cannot happen to a route. */
  readonly impossible?: (route: string) => string | undefined;
  /** Why nothing shows that this request had no effect: it is recorded as done, which no provider could prevent. */
  readonly untold?: (route: string) => string | undefined;
  /** Included in every test run; the others only in `npm run test:faults`. */
  readonly always?: true;
}

/** Longer than an attempt and the lag of a list. */
const LATE_MS = 8_000;
const HTML = { contentType: "text/html", body: "<html><h1>Bad gateway</h1></html>" };
/** Objects that are searched in their list after their creation. */
const LISTED = ["POST /projects/auth/create", `POST ${P}/auth/domains`, `POST ${P}/endpoints`];
const noEmptyBody = (route: string) => (BODILESS.includes(route) ? "its good answer has no body" : undefined);

export const FAULTS: Readonly<Record<string, Fault>> = {
  "connection refused": { refused: true },
  "reset before it acted": { request: () => ({ drop: "reset" }) },
  "reset after it acted": { request: () => ({ drop: "reset", effect: "done" }), always: true },
  "408": { request: () => ({ status: 408 }) },
  "423 for a while": { request: () => ({ status: 423, times: 3 }) },
  "429, seconds": { request: () => ({ status: 429, headers: { "retry-after": "1" }, times: 2 }) },
  "429, a date": {
    request: () => ({ status: 429, headers: { "retry-after": new Date(Date.now() + 6_000).toUTCString() } }),
  },
  "500 before it acted": { request: () => ({ status: 500 }) },
  "500 after it acted": { request: () => ({ status: 500, effect: "done" }) },
  "501 after it acted": { request: () => ({ status: 501, effect: "done" }) },
  "502 with a page": { request: () => ({ status: 502, effect: "done", ...HTML }) },
  "503": { request: () => ({ status: 503 }) },
  "cut JSON": { request: () => ({ drop: "cut", effect: "done" }) },
  "empty body": {
    request: () => ({ status: 200, body: "", contentType: "application/json", effect: "done" }),
    impossible: noEmptyBody,
  },
  "empty body, nothing done": {
    request: () => ({ status: 200, body: "", contentType: "application/json" }),
    untold: (route) => (UNSHOWN.includes(route) ? "it says success, and nothing shows otherwise" : undefined),
  },
  "an error body with 200": {
    request: () => ({ status: 200, body: { code: "internal", message: "please retry later" } }),
    always: true,
  },
  "404 in plain text": {
    request: () => ({ status: 404, contentType: "text/plain", body: "default backend - 404" }),
  },
  "a slow answer": { request: () => ({ delayMs: 5_000, effect: "done" }), shortAttempts: true },
  "it acts after it was given up": {
    request: () => ({ delayMs: LATE_MS }),
    shortAttempts: true,
    actsAfterMs: LATE_MS,
  },
  "no answer, nothing done": { request: () => ({ drop: "hang" }), shortAttempts: true },
  "a failed operation": {
    operations: {
      up: { start_compute: 3 },
      change: { apply_config: 2, start_compute: 1 },
      destroy: { suspend_compute: 2 },
    },
    impossible: (route) => (route.includes("/endpoints") ? undefined : "it starts no operation"),
  },
  "lists that lag": {
    listLagMs: 2_000,
    impossible: (route) =>
      LISTED.includes(route) ? undefined : "a list that lags lacks what is new, and none is read after this",
  },
  "a colleague replaces it": {
    colleague: true,
    always: true,
    impossible: (route) =>
      /\/(auth|endpoints)\b/.test(route) ? undefined : "no other object can take its place: its id is given once",
  },
};

/**
 * One resource of each kind. `round` 2 changes everything that can be changed; objects in `prj-shop` exist beside a
 * colleague's. `adopt`: by the resource's name, objects to adopt because they were created after all. `apart`: each in
 * a project of its own instead.
 */
export const program = (
  round: 1 | 2,
  adopted: string,
  adopt: Readonly<Record<string, true | string>> = {},
  apart = false,
): string =>
  [
    `const adopt = ${JSON.stringify(adopt)};`,
    "const secrets = [];",
    ...EACH_CASE.map(({ kind, campaign }) => campaign.program({ round, adopted, project: shopOf(kind, apart) })),
    "exports.secrets = secrets;",
    "",
  ].join("\n");
