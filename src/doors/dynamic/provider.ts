/** The door for dynamic resources: the engine calls through the SDK's provider process, and sends only properties. */
import { hiddenInputs, storedInputs, visible, type Properties } from "../../contract/hiddenKeys";
import type { ReadSetting } from "../../contract/settings";
import { unknownProperty } from "../../helpers/given";
import { problemText, sameJson } from "../../host/arguments";
import { remove } from "../../host/calls/deletion";
import { create, read, update } from "../../host/calls/verbs";
import type { Lifecycle } from "../../host/lifecycle";
import { planned } from "../../host/plan/planned";
import { check } from "../../host/plan/check";
import { diff } from "../../host/plan/diff";
import { repair } from "../../host/plan/repair";
import type { CreateRequest, DiffResult, Marked, Wrong } from "../../host/requests";
import { markedFound, markedInputs, markedOuts } from "../../host/secrets";
import type { Hosted, Session } from "../../host/session";
import { plainError } from "../engine/errors";
import { engineError } from "./callErrors";
import type { DynamicProvider } from "./types";

/**
 * Turns a resource into a Pulumi dynamic provider: reads the hidden inputs, stores some of them with the outs, and
 * throws only errors of its own.
 */
export function dynamicProvider<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  session: Session,
): DynamicProvider {
  let readSetting: ReadSetting = () => undefined;
  const hosted: Hosted<Args, Outputs> = { resource, session, readSetting: (name) => readSetting(name) };
  /** The URNs of resources whose hidden inputs change and would appear in a diff by the engine. */
  const hiddenChanges = new Set<string>();
  const surplus = (paths: readonly string[]): Wrong[] =>
    paths.map((path) => ({ path, reason: unknownProperty(path, Object.keys(resource.args)) }));
  /**
   * If `changes` is undefined, the engine compares the inputs itself and can show what differs (docs/design/engine.md,
   * Diff). It needs an answer if the inputs are equal and only the outs differ, and also if hidden inputs differ, which
   * it would show.
   */
  const verdict = (changes: DiffResult["changes"], urn = ""): { changes?: boolean } => {
    if (changes === "none") return { changes: false };
    return changes === "outs" || hiddenChanges.has(urn) ? { changes: true } : {};
  };
  return {
    // Called once per process and text, possibly during the first call: it stores the configuration before anything is
    // awaited.
    configure({ config }) {
      readSetting = (name) => config.get(`svc:${name}`);
      return Promise.resolve();
    },

    async check(olds, news) {
      const own = hiddenInputs(news);
      const { __urn: urn, __surplus = [], __preview: preview } = own;
      const { __ignoreChanges: ignored = [], __replaceOnChanges: replacing = [] } = own;
      const { __retains: retains = false, __deletesFirst: deletesFirst } = own;
      const isPreview = preview !== undefined;
      const problems = surplus(__surplus);
      const about = { urn, olds: visible(olds), news: visible(news) };
      const { args, problems: wrong } = await inEngineForm(
        check(hosted, { ...about, isPreview, ignored, replacing, retains, deletesFirst, problems }),
      );
      const isNew = Object.keys(about.olds).length === 0;
      const declared = preview === true ? Infinity : preview;
      const ofPlan =
        declared === undefined
          ? []
          : await inEngineForm(planned(hosted, { ...about, declared, isNew, isSound: wrong.length === 0 }));
      const found = [...wrong, ...ofPlan];
      if (urn !== undefined && hidesChange(olds, news)) hiddenChanges.add(urn);
      // The property stays empty: the engine would print its value, even a secret (docs/design/engine.md).
      const failures = found.map((problem) => ({ property: "", reason: problemText(problem) }));
      return { inputs: markedInputs(resource, { ...args, ...storedInputs(own) }, news), failures };
    },

    async diff(id, olds, news) {
      const { __urn: urn, __provider: pointer } = hiddenInputs(news);
      const { __urn: stateUrn, __provider: stored } = hiddenInputs(olds);
      const request = { urn, stateUrn, id, outs: olds, news: visible(news) };
      const { changes, replaces, deleteBeforeReplace } = await inEngineForm(diff(hosted, request));
      // Outs of another provider: a refresh and a deletion need the pointer in the outs, and only an update stores it.
      const lacksPointer = pointer !== undefined && stored === undefined;
      const known = changes === "none" && lacksPointer ? "outs" : changes;
      return { ...verdict(known, urn), replaces: [...replaces], deleteBeforeReplace };
    },

    async create(news) {
      const mark = (outs: Properties): Marked => markedOuts(resource, outs, { given: news, stored: {} });
      const { id, outs } = await inEngineForm(create(hosted, { ...fromProgram(news), news: visible(news) }), mark);
      return { id, outs: mark(outs) };
    },

    async read(id, properties = {}) {
      const own = hiddenInputs(properties);
      const carried = storedInputs(own);
      const request = { urn: own.__urn, timeouts: own.__timeouts, id, outs: properties, carried };
      const found = await inEngineForm(read(hosted, request));
      if (found === undefined) return { id: "", props: markedOuts(resource, {}, { given: {}, stored: {} }) };
      return {
        id,
        props: markedOuts(resource, found.outs, { given: properties, stored: properties }),
        inputs: markedFound(resource, { ...found.args, ...carried }, properties),
      };
    },

    async update(id, olds, news) {
      const request = { ...fromProgram(news), id, outs: olds, news: visible(news) };
      const mark = (outs: Properties): Marked => markedOuts(resource, outs, { given: news, stored: olds });
      return { outs: mark(await inEngineForm(update(hosted, request), mark)) };
    },

    async delete(id, properties) {
      const { __urn: urn, __timeouts: timeouts } = hiddenInputs(properties);
      await inEngineForm(remove(hosted, { urn, timeouts, id, outs: properties }));
    },

    repair(id, found, declared) {
      return repair(hosted, { urn: hiddenInputs(declared).__urn, id, outs: found, news: visible(declared) });
    },

    async problems(news) {
      const request = {
        urn: undefined,
        olds: {},
        news: visible(news),
        isPreview: false,
        ignored: [],
        replacing: [],
        problems: [],
      };
      return (await inEngineForm(check(hosted, request))).problems;
    },
  };
}

/** The hidden inputs of the program that a creation and an update use. */
function fromProgram(news: Properties): Pick<CreateRequest, "urn" | "timeouts" | "carried"> {
  const own = hiddenInputs(news);
  return { urn: own.__urn, timeouts: own.__timeouts, carried: storedInputs(own) };
}

/** Whether hidden inputs differ. With `replaceOnChanges` the engine must compare by itself anyway. */
function hidesChange(olds: Properties, news: Properties): boolean {
  const [before, own] = [hiddenInputs(olds), hiddenInputs(news)];
  const isNew = Object.keys(visible(olds)).length === 0;
  return !isNew && own.__replaceOnChanges === undefined && !sameJson(storedInputs(before), storedInputs(own));
}

/** `mark`: for a call that may leave something behind when it fails. */
async function inEngineForm<Result>(work: Promise<Result>, mark?: (outs: Properties) => Marked): Promise<Result> {
  try {
    return await work;
  } catch (thrown) {
    throw mark === undefined ? plainError(thrown) : engineError(thrown, mark);
  }
}
