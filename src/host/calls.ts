/** One call of a lifecycle: its deadline, its progress line, the state it stores, and its error messages. */
import {
  Deadline,
  Gone,
  Granted,
  LockedError,
  mayHaveTakenEffect,
  NotShownError,
  type Permission,
  RateLimitError,
  READ_MS,
  requireGranted,
  StandInError,
  SvcError,
  WaitTimeoutError,
} from "../client";
import { idProblem } from "../contract/objectIds";
import { visible, type Properties, type Timeouts } from "../contract/hiddenKeys";
import { messageOf } from "../contract/untrusted";
import { keySource } from "../contract/apiKey";
import { standInsIn } from "../contract/standIns";
import { labelOf, nameInUrn } from "../contract/identifiers";
import { sameJson } from "./arguments";
import { echoOf } from "./echo";
import type { Call, Created, Stored } from "./lifecycle";
import type { Doer } from "./run/others";
import { ManagedElsewhereError } from "./run/ownership";
import type { Guard } from "./run/plans";
import { asking, checkedArgs, warnOfStaying } from "./plan";
import { Progress } from "./progress";
import { isOfProtectionAlone, refuseProtectedDeletion, withoutProtection } from "./protection";
import { digestsOf, withoutStoredValues, SecretValues, type Applied } from "./references";
import type { CreateRequest, DeleteRequest, Kept, ReadRequest, ReadResult, UpdateRequest } from "./requests";
import { claimsOfEntry, mayDeleteFirst } from "./replacement";
import type { Hosted } from "./session";
import { compareWithValues, marksOf, refuseEdited, storedFrom, toOuts, type Marks, type Unfinished } from "./state";

const DEFAULT_SECONDS: Required<Timeouts> = { create: 600, update: 600, delete: 600, read: READ_MS / 1_000 };
/** How long a call may exceed its deadline and its last request before it is abandoned. */
const GRACE_MS = 15_000;

type Verb = keyof Timeouts;

const DONE = { create: "created", update: "changed", delete: "deleted", read: "read" } as const satisfies Record<
  Verb,
  string
>;

/** In place of the error of a call whose time was over because the run was interrupted. */
class Interrupted extends Error {
  constructor(
    override readonly cause: unknown,
    verb: Verb,
    readonly hasBegun: boolean,
  ) {
    super(hasBegun ? "the wait for it was interrupted" : `interrupted, and nothing was ${DONE[verb]}`);
  }
}

/** A failed call, with a message for users. */
export class CallError extends Error {
  readonly #kept: Kept | undefined;

  /** `kept`: what the state must hold although the call failed. */
  constructor(message: string, cause: unknown, kept?: Kept) {
    super(message, { cause });
    this.#kept = kept;
  }

  // Not a property: it holds secrets, and anything that prints an error prints its properties.
  kept(): Kept | undefined {
    return this.#kept;
  }
}

export async function create<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: CreateRequest,
): Promise<Kept> {
  const { resource } = hosted;
  return new ChangeCall(hosted, request).run(async (call, args, values) => {
    // All of them are sent, or compared with the object that is taken over.
    values.requireAll(args);
    return {
      applied: await digestsOf({ ...digesting(hosted), values }, args, {}),
      work: () => resource.create(call, args),
    };
  });
}

/** Changes nothing that another resource of the program has taken over. */
export async function update<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: UpdateRequest,
): Promise<Properties> {
  const { resource, session } = hosted;
  const { urn = "", id, outs } = request;
  const stored = storedFrom(resource, id, outs);
  const mark = continuesCreation(hosted, request, stored) ? "create" : "update";
  const updated = await new ChangeCall(hosted, request, { id, outs, mark }).run(async (call, args, values) => {
    refuseEdited(resource, outs);
    const objects = resource.objects(id, stored.outs);
    const beforeChange = (): void => session.memory.ownership.checkNotTakenOver(objects, urn);
    beforeChange();
    const sending: typeof call.sending = (names) => {
      beforeChange();
      call.sending(names);
    };
    const about = { urn, outs, news: args as Properties, values };
    const { changes, needed, compared, applied } = await compareWithValues(hosted, stored, about);
    values.requireAll(args, needed, compared.ignored);
    return {
      applied: await digestsOf({ ...digesting(hosted), values }, args, applied),
      work: async () => ({
        id,
        outputs:
          isOfProtectionAlone(resource.args, changes) && stored.unfinished === false
            ? // The result of a lifecycle, with the arguments.
              (withoutProtection(resource.args, stored.outs) as Outputs)
            : await resource.update({ ...call, sending }, stored, args, changes),
      }),
    };
  });
  return updated.outs;
}

/** The program has not been edited since a creation failed. The engine keeps the inputs of the creation. */
function continuesCreation<Args extends object, Outputs extends object>(
  { session }: Hosted<Args, Outputs>,
  { urn = "", news }: UpdateRequest,
  { unfinished }: Stored<Args, Outputs>,
): boolean {
  const oldInputs = session.memory.claims.checked.get(urn)?.oldInputs;
  return unfinished === "create" && oldInputs !== undefined && sameJson(visible(oldInputs), visible(news));
}

/** Undefined if the object is gone. */
export async function read<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: ReadRequest,
): Promise<ReadResult | undefined> {
  const { resource, session } = hosted;
  const { urn, id, outs, carried } = request;
  const deadline = Deadline.ofRead(timeoutMsOf(request, "read"));
  const marks = marksOf(outs);
  const { __args, __version, __unfinished, __sent, __applied: applied = {} } = marks;
  try {
    // A look-up, or an import: somebody wrote it.
    const problem = __version === undefined && resource.id !== undefined ? idProblem(resource.id, id) : undefined;
    if (problem !== undefined) throw new Error(problem);
    const stored = storedFrom(resource, id, outs);
    let { added } = stored;
    const noteAdded = (names: readonly string[]): void => void (added = names);
    const options = { verb: "read", urn, deadline, secrets: [stored.outs], added: noteAdded } as const;
    const { call, finish } = startCall(hosted, options);
    const observed = await finish(resource.read(call, stored));
    if (observed instanceof Gone) {
      // Without a stored version it is a lookup (`get`): an empty result would become a resource without outputs.
      if (__version === undefined) throw new Error("it does not exist");
      return undefined;
    }
    // A resource that is only looked up (`get`) has no managed arguments and declares nothing.
    if (urn !== undefined && __args !== undefined) {
      // What cannot be read back keeps its stored value; the types are those of the arguments.
      const shown = visible({ ...stored.outs, ...observed.args }) as Partial<Args>;
      const claims = resource.declares?.(shown, call.authProvider, new Set(Object.keys(shown)));
      session.memory.claims.setRefreshed(urn, claims ?? []);
    }
    const object = { kind: resource.kind, id };
    const hiding = { object, outs: stored.outs as Properties, applied, found: observed.args };
    const shownArgs = await withoutStoredValues(digesting(hosted), hiding);
    // Overrides an output of the same name, even with `undefined`: a refresh found it unset.
    const args = echoOf(resource.args, { managed: __args, stored: stored.outs, observed: shownArgs });
    const unfinished = observed.ready ? {} : { ...(__unfinished && { __unfinished }), ...(__sent && { __sent }) };
    const { outputs } = observed;
    const found = toOuts(resource, { outputs, args, carried, before: outs, applied, added, unfinished });
    // A resource that is only looked up has no managed arguments.
    const { __args: _all, ...lookedUp } = found;
    return { outs: __args === undefined ? lookedUp : { ...found, __args }, args };
  } catch (thrown) {
    const advice = readTimeoutAdvice(thrown, __version !== undefined) + keyAdvice(hosted, thrown, marks);
    throw failure(hosted, { verb: "read", urn, id, thrown, advice });
  }
}

/** Deletes nothing that another resource of the program manages by now. */
export async function remove<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: DeleteRequest,
): Promise<void> {
  const { resource, session } = hosted;
  const { memory } = session;
  const { urn, id, outs } = request;
  const timeoutMs = timeoutMsOf(request, "delete");
  const replacedAs = memory.ownership.replacedUrn(urn ?? "");
  // What replaces it is there already.
  const isLeftOver = replacedAs !== undefined && memory.plans.wasCreated(replacedAs);
  try {
    refuseEdited(resource, outs);
    const stored = storedFrom(resource, id, outs);
    // From here on the memory covers the other processes of the run, which may manage the object by now.
    const { settings } = session.account(hosted.readSetting);
    const objects = resource.objects(id, stored.outs);
    const by = memory.ownership.deleterOf(urn ?? "", objects);
    const ofContainer = memory.plans.guardsOf((object) => resource.container?.is(object, id, stored.outs) === true);
    // What leaves with its container is lost with it, whoever declares it.
    const claims = ofContainer.length > 0 ? [] : claimsOfEntry(resource, stored.outs, settings.authProvider);
    const mayDelete = (): Permission => memory.ownership.mayDelete(objects, { urn: urn ?? "", by, claims });
    memory.ownership.removeStored(objects, by);
    requireGranted(mayDelete());
    // What leaves before its container may be compared only afterwards.
    if (ofContainer.length === 0) requireGranted(memory.ownership.mayDeleteUndeclared(urn ?? ""));
    const replacement = isLeftOver ? undefined : memory.claims.checked.get(replacedAs ?? "")?.newInputs;
    refuseLacking(hosted, replacement);
    // Checked last: an object that another resource manages is not deleted, so its protection does not matter.
    refuseProtectedDeletion(resource.args, { outs: stored.outs, isReplaced: replacement !== undefined, isLeftOver });
    const leaving = objects.filter((object) => memory.ownership.deletionBlocker(object, by) === undefined);
    const deadline = new Deadline(timeoutMs);
    const { call, finish } = startCall(hosted, { verb: "delete", urn, by, deadline, secrets: [stored.outs] });
    const replaceable: Guard = (reading) =>
      mayDeleteFirst(resource, { ...call, ...asking(hosted), reading, stored, news: replacement ?? {} });
    const guards = [
      ...ofContainer.map((guard) => [guard, resource.container?.name ?? ""] as const),
      ...(replacement === undefined ? [] : [[replaceable, "what replaces it"] as const]),
    ];
    const asked = async (): Promise<void> => {
      const reading = { deadline, onProgress: call.onProgress, since: performance.now() };
      for (const [guard, what] of guards) {
        const permission = await guard(reading);
        if (!(permission instanceof Granted))
          throw new Error(`nothing is deleted, because ${what} might not come back: ${permission.error.message}`);
      }
    };
    await memory.ownership.whileReleasing({ objects: leaving, by, deletes: true }, () =>
      finish(asked().then(() => resource.delete({ ...call, mayDelete }, stored))),
    );
    if (objects.length > 0) memory.plans.noteDeleted(replacedAs ?? urn ?? "", id);
    if (urn !== undefined) warnOfStaying(hosted, { urn, id, objects: leaving });
  } catch (thrown) {
    if (!(thrown instanceof ManagedElsewhereError)) {
      const advice = timeoutAdvice(thrown, "delete", timeoutMs) + keyAdvice(hosted, thrown, marksOf(outs));
      throw failure(hosted, { verb: "delete", urn, id, thrown, advice });
    }
    const subject = `${resource.kind} ${id}`;
    if (isLeftOver && thrown.owner === replacedAs) session.warn(replacedAs, replacedByItself(subject, replacedAs));
    else {
      const message = `${subject} is not deleted: "${nameInUrn(thrown.owner)}" of this program manages it now`;
      session.log({ severity: "info", message, urn, ephemeral: false });
    }
  }
}

/** For a replacement that the engine creates first, and that has taken over what it was to replace. */
const replacedByItself = (subject: string, urn: string): string =>
  `${subject}${labelOf(urn)} was not replaced: what was to replace it has taken it over and applied the program's arguments to it. It is the same object as before, and is not deleted. ` +
  'To get a new one, set "deleteBeforeReplace: true" in the options of the resource for that run';

/**
 * A replacement that the engine plans by itself (`--replace`, `state taint`) looks like a new resource until the old
 * object is deleted. @throws if its creation would fail because a value is missing.
 */
function refuseLacking<Args extends object, Outputs extends object>(
  { resource }: Hosted<Args, Outputs>,
  replacement: Properties = {},
): void {
  const missing = new SecretValues(resource.args, nothing).missingIn(replacement);
  const needed = missing.map(({ path, text }) => `"${path}", but ${text}`);
  if (needed.length > 0) throw new Error(`its replacement needs ${needed.join("; ")}. Nothing is deleted`);
}

/**
 * A creation or an update (of `before`). What was checkpointed is stored, whatever fails later. A change that may have
 * taken effect marks the state as unfinished, so that the next update reads the object, or sends again what cannot be
 * read.
 */
class ChangeCall<Args extends object, Outputs extends object> {
  readonly #verb: "create" | "update";
  readonly #taken: string[] = [];
  /** Starts with what an earlier unfinished change sent: this change continues it. */
  #sent: readonly string[] | undefined;
  #added: readonly string[];
  #checkpointed: (Created<Outputs> & { readonly args: Args; readonly shown: Properties }) | undefined;

  constructor(
    private readonly hosted: Hosted<Args, Outputs>,
    private readonly request: CreateRequest,
    /** `mark`: what a failure leaves in the state as unfinished. */
    private readonly before?: Kept & { readonly mark: "create" | "update" },
  ) {
    this.#verb = before === undefined ? "create" : "update";
    const { __sent, __added = [] } = marksOf(before?.outs ?? {});
    this.#sent = __sent;
    this.#added = __added;
  }

  /** `prepare`: the work that must precede the first request. */
  async run(
    prepare: (call: Call<Outputs>, args: Args, values: SecretValues) => Promise<Prepared<Outputs>>,
  ): Promise<Kept> {
    const { hosted, request, before } = this;
    const verb = this.#verb;
    const { urn, news, carried } = request;
    try {
      const args = checkedArgs(hosted, news);
      const deadline = new Deadline(timeoutMsOf(request, verb));
      let isInterrupted = false;
      const endOnceStored = (): void => {
        if (isInterrupted) deadline.interrupt((before ?? this.#checkpointed) !== undefined);
      };
      const { call, values, finish } = startCall<Args, Outputs>(hosted, {
        verb,
        hasBegun: marksOf(before?.outs ?? {}).__unfinished !== undefined,
        urn,
        deadline,
        secrets: [visible(before?.outs ?? {}), news],
        onTakeOver: (object) => this.#taken.push(object),
        checkpoint: (id, outputs, shown = {}) => {
          this.#checkpointed = { id, outputs, args, shown: values.withoutValues(args, shown) };
          endOnceStored();
        },
        onInterrupt: () => {
          isInterrupted = true;
          endOnceStored();
        },
        sending: (names) => (this.#sent = [...new Set([...(this.#sent ?? []), ...names])].sort()),
        added: (names) => (this.#added = [...names].sort()),
      });
      const working = async (): Promise<Created<Outputs> & Pick<Prepared<Outputs>, "applied">> => {
        // Digests wait for a processor with those of all other resources, so the deadline pauses.
        const goOn = deadline.pause();
        const { applied, work } = await prepare(call, args, values);
        goOn();
        return { ...(await work()), applied };
      };
      const { id, outputs, applied } = await finish(working());
      this.#remember(id, { ...outputs, ...args });
      const held = { before: before?.outs ?? {}, applied: applied(id), added: this.#added };
      return { id, outs: toOuts(hosted.resource, { outputs, args, carried, ...held }) };
    } catch (error) {
      throw this.#failure(withoutStandIns(error, news));
    }
  }

  #failure(thrown: unknown): CallError {
    const { hosted, request, before } = this;
    const verb = this.#verb;
    const { urn, carried } = request;
    if (urn !== undefined) hosted.session.memory.ownership.noteFailed(urn);
    const advice = timeoutAdvice(thrown, verb, timeoutMsOf(request, verb)) + keyAdvice(hosted, thrown);
    const unfinished: Unfinished = { __unfinished: before?.mark ?? verb, ...(this.#sent && { __sent: this.#sent }) };
    if (this.#checkpointed === undefined) {
      this.#taken.forEach((object) => hosted.session.memory.ownership.forgetOwner(object));
      const isOpen =
        before !== undefined &&
        (thrown instanceof Interrupted
          ? thrown.hasBegun && mayHaveTakenEffect(thrown.cause)
          : mayHaveTakenEffect(thrown));
      // With the pointer, which outs of the other door lack.
      const kept = isOpen ? { id: before.id, outs: { ...before.outs, ...carried, ...unfinished } } : undefined;
      const lost = verb === "create" ? hosted.session.memory.plans.lost(urn ?? "") : undefined;
      return lost === undefined
        ? failure(hosted, { verb, urn, id: before?.id, thrown, advice, kept })
        : lostInReplacement(hosted, { urn, id: lost, thrown, advice });
    }
    const { id, outputs, args, shown } = this.#checkpointed;
    this.#remember(id, { ...outputs, ...args });
    const object = `${hosted.resource.kind} ${id}`;
    const [what, it] =
      before === undefined
        ? [`${object} exists, but `, "It"]
        : [`The update of ${object} did not finish: `, "The change"];
    const reason = `${what}${messageOf(thrown)}. ${it} is kept in the stack${goingOn(thrown)}.${advice}`;
    // What the program does not give is not managed, even if its value is known.
    const known = Object.entries(shown).filter(([name]) => Object.hasOwn(args, name));
    const keptArgs = { ...args, ...Object.fromEntries(known) };
    // The digests stay the earlier ones, so that the next update sends the values again.
    const held = before?.outs ?? {};
    const { __applied: applied = {} } = marksOf(held);
    const marks = { applied, unfinished, added: this.#added };
    const outs = toOuts(hosted.resource, { outputs, args: keptArgs, carried, before: held, ...marks });
    return new CallError(reason, thrown, { id, outs });
  }

  #remember(id: string, outs: object): void {
    const { resource, session } = this.hosted;
    const { urn = "" } = this.request;
    // The result of the lifecycle has its types.
    const objects = resource.objects(id, outs as Partial<Outputs & Args>);
    if (this.#verb === "update") session.memory.ownership.setStored(urn, objects);
    else {
      session.memory.plans.noteCreated(urn);
      objects.forEach((object) => session.memory.ownership.setOwner(object, urn));
      if (this.#taken.length > 0 && objects.length > 0 && (Reflect.get(outs, "adopt") ?? false) !== false)
        tellOfTakeOver(this.hosted, { id, urn });
    }
  }
}

/** The run may not look at the entry of the state that had the object until now. */
export function tellOfTakeOver<Args extends object, Outputs extends object>(
  { resource, session }: Hosted<Args, Outputs>,
  { id, urn }: Pick<CreateRequest, "urn"> & { readonly id: string },
): void {
  const message = `${resource.kind} ${id}${labelOf(urn)} was taken over: destroying it deletes the object, unless retainOnDelete is set. If an earlier entry stays in a stack, remove it with pulumi state delete '<its URN>': destroying that one deletes the object, too`;
  session.log({ severity: "info", message, urn, ephemeral: false });
}

const OWN_VALUE =
  "declare the value that it shows, leave the argument out, or add the path to ignoreChanges. The account may have a limit that excludes the declared value";

/** What to do about a change that was kept. Sending a value again does not help if the service keeps another one. */
function goingOn(thrown: unknown): string {
  if (!(thrown instanceof NotShownError)) return ": run pulumi up again";
  return thrown.isAgain
    ? `. It was so after the change before, too: the service keeps its own value. To go on, ${OWN_VALUE}`
    : `: run pulumi up again. If the service shows the same then, it keeps its own value: ${OWN_VALUE}`;
}

interface Prepared<Outputs> {
  /** The digests of the values that are sent, for the state. */
  readonly applied: (id: string) => Applied;
  readonly work: () => Promise<Created<Outputs>>;
}

interface CallOptions<Outputs> extends Partial<Pick<Call<Outputs>, "checkpoint" | "sending" | "added">> {
  readonly verb: Verb;
  /** An earlier call has begun it. @default false */
  readonly hasBegun?: boolean;
  readonly urn: string | undefined;
  /** For whom it deletes. @default urn */
  readonly by?: Doer;
  readonly deadline: Deadline;
  /** Values that may contain secrets: no message of the client repeats them. */
  readonly secrets: readonly Properties[];
  readonly onTakeOver?: (object: string) => void;
  /** Called when the run is interrupted. @default ends the deadline */
  readonly onInterrupt?: () => void;
}

const digesting = <Args extends object, Outputs extends object>({ resource, session }: Hosted<Args, Outputs>) => ({
  rules: resource.args,
  kind: resource.kind,
  digests: session.digests,
});

const nothing = (): void => undefined;

/** In a call that deletes nothing of its own. */
const nobodyAsked = (): Permission => {
  throw new Error("only a deletion may delete");
};

/** Prepares one call of a lifecycle; `finish` waits for its work. */
function startCall<Args extends object, Outputs extends object>(
  { resource, session, readSetting }: Hosted<Args, Outputs>,
  {
    verb,
    hasBegun = false,
    urn,
    by = urn ?? "",
    deadline,
    secrets,
    onTakeOver = nothing,
    checkpoint = nothing,
    sending = nothing,
    added = nothing,
    onInterrupt = () => deadline.interrupt(),
  }: CallOptions<Outputs>,
): { call: Call<Outputs>; values: SecretValues; finish: <Result>(work: Promise<Result>) => Promise<Result> } {
  const { client, settings } = session.account(readSetting);
  client.learnSecrets(...secrets);
  const progress = new Progress(session.log, urn, settings.quiet);
  const { siblingStartsMs } = session;
  // The name `secret` marks it as a secret.
  const values = new SecretValues(resource.args, (secret) => client.learnSecrets({ secret }));
  return {
    values,
    call: {
      client,
      authProvider: settings.authProvider,
      deadline,
      onProgress: (text) => progress.show(text),
      run: session.memory.viewOf({ urn: urn ?? "", by, deadline, siblingStartsMs, onTakeOver }),
      mayDelete: nobodyAsked,
      resolve: (value) => values.valueOf(value),
      withValues: (args) => values.withValues(args),
      // Whoever wants quiet wants no moving lines: what has happened is not repeated by anything else.
      note: (message) => session.log({ severity: "info", message, urn, ephemeral: false }),
      checkpoint,
      sending,
      added,
    },
    finish: async (work) => {
      const done = session.onInterrupt(onInterrupt);
      try {
        return await withHardTimeout(deadline, client.longestAttemptMs + GRACE_MS, work);
      } catch (error) {
        const { isInterrupted, hasChanged, totalMs } = deadline;
        throw isInterrupted && isLate(error, totalMs) ? new Interrupted(error, verb, hasBegun || hasChanged) : error;
      } finally {
        done();
        progress.end();
      }
    },
  };
}

/**
 * A call that has not ended long after its deadline is abandoned, so that no defect can hang the engine (it waits for a
 * call for ever, even after Ctrl-C). The grace is longer than any request that must not be cut.
 */
function withHardTimeout<Result>(deadline: Deadline, graceMs: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const unsubscribe = deadline.onExpire(() => {
      const seconds = Math.round((deadline.totalMs + graceMs) / 1000);
      timer = setTimeout(() => reject(new Error(`no result after ${seconds} s; the call was abandoned`)), graceMs);
    });
    void work.then(resolve, reject).finally(() => {
      unsubscribe();
      clearTimeout(timer);
    });
  });
}

const timeoutMsOf = ({ timeouts }: { timeouts: Timeouts | undefined }, verb: Verb): number =>
  1_000 * (timeouts?.[verb] ?? DEFAULT_SECONDS[verb]);

interface Failure {
  readonly verb: Verb;
  readonly urn: string | undefined;
  readonly id: string | undefined;
  readonly thrown: unknown;
  /** A sentence, or empty. */
  readonly advice: string;
  readonly kept?: Kept | undefined;
}

/** `Could not update ComputeEndpoint prj-demo/ep-1 ("api"): `, followed by the message of what was thrown. */
function failure<Args extends object, Outputs extends object>(
  { resource }: Hosted<Args, Outputs>,
  { verb, urn, id, thrown, advice, kept }: Failure,
): CallError {
  const what = `Could not ${verb} ${resource.kind}${id === undefined ? "" : ` ${id}`}${labelOf(urn)}`;
  return new CallError(`${what}: ${messageOf(thrown)}${advice === "" ? "" : `.${advice}`}`, thrown, kept);
}

/** For a replacement whose old object is deleted, and whose new one could not be created: first of all, what is lost. */
function lostInReplacement<Args extends object, Outputs extends object>(
  { resource: { kind, recreation } }: Hosted<Args, Outputs>,
  { urn, id, thrown, advice }: Pick<Failure, "urn" | "id" | "thrown" | "advice">,
): CallError {
  const deleted = `${kind} ${id}${labelOf(urn)} was deleted to be replaced, and`;
  // The error itself says what to do.
  if (mayHaveTakenEffect(thrown)) {
    const open = `${deleted} it is not known whether the new one was created: ${messageOf(thrown)}`;
    return new CallError(advice === "" ? open : `${open}.${advice}`, thrown);
  }
  const again = recreation === undefined ? "" : `: ${recreation}`;
  const message = `${deleted} the new one could not be created: ${messageOf(thrown)}. Mend the cause, or restore the earlier arguments in the program, and run pulumi up again, which creates it${again}.${advice}`;
  return new CallError(message, thrown);
}

/** Whether its deadline ended the call. */
const isLate = (thrown: unknown, totalMs: number): boolean =>
  thrown instanceof WaitTimeoutError || (thrown instanceof SvcError && thrown.deadlineMs === totalMs);

/** Advice for a call that its deadline ended; empty for any other. */
const timeoutAdvice = (thrown: unknown, verb: Verb, totalMs: number): string =>
  isLate(thrown, totalMs) ? ` To wait longer, raise "customTimeouts.${verb}".` : "";

/**
 * The same for a read. Waiting that 429 and 423 ask for is not charged to it. A refresh takes its timeout from the
 * outs, which only an update rewrites.
 */
function readTimeoutAdvice(thrown: unknown, isStored: boolean): string {
  const isHeldOff = thrown instanceof RateLimitError || thrown instanceof LockedError;
  if (!(thrown instanceof SvcError) || thrown.deadlineMs === undefined || isHeldOff) return "";
  const since = isStored ? "; a refresh uses the new value only after the next update of the resource" : "";
  return ` To wait longer, raise "customTimeouts.read"${since}.`;
}

/** For a call whose key is refused: where the key comes from, and what to do. Empty for any other failure. */
function keyAdvice<Args extends object, Outputs extends object>(
  { session, readSetting }: Hosted<Args, Outputs>,
  thrown: unknown,
  stored?: Marks,
): string {
  const advice = session.adviceOn(thrown, readSetting);
  if (advice === "") return "";
  // True for a read or a deletion of a stored object. A running program calls `check`, and brings the current key.
  const isStored = stored?.__version !== undefined && session.memory.claims.checked.size === 0;
  // A key that is stored by name, or is in the environment, was read just now.
  const source = keySource(readSetting);
  return isStored && source?.isConfigured === true && source.form === "apiKey"
    ? ` ${advice}. Refresh and destroy do not run the program: they use the key that is stored with the stack. After a rotation, run \`pulumi up\` first, or add --run-program. ` +
        "With svc:apiKeyEnv or svc:apiKeyFile the stack stores only a name, and a rotation needs neither step."
    : ` ${advice}`;
}

/** For a request that would have sent a text of the state in place of a value: names the arguments that contain one. */
function withoutStandIns(thrown: unknown, news: Properties): unknown {
  const names = thrown instanceof StandInError ? standInsIn(news) : [];
  if (names.length === 0) return thrown;
  const [is, it, them] = names.length === 1 ? ["is a placeholder", "It", "it"] : ["are placeholders", "They", "them"];
  return new Error(
    `${names.map((name) => `"${name}"`).join(", ")} ${is} in the state for a value that the service does not show. ${it} would have been sent as the real value, ` +
      `so nothing was sent. Give the real value in the program, and remove ${them} from ignoreChanges`,
  );
}
