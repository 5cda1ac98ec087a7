import { z } from "zod";
import { newId } from "./records";
import { invalid } from "./refusal";

/**
 * How a fault lets a list go wrong. `repeats`: each page has the cursor with which it was asked for, so that the second
 * one comes for ever. `endless`: after its end the list begins again, with new cursors.
 */
export const PAGING_FAULTS = ["repeats", "endless"] as const;
export type PagingFault = (typeof PAGING_FAULTS)[number];

export interface PagedList<T> {
  /** What distinguishes it from other lists. */
  list: string;
  /** Oldest first. */
  records: readonly T[];
  newestFirst?: boolean;
  /** Records in a page; 0 = all. */
  size: number;
  cursor?: string | undefined;
  fault?: PagingFault | undefined;
}

/** What a cursor holds. `after`: the place of the last record that was shown; null = from the start. */
const contents = z.strictObject({
  start: z.string(),
  list: z.string(),
  after: z.int().nullable(),
  page: z.int(),
});
type Contents = z.output<typeof contents>;

/**
 * Lists in pages (docs/emulator.md, Pages). Records are numbered by age when they are first listed, and a cursor holds
 * such a number: the next page begins at the same place, whatever was added or deleted meanwhile.
 */
export class Pages {
  private readonly places = new WeakMap<object, number>();
  private count = 0;
  /** A cursor of an earlier start is unknown: the numbers were others. */
  private readonly start = newId();

  /** `next`: the cursor of the following page. */
  page<T extends object>(asked: PagedList<T>): { records: T[]; next: string | undefined } {
    const { list, records, newestFirst = false, size, cursor, fault } = asked;
    const { after, page } = cursor === undefined ? { after: null, page: 1 } : this.read(cursor, list);
    const placed = records.map((record) => ({ record, place: this.placeOf(record) }));
    const ordered = newestFirst ? placed.toReversed() : placed;
    const left = ordered.filter(({ place }) => after === null || (newestFirst ? place < after : place > after));
    const shown = size === 0 ? left : left.slice(0, size);
    const last = shown.length < left.length ? shown.at(-1)?.place : undefined;
    const hasNext = last !== undefined || fault !== undefined;
    const next = hasNext ? this.cursor({ list, after: last ?? null, page: page + 1 }) : undefined;
    return { records: shown.map(({ record }) => record), next: fault === "repeats" ? (cursor ?? next) : next };
  }

  /** The number of the page that is asked for, 1 without a cursor; undefined for an unknown cursor. */
  numberOf(cursor: string | undefined): number | undefined {
    return cursor === undefined ? 1 : this.contentsOf(cursor)?.page;
  }

  private placeOf(record: object): number {
    const place = this.places.get(record) ?? (this.count += 1);
    this.places.set(record, place);
    return place;
  }

  private cursor(place: Omit<Contents, "start">): string {
    return Buffer.from(JSON.stringify({ start: this.start, ...place })).toString("base64url");
  }

  private read(cursor: string, list: string): Contents {
    const found = this.contentsOf(cursor);
    if (found?.list !== list) throw invalid("cursor: it is unknown");
    return found;
  }

  private contentsOf(cursor: string): Contents | undefined {
    try {
      const { data } = contents.safeParse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
      return data?.start === this.start ? data : undefined;
    } catch {
      return undefined; // It is not JSON.
    }
  }
}
