import { existsSync, readFileSync, realpathSync } from "node:fs";
import { z } from "zod";
import { nameInUrn } from "../../contract/identifiers";
import { EXIT } from "../exitCodes";
import { compareText, escaped } from "../output";
import type { CommandReport } from "../report/commandReport";
import { type Format, publish, render } from "../report/render";
import { text } from "../report/text";
import { ENTRY_HEAD, entryCells, isOfSeveral, TOLERATED_ADVICE } from "./driftReport";
import { segmentsOf } from "../../contract/propertyPath";
import {
  type Entry,
  IGNORE_FILE,
  type IgnoreFile,
  ignoreFilePath,
  readIgnoreFile,
  type ResourceEntry,
  type UnmanagedEntry,
} from "./ignoreFile";
import { lookedAt } from "./previewRefresh";
import type { Refreshed } from "./refreshed";
import {
  type Drifted,
  isByReference,
  type Property,
  stackOf,
  toldEntry,
  type ToldEntry,
  type Unmanaged,
  unfinishedText,
} from "./report";
import { selected } from "./selection";
import { covers, holdsSecret, judged } from "./tolerated";
import { unmanagedObjects } from "./unmanaged";
import { writeFiles } from "./writeFiles";

export interface IgnoreFlags {
  /** Names or URNs of resources; with `unmanaged`, ids of objects. */
  readonly ignore: readonly string[];
  readonly reason: string;
  readonly until?: string;
  /** Only this property and those below it. */
  readonly property?: string;
  /** Also applies to resources with these names in the program's other stacks. */
  readonly allStacks?: true;
  readonly stack?: readonly string[];
  readonly unmanaged?: true;
  /** How many seconds to wait for the end of a running update. */
  readonly wait?: number;
  readonly format: Format;
  readonly out?: string;
}

/** The output of `drift --ignore --format json`: a contract with scripts (docs/drift.md). */
export const ignoreResultSchema = z.object({
  /** For several stacks: their names, separated by commas. */
  stack: z.string(),
  /** Relative to the working directory. */
  file: z.string(),
  /** The written entries, each with its path in the file. */
  entries: z.array(toldEntry),
  /** Whether the entries for resources apply to every stack, not only to those above. */
  allStacks: z.boolean(),
  /** Why nothing was written. */
  messages: z.array(z.string()),
});

type IgnoreResult = z.infer<typeof ignoreResultSchema>;

/** A path in the program's folder, so that editors need no network access. */
const SCHEMA = "./node_modules/pulumi-svc/svc-drift.schema.json";

/**
 * Accepts the current differences in svc-drift.json, and returns the exit code.
 * @throws a message for the user if it fails. Nothing is written then.
 */
export async function ignore(flags: IgnoreFlags): Promise<number> {
  const { format, out } = flags;
  const result = await ignored(flags).catch((error: unknown) => {
    // A script also gets the error in its format.
    if (format === "json") {
      const messages = (error instanceof Error ? error.message : String(error)).split("\n");
      const nothing = ignoreReport({ stack: "", file: IGNORE_FILE, entries: [], allStacks: false, messages });
      process.stdout.write(render(nothing, format));
    }
    throw error;
  });
  return publish(ignoreReport(result), format, out);
}

async function ignored(flags: IgnoreFlags): Promise<IgnoreResult> {
  const { stack: names = [], unmanaged = false, wait } = flags;
  const path = ignoreFilePath(process.cwd());
  if (path === undefined)
    throw new Error("no Pulumi.yaml in this folder or above, and svc-drift.json belongs beside it");
  // First: an invalid file stops the command before any request.
  readIgnoreFile();
  const found = await lookedAt(names, { withSecrets: unmanaged, waitSeconds: wait }, async (stacks) => ({
    resources: stacks.flatMap(({ resources }) => resources),
    objects: unmanaged ? (await unmanagedObjects(stacks)).unmanaged : [],
  }));
  // Read again, because the refresh took time.
  const file = readIgnoreFile();
  const entries = newEntries(found, file, flags, new Date());
  const written = write(path, file.name, entries);
  const stack = [...new Set(found.resources.map(({ urn }) => stackOf(urn).stack))].toSorted().join(", ");
  return { stack, file: file.name, entries: written, allStacks: flags.allStacks === true, messages: [] };
}

interface Found {
  readonly resources: readonly Refreshed[];
  readonly objects: readonly Unmanaged[];
}

type NewEntry = ResourceEntry | UnmanagedEntry;

/**
 * An entry for each differing property of the named resources, with the found value, and for each named object.
 * Properties that another entry of the file covers are left out.
 * @throws one error that lists all names for which nothing can be ignored.
 */
export function newEntries(
  { resources, objects }: Found,
  file: IgnoreFile,
  { ignore: wanted, reason, until, property, allStacks }: Omit<IgnoreFlags, "format" | "stack">,
  now: Date,
): NewEntry[] {
  const why = { reason, ...(until !== undefined && { until }) };
  const entriesOf = ({ urn, properties, unfinished }: Drifted): NewEntry[] => {
    // What differs may be of the change that is not finished.
    if (unfinished !== undefined) return [];
    // A name applies to every stack, and the other stacks were not checked.
    const resource = allStacks === true ? nameInUrn(urn) : urn;
    return properties
      .filter(({ path }) => covers(property, path))
      .map((one) => ({ resource, property: one.path, ...(isWritable(one) && { found: one.found }), ...why }));
  };
  const entryOf = ({ id, kind }: Unmanaged): NewEntry => ({ unmanaged: id, kind, ...why });

  const isObject = (name: string): boolean =>
    objects.some(({ id }) => id === name) && !resources.some(({ urn }) => urn === name || nameInUrn(urn) === name);
  const namedObjects = objects.filter(({ id }) => wanted.includes(id) && isObject(id));
  const namedResources = wanted.filter((name) => !isObject(name));
  const chosen = namedResources.length === 0 ? [] : selected(resources, namedResources);
  // A refresh returns resources in any order, and a URN twice if a replacement left an old object.
  const urns = [...new Set(chosen.map(({ urn }) => urn))].toSorted(compareText);
  const all = [
    ...chosen.flatMap(({ drift }) => (drift === undefined ? [] : entriesOf(drift))),
    ...namedObjects.map(entryOf),
  ];
  const kept = { ...file, entries: file.entries.filter((entry) => !all.some((one) => isSameSubject(one, entry))) };
  // Checks all resources, so that a name in the file that matches several of them is refused here as well.
  const left = judged(resources, namedObjects, kept, now);
  const problems: string[] = [];
  const entries = urns.flatMap((urn) => {
    const found = left.drift.filter((one) => one.urn === urn).flatMap(entriesOf);
    const drift = chosen.find((one) => one.urn === urn && one.drift !== undefined)?.drift;
    if (found.length === 0) problems.push(nothingToIgnore(nameInUrn(urn), drift, property));
    return found;
  });
  for (const { id, kind } of left.toleratedUnmanaged) problems.push(`${kind} ${id} ${TOLERATED_ALREADY}`);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return [...entries, ...left.unmanaged.map(entryOf)];
}

const TOLERATED_ALREADY = `is tolerated already, by another entry of ${IGNORE_FILE}`;
const NOT_A_VALUE = "which cannot be ignored: only differing values can";

function nothingToIgnore(name: string, drift: Drifted | undefined, property: string | undefined): string {
  if (drift === undefined) return `"${name}" is as declared, so there is nothing to ignore`;
  if (drift.change === "deleted")
    return `"${name}" was deleted, ${NOT_A_VALUE}. Remove it from the program, or create it again with pulumi up --refresh`;
  if (drift.change === "leftover")
    return `"${name}" has an object left over from a replacement, ${NOT_A_VALUE}. Run pulumi up, which deletes it`;
  if (drift.unfinished !== undefined)
    return `"${name}" cannot be ignored: ${unfinishedText(drift.unfinished)}. Run pulumi up, which finishes it`;
  const paths = drift.properties.map(({ path }) => path);
  if (paths.length === 0) return `"${name}" differs in no property, ${NOT_A_VALUE}. Run pulumi up --refresh`;
  if (!paths.some((path) => covers(property, path)))
    return `"${name}" does not differ in "${property ?? ""}". It differs in ${paths.join(", ")}`;
  return `what differs in "${name}" ${TOLERATED_ALREADY}`;
}

/**
 * Whether the found value may be written to the file. The file is committed, so it holds less than a report: an entry
 * without `found` accepts any value. A setting with a dot in its name belongs to an application, which may store
 * anything there.
 */
function isWritable({ path, declared, found }: Property): boolean {
  if (found === null) return true;
  if (isByReference({ declared })) return false;
  const isOfApplication = segmentsOf(path).some((name) => String(name).includes("."));
  const hasDottedKey = /"[^"]*\.[^"]*":/.test(JSON.stringify(found));
  return !isOfApplication && !hasDottedKey && ![declared, found].some(holdsSecret);
}

/** Whether one entry replaces the other. */
function isSameSubject(one: NewEntry, other: Entry): boolean {
  if ("rule" in other) return false;
  if ("unmanaged" in one || "unmanaged" in other) {
    return "unmanaged" in one && "unmanaged" in other && one.unmanaged === other.unmanaged && one.kind === other.kind;
  }
  const path = ({ property = "" }: ResourceEntry) => JSON.stringify(segmentsOf(property).map(String));
  return one.resource === other.resource && path(one) === path(other);
}

/** Replaces the whole file at once. Other entries keep their content and order. */
function write(path: string, name: string, entries: readonly NewEntry[]): ToldEntry[] {
  const isThere = existsSync(path);
  const raw = isThere ? readFileSync(path, "utf8") : "{}";
  const text = raw.replace(/^\uFEFF/, "");
  // The file was validated just before.
  const content = JSON.parse(text) as { ignore?: Entry[] };
  const list: Entry[] = [...(content.ignore ?? [])];
  const written = entries.map((entry) => {
    const index = list.findIndex((other) => isSameSubject(entry, other));
    const at = index < 0 ? list.length : index;
    list[at] = entry;
    return { entry: `ignore[${at}]`, ...entry };
  });
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? "  ";
  const whole = { ...(isThere ? content : { $schema: SCHEMA }), ignore: list };
  // A found value is text from the service, and git prints it in logs. In JSON a tab can only stand between values.
  const after = `${JSON.stringify(whole, undefined, indent).replace(/[^\t]+/g, escaped)}\n`;
  // A symbolic link is kept.
  writeFiles([
    isThere ? { name, path: realpathSync(path), before: raw, after } : { name, path, before: undefined, after },
  ]);
  return written;
}

/** @public for the tests */
export function ignoreReport(result: IgnoreResult): CommandReport {
  const { stack, file, entries, allStacks } = result;
  const isOfResource = entries.some(({ resource }) => resource !== undefined);
  const count = text`${entries.length} ${entries.length === 1 ? text`entry` : text`entries`}`;
  const those = allStacks ? text`all stacks` : text`${isOfSeveral(stack) ? text`stacks` : text`stack`} ${stack}`;
  return {
    json: result,
    title: text`Tolerated drift`,
    headline: text`${file}: ${count} for ${those}`,
    sections: [{ head: ENTRY_HEAD, rows: entries.map(entryCells) }, { lines: isOfResource ? [TOLERATED_ADVICE] : [] }],
    exitCode: EXIT.done,
  };
}
