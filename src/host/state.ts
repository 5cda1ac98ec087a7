/** What the state holds of a resource, and how it is read back. What has been stored once is read for ever. */
import { isSecret } from "../contract/engineSecrets";
import { clean, containsUnknown, namesIn, visible, type Properties } from "../contract/hiddenKeys";
import { firstShown } from "../contract/watched";
import { compare, isOfType, isPlain, specEntries, specOf, type Comparison } from "./arguments";
import { isDigest } from "./digests";
import type { Hosted } from "./session";
import type { Lifecycle, Stored } from "./lifecycle";
import { compareValues, type Applied, type SecretValues } from "./references";

/** What this host notes in the outs beside the outputs and the arguments. */
export interface Marks {
  /** The names of the managed arguments: those that the program gives. */
  readonly __args?: readonly string[];
  /** The shape of the outs: 1 of all kinds so far. A lookup (`get`) has none. */
  readonly __version?: number;
  /** The last create or update (its value) was not finished. No words of the service: they may repeat a secret. */
  readonly __unfinished?: string;
  /** Beside `__unfinished`: the names of the arguments that it had sent. Older states lack it, and so do some kinds. */
  readonly __sent?: readonly string[];
  /** Of arguments that are references: the digests of the values that were last applied, by path. Secret in the state. */
  readonly __applied?: Applied;
  // And `__first`: contract/watched.ts.
}

export type Unfinished = Pick<Marks, "__unfinished" | "__sent">;

/** Those that are what they should be: somebody may have edited the state. */
export function marksOf({ __args, __version, __unfinished, __sent, __applied }: Properties): Marks {
  return {
    ...(Array.isArray(__args) && { __args: namesIn(__args) }),
    ...(typeof __version === "number" && { __version }),
    ...(typeof __unfinished === "string" && { __unfinished }),
    ...(Array.isArray(__sent) && { __sent: namesIn(__sent) }),
    ...(isPlain(__applied) && { __applied: digestsIn(__applied) }),
  };
}

function digestsIn(applied: Properties): Applied {
  // What has not passed the engine is still marked.
  const { value } = applied;
  const digests = isSecret(applied) && isPlain(value) ? value : applied;
  // Just looked at.
  return Object.fromEntries(Object.entries(digests).filter(([, text]) => isDigest(text))) as Applied;
}

/** The outs of an object, for the state. `before`: those of the state; `carried`: what the door stores with them. */
export function toOuts(
  { kind }: Pick<Lifecycle<never, never>, "kind">,
  what: {
    outputs: object;
    args: object;
    carried: Properties;
    before: Properties;
    applied?: Applied;
    unfinished?: Unfinished;
  },
): Properties {
  const { outputs, args, carried, before, applied = {}, unfinished } = what;
  const first = firstShown(kind, before, { ...outputs });
  return clean({
    ...outputs,
    ...args,
    ...carried,
    __args: Object.keys(args).sort(),
    __version: 1,
    ...(Object.keys(applied).length > 0 && { __applied: applied }),
    ...(Object.keys(first).length > 0 && { __first: first }),
    ...unfinished,
  });
}

/** What the state holds of an object. What somebody has edited in it counts as not stored. */
export function storedFrom<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  id: string,
  outs: Properties,
): Stored<Args, Outputs> {
  const { __args, __unfinished, __sent } = marksOf(outs);
  const kept = Object.entries(visible(outs)).filter((entry) => !isEdited(resource, entry));
  return {
    id,
    // What this provider returned earlier, through the JSON of the state.
    outs: Object.fromEntries(kept) as Partial<Outputs & Args>,
    managed: new Set(__args),
    unfinished: __unfinished !== undefined,
    sent: __sent && new Set(__sent),
  };
}

/** Before anything is sent that depends on the state. A read takes everything from the service. */
export function refuseEdited<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  outs: Properties,
): void {
  const edited = Object.entries(visible(outs)).filter((entry) => isEdited(resource, entry));
  if (edited.length === 0) return;
  const names = edited.map(([name]) => `"${name}"`).join(", ");
  throw new Error(
    `the state has a value of the wrong type for ${names}: it was edited by hand. ` +
      "Nothing was sent. Run pulumi refresh, which reads it from the service",
  );
}

/** What the program's arguments change in an object. */
export function compareWith<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  { id, outs, managed }: Stored<Args, Outputs>,
  news: Properties,
): Comparison<Args> {
  const { args: specs } = resource;
  // Every resource of a program has an argument. Where none is named (an import), all that is known is taken for managed.
  const known = managed.size > 0 ? managed : new Set(Object.keys(outs).filter((name) => specOf(specs, name)));
  const changes = compare(specs, { outs: outs as Properties, managed: known, news });
  const other = resource.mismatched?.(id, news as Partial<Args>);
  if (other === undefined) return changes;
  return { ...changes, changed: new Set([...changes.changed, other]), replaces: new Set([...changes.replaces, other]) };
}

/**
 * The same for a program that runs, with what its references stand for. One that is only given in another form, with the value
 * that was last applied, is in `added`: nothing is to be sent of it.
 */
export async function compareWithValues<Args extends object, Outputs extends object>(
  { resource, session }: Hosted<Args, Outputs>,
  stored: Stored<Args, Outputs>,
  {
    urn = "",
    outs,
    news,
    values,
  }: { urn: string | undefined; outs: Properties; news: Properties; values: SecretValues },
) {
  const { __applied: applied = {} } = marksOf(outs);
  const about = { rules: resource.args, values, digests: session.digests };
  const ignored = session.memory.checked.get(urn)?.ignored ?? [];
  const object = { kind: resource.kind, id: stored.id };
  const compared = await compareValues(about, { object, outs: stored.outs as Properties, applied, news, ignored });
  const changes = compareWith(resource, { ...stored, outs: compared.outs as typeof stored.outs }, news);
  const other = [...compared.sameValue, ...compared.lacking] as (keyof Args & string)[];
  const added = new Set([...changes.added, ...other.filter((name) => !changes.changed.has(name))]);
  const needed: ReadonlySet<string> = new Set([...sentNames(resource, stored, changes, news), ...compared.lacking]);
  // What is sent although its change is ignored was not compared: its digest is made anew.
  const holding = Object.entries(compared.applied).filter(([path]) => !needed.has(compared.ignored.get(path) ?? ""));
  return { changes: { ...changes, added }, compared, needed, applied: Object.fromEntries(holding) };
}

/**
 * The arguments that an update sends whatever the service shows: those that change, and what an unfinished change had sent. What
 * is not known yet may turn out to be no change.
 */
function sentNames<Args extends object, Outputs extends object>(
  { args: specs }: Lifecycle<Args, Outputs>,
  { unfinished, sent }: Stored<Args, Outputs>,
  changes: Comparison<Args>,
  news: Properties,
): string[] {
  const changed = new Set([...changes.changed].filter((name) => !containsUnknown(news[name])));
  const isOpen = (name: string): boolean => unfinished && (sent?.has(name) ?? true);
  const isSending = changed.size > 0 || unfinished;
  return specEntries(specs)
    .filter(([name, { sentAlways = false }]) => changed.has(name) || isOpen(name) || (sentAlways && isSending))
    .map(([name]) => name);
}

/** An argument, or an output that tells which object it is, of a type that this provider stores nowhere. */
function isEdited<Args extends object, Outputs extends object>(
  { args, identity = [] }: Lifecycle<Args, Outputs>,
  [name, value]: [string, unknown],
): boolean {
  const spec = specOf(args, name);
  return spec === undefined ? identity.includes(name) && typeof value !== "string" : !isOfType(spec.schema, value);
}
