/** The door for native resources: the methods that the engine calls (docs/design/engine.md, Native plugins). */
import type * as PluginMessages from "@pulumi/pulumi/proto/plugin_pb";
import type * as ProviderMessages from "@pulumi/pulumi/proto/provider_pb";
import type * as EmptyMessages from "google-protobuf/google/protobuf/empty_pb";
import { withIgnoredChanges } from "../../contract/ignoredChanges";
import {
  hiddenInputs,
  isUnknown,
  storedInputs,
  visible,
  type Properties,
  type Timeouts,
} from "../../contract/hiddenKeys";
import { packageVersion } from "../../contract/installation";
import { kindOfType } from "../../contract/pointer";
import type { ReadSetting } from "../../contract/settings";
import { differing, valueAt } from "../../contract/propertyPath";
import { messageOf } from "../../contract/untrusted";
import { unknownNames, unknownProperty } from "../../helpers/given";
import { problemText, sameJson } from "../../host/arguments";
import { tellOfTakeOver } from "../../host/calls/changeCall";
import { remove } from "../../host/calls/deletion";
import { create, read, update } from "../../host/calls/verbs";
import { asImported } from "../../host/imported";
import type { Lifecycle } from "../../host/lifecycle";
import { planned, plannedUpdate } from "../../host/plan/planned";
import { check } from "../../host/plan/check";
import { diff } from "../../host/plan/diff";
import type { Marked } from "../../host/requests";
import { markedFound, markedInputs, markedOuts, type SecretRules } from "../../host/secrets";
import type { Hosted, Session } from "../../host/session";
import { QUERIES } from "../../queries";
import { argumentProblems } from "../../queries/query";
import { argumentRules, lifecycleOf } from "../../resources/lifecycles";
import { ofSdk } from "../engine/sdk";
import { changeError, failedCall } from "./errors";
import { markedSettings, propertiesOf, structOf } from "./values";

const load = ofSdk();
// The modules have these declared types.
const messages = load("./proto/provider_pb") as typeof ProviderMessages;
const { PluginInfo } = load("./proto/plugin_pb") as typeof PluginMessages;
const { Empty } = load("google-protobuf/google/protobuf/empty_pb.js") as typeof EmptyMessages;

const { DiffChanges } = messages.DiffResponse;
const { Kind: Difference } = messages.PropertyDiff;
/** A plugin does not learn how many resources a program declares. */
const MANY = Infinity;

type AnyHosted = Hosted<object, object>;

/** Each method has its request. The server has `handshake` and `cancel`, before it loads this. */
export class NativeProvider {
  readonly failedCall = failedCall;
  #settings: Properties = {};
  /** By URN: the id of what was looked up or imported. The engine checks only the inputs of what it imports. */
  readonly #lookedUp = new Map<string, string>();
  readonly #readSetting: ReadSetting = (name) => {
    const value = this.#settings[name] ?? undefined;
    return value === undefined ? undefined : String(value);
  };

  constructor(
    private readonly session: Session,
    private readonly schema: () => string,
  ) {}

  getPluginInfo() {
    const info = new PluginInfo();
    info.setVersion(packageVersion() ?? "");
    return info;
  }

  getSchema() {
    const response = new messages.GetSchemaResponse();
    response.setSchema(this.schema());
    return response;
  }

  /** Keys that it does not know may be those of a project that is called svc. */
  checkConfig(request: ProviderMessages.CheckRequest) {
    const response = new messages.CheckResponse();
    response.setInputs(structOf(markedSettings(propertiesOf(request.getNews()))));
    return response;
  }

  /** Another key or address replaces nothing: the objects stay, and each call uses the present settings. */
  diffConfig(request: ProviderMessages.DiffRequest) {
    const response = new messages.DiffResponse();
    const isSame = sameJson(propertiesOf(request.getOldInputs()), propertiesOf(request.getNews()));
    response.setChanges(isSame ? DiffChanges.DIFF_NONE : DiffChanges.DIFF_SOME);
    return response;
  }

  configure(request: ProviderMessages.ConfigureRequest) {
    this.#settings = propertiesOf(request.getArgs());
    const response = new messages.ConfigureResponse();
    response.setSupportspreview(true);
    return response;
  }

  async check(request: ProviderMessages.CheckRequest) {
    const urn = request.getUrn();
    const hosted = this.#hosted(urn, request.getType());
    const { resource } = hosted;
    const imported = this.#lookedUp.get(urn);
    if (imported !== undefined) tellOfTakeOver(hosted, { urn, id: imported });
    this.#lookedUp.delete(urn);
    const given = propertiesOf(request.getNews());
    // The classes of this package send the names of surplus properties without the values.
    const { __surplus: named = [] } = hiddenInputs(given);
    const news = visible(given);
    const known = Object.keys(resource.args);
    const unknown = unknownNames(news, known);
    const { args, problems } = await check(hosted, {
      urn,
      olds: visible(propertiesOf(request.getOlds())),
      news: Object.fromEntries(Object.entries(news).filter(([name]) => !unknown.includes(name))),
      // Only a creation and an update say it.
      isPreview: undefined,
      ignored: [],
      replacing: [],
      problems: [...named, ...unknown].map((path) => ({ path, reason: unknownProperty(path, known) })),
    });
    const response = new messages.CheckResponse();
    response.setInputs(structOf(markedInputs(secretsOf(resource), args, news)));
    for (const problem of problems) {
      const failure = new messages.CheckFailure();
      // The property stays empty: the engine would print its value, even a secret.
      failure.setReason(problemText(problem));
      response.addFailures(failure);
    }
    return response;
  }

  async diff(request: ProviderMessages.DiffRequest) {
    const hosted = this.#hosted(request.getUrn(), request.getType());
    const outs = propertiesOf(request.getOlds());
    const inputs = visible(propertiesOf(request.getOldInputs()));
    const ignored = request.getIgnorechangesList();
    const given = visible(propertiesOf(request.getNews()));
    // Before it deletes a container, the engine asks with unknown values what is deleted along with it, ignored or not.
    const unknown = Object.entries(given).filter(([, value]) => isUnknown(value));
    // In an update the engine has done it; in a refresh the earlier inputs are what was found.
    const news = { ...withIgnoredChanges(given, inputs, ignored), ...Object.fromEntries(unknown) };
    const { changes, names, replaces, deleteBeforeReplace } = await diff(hosted, {
      urn: request.getUrn(),
      stateUrn: hiddenInputs(outs).__urn,
      id: request.getId(),
      outs,
      news,
      ignored,
    });
    const response = new messages.DiffResponse();
    response.setChanges(changes === "none" ? DiffChanges.DIFF_NONE : DiffChanges.DIFF_SOME);
    response.setReplacesList([...replaces]);
    response.setDeletebeforereplace(deleteBeforeReplace);
    response.setHasdetaileddiff(true);
    // Not what differs only at the service, or behind a reference: `replaceOnChanges` would replace the resource for it.
    for (const name of names) {
      const paths = differing(inputs[name], news[name], name);
      if (paths.length > 0) response.addDiffs(name);
      for (const path of paths) {
        const difference = new messages.PropertyDiff();
        difference.setKind(differenceKind(valueAt(path, inputs), valueAt(path, news), replaces.includes(name)));
        difference.setInputdiff(true);
        response.getDetaileddiffMap().set(path, difference);
      }
    }
    return response;
  }

  async create(request: ProviderMessages.CreateRequest) {
    const urn = request.getUrn();
    const hosted = this.#hosted(urn, request.getType());
    const given = propertiesOf(request.getProperties());
    const news = visible(given);
    const mark = (outs: Properties): Marked => markedOuts(secretsOf(hosted.resource), outs, { given, stored: {} });
    const response = new messages.CreateResponse();
    if (request.getPreview()) {
      const problems = await planned(hosted, { urn, news, declared: MANY, isNew: true, isSound: true });
      if (problems.length > 0) throw new Error(problems.map(problemText).join("; "));
      response.setProperties(structOf(mark(news)));
      return response;
    }
    const timeouts = timeoutsOf("create", request.getTimeout());
    const { id, outs } = await orPartly(create(hosted, { urn, timeouts, news, carried: { __urn: urn } }), mark);
    response.setId(id);
    response.setProperties(structOf(mark(outs)));
    return response;
  }

  async read(request: ProviderMessages.ReadRequest) {
    const [urn, id] = [request.getUrn(), request.getId()];
    const hosted = this.#hosted(urn, request.getType());
    const { resource } = hosted;
    const outs = propertiesOf(request.getProperties());
    const timeouts = timeoutsOf("read", request.getTimeout());
    const carried = storedInputs(hiddenInputs(outs));
    // The first read of a look-up is like that of an import. Later the state has no inputs of it.
    const isLookUp =
      outs["__version"] !== undefined && Object.keys(visible(propertiesOf(request.getInputs()))).length === 0;
    const { __args: _all, ...lookedUp } = outs;
    const found = await read(hosted, { urn, timeouts, id, outs: isLookUp ? lookedUp : outs, carried });
    const response = new messages.ReadResponse();
    if (found === undefined) return response;
    // What no provider has stored is looked up, or imported: nothing tells which.
    const isNew = outs["__version"] === undefined;
    if (isNew) this.#lookedUp.set(urn, id);
    const shown = isNew ? asImported(resource, found) : found;
    response.setId(id);
    response.setProperties(structOf(markedOuts(secretsOf(resource), shown.outs, { given: outs, stored: outs })));
    response.setInputs(structOf(markedFound(secretsOf(resource), shown.args, outs)));
    return response;
  }

  async update(request: ProviderMessages.UpdateRequest) {
    const [urn, id] = [request.getUrn(), request.getId()];
    const hosted = this.#hosted(urn, request.getType());
    const outs = propertiesOf(request.getOlds());
    const given = propertiesOf(request.getNews());
    const news = visible(given);
    const mark = (changed: Properties): Marked =>
      markedOuts(secretsOf(hosted.resource), changed, { given, stored: outs });
    const response = new messages.UpdateResponse();
    if (request.getPreview()) {
      await plannedUpdate(hosted, { urn, stateUrn: undefined, id, outs, news });
      const staying = Object.fromEntries(hosted.resource.staying.map((name) => [name, outs[name]]));
      response.setProperties(structOf(mark({ ...staying, ...news })));
      return response;
    }
    const timeouts = timeoutsOf("update", request.getTimeout());
    const changing = update(hosted, { urn, timeouts, id, outs, news, carried: { __urn: urn } });
    response.setProperties(structOf(mark(await orPartly(changing, mark))));
    return response;
  }

  async delete(request: ProviderMessages.DeleteRequest) {
    const hosted = this.#hosted(request.getUrn(), request.getType());
    const outs = propertiesOf(request.getProperties());
    const urn = request.getUrn();
    const timeouts = timeoutsOf("delete", request.getTimeout());
    await remove(hosted, { urn, timeouts, id: request.getId(), outs });
    return new Empty();
  }

  async invoke(request: ProviderMessages.InvokeRequest) {
    const [, name] = request.getTok().split("svc:index:");
    const query = QUERIES.find((one) => one.name === name);
    if (query === undefined) throw new Error(`pulumi-svc has no function ${JSON.stringify(request.getTok())}`);
    const args = visible(propertiesOf(request.getArgs()));
    const problems = argumentProblems(query, args);
    if (problems.length > 0) throw new Error(problems.join("; "));
    const response = new messages.InvokeResponse();
    try {
      const { client, settings } = this.session.account(this.#readSetting);
      // Just checked.
      const found = await query.find({ client, authProvider: settings.authProvider }, args as { projectId: string });
      response.setReturn(structOf(Array.isArray(found) ? { results: found } : withoutSecrets(found, query.secrets)));
    } catch (thrown) {
      const advice = this.session.adviceOn(thrown, this.#readSetting);
      throw new Error(messageOf(thrown) + (advice === "" ? "" : `. ${advice}`), { cause: thrown });
    }
    return response;
  }

  interrupt(): void {
    this.session.interrupt();
  }

  /** @throws for a type that this version does not know. */
  #hosted(urn: string, type: string): AnyHosted {
    const kind = kindOfType(type);
    if (kind === undefined)
      throw new Error(`pulumi-svc ${packageVersion() ?? ""} has no resource type ${type} (${urn})`);
    return { resource: lifecycleOf(kind), session: this.session, readSetting: this.#readSetting };
  }
}

const secretsOf = ({ kind, secretOutputs }: Lifecycle<object, object>): SecretRules => ({
  args: argumentRules(kind),
  secretOutputs,
});

/** In seconds; 0 if the program does not say. */
const timeoutsOf = (verb: keyof Timeouts, seconds: number): Timeouts | undefined =>
  seconds > 0 ? { [verb]: seconds } : undefined;

function differenceKind(before: unknown, after: unknown, replaces: boolean): ProviderMessages.PropertyDiff.Kind {
  if (after === undefined) return replaces ? Difference.DELETE_REPLACE : Difference.DELETE;
  if (before === undefined) return replaces ? Difference.ADD_REPLACE : Difference.ADD;
  return replaces ? Difference.UPDATE_REPLACE : Difference.UPDATE;
}

/** Without what a plain value would show. */
const withoutSecrets = (found: object, secrets: readonly string[] = []): Properties =>
  Object.fromEntries(Object.entries(found).filter(([name]) => !secrets.includes(name)));

/** A change that may leave something behind when it fails. */
async function orPartly<Result>(changing: Promise<Result>, mark: (outs: Properties) => Marked): Promise<Result> {
  try {
    return await changing;
  } catch (thrown) {
    throw changeError(thrown, mark);
  }
}
