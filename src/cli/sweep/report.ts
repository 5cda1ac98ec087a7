import { aligned, colourful, plain, type Style } from "../drift/formats";
import { terminalJson, terminalText } from "../output";
import { EXIT_BUSY } from "../stack/unfinished";
import type { Outcome, Result } from "./deletions";
import type { AddressSource, FoundObject, Place } from "./leftBehind";

interface ToldObject {
  readonly kind: FoundObject["object"]["kind"];
  /** As a resource for it would have. */
  readonly id: string;
  /** The address of the service. */
  readonly service: string;
  readonly describe: string;
  /** The name of its branch; null if it is not known, and for what is on no branch. */
  readonly branch: string | null;
  /** Null: the service does not show it. */
  readonly createdAt: string | null;
}

/** The output of `--json`: a contract with scripts (docs/sweep.md). */
export interface SweepReport {
  /** The backend whose states were read. */
  readonly backend: string;
  /** Why it is not known whether an update of a stack has begun; null: the locks were seen, and nobody holds one. */
  readonly locksNotSeen: string | null;
  readonly stacks: readonly string[];
  readonly projects: readonly string[];
  /** Where these projects are, and what says so. */
  readonly services: readonly {
    readonly service: string;
    readonly from: AddressSource;
    readonly projects: readonly string[];
  }[];
  /** `outcome`: null if no deletion was begun. */
  readonly leftBehind: readonly (ToldObject & { readonly outcome: Outcome | null; readonly reason: string | null })[];
  /** What matches and stays, and why. */
  readonly kept: readonly (ToldObject & { readonly reason: string })[];
  /** Why nothing was deleted, or not all. */
  readonly messages: readonly string[];
}

export const EXIT = { done: 0, failed: 1, notAsked: 2, leftBehind: 8, busy: EXIT_BUSY } as const;

const told = ({ object, place, leftover }: FoundObject): ToldObject => ({
  kind: object.kind,
  id: object.id,
  service: place.address,
  describe: object.describe,
  branch: leftover.branch ?? null,
  createdAt: leftover.createdAt ?? null,
});

function servicesOf(places: readonly Place[]): SweepReport["services"] {
  const byService = new Map<string, SweepReport["services"][number]>();
  for (const { address: service, addressFrom: from, projectId } of places) {
    const key = `${from} ${service}`;
    byService.set(key, { service, from, projects: [...(byService.get(key)?.projects ?? []), projectId] });
  }
  return [...byService.values()];
}

/** `results`: of the deletions, as far as they were begun. */
export const toReport = (
  facts: Pick<SweepReport, "backend" | "locksNotSeen" | "stacks" | "messages"> & { readonly places: readonly Place[] },
  found: readonly FoundObject[],
  results: ReadonlyMap<FoundObject, Result> = new Map(),
): SweepReport => ({
  backend: facts.backend,
  locksNotSeen: facts.locksNotSeen,
  stacks: facts.stacks,
  projects: facts.places.map(({ projectId }) => projectId),
  services: servicesOf(facts.places),
  messages: facts.messages,
  leftBehind: found
    .filter(({ kept }) => kept === undefined)
    .map((one) => ({
      ...told(one),
      outcome: results.get(one)?.outcome ?? null,
      reason: results.get(one)?.reason ?? null,
    })),
  kept: found.flatMap((one) => (one.kept === undefined ? [] : { ...told(one), reason: one.kept })),
});

export function render(report: SweepReport, { json, colours }: { json: boolean; colours: boolean }): string {
  return json ? `${terminalJson(report)}\n` : toText(report, colours ? colourful : plain);
}

export const OUTCOMES: Readonly<Record<Outcome, string>> = {
  deleted: "deleted",
  gone: "gone: somebody else has deleted it",
  left: "not deleted",
  unknown: "not known whether it is deleted",
};

const FROM: Readonly<Record<AddressSource, string>> = {
  state: "as the states store it",
  configuration: "from the configuration of the stack in this folder, not from a state",
  environment: "from SVC_BASE_URL, not from a state",
};

const serviceLines = ({ services }: SweepReport): string[] =>
  services.map(
    ({ service, from, projects }) =>
      `Service: ${terminalText(service)} (${FROM[from]}), projects: ${projects.join(", ")}`,
  );

/** What any answer rests on: it stands before the question. */
const basis = ({ backend, stacks, locksNotSeen }: SweepReport): string[] => [
  `States that were read: ${stacks.length}, of the backend ${terminalText(backend)}. None names these objects.`,
  "Other backends, and stacks that this login does not show, are not seen: what only they hold looks left behind.",
  ...(locksNotSeen === null ? [] : [`${terminalText(locksNotSeen)}.`]),
];

function toText(report: SweepReport, style: Style): string {
  const { leftBehind, kept, messages, services } = report;
  const cells = ({ kind, id, describe, service, branch, createdAt }: ToldObject, last: string): string[] => [
    `${kind} ${id}`,
    services.length > 1 ? `${describe}, at ${service}` : describe,
    [
      ...(branch === null ? [] : [`branch ${branch}`]),
      ...(createdAt === null ? [] : [`created ${createdAt}`]),
      ...(last === "" ? [] : [last]),
    ].join(", "),
  ];
  const outcome = ({ outcome, reason }: SweepReport["leftBehind"][number]): string =>
    outcome === null ? "" : OUTCOMES[outcome] + (reason === null ? "" : `: ${reason}`);
  const lines = [
    leftBehind.length === 0
      ? style("green", "Nothing that matches is left behind")
      : style("bold", `Left behind: ${leftBehind.length}`),
    ...aligned(leftBehind.map((one) => cells(one, outcome(one)))),
    "",
    ...serviceLines(report),
    ...(leftBehind.length === 0 ? [] : basis(report)),
    ...(kept.length === 0 ? [] : ["", style("dim", "Matches, and stays")]),
    ...aligned(kept.map((one) => cells(one, one.reason))),
    ...(messages.length === 0 ? [] : ["", ...messages.map((message) => style("yellow", terminalText(message)))]),
  ];
  return `${lines.join("\n")}\n`;
}
