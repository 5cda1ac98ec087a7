/** Messages about an object that exists already, or no longer exists. */
import type { Finding } from "../../runtime/lifecycle";
import { effect, staysInTheWay } from "../../runtime/lookAhead";
import type { Left } from "../../runtime/run/plans";

/** The end of a message about an existing object, which may be the program's own. */
export const ALIAS_ADVICE =
  '; or, if you renamed the resource or its component, add an alias to its options: aliases: [{ name: "<old name>" }]; ' +
  'or, if pulumi up --replace or pulumi state taint replaces it, set "deleteBeforeReplace: true" in its options for that run';

/** For an object of a resource that is replaced, if another resource of the program declares it. */
export const keptNote = (what: string, { name }: Pick<Left, "name">): string =>
  `${what}, which "${name}" of this program had, is kept and managed here now`;

export const keptFinding = (what: string, { name }: Pick<Left, "name">): Finding =>
  effect(
    `${what}, which "${name}" of this program has now, is kept and managed here: it is neither created nor deleted`,
  );

/** For a replacement that may take over an existing object. */
export const adoptionNote = ({ adopt }: { adopt?: unknown }): string =>
  adopt === true ? '; with "adopt" it takes over an object that exists by then' : "";

export const goneError = (): Error => new Error("it no longer exists. Run pulumi up --refresh, which creates it again");

/** For the plan of an update. */
export const goneFinding = (what: string): Finding =>
  staysInTheWay(`${what} no longer exists. Run pulumi up --refresh, which creates it again`);

export const notListedAdvice = (thing: string): string =>
  `But the service does not list ${thing}. Lists can be out of date: run pulumi up again in a while, or delete it first`;

/** An interrupted `up` is usually followed by another one within this time. */
const MOST_LIKELY_OURS_MS = 86_400_000;

/** Whose an existing object may be. `createdAt`: omitted if its age is unknown. */
export const possibleOwner = (createdAt = ""): string =>
  Date.now() - Date.parse(createdAt) > MOST_LIKELY_OURS_MS
    ? " Another stack may manage it."
    : " An interrupted pulumi up may have created it, or another stack may manage it.";

const UNITS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** `, created 3 minutes ago` from an ISO 8601 timestamp; empty without one. */
export function createdAgo(createdAt = ""): string {
  const made = Date.parse(createdAt);
  if (Number.isNaN(made)) return "";
  const seconds = Math.max(0, Math.round((Date.now() - made) / 1_000));
  for (const [size, name] of UNITS) {
    const count = Math.floor(seconds / size);
    if (count > 0) return `, created ${count} ${name}${count === 1 ? "" : "s"} ago`;
  }
  return ", created just now";
}
