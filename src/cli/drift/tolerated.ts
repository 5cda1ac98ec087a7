import { ambiguity, countingEntries, isAbout, isOfStacks, type Numbered, told, why } from "./entries";
import { ownValue, type Segment, segmentsOf } from "../../contract/propertyPath";
import { isObject } from "../../contract/ignoredChanges";
import type { Entry, IgnoreFile, ResourceEntry, UnmanagedEntry } from "./ignoreFile";
import type { Refreshed } from "./refreshed";
import { type Drifted, type Findings, type Property, SECRET, type Tolerated, type Unmanaged } from "./report";

/** The findings, with those that svc-drift.json covers separated. */
export type Judged = Pick<Findings, "drift" | "tolerated" | "unmanaged" | "toleratedUnmanaged" | "expired" | "unused">;

/**
 * Separates the findings that the file covers. Each finding is in exactly one place.
 * @param unmanaged objects that are not declared; undefined if not requested
 * @throws one error for all entries that match several resources or contain the value of a secret.
 */
export function judged(
  resources: readonly Refreshed[],
  unmanaged: readonly Unmanaged[] | undefined,
  file: IgnoreFile,
  now: Date,
): Judged {
  const { valid, expired } = countingEntries(
    file,
    (entry): entry is DriftEntry => isInQuestion(entry, resources, unmanaged !== undefined),
    now,
  );
  const parts = partsOf(resources, valid.filter(isOfResource), file.name);
  const objects = (unmanaged ?? []).map((object) => ({
    object,
    by: valid.filter(isOfUnmanaged).find(({ entry }) => coversObject(entry, object)),
  }));
  const tolerated = parts.flatMap((part) => part.tolerated);
  const toleratedUnmanaged = objects.flatMap(({ object, by }) => (by === undefined ? [] : { ...object, ...why(by) }));
  const used = new Set([...tolerated, ...toleratedUnmanaged].map(({ entry }) => entry));
  return {
    drift: parts.flatMap(({ left }) => left ?? []),
    tolerated,
    unmanaged: objects.flatMap(({ object, by }) => (by === undefined ? object : [])),
    toleratedUnmanaged,
    expired: expired.map(told),
    unused: valid.filter(({ at }) => !used.has(at)).map(told),
  };
}

/**
 * For commands that change what drifted (`--accept`, `--repair`) without names: the refreshed resources, each with the
 * drift that svc-drift.json does not cover. `drift` is undefined if all of it is covered; if a part is covered, it has
 * the properties and the repair of the rest. A resource that the user names is not filtered.
 * @throws as `judged`.
 */
export function withoutTolerated(resources: readonly Refreshed[], file: IgnoreFile, now: Date): Refreshed[] {
  const { drift } = judged(resources, undefined, file, now);
  return resources.map((resource) => ({
    ...resource,
    // A URN may occur twice, if a replaced object could not be deleted.
    drift: resource.drift && drift.find(({ urn, id }) => urn === resource.urn && id === resource.drift?.id),
  }));
}

/** Rules belong to the audit. */
type DriftEntry = ResourceEntry | UnmanagedEntry;

const isOfResource = (one: Numbered<DriftEntry>): one is Numbered<ResourceEntry> => "resource" in one.entry;

const isOfUnmanaged = (one: Numbered<DriftEntry>): one is Numbered<UnmanagedEntry> => "unmanaged" in one.entry;

function isInQuestion(entry: Entry, resources: readonly Refreshed[], withUnmanaged: boolean): entry is DriftEntry {
  if ("rule" in entry) return false;
  if ("unmanaged" in entry) return withUnmanaged;
  return isOfStacks(
    entry.resource,
    resources.map(({ urn }) => urn),
  );
}

interface Part {
  readonly left: Drifted | undefined;
  readonly tolerated: readonly Tolerated[];
}

function partsOf(
  resources: readonly Refreshed[],
  entries: readonly Numbered<ResourceEntry>[],
  fileName: string,
): Part[] {
  const problems = entries.flatMap((one) => problemsOf(one, resources));
  if (problems.length > 0) throw new Error(problems.map((problem) => `${fileName}: ${problem}`).join("\n"));
  return resources.map((resource) =>
    partOf(
      resource,
      entries.filter(({ entry }) => isAbout(entry.resource, resource.urn)),
    ),
  );
}

/** Only a differing value can be tolerated, not a deleted object or an unfinished change. */
function partOf({ drift, comparison }: Refreshed, entries: readonly Numbered<ResourceEntry>[]): Part {
  if (drift === undefined || comparison === undefined) return { left: drift, tolerated: [] };
  const { properties, urn, kind, name, id } = drift;
  const by = new Map(
    properties.map((property) => [property, entries.find(({ entry }) => holds(entry, property, comparison.found))]),
  );
  const pathsWhere = (isThat: (one: Property) => boolean) => properties.filter(isThat).map(({ path }) => path);
  const left = properties.filter((property) => by.get(property) === undefined);
  if (left.length === properties.length) return { left: drift, tolerated: [] };
  const rest = {
    ...drift,
    properties: left,
    repair: comparison.repairWithout(pathsWhere((one) => by.get(one) !== undefined)),
  };
  const tolerated = [...new Set(by.values())].flatMap((one) => {
    if (one === undefined) return [];
    return {
      ...{ urn, kind, name, id },
      properties: properties.filter((property) => by.get(property) === one),
      repair: comparison.repairWithout(pathsWhere((property) => by.get(property) !== one)),
      ...why(one),
    };
  });
  return { left: left.length > 0 || comparison.isUnfinished ? rest : undefined, tolerated };
}

/** A value that somebody has changed. */
interface ChangedValue {
  readonly urn: string;
  readonly path: string;
  readonly found: unknown;
}

/** Whether the file covers such a value. `urns`: of all resources. @throws if an entry is about several of them. */
export function isTolerated(
  { urn, path, found }: ChangedValue,
  { file, urns, now }: { readonly file: IgnoreFile; readonly urns: readonly string[]; readonly now: Date },
): boolean {
  const isOfOne = (entry: Entry): entry is ResourceEntry =>
    "resource" in entry && !("rule" in entry) && isOfStacks(entry.resource, urns);
  const { valid } = countingEntries(file, isOfOne, now);
  const about = valid.filter(({ entry }) => isAbout(entry.resource, urn) && holds(entry, { path }, { [path]: found }));
  const problems = about.flatMap(({ at, entry }) => ambiguity(at, entry.resource, urns) ?? []);
  if (problems.length > 0) throw new Error(problems.map((problem) => `${file.name}: ${problem}`).join("\n"));
  return about.length > 0;
}

/** Whether the entry covers the property, by its path and found value. */
function holds(entry: ResourceEntry, { path }: Pick<Property, "path">, found: unknown): boolean {
  if (!covers(entry.property, path)) return false;
  return entry.found === undefined || isSameValue(entry.found, valueAt(found, segmentsOf(entry.property ?? "")));
}

/** A path covers itself and everything below it. */
export function covers(above: string | undefined, path: string): boolean {
  const [outer, inner] = [segmentsOf(above ?? ""), segmentsOf(path)];
  return outer.length <= inner.length && outer.every((segment, index) => String(segment) === String(inner[index]));
}

function valueAt(value: unknown, path: readonly Segment[]): unknown {
  return path.reduce<unknown>((inner, key) => (isObject(inner) ? ownValue(inner, key) : undefined), value);
}

/** Lists are compared as sets, and missing values as null. */
function isSameValue(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    const isIn = (list: readonly unknown[]) => (item: unknown) => list.some((each) => isSameValue(item, each));
    return one.every(isIn(other)) && other.every(isIn(one));
  }
  if (!isObject(one) || !isObject(other)) return (one ?? null) === (other ?? null);
  return [...Object.keys(one), ...Object.keys(other)].every((key) =>
    isSameValue(ownValue(one, key), ownValue(other, key)),
  );
}

function problemsOf({ at, entry }: Numbered<ResourceEntry>, resources: readonly Refreshed[]): string[] {
  const unclear = ambiguity(
    at,
    entry.resource,
    resources.map(({ urn }) => urn),
  );
  if (unclear !== undefined) return [unclear];
  const meant = resources.filter(({ urn }) => isAbout(entry.resource, urn));
  const secrets = meant.flatMap(({ drift }) =>
    (drift?.properties ?? []).filter(({ path, declared, found }) => {
      if (!covers(entry.property, path)) return false;
      const given = valueAt(entry.found, segmentsOf(path).slice(segmentsOf(entry.property ?? "").length));
      return [declared, found].some((shown) => givesSecret(given, shown));
    }),
  );
  if (secrets.length === 0) return [];
  const which = `${entry.property ?? ""} of ${entry.resource}`;
  return [`${at}.found: ${which} is a secret: leave out "found". The entry then covers any value`];
}

/** Whether the entry gives a value where a report shows a secret. */
function givesSecret(given: unknown, shown: unknown): boolean {
  if (shown === SECRET) return given !== undefined && given !== null;
  if (Array.isArray(shown)) return Array.isArray(given) && shown.some(holdsSecret);
  return (
    isObject(shown) &&
    isObject(given) &&
    Object.keys(shown).some((key) => givesSecret(ownValue(given, key), shown[key]))
  );
}

/** Whether the value contains a secret as reports show it, at any depth. */
export function holdsSecret(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsSecret);
  return isObject(value) ? Object.values(value).some(holdsSecret) : value === SECRET;
}

function coversObject({ unmanaged, kind }: UnmanagedEntry, object: Unmanaged): boolean {
  const pieces = unmanaged.split("*").map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return (kind === undefined || kind === object.kind) && new RegExp(`^${pieces.join(".*")}$`, "s").test(object.id);
}
