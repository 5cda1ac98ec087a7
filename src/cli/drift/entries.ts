/** Functions for all entries of svc-drift.json: for drift, unmanaged objects and findings of the audit. */
import { dayOf } from "../../contract/expiry";
import { nameInUrn } from "../../contract/identifiers";
import type { Entry, IgnoreFile } from "./ignoreFile";
import { stackOf } from "./report";

/** An entry with its path in the file. */
export interface Numbered<One extends Entry = Entry> {
  readonly at: string;
  readonly entry: One;
}

/** The given entries, divided into valid today (UTC) and expired. */
export function countingEntries<One extends Entry>(
  { entries }: IgnoreFile,
  isInQuestion: (entry: Entry) => entry is One,
  now: Date,
): { valid: Numbered<One>[]; expired: Numbered<One>[] } {
  const today = dayOf(now);
  const isOver = ({ entry: { until } }: Numbered<One>): boolean => until !== undefined && until < today;
  const all = entries.flatMap((entry, index) => (isInQuestion(entry) ? [{ at: `ignore[${index}]`, entry }] : []));
  return { valid: all.filter((one) => !isOver(one)), expired: all.filter(isOver) };
}

/** For a report: the entry with its path. */
export const told = <One extends Entry>({ at, entry }: Numbered<One>) => ({ entry: at, ...entry });

/** For a report: the entry that covers something, and its reason. */
export const why = ({ at, entry: { reason, until } }: Numbered) => ({ entry: at, reason, until: until ?? null });

/** An entry names a resource by its name or by its URN. */
export const isAbout = (resource: string, urn: string): boolean => resource === urn || resource === nameInUrn(urn);

/** Whether an entry may refer to one of these stacks. A URN contains its stack; a name matches any stack. */
export function isOfStacks(resource: string, urns: readonly string[]): boolean {
  if (!resource.startsWith("urn:pulumi:")) return true;
  const { project, stack } = stackOf(resource);
  return urns.map(stackOf).some((other) => other.project === project && other.stack === stack);
}

/** The problem of an entry whose name matches several resources of a stack. */
export function ambiguity(at: string, resource: string, all: readonly string[]): string | undefined {
  // Each of several stacks may have a resource with this name.
  const urns = [...new Set(all.filter((urn) => isAbout(resource, urn)))];
  const ambiguous = urns.filter((urn) =>
    urns.some((other) => other !== urn && stackOf(other).stack === stackOf(urn).stack),
  );
  if (ambiguous.length === 0) return undefined;
  return `${at}.resource: "${resource}" is the name of several resources. Give the URN of one: ${ambiguous.join(", ")}`;
}
