import { Deadline } from "../client";
import { compare, isEmpty, type Comparison } from "./changes";
import { echoOf, namesToEcho, withoutUnset } from "./echo";
import { sameJson } from "./equality";
import { messageOf, partialError, plainError } from "./errors";
import type { HostedProvider } from "./hostedProvider";
import type { Call, Lifecycle, Stored } from "./lifecycle";
import type { Kind } from "./pointer";
import { Progress } from "./progress";
import { clean, hidden, inputEcho, pick, visible, type Hidden, type Properties } from "./properties";
import type { Session } from "./session";
import { resolveSettings, type ReadSetting } from "./settings";
import { checkArguments, problemText, specOf, surplusProblems, type Problem } from "./shape";
import { containsUnknown } from "./unknowns";
import { withDeadline } from "./withDeadline";
import { droppedWarning, failure, heldTwice, patience, stays } from "./words";

const DEFAULT_TIMEOUT_SECONDS = 600;
const READ_TIMEOUT_MS = 30_000;

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
  let readSetting: ReadSetting = () => undefined;

  /** Settings are resolved anew at each call: the environment may have come later than the process. */
  const account = () => session.account(readSetting);

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

  const nameOf = (id: string): string => `${kind} ${id}`;
  const objectsOf = (id: string, args: object): string[] => [nameOf(id), ...(lifecycle.holds?.(id, args) ?? [])];

  /** `stored`: the URN that the state carries, which an alias leaves behind. */
  const hold = (id: string, args: object, urn: string | undefined, stored: string | undefined): void => {
    session.holders.hold(objectsOf(id, args), stored);
    const other = session.holders.other(nameOf(id), stored);
    if (other !== undefined && urn !== undefined) session.warn(urn, heldTwice(kind, id, other));
  };

  const holdMade = (id: string, args: object, urn: string | undefined): void => {
    hold(id, args, urn, urn);
    session.holders.made(nameOf(id), urn);
  };

  /** Runs one lifecycle method under a deadline, with the moving line of its resource. */
  const run = async <Result>(
    { __urn }: Hidden,
    timeoutMs: number,
    work: (call: Call<Outputs>) => Promise<Result>,
    keep: Call<Outputs>["keep"] = () => undefined,
  ): Promise<Result> => {
    const { client, settings } = account();
    const deadline = new Deadline(timeoutMs);
    const progress = new Progress(session.log, __urn, settings.quiet);
    const note = (message: string) => {
      if (!settings.quiet) session.log({ severity: "info", message, urn: __urn, ephemeral: false });
    };
    const { authProvider } = settings;
    try {
      return await withDeadline(deadline, () =>
        work({
          client,
          authProvider,
          deadline,
          progress: (text) => progress.show(text),
          note,
          heldElsewhere: (object) => session.holders.other(object, __urn) !== undefined,
          keep,
        }),
      );
    } finally {
      progress.end();
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
        if (__urn !== undefined) {
          const oldInputs = visible(olds);
          const isNew = Object.keys(oldInputs).length === 0;
          // For a replacement the engine checks a second time, as if nothing had been there.
          const isReplacement = isNew && Object.keys(session.checkedInputs(__urn) ?? {}).length > 0;
          session.rememberCheck(__urn, { kind, oldInputs, args: { ...known } });
          const others = (other: Kind) => session.declared(other, __urn);
          for (const remark of lifecycle.remarks?.({ args: known, isNew, isReplacement, others }) ?? [])
            session.warn(__urn, remark);
        }
        const settingProblems = resolveSettings(readSetting).problems.map((reason) => ({ path: "", reason }));
        // Never a property: the engine would print its value, secrets too (engine.md 3).
        const failures = [...surplusProblems(specs, __surplus), ...problems, ...settingProblems].map((problem) => ({
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
        const known = Object.fromEntries(Object.entries(given).filter(([, value]) => !containsUnknown(value)));
        const { __urn } = hidden(news);
        const oldInputs = session.checkedInputs(__urn);
        if (__urn !== undefined && oldInputs !== undefined) {
          // What is to be replaced is given up: whoever takes its place declares it once.
          if (comparison.replaces.size === 0) hold(id, known, __urn, hidden(olds).__urn);
          // The program's arguments have passed `check`.
          const plan = { stored, news: known as Partial<Args>, changes: comparison, replaces: comparison.replaces };
          for (const warning of lifecycle.warnings?.(plan) ?? []) session.warn(__urn, warning);
          // A replacement takes over nothing that is not declared.
          for (const name of comparison.replaces.size > 0 ? [] : comparison.dropped) {
            session.warn(__urn, droppedWarning(kind, id, name, specs[name].unreadable === true));
          }
        }
        const result = { replaces: [...comparison.replaces], deleteBeforeReplace: lifecycle.deleteBeforeReplace };
        if (stored.unfinished) return { ...result, changes: true };
        if (isEmpty(comparison)) return { ...result, changes: false };
        // Left undefined, the engine compares the inputs itself and can tell what differs (engine.md 2). Where the
        // inputs are equal and only the outs differ, it has to be told.
        return oldInputs !== undefined && sameJson(oldInputs, given) ? { ...result, changes: true } : result;
      });
    },

    async create(news) {
      const own = hidden(news);
      let kept: { id: string; outputs: Outputs } | undefined;
      let args: Args | undefined;
      try {
        const given = checked(visible(news));
        args = given;
        const created = await run(
          own,
          timeoutMs(own, "create"),
          (call) => lifecycle.create(call, given),
          (id, outputs) => (kept = { id, outputs }),
        );
        holdMade(created.id, given, own.__urn);
        return { id: created.id, outs: complete(created.outputs, given, inputEcho(own)) };
      } catch (thrown) {
        if (kept === undefined || args === undefined) throw plainFailure(thrown, "create", own);
        holdMade(kept.id, args, own.__urn);
        const patient = patience(thrown, "create", timeoutMs(own, "create"));
        // Made or taken over.
        const reason = `${kind} ${kept.id} is there, but ${messageOf(thrown)}. It is kept in the stack: run pulumi up again.${patient}`;
        throw partialError(kept.id, complete(kept.outputs, args, inputEcho(own), "create"), reason);
      }
    },

    async read(id, properties = {}) {
      const own = hidden(properties);
      try {
        const stored = storedFrom(id, properties);
        const observed = await run(own, READ_TIMEOUT_MS, (call) => lifecycle.read(call, stored));
        if (observed === undefined) return { id: "", props: {} };
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
      let kept: { outputs: Outputs; notYet: readonly string[] } | undefined;
      let args: Args | undefined;
      try {
        const given = checked(visible(news));
        args = given;
        session.holders.release(objectsOf(id, stored.outs), hidden(olds).__urn);
        hold(id, given, own.__urn, own.__urn);
        const { changed, dropped, added } = compareWith(stored, given as Properties);
        const outputs = await run(
          own,
          timeoutMs(own, "update"),
          (call) => lifecycle.update(call, stored, given, { changed, dropped, added }),
          (_id, outputs, notYet = []) => (kept = { outputs, notYet }),
        );
        return { outs: complete(outputs, given, inputEcho(own)) };
      } catch (thrown) {
        if (kept === undefined || args === undefined) throw plainFailure(thrown, "update", own, id);
        const patient = patience(thrown, "update", timeoutMs(own, "update"));
        const reason = `${kind} ${id} was changed, but ${messageOf(thrown)}. The change is kept in the stack: run pulumi up again.${patient}`;
        const applied = { ...args, ...pick(stored.outs, kept.notYet) };
        throw partialError(id, complete(kept.outputs, applied, inputEcho(own), "update"), reason);
      }
    },

    async delete(id, properties) {
      const own = hidden(properties);
      try {
        const stored = storedFrom(id, properties);
        const holder = session.holders.keeper(nameOf(id), own.__urn);
        if (holder !== undefined)
          session.log({ severity: "info", message: stays(kind, id, holder), urn: own.__urn, ephemeral: false });
        else await run(own, timeoutMs(own, "delete"), (call) => lifecycle.delete(call, stored));
        session.holders.release(objectsOf(id, stored.outs), own.__urn);
      } catch (thrown) {
        throw plainFailure(thrown, "delete", own, id);
      }
    },
  };
}

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
