/** What is no matter of one kind. */
import { ask, fieldOf, isFields, isGood, type List, listed } from "./exchanges";
import { differs, either, handled, hasStatus, haveStatus, holds, judged, needed, notTried } from "./findings";
import { ofAnswer, ofAny, ofGood, type Sections, statusesOf, unique, untried } from "./findings";
import { EACH } from "./kinds";
import { COMPUTES } from "./kinds/computeStatements";
import { type Change, lagFinding } from "./lag";
import { probe } from "./requests";
import { type Step, step } from "./run";

const PROJECT = "/projects/{project_id}";
const BRANCHES: List = { name: "branches", template: `${PROJECT}/branches`, field: "branches" };
const LISTS: readonly List[] = [BRANCHES, ...EACH.flatMap(({ lists = [] }) => lists)];

const ADDITIONS: readonly Change[] = LISTS.flatMap(({ added, ...list }) =>
  added === undefined ? [] : [{ what: list.name, question: ask.post(added.template), list, isIt: added.isIt }],
);

/** What every run asks. None of it changes anything. */
export const generalSteps: readonly Step[] = [
  step("project", "read the project and its branches", async (run) => {
    await probe(run, "GET", PROJECT);
    await probe(run, "GET", BRANCHES.template);
  }),
  step("unknown-project", "read a project that does not exist", (run) =>
    probe(run, "GET", COMPUTES.template, { params: { project_id: run.token } }),
  ),
  step("wrong-key", "read the project with a key that does not exist", ({ strangerClient, projectId }) =>
    strangerClient().probe({ method: "GET", template: COMPUTES.template, params: { project_id: projectId } }),
  ),
];

/** The requests for an object that exists already, and what it is. */
const EXISTING = { "second-primary": "primary", "second-integration": "integration", "second-provider": "provider" };

export const generalStatements: Sections = {
  Responses: [
    handled(
      "created-status",
      "Also seen (observed): 201 for creating an integration",
      ofGood([{ method: "POST" }], haveStatus(200, 201)),
    ),
    handled(
      "deletion-status",
      "200 instead of 204 for deletions",
      ofGood(
        ["user-delete", "provider-delete"].map((step) => ({ method: "DELETE", step })),
        haveStatus(200, 204),
      ),
    ),
    either("undescribed-fields", "A response may contain fields that are not described (observed)"),
    needed("required-lists", "it is never an empty list (assumed", (exchanges) => {
      const having = (isIt: (list: unknown) => boolean): List[] =>
        LISTS.filter(({ template, field }) =>
          exchanges.good(ask.get(template)).some(({ json }) => isIt(fieldOf(json, field))),
        );
      const lacking = having((list) => !Array.isArray(list));
      if (lacking.length > 0) return differs(`a response without its list: ${namesOf(lacking)}`);
      const empty = having((list) => Array.isArray(list) && list.length === 0);
      return holds(`empty, as []: ${empty.length === 0 ? "none" : namesOf(empty)}`);
    }),
    handled("lists-in-pages", "(observed for operations and branches; assumed", ({ all }) => {
      const paged = LISTS.flatMap((list) =>
        all.flatMap((one) => {
          const pagination = fieldOf(one.json, "pagination");
          if (listed(one, list) === undefined || (pagination ?? undefined) === undefined) return [];
          const isCursor = (field: string): boolean => ["string", "number"].includes(typeof fieldOf(pagination, field));
          return [{ list: list.name, cursor: ["cursor", "next"].find(isCursor) }];
        }),
      );
      if (paged.length === 0) return notTried("no list had more than one page");
      const odd = paged.filter(({ cursor }) => cursor === undefined);
      const told = (odd.length === 0 ? paged : odd).map(
        ({ list, cursor = "neither cursor nor next" }) => `${list} (${cursor})`,
      );
      return judged(odd.length === 0, unique(told));
    }),
    untried("last-pages", "(assumed: some services", "a run makes too few objects for a second page"),
  ],
  Errors: [
    needed(
      "error-body",
      "This whole section is observed, except 403, 405, 408, 410 and 500, which have their usual meaning (assumed)",
      ({ all }) =>
        ofAny(
          all.filter(({ status }) => status >= 400 && status < 500),
          (refusals) => {
            const odd = refusals.filter(({ json }) => !isErrorBody(json));
            if (odd.length === 0) return holds(`statuses ${statusesOf(refusals)}, each with code and message`);
            const told = odd.map(({ status, method, template }) => `${status} for ${method} ${template}`);
            return differs(`without code and message: ${unique(told)}`);
          },
        ),
    ),
    needed("wrong-key", "The key is missing or wrong", ofAnswer({ step: "wrong-key" }, hasStatus(401))),
    needed(
      "unknown-object",
      "Unknown project, branch, compute",
      ofAnswer({ step: "unknown-project" }, hasStatus(404, 410)),
    ),
    needed("existing-object", "The object exists already: a second primary on a branch", (exchanges) =>
      ofAny(
        Object.entries(EXISTING).flatMap(([step, what]) => {
          const answer = exchanges.answer({ method: "POST", step });
          return answer === undefined ? [] : [{ what, status: answer.status }];
        }),
        (answers) =>
          judged(
            answers.every(({ status }) => status === 409),
            answers.map(({ what, status }) => `${status} for ${what}`).join(", "),
          ),
      ),
    ),
    either("too-many-requests", "Too many requests, with or without `Retry-After` (seconds or a date)"),
    untried(
      "proxy-errors",
      "From a proxy: unknown whether it was executed (assumed",
      "it needs an outage of the service",
    ),
    untried("not-implemented", "(assumed: a gateway may answer it", "no route is known that answers 501"),
    handled("redirects", "Never the service's own: a gateway or a login page (assumed)", ({ all }) => {
      const redirects = all.filter(({ status }) => status >= 300 && status < 400).length;
      return judged(redirects === 0, redirects === 0 ? "none" : `${redirects} redirects`);
    }),
  ],
  "Projects and branches": [
    handled("project-routes", "The routes to read them are observed", (exchanges) => {
      const answers = [PROJECT, BRANCHES.template].map((template) => exchanges.answer(ask.get(template)));
      const odd = answers.filter((one) => one !== undefined).filter(({ status }) => !isGood(status));
      if (odd.length > 0) return differs(`status ${statusesOf(odd)}`);
      return answers.includes(undefined) ? notTried() : holds("both routes");
    }),
  ],
  Limits: [
    handled("rate", "About 700 requests a minute, and 40 a second for each route (observed)", ({ all }) => {
      const first = all.find(({ status }) => status === 429);
      if (first === undefined) return notTried("this run stays far below it, and does not flood the service");
      const before = all.filter(({ sentAt }) => sentAt <= first.sentAt && sentAt > first.sentAt - 60_000).length;
      return differs(`429 after ${before} requests of this run within a minute`);
    }),
  ],
  Delays: [
    needed("list-lag", "A list may lag behind a creation for up to 3 s (observed", (exchanges) =>
      lagFinding(exchanges, ADDITIONS),
    ),
  ],
};

const namesOf = (lists: readonly List[]): string => unique(lists.map(({ name }) => name));

const isErrorBody = (json: unknown): boolean =>
  isFields(json) && typeof json["code"] === "string" && typeof json["message"] === "string";
