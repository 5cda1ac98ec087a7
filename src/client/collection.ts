/**
 * The objects of one kind in a project: their list, and each change of them. Implements the rules of truth
 * (docs/design/rules.md) once for all changes: a change is done when it is shown (1), an object is ours when that is
 * proven (2), and gone when lists have shown that (3).
 */
import { changeRequest, type SendOptions } from "./changes";
import { type CreationRecovery, type Creator, type Made, readEffect } from "./createRecovery";
import { type Deadline, sleep, withDeadline } from "./http/deadline";
import { BadResponseError, FateUnknownError, inSeconds, NotFoundError, SvcError, TimeoutError } from "./http/errors";
import type { Request } from "./http/request";
import type { ChangeResponse, Requests } from "./http/requests";
import { type Destruction, gatedRequest } from "./gate";
import { Gone, mustBeKnown, type Sighting, Unknown } from "./proof";
import { hiddenListAdvice, hiddenProjectAdvice, isInconclusive } from "./reads/absence";
import { IncompleteListError } from "./reads/pages";
import type { CachedReads, WaitOptions } from "./reads/sharedReads";
import { type AuthIntegrationRecord, type Page, PROJECT, type RecordKind } from "./records";

export interface ListOptions extends WaitOptions {
  /** The read must have started at this time (performance.now) or later. */
  since?: number | undefined;
}

/** What a change sent, compared with what the service shows (rule 1). */
export interface Expected<Item> {
  /**
   * The names of the arguments that `item` shows with another value. `response`: the response to the change; a list may
   * show less. `proof`: an argument that it does not show counts too.
   */
  readonly differing: (item: Item, response: Item, proof?: boolean) => readonly string[];
  /** Whether a response that differs may be out of date, so that lists decide. @default any may be */
  readonly mayBeOld?: (response: Item) => boolean;
  /** Called once the service has accepted the change, before any waiting. */
  readonly onAccepted?: (item: Item) => void;
  /** Called with what the service still shows, before the error is thrown: its result is in the message. */
  readonly onOther?: (item: Item, names: readonly string[], response: Item) => NotShown;
}

interface NotShown {
  /** Where the values differ. */
  readonly details: readonly string[];
  /** The service showed the same after an earlier change that had sent the same. */
  readonly isAgain: boolean;
}

/** The service accepted a change, and does not show it (rule 1). */
export class NotShownError extends Error {
  readonly isAgain: boolean;

  constructor(names: readonly string[], { details, isAgain }: NotShown = { details: [], isAgain: false }) {
    const quoted = names.map((name) => `"${name}"`).join(" and ");
    const where = details.length === 0 ? "" : `: ${details.join("; ")}`;
    super(`the service still shows another ${quoted} after it accepted the change${where}`);
    this.isAgain = isAgain;
  }
}

interface NewObject<Item> {
  /** Equal for creations whose objects could be confused. */
  readonly similarityKey: string;
  /** How to recognise the object if the response is lost or empty. */
  readonly recovery: CreationRecovery<Item>;
}

/** The service still lists what was to be deleted. */
export class StillListedError extends BadResponseError {}

interface Deletion<Item, Response> {
  readonly matches: (item: Item) => boolean;
  /** For messages. */
  readonly thing: string | (() => string);
  /** Whether an accepted deletion is believed without a list. @default none is: a response may show another object */
  readonly needsNoList?: (response: ChangeResponse<Response>) => boolean;
}

/** What a collection gets from its account. */
interface Source<Item> {
  /** How long a list may lag (docs/design/api.md, Delays). */
  readonly lagMs: number;
  /** A person has said that the project of this collection is gone. */
  readonly isDeclaredGone: boolean;
  /** For objects that live in an integration: any one of the project. */
  readonly integration?: (since: number) => Promise<Sighting<AuthIntegrationRecord>>;
  /** Whether the service shows another list of the project. */
  readonly isProjectShown: (since: number) => Promise<boolean>;
  readonly readsSince: (since: number | undefined) => CachedReads<Page<Item>>;
  /** Call before a change is sent; call the returned function when it ends, even on failure. */
  readonly invalidating: () => () => void;
  readonly requests: Pick<Requests, "send">;
  readonly creator: Pick<Creator, "create">;
}

/**
 * `Response`: the body of an accepted change. `Sending`: what its changes are sent with; `in` keeps a collection whose changes
 * need a proof from being used as one whose changes need none.
 */
export class Collection<Item extends object, Response = never, in Sending extends SendOptions = SendOptions> {
  constructor(
    private readonly kind: RecordKind<Item, Response>,
    private readonly projectId: string,
    private readonly source: Source<Item>,
  ) {}

  /**
   * The whole list; of a history, its first page. Shared by all callers, and cached until a change of ours.
   * @throws IncompleteListError if it cannot be read to its end.
   */
  async list(options: ListOptions = {}): Promise<readonly Item[]> {
    return (await this.page(options)).items;
  }

  /** The same, with the cursor of what follows in a history. */
  async page({ since, ...options }: ListOptions = {}): Promise<Page<Item>> {
    try {
      return await this.source.readsSince(since).latest.wait(options);
    } catch (error) {
      throw error instanceof IncompleteListError ? error.forWhole : error;
    }
  }

  /** What the service shows of the list, for whoever needs no whole one: it may lack anything. */
  async shown({ since, ...options }: ListOptions = {}): Promise<readonly Item[]> {
    try {
      return (await this.source.readsSince(since).latest.wait(options)).items;
    } catch (error) {
      if (error instanceof IncompleteListError) return error.seen();
      if (error instanceof NotFoundError) return [];
      throw error;
    }
  }

  /** Whether the service shows the list, or a part of it. */
  async isShown({ since, ...options }: ListOptions = {}): Promise<boolean> {
    try {
      await this.source.readsSince(since).latest.wait(options);
      return true;
    } catch (error) {
      if (error instanceof IncompleteListError) return true;
      if (error instanceof NotFoundError) return false;
      throw error;
    }
  }

  /** The whole list, or that all that was in it is gone. @throws NotKnownError if that is unknown. */
  async listUnlessGone(options?: ListOptions): Promise<readonly Item[] | Gone> {
    try {
      return await this.list(options);
    } catch (error) {
      return mustBeKnown<never>(await this.absentWithout(error));
    }
  }

  /**
   * The matching item. It is gone if two good and whole lists, one lag apart and with no change of ours between them, do
   * not contain it. Unknown: the list does not show the whole project, or the project is not shown at all.
   * @param matches `listed`: the whole list; undefined if it could not be read to its end
   */
  async find(
    matches: (item: Item, listed: readonly Item[] | undefined) => boolean,
    options: ListOptions = {},
  ): Promise<Sighting<Item>> {
    const foundIn = (items: readonly Item[]): Item | undefined => items.find((item) => matches(item, items));
    try {
      const { since, ...waiting } = options;
      const { first, latest } = this.source.readsSince(since);
      const found = foundIn((await latest.wait(waiting)).items);
      if (found !== undefined) return found;
      const isInFirst = first.loaded !== undefined && foundIn(first.loaded.value.items) !== undefined;
      const earliest = first.loaded === undefined || isInFirst ? latest : first;
      if (latest.startedAt - earliest.startedAt >= this.source.lagMs) return this.#absent();
      return foundIn(await this.listAfterLag(waiting, earliest.startedAt)) ?? this.#absent();
    } catch (error) {
      if (!(error instanceof IncompleteListError)) return this.absentWithout(error);
      const found = error.seen<Item>().find((item) => matches(item, undefined));
      return found ?? this.absentWithout(error.forWhole);
    }
  }

  /**
   * What a list that could not be read to its end, or a 404 for the whole list, says of the objects in it
   * (docs/design/rules.md, 3): nothing, since the key may belong to another account, unless a person has said that the
   * project is gone and nothing of it is shown, or two lists show that it has no integration in which they could be.
   * @throws the error, if it is another one.
   */
  async absentWithout(error: unknown): Promise<Gone | Unknown> {
    if (error instanceof IncompleteListError) return this.#unseen(error, true);
    if (!(error instanceof NotFoundError)) throw error;
    const now = performance.now();
    if (this.source.integration !== undefined) {
      const container = await this.source.integration(now);
      return container instanceof Gone || container instanceof Unknown ? container : this.#unseen(error, true);
    }
    if (await this.source.isProjectShown(now)) return this.#unseen(error, true);
    return this.source.isDeclaredGone
      ? Gone.proven("a person has said that the project is gone")
      : this.#unseen(error, false);
  }

  #absent(): Gone {
    return Gone.proven(`two lists lack ${this.kind.thing}`);
  }

  #unseen(error: SvcError, isProjectShown: boolean): Unknown {
    const question = `whether ${this.kind.thing} is gone`;
    if (isProjectShown) {
      const why =
        error instanceof IncompleteListError
          ? error.message
          : `the service shows its project, but answers 404 for its list (${error.message})`;
      return Unknown.because({ question, why, waysOut: hiddenListAdvice }, error);
    }
    return Unknown.because(
      {
        question,
        why: `the service answers 404 for its list (${error.message}), as it does when the key belongs to another account`,
        waysOut: hiddenProjectAdvice(this.projectId),
      },
      error,
    );
  }

  /** A list that shows every change from before `from`. */
  async listAfterLag(options: WaitOptions = {}, from = performance.now()): Promise<readonly Item[]> {
    const since = from + this.source.lagMs;
    const late = ({ totalMs }: Deadline): Error =>
      new TimeoutError(`lists can be out of date, and a second one could not be read within ${inSeconds(totalMs)}`, {
        deadlineMs: totalMs,
      });
    // A timer may fire a moment early, and all waiters must share the list.
    await withDeadline(options.deadline, sleep(Math.ceil(since - performance.now()) + 1), late);
    return this.list({ ...options, since });
  }

  /** Polls until `select` returns something, for as long as a list may lag. */
  async pollWithinLag<R>(
    select: (items: readonly Item[]) => R | undefined,
    options: WaitOptions = {},
  ): Promise<R | undefined> {
    const began = performance.now();
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 300)) {
      const since = performance.now();
      const selected = select(await this.list({ ...options, since }));
      if (selected !== undefined || since - began >= this.source.lagMs) return selected;
      await sleep(Math.min(pauseMs, began + this.source.lagMs - performance.now()));
    }
  }

  /**
   * Waits until the service shows what was sent, for as long as lists may lag. `first`: what it has shown so far.
   * @throws if it still shows something else afterwards.
   */
  async untilShown(
    first: Item,
    { differing, mayBeOld, onOther }: Omit<Expected<Item>, "onAccepted">,
    options: WaitOptions = {},
  ): Promise<Item> {
    const matches = this.#hasId(this.kind.idOf(first));
    let last = first;
    const isShown = (): true | undefined => differing(last, first).length === 0 || undefined;
    if (!isShown() && mayBeOld?.(first) !== false)
      await readEffect(() =>
        this.pollWithinLag((listed) => {
          last = listed.find(matches) ?? last;
          return isShown();
        }, options),
      );
    const names = differing(last, first);
    if (names.length === 0) return last;
    throw new NotShownError(names, onOther?.(last, names, first));
  }

  /** The route of the list. */
  all(): Pick<Request, "template" | "params"> {
    return { template: PROJECT + this.kind.path, params: { project_id: this.projectId } };
  }

  /** The route of one object. A single object has no id. */
  one(id?: string): Pick<Request, "template" | "params"> {
    const { template, params } = this.all();
    if (this.kind.one === undefined) return { template, params };
    const [path, name] = this.kind.one;
    return { template: PROJECT + path, params: { ...params, [name]: id ?? "" } };
  }

  /** Runs a change. Reads of the lists that it affects are not cached if they began before its end. */
  changing<Result>(work: () => Promise<Result>): Promise<Result> {
    const invalidate = this.source.invalidating();
    return work().finally(invalidate);
  }

  /** Creates an object. @throws FateUnknownError if it may exist but is not proven to be ours. */
  async create(
    { body, expected, ...object }: NewObject<Item> & { readonly body: object; readonly expected?: Expected<Item> },
    options: Sending,
  ): Promise<Item> {
    const { isCandidate, isOurs, onFound } = object.recovery;
    const request = changeRequest({ method: "POST", ...this.all(), body }, options);
    const item = await this.changing(async () => {
      const made = await this.post(request, object);
      if ("found" in made) {
        if (made.wasLost) onFound(made.found);
        return made.found;
      }
      const otherwise = `the service accepted ${this.kind.thing}, but does not list it`;
      return this.#answered(made.response, isCandidate, request) ?? this.#listed(isOurs, otherwise, options);
    });
    if (expected === undefined) return item;
    expected.onAccepted?.(item);
    return this.untilShown(item, expected, options);
  }

  /** Sends the request of a creation, within `changing`. */
  post(request: Request, object: NewObject<Item>): Promise<Made<Item, Response>> {
    return this.source.creator.create({ ...object, kind: this.kind, lists: this, request });
  }

  /**
   * Changes an object; for a single one `id` is omitted. @throws if the service still shows something other than what
   * was sent.
   */
  async update(
    { id, body, expected }: { readonly id?: string; readonly body: object; readonly expected: Expected<Item> },
    options: Sending,
  ): Promise<Item> {
    const { response: schema, thing } = this.kind;
    const request = changeRequest({ method: "PATCH", ...this.one(id), body }, options);
    const isMeant = this.#hasId(id);
    const { item, isListed } = await this.changing(async () => {
      try {
        const { value } = await this.source.requests.send(request, schema);
        const answered = this.#answered(value, isMeant, request);
        if (answered !== undefined) return { item: answered, isListed: false };
      } catch (error) {
        // If something was sent that no list shows (`mayBeOld`), no list can tell whether the request took effect.
        if (!(error instanceof FateUnknownError) || expected.mayBeOld !== undefined) throw error;
        const listed = (await readEffect(() => this.listAfterLag(options))).find(isMeant);
        if (listed === undefined || expected.differing(listed, listed, true).length > 0) throw error;
        return { item: listed, isListed: true };
      }
      const otherwise = `the service accepted the request but does not list ${thing}`;
      return { item: await this.#listed(isMeant, otherwise, options), isListed: true };
    });
    expected.onAccepted?.(item);
    // Any list may be out of date.
    return this.untilShown(item, isListed ? { ...expected, mayBeOld: () => true } : expected, options);
  }

  /**
   * Deletes an object. It is not an error if it is gone. `matches`: what must no longer be listed. @default the object
   * with the id
   */
  async delete(
    {
      id,
      matches = this.#hasId(id),
      thing = id,
      onSend,
    }: Partial<Deletion<Item, Response>> & { readonly id: string; readonly onSend?: () => void },
    destruction: Destruction,
  ): Promise<Gone> {
    const request = gatedRequest({ method: "DELETE", ...this.one(id) }, destruction, onSend);
    const send = () => this.source.requests.send(request, this.kind.response);
    return this.changing(async () => {
      const deleted = await this.proveDeleted(send, { matches, thing }, destruction);
      return deleted instanceof Gone ? deleted : Gone.proven("its deletion was accepted");
    });
  }

  /**
   * Sends a deletion, and proves that the matching item is gone. An accepted one must be confirmed by a list within the
   * lag; a 404 of the service, too, since it may be about the project; an inconclusive response by a list after the lag.
   * @returns the response of an accepted deletion, or that it was gone before.
   * @throws StillListedError when it is still listed, NotKnownError when no list can be read.
   */
  async proveDeleted<Body>(
    send: () => Promise<ChangeResponse<Body>>,
    { matches, thing, needsNoList }: Deletion<Item, Body>,
    options: WaitOptions,
  ): Promise<ChangeResponse<Body> | Gone> {
    const still = (): string => `${typeof thing === "string" ? thing : thing()} is still listed`;
    const lacks = (items: readonly Item[]): true | undefined => (items.some(matches) ? undefined : true);
    const answer = await send().catch((error: unknown) => {
      if (error instanceof NotFoundError || isInconclusive(error)) return error;
      throw error;
    });
    const isAccepted = !(answer instanceof SvcError);
    if (isAccepted && needsNoList?.(answer) === true) return answer;
    try {
      const isAbsent =
        isAccepted || answer instanceof NotFoundError
          ? await this.pollWithinLag(lacks, options)
          : lacks(await this.listAfterLag(options));
      if (isAbsent) return isAccepted ? answer : Gone.proven("a list lacks it");
    } catch (error) {
      const absent = await this.absentWithout(error);
      if (absent instanceof Gone) return absent;
      throw absent.error;
    }
    if (isAccepted) throw new StillListedError(`the deletion was accepted, but ${still()}`);
    throw new StillListedError(`${answer.what}; ${still()}`, answer.facts);
  }

  /** The object of a response; undefined: it has none. One about another object proves nothing. */
  #answered(
    response: Response | undefined,
    isMeant: (item: Item) => boolean,
    { method, template }: Request,
  ): Item | undefined {
    const { itemOf, thing } = this.kind;
    if (response === undefined || itemOf === undefined) return undefined;
    const item = itemOf(response);
    if (isMeant(item)) return item;
    throw new FateUnknownError(`the response shows another object, not ${thing}`, { method, path: template });
  }

  /** What an accepted change without a response has led to. */
  async #listed(matches: (item: Item) => boolean, otherwise: string, options: WaitOptions): Promise<Item> {
    const listed = await readEffect(() => this.pollWithinLag((items) => items.find(matches), options));
    if (listed === undefined) throw new FateUnknownError(otherwise);
    return listed;
  }

  #hasId(id: string | undefined): (item: Item) => boolean {
    return (item) => id === undefined || this.kind.idOf(item) === id;
  }
}
