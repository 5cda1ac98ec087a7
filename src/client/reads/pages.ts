/**
 * Reads a list to its end. A list that says that it goes on is not whole, so it does not prove that anything is absent
 * (docs/design/rules.md, 9).
 */
import { type ErrorFacts, PermissionError, SvcError } from "../http/errors";
import type { Page } from "../records";
import { isRouteMissing } from "./absence";

/** More pages than any project has. A service that never ends a list must not be asked for ever. */
const MOST_PAGES = 100;

/** A list that could not be read to its end. What it has shown is there; what it lacks may be there, too. */
export class IncompleteListError extends SvcError {
  readonly #seen: readonly object[];
  readonly #ofPage: SvcError | undefined;

  /** @param ofPage the error of a later page, which says more than this one */
  constructor(why: string, facts: ErrorFacts, seen: readonly object[], ofPage?: SvcError) {
    super(`the list could not be read to its end: ${why}`, facts);
    this.#seen = seen;
    this.#ofPage = ofPage;
  }

  /** What to throw to whoever needs the whole list. */
  get forWhole(): SvcError {
    return this.#ofPage ?? this;
  }

  // Not a property: records may hold secrets, and anything that prints an error prints its properties.
  /** @returns the items that were read; the caller knows of which list. */
  seen<Item extends object>(): readonly Item[] {
    return this.#seen as readonly Item[];
  }
}

interface Reading<Item extends object> {
  readonly read: (cursor: string) => Promise<Page<Item>>;
  readonly idOf: (item: Item) => string;
  /** Whether these items are all that is needed. @default only the whole list is */
  readonly isEnough?: ((items: readonly Item[]) => boolean) | undefined;
  readonly facts: ErrorFacts;
}

/**
 * The items of the first page and of those that follow. An object that moves to a later page while the list is read is
 * in the result once. Services that give every page a cursor end a list with an empty page that repeats it.
 * @throws IncompleteListError
 */
export async function readOn<Item extends object>(
  first: Page<Item>,
  { read, idOf, isEnough = () => false, facts }: Reading<Item>,
): Promise<readonly Item[]> {
  if (first.next === undefined || isEnough(first.items)) return first.items;
  const items = new Map(first.items.map((item) => [idOf(item), item]));
  const asked = new Set<string>();
  let next: string | undefined = first.next;
  while (next !== undefined) {
    const all = [...items.values()];
    if (asked.has(next)) throw new IncompleteListError("it names the same next page again and again", facts, all);
    if (asked.size >= MOST_PAGES) throw new IncompleteListError(`it has more than ${MOST_PAGES} pages`, facts, all);
    asked.add(next);
    const page: Page<Item> = await read(next).catch((error: unknown) => {
      throw error instanceof SvcError ? failedPage(error, all) : error;
    });
    if (page.items.length === 0 && page.next === next) break;
    for (const item of page.items) items.set(idOf(item), item);
    if (isEnough([...items.values()])) break;
    next = page.next;
  }
  return [...items.values()];
}

function failedPage(error: SvcError, seen: readonly object[]): IncompleteListError {
  // That a later page is missing or refused says nothing about the route or the project, since the first one came.
  const isOfRoute: boolean = error instanceof PermissionError || isRouteMissing(error);
  return isOfRoute
    ? new IncompleteListError(error.withoutAdvice, {}, seen)
    : new IncompleteListError(error.what, error.facts, seen, error);
}
