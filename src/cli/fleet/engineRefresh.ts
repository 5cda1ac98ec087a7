/**
 * What the engine does with one resource in a refresh (docs/design/engine.md, What a refresh tells): `read`,
 * then `diff` with what it found and the inputs of the state.
 */
import { asSecret, isSecret, mapSecrets } from "../../contract/engineSecrets";
import { visible, type Properties } from "../../contract/hiddenKeys";
import { protocolOf } from "../../contract/pointer";
import { differing, ownValue } from "../../contract/propertyPath";
import type { DynamicProvider } from "../../protocols/dynamic/types";
import type { RefreshResult } from "../drift/eventLog";
import { isObject, withIgnoredChanges } from "../../contract/ignoredChanges";
import { asRequested, type StoredResource } from "../stack/state";

/**
 * The result of refreshing an entry of a state with decrypted secrets.
 * @throws the provider's error. Nothing is known about the resource then.
 */
export async function refreshResult(
  provider: Pick<DynamicProvider, "read" | "diff">,
  entry: StoredResource,
): Promise<RefreshResult> {
  const { urn, type, id = "", delete: isLeft, pendingReplacement, external, ignoreChanges } = entry;
  const old = { id, inputs: marked(entry.inputs), outputs: marked(entry.outputs), delete: isLeft };
  const about = { urn, type, provider: entry.provider, old };
  // What a replacement has deleted is not read.
  if (pendingReplacement === true) return { ...about, op: "same", new: old };
  const read = await provider.read(id, unmarked(old.outputs));
  if (read.id === undefined || read.id === "") return { ...about, op: "delete", new: null };
  const found = {
    id: read.id,
    inputs: annotated(inputsIn(type, read.inputs ?? old.inputs), old.inputs),
    outputs: annotated(read.props ?? {}, old.outputs),
  };
  // The program declares nothing about a resource that is only looked up.
  if (external === true) return { ...about, op: "same", new: found };
  const { changes } = await provider.diff(read.id, unmarked(found.outputs), unmarked(old.inputs));
  const paths =
    changes === undefined
      ? differing(found.inputs, withIgnoredChanges(old.inputs, found.inputs, ignoreChanges ?? []))
      : [];
  const op = (changes ?? paths.length > 0) ? "update" : "same";
  return { ...about, op, new: found, detailedDiff: Object.fromEntries(paths.map((path) => [path, {}])) };
}

/** Of a native resource, without what only a dynamic one declares beside its arguments. */
const inputsIn = (type: string, inputs: Properties): Properties =>
  protocolOf(type) === "native" ? visible(inputs) : inputs;

/** Properties of the state, with secrets in the form in which a provider marks them. */
const marked = (properties: Properties | null | undefined): Properties =>
  // An object stays an object.
  asRequested(properties ?? {}) as Properties;

/** As the engine passes them to a dynamic provider. */
const unmarked = (properties: Properties): Properties => mapSecrets(properties, (value) => value) as Properties;

/** The engine marks what a provider returns where it passed a secret, in objects only. */
function annotated(returned: Properties, given: Properties): Properties {
  const entries = Object.entries(returned).map(([name, value]) => {
    const from = ownValue(given, name);
    if (isSecret(value)) return [name, value];
    if (isObject(value) && isObject(from) && !isSecret(from)) return [name, annotated(value, from)];
    return [name, holdsMark(from) ? asSecret(unmarked({ value })["value"]) : value];
  });
  return Object.fromEntries(entries) as Properties;
}

const holdsMark = (value: unknown): boolean =>
  isSecret(value) || (typeof value === "object" && value !== null && Object.values(value).some(holdsMark));
