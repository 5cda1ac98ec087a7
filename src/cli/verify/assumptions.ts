import { readable } from "../../helpers/masked";
import {
  CREATE_INTEGRATION,
  DOMAINS,
  EMAIL,
  ENDPOINT,
  ENDPOINTS,
  type Exchange,
  type Exchanges,
  fieldOf,
  type Fields,
  INTEGRATION,
  isFields,
  isGood,
  isMissingRoute,
  isRefusal,
  KEYS,
  type List,
  listed,
  LISTS,
  NEW_USER,
  PROVIDER,
  PROVIDERS,
  recordsIn,
  USER,
} from "./exchanges";
import { lagOf } from "./lag";
import { undescribedIn } from "./undescribed";

/** What a run has shown of one statement. The text contains names, statuses and times, and no value. */
export interface Finding {
  readonly verdict: "holds" | "differs" | "not tried";
  readonly seen: string;
}

interface Statement {
  /** Short, and never another one: reports are compared by it. */
  readonly name: string;
  /** The section of docs/design/api.md that contains the quote. */
  readonly section: string;
  readonly quote: string;
}

/** A statement that a run can try. `isHandled`: the provider copes with a service that differs. */
export interface Tried extends Statement {
  readonly isHandled: boolean;
  readonly look: (exchanges: Exchanges) => Finding;
}

/** A statement that no run can try, or should. */
export interface Untried extends Statement {
  readonly reason: string;
}

export type Assumption = Tried | Untried;

const holds = (seen: string): Finding => ({ verdict: "holds", seen });
const differs = (seen: string): Finding => ({ verdict: "differs", seen });
const notTried = (seen = "no step of this run has sent it"): Finding => ({ verdict: "not tried", seen });
const judged = (isSo: boolean, seen: string): Finding => (isSo ? holds(seen) : differs(seen));

type Question = Parameters<Exchanges["answer"]>[0];

/** Judges the response to one request of a step, if there is one and the route exists. */
const ofAnswer =
  (question: Question, judge: (answer: Exchange) => Finding) =>
  (exchanges: Exchanges): Finding => {
    const answer = exchanges.answer(question);
    return answer === undefined ? notTried() : judge(answer);
  };

/** The same for all responses with a good status. */
const ofGood =
  (questions: readonly Question[], judge: (answers: readonly Exchange[]) => Finding) =>
  (exchanges: Exchanges): Finding => {
    const good = questions.flatMap((question) => exchanges.where(question)).filter(({ status }) => isGood(status));
    return good.length === 0 ? notTried() : judge(good);
  };

const unique = (texts: readonly unknown[]): string => [...new Set(texts.map(String))].sort().join(", ");

const statusesOf = (answers: readonly Exchange[]): string => unique(answers.map(({ status }) => status));

const actionsIn = (answer: Exchange): string[] =>
  recordsIn(answer.json, "operations").map(({ action }) => String(action));

const operationsText = (answer: Exchange): string => {
  const actions = actionsIn(answer);
  return actions.length === 0 ? "no operations" : `operations ${actions.map(word).join(", ")}`;
};

/** A word of the service, such as a state: anything else is not repeated. */
const word = (value: unknown): string =>
  typeof value === "string" && /^[\w-]{1,40}$/.test(value) ? value : "(not a word)";

/** The operations of a response contain these, in this order. */
const carries =
  (...wanted: readonly string[]) =>
  (answer: Exchange): Finding => {
    if (!isGood(answer.status)) return notTried(`status ${answer.status}`);
    const found = actionsIn(answer).filter((action) => wanted.includes(action));
    return judged(found.join() === wanted.join(), operationsText(answer));
  };

const hasBoth = ({ status, json }: Exchange): boolean =>
  isGood(status) && isFields(fieldOf(json, "endpoint")) && Array.isArray(fieldOf(json, "operations"));

const showsBoth = (answer: Exchange): Finding => {
  if (isMissingRoute(answer.status)) return differs(`status ${answer.status}: there is no such route`);
  if (!isGood(answer.status)) return notTried(`status ${answer.status}`);
  return judged(hasBoth(answer), hasBoth(answer) ? "both" : `status ${answer.status} without them`);
};

const isRefused = ({ status }: Exchange): Finding => judged(isRefusal(status), `status ${status}`);

/** A field of what a request has sent. */
const sentField = (exchange: Exchange, ...path: readonly string[]): unknown => fieldOf(exchange.sent, ...path);

/** How a secret came back. Undefined: it is another text than was sent, and no mask. */
function secretForm(shown: unknown, sent: unknown): string | undefined {
  if (shown === undefined || shown === null) return "not at all";
  if (shown === sent) return "in full";
  return typeof shown === "string" && readable(shown) === undefined ? "masked" : undefined;
}

const secretForms =
  (questions: readonly Question[], field: string) =>
  (exchanges: Exchanges): Finding => {
    const all = questions.flatMap((question) => exchanges.where(question));
    const sending = all.filter((one) => isGood(one.status) && typeof sentField(one, field) === "string");
    const forms = sending
      .filter(({ json }) => isFields(json))
      .map((one) => secretForm(fieldOf(one.json, field), sentField(one, field)));
    if (forms.length === 0) return notTried();
    return forms.includes(undefined) ? differs("another text than was sent") : holds(unique(forms));
  };

const STATES = ["init", "active", "idle"];
const ACTIONS = ["start_compute", "create_compute", "suspend_compute", "apply_config", "check_availability"];
const STATUSES = ["scheduling", "running", "cancelling", "finished", "skipped", "failed", "error", "cancelled"];

/** The values of fields that are none of the known ones. */
function othersIn(records: readonly Fields[], fields: readonly string[], known: readonly string[]): Finding {
  const values = records.flatMap((record) => fields.map((field) => record[field] ?? undefined));
  const given = values.filter((value) => value !== undefined);
  if (given.length === 0) return notTried();
  const others = given.filter((value) => !known.some((one) => one === value));
  return others.length > 0 ? differs(unique(others.map(word))) : holds(unique(given.map(word)));
}

const OPTIONAL = ["name", "pending_state", "last_active", "suspended_at", "error", "retry_at"];
/** The zero time of some languages. */
const isBlank = (value: unknown): boolean =>
  typeof value === "string" && (value.trim() === "" || value.startsWith("0001-01-01"));

/** The lists that were answered in pages. `name`: the field that holds the cursor. */
const pagesIn = (exchanges: Exchanges) =>
  // The keys of a table in this package.
  (Object.keys(LISTS) as List[]).flatMap((list) =>
    exchanges.where({ method: "GET", template: LISTS[list][0] }).flatMap((one) => {
      const records = listed(one, list);
      const pagination = fieldOf(one.json, "pagination");
      if (records === undefined || pagination === undefined || pagination === null) return [];
      const isCursor = (field: string): boolean => ["string", "number"].includes(typeof fieldOf(pagination, field));
      return [{ list, name: ["cursor", "next"].find(isCursor) }];
    }),
  );

/** Every statement of docs/design/api.md with a mark, in its order, and some without. */
export const ASSUMPTIONS: readonly Assumption[] = [
  {
    name: "created-status",
    section: "Responses",
    quote: "Also seen (observed): 201 for creating an integration, a key set, a user or a compute",
    isHandled: true,
    look: ofGood(
      [ENDPOINTS, CREATE_INTEGRATION, KEYS, NEW_USER].map((template) => ({ method: "POST", template })),
      (good) =>
        judged(
          good.every(({ status }) => status === 200 || status === 201),
          statusesOf(good),
        ),
    ),
  },
  {
    name: "empty-deletion",
    section: "Responses",
    quote: "200 without a body for deleting an integration or domains",
    isHandled: true,
    look: ofGood([{ method: "DELETE", template: DOMAINS }], (good) => emptyDeletions(good)),
  },
  {
    name: "deletion-status",
    section: "Responses",
    quote: "200 instead of 204 for deletions",
    isHandled: true,
    look: ofGood(
      [
        { method: "DELETE", template: USER },
        { method: "DELETE", template: PROVIDER },
      ],
      (good) =>
        judged(
          good.every(({ status }) => status === 200 || status === 204),
          statusesOf(good),
        ),
    ),
  },
  {
    name: "gone-compute",
    section: "Responses",
    quote: "204 for deleting a compute that is gone",
    isHandled: true,
    look: ofAnswer({ method: "DELETE", template: ENDPOINT, step: "compute-gone" }, ({ status }) =>
      judged(status === 204, `status ${status}`),
    ),
  },
  {
    name: "undescribed-fields",
    section: "Responses",
    quote: "A response may contain fields that are not described (observed)",
    isHandled: true,
    look: (exchanges) => {
      const fields = undescribedIn(exchanges);
      return holds(fields.length === 0 ? "none" : fields.join(", "));
    },
  },
  {
    name: "absent-or-null",
    section: "Responses",
    quote:
      "A field without a value may be absent or `null` (assumed to mean the same: both occur on services of this shape)",
    isHandled: false,
    look: ({ computes, operations }) => {
      const fields = [...computes, ...operations].flatMap((record) =>
        OPTIONAL.map((name) => [name, record[name]] as const),
      );
      if (fields.length === 0) return notTried();
      const blank = fields.filter(([, value]) => isBlank(value)).map(([name]) => name);
      if (blank.length > 0) return differs(`blank instead: ${unique(blank)}`);
      const nulls = fields.filter(([, value]) => value === null).map(([name]) => name);
      return holds(nulls.length === 0 ? "absent" : `null: ${unique(nulls)}`);
    },
  },
  {
    name: "required-lists",
    section: "Responses",
    quote: "it is never an empty list (assumed: reading it as empty would make everything look deleted)",
    isHandled: false,
    look: (exchanges) => {
      // The keys of a table in this package.
      const lists = Object.keys(LISTS) as List[];
      const reads = lists.map((list) => {
        const [template, field] = LISTS[list];
        const good = exchanges.where({ method: "GET", template }).filter(({ status }) => isGood(status));
        return { list, good, lists: good.map(({ json }) => fieldOf(json, field)) };
      });
      const lacking = reads.filter(({ lists }) => lists.some((one) => !Array.isArray(one)));
      if (lacking.length > 0) return differs(`a response without its list: ${unique(lacking.map(({ list }) => list))}`);
      const empty = reads.filter(({ lists }) => lists.some((one) => Array.isArray(one) && one.length === 0));
      return holds(`empty, as []: ${empty.length === 0 ? "none" : unique(empty.map(({ list }) => list))}`);
    },
  },
  {
    name: "lists-in-pages",
    section: "Responses",
    quote:
      "A list may come in pages (observed for operations and branches; assumed for the others, because a page that is read as the whole list makes the rest look deleted)",
    isHandled: true,
    look: (exchanges) => {
      const paged = pagesIn(exchanges);
      if (paged.length === 0) return notTried("no list had more than one page");
      const odd = paged.filter(({ name }) => name === undefined);
      const told = ({ list, name }: (typeof paged)[number]): string => `${list} (${name ?? "neither cursor nor next"})`;
      return odd.length === 0 ? holds(unique(paged.map(told))) : differs(unique(odd.map(told)));
    },
  },
  {
    name: "last-pages",
    section: "Responses",
    quote: "(assumed: some services of this shape give every page a cursor)",
    reason: "a run makes too few objects for a second page",
  },
  {
    name: "error-body",
    section: "Errors",
    quote:
      "This whole section is observed, except 403, 405, 408, 410 and 500, which have their usual meaning (assumed)",
    isHandled: false,
    look: ({ all }) => {
      const refusals = all.filter(({ status }) => status >= 400 && status < 500);
      if (refusals.length === 0) return notTried();
      const odd = refusals.filter(({ json }) => !isErrorBody(json));
      return odd.length === 0
        ? holds(`statuses ${statusesOf(refusals)}, each with code and message`)
        : differs(
            `without code and message: ${unique(odd.map(({ status, method, template }) => `${status} for ${method} ${template}`))}`,
          );
    },
  },
  {
    name: "refused-body",
    section: "Errors",
    quote: "The body is refused. 422 also means",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: ENDPOINTS, step: "bad-body" }, ({ status }) =>
      judged(status === 400 || status === 422, `status ${status}`),
    ),
  },
  {
    name: "wrong-key",
    section: "Errors",
    quote: "The key is missing or wrong",
    isHandled: false,
    look: ofAnswer({ step: "wrong-key" }, ({ status }) => judged(status === 401, `status ${status}`)),
  },
  {
    name: "unknown-object",
    section: "Errors",
    quote: "Unknown project, branch, compute, user, provider, or unknown route",
    isHandled: false,
    look: ofAnswer({ step: "unknown-project" }, ({ status }) =>
      judged(status === 404 || status === 410, `status ${status} for an unknown project`),
    ),
  },
  {
    name: "other-method",
    section: "Errors",
    quote: "The route has no such method; a missing route may have this status too",
    isHandled: true,
    look: ofAnswer({ step: "bad-method" }, ({ status }) => judged(isMissingRoute(status), `status ${status}`)),
  },
  {
    name: "existing-object",
    section: "Errors",
    quote: "The object exists already: a second primary on a branch, an integration, a provider, a user",
    isHandled: false,
    look: (exchanges) => {
      const asked = [
        ["primary", { method: "POST", template: ENDPOINTS, step: "second-primary" }],
        ["integration", { method: "POST", template: CREATE_INTEGRATION, step: "second-integration" }],
        ["provider", { method: "POST", template: PROVIDERS, step: "second-provider" }],
      ] as const;
      const answers = asked.flatMap(([what, question]) => {
        const answer = exchanges.answer(question);
        return answer === undefined ? [] : [{ what, status: answer.status }];
      });
      if (answers.length === 0) return notTried();
      const odd = answers.filter(({ status }) => status !== 409);
      return odd.length === 0
        ? holds(`409 for ${answers.map(({ what }) => what).join(", ")}`)
        : differs(odd.map(({ what, status }) => `${status} for ${what}`).join(", "));
    },
  },
  {
    name: "too-many-requests",
    section: "Errors",
    quote: "Too many requests, with or without `Retry-After` (seconds or a date)",
    isHandled: true,
    look: ({ all }) => {
      const told = all.filter(({ status }) => status === 429);
      if (told.length === 0) return notTried("the service did not answer 429");
      const paused = told.filter(({ retryAfter }) => retryAfter !== undefined).length;
      return holds(`${told.length} times 429, ${paused} with Retry-After`);
    },
  },
  {
    name: "proxy-errors",
    section: "Errors",
    quote: "From a proxy: unknown whether it was executed (assumed, since a proxy cannot know)",
    reason: "it needs an outage of the service",
  },
  {
    name: "not-implemented",
    section: "Errors",
    quote: "(assumed: a gateway may answer it after it has passed the request on)",
    reason: "no route is known that answers 501",
  },
  {
    name: "redirects",
    section: "Errors",
    quote: "Never the service's own: a gateway or a login page (assumed)",
    isHandled: true,
    look: ({ all }) => {
      const redirects = all.filter(({ status }) => status >= 300 && status < 400).length;
      return redirects === 0 ? holds("none") : differs(`${redirects} redirects`);
    },
  },
  {
    name: "project-routes",
    section: "Projects and branches",
    quote: "The routes to read them are observed",
    isHandled: true,
    look: (exchanges) => {
      const routes = ["/projects/{project_id}", LISTS.branches[0]];
      const answers = routes.map((template) => exchanges.answer({ method: "GET", template }));
      const missing = answers.filter((one) => one !== undefined && !isGood(one.status)).map((one) => one?.status);
      if (missing.length > 0) return differs(`status ${unique(missing)}`);
      return answers.includes(undefined) ? notTried() : holds("both routes");
    },
  },
  {
    name: "read-replicas",
    section: "Computes",
    quote: "any number of read replicas (`read_only`, observed)",
    isHandled: false,
    look: (exchanges) => {
      const posts = exchanges.where({ method: "POST", template: ENDPOINTS });
      const ofReplicas = posts.filter(
        (one) =>
          sentField(one, "endpoint", "type") === "read_only" && ["replica-create", "replica-full"].includes(one.step),
      );
      const made = ofReplicas.filter(({ status }) => isGood(status)).length;
      const refused = ofReplicas.filter(({ status }) => isRefusal(status));
      if (ofReplicas.length === 0) return notTried();
      return made > 0 ? holds(`${made} on one branch`) : differs(`refused with ${statusesOf(refused)}`);
    },
  },
  {
    name: "host-name",
    section: "Compute record",
    quote: "`host` begins with the id: `<id>.<proxy_host>`; pooled: `<id>-pooler.<proxy_host>` (observed)",
    isHandled: false,
    look: ({ computes }) => {
      if (computes.length === 0) return notTried();
      const odd = computes.filter(({ id, host, proxy_host }) => !isHostOf(id, host, proxy_host));
      if (odd.length === 0) return holds("<id>.<proxy_host>");
      const pooled = odd.some(({ id, host }) => String(host).startsWith(`${String(id)}-pooler.`));
      return differs(pooled ? "host is the pooled name: <id>-pooler." : "host is not <id>.<proxy_host>");
    },
  },
  {
    name: "fields-shown",
    section: "Compute record",
    quote: "If the record lacks the field of an argument, the argument cannot be compared and does not count as drift",
    isHandled: true,
    look: ofGood(
      [
        { method: "POST", template: ENDPOINTS },
        { method: "PATCH", template: ENDPOINT },
      ],
      (good) => {
        const lacking = good.flatMap((one) => {
          const [sent, shown] = [sentField(one, "endpoint"), fieldOf(one.json, "endpoint")];
          if (!isFields(sent) || !isFields(shown)) return [];
          return Object.keys(sent).filter((name) => (shown[name] ?? undefined) === undefined);
        });
        return holds(lacking.length === 0 ? "every field that was sent is shown" : `not shown: ${unique(lacking)}`);
      },
    ),
  },
  {
    name: "region",
    section: "Compute record",
    quote: "A region must be the project's (observed)",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: ENDPOINTS, step: "compute-region" }, isRefused),
  },
  {
    name: "name-length",
    section: "Compute record",
    quote: "1 to 64 characters (observed)",
    isHandled: false,
    look: (exchanges) => {
      const ofLength = (length: number): number | undefined =>
        exchanges
          .where({ method: "PATCH", template: ENDPOINT, step: "compute-limits" })
          .findLast((one) => String(sentField(one, "endpoint", "name") ?? "").length === length)?.status;
      const [longest, longer] = [ofLength(64), ofLength(65)];
      if (longest === undefined || longer === undefined) return notTried();
      return judged(isGood(longest) && isRefusal(longer), `status ${longest} for 64, ${longer} for 65`);
    },
  },
  {
    name: "suspend-timeout",
    section: "Compute record",
    quote: "0: the service's default (300 s); -1: never; else 60 to 604800 (0 is described, the rest observed)",
    isHandled: true,
    look: (exchanges) => {
      const good = exchanges.answer({ method: "PATCH", template: ENDPOINT, step: "compute-timeout" })?.status;
      const bad = exchanges
        .where({ method: "PATCH", template: ENDPOINT, step: "compute-limits" })
        .findLast((one) => sentField(one, "endpoint", "suspend_timeout_seconds") === 59)?.status;
      if (good === undefined || bad === undefined) return notTried();
      return judged(isGood(good) && isRefusal(bad), `status ${good} for 600 s, ${bad} for 59 s`);
    },
  },
  {
    name: "disabling",
    section: "Compute record",
    quote: "Disabling schedules a suspend (observed)",
    isHandled: true,
    look: ofAnswer({ method: "PATCH", template: ENDPOINT, step: "compute-disable" }, carries("suspend_compute")),
  },
  {
    name: "settings",
    section: "Compute settings",
    quote: "`settings` is not described. Observed:",
    isHandled: true,
    look: ({ computes }) => {
      const keys = computes.flatMap(({ settings }) => (isFields(settings) ? Object.keys(settings) : []));
      const others = keys.filter((key) => key !== "pg_settings" && key !== "preload_libraries");
      if (others.length > 0) return differs(`also ${unique(others.map(word))}`);
      const shown = computes.some(({ settings }) => isFields(settings));
      return shown ? holds(keys.length === 0 ? "{}" : unique(keys)) : notTried("no record shows settings");
    },
  },
  {
    name: "settings-replaced",
    section: "Compute settings",
    quote: "`pg_settings` in a PATCH replaces the whole map",
    isHandled: false,
    look: (exchanges) => {
      const patch = exchanges.answer({ method: "PATCH", template: ENDPOINT, step: "settings-replaced" });
      if (patch === undefined || !isGood(patch.status)) return notTried();
      const id = fieldOf(patch.json, "endpoint", "id");
      const reads = exchanges.where({ step: "settings-replaced" }).flatMap((one) => listed(one, "endpoints") ?? []);
      const last = reads.findLast((record) => record["id"] === id) ?? fieldOf(patch.json, "endpoint");
      const shown = fieldOf(last, "settings", "pg_settings");
      if (!isFields(shown)) return notTried("the record does not show its settings");
      const isKept = Object.hasOwn(shown, "idle_in_transaction_session_timeout");
      return judged(!isKept, isKept ? "what was not sent is kept" : "what was not sent is removed");
    },
  },
  {
    name: "autoscaling-span",
    section: "Compute sizes",
    quote: "Newer rules allow at most 8 CU between the two (observed)",
    reason: "it needs a compute of more than 8 CU, which costs more than this run should",
  },
  {
    name: "large-sizes",
    section: "Compute sizes",
    quote: "Fixed only; cannot scale to zero (observed)",
    reason: "it needs a compute of more than 16 CU, which costs more than this run should",
  },
  {
    name: "primary-start",
    section: "Compute states",
    quote: "The response carries a running `start_compute`",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: ENDPOINTS, step: "compute-create" }, (answer) => {
      if (!isGood(answer.status)) return notTried(`status ${answer.status}`);
      return judged(actionsIn(answer).includes("start_compute"), operationsText(answer));
    }),
  },
  {
    name: "replica-start",
    section: "Compute states",
    quote: "`idle` with no `pending_state` and no operations is a finished creation (observed)",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: ENDPOINTS, step: "replica-create" }, (answer) => {
      if (!isGood(answer.status)) return notTried(`status ${answer.status}`);
      const state = fieldOf(answer.json, "endpoint", "current_state");
      return judged(state === "idle" && actionsIn(answer).length === 0, `${word(state)}, ${operationsText(answer)}`);
    }),
  },
  {
    name: "restart-operations",
    section: "Compute states",
    quote: "`suspend_compute`, then `start_compute` (observed)",
    isHandled: true,
    look: ofAnswer(
      { method: "POST", template: `${ENDPOINT}/restart`, step: "compute-restart" },
      carries("suspend_compute", "start_compute"),
    ),
  },
  {
    name: "resize-operations",
    section: "Compute states",
    quote: "change of a fixed size or of an autoscaling limit",
    isHandled: true,
    look: ofAnswer({ method: "PATCH", template: ENDPOINT, step: "compute-resize" }, (answer) =>
      isGood(answer.status)
        ? judged(actionsIn(answer).length > 0, operationsText(answer))
        : notTried(`status ${answer.status}`),
    ),
  },
  {
    name: "move-connections",
    section: "Compute states",
    quote: "Assumed: they are dropped, because a session belongs to a branch",
    reason: "it needs an open connection to the database, and this command has no role and no password",
  },
  {
    name: "deletion-operations",
    section: "Compute states",
    quote: "A `suspend_compute` goes on running (observed)",
    isHandled: true,
    look: ofAnswer({ method: "DELETE", template: ENDPOINT, step: "compute-delete" }, (answer) =>
      fieldOf(answer.json, "endpoint", "current_state") === "idle"
        ? notTried("the compute was idle")
        : carries("suspend_compute")(answer),
    ),
  },
  {
    name: "disabled-idle",
    section: "Compute states",
    quote: "By a scheduled suspend (observed)",
    isHandled: false,
    look: (exchanges) => {
      const patch = exchanges.answer({ method: "PATCH", template: ENDPOINT, step: "compute-disable" });
      if (patch === undefined || !isGood(patch.status)) return notTried();
      const id = fieldOf(patch.json, "endpoint", "id");
      const reads = exchanges.where({ step: "compute-disable" }).flatMap((one) => listed(one, "endpoints") ?? []);
      const last = reads.findLast((record) => record["id"] === id) ?? fieldOf(patch.json, "endpoint");
      const state = fieldOf(last, "current_state");
      return judged(state === "idle", word(state));
    },
  },
  {
    name: "idle-patch",
    section: "Compute states",
    quote: "The response may have `operations: []`: finished (observed)",
    isHandled: true,
    look: ofAnswer({ method: "PATCH", template: ENDPOINT, step: "compute-suspend" }, (answer) => {
      if (!isGood(answer.status)) return notTried(`status ${answer.status}`);
      return judged(actionsIn(answer).length === 0, operationsText(answer));
    }),
  },
  {
    name: "states",
    section: "Compute states",
    quote:
      'An unknown state counts as "not ready yet" (assumed: a deadline ends the wait, but nothing corrects a wrong "ready")',
    isHandled: false,
    look: ({ computes }) => othersIn(computes, ["current_state", "pending_state"], STATES),
  },
  {
    name: "create-response",
    section: "Compute routes",
    quote: "`{ endpoint: { branch_id, type, … } }` | `{ endpoint, operations }`",
    isHandled: true,
    look: ofGood([{ method: "POST", template: ENDPOINTS }], (good) => bodiesOf(good)),
  },
  {
    name: "read-one",
    section: "Compute routes",
    quote: "`{ endpoint }` (observed); 404 when gone",
    isHandled: true,
    look: (exchanges) => {
      const answer = exchanges.answer({ method: "GET", template: ENDPOINT, step: "compute-read" });
      if (answer === undefined) return notTried();
      if (!isGood(answer.status)) return differs(`status ${answer.status}: there is no such route`);
      const gone = exchanges.answer({ method: "GET", template: ENDPOINT, step: "compute-gone" })?.status;
      const isShown = isFields(fieldOf(answer.json, "endpoint"));
      return judged(isShown && (gone === undefined || gone === 404), `status ${gone ?? "not tried"} when gone`);
    },
  },
  {
    name: "update-response",
    section: "Compute routes",
    quote: "`{ endpoint, operations }`, operations may be empty",
    isHandled: true,
    look: ofGood([{ method: "PATCH", template: ENDPOINT }], (good) => bodiesOf(good)),
  },
  {
    name: "delete-response",
    section: "Compute routes",
    quote: "`{ endpoint, operations }`, or 204 (observed)",
    isHandled: true,
    look: ofGood([{ method: "DELETE", template: ENDPOINT }], (good) => {
      const odd = good.filter((one) => one.status !== 204 && !hasBoth(one));
      return odd.length === 0 ? holds(`status ${statusesOf(good)}`) : differs(`status ${statusesOf(odd)} without them`);
    }),
  },
  {
    name: "restart-response",
    section: "Compute routes",
    quote: "/restart` | none | `{ endpoint, operations }` (shapes observed)",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: `${ENDPOINT}/restart`, step: "compute-restart" }, showsBoth),
  },
  {
    name: "start-response",
    section: "Compute routes",
    quote: "/start` | none | `{ endpoint, operations }` (observed)",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: `${ENDPOINT}/start`, step: "compute-suspend" }, showsBoth),
  },
  {
    name: "suspend-response",
    section: "Compute routes",
    quote: "/suspend` | none | `{ endpoint, operations }` (observed)",
    isHandled: true,
    look: (exchanges) => {
      const [first] = exchanges.where({ method: "POST", template: `${ENDPOINT}/suspend`, step: "compute-suspend" });
      return first === undefined ? notTried() : showsBoth(first);
    },
  },
  {
    name: "creation-attributes",
    section: "Compute routes",
    quote: "Creation takes (beyond `branch_id` and `type`, observed)",
    isHandled: false,
    look: ofAnswer({ method: "POST", template: ENDPOINTS, step: "replica-full" }, (answer) => {
      const sent = sentField(answer, "endpoint");
      return judged(
        isGood(answer.status),
        `status ${answer.status} for ${isFields(sent) ? Object.keys(sent).length : 0} attributes`,
      );
    }),
  },
  {
    name: "move",
    section: "Compute routes",
    quote: "A PATCH with another `branch_id` moves the compute. It keeps its id and host",
    isHandled: false,
    look: (exchanges) => {
      const patch = exchanges.answer({ method: "PATCH", template: ENDPOINT, step: "compute-move" });
      if (patch === undefined) return notTried("no second branch is given (--move-to)");
      const id = fieldOf(patch.json, "endpoint", "id");
      const own = exchanges.computes.filter((record) => record["id"] === id);
      const hosts = new Set(own.map(({ host }) => host));
      return judged(isGood(patch.status) && hosts.size === 1, `status ${patch.status}, ${hosts.size} hosts`);
    },
  },
  {
    name: "idle-restart",
    section: "Compute routes",
    quote: "Restart of an idle compute is refused",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: `${ENDPOINT}/restart`, step: "compute-suspend" }, isRefused),
  },
  {
    name: "idle-suspend",
    section: "Compute routes",
    quote: "Suspend of an idle compute answers 200 with no operations (observed)",
    isHandled: true,
    look: (exchanges) => {
      const all = exchanges.where({ method: "POST", template: `${ENDPOINT}/suspend`, step: "compute-suspend" });
      const [, second] = all.filter(({ status }) => status !== 423 && status !== 429);
      if (second === undefined) return notTried();
      const isSo = second.status === 200 && actionsIn(second).length === 0;
      return judged(isSo, `status ${second.status}, ${operationsText(second)}`);
    },
  },
  {
    name: "list-order",
    section: "Compute routes",
    quote: "A read replica may be first in the list (observed)",
    isHandled: true,
    look: ({ all }) => {
      const types = all.map((one) => (listed(one, "endpoints") ?? []).map(({ type }) => type));
      const mixed = types.filter((one) => one.includes("read_only") && one.includes("read_write"));
      if (mixed.length === 0) return notTried("no list has shown both");
      return holds(mixed.some(([first]) => first === "read_only") ? "a read replica was first" : "a primary was first");
    },
  },
  {
    name: "actions",
    section: "Operations",
    quote: "also `create_compute`, `suspend_compute`, `apply_config`, `check_availability` (observed)",
    isHandled: true,
    look: ({ operations }) => othersIn(operations, ["action"], ACTIONS),
  },
  {
    name: "operation-statuses",
    section: "Operations",
    quote: "(all but `running` observed)",
    isHandled: false,
    look: ({ operations }) => othersIn(operations, ["status"], STATUSES),
  },
  {
    name: "operation-errors",
    section: "Operations",
    quote: "`error`, `retry_at` | Optional (observed)",
    isHandled: true,
    look: ({ operations }) => {
      if (operations.length === 0) return notTried();
      const shown = ["error", "retry_at"].filter((name) => operations.some((one) => (one[name] ?? "") !== ""));
      return holds(shown.length === 0 ? "absent" : `shown: ${unique(shown)}`);
    },
  },
  {
    name: "operation-routes",
    section: "Operations",
    quote: "reads one (both observed)",
    isHandled: true,
    look: (exchanges) => {
      const [template] = LISTS.operations;
      const pages = exchanges.where({ method: "GET", template, step: "operations" });
      const one = exchanges.answer({ method: "GET", template: `${template}/{operation_id}` });
      if (pages.length === 0) return notTried();
      const odd = [...pages, ...(one === undefined ? [] : [one])].filter(({ status }) => !isGood(status));
      if (odd.length > 0) return differs(`status ${statusesOf(odd)}`);
      const newest = exchanges.where({ method: "GET", template }).map((page) => recordsIn(page.json, "operations"));
      const isOrdered = newest.every((page) => isDescending(page.map(({ created_at }) => String(created_at))));
      const paged = pages.some(({ template }) => template.includes("cursor=")) ? ", with a cursor" : "";
      return judged(isOrdered, isOrdered ? `newest first${paged}` : "not the newest first");
    },
  },
  {
    name: "locks",
    section: "Operations",
    quote:
      "Locks are per project (observed): while an operation runs, other changes of computes get 423, at some services 409 (observed)",
    isHandled: true,
    look: ({ all }) => {
      const locked = all.filter(({ status }) => status === 423).length;
      if (locked > 0) return holds(`${locked} times 423`);
      const asked = all.find(({ step, method }) => step === "compute-lock" && method === "PATCH");
      if (asked?.status === 409) return holds("409 in place of 423");
      // "Not every project locks."
      return asked === undefined ? notTried() : holds(`this project does not lock: status ${asked.status}`);
    },
  },
  {
    name: "owner",
    section: "Auth integration",
    quote: "`svc` while the service manages it; `user` after a transfer (observed)",
    isHandled: true,
    look: ({ all }) => {
      const owners = all.flatMap((one) => (listed(one, "integrations") ?? []).map(({ owned_by }) => owned_by));
      if (owners.length === 0) return notTried();
      return judged(
        owners.every((owner) => owner === "svc"),
        unique(owners.map((one) => (one === undefined ? "absent" : word(one)))),
      );
    },
  },
  {
    name: "delete-data",
    section: "Auth integration",
    quote: "none, or `{ delete_data: boolean }` (observed)",
    reason: "the provider never sends it, and it deletes data",
  },
  {
    name: "integration-deletion",
    section: "Auth integration",
    quote: "200 without a body (observed)",
    isHandled: true,
    look: ofGood([{ method: "DELETE", template: INTEGRATION }], (good) => emptyDeletions(good)),
  },
  {
    name: "kept-schema",
    section: "Auth integration",
    quote: "creation can then answer 409 that names the schema (observed)",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: CREATE_INTEGRATION, step: "integration-again" }, ({ status }) => {
      if (isGood(status)) return holds(`created again with status ${status}`);
      return judged(status === 409, status === 409 ? "the schema stays: 409" : `status ${status}`);
    }),
  },
  {
    name: "older-keys",
    section: "Auth keys",
    quote: "Earlier sets stay valid (observed)",
    reason: "only the auth provider can say whether a key is valid",
  },
  {
    name: "users-table",
    section: "Auth keys",
    quote: "A look-up without a key set has the defaults (assumed: no request of the description chooses others)",
    isHandled: false,
    look: ofGood(
      [CREATE_INTEGRATION, KEYS].map((template) => ({ method: "POST", template })),
      (good) => {
        const tables = good.map(
          ({ json }) => `${word(fieldOf(json, "schema_name"))}.${word(fieldOf(json, "table_name"))}`,
        );
        return judged(unique(tables) === "svc_auth.users_sync", unique(tables));
      },
    ),
  },
  {
    name: "existing-user",
    section: "Auth users",
    quote: "An address that exists may answer 409 (observed)",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: NEW_USER, step: "second-user" }, ({ status }) =>
      judged(status === 409, `status ${status}`),
    ),
  },
  {
    name: "second-transfer",
    section: "Ownership transfer",
    quote: "Another request is harmless (assumed: it only creates a URL)",
    isHandled: false,
    look: (exchanges) => {
      const posts = exchanges.where({ method: "POST", step: "transfer" }).filter(({ status }) => isGood(status));
      const shown = exchanges.where({ step: "transfer" }).flatMap((one) => {
        const all = listed(one, "integrations");
        return all === undefined
          ? []
          : [all.map((each) => `${String(each["auth_provider_project_id"])} ${String(each["owned_by"])}`)];
      });
      if (posts.length < 2 || shown.length === 0) return notTried();
      const isSame = new Set(shown.map((each) => each.join())).size === 1;
      return judged(isSame, isSame ? "the integration did not change" : "the integration changed");
    },
  },
  {
    name: "half-credentials",
    section: "OAuth providers",
    quote: "both or neither of the credentials (assumed: the description makes each optional by itself",
    reason: "the package sends no half of a pair",
  },
  {
    name: "other-provider-ids",
    section: "OAuth providers",
    quote: "The others that editors offer and the emulator accepts are assumed",
    isHandled: true,
    look: (exchanges) => {
      const question = { method: "POST", template: PROVIDERS } as const;
      const other = exchanges.answer({ ...question, step: "other-provider" });
      const unknown = exchanges.answer({ ...question, step: "unknown-provider" })?.status ?? "not tried";
      if (other === undefined) return notTried();
      return judged(
        isGood(other.status),
        `status ${other.status} for ${word(sentField(other, "id"))}, ${unknown} for an unknown id`,
      );
    },
  },
  {
    name: "provider-deletion",
    section: "OAuth providers",
    quote: "204, 200 (observed)",
    isHandled: true,
    look: ofGood([{ method: "DELETE", template: PROVIDER }], (good) =>
      judged(
        good.every(({ status }) => status === 200 || status === 204),
        statusesOf(good),
      ),
    ),
  },
  {
    name: "listed-credentials",
    section: "OAuth providers",
    quote: "A list that shows a client id is accepted (assumed)",
    isHandled: true,
    look: ({ all }) => {
      const records = all.flatMap((one) => listed(one, "providers") ?? []).filter(({ type }) => type === "standard");
      if (records.length === 0) return notTried();
      const shown = ["client_id", "client_secret"].filter((name) => records.some((one) => (one[name] ?? "") !== ""));
      return judged(shown.length === 0, shown.length === 0 ? "no credentials" : `shows ${shown.join(" and ")}`);
    },
  },
  {
    name: "client-secret",
    section: "OAuth providers",
    quote: "A secret may come back in full, masked (empty, `****`) or not at all (observed)",
    isHandled: false,
    look: secretForms(
      [
        { method: "POST", template: PROVIDERS },
        { method: "PATCH", template: PROVIDER },
      ],
      "client_secret",
    ),
  },
  {
    name: "shared-providers",
    section: "OAuth providers",
    quote: "`shared` entries for google and github often exist from the start (observed)",
    isHandled: true,
    look: (exchanges) => {
      const [first] = exchanges
        .where({ method: "GET", template: PROVIDERS, step: "integration-create" })
        .flatMap((one) => [listed(one, "providers") ?? []]);
      if (first === undefined) return notTried();
      const shared = first.filter(({ type }) => type === "shared").map(({ id }) => word(id));
      return holds(shared.length === 0 ? "none" : unique(shared));
    },
  },
  {
    name: "origin-schemes",
    section: "Redirect domains",
    quote: "The scheme is http or https (observed)",
    reason: "app-domains tries another scheme",
  },
  {
    name: "app-domains",
    section: "Redirect domains",
    quote: "a service may list them, and accepts or refuses new ones (assumed)",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: DOMAINS, step: "app-domain" }, ({ status }) =>
      holds(`${isGood(status) ? "accepted" : "refused"} with status ${status}`),
    ),
  },
  {
    name: "domain-spelling",
    section: "Redirect domains",
    quote: "The service may store another spelling than was sent (case, default port; assumed)",
    isHandled: true,
    look: (exchanges) => {
      const sent = exchanges.answer({ method: "POST", template: DOMAINS, step: "domain-spelling" });
      if (sent === undefined) return notTried();
      if (!isGood(sent.status)) return holds(`another spelling is refused with status ${sent.status}`);
      const domains = exchanges
        .where({ step: "domain-spelling" })
        .flatMap((one) => listed(one, "domains") ?? [])
        .map(({ domain }) => domain);
      return holds(domains.includes(sentField(sent, "domain")) ? "stored as sent" : "stored in another spelling");
    },
  },
  {
    name: "unlisted-domain",
    section: "Redirect domains",
    quote: "A deletion ignores domains that are not listed (assumed; a refusal with 404 is handled too)",
    isHandled: true,
    look: ofAnswer({ method: "DELETE", template: DOMAINS, step: "unlisted-domain" }, ({ status }) =>
      judged(isGood(status), `status ${status}`),
    ),
  },
  {
    name: "mail-password",
    section: "Email server",
    quote: "The password may come back in full, masked or not at all (observed)",
    isHandled: false,
    look: secretForms([{ method: "PATCH", template: EMAIL }], "password"),
  },
  {
    name: "rate",
    section: "Limits",
    quote: "About 700 requests a minute, and 40 a second for each route (observed)",
    isHandled: true,
    look: ({ all }) => {
      const first = all.find(({ status }) => status === 429);
      if (first === undefined) return notTried("this run stays far below it, and does not flood the service");
      const before = all.filter(({ sentAt }) => sentAt <= first.sentAt && sentAt > first.sentAt - 60_000).length;
      return differs(`429 after ${before} requests of this run within a minute`);
    },
  },
  {
    name: "list-lag",
    section: "Delays",
    quote: "A list may lag behind a creation for up to 3 s (observed; the bound is ours, from what was seen)",
    isHandled: false,
    look: (exchanges) => {
      const lags = [
        ["computes", lagOf(exchanges, "compute")],
        ["integrations", lagOf(exchanges, "integration")],
        ["providers", lagOf(exchanges, "provider")],
        ["domains", lagOf(exchanges, "domain")],
      ] as const;
      const known = lags.flatMap(([what, lag]) => (lag === undefined ? [] : [[what, lag] as const]));
      return lagFinding(known);
    },
  },
  {
    name: "record-lag",
    section: "Delays",
    quote:
      "A record may show the old values for the same time after a change was accepted (assumed: the same mechanism)",
    isHandled: false,
    look: (exchanges) => {
      const lag = lagOf(exchanges, "rename");
      return lagFinding(lag === undefined ? [] : [["a new name", lag]]);
    },
  },
  {
    name: "auth-branch",
    section: "Not known",
    quote: "whether an integration can use a branch that is not the default",
    isHandled: true,
    look: ofAnswer({ method: "POST", template: CREATE_INTEGRATION, step: "integration-elsewhere" }, ({ status }) =>
      judged(isRefusal(status), `status ${status} for another branch`),
    ),
  },
];

const LAG_MS = 3_000;

function lagFinding(lags: readonly (readonly [what: string, lag: { atLeastMs: number; shown: boolean }])[]): Finding {
  if (lags.length === 0) return notTried();
  const seen = lags.map(([what, { atLeastMs, shown }]) =>
    !shown
      ? `${what} not shown within ${atLeastMs} ms`
      : `${what} ${atLeastMs === 0 ? "at once" : `after ${atLeastMs} ms`}`,
  );
  return judged(
    lags.every(([, { atLeastMs }]) => atLeastMs <= LAG_MS),
    seen.join(", "),
  );
}

function bodiesOf(good: readonly Exchange[]): Finding {
  const odd = good.filter((one) => !hasBoth(one));
  if (odd.length === 0) return holds("both");
  const empty = odd.every(({ text }) => text.trim() === "");
  return differs(`status ${statusesOf(odd)} ${empty ? "without a body" : "without them"}`);
}

function emptyDeletions(good: readonly Exchange[]): Finding {
  const isSo = good.every(({ status, text }) => status === 200 && text.trim() === "");
  const bodies = good.some(({ text }) => text.trim() !== "") ? "with a body" : "without a body";
  return judged(isSo, `status ${statusesOf(good)}, ${bodies}`);
}

function isHostOf(id: unknown, host: unknown, proxyHost: unknown): boolean {
  if (typeof id !== "string" || typeof host !== "string") return false;
  return typeof proxyHost === "string" ? host === `${id}.${proxyHost}` : host.startsWith(`${id}.`);
}

const isErrorBody = (json: unknown): boolean =>
  typeof fieldOf(json, "code") === "string" && typeof fieldOf(json, "message") === "string";

const isDescending = (times: readonly string[]): boolean =>
  times.every((time, index) => index === 0 || time <= (times[index - 1] ?? time));
