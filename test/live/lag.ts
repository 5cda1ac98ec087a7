/** How long a list does not show a change. */
import { type Exchange, type Exchanges, type Fields, type List, listed, type Question } from "./exchanges";
import { type Finding, judged, ofAny } from "./findings";

/** A change that a list has to show. The lifecycles and the steps read it. */
export interface Change {
  /** For reports. */
  readonly what: string;
  readonly question: Question;
  readonly list: List;
  /** Whether the record in the list is the changed one. */
  readonly isIt: (record: Fields, accepted: Exchange) => boolean;
}

const FURTHER_PAGE = /[?&](cursor|next)=/;

/** Longer than the provider waits for a list (docs/design/api.md, Delays). */
const LAG_MS = 3_000;

/** Judges how long after its acceptance the lists did not show a change: until the last read that lacked it was sent. */
export function lagFinding(exchanges: Exchanges, changes: readonly Change[]): Finding {
  const lags = changes.flatMap((change) => lagOf(exchanges, change));
  const isSo = lags.every(({ atLeastMs }) => atLeastMs <= LAG_MS);
  const told = lags.map(({ what, atLeastMs: ms, isShown }) =>
    isShown ? `${what} ${ms === 0 ? "at once" : `after ${ms} ms`}` : `${what} not shown within ${ms} ms`,
  );
  return ofAny(lags, () => judged(isSo, told.join(", ")));
}

/** Empty: no such change was accepted, or nobody has read the list. */
function lagOf(exchanges: Exchanges, { what, question, list, isIt }: Change) {
  const [accepted] = exchanges.good(question);
  if (accepted === undefined) return [];
  const reads: { sentAt: number; shows: boolean }[] = [];
  for (const read of exchanges.where({ step: accepted.step })) {
    const records = read.sentAt < accepted.answeredAt ? undefined : listed(read, list);
    if (records === undefined) continue;
    const shows = records.some((record) => isIt(record, accepted));
    const page = FURTHER_PAGE.test(read.template) ? reads.at(-1) : undefined;
    if (page === undefined) reads.push({ sentAt: read.sentAt, shows });
    else page.shows ||= shows;
  }
  if (reads.length === 0) return [];
  const first = reads.findIndex(({ shows }) => shows);
  const lacking = first < 0 ? reads.at(-1) : reads[first - 1];
  const atLeastMs = lacking === undefined ? 0 : Math.round(lacking.sentAt - accepted.answeredAt);
  return [{ what, atLeastMs, isShown: first >= 0 }];
}
