import { Deadline, mayHaveTakenEffect } from "../client";
import { compare, isEmpty, type Comparison } from "./changes";
import { echoOf, namesToEcho, withoutUnset } from "./echo";
import { sameJson } from "./equality";
import { loggableUrn } from "./engineLog";
import { messageOf, partialError, plainError } from "./errors";
import type { HostedProvider } from "./hostedProvider";
import type { Call, Lifecycle, Stored } from "./lifecycle";
import { KeptError } from "./memory";
import {
  declaredTwice,
  droppedWarning,
  failure,
  heldTwice,
  patience,
  possibleReplacement,
  replacementWarning,
  stays,
} from "./messages";
import { Progress } from "./progress";
import { clean, hidden, inputEcho, visible, type Hidden, type Properties } from "./properties";
import type { Session } from "./session";
import { resolveSettings, type ReadSetting } from "./settings";
import { checkArguments, problemText, specEntries, specOf, surplusProblems, type Problem } from "./shape";
import { containsUnknown } from "./unknowns";

const DEFAULT_TIMEOUT_SECONDS = 600;
const READ_TIMEOUT_MS = 30_000;
/** What a call may take beyond its deadline and its last request before it is given up. */
const GRACE_MS = 15_000;

/** What `customTimeouts` are for. */
type Verb = "create" | "update" | "delete";

/**
 * Makes a plain lifecycle a Pulumi dynamic provider: the one wrapper around every method. It strips and echoes the
 * hidden keys, checks, compares, cleans what goes back to the engine, and lets nothing leave but its own errors.
 */
export function host<Args extends object, Outputs extends object>(
  lifecycle: Lifecycle<Args, Outputs>,
  session: Session,
): HostedProvider {
  const { kind, args: specs } = lifecycle;
  const { memory } = session;
  let readSetting: ReadSetting = () => undefined;

  const check = (given: Properties): { args: Properties; known: Partial<Args>; problems: Problem[] } => {
    const { args, problems } = checkArguments(kind, specs, given);
    const bad = new Set(problems.map(({ path }) => path.split(/[.[]/)[0]));
    const good = Object.entries(args).filter(([name, value]) => !bad.has(name) && !containsUnknown(value));
    // Each of these arguments has passed its own schema.
    const known = Object.fromEntries(good) as Partial<Args>;
    problems.push(...(lifecycle.rules?.(known, new Set(Object.keys(given))) ?? []));
    return { args, known, problems };
  };

  /** The arguments of a create or an update: everything is known now, so everything is checked. */
  const checked = (given: Properties): Args => {
    const { args, problems } = check(given);
    if (problems.length > 0) throw new Error(problems.map(problemText).join("; "));
    // Checked just above, argument by argument.
    return args as Args;
  };

  const storedFrom = (id: string, properties: Properties): Stored<Args, Outputs> => {
    const { __args, __version, __unfinished } = hidden(properties);
    const outs = visible(properties);
    const upgraded =
      lifecycle.upgrade !== undefined && __version !== undefined && __version < lifecycle.version
        ? lifecycle.upgrade(outs, __version)
        : outs;
    return {
      id,
      // What this provider returned earlier, through the JSON of the state.
      outs: upgraded as Partial<Outputs & Args>,
      managed: new Set(__args),
      unfinished: __unfinished !== undefined,
    };
  };

  const complete = (outputs: object, args: object, echo: Properties, unfinished?: string): Properties =>
    clean({
      ...outputs,
      ...args,
      ...echo,
      __args: Object.keys(args).sort(),
      __version: lifecycle.version,
      __unfinished: unfinished,
    });

  const compareWith = ({ outs, managed }: Stored<Args, Outputs>, news: Properties): Comparison<Args> => {
    // Every resource of a program has an argument. Where none is named (an import), all that is known is taken for managed.
    const known = managed.size > 0 ? managed : new Set(Object.keys(outs).filter((name) => specOf(specs, name)));
    return compare(specs, outs as Properties, known, news);
  };

  /** Runs one lifecycle method under a deadline, with the moving line of its resource. */
  const run = async <Result>(
    own: Hidden,
    timeoutMs: number,
    properties: readonly Properties[],
    work: (call: Call<Outputs>) => Promise<Result>,
    {
      onTaken,
      ...more
    }: Partial<Pick<Call<Outputs>, "keep" | "beforeDelete">> & {
      onTaken?: (object: string) => void;
    } = {},
  ): Promise<Result> => {
    // Settings are resolved anew at each call: the environment may have come later than the process.
    const { client, settings } = session.account(readSetting);
    client.learnSecrets(...properties);
    const { __urn, __urn: urn = "" } = own;
    const deadline = new Deadline(timeoutMs);
    const progress = new Progress(session.log, __urn, settings.quiet);
    try {
      return await withLastResort(deadline, client.longestAttemptMs + GRACE_MS, () =>
        work({
          client,
          authProvider: settings.authProvider,
          deadline,
          onProgress: (text) => progress.show(text),
          run: {
            take: (object) => {
              memory.take(object, urn);
              onTaken?.(object);
            },
            checkOwn: (object) => memory.checkOwn(object, urn),
            isKept: (object) => memory.holder(object, urn) !== undefined,
            wasDeleted: (object) => memory.wasDeleted(object),
            departure: (object) => memory.departure(object),
            leavesSoon: (object) => memory.leavesWithin(object, session.siblingStartsMs),
            untilFree: (object, still) => memory.untilFree(object, deadline, still),
            whileLeaving: (objects, deletes, leave) => memory.whileLeaving(objects, urn, deletes, leave),
          },
          beforeDelete: () => undefined,
          note: (message) => {
            if (!settings.quiet) session.log({ severity: "info", message, urn: __urn, ephemeral: false });
          },
          keep: () => undefined,
          ...more,
        }),
      );
    } finally {
      progress.end();
    }
  };

  const keepAll = (id: string, outs: object, { __urn = "" }: Hidden): void => {
    // What was just returned has the types of its lifecycle.
    for (const object of lifecycle.objects(id, outs as Partial<Outputs & Args>)) memory.keep(object, __urn);
  };

  /** What a plan says of one resource, on its own line. */
  const warn = (urn: string, stored: Stored<Args, Outputs>, given: Properties, changes: Comparison<Args>): void => {
    const { replaces } = changes;
    // The program's arguments have passed `check`.
    const plan = { stored, news: knownOf(given) as Partial<Args>, changes, replaces };
    const isOpen = (name: string): boolean => containsUnknown(given[name]);
    const certain = [...replaces].filter((name) => !isOpen(name));
    const open = specEntries(specs).filter(
      ([name, spec]) => (spec.replaces ?? false) !== false && changes.changed.has(name) && isOpen(name),
    );
    if (certain.length > 0) {
      session.warn(urn, replacementWarning(kind, stored.id, certain, lifecycle.replacement(plan)));
    } else if (open.length > 0) {
      const names = open.map(([name]) => name);
      session.warn(urn, possibleReplacement(kind, stored.id, names, lifecycle.replacement(plan)));
    }
    // A replacement takes over nothing that is not declared: what is dropped needs no word.
    if (replaces.size > 0) return;
    for (const warning of lifecycle.warnings?.(plan) ?? []) session.warn(urn, warning);
    for (const name of changes.dropped) {
      const { unreadable, local } = specs[name];
      session.warn(urn, droppedWarning(kind, stored.id, name, unreadable !== true && local !== true));
    }
  };

  /** The error of a call that leaves nothing to be kept. */
  const plainFailure = (thrown: unknown, verb: Verb, own: Hidden, id?: string): Error => {
    const patient = patience(thrown, verb, timeoutMs(own, verb));
    return plainError(patient === "" ? thrown : `${messageOf(thrown)}.${patient}`, failure(verb, kind, own, id));
  };

  return {
    // Called once per process and text, possibly beside the first call: stored before anything is awaited.
    configure({ config }) {
      readSetting = (name) => config.get(`svc:${name}`);
      return Promise.resolve();
    },

    async check(olds, news) {
      return settle(() => {
        const { args, known, problems } = check(visible(news));
        const { __urn, __surplus = [] } = hidden(news);
        const { settings, problems: settingProblems } = resolveSettings(readSetting);
        if (__urn !== undefined) {
          const oldInputs = visible(olds);
          const isNew = Object.keys(oldInputs).length === 0;
          // For a replacement the engine checks a second time, as if nothing had been there.
          const isReplacement = isNew && Object.keys(session.checkedInputs(__urn) ?? {}).length > 0;
          session.rememberCheck(__urn, isReplacement ? (session.checkedInputs(__urn) ?? {}) : oldInputs);
          const claims = lifecycle.declares?.(known, settings?.authProvider ?? "", new Set(Object.keys(args))) ?? [];
          for (const twin of loggableUrn(__urn) === "" ? [] : memory.declare(__urn, claims))
            problems.push({ path: "", reason: declaredTwice(twin.urn, twin.what) });
          for (const remark of lifecycle.remarks?.({ args: known, isNew, isReplacement }) ?? [])
            session.warn(__urn, remark);
        }
        const settingReasons = settingProblems.map((reason) => ({ path: "", reason }));
        // Never a property: the engine would print its value, secrets too (docs/design/engine.md).
        const failures = [...surplusProblems(specs, __surplus), ...problems, ...settingReasons].map((problem) => ({
          property: "",
          reason: problemText(problem),
        }));
        return { inputs: clean({ ...args, ...inputEcho(hidden(news)) }), failures };
      });
    },

    async diff(id, olds, news) {
      return settle(() => {
        const stored = storedFrom(id, olds);
        const given = visible(news);
        const comparison = compareWith(stored, given);
        const { __urn } = hidden(news);
        const oldInputs = session.checkedInputs(__urn);
        if (__urn !== undefined && oldInputs !== undefined) {
          warn(__urn, stored, given, comparison);
        }
        // A URN that is not known yet names no resource.
        if (__urn !== undefined && oldInputs !== undefined && loggableUrn(__urn) !== "") {
          // The types are those of the arguments and outputs; what is not known yet is taken as it is stored.
          const known = { ...stored.outs, ...knownOf(given) } as Partial<Outputs & Args>;
          // What is to be replaced is given up: whoever takes its place declares it once.
          const objects = comparison.replaces.size > 0 ? [] : lifecycle.objects(id, known);
          // The state may carry an older URN, which an alias leaves behind.
          memory.hold(__urn, objects, hidden(olds).__urn);
          const twin = objects.map((object) => memory.holder(object, __urn)).find((other) => other !== undefined);
          if (twin !== undefined) throw new Error(heldTwice(kind, id, twin, __urn));
        }
        const result = { replaces: [...comparison.replaces], deleteBeforeReplace: lifecycle.deleteBeforeReplace };
        if (stored.unfinished) return { ...result, changes: true };
        if (isEmpty(comparison)) return { ...result, changes: false };
        // Left undefined, the engine compares the inputs itself and can tell what differs (docs/design/engine.md, Diff). Where the
        // inputs are equal and only the outs differ, it has to be told.
        return oldInputs !== undefined && sameJson(oldInputs, given) ? { ...result, changes: true } : result;
      });
    },

    async create(news) {
      const own = hidden(news);
      let kept: { id: string; outputs: Outputs; shown: Properties } | undefined;
      let args: Args | undefined;
      const taken: string[] = [];
      try {
        const given = checked(visible(news));
        args = given;
        const created = await run(
          own,
          timeoutMs(own, "create"),
          [visible(news)],
          (call) => lifecycle.create(call, given),
          {
            keep: (id, outputs, shown = {}) => (kept = { id, outputs, shown }),
            onTaken: (object) => taken.push(object),
          },
        );
        keepAll(created.id, { ...created.outputs, ...given }, own);
        return { id: created.id, outs: complete(created.outputs, given, inputEcho(own)) };
      } catch (thrown) {
        if (kept === undefined || args === undefined) {
          taken.forEach((object) => memory.release(object));
          throw plainFailure(thrown, "create", own);
        }
        keepAll(kept.id, { ...kept.outputs, ...args }, own);
        const patient = patience(thrown, "create", timeoutMs(own, "create"));
        // Made or taken over.
        const reason = `${kind} ${kept.id} exists, but ${messageOf(thrown)}. It is kept in the stack: run pulumi up again.${patient}`;
        const outs = complete(kept.outputs, { ...args, ...kept.shown }, inputEcho(own), "create");
        throw partialError(kept.id, outs, reason);
      }
    },

    async read(id, properties = {}) {
      const own = hidden(properties);
      try {
        const stored = storedFrom(id, properties);
        const observed = await run(own, READ_TIMEOUT_MS, [stored.outs], (call) => lifecycle.read(call, stored));
        if (observed === undefined) {
          // What this provider has stored carries a version. Without one somebody looks it up (`get`), and a blank id would
          // be a resource without outputs.
          if (own.__version === undefined) throw new Error("it does not exist");
          return { id: "", props: {} };
        }
        const names = namesToEcho(specs, own.__args, observed.args);
        const echo = echoOf(specs, names, stored.outs, observed.args);
        const props = complete(observed.outputs, echo, inputEcho(own), observed.ready ? undefined : own.__unfinished);
        return {
          id,
          // What a program does not declare (`get`) stays without managed arguments.
          props: clean({ ...withoutUnset(props, names, echo), __args: own.__args }),
          inputs: clean({ ...echo, ...inputEcho(own) }),
        };
      } catch (thrown) {
        throw plainError(thrown, failure("read", kind, own, id));
      }
    },

    async update(id, olds, news) {
      const own = hidden(news);
      const stored = storedFrom(id, olds);
      let kept: { outputs: Outputs; shown: Properties } | undefined;
      let args: Args | undefined;
      try {
        const given = checked(visible(news));
        args = given;
        const comparison = compareWith(stored, given as Properties);
        const outputs = await run(
          own,
          timeoutMs(own, "update"),
          [stored.outs, visible(news)],
          (call) => lifecycle.update(call, stored, given, comparison),
          { keep: (_id, outputs, shown = {}) => (kept = { outputs, shown }) },
        );
        memory.hold(own.__urn ?? "", lifecycle.objects(id, { ...outputs, ...given }));
        return { outs: complete(outputs, given, inputEcho(own)) };
      } catch (thrown) {
        if (kept === undefined && mayHaveTakenEffect(thrown)) {
          // The next update asks the service, or sends again what cannot be read back.
          const { message } = plainFailure(thrown, "update", own, id);
          throw partialError(id, { ...clean(olds), __unfinished: "update" }, message);
        }
        if (kept === undefined || args === undefined) throw plainFailure(thrown, "update", own, id);
        const patient = patience(thrown, "update", timeoutMs(own, "update"));
        const reason = `${kind} ${id} was changed, but ${messageOf(thrown)}. The change is kept in the stack: run pulumi up again.${patient}`;
        throw partialError(id, complete(kept.outputs, { ...args, ...kept.shown }, inputEcho(own), "update"), reason);
      }
    },

    async delete(id, properties) {
      const own = hidden(properties);
      const { __urn: urn = "" } = own;
      try {
        const stored = storedFrom(id, properties);
        const objects = lifecycle.objects(id, stored.outs);
        const beforeDelete = (): void => memory.checkDeletable(objects, urn);
        memory.giveUp(objects, urn);
        beforeDelete();
        await memory.whileLeaving(objects, urn, true, () =>
          run(own, timeoutMs(own, "delete"), [stored.outs], (call) => lifecycle.delete(call, stored), { beforeDelete }),
        );
      } catch (thrown) {
        if (!(thrown instanceof KeptError)) throw plainFailure(thrown, "delete", own, id);
        const message = stays(kind, id, thrown.keeper);
        session.log({ severity: "info", message, urn: own.__urn, ephemeral: false });
      }
    },
  };
}

/**
 * The last resort: a call that is over its deadline and still has not ended is given up, so that no defect can hang the
 * engine (which waits for a call for ever, also after Ctrl-C). Longer than any request that must not be cut.
 */
function withLastResort<Result>(deadline: Deadline, graceMs: number, work: () => Promise<Result>): Promise<Result> {
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

/** For methods that wait for nothing: what is thrown becomes an error of ours. */
function settle<Result>(work: () => Result): Promise<Result> {
  try {
    return Promise.resolve(work());
  } catch (thrown) {
    return Promise.reject(plainError(thrown));
  }
}
