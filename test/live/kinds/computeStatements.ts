import { type Exchange, type Exchanges, type Fields, type List, type Question } from "../exchanges";
import { ask, fieldOf, isFields, isGood, isMissingRoute, isRefusal, listed, recordsIn, sentField } from "../exchanges";
import { differs, either, type Finding, handled, holds, judged, needed, notTried, untried } from "../findings";
import { actionsIn, hasStatus, isRefused, ofAnswer, ofAny, ofGood, ofSuccess, onlyKnown } from "../findings";
import { operationsText, type Sections, statusesOf, unique, word } from "../findings";
import { type Change, lagFinding } from "../lag";

const PATH = "/projects/{project_id}/endpoints";
export const ENDPOINT = `${PATH}/{endpoint_id}`;
const RESTART = `${ENDPOINT}/restart`;
const SUSPEND = `${ENDPOINT}/suspend`;
const OPERATIONS_PATH = "/projects/{project_id}/operations";
export const OPERATION = `${OPERATIONS_PATH}/{operation_id}`;

export const COMPUTES: List = {
  name: "computes",
  template: PATH,
  field: "endpoints",
  added: { template: PATH, isIt: ({ id }, { json }) => id === fieldOf(json, "endpoint", "id") },
};
export const OPERATIONS: List = { name: "operations", template: OPERATIONS_PATH, field: "operations" };

/** All records that any response showed. */
const computesIn = ({ all }: Exchanges): readonly Fields[] =>
  all.flatMap((one) => {
    const endpoint = fieldOf(one.json, "endpoint");
    return [...(listed(one, COMPUTES) ?? []), ...(isGood(one.status) && isFields(endpoint) ? [endpoint] : [])];
  });
const operationsIn = (exchanges: Exchanges): readonly Fields[] =>
  exchanges.good({}).flatMap(({ json }) => recordsIn(json, "operations"));

/** The record of the compute of a change as the step has shown it last. */
function lastShown(exchanges: Exchanges, { step, json }: Exchange): unknown {
  const changed = fieldOf(json, "endpoint");
  const reads = exchanges.where({ step }).flatMap((each) => listed(each, COMPUTES) ?? []);
  return reads.findLast(({ id }) => id === fieldOf(changed, "id")) ?? changed;
}

const RENAMED: Change = {
  what: "a new name",
  question: ask.patch(ENDPOINT, "compute-rename"),
  list: COMPUTES,
  isIt: ({ name }, change) => name === sentField(change, "endpoint", "name"),
};

const STATES = ["init", "active", "idle"];
const ACTIONS = ["start_compute", "create_compute", "suspend_compute", "apply_config", "check_availability"];
const STATUSES = ["scheduling", "running", "cancelling", "finished", "skipped", "failed", "error", "cancelled"];
const OPTIONAL = ["name", "pending_state", "last_active", "suspended_at", "error", "retry_at"];

/** The zero time of some languages counts, too. */
const isBlank = (value: unknown): boolean =>
  typeof value === "string" && (value.trim() === "" || value.startsWith("0001-01-01"));

/** The operations of a successful response contain these, in this order. */
const carries = (question: Question, ...wanted: readonly string[]) =>
  ofSuccess(question, (answer) => {
    const found = actionsIn(answer).filter((action) => wanted.includes(action));
    return judged(found.join() === wanted.join(), operationsText(answer));
  });

/** The body is `{ endpoint, operations }`. */
const hasBoth = ({ json }: Exchange): boolean =>
  isFields(fieldOf(json, "endpoint")) && Array.isArray(fieldOf(json, "operations"));

function showBoth(good: readonly Exchange[]): Finding {
  const odd = good.filter((each) => !hasBoth(each));
  if (odd.length === 0) return holds(`status ${statusesOf(good)}, both`);
  const isEmpty = odd.every(({ text }) => text.trim() === "");
  return differs(`status ${statusesOf(odd)} ${isEmpty ? "without a body" : "without them"}`);
}

/** The same for an action, whose route may be missing. */
const actionShowsBoth = (question: Question) =>
  ofAnswer(question, (answer) => {
    if (isMissingRoute(answer.status)) return differs(`status ${answer.status}: there is no such route`);
    return isGood(answer.status) ? showBoth([answer]) : notTried(`status ${answer.status}`);
  });

function isHostOf({ id, host, proxy_host: proxyHost }: Fields): boolean {
  if (typeof id !== "string" || typeof host !== "string") return false;
  return typeof proxyHost === "string" ? host === `${id}.${proxyHost}` : host.startsWith(`${id}.`);
}

const isDescending = (times: readonly string[]): boolean =>
  times.every((time, index) => index === 0 || time <= (times[index - 1] ?? time));

/** The status of the last PATCH of the step `compute-limits` that sent such a value. */
const limitStatus = (exchanges: Exchanges, field: string, isIt: (value: unknown) => boolean): number | undefined =>
  exchanges
    .where(ask.patch(ENDPOINT, "compute-limits"))
    .findLast((each) => isIt(sentField(each, "endpoint", field) ?? ""))?.status;

export const computeStatements: Sections = {
  Responses: [
    handled(
      "gone-compute",
      "deleting a compute that is gone",
      ofAnswer(ask.del(ENDPOINT, "compute-gone"), hasStatus(204)),
    ),
    needed("absent-or-null", "(assumed to mean the same", (exchanges) => {
      const records = [...computesIn(exchanges), ...operationsIn(exchanges)];
      return ofAny(records, () => {
        const having = (isIt: (value: unknown) => boolean): string[] =>
          OPTIONAL.filter((name) => records.some((record) => isIt(record[name])));
        const [blank, nulls] = [having(isBlank), having((value) => value === null)];
        if (blank.length > 0) return differs(`blank instead: ${unique(blank)}`);
        return holds(nulls.length === 0 ? "absent" : `null: ${unique(nulls)}`);
      });
    }),
  ],
  Errors: [
    handled("refused-body", "The body is refused. 422 also", ofAnswer(ask.post(PATH, "bad-body"), hasStatus(400, 422))),
    handled("other-method", "The route has no such method", ofAnswer({ step: "bad-method" }, hasStatus(404, 405))),
  ],
  Computes: [
    needed("read-replicas", "any number of read replicas (`read_only`, observed)", (exchanges) => {
      const asked = ["replica-create", "replica-full"].flatMap((step) => exchanges.where(ask.post(PATH, step)));
      const made = asked.filter(({ status }) => isGood(status)).length;
      return ofAny(asked, () => (made > 0 ? holds(`${made} on one branch`) : differs(`status ${statusesOf(asked)}`)));
    }),
  ],
  "Compute record": [
    needed("host-name", "pooled: `<id>-pooler.<proxy_host>` (observed)", (exchanges) =>
      ofAny(computesIn(exchanges), (records) => {
        const odd = records.filter((record) => !isHostOf(record));
        if (odd.length === 0) return holds("<id>.<proxy_host>");
        const isPooled = odd.some(({ id, host }) => String(host).startsWith(`${String(id)}-pooler.`));
        return differs(isPooled ? "host is the pooled name: <id>-pooler." : "host is not <id>.<proxy_host>");
      }),
    ),
    handled("region", "must be the project's (observed)", ofAnswer(ask.post(PATH, "compute-region"), isRefused)),
    needed("name-length", "1 to 64 characters (observed)", (exchanges) => {
      const ofLength = (length: number) => limitStatus(exchanges, "name", (name) => String(name).length === length);
      const [longest, longer] = [ofLength(64), ofLength(65)];
      if (longest === undefined || longer === undefined) return notTried();
      return judged(isGood(longest) && isRefusal(longer), `status ${longest} for 64, ${longer} for 65`);
    }),
    handled("suspend-timeout", "(0 is described, the rest observed)", (exchanges) => {
      const good = exchanges.answer(ask.patch(ENDPOINT, "compute-timeout"))?.status;
      const bad = limitStatus(exchanges, "suspend_timeout_seconds", (seconds) => seconds === 59);
      if (good === undefined || bad === undefined) return notTried();
      return judged(isGood(good) && isRefusal(bad), `status ${good} for 600 s, ${bad} for 59 s`);
    }),
    handled(
      "disabling",
      "Disabling schedules a suspend (observed)",
      carries(ask.patch(ENDPOINT, "compute-disable"), "suspend_compute"),
    ),
  ],
  "Compute settings": [
    handled("settings", "`settings` is not described. Observed:", (exchanges) => {
      const shown = computesIn(exchanges).flatMap(({ settings }) => (isFields(settings) ? [settings] : []));
      const keys = shown.flatMap((settings) => Object.keys(settings));
      const others = keys.filter((key) => key !== "pg_settings" && key !== "preload_libraries");
      return ofAny(shown, () => judged(others.length === 0, keys.length === 0 ? "{}" : unique(keys.map(word))));
    }),
    needed(
      "settings-replaced",
      "`pg_settings` in a PATCH replaces the whole map",
      ofSuccess(ask.patch(ENDPOINT, "settings-replaced"), (answer, exchanges) => {
        const shown = fieldOf(lastShown(exchanges, answer), "settings", "pg_settings");
        if (!isFields(shown)) return notTried("the record does not show its settings");
        const isKept = Object.hasOwn(shown, "idle_in_transaction_session_timeout");
        return judged(!isKept, isKept ? "what was not sent is kept" : "what was not sent is removed");
      }),
    ),
  ],
  "Compute sizes": [
    untried(
      "autoscaling-span",
      "at most 8 CU between the two (observed)",
      "a compute of more than 8 CU costs too much",
    ),
    untried("large-sizes", "cannot scale to zero (observed)", "a compute of more than 16 CU costs too much"),
  ],
  "Compute states": [
    handled(
      "primary-start",
      "The response carries a running `start_compute`",
      carries(ask.post(PATH, "compute-create"), "start_compute"),
    ),
    handled(
      "replica-start",
      "is a finished creation (observed)",
      ofSuccess(ask.post(PATH, "replica-create"), (answer) => {
        const state = fieldOf(answer.json, "endpoint", "current_state");
        return judged(state === "idle" && actionsIn(answer).length === 0, `${word(state)}, ${operationsText(answer)}`);
      }),
    ),
    handled(
      "restart-operations",
      "`suspend_compute`, then `start_compute` (observed)",
      carries(ask.post(RESTART, "compute-restart"), "suspend_compute", "start_compute"),
    ),
    handled(
      "resize-operations",
      "change of a fixed size or of an autoscaling limit",
      ofSuccess(ask.patch(ENDPOINT, "compute-resize"), (answer) =>
        judged(actionsIn(answer).length > 0, operationsText(answer)),
      ),
    ),
    untried("move-connections", "Assumed: they are dropped", "this run has no role and no password to connect with"),
    handled(
      "deletion-operations",
      "A `suspend_compute` goes on running (observed)",
      carries(ask.del(ENDPOINT, "compute-delete"), "suspend_compute"),
    ),
    needed(
      "disabled-idle",
      "By a scheduled suspend (observed)",
      ofSuccess(ask.patch(ENDPOINT, "compute-disable"), (answer, exchanges) => {
        const state = fieldOf(lastShown(exchanges, answer), "current_state");
        return judged(state === "idle", word(state));
      }),
    ),
    handled(
      "idle-patch",
      "The response may have `operations: []`: finished (observed)",
      ofSuccess(ask.patch(ENDPOINT, "compute-suspend"), (answer) =>
        judged(actionsIn(answer).length === 0, operationsText(answer)),
      ),
    ),
    needed("states", 'An unknown state counts as "not ready yet" (assumed', (exchanges) =>
      onlyKnown(computesIn(exchanges), ["current_state", "pending_state"], STATES),
    ),
  ],
  "Compute routes": [
    handled("create-response", "`{ endpoint: { branch_id, type, … } }`", ofGood([ask.post(PATH)], showBoth)),
    handled("read-one", "`{ endpoint }` (observed); 404 when gone", (exchanges) => {
      const answer = exchanges.answer(ask.get(ENDPOINT, "compute-read"));
      if (answer === undefined) return notTried();
      if (!isGood(answer.status)) return differs(`status ${answer.status}: there is no such route`);
      const gone = exchanges.answer(ask.get(ENDPOINT, "compute-gone"))?.status;
      const isShown = isFields(fieldOf(answer.json, "endpoint"));
      return judged(isShown && (gone === undefined || gone === 404), `status ${gone ?? "not tried"} when gone`);
    }),
    handled("update-response", "operations may be empty", ofGood([ask.patch(ENDPOINT)], showBoth)),
    handled(
      "delete-response",
      "`{ endpoint, operations }`, or 204 (observed)",
      ofGood([ask.del(ENDPOINT)], (good) => showBoth(good.filter(({ status }) => status !== 204))),
    ),
    handled("restart-response", "(shapes observed)", actionShowsBoth(ask.post(RESTART, "compute-restart"))),
    handled(
      "start-response",
      "/start` | none | `{ endpoint, operations }` (observed)",
      actionShowsBoth(ask.post(`${ENDPOINT}/start`, "compute-suspend")),
    ),
    handled(
      "suspend-response",
      "/suspend` | none | `{ endpoint, operations }` (observed)",
      actionShowsBoth(ask.post(SUSPEND, "compute-suspend")),
    ),
    needed(
      "creation-attributes",
      "Creation takes (beyond `branch_id` and `type`, observed)",
      ofAnswer(ask.post(PATH, "replica-full"), (answer) => {
        const attributes = Object.keys(sentField(answer, "endpoint") ?? {}).length;
        return judged(isGood(answer.status), `status ${answer.status} for ${attributes} attributes`);
      }),
    ),
    needed(
      "move",
      "A PATCH with another `branch_id` moves the compute. It keeps its id and host",
      ofAnswer(ask.patch(ENDPOINT, "compute-move"), ({ status, json }, exchanges) => {
        const own = computesIn(exchanges).filter(({ id }) => id === fieldOf(json, "endpoint", "id"));
        const hosts = new Set(own.map(({ host }) => host)).size;
        return judged(isGood(status) && hosts === 1, `status ${status}, ${hosts} hosts`);
      }),
    ),
    handled(
      "idle-restart",
      "Restart of an idle compute is refused",
      ofAnswer(ask.post(RESTART, "compute-suspend"), isRefused),
    ),
    handled(
      "idle-suspend",
      "Suspend of an idle compute answers 200 with no operations (observed)",
      ofAnswer(ask.post(SUSPEND, "idle-suspend"), (answer) =>
        judged(
          answer.status === 200 && actionsIn(answer).length === 0,
          `status ${answer.status}, ${operationsText(answer)}`,
        ),
      ),
    ),
    either("list-order", "A read replica may be first in the list (observed)"),
  ],
  Operations: [
    handled("actions", "`apply_config`, `check_availability` (observed)", (exchanges) =>
      onlyKnown(operationsIn(exchanges), ["action"], ACTIONS),
    ),
    needed("operation-statuses", "(all but `running` observed)", (exchanges) =>
      onlyKnown(operationsIn(exchanges), ["status"], STATUSES),
    ),
    either("operation-errors", "`error`, `retry_at` | Optional (observed)"),
    handled("operation-routes", "reads one (both observed)", (exchanges) => {
      const pages = exchanges.where(ask.get(OPERATIONS_PATH, "operations"));
      return ofAny([...pages, ...exchanges.where(ask.get(OPERATION))], (all) => {
        const odd = all.filter(({ status }) => !isGood(status));
        if (odd.length > 0) return differs(`status ${statusesOf(odd)}`);
        const read = exchanges.all.flatMap((each) => [listed(each, OPERATIONS) ?? []]);
        const isOrdered = read.every((page) => isDescending(page.map(({ created_at }) => String(created_at))));
        const paged = pages.some(({ template }) => template.includes("cursor=")) ? ", with a cursor" : "";
        return judged(isOrdered, isOrdered ? `newest first${paged}` : "not the newest first");
      });
    }),
    either(
      "locks",
      "Locks are per project (observed): while an operation runs, other changes of computes get 423, at some services 409 (observed)",
    ),
  ],
  Delays: [
    needed(
      "record-lag",
      "A record may show the old values for the same time after a change was accepted (assumed",
      (exchanges) => lagFinding(exchanges, [RENAMED]),
    ),
  ],
};
