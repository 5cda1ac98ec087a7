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
import type { Drifted } from "../report";
import { fromSdk } from "./sdk";

/** The prefix of a provider's type, followed by the name of its package. */
export const PROVIDER = "pulumi:providers:";

const urns = z.array(z.string()).nullish();

/** The fields of a resource's state that a program passes to the engine. */
const registrable = z.object({
  urn: z.string(),
  id: z.string().default(""),
  type: z.string(),
  custom: z.boolean().default(false),
  delete: z.boolean().default(false),
  /** The resource is only read (`get`). */
  external: z.boolean().default(false),
  pendingReplacement: z.boolean().default(false),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  outputs: z.record(z.string(), z.unknown()).nullish(),
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
  /** In seconds. */
  customTimeouts: z.record(z.string(), z.number()).nullish(),
  /** The names of the program's hook functions, by when they run. */
  resourceHooks: z.record(z.string(), z.unknown()).nullish(),
  /** Such as `project:///index.ts#12,3`, relative to the folder of Pulumi.yaml. */
  sourcePosition: z.string().optional(),
  stackTrace: z.array(z.object({ sourcePosition: z.string().optional() })).nullish(),
});

const exported = z.object({ deployment: z.object({ resources: z.array(registrable) }) });

export interface Registrable extends z.infer<typeof registrable> {
  /** A replacement has left an old object that is still to be deleted. */
  readonly hasLeftover: boolean;
}

/**
 * The current resources of a state. Objects left by a replacement are excluded: the engine deletes them, and nobody
 * declares them.
 */
export function registrablesOf(state: StackState): ReadonlyMap<string, Registrable> {
  const { success, data } = exported.safeParse(JSON.parse(state.text));
  if (!success)
    throw new Error("the state has a form that this version of pulumi-svc does not know: update pulumi-svc");
  const { resources } = data.deployment;
  const left = new Set(resources.filter((resource) => resource.delete).map(({ urn }) => urn));
  const standing = resources.filter((resource) => !resource.delete);
  return new Map(standing.map((resource) => [resource.urn, { ...resource, hasLeftover: left.has(resource.urn) }]));
}

/** A program that declares a part of a state. */
export interface PartialProgram {
  /** The whole state in its order: each resource after its dependencies. */
  readonly all: ReadonlyMap<string, Registrable>;
  /** The URNs of the declared resources. */
  readonly declared: ReadonlySet<string>;
  /** The URNs to repair. The other declared resources stay unchanged; the engine needs them. */
  readonly targets: ReadonlySet<string>;
}

/**
 * The program that repairs this drift. Besides each target it declares its parents and providers, without which the
 * engine accepts no target, and its dependants, which the engine would delete otherwise.
 * @throws if only the user's program has what is needed (hooks are functions), or if the engine would delete more.
 */
export function partialProgram(
  all: ReadonlyMap<string, Registrable>,
  drift: readonly Pick<Drifted, "urn" | "change">[],
): PartialProgram {
  const targets = new Set(drift.map(({ urn }) => urn));
  const wanted = new Set(targets);
  // The refresh removes references to a deleted resource, so the engine knows none of its dependants.
  const isGone = ({ urn, change }: Pick<Drifted, "urn" | "change">): boolean =>
    change === "deleted" && all.get(urn)?.pendingReplacement !== true;
  const standing = new Set(drift.filter((one) => !isGone(one)).map(({ urn }) => urn));
  for (const resource of all.values()) {
    if (!dependsOnAny(resource, standing)) continue;
    standing.add(resource.urn);
    wanted.add(resource.urn);
  }
  const leftovers = [...wanted].filter((urn) => !targets.has(urn) && all.get(urn)?.hasLeftover === true);
  if (leftovers.length > 0) {
    throw new Error(
      `nothing was changed: ${leftovers.map(nameInUrn).join(", ")} depends on what is to be repaired, and has an object left over from a replacement, which the engine would delete. Run pulumi up first, which deletes it`,
    );
  }
  const declared = new Set<string>();
  const declare = (urn: string): void => {
    const resource = all.get(urn);
    if (resource === undefined || declared.has(urn)) return;
    declared.add(urn);
    neededBy(resource).forEach(declare);
  };
  wanted.forEach(declare);
  // Resources that the engine copies keep their hooks.
  const hooked = [...declared]
    .flatMap((urn) => all.get(urn) ?? [])
    .filter(({ urn, type, resourceHooks }) => {
      const isCopied = !targets.has(urn) && !type.startsWith(PROVIDER);
      return !isCopied && Object.keys(resourceHooks ?? {}).length > 0;
    });
  if (hooked.length > 0) {
    throw new Error(
      `nothing was changed: ${hooked.map(({ urn }) => urn).join(", ")} has resource hooks, which only the program has. Repair it with pulumi up --refresh --target`,
    );
  }
  return { all, declared, targets };
}

const dependsOnAny = (resource: Registrable, urns: ReadonlySet<string>): boolean =>
  [...neededBy(resource), ...dependenciesOf(resource)].some((urn) => urns.has(urn));

/** The URNs of its parent and provider. */
export function neededBy({ parent, provider }: Registrable): string[] {
  return [parent, provider.slice(0, provider.lastIndexOf("::"))].filter((urn) => urn !== "");
}

/** The URNs of the resources whose outputs it uses or that it depends on. */
export function dependenciesOf(resource: Registrable): Set<string> {
  const { parent, dependencies, propertyDependencies, deletedWith, replaceWith } = resource;
  const ofProperties = Object.values(propertyDependencies ?? {}).flatMap((some) => some ?? []);
  const all = [parent, deletedWith, ...(replaceWith ?? []), ...(dependencies ?? []), ...ofProperties];
  return new Set(all.filter((urn) => urn !== ""));
}

const DYNAMIC: ReadonlySet<string> = new Set(KINDS.map(typeToken));

/** How to declare a resource. */
interface Manner {
  readonly isTarget: boolean;
  readonly isPreview: boolean;
  /** The folder of Pulumi.yaml. Source positions are relative to it. */
  readonly root: string;
}

/**
 * The request that declares the resource exactly as in the state.
 * @throws if the installed SDK cannot express something in the state.
 */
export function registrationOf(
  resource: Registrable,
  { isTarget, isPreview, root }: Manner,
): ResourceMessages.RegisterResourceRequest {
  const { RegisterResourceRequest, Alias, Struct } = messages();
  const { type } = resource;
  const request = new RegisterResourceRequest();
  request.setType(type);
  request.setName(nameInUrn(resource.urn));
  request.setCustom(resource.custom);
  request.setParent(resource.parent);
  request.setProvider(resource.provider);
  // The engine copies resources that are not targets from the state, so their identity is enough.
  if (!isTarget && resource.custom && !type.startsWith(PROVIDER)) return request;
  const { version } = resource.inputs ?? {};
  // A provider without a version would get the version of the newest provider of its package.
  if (type.startsWith(PROVIDER) && typeof version === "string") request.setVersion(version);
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
  setPlace(request, resource, root);
  setNewer(request, resource);
  return request;
}

/** Sets what an older SDK cannot express. @throws if the state would lose the value. */
function setNewer(request: ResourceMessages.RegisterResourceRequest, resource: Registrable): void {
  const { customTimeouts, hideDiff, replacementTrigger, replaceWith } = resource;
  const inexpressible = (what: string): Error =>
    new Error(`${nameInUrn(resource.urn)} has ${what}, which the installed @pulumi/pulumi cannot express: update it`);
  const keep = (what: string, word: string, apply: () => void): void => {
    if (!(word in request)) throw inexpressible(what);
    apply();
  };
  if (customTimeouts !== undefined && customTimeouts !== null)
    request.setCustomtimeouts(timeoutsOf(customTimeouts, inexpressible));
  if ((replaceWith ?? []).length > 0)
    keep("replaceWith", "setReplaceWithList", () => request.setReplaceWithList(replaceWith ?? []));
  if (replacementTrigger !== undefined && replacementTrigger !== null)
    keep("a replacementTrigger", "setReplacementTrigger", () =>
      request.setReplacementTrigger(messages().Value.fromJavaScript(asRequested(replacementTrigger))),
    );
  if ((hideDiff ?? []).length > 0)
    keep("hideDiffs", "setHidediffsList", () => request.setHidediffsList(hideDiff ?? []));
}

function timeoutsOf(
  { create = 0, update = 0, delete: deletion = 0, read = 0 }: NonNullable<Registrable["customTimeouts"]>,
  inexpressible: (what: string) => Error,
): ResourceMessages.RegisterResourceRequest.CustomTimeouts {
  const timeouts = new (messages().RegisterResourceRequest.CustomTimeouts)();
  if (create > 0) timeouts.setCreate(`${create}s`);
  if (update > 0) timeouts.setUpdate(`${update}s`);
  if (deletion > 0) timeouts.setDelete(`${deletion}s`);
  if (read > 0) {
    if (!("setRead" in timeouts)) throw inexpressible("customTimeouts.read");
    timeouts.setRead(`${read}s`);
  }
  return timeouts;
}

/** The request that reads the resource by its id in the state. The engine reads it again. */
export function lookUpOf(
  resource: Registrable,
  { isPreview, root }: Omit<Manner, "isTarget">,
): ResourceMessages.ReadResourceRequest {
  const { ReadResourceRequest, Struct } = messages();
  const request = new ReadResourceRequest();
  request.setId(resource.id);
  request.setType(resource.type);
  request.setName(nameInUrn(resource.urn));
  request.setParent(resource.parent);
  request.setProvider(resource.provider);
  request.setProperties(Struct.fromJavaScript(inputsOf(resource, isPreview)));
  request.setAcceptsecrets(true);
  request.setDependenciesList(resource.dependencies ?? []);
  request.setAdditionalsecretoutputsList(resource.additionalSecretOutputs ?? []);
  setPlace(request, resource, root);
  return request;
}

/** Sets the position of its declaration in the program. */
function setPlace(
  request: ResourceMessages.RegisterResourceRequest | ResourceMessages.ReadResourceRequest,
  { sourcePosition, stackTrace }: Registrable,
  root: string,
): void {
  const { SourcePosition, StackTrace, StackFrame } = messages();
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
  if (stackTrace === undefined || stackTrace === null) return;
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

/** With the values that our constructors add for each run, and that the state never contains. */
function inputsOf({ type, inputs, replaceOnChanges, retainOnDelete, ignoreChanges }: Registrable, isPreview: boolean) {
  const requested = Object.entries(inputs ?? {}).map(([name, value]) => [name, asRequested(value)] as const);
  if (!DYNAMIC.has(type)) return Object.fromEntries(requested);
  const [ignored, replacing] = [ignoreChanges ?? [], replaceOnChanges ?? []];
  return Object.fromEntries([
    ...requested,
    ...(replacing.length > 0 ? [["__replaceOnChanges", replacing] as const] : []),
    ...(retainOnDelete ? [["__retains", true] as const] : []),
    ...(ignored.length > 0 ? [["__ignoreChanges", ignored] as const] : []),
    ...(isPreview ? [["__preview", true] as const] : []),
  ]);
}

function messages() {
  const load = fromSdk();
  // Typed by the modules' declarations.
  return {
    ...(load("./proto/resource_pb") as typeof ResourceMessages),
    ...(load("./proto/alias_pb") as typeof AliasMessages),
    ...(load("./proto/source_pb") as typeof SourceMessages),
    ...(load("google-protobuf/google/protobuf/struct_pb.js") as typeof StructMessages),
  };
}
