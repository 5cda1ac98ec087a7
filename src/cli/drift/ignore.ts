import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { z } from "zod";
import { nameInUrn } from "../../contract/identifiers";
import { terminalJson } from "../output";
import {
  aligned,
  code,
  ENTRY_HEAD,
  entryCells,
  type Format,
  printable,
  REPAIR_COMMAND,
  table,
  toleratedAdvice,
} from "./formats";
import { segmentsOf } from "./ignoredChanges";
import {
  type Entry,
  type IgnoreFile,
  ignoreFilePath,
  isSecretlyNamed,
  readIgnoreFile,
  type ResourceEntry,
  type UnmanagedEntry,
} from "./ignoreFile";
import { refreshedStacks } from "./previewRefresh";
import type { Refreshed } from "./refreshed";
import { type Property, stackOf, toldEntry, type ToldEntry, type Unmanaged } from "./report";
import { selected } from "./selection";
import { covers, holdsSecret, judged } from "./tolerated";
import { unmanagedObjects } from "./unmanaged";

export interface IgnoreFlags {
  /** Names or URNs of resources, and with `unmanaged` ids of objects. */
  readonly ignore: readonly string[];
  readonly reason: string;
  readonly until?: string;
  /** Only this one, and what is below it. */
  readonly property?: string;
  readonly stack?: readonly string[];
  readonly unmanaged?: true;
  readonly format: Format;
  readonly out?: string;
}

/** What `drift --ignore --format json` writes: a contract with scripts (docs/drift.md). */
export const ignoreResultSchema = z.object({
  /** Of several: the names, with commas between them. */
  stack: z.string(),
  /** From the folder of the command. */
  file: z.string(),
  /** Those that were written, each with its path in the file. */
  entries: z.array(toldEntry),
});

type IgnoreResult = z.infer<typeof ignoreResultSchema>;

/** In a program's folder: no editor needs the network for it. */
const SCHEMA = "./node_modules/pulumi-svc/svc-drift.schema.json";

/**
 * Writes to svc-drift.json that what differs now may differ, and returns the exit code.
 * @throws where that cannot be done, with a message for a person. Nothing is written then.
 */
export async function ignore(flags: IgnoreFlags): Promise<number> {
  const { stack: names = [], unmanaged = false, format, out } = flags;
  const path = ignoreFilePath(process.cwd());
  if (path === undefined)
    throw new Error("no Pulumi.yaml in this folder or above, and svc-drift.json belongs beside it");
  // First: where it is wrong, nothing is asked.
  readIgnoreFile();
  const stacks = await refreshedStacks(names, unmanaged);
  const found = {
    resources: stacks.flatMap(({ resources }) => resources),
    objects: unmanaged ? (await unmanagedObjects(stacks)).unmanaged : [],
  };
  // Again: the refresh took its time.
  const file = readIgnoreFile();
  const entries = newEntries(found, file, flags, new Date());
  const written = write(path, file.name, entries);
  const stack = [...new Set(found.resources.map(({ urn }) => stackOf(urn).stack))].toSorted().join(", ");
  const result = { stack, file: file.name, entries: written };
  if (out === undefined) process.stdout.write(render(result, format));
  else await writeFile(out, render(result, format));
  return 0;
}

interface Found {
  readonly resources: readonly Refreshed[];
  readonly objects: readonly Unmanaged[];
}

type NewEntry = ResourceEntry | UnmanagedEntry;

/**
 * An entry for each property that differs in the named resources, with the value found there, and for each named object.
 * What another entry of the file covers already is left to that.
 * @throws for all names at once of which nothing can be ignored.
 */
export function newEntries(
  { resources, objects }: Found,
  file: IgnoreFile,
  { ignore: wanted, reason, until, property, stack: names = [] }: Omit<IgnoreFlags, "format">,
  now: Date,
): NewEntry[] {
  const why = { reason, ...(until !== undefined && { until }) };
  const ids = new Set(objects.map(({ id }) => id));
  const isResource = (name: string) => resources.some(({ urn }) => urn === name || nameInUrn(urn) === name);
  const namedObjects = wanted.filter((name) => !isResource(name) && ids.has(name));
  const namedResources = wanted.filter((name) => !namedObjects.includes(name));
  // Also refuses a name of several resources.
  const chosen = namedResources.length === 0 ? [] : selected(resources, namedResources);
  const entries: NewEntry[] = chosen.flatMap(({ urn, drift }) => {
    // A name would hold for the other stacks, too, where something else is found.
    const resource = names.length > 1 || wanted.includes(urn) ? urn : nameInUrn(urn);
    const differing = drift?.properties.filter(({ path }) => covers(property, path)) ?? [];
    return differing.map((one) => ({
      resource,
      property: one.path,
      ...(isWritable(one) && { found: one.found }),
      ...why,
    }));
  });
  const named = objects.filter(({ id }) => namedObjects.includes(id));
  entries.push(...named.map(({ id, kind }) => ({ unmanaged: id, kind, ...why })));
  const kept = { ...file, entries: file.entries.filter((entry) => !entries.some((one) => isSameSubject(one, entry))) };
  // Of all resources: a name in the file that several of them have is refused here, too.
  const covered = judged(resources, named, kept, now);
  const isLeft = (entry: NewEntry): boolean =>
    "unmanaged" in entry
      ? covered.unmanaged.some(({ id, kind }) => id === entry.unmanaged && kind === entry.kind)
      : covered.drift.some(
          ({ urn, properties }) =>
            (entry.resource === urn || entry.resource === nameInUrn(urn)) &&
            properties.some(({ path }) => path === entry.property),
        );
  const wantedEntries = entries.filter(isLeft);
  const problems = chosen.flatMap((resource) => {
    const isOf = (entry: NewEntry) =>
      "resource" in entry && (entry.resource === resource.urn || entry.resource === nameInUrn(resource.urn));
    return wantedEntries.some(isOf) ? [] : [nothingToIgnore(resource, property, entries.some(isOf))];
  });
  for (const { id, kind } of named) {
    const isWanted = wantedEntries.some(
      (entry) => "unmanaged" in entry && entry.unmanaged === id && entry.kind === kind,
    );
    if (!isWanted) problems.push(`${kind} ${id} is tolerated already, by another entry of ${file.name}`);
  }
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return wantedEntries;
}

function nothingToIgnore({ urn, drift }: Refreshed, property: string | undefined, isCovered: boolean): string {
  const name = `"${nameInUrn(urn)}"`;
  if (drift === undefined) return `${name} is as declared, so there is nothing to ignore`;
  if (isCovered) return `what differs in ${name} is tolerated already, by another entry of svc-drift.json`;
  if (drift.change === "deleted")
    return `${name} was deleted, which cannot be ignored. Remove it from the program, or create it again with pulumi up --refresh`;
  if (drift.properties.length === 0)
    return `${name} has a change that pulumi up started and did not finish, which cannot be ignored. Run pulumi up`;
  const differing = drift.properties.map(({ path }) => path).join(", ");
  return `${name} does not differ in "${property ?? ""}". It differs in ${differing}`;
}

/**
 * Whether the file may hold the value found. It is committed, so more is left out than in a report: without `found` an
 * entry holds for any value. A setting with a dot in its name belongs to an application, which may keep anything there.
 */
function isWritable({ path, declared, found }: Property): boolean {
  if (found === null) return true;
  const isOfApplication = segmentsOf(path).some((name) => String(name).includes("."));
  const json = JSON.stringify(found);
  const hasAddressWithPassword = /:\/\/[^\s"/]*@/.test(json);
  const hasDottedKey = /"[^"]*\.[^"]*":/.test(json);
  return (
    !isOfApplication &&
    !hasAddressWithPassword &&
    !hasDottedKey &&
    ![declared, found].some(holdsSecret) &&
    !isSecretlyNamed(path, found)
  );
}

/** Whether one takes the place of the other. */
function isSameSubject(one: NewEntry, other: Entry): boolean {
  if ("rule" in other) return false;
  if ("unmanaged" in one || "unmanaged" in other) {
    return "unmanaged" in one && "unmanaged" in other && one.unmanaged === other.unmanaged && one.kind === other.kind;
  }
  const path = ({ property = "" }: ResourceEntry) => JSON.stringify(segmentsOf(property).map(String));
  return one.resource === other.resource && path(one) === path(other);
}

/** All at once: the file is replaced as a whole. Other entries stay as they are, and in their order. */
function write(path: string, name: string, entries: readonly NewEntry[]): ToldEntry[] {
  const isThere = existsSync(path);
  const text = isThere ? readFileSync(path, "utf8").replace(/^\uFEFF/, "") : "{}";
  // It was checked just before.
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
  // A link stays one.
  const target = isThere ? realpathSync(path) : path;
  const draft = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, `${JSON.stringify(whole, undefined, indent)}\n`, {
      flag: "wx",
      ...(isThere && { mode: statSync(target).mode }),
    });
    renameSync(draft, target);
  } catch (error) {
    const { code: reason, message } = error as NodeJS.ErrnoException; // of the file system
    throw new Error(`${name} could not be written: ${reason ?? message}`, { cause: error });
  } finally {
    rmSync(draft, { force: true });
  }
  return written;
}

function render(result: IgnoreResult, format: Format): string {
  if (format === "json") return `${terminalJson(result)}\n`;
  const { stack, file, entries } = result;
  const count = `${entries.length} ${entries.length === 1 ? "entry" : "entries"}`;
  const title = `${printable(file)}: ${count} for stack${stack.includes(",") ? "s" : ""} ${printable(stack)}`;
  const isOfResource = entries.some(({ resource }) => resource !== undefined);
  if (format === "text") {
    const advice = isOfResource ? ["", toleratedAdvice(REPAIR_COMMAND)] : [];
    return `${[title, ...aligned(entries.map(entryCells)), ...advice].join("\n")}\n`;
  }
  const rows = entries.map((entry) => entryCells(entry).map((cell) => code(cell)));
  const advice = isOfResource ? [toleratedAdvice(`\`${REPAIR_COMMAND}\``)] : [];
  return `${["## Tolerated drift", code(title), table(ENTRY_HEAD, rows), ...advice].join("\n\n")}\n`;
}
