import type { Exchange, Exchanges, Fields, List, Question } from "../exchanges";
import { DELETE, fieldOf, GET, isFields, isGood, isMissingRoute, isRefusal, listed } from "../exchanges";
import { PATCH, POST, recordsIn, sentField } from "../exchanges";
import { differs, either, type Finding, handled, holds, judged, needed, notTried, untried } from "../findings";
import {
  actionsIn,
  hasStatus,
  isAccepted,
  isRefused,
  ofAnswer,
  ofAny,
  ofGood,
  ofSuccess,
  onlyKnown,
} from "../findings";
import { operationsText, type Sections, statusesOf, unique, word } from "../findings";
import { type Change, lagFinding } from "../lag";

const PATH = "/projects/{project_id}/endpoints";
export const ENDPOINT = `${PATH}/{endpoint_id}`;
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
  question: PATCH.in("compute-rename"),
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

/** Whether a successful response contains any. */
const operations = (question: Question, any: boolean) =>
  ofSuccess(question, (answer) => judged(actionsIn(answer).length > 0 === any, operationsText(answer)));

/** The body is `{ endpoint, operations }`, or the status says that there is none. */
const hasBoth = ({ json }: Exchange): boolean =>
  isFields(fieldOf(json, "endpoint")) && Array.isArray(fieldOf(json, "operations"));

function showBoth(good: readonly Exchange[]): Finding {
  const odd = good.filter((each) => each.text !== "" || each.status !== 204).filter((each) => !hasBoth(each));
  if (odd.length === 0) return holds(`status ${statusesOf(good)}, both`);
  const isEmpty = odd.every(({ text }) => text.trim() === "");
  return differs(`status ${statusesOf(odd)} ${isEmpty ? "without a body" : "without them"}`);
}

/** The same for the action of a step, whose route may be missing. */
const action = (step: string) =>
  ofAnswer(POST.in(step), (answer) => {
    if (isMissingRoute(answer.status)) return differs(`status ${answer.status}: there is no such route`);
    return isGood(answer.status) ? showBoth([answer]) : notTried(`status ${answer.status}`);
  });

function isHostOfIts({ id, host, proxy_host: proxyHost }: Fields): boolean {
  const begin = `${String(id)}.`;
  return typeof proxyHost === "string" ? host === begin + proxyHost : String(host).startsWith(begin);
}

/** The service accepts what one step sends, and refuses what the other does. */
const limit = (good: string, bad: string) => (exchanges: Exchanges) => {
  const [accepted, refused] = exchanges.answers(PATCH.in(good), PATCH.in(bad)).map(({ status }) => status);
  if (accepted === undefined || refused === undefined) return notTried();
  return judged(isGood(accepted) && isRefusal(refused), `status ${accepted} within it, ${refused} beyond`);
};

export const computeStatements: Sections = {
  Responses: [
    handled("gone-compute", "deleting a compute that is gone", ofAnswer(DELETE.in("compute-gone"), hasStatus(204))),
    needed("absent-or-null", "(assumed to mean the same", (exchanges) => {
      const records = [...computesIn(exchanges), ...operationsIn(exchanges)];
      const blank = OPTIONAL.filter((name) => records.some((record) => isBlank(record[name])));
      return ofAny(records, () => judged(blank.length === 0, `blank instead: ${unique(blank) || "none"}`));
    }),
  ],
  Errors: [
    handled("refused-body", "The body is refused. 422 also", ofAnswer(POST.in("bad-body"), hasStatus(400, 422))),
    handled("other-method", "The route has no such method", ofAnswer({ step: "bad-method" }, hasStatus(404, 405))),
  ],
  Computes: [needed("read-replicas", "(`read_only`, observed)", ofAnswer(POST.in("replica-create"), isAccepted))],
  "Compute record": [
    needed("host-name", "pooled: `<id>-pooler.<proxy_host>` (observed)", (exchanges) => {
      const records = computesIn(exchanges);
      return ofAny(records, () => judged(records.every(isHostOfIts), "host as <id>.<proxy_host>"));
    }),
    handled("region", "must be the project's (observed)", ofAnswer(POST.in("compute-region"), isRefused)),
    needed("name-length", "1 to 64 characters (observed)", limit("longest-name", "longer-name")),
    handled("suspend-timeout", "(0 is described, the rest observed)", limit("compute-timeout", "short-timeout")),
    handled("disabling", "schedules a suspend (observed)", carries(PATCH.in("compute-disable"), "suspend_compute")),
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
      ofSuccess(PATCH.in("settings-replaced"), (answer, exchanges) => {
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
    handled("primary-start", "carries a running `start_compute`", carries(POST.in("compute-create"), "start_compute")),
    handled(
      "replica-start",
      "is a finished creation (observed)",
      ofSuccess(POST.in("replica-create"), (answer) => {
        const state = fieldOf(answer.json, "endpoint", "current_state");
        return judged(state === "idle" && actionsIn(answer).length === 0, `${word(state)}, ${operationsText(answer)}`);
      }),
    ),
    handled(
      "restart-operations",
      "`suspend_compute`, then `start_compute` (observed)",
      carries(POST.in("compute-restart"), "suspend_compute", "start_compute"),
    ),
    handled("resize-operations", "change of a fixed size or", operations(PATCH.in("compute-resize"), true)),
    untried("move-connections", "Assumed: they are dropped", "this run has no role and no password to connect with"),
    handled("deletion-operations", "on running (observed)", carries(DELETE.in("compute-delete"), "suspend_compute")),
    needed(
      "disabled-idle",
      "By a scheduled suspend (observed)",
      ofSuccess(PATCH.in("compute-disable"), (answer, exchanges) => {
        const state = fieldOf(lastShown(exchanges, answer), "current_state");
        return judged(state === "idle", word(state));
      }),
    ),
    handled("idle-patch", "`operations: []`: finished (observed)", operations(PATCH.in("idle-restart"), false)),
    needed("states", 'An unknown state counts as "not ready yet" (assumed', (exchanges) =>
      onlyKnown(computesIn(exchanges), ["current_state", "pending_state"], STATES),
    ),
  ],
  "Compute routes": [
    handled("create-response", "`{ endpoint: { branch_id, type, … } }`", ofGood([POST.to(PATH)], showBoth)),
    handled("read-one", "`{ endpoint }` (observed)", ofAnswer(GET.in("compute-read"), isAccepted)),
    handled("read-gone", "404 when gone", ofAnswer(GET.in("compute-gone"), hasStatus(404))),
    handled("update-response", "operations may be empty", ofGood([PATCH.to(ENDPOINT)], showBoth)),
    handled("delete-response", "or 204 (observed)", ofGood([DELETE.to(ENDPOINT)], showBoth)),
    handled("restart-response", "(shapes observed)", action("compute-restart")),
    handled("start-response", "/start` | none | `{ endpoint, operations }` (observed)", action("compute-start")),
    handled("suspend-response", "/suspend` | none | `{ endpoint, operations }` (observed)", action("compute-suspend")),
    needed(
      "creation-attributes",
      "beyond `branch_id` and `type`, observed",
      ofAnswer(POST.in("replica-full"), isAccepted),
    ),
    needed(
      "move",
      "A PATCH with another `branch_id` moves the compute. It keeps its id and host",
      ofAnswer(PATCH.in("compute-move"), ({ status, json }, exchanges) => {
        const own = computesIn(exchanges).filter(({ id }) => id === fieldOf(json, "endpoint", "id"));
        const hosts = new Set(own.map(({ host }) => host)).size;
        return judged(isGood(status) && hosts === 1, `status ${status}, ${hosts} hosts`);
      }),
    ),
    handled("idle-restart", "Restart of an idle compute is refused", ofAnswer(POST.in("idle-restart"), isRefused)),
    handled(
      "idle-suspend",
      "answers 200 with no operations (observed)",
      ofAnswer(POST.in("idle-suspend"), (answer) =>
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
      const all = [OPERATIONS_PATH, OPERATION].flatMap((route) => exchanges.where(GET.to(route)));
      const times = all.map(({ json }) => recordsIn(json, "operations").map((each) => String(each["created_at"])));
      const isOrdered = times.every((page) => page.join() === page.toSorted().toReversed().join());
      const told = `status ${statusesOf(all)}, ${isOrdered ? "newest first" : "not the newest first"}`;
      return ofAny(all, () => judged(isOrdered && all.every(({ status }) => isGood(status)), told));
    }),
    either("locks", "Locks are per project (observed)"),
    either("lock-status", "at some services 409 (observed)"),
  ],
  Delays: [
    needed(
      "record-lag",
      "A record may show the old values for the same time after a change was accepted (assumed",
      (exchanges) => lagFinding(exchanges, [RENAMED]),
    ),
  ],
};
