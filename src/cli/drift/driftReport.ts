import type { CommandReport, Item, Section } from "../report/commandReport";
import { columns, counted, joined, message, type Text, text, type Tone, toned, word } from "../report/text";
import { objectsText, removalOf } from "../stack/sharedObjects";
import { EXIT } from "../exitCodes";
import { IGNORE_FILE } from "./ignoreFile";
import {
  type Drifted,
  type Ignored,
  isBeyondRepair,
  isLeftToProgram,
  type Property,
  type Report,
  stackOf,
  type ToldEntry,
  unfinishedText,
  type Unmanaged,
} from "./report";

/** The report of one check, of one stack or several. */
export function driftReport(report: Report): CommandReport {
  const { stack, drift, ignored, tolerated, unmanaged } = report;
  const isClean = drift.length + unmanaged.length === 0;
  return {
    json: report,
    title: text`Drift`,
    headline: toned(isClean ? "green" : "bold", summary(report)),
    sections: [
      { head: PROPERTIES, items: drift.map((one) => driftedItem(report, one)) },
      { lines: isRepairable(drift) ? ANSWERS : [] },
      {
        title: toned("dim", text`Not drift: covered by ignoreChanges`),
        head: PROPERTIES,
        items: ignored.map((one) => itemIn(report, one)),
      },
      {
        title: toned("dim", text`Not drift: tolerated by ${FILE}`),
        head: PROPERTIES,
        items: tolerated.map((one) => ({
          ...itemIn(report, one),
          notes: [text`reason: ${reasonOf(one)}`],
          repair: repairOf(one),
        })),
      },
      { lines: isRepairable(tolerated) ? [TOLERATED_ADVICE] : [] },
      {
        title: toned("yellow", text`Not drift: redirect domains whose day has come. Remove them from the program`),
        head: columns`resource, domain, expired`,
        rows: report.expiredDomains.map((one) => [
          subjectIn(report, one),
          text`${one.domain}`,
          text`since ${one.expiresOn}`,
        ]),
      },
      {
        title: toned("yellow", SHARED_OBJECTS),
        head: columns`object, resource, id, to remove it`,
        items: report.sharedObjects.map(({ resources, ...shared }) => ({
          subject: text`${objectsText(shared)}`,
          rows: resources.map((one) => [subjectIn(report, one), text`${one.id}`, message(removalOf(one))]),
        })),
      },
      ...objectSections(
        report,
        isOfSeveral(stack) ? text`Not declared in any of these stacks` : text`Not declared in this stack`,
      ),
    ],
    fingerprint: isClean ? undefined : report.fingerprint,
    exitCode: exitCode(report),
  };
}

function exitCode({ drift, unmanaged }: Report): number {
  if (drift.length > 0) return EXIT.drift;
  return unmanaged.length > 0 ? EXIT.undeclared : EXIT.done;
}

const CHANGES: Readonly<Record<Drifted["change"], Text>> = {
  changed: text`changed`,
  deleted: text`deleted`,
  leftover: text`left over from a replacement`,
  unfinished: text`unfinished`,
};
export const CHANGE_WORDS = Object.keys(CHANGES) as Drifted["change"][]; // The keys of the table above.

const FILE = word(IGNORE_FILE);
const PROPERTIES = columns`resource, property, declared, found`;
const NOT_SET = "not set";
const NOT_THERE = "not in the list";
const REPAIR_COMMAND = "pulumi up --refresh";

const SHARED_OBJECTS = text`Held by several resources of one stack, so that each can change and delete it for the others. Remove from the state what the program does not declare, which deletes nothing at the service`;

/** How to respond to drift. */
const ANSWERS = [
  text`${REPAIR_COMMAND} repairs this. It also deploys pending changes of the program.`,
  text`${"pulumi-svc drift --repair"} repairs this alone, ${"--accept"} edits the program, ${"--ignore"} tolerates it.`,
];
export const TOLERATED_ADVICE = text`${REPAIR_COMMAND} also repairs what is tolerated. To keep it, name the property in ignoreChanges of the resource.`;

function summary(report: Report): Text {
  const { stack, drift, expiredDomains } = report;
  const part = (count: number, what: Text): Text[] => (count > 0 ? [text`${count} ${what}`] : []);
  const counts = [
    ...CHANGE_WORDS.flatMap((change) => part(drift.filter((one) => one.change === change).length, CHANGES[change])),
    ...(drift.length === 0 ? [text`no drift`] : []),
    ...part(report.unmanaged.length, text`not declared`),
    ...part(report.tolerated.length + report.toleratedUnmanaged.length, text`tolerated`),
    ...(expiredDomains.length > 0 ? [counted(expiredDomains.length, "expired domain")] : []),
    ...part(report.sharedObjects.length, text`held by several resources`),
  ];
  return text`${isOfSeveral(stack) ? text`Stacks` : text`Stack`} ${stack}: ${joined(counts)}`;
}

type Of = Pick<Report, "stack">;

/** With its stack only if the report covers several. */
function subjectIn({ stack: all }: Of, { urn, kind, name }: Pick<Drifted, "urn" | "kind" | "name">): Text {
  const { stack } = stackOf(urn);
  return text`${word(kind)} ${name}${stack === all ? text`` : text` of stack ${stack}`}`;
}

const itemIn = (report: Of, one: Ignored): Item => ({
  subject: subjectIn(report, one),
  id: text`${one.id}`,
  rows: one.properties.flatMap(rowsOf),
});

export function driftedItem(report: Of, one: Drifted): Item {
  const item = itemIn(report, one);
  const subject = toned(one.change === "deleted" ? "red" : "yellow", item.subject);
  return { ...item, subject, state: CHANGES[one.change], remark: remarkOf(one), repair: repairOf(one) };
}

/** What a resource is about beside its properties: an unfinished change, or one that the engine updates all the same. */
function remarkOf({ change, properties, unfinished }: Drifted): Text | undefined {
  if (unfinished !== undefined) return message(unfinishedText(unfinished));
  if (change !== "changed" || properties.length > 0) return undefined;
  return text`no property differs, but pulumi up has to update it`;
}

type Repaired = Pick<Drifted, "kind" | "properties" | "repair" | "unfinished">;

/** Whether anything can be repaired. The other entries explain what to do themselves. */
const isRepairable = (resources: readonly Repaired[]): boolean =>
  resources.some((one) => !isBeyondRepair(one) && !isLeftToProgram(one));

function repairOf(resource: Repaired): NonNullable<Item["repair"]> {
  const { action, restarts, messages } = resource.repair;
  const planned = restarts ? text`${word(action)}, which restarts the compute` : word(action);
  const line = isLeftToProgram(resource) ? text`by pulumi up only` : isBeyondRepair(resource) ? text`none` : planned;
  return { line, details: messages.map(message) };
}

/** Path, declared, found. For two lists: a row for each element that is in one of them only. */
function rowsOf({ path, declared, found }: Property): Text[][] {
  const row = (before: string, after: string): Text[] => [text`${path}`, text`${before}`, text`${after}`];
  const whole = [row(valueText(declared), valueText(found))];
  if (!Array.isArray(declared) || !Array.isArray(found)) return whole;
  const [before, after] = [declared.map(valueText), found.map(valueText)];
  const rows = [
    ...before.filter((one) => !after.includes(one)).map((one) => row(one, NOT_THERE)),
    ...after.filter((one) => !before.includes(one)).map((one) => row(NOT_THERE, one)),
  ];
  return rows.length > 0 ? rows : whole;
}

export const valueText = (value: Property["found"]): string => (value === null ? NOT_SET : JSON.stringify(value));

/** What a report has beside the drift of resources. */
type Objects = Pick<Report, "unmanaged" | "toleratedUnmanaged" | "byItself" | "expired" | "unused">;

/** The undeclared objects, and the entries of the file. `title`: of the undeclared ones. */
export function objectSections(
  { unmanaged, toleratedUnmanaged, byItself, ...entries }: Objects,
  title: Text,
): Section[] {
  const cells = ({ kind, id, describe }: Unmanaged): Text[] => [text`${word(kind)} ${id}`, text`${describe}`];
  const adoptable = (tone: Tone, head: Text, objects: readonly Unmanaged[]): Section => ({
    title: toned(tone, head),
    head: columns`object, what it is, to manage it`,
    rows: objects.map((one) => [...cells(one), text`${one.adopt}`]),
  });
  return [
    adoptable("yellow", title, unmanaged),
    {
      title: toned("dim", text`Not declared, and tolerated by ${FILE}`),
      head: columns`object, what it is, reason`,
      rows: toleratedUnmanaged.map((one) => [...cells(one), reasonOf(one)]),
    },
    adoptable("dim", text`Not drift: a new project has these by default`, byItself),
    ...entrySections({ expired: entries.expired.map(entryCells), unused: entries.unused.map(entryCells) }),
  ];
}

export const ENTRY_HEAD = columns`entry, what it is about, reason`;

/** The entries of the file that have no effect. */
export const entrySections = ({ expired, unused }: Readonly<Record<"expired" | "unused", Text[][]>>): Section[] => [
  {
    title: toned("yellow", text`Entries of ${FILE} that have expired and have no effect`),
    head: ENTRY_HEAD,
    rows: expired,
  },
  { title: toned("dim", text`Entries of ${FILE} that match nothing now`), head: ENTRY_HEAD, rows: unused },
];

export const entryCells = (one: ToldEntry): Text[] => [text`${one.entry}`, text`${subjectOf(one)}`, reasonOf(one)];

/** The subject of an entry. */
function subjectOf({ resource, property, found, unmanaged, kind }: ToldEntry): string {
  if (unmanaged !== undefined) return kind === undefined ? unmanaged : `${kind} ${unmanaged}`;
  const value = found === undefined ? [] : [`found ${valueText(found)}`];
  return [resource ?? "", ...(property === undefined ? [] : [property]), ...value].join(" ");
}

type Reason = Pick<ToldEntry, "reason"> & { readonly until?: string | null | undefined };

export const reasonOf = ({ reason = "", until }: Reason): Text =>
  message(until === undefined || until === null ? reason : `${reason} (until ${until})`);

/** The name of a stack contains no comma. */
export const isOfSeveral = (stack: string): boolean => stack.includes(",");
