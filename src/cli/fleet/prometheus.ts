import { CHANGE_WORDS } from "../drift/driftReport";
import { terminalText } from "../output";
import type { FleetReport } from "./report";

/** The text format of Prometheus, for the textfile collector of its node exporter or a push. */
export function toPrometheus(report: FleetReport): string {
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
