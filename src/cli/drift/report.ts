import { createHash } from "node:crypto";
import { z } from "zod";
import { KINDS } from "../../contract/pointer";
import { referencesIn } from "../../contract/references";
import { isWatched } from "../../contract/watched";
import { compareText } from "../output";
import { resourceEntry, unmanagedEntry } from "./ignoreFile";

/** Replaces every secret. */
export const SECRET = "[secret]";

const kind = z.enum(KINDS);

const named = { urn: z.string(), kind, name: z.string(), id: z.string() };

/** `null`: not set. */
const properties = z.array(z.object({ path: z.string(), declared: z.json(), found: z.json() }));

const repair = z.object({
  action: z.enum(["update", "replace", "create", "delete"]),
  restarts: z.boolean(),
  messages: z.array(z.string()).readonly(),
});

/** What `pulumi up` began and did not finish. `sent`: the arguments that it had sent; null: the state does not say. */
const unfinished = z.object({ change: z.enum(["create", "update"]), sent: z.array(z.string()).nullable() });

const drifted = z.object({
  ...named,
  /** `leftover`: an object that a replacement could not delete. `unfinished`: of `pulumi up`, and nobody else's change. */
  change: z.enum(["changed", "deleted", "leftover", "unfinished"]),
  /** Of an unfinished update, without the arguments that it had sent: nobody else need have changed them. */
  properties,
  repair,
  // Also for what was deleted since.
  unfinished: unfinished.optional(),
});

const ignored = z.object({ ...named, properties });

/** Objects of the service that several resources of one state hold. */
const sharedObjects = z.object({
  objects: z.array(z.string()).readonly(),
  resources: z.array(z.object(named)).readonly(),
});

/** A redirect domain whose day has come. */
const expiredDomain = z.object({ ...named, domain: z.string(), expiresOn: z.string() });

const unmanaged = z.object({ kind, id: z.string(), describe: z.string(), adopt: z.string() });

/** From the entry of svc-drift.json: its path there, reason and last day. */
const covered = { entry: z.string(), reason: z.string(), until: z.string().nullable() };

/** What one entry covers of one resource. `repair`: what `up --refresh` still does with it. */
const tolerated = z.object({ ...named, properties, repair, ...covered });

const toleratedUnmanaged = z.object({ ...unmanaged.shape, ...covered });

/** An entry as in svc-drift.json, with its path there. */
export const toldEntry = z.object({
  entry: z.string(),
  ...resourceEntry.partial().shape,
  ...unmanagedEntry.partial().shape,
});

/** The output of `--format json` and the input of `--from`: a contract with scripts (docs/drift.md). */
export const reportSchema = z.object({
  /** For several stacks: their names, separated by commas. */
  stack: z.string(),
  drift: z.array(drifted),
  // Older reports do not have this list.
  ignored: z.array(ignored).default([]),
  tolerated: z.array(tolerated).default([]),
  unmanaged: z.array(unmanaged),
  toleratedUnmanaged: z.array(toleratedUnmanaged).default([]),
  byItself: z.array(unmanaged).default([]),
  expiredDomains: z.array(expiredDomain).default([]),
  sharedObjects: z.array(sharedObjects).default([]),
  /** Expired entries of svc-drift.json: they cover nothing. */
  expired: z.array(toldEntry).default([]),
  /** Entries of svc-drift.json that match nothing that was found. */
  unused: z.array(toldEntry).default([]),
  fingerprint: z.string(),
});

export const driftedSchema = drifted;
export type Drifted = z.infer<typeof drifted>;
export type Ignored = z.infer<typeof ignored>;
export type Property = Drifted["properties"][number];
export type ExpiredDomain = z.infer<typeof expiredDomain>;
export type Unmanaged = z.infer<typeof unmanaged>;
export type Tolerated = z.infer<typeof tolerated>;
/** An entry of svc-drift.json in a report. */
export type ToldEntry = z.infer<typeof toldEntry>;
export type Report = z.infer<typeof reportSchema>;

/** A secret by reference differs. Its value is not available, only a placeholder for it. */
export const isByReference = ({ declared }: Pick<Property, "declared">): boolean => referencesIn(declared).length > 0;

/** Only outputs differ, and no update restores those. */
export const isBeyondRepair = ({ kind, properties }: Pick<Ignored, "kind" | "properties">): boolean =>
  properties.length > 0 && properties.every(({ path }) => isWatched(kind, path));

/**
 * The state holds what was deployed before the update, and only the names of what the update had sent. Repairing that
 * would take the update back, so only the program can finish it.
 */
export const isLeftToProgram = ({ unfinished: open }: Pick<Drifted, "unfinished">): boolean =>
  open?.change === "update";

/** What is unfinished of the resource, as the end of a sentence. */
export function unfinishedText({ change, sent }: NonNullable<Drifted["unfinished"]>): string {
  if (change === "create") return "a creation of pulumi up is not finished";
  if (sent === null) return "an update of pulumi up is not finished, and the state does not say what it had sent";
  const names = sent.length === 0 ? "" : `, which had sent ${sent.map((name) => `"${name}"`).join(", ")}`;
  return `an update of pulumi up is not finished${names}`;
}

/** The findings of a report. Exit code and fingerprint depend only on the drift and the unmanaged objects. */
export type Findings = Omit<Report, "stack" | "fingerprint">;

/** `project`: the Pulumi project, because stacks of two projects may have the same name. */
export function toReport(project: string, stack: string, findings: Findings): Report {
  const {
    drift,
    ignored,
    tolerated,
    unmanaged,
    toleratedUnmanaged,
    byItself,
    expiredDomains,
    sharedObjects,
    expired,
    unused,
  } = findings;
  return {
    stack,
    drift: drift.toSorted(byUrn),
    ignored: ignored.toSorted(byUrn),
    tolerated: tolerated.toSorted(byUrn),
    unmanaged,
    toleratedUnmanaged,
    byItself,
    expiredDomains: expiredDomains.toSorted(byUrn),
    sharedObjects,
    expired,
    unused,
    fingerprint: fingerprint({ project, stack, drift, unmanaged }),
  };
}

/** `urn:pulumi:<stack>::<project>::<types>::<name>` */
export function stackOf(urn: string): { project: string; stack: string } {
  const [prefix = "", project = ""] = urn.split("::");
  return { project, stack: prefix.replace(/^urn:pulumi:/, "") };
}

/** A URN may occur twice, if a replaced object could not be deleted. */
export const byUrn = (left: Pick<Ignored, "urn" | "id">, right: Pick<Ignored, "urn" | "id">): number =>
  compareText(left.urn, right.urn) || compareText(left.id, right.id);

/**
 * The same for the same drift, independent of time and order. It leaves out the report's texts, which an upgrade may
 * change. It contains no secrets, because a report has none.
 */
export function fingerprint({
  project,
  stack,
  drift,
  unmanaged,
}: Pick<Report, "stack" | "drift" | "unmanaged"> & { readonly project: string }): string {
  const facts = {
    project,
    stack,
    drift: drift.map(({ urn, id, change, properties }) => ({ urn, id, change, properties })),
    unmanaged: unmanaged.map(({ kind, id }) => ({ kind, id })),
  };
  return createHash("sha256").update(canonical(facts)).digest("hex").slice(0, 32);
}

/** JSON in which the order of keys and list elements does not matter: the service's lists are sets. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).toSorted().join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([left], [right]) => compareText(left, right));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join()}}`;
}
