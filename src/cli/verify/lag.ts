import { domainForm } from "../../contract/redirectDomains";
import {
  CREATE_INTEGRATION,
  DOMAINS,
  ENDPOINT,
  ENDPOINTS,
  type Exchange,
  type Exchanges,
  fieldOf,
  isGood,
  type List,
  listed,
  PROVIDERS,
} from "./exchanges";

/** A change whose object a list has to show. */
interface Watched {
  /** Undefined: whichever step sent the first one. */
  readonly step?: string;
  readonly method: string;
  readonly template: string;
  readonly list: List;
  /** Whether the record in the list is the changed one. */
  readonly isIt: (record: Readonly<Record<string, unknown>>, change: Exchange) => boolean;
}

const WATCHED = {
  compute: {
    step: "compute-create",
    method: "POST",
    template: ENDPOINTS,
    list: "endpoints",
    isIt: ({ id }, { json }) => id === fieldOf(json, "endpoint", "id"),
  },
  rename: {
    step: "compute-rename",
    method: "PATCH",
    template: ENDPOINT,
    list: "endpoints",
    isIt: ({ name }, { sent }) => name === fieldOf(sent, "endpoint", "name"),
  },
  integration: {
    method: "POST",
    template: CREATE_INTEGRATION,
    list: "integrations",
    isIt: ({ auth_provider_project_id: id }, { json }) => id === fieldOf(json, "auth_provider_project_id"),
  },
  provider: {
    step: "provider",
    method: "POST",
    template: PROVIDERS,
    list: "providers",
    isIt: ({ id }, { sent }) => id === fieldOf(sent, "id"),
  },
  domain: {
    step: "domain",
    method: "POST",
    template: DOMAINS,
    list: "domains",
    isIt: ({ domain }, { sent }) => domainForm(String(domain)) === fieldOf(sent, "domain"),
  },
} satisfies Record<string, Watched>;

/**
 * How long after its acceptance the lists did not show a change: until the last read that lacked it was sent. `shown`:
 * a later read has shown it. Undefined: nobody has read the list.
 */
export function lagOf(
  exchanges: Exchanges,
  what: keyof typeof WATCHED,
): { atLeastMs: number; shown: boolean } | undefined {
  const { step, method, template, list, isIt }: Watched = WATCHED[what];
  const question = { method, template, ...(step !== undefined && { step }) };
  const change = exchanges.where(question).find(({ status }) => isGood(status));
  if (change === undefined) return undefined;
  const reads = exchanges
    .where({ step: change.step })
    .filter(({ sentAt }) => sentAt >= change.answeredAt)
    .flatMap((read) => {
      const records = listed(read, list);
      return records === undefined ? [] : [{ read, shows: records.some((record) => isIt(record, change)) }];
    });
  if (reads.length === 0) return undefined;
  const lacking = reads.findLast(({ shows }) => !shows)?.read;
  const atLeastMs = lacking === undefined ? 0 : Math.round(lacking.sentAt - change.answeredAt);
  return { atLeastMs, shown: reads.some(({ shows }) => shows) };
}
