/** What holds for the entries of svc-drift.json, whatever they are about: drift, an object, a finding of the audit. */
import { nameInUrn } from "../../contract/identifiers";
import type { Entry, IgnoreFile } from "./ignoreFile";
import { stackOf } from "./report";

/** An entry with its path in the file. */
export interface Numbered<One extends Entry = Entry> {
  readonly at: string;
  readonly entry: One;
}

/** Those in question that count today (UTC), and those whose last day is over. */
export function countingEntries<One extends Entry>(
  { entries }: IgnoreFile,
  isInQuestion: (entry: Entry) => entry is One,
  now: Date,
): { valid: Numbered<One>[]; expired: Numbered<One>[] } {
  const today = now.toISOString().slice(0, 10);
  const isOver = ({ entry: { until } }: Numbered<One>): boolean => until !== undefined && until < today;
  const all = entries.flatMap((entry, index) => (isInQuestion(entry) ? [{ at: `ignore[${index}]`, entry }] : []));
  return { valid: all.filter((one) => !isOver(one)), expired: all.filter(isOver) };
}

/** For a report: the entry with its path. */
export const told = <One extends Entry>({ at, entry }: Numbered<One>) => ({ entry: at, ...entry });

/** For a report: by which entry something is covered, and why. */
export const why = ({ at, entry: { reason, until } }: Numbered) => ({ entry: at, reason, until: until ?? null });

/** An entry names a resource by its name or by its URN. */
export const isAbout = (resource: string, urn: string): boolean => resource === urn || resource === nameInUrn(urn);

/** Whether an entry may be about one of these stacks: a URN names its stack, a name is one of any stack. */
export function isOfStacks(resource: string, urns: readonly string[]): boolean {
  if (!resource.startsWith("urn:pulumi:")) return true;
  const { project, stack } = stackOf(resource);
  return urns.map(stackOf).some((other) => other.project === project && other.stack === stack);
}

/** What is wrong with an entry whose name several resources of a stack have. */
export function ambiguity(at: string, resource: string, all: readonly string[]): string | undefined {
  // In each of several stacks there may be one of this name.
  const urns = [...new Set(all.filter((urn) => isAbout(resource, urn)))];
  const ambiguous = urns.filter((urn) =>
    urns.some((other) => other !== urn && stackOf(other).stack === stackOf(urn).stack),
  );
  if (ambiguous.length === 0) return undefined;
  return `${at}.resource: "${resource}" is the name of several resources. Give the URN of one: ${ambiguous.join(", ")}`;
}
