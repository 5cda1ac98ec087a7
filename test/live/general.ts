/** What is no matter of one kind. */
import { DELETE, fieldOf, GET, type List, POST } from "./exchanges";
import { either, handled, hasStatus, judged, needed, ofAnswer, ofAny, ofGood, type Sections } from "./findings";
import { unique, untried } from "./findings";
import { EACH } from "./kinds";
import { COMPUTES } from "./kinds/computeStatements";
import { type Change, lagFinding } from "./lag";
import { probe } from "./requests";
import { type Step, step } from "./run";

const PROJECT = "/projects/{project_id}";
const BRANCHES: List = { name: "branches", template: `${PROJECT}/branches`, field: "branches" };
const LISTS: readonly List[] = [BRANCHES, ...EACH.flatMap(({ lists = [] }) => lists)];

const ADDITIONS: readonly Change[] = LISTS.flatMap(({ added, ...list }) =>
  added === undefined ? [] : [{ what: list.name, question: POST.to(added.template), list, isIt: added.isIt }],
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

export const generalStatements: Sections = {
  Responses: [
    handled(
      "created-status",
      "Also seen (observed): 201 for creating",
      ofGood([{ method: "POST" }], hasStatus(200, 201)),
    ),
    handled(
      "deletion-status",
      "200 instead of 204 for deletions",
      ofGood([DELETE.in("user-delete"), DELETE.in("provider-delete")], hasStatus(200, 204)),
    ),
    either("undescribed-fields", "A response may contain fields that are not described (observed)"),
    needed("required-lists", "it is never an empty list (assumed", (exchanges) => {
      const isLacking = ({ template, field }: List): boolean =>
        exchanges.good(GET.to(template)).some(({ json }) => !Array.isArray(fieldOf(json, field)));
      const lacking = LISTS.filter(isLacking).map(({ name }) => name);
      return judged(lacking.length === 0, `responses without their list: ${unique(lacking) || "none"}`);
    }),
    either("lists-in-pages", "(observed for operations and branches; assumed"),
    untried("last-pages", "(assumed: some services", "a run makes too few objects for a second page"),
  ],
  Errors: [
    needed("error-body", "have their usual meaning (assumed)", ({ all }) => {
      const refusals = all.filter(({ status }) => status >= 400 && status < 500);
      const odd = refusals.filter(({ json }) =>
        ["code", "message"].some((name) => typeof fieldOf(json, name) !== "string"),
      );
      const told = odd.map(({ status, method, template }) => `${status} for ${method} ${template}`);
      return ofAny(refusals, () => judged(odd.length === 0, `without code and message: ${unique(told) || "none"}`));
    }),
    either("errors", "This whole section is observed"),
    needed("wrong-key", "The key is missing or wrong", ofAnswer({ step: "wrong-key" }, hasStatus(401))),
    needed("unknown-object", "Unknown project, branch,", ofAnswer({ step: "unknown-project" }, hasStatus(404, 410))),
    needed("existing-object", "The object exists already: a second primary", (exchanges) =>
      ofAny(
        exchanges.answers(...["primary", "integration", "provider"].map((what) => POST.in(`second-${what}`))),
        hasStatus(409),
      ),
    ),
    either("too-many-requests", "Too many requests, with or without `Retry-After` (seconds or a date)"),
    untried("proxy-errors", "unknown whether it was executed (assumed", "it needs an outage of the service"),
    untried("not-implemented", "(assumed: a gateway may answer it", "no route is known that answers 501"),
    handled("redirects", "a gateway or a login page (assumed)", ({ all }) => {
      const redirects = all.filter(({ status }) => status >= 300 && status < 400);
      return judged(redirects.length === 0, `${redirects.length} redirects`);
    }),
  ],
  "Projects and branches": [
    handled("project-routes", "The routes to read them are observed", (exchanges) =>
      ofAny(exchanges.answers(GET.to(PROJECT), GET.to(BRANCHES.template)), hasStatus(200)),
    ),
  ],
  Limits: [untried("rate", "and 40 a second for each route (observed)", "a run does not flood the service")],
  Delays: [
    needed("list-lag", "A list may lag behind a creation for up to 3 s (observed", (all) => lagFinding(all, ADDITIONS)),
  ],
};
