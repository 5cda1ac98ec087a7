import { driftReport, objectSections } from "../drift/driftReport";
import { EXIT } from "../exitCodes";
import type { CommandReport, Page } from "../report/commandReport";
import { columns, counted, joined, message, type Text, text, toned } from "../report/text";
import type { FleetReport, StackReport } from "./report";

/** The report of many stacks. */
export function fleetReport(report: FleetReport): CommandReport {
  const { stacks, unmanaged, withoutResources: others, fingerprint } = report;
  const unknown = unknowns(report);
  const isClean = stacks.every((one) => !hasDrift(one)) && unknown.length + unmanaged.length === 0;
  return {
    json: report,
    title: text`Drift of the fleet`,
    headline: toned(isClean ? "green" : "bold", summary(report)),
    sections: [
      { title: toned("red", text`Not known`), head: columns`what, reason`, rows: unknown },
      ...objectSections(report, text`Not declared in any of these stacks`),
    ],
    parts: stacks.filter(isTold).map(pageOf),
    footer: [
      ...(others.length > 0 ? [text`${others.length} more without a resource of pulumi-svc`] : []),
      costs(report),
    ],
    fingerprint: isClean ? undefined : fingerprint,
    exitCode: exitCode(report),
  };
}

/** What is not known comes first: the rest of the report is true, but not all. */
function exitCode({ stacks, notKnown, unmanaged, unmanagedNotKnown }: FleetReport): number {
  if (notKnown.length + unmanagedNotKnown.length > 0) return EXIT.failure;
  if (stacks.some(hasDrift)) return EXIT.drift;
  return unmanaged.length > 0 ? EXIT.undeclared : EXIT.done;
}

function summary({ stacks, notKnown, unmanaged, unmanagedNotKnown }: FleetReport): Text {
  const counts = [
    ...driftIn(stacks, notKnown.length > 0),
    ...(notKnown.length > 0 ? [text`${notKnown.length} not known`] : []),
    ...(unmanaged.length > 0 ? [text`${unmanaged.length} not declared`] : []),
    ...(unmanagedNotKnown.length > 0 ? [text`undeclared objects not known`] : []),
  ];
  return text`${counted(stacks.length + notKnown.length, "stack")}: ${joined(counts)}`;
}

/** Nothing is said of the stacks that are not known. */
function driftIn(stacks: readonly StackReport[], areSomeNotKnown: boolean): Text[] {
  const drifted = stacks.filter(hasDrift).length;
  if (drifted > 0) return [text`${drifted} drifted`];
  if (!areSomeNotKnown) return [text`no drift`];
  return stacks.length > 0 ? [text`no drift in ${stacks.length}`] : [];
}

const hasDrift = ({ drift }: StackReport): boolean => drift.length > 0;

/** The others are only counted. */
const isTold = (report: StackReport): boolean =>
  hasDrift(report) ||
  report.ignored.length + report.tolerated.length + report.expiredDomains.length + report.sharedObjects.length > 0;

const pageOf = (report: StackReport): Page => ({
  ...driftReport(report),
  title: toned("bold", text`${report.name}${report.since === null ? text`` : text`, since ${report.since}`}`),
});

const costs = ({ requests, seconds: { states, service } }: FleetReport): Text =>
  text`${requests} requests; ${tenths(states)} s for the states, ${tenths(service)} s for the service`;

const tenths = (seconds: number): number => Math.round(seconds * 10) / 10;

const unknowns = ({ notKnown, unmanagedNotKnown }: FleetReport): Text[][] => [
  ...notKnown.map(({ name, reason }) => [text`${name}`, message(reason)]),
  ...unmanagedNotKnown.map((reason) => [text`undeclared objects`, message(reason)]),
];
