import { terminalJson, terminalText } from "../output";
import {
  aligned,
  CHANGE_WORDS,
  code,
  colourful,
  objectBlocks,
  objectLines,
  plain,
  printable,
  render as renderStack,
  type Style,
  table,
} from "../drift/formats";
import type { FleetReport, StackReport } from "./report";

export const FLEET_FORMATS = ["text", "json", "markdown", "prometheus"] as const;
export type FleetFormat = (typeof FLEET_FORMATS)[number];

const NOT_DECLARED = "Not declared in any of these stacks";
const NOT_KNOWN = "Not known";
const LONGEST_REASON = 2_000;

/** `colours`: for a terminal. */
export function render(report: FleetReport, format: FleetFormat, colours = false): string {
  switch (format) {
    case "json":
      return `${terminalJson(report)}\n`;
    case "markdown":
      return toMarkdown(report);
    case "prometheus":
      return toPrometheus(report);
    case "text":
      return toText(report, colours ? colourful : plain);
  }
}

/** The result as one line. */
export function summary({ stacks, notKnown, unmanaged, unmanagedNotKnown }: FleetReport): string {
  const all = stacks.length + notKnown.length;
  const counts = [
    ...driftIn(stacks, notKnown.length > 0),
    ...(notKnown.length > 0 ? [`${notKnown.length} not known`] : []),
    ...(unmanaged.length > 0 ? [`${unmanaged.length} not declared`] : []),
    ...(unmanagedNotKnown.length > 0 ? ["undeclared objects not known"] : []),
  ];
  return `${all} stack${all === 1 ? "" : "s"}: ${counts.join(", ")}`;
}

/** Nothing is said of the stacks that are not known. */
function driftIn(stacks: readonly StackReport[], areSomeNotKnown: boolean): string[] {
  const drifted = stacks.filter(hasDrift).length;
  if (drifted > 0) return [`${drifted} drifted`];
  if (!areSomeNotKnown) return ["no drift"];
  return stacks.length > 0 ? [`no drift in ${stacks.length}`] : [];
}

const hasDrift = ({ drift }: StackReport): boolean => drift.length > 0;
/** The others are only counted. */
const isTold = (report: StackReport): boolean =>
  hasDrift(report) ||
  report.ignored.length + report.tolerated.length + report.expiredDomains.length + report.sharedObjects.length > 0;

function costs({ requests, seconds: { states, service } }: FleetReport): string {
  return `${requests} requests; ${states.toFixed(1)} s for the states, ${service.toFixed(1)} s for the service`;
}

function unknowns({ notKnown, unmanagedNotKnown }: FleetReport): string[][] {
  return [
    ...notKnown.map(({ name, reason }) => [name, reason]),
    ...unmanagedNotKnown.map((reason) => ["undeclared objects", reason]),
  ];
}

const withoutResources = (names: readonly string[]): string => `${names.length} more without a resource of pulumi-svc`;

function toText(report: FleetReport, style: Style): string {
  const { stacks, withoutResources: others, fingerprint } = report;
  const isClean = stacks.every((one) => !hasDrift(one)) && unknowns(report).length + report.unmanaged.length === 0;
  const lines = [style(isClean ? "green" : "bold", summary(report))];
  for (const one of stacks.filter(isTold)) {
    const since = one.since === null ? "" : `, since ${one.since}`;
    lines.push("", style("bold", `${printable(one.name)}${since}`));
    // Its own colours depend on the same terminal.
    lines.push(renderStack(one, "text", style === colourful).trimEnd());
  }
  const rows = unknowns(report);
  if (rows.length > 0)
    lines.push("", style("red", NOT_KNOWN), ...aligned(rows.map(([what = "", why = ""]) => [what, "", why])));
  lines.push(...objectLines(report, NOT_DECLARED, style), "");
  if (others.length > 0) lines.push(style("dim", withoutResources(others)));
  lines.push(style("dim", costs(report)));
  if (!isClean) lines.push(style("dim", `fingerprint ${printable(fingerprint)}`));
  return `${lines.join("\n")}\n`;
}

function toMarkdown(report: FleetReport): string {
  const { stacks, withoutResources: others, fingerprint } = report;
  const blocks = ["## Drift of the fleet", code(summary(report))];
  const rows = unknowns(report).map((row) => row.map((cell) => code(cell, LONGEST_REASON)));
  if (rows.length > 0) blocks.push(`### ${NOT_KNOWN}`, table(["What", "Reason"], rows));
  blocks.push(...objectBlocks(report, NOT_DECLARED));
  for (const one of stacks.filter(isTold)) {
    const since = one.since === null ? "" : ` since ${code(one.since)}`;
    blocks.push(
      `## ${code(one.name)}${since}`,
      renderStack(one, "markdown")
        .replace(/^## Drift\n\n/, "")
        .trimEnd(),
    );
  }
  if (others.length > 0) blocks.push(withoutResources(others));
  blocks.push(`${costs(report)}. Fingerprint of all ${code(fingerprint)}`);
  return `${blocks.join("\n\n")}\n`;
}

/** The text format of Prometheus, for the textfile collector of its node exporter or a push. */
function toPrometheus(report: FleetReport): string {
  const { stacks, notKnown, requests, seconds, checkedAt, unmanaged, unmanagedChecked } = report;
  const known = stacks.map((one) => ({ of: { stack: one.name, project: one.project }, one }));
  return [
    ...metric(
      "svc_drift",
      "Resources of the stack that drifted, by what happened to them.",
      known.flatMap(({ of, one }) =>
        CHANGE_WORDS.map((change) => [
          { ...of, change },
          one.drift.filter((drifted) => drifted.change === change).length,
        ]),
      ),
    ),
    ...metric(
      "svc_drift_since_seconds",
      "When the present drift of the stack was first reported, as Unix time.",
      known.flatMap(({ of, one }) => (one.since === null ? [] : [[of, Date.parse(one.since) / 1_000]])),
    ),
    ...metric(
      "svc_drift_tolerated",
      "Resources of the stack whose differences svc-drift.json covers.",
      known.map(({ of, one }) => [of, one.tolerated.length]),
    ),
    ...metric("svc_drift_known", "1: the stack was checked. 0: nothing is known about it.", [
      ...known.map(({ of }) => [{ stack: of.stack }, 1] as const),
      ...notKnown.map(({ name }) => [{ stack: name }, 0] as const),
    ]),
    ...metric(
      "svc_unmanaged",
      "Objects that no stack declares. Absent if that was not checked.",
      unmanagedChecked ? [[{}, unmanaged.length]] : [],
    ),
    ...metric("svc_drift_requests", "Requests to the service for this check.", [[{}, requests]]),
    ...metric("svc_drift_duration_seconds", "How long this check took, by part.", [
      [{ part: "states" }, seconds.states],
      [{ part: "service" }, seconds.service],
    ]),
    ...metric("svc_drift_checked_seconds", "When this check began, as Unix time.", [
      [{}, Date.parse(checkedAt) / 1_000],
    ]),
  ].join("");
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

function metric(name: string, help: string, samples: readonly Sample[]): string[] {
  if (samples.length === 0) return [];
  const lines = samples.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${labelText(text)}"`);
    return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
  });
  return [`# HELP ${name} ${help}\n# TYPE ${name} gauge\n`, ...lines];
}

const labelText = (text: string): string => terminalText(text).replace(/[\\"]/g, (char) => `\\${char}`);
