/** The files svc-drift.json of several programs. */
import type { IgnoreFile } from "../drift/ignoreFile";
import type { Report, ToldEntry, Unmanaged } from "../drift/report";
import { judged } from "../drift/tolerated";

/** An entry is told with its file. */
const inFile = ({ name }: IgnoreFile, entries: readonly ToldEntry[]): ToldEntry[] =>
  entries.map((one) => ({ ...one, entry: `${name} ${one.entry}` }));

/** Judges undeclared objects by the files of all programs: each project of the service may belong to any. */
export function judgedObjects(objects: readonly Unmanaged[], files: readonly IgnoreFile[], now: Date) {
  let unmanaged = [...objects];
  const toleratedUnmanaged: Report["toleratedUnmanaged"] = [];
  const expired: ToldEntry[] = [];
  const unused: ToldEntry[] = [];
  const isOfObjects = (entry: ToldEntry): boolean => entry.unmanaged !== undefined;
  for (const file of files) {
    const one = judged([], unmanaged, file, now);
    unmanaged = one.unmanaged;
    toleratedUnmanaged.push(...one.toleratedUnmanaged);
    expired.push(...inFile(file, one.expired.filter(isOfObjects)));
    unused.push(...inFile(file, one.unused.filter(isOfObjects)));
  }
  return { unmanaged, toleratedUnmanaged, expired, unused };
}

/** The entries that have expired, and those that match nothing in any stack of their program. */
export function entriesOfStacks(
  stacks: readonly { readonly file: IgnoreFile; readonly report: Report }[],
): Pick<Report, "expired" | "unused"> {
  const files = [...new Set(stacks.map(({ file }) => file))];
  const all = files.map((file) => {
    const reports = stacks.filter((one) => one.file === file).map(({ report }) => report);
    const used = new Set(reports.flatMap(({ tolerated }) => tolerated.map(({ entry }) => entry)));
    const unused = reports.flatMap((report) => report.unused).filter(({ entry }) => !used.has(entry));
    return {
      expired: inFile(file, once(reports.flatMap(({ expired }) => expired))),
      unused: inFile(file, once(unused)),
    };
  });
  return { expired: all.flatMap(({ expired }) => expired), unused: all.flatMap(({ unused }) => unused) };
}

/** Each stack tells the entries anew. */
const once = (entries: readonly ToldEntry[]): ToldEntry[] => [
  ...new Map(entries.map((one) => [one.entry, one])).values(),
];
