import type { CommandReport } from "../report/commandReport";
import { joined, message, type Text, text, toned, word } from "../report/text";
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

export const OUTCOMES: Readonly<Record<Outcome, Text>> = {
  deleted: text`deleted`,
  gone: text`gone: somebody else has deleted it`,
  left: text`not deleted`,
  unknown: text`not known whether it is deleted`,
};

const FROM: Readonly<Record<AddressSource, Text>> = {
  state: text`as the states store it`,
  configuration: text`from the configuration of the stack in this folder, not from a state`,
  environment: text`from SVC_BASE_URL, not from a state`,
};

export function sweepReport(report: SweepReport, exitCode: number): CommandReport {
  const { leftBehind, kept, messages, services } = report;
  const cells = ({ kind, id, describe, service, branch, createdAt }: ToldObject, last: readonly Text[]): Text[] => [
    text`${word(kind)} ${id}`,
    services.length > 1 ? text`${describe}, at ${service}` : text`${describe}`,
    joined([
      ...(branch === null ? [] : [text`branch ${branch}`]),
      ...(createdAt === null ? [] : [text`created ${createdAt}`]),
      ...last,
    ]),
  ];
  const outcome = ({ outcome, reason }: SweepReport["leftBehind"][number]): Text[] =>
    outcome === null ? [] : [reason === null ? OUTCOMES[outcome] : text`${OUTCOMES[outcome]}: ${message(reason)}`];
  const isClean = leftBehind.length === 0;
  return {
    json: report,
    title: text`Left behind`,
    headline: isClean
      ? toned("green", text`Nothing that matches is left behind`)
      : toned("bold", text`Left behind: ${leftBehind.length}`),
    sections: [
      { rows: leftBehind.map((one) => cells(one, outcome(one))) },
      { lines: [...services.map(serviceLine), ...(isClean ? [] : basis(report))] },
      {
        title: toned("dim", text`Matches, and stays`),
        rows: kept.map((one) => cells(one, [message(one.reason)])),
      },
      { lines: messages.map((one) => toned("yellow", message(one))) },
    ],
    exitCode,
  };
}

const serviceLine = ({ service, from, projects }: SweepReport["services"][number]): Text =>
  text`Service: ${message(service)} (${FROM[from]}), projects: ${message(projects.join(", "))}`;

/** What any answer rests on: it stands before the question. */
const basis = ({ backend, stacks, locksNotSeen }: SweepReport): Text[] => [
  text`States that were read: ${stacks.length}, of the backend ${message(backend)}. None names these objects.`,
  text`Other backends, and stacks that this login does not show, are not seen: what only they hold looks left behind.`,
  ...(locksNotSeen === null ? [] : [text`${message(locksNotSeen)}.`]),
];
