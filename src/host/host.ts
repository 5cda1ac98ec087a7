import { Deadline, mayHaveTakenEffect, StandInError } from "../client";
import {
  checkArguments,
  compare,
  echoOf,
  isOfType,
  problemText,
  sameJson,
  specEntries,
  specOf,
  type Comparison,
  type Problem,
} from "./arguments";
import { loggableUrn } from "./engineLog";
import { messageOf, partialError, plainError } from "./errors";
import type { HostedProvider } from "./hostedProvider";
import type { Call, Created, Lifecycle, Look, Plan, Stored } from "./lifecycle";
import { NOTHING, type Verdict } from "./lookAhead";
import { ManagedElsewhereError } from "./memory";
import {
  allowedWarning,
  declaredTwice,
  editedState,
  droppedWarning,
  failurePrefix,
  labelOf,
  NEWER_VALUE_ADVICE,
  storedTwice,
  hasAdvice,
  STORED_KEY_ADVICE,
  timeoutAdvice,
  possibleReplacement,
  replacementWarning,
  standInNotSent,
  notDeleted,
} from "./messages";
import { Progress } from "./progress";
import { renamedWarning } from "./renamed";
import { clean, hidden, inputEcho, visible, type Hidden, type Properties, type Timeouts } from "../contract/hiddenKeys";
import type { Session } from "./session";
import { allowsUnlistedSizes, keyOrigin, resolveSettings, type ReadSetting } from "../contract/settings";
import { standInsIn } from "../contract/standIns";
import { containsUnknown } from "../contract/unknowns";
import { unknownProperty } from "../helpers/given";

const DEFAULT_TIMEOUT_SECONDS = 600;
const READ_TIMEOUT_MS = 30_000;
/** How long a call may take beyond its deadline and its last request before it is abandoned. */
const GRACE_MS = 15_000;

type Verb = keyof Timeouts;
type Unfinished = Pick<Hidden, "__unfinished" | "__sent">;

/**
 * Turns a lifecycle into a Pulumi dynamic provider: strips and echoes the hidden keys, checks, compares, cleans what goes
 * back to the engine, and throws only errors of its own.
 */
export function host<Args extends object, Outputs extends object>(
  lifecycle: Lifecycle<Args, Outputs>,
  session: Session,
): HostedProvider {
  const { kind, args: specs, version = 1 } = lifecycle;
  const { memory } = session;
  let readSetting: ReadSetting = () => undefined;

  const check = (
    given: Properties,
  ): { args: Properties; known: Partial<Args>; problems: Problem[]; allowed: Problem[] } => {
    const { args, problems: found } = checkArguments(kind, specs, given);
    const allows = allowsUnlistedSizes(readSetting);
    const isAllowed = ({ unlisted = false }: Problem): boolean => unlisted && allows;
    const bad = new Set(found.filter((problem) => !isAllowed(problem)).map(({ path }) => path.split(/[.[]/)[0]));
    const good = Object.entries(args).filter(([name, value]) => !bad.has(name) && !containsUnknown(value));
    // Each of these arguments has passed its own schema.
    const known = Object.fromEntries(good) as Partial<Args>;
    found.push(...(lifecycle.rules?.(known, new Set(Object.keys(given))) ?? []));
    const problems = found.filter((problem) => !isAllowed(problem));
    return { args, known, problems, allowed: found.filter(isAllowed) };
  };

  const checked = (given: Properties): Args => {
    const { args, problems } = check(given);
    if (problems.length > 0) throw new Error(problems.map(problemText).join("; "));
    // Checked just above, argument by argument.
    return args as Args;
  };

  /** What somebody has edited in the state: an argument, or a part of an identity, of a type that this provider stores nowhere. */
  const isEdited = ([name, value]: [string, unknown]): boolean => {
    const spec = specOf(specs, name);
    return spec === undefined ? name.endsWith("Id") && typeof value !== "string" : !isOfType(spec.schema, value);
  };

  /** What the state holds, in the shape of today. */
  const outsOf = (properties: Properties): Properties => {
    const { __version } = hidden(properties);
    const outs = visible(properties);
    const isOlder = __version !== undefined && __version < version;
    return isOlder && lifecycle.upgrade !== undefined ? lifecycle.upgrade(outs, __version) : outs;
  };

  /** Before anything is sent that depends on the state. A read takes everything from the service. */
  const refuseEdited = (properties: Properties): void => {
    const names = Object.entries(outsOf(properties)).filter(isEdited);
    if (names.length > 0) throw new Error(editedState(names.map(([name]) => name)));
  };

  const storedFrom = (id: string, properties: Properties): Stored<Args, Outputs> => {
    const { __args, __unfinished, __sent } = hidden(properties);
    const outs = Object.fromEntries(Object.entries(outsOf(properties)).filter((entry) => !isEdited(entry)));
    return {
      id,
      // What this provider returned earlier, through the JSON of the state.
      outs: outs as Partial<Outputs & Args>,
      managed: new Set(__args),
      unfinished: __unfinished !== undefined,
      sent: __sent && new Set(__sent),
    };
  };

  const complete = (outputs: object, args: object, echo: Properties, unfinished: Unfinished = {}): Properties =>
    clean({
      ...outputs,
      ...args,
      ...echo,
      __args: Object.keys(args).sort(),
      __version: version,
      ...unfinished,
    });

  const compareWith = ({ outs, managed }: Stored<Args, Outputs>, news: Properties): Comparison<Args> => {
    // Every resource of a program has an argument. Where none is named (an import), all that is known is taken for managed.
    const known = managed.size > 0 ? managed : new Set(Object.keys(outs).filter((name) => specOf(specs, name)));
    return compare(specs, outs as Properties, known, news);
  };

  const runCall = async <Result>(
    own: Hidden,
    timeoutMs: number,
    properties: readonly Properties[],
    work: (call: Call<Outputs>) => Promise<Result>,
    onTakeOver: (object: string) => void = () => undefined,
    checkpoint: Call<Outputs>["checkpoint"] = () => undefined,
    sending: Call<Outputs>["sending"] = () => undefined,
  ): Promise<Result> => {
    // At each call: the environment may have come later than the process.
    const { client, settings } = session.account(readSetting);
    client.learnSecrets(...properties);
    const { __urn, __urn: urn = "" } = own;
    const deadline = new Deadline(timeoutMs);
    const progress = new Progress(session.log, __urn, settings.quiet);
    try {
      return await withHardTimeout(deadline, client.longestAttemptMs + GRACE_MS, () =>
        work({
          client,
          authProvider: settings.authProvider,
          deadline,
          onProgress: (text) => progress.show(text),
          run: memory.viewOf(urn, deadline, session.siblingStartsMs, onTakeOver),
          beforeDelete: () => undefined,
          note: (message) => {
            if (!settings.quiet) session.log({ severity: "info", message, urn: __urn, ephemeral: false });
          },
          checkpoint,
          sending,
        }),
      );
    } finally {
      progress.end();
    }
  };

  const remember = (verb: Verb, urn: string, id: string, outs: object): void => {
    // What was just returned has the types of its lifecycle.
    const objects = lifecycle.objects(id, outs as Partial<Outputs & Args>);
    if (verb === "update") memory.setStored(urn, objects);
    else objects.forEach((object) => memory.setOwner(object, urn));
  };

  /** What a plan says of one resource. */
  const planMessages = (
    stored: Stored<Args, Outputs>,
    given: Properties,
    changes: Comparison<Args>,
    label: string,
  ): string[] => {
    const { replaces } = changes;
    const plan = planOf(stored, given, changes, label);
    const subject = `${kind} ${stored.id}${label}`;
    const isOpen = (name: string): boolean => containsUnknown(given[name]);
    const certain = [...replaces].filter((name) => !isOpen(name));
    const open = specEntries(specs).filter(
      ([name, spec]) => (spec.replaces ?? false) !== false && changes.changed.has(name) && isOpen(name),
    );
    const said: string[] = [];
    if (certain.length > 0) {
      said.push(replacementWarning(subject, certain, lifecycle.replacement(plan)));
    } else if (open.length > 0) {
      const names = open.map(([name]) => name);
      said.push(possibleReplacement(subject, names, lifecycle.replacement(plan)));
    }
    // A replacement is created from the program alone: a dropped argument needs no warning.
    if (replaces.size > 0) return said;
    said.push(...(lifecycle.warnings?.(plan) ?? []));
    for (const name of changes.dropped) {
      const { unreadable, local } = specs[name];
      said.push(droppedWarning(subject, name, unreadable !== true && local !== true));
    }
    return said;
  };

  const planOf = (
    stored: Stored<Args, Outputs>,
    given: Properties,
    changes: Comparison<Args>,
    label: string,
  ): Plan<Args, Outputs> => ({
    stored,
    label,
    // The program's arguments have passed `check`.
    news: knownOf(given) as Partial<Args>,
    changes,
    replaces: changes.replaces,
  });

  /** For a read or a deletion of what the state holds. A program calls `check`, and brings the key of today. */
  const storedKeyAdvice = (thrown: unknown, { __version }: Hidden): string => {
    const isStored = __version !== undefined && session.checkedInputs.size === 0;
    return isStored && hasAdvice(thrown) && keyOrigin(readSetting) === "configured" ? STORED_KEY_ADVICE : "";
  };

  const plainFailure = (thrown: unknown, verb: Verb, own: Hidden, id?: string): Error => {
    const advice = timeoutAdvice(thrown, verb, timeoutMs(own, verb)) + storedKeyAdvice(thrown, own);
    return plainError(advice === "" ? thrown : `${messageOf(thrown)}.${advice}`, failurePrefix(verb, kind, own, id));
  };

  /** What the service shows in the way of a creation (lookAhead.ts). */
  const lookAhead = async (own: Hidden, known: Partial<Args>, given: Properties): Promise<Verdict> => {
    const projectId: unknown = Reflect.get(known, "projectId");
    const { __urn: urn = "" } = own;
    if (lifecycle.lookAhead === undefined || typeof projectId !== "string") return NOTHING;
    const account = session.account(readSetting);
    const { client, settings } = account;
    client.learnSecrets(given);
    const progress = new Progress(session.log, urn, settings.quiet);
    const about = {
      args: { ...known, projectId },
      given: new Set(Object.keys(given)),
      authProvider: settings.authProvider,
      client,
      isOfProgram: (object: string) => memory.wasInState(object),
      isDeclared: (matches: (object: string) => boolean) => memory.isDeclared(matches),
    };
    const look = async (reading: Look<Args>["reading"]) => (await lifecycle.lookAhead?.({ ...about, reading })) ?? [];
    try {
      return await session.lookAhead.ask(account, projectId, (text) => progress.show(text), look);
    } finally {
      progress.end();
    }
  };

  /**
   * A creation or an update (of `before`): what was checkpointed is in the state, whatever fails later. A change that may
   * have taken effect marks the state as unfinished, so that the next update asks the service, or sends again what cannot be
   * read.
   */
  const apply = async (
    verb: "create" | "update",
    news: Properties,
    before: { id: string; olds: Properties } | undefined,
    work: (call: Call<Outputs>, given: Args) => Promise<Created<Outputs>>,
  ): Promise<{ id: string; outs: Properties }> => {
    const own = hidden(news);
    const { __urn = "" } = own;
    const taken: string[] = [];
    let checkpointed: (Created<Outputs> & { given: Args; shown: Properties }) | undefined;
    // An earlier change that did not finish goes on in this one.
    let { __sent } = hidden(before?.olds ?? {});
    const unfinished = (): Unfinished => ({ __unfinished: verb, ...(__sent && { __sent }) });
    try {
      const given = checked(visible(news));
      const { id, outputs } = await runCall(
        own,
        timeoutMs(own, verb),
        [visible(before?.olds ?? {}), visible(news)],
        (call) => work(call, given),
        (object) => taken.push(object),
        (id, outputs, shown = {}) => (checkpointed = { id, outputs, given, shown }),
        (names) => (__sent = [...new Set([...(__sent ?? []), ...names])].sort()),
      );
      remember(verb, __urn, id, { ...outputs, ...given });
      return { id, outs: complete(outputs, given, inputEcho(own)) };
    } catch (error) {
      const held = standInsIn(visible(news));
      const thrown = error instanceof StandInError && held.length > 0 ? new Error(standInNotSent(held)) : error;
      if (checkpointed === undefined) {
        taken.forEach((object) => memory.forgetOwner(object));
        const failure = plainFailure(thrown, verb, own, before?.id);
        if (before === undefined || !mayHaveTakenEffect(thrown)) throw failure;
        throw partialError(before.id, { ...before.olds, ...unfinished() }, failure.message);
      }
      const { id, outputs, given, shown } = checkpointed;
      remember(verb, __urn, id, { ...outputs, ...given });
      const [what, it] = before === undefined ? ["exists", "It"] : ["was changed", "The change"];
      const advice = timeoutAdvice(thrown, verb, timeoutMs(own, verb));
      const reason = `${kind} ${id} ${what}, but ${messageOf(thrown)}. ${it} is kept in the stack: run pulumi up again.${advice}`;
      // What the program does not give is not managed, whatever is known of it.
      const known = Object.entries(shown).filter(([name]) => Object.hasOwn(given, name));
      const args = { ...given, ...Object.fromEntries(known) };
      throw partialError(id, complete(outputs, args, inputEcho(own), unfinished()), reason);
    }
  };

  return {
    // Called once per process and text, possibly beside the first call: stored before anything is awaited.
    configure({ config }) {
      readSetting = (name) => config.get(`svc:${name}`);
      return Promise.resolve();
    },

    async check(olds, news) {
      try {
        const { args, known, problems, allowed } = check(visible(news));
        const own = hidden(news);
        const { __urn, __surplus = [], __replaceOnChanges } = own;
        const { settings, problems: settingProblems } = resolveSettings(readSetting);
        let remarks: readonly string[] = [];
        if (__urn !== undefined) {
          const oldInputs = visible(olds);
          const isNew = Object.keys(oldInputs).length === 0;
          // For a replacement the engine checks a second time, as if nothing had been there.
          const earlier = session.checkedInputs.get(__urn) ?? {};
          const isReplacement = isNew && Object.keys(earlier).length > 0;
          session.checkedInputs.set(__urn, isReplacement ? earlier : oldInputs);
          if (!isNew && __replaceOnChanges !== true && !sameJson(inputEcho(hidden(olds)), inputEcho(hidden(news))))
            session.hiddenChanges.add(__urn);
          const claims = lifecycle.declares?.(known, settings?.authProvider ?? "", new Set(Object.keys(args))) ?? [];
          for (const other of loggableUrn(__urn) === "" ? [] : memory.declare(__urn, claims))
            problems.push({ path: "", reason: declaredTwice(other.urn, other.what) });
          const heldAs = isNew && !isReplacement ? memory.refreshedAs(claims) : undefined;
          const renamed = heldAs === undefined ? undefined : renamedWarning(__urn, heldAs);
          if (renamed !== undefined) session.warn(__urn, renamed);
          remarks = lifecycle.createWarnings?.({ args: known, label: labelOf(__urn), isNew, isReplacement }) ?? [];
          if (!sameJson(visible(olds), visible(news)))
            for (const problem of allowed) session.warn(__urn, allowedWarning(problemText(problem)));
        }
        const settingReasons = settingProblems.map((reason) => ({ path: "", reason }));
        const surplus = __surplus.map((path) => ({ path, reason: unknownProperty(path, Object.keys(specs)) }));
        // Never a property: the engine would print its value, secrets too (docs/design/engine.md).
        const failures = [...surplus, ...problems, ...settingReasons].map((problem) => ({
          property: "",
          reason: problemText(problem) + ("unlisted" in problem ? NEWER_VALUE_ADVICE : ""),
        }));
        // Not in an update: it would see what it does itself, and must not fail by a look.
        const isPlanned = own.__preview === true && Object.keys(visible(olds)).length === 0;
        const mayLook = isPlanned && settings !== undefined && failures.length === 0;
        const ahead = mayLook ? await lookAhead(own, known, visible(news)) : NOTHING;
        const said = ahead.tellsEffect ? ahead.warnings : [...remarks, ...ahead.warnings];
        said.forEach((text) => session.warn(__urn ?? "", text));
        failures.push(...ahead.failures.map((reason) => ({ property: "", reason })));
        return { inputs: clean({ ...args, ...inputEcho(own) }), failures };
      } catch (thrown) {
        throw plainError(thrown);
      }
    },

    async diff(id, olds, news) {
      return toPromise(() => {
        const stored = storedFrom(id, olds);
        const given = visible(news);
        const comparison = compareWith(stored, given);
        const { __urn } = hidden(news);
        const oldInputs = __urn === undefined ? undefined : session.checkedInputs.get(__urn);
        if (__urn !== undefined && oldInputs !== undefined)
          for (const text of planMessages(stored, given, comparison, labelOf(__urn))) session.warn(__urn, text);
        // A URN that is not known yet names no resource.
        if (__urn !== undefined && oldInputs !== undefined && loggableUrn(__urn) !== "") {
          // The types are those of the arguments and outputs; what is not known yet is taken as it is stored.
          const known = { ...stored.outs, ...knownOf(given) } as Partial<Outputs & Args>;
          // A resource that is to be replaced no longer manages its object: the replacement may take it over.
          const objects = comparison.replaces.size > 0 ? [] : lifecycle.objects(id, known);
          memory.noteInState(lifecycle.objects(id, stored.outs));
          // The state may carry an older URN, which an alias leaves behind.
          memory.setStored(__urn, objects, hidden(olds).__urn);
          const other = objects.map((object) => memory.otherOwner(object, __urn)).find((owner) => owner !== undefined);
          if (other !== undefined) throw new Error(storedTwice(kind, id, other, __urn));
        }
        const result = { replaces: [...comparison.replaces], deleteBeforeReplace: lifecycle.deleteBeforeReplace };
        if (stored.unfinished) return { ...result, changes: true };
        const { changed, dropped, added } = comparison;
        if (changed.size + dropped.size + added.size === 0) return { ...result, changes: false };
        // Left undefined, the engine compares the inputs itself and can tell what differs (docs/design/engine.md, Diff). Where the
        // inputs are equal and only the outs differ, it needs an answer; where hidden ones differ too, it would show them.
        if (oldInputs === undefined || __urn === undefined) return result;
        const isAnswered = sameJson(oldInputs, given) || session.hiddenChanges.has(__urn);
        return isAnswered ? { ...result, changes: true } : result;
      });
    },

    async create(news) {
      return apply("create", news, undefined, (call, given) => lifecycle.create(call, given));
    },

    async read(id, properties = {}) {
      const own = hidden(properties);
      try {
        const stored = storedFrom(id, properties);
        const observed = await runCall(own, READ_TIMEOUT_MS, [stored.outs], async (call) => {
          const found = await lifecycle.read(call, stored);
          // What is only looked up (`get`) has no managed arguments, and declares nothing.
          if (found !== undefined && own.__urn !== undefined && own.__args !== undefined) {
            // What cannot be read back is as it is stored; the types are those of the arguments.
            const shown = visible({ ...stored.outs, ...found.args }) as Partial<Args>;
            const claims = lifecycle.declares?.(shown, call.authProvider, new Set(Object.keys(shown)));
            memory.setRefreshed(own.__urn, claims ?? []);
          }
          return found;
        });
        if (observed === undefined) {
          // Without a stored version it is a lookup (`get`), where a blank id would be a resource without outputs.
          if (own.__version === undefined) throw new Error("it does not exist");
          return { id: "", props: {} };
        }
        // Wins over an output of the same name, also where it is undefined: a refresh has found it unset.
        const echo = echoOf(specs, own.__args, stored.outs, observed.args);
        const { __unfinished, __sent } = own;
        const unfinished = observed.ready ? {} : { ...(__unfinished && { __unfinished }), ...(__sent && { __sent }) };
        const props = complete(observed.outputs, echo, inputEcho(own), unfinished);
        return {
          id,
          // A resource that is only looked up (`get`) has no managed arguments.
          props: clean({ ...props, __args: own.__args }),
          inputs: clean({ ...echo, ...inputEcho(own) }),
        };
      } catch (thrown) {
        const advice = storedKeyAdvice(thrown, own);
        throw plainError(
          advice === "" ? thrown : `${messageOf(thrown)}.${advice}`,
          failurePrefix("read", kind, own, id),
        );
      }
    },

    async update(id, olds, news) {
      const stored = storedFrom(id, olds);
      const { outs } = await apply("update", news, { id, olds }, async (call, given) => {
        refuseEdited(olds);
        return { id, outputs: await lifecycle.update(call, stored, given, compareWith(stored, given as Properties)) };
      });
      return { outs };
    },

    async delete(id, properties) {
      const own = hidden(properties);
      const { __urn: urn = "" } = own;
      try {
        refuseEdited(properties);
        const stored = storedFrom(id, properties);
        const objects = lifecycle.objects(id, stored.outs);
        const beforeDelete = (): void => memory.checkDeletable(objects, urn);
        memory.removeStored(objects, urn);
        beforeDelete();
        const leaving = objects.filter((object) => memory.deletionBlocker(object, urn) === undefined);
        await memory.whileReleasing(leaving, urn, true, () =>
          runCall(own, timeoutMs(own, "delete"), [stored.outs], (call) =>
            lifecycle.delete({ ...call, beforeDelete }, stored),
          ),
        );
      } catch (thrown) {
        if (!(thrown instanceof ManagedElsewhereError)) throw plainFailure(thrown, "delete", own, id);
        const message = notDeleted(kind, id, thrown.owner);
        session.log({ severity: "info", message, urn: own.__urn, ephemeral: false });
      }
    },

    repair(id, found, declared) {
      const given = visible(declared);
      const label = labelOf(hidden(declared).__urn);
      if (found === undefined) {
        // The state holds what has passed `check`.
        const says =
          lifecycle.createWarnings?.({ args: given as Partial<Args>, label, isNew: true, isReplacement: false }) ?? [];
        return { action: "create", restarts: false, messages: says };
      }
      const stored = storedFrom(id, found);
      const changes = compareWith(stored, given);
      const says = planMessages(stored, given, changes, label);
      if (changes.replaces.size > 0) return { action: "replace", restarts: false, messages: says };
      return {
        action: "update",
        restarts: lifecycle.restarts?.(planOf(stored, given, changes, label)) ?? false,
        messages: says,
      };
    },
  };
}

/**
 * A call that has not ended long after its deadline is given up, so that no defect can hang the engine (which waits for a
 * call for ever, also after Ctrl-C). Longer than any request that must not be cut.
 */
function withHardTimeout<Result>(deadline: Deadline, graceMs: number, work: () => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const unsubscribe = deadline.onExpire(() => {
      const seconds = Math.round((deadline.totalMs + graceMs) / 1000);
      timer = setTimeout(() => reject(new Error(`no end after ${seconds} s; the call was given up`)), graceMs);
    });
    Promise.resolve()
      .then(work)
      .then(resolve, reject)
      .finally(() => {
        unsubscribe();
        clearTimeout(timer);
      });
  });
}

const knownOf = (given: Properties): Properties =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => !containsUnknown(value)));

function timeoutMs({ __timeouts }: Hidden, verb: Verb): number {
  return 1_000 * (__timeouts?.[verb] ?? DEFAULT_TIMEOUT_SECONDS);
}

/** For methods without asynchronous work: what is thrown becomes a plain error. */
function toPromise<Result>(work: () => Result): Promise<Result> {
  try {
    return Promise.resolve(work());
  } catch (thrown) {
    return Promise.reject(plainError(thrown));
  }
}
