import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as StructMessages from "google-protobuf/google/protobuf/struct_pb";
import type * as AliasMessages from "@pulumi/pulumi/proto/alias_pb";
import type * as ResourceMessages from "@pulumi/pulumi/proto/resource_pb";
import type * as SourceMessages from "@pulumi/pulumi/proto/source_pb";
import { z } from "zod";
import { nameInUrn } from "../../../contract/identifiers";
import { KINDS, typeToken } from "../../../contract/pointer";
import { asRequested, type StackState } from "../../stack/state";
import { fromSdk } from "./sdk";

const urns = z.array(z.string()).nullish();

/** What a state holds of a resource, as far as a program hands it over. */
const registrable = z.object({
  urn: z.string(),
  type: z.string(),
  custom: z.boolean().default(false),
  delete: z.boolean().default(false),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  parent: z.string().default(""),
  /** URN and id. */
  provider: z.string().default(""),
  dependencies: urns,
  propertyDependencies: z.record(z.string(), urns).nullish(),
  protect: z.boolean().default(false),
  retainOnDelete: z.boolean().default(false),
  deletedWith: z.string().default(""),
  replaceWith: urns,
  aliases: urns,
  additionalSecretOutputs: z.array(z.string()).nullish(),
  ignoreChanges: z.array(z.string()).nullish(),
  replaceOnChanges: z.array(z.string()).nullish(),
  replacementTrigger: z.unknown().optional(),
  hideDiff: z.array(z.string()).nullish(),
  /** Seconds. */
  customTimeouts: z.record(z.string(), z.number()).nullish(),
  /** By when they run, the names of functions of the program. */
  resourceHooks: z.record(z.string(), z.unknown()).nullish(),
  /** Such as `project:///index.ts#12,3`, relative to the folder of Pulumi.yaml. */
  sourcePosition: z.string().optional(),
  stackTrace: z.array(z.object({ sourcePosition: z.string().optional() })).nullish(),
});

const exported = z.object({ deployment: z.object({ resources: z.array(registrable) }) });

export type Registrable = z.infer<typeof registrable>;

/** The resources of a state that stand: what a replacement has left is deleted by the engine, and registered by nobody. */
export function registrablesOf(state: StackState): ReadonlyMap<string, Registrable> {
  const { success, data } = exported.safeParse(JSON.parse(state.text));
  if (!success) throw new Error("the state has a form that this version of pulumi-svc does not know: update it");
  const standing = data.deployment.resources.filter((resource) => !resource.delete);
  return new Map(standing.map((resource) => [resource.urn, resource]));
}

/**
 * The resources of these URNs, and those without which the engine takes none of them: their parents and their providers.
 * In the order of the state, so that each comes after what it needs.
 */
export function withNeeded(all: ReadonlyMap<string, Registrable>, wanted: readonly string[]): Registrable[] {
  const needed = new Set<string>();
  const add = (urn: string): void => {
    const resource = all.get(urn);
    if (resource === undefined || needed.has(urn)) return;
    needed.add(urn);
    for (const other of neededBy(resource)) add(other);
  };
  wanted.forEach(add);
  return [...all.values()].filter(({ urn }) => needed.has(urn));
}

/** @throws where only the program has what a resource needs: its hooks are functions. */
export function checkHooks(resources: readonly Registrable[]): void {
  const hooked = resources.filter(({ resourceHooks }) => Object.keys(resourceHooks ?? {}).length > 0);
  if (hooked.length === 0) return;
  const which = hooked.map(({ urn }) => urn).join(", ");
  throw new Error(
    `nothing was changed: ${which} has resource hooks, which only the program has. Repair it with pulumi up --refresh --target`,
  );
}

/** Its parent and its provider, by their URNs. */
export function neededBy({ parent, provider }: Registrable): string[] {
  return [parent, provider.slice(0, provider.lastIndexOf("::"))].filter((urn) => urn !== "");
}

/** The URNs of what it was given outputs of, or was declared after. */
export function dependenciesOf({ parent, dependencies, propertyDependencies, deletedWith }: Registrable): Set<string> {
  const ofProperties = Object.values(propertyDependencies ?? {}).flatMap((some) => some ?? []);
  return new Set([parent, deletedWith, ...(dependencies ?? []), ...ofProperties].filter((urn) => urn !== ""));
}

const OURS: ReadonlySet<string> = new Set(KINDS.map(typeToken));

/**
 * The request of a program that declares the resource exactly as the state holds it.
 * @param root the folder of Pulumi.yaml, which source positions are relative to.
 * @throws where the installed SDK has no word for something that the state holds.
 */
export function registrationOf(
  resource: Registrable,
  root: string,
  isPreview: boolean,
): ResourceMessages.RegisterResourceRequest {
  const { RegisterResourceRequest, Alias, SourcePosition, StackTrace, StackFrame, Struct, Value } = messages();
  const { customTimeouts, hideDiff, replacementTrigger, replaceWith, sourcePosition, stackTrace } = resource;
  const request = new RegisterResourceRequest();
  request.setType(resource.type);
  request.setName(nameInUrn(resource.urn));
  request.setCustom(resource.custom);
  request.setParent(resource.parent);
  request.setProvider(resource.provider);
  request.setObject(Struct.fromJavaScript(inputsOf(resource, isPreview)));
  request.setAcceptsecrets(true);
  request.setSupportspartialvalues(true);
  request.setDependenciesList(resource.dependencies ?? []);
  for (const [property, on] of Object.entries(resource.propertyDependencies ?? {})) {
    const dependencies = new RegisterResourceRequest.PropertyDependencies();
    dependencies.setUrnsList(on ?? []);
    request.getPropertydependenciesMap().set(property, dependencies);
  }
  request.setProtect(resource.protect);
  request.setRetainondelete(resource.retainOnDelete);
  request.setDeletedwith(resource.deletedWith);
  request.setAliasspecs(true);
  request.setAliasesList(
    (resource.aliases ?? []).map((urn) => {
      const alias = new Alias();
      alias.setUrn(urn);
      return alias;
    }),
  );
  request.setAdditionalsecretoutputsList(resource.additionalSecretOutputs ?? []);
  request.setIgnorechangesList(resource.ignoreChanges ?? []);
  request.setReplaceonchangesList(resource.replaceOnChanges ?? []);
  const positionOf = (text: string | undefined): SourceMessages.SourcePosition | undefined => {
    const [, path, line, column = "0"] = /^project:\/\/(\/[^#]*)#(\d+)(?:,(\d+))?$/.exec(text ?? "") ?? [];
    if (path === undefined) return undefined;
    const position = new SourcePosition();
    position.setUri(pathToFileURL(join(root, decodeURIComponent(path))).href);
    position.setLine(Number(line));
    position.setColumn(Number(column));
    return position;
  };
  request.setSourceposition(positionOf(sourcePosition));
  if (stackTrace !== undefined && stackTrace !== null) {
    const trace = new StackTrace();
    trace.setFramesList(
      stackTrace.map((frame) => {
        const stackFrame = new StackFrame();
        stackFrame.setPc(positionOf(frame.sourcePosition));
        return stackFrame;
      }),
    );
    request.setStacktrace(trace);
  }
  // An older SDK lacks some of these words. Without one the state would lose what it holds.
  const inexpressible = (what: string): Error =>
    new Error(`${nameInUrn(resource.urn)} has ${what}, which the installed @pulumi/pulumi cannot express: update it`);
  const keep = (what: string, word: string, apply: (target: typeof request) => void): void => {
    if (!(word in request)) throw inexpressible(what);
    apply(request);
  };
  if (customTimeouts !== undefined && customTimeouts !== null) {
    const { create = 0, update = 0, delete: deletion = 0, read = 0 } = customTimeouts;
    const timeouts = new RegisterResourceRequest.CustomTimeouts();
    if (create > 0) timeouts.setCreate(`${create}s`);
    if (update > 0) timeouts.setUpdate(`${update}s`);
    if (deletion > 0) timeouts.setDelete(`${deletion}s`);
    if (read > 0) {
      if (!("setRead" in timeouts)) throw inexpressible("customTimeouts.read");
      timeouts.setRead(`${read}s`);
    }
    request.setCustomtimeouts(timeouts);
  }
  if ((replaceWith ?? []).length > 0)
    keep("replaceWith", "setReplaceWithList", (target) => target.setReplaceWithList(replaceWith ?? []));
  if (replacementTrigger !== undefined && replacementTrigger !== null)
    keep("a replacementTrigger", "setReplacementTrigger", (target) =>
      target.setReplacementTrigger(Value.fromJavaScript(asRequested(replacementTrigger))),
    );
  if ((hideDiff ?? []).length > 0)
    keep("hideDiffs", "setHidediffsList", (target) => target.setHidediffsList(hideDiff ?? []));
  return request;
}

/** With what a constructor of ours adds for one run, and the state never holds. */
function inputsOf({ type, inputs, replaceOnChanges, ignoreChanges }: Registrable, isPreview: boolean) {
  const requested = Object.entries(inputs ?? {}).map(([name, value]) => [name, asRequested(value)] as const);
  if (!OURS.has(type)) return Object.fromEntries(requested);
  const ignored = ignoreChanges ?? [];
  return Object.fromEntries([
    ...requested,
    ...((replaceOnChanges ?? []).length > 0 ? [["__replaceOnChanges", true] as const] : []),
    ...(ignored.length > 0 ? [["__ignoreChanges", ignored] as const] : []),
    ...(isPreview ? [["__preview", true] as const] : []),
  ]);
}

function messages() {
  const load = fromSdk();
  // Modules by their declared types.
  return {
    ...(load("./proto/resource_pb") as typeof ResourceMessages),
    ...(load("./proto/alias_pb") as typeof AliasMessages),
    ...(load("./proto/source_pb") as typeof SourceMessages),
    ...(load("google-protobuf/google/protobuf/struct_pb.js") as typeof StructMessages),
  };
}
