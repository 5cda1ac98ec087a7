/** The stored form of a resource, and how it is read back. Whatever has been stored stays readable for ever. */
import { isSecret } from "../contract/engineSecrets";
import { clean, containsUnknown, namesIn, visible, type Properties } from "../contract/hiddenKeys";
import { firstShown } from "../contract/watched";
import { compare, isOfType, isPlain, specEntries, specOf, type Comparison } from "./arguments";
import { mayBeOpen } from "./confirmed";
import { isDigest } from "./digests";
import { notSentBy } from "./ignored";
import type { Hosted } from "./session";
import type { Lifecycle, Stored } from "./lifecycle";
import { compareValues, type Applied, type SecretValues } from "./references";

/** What this host stores in the outs beside the outputs and the arguments. */
export interface Marks {
  /** The names of the managed arguments: those that the program gives. */
  readonly __args?: readonly string[];
  /** The version of the form of the outs: 1 for all kinds so far. A lookup (`get`) has none. */
  readonly __version?: number;
  /**
   * The last create or update (its value) was not finished. An update that only continues a creation is one, too.
   * Contains no text of the service, which may repeat a secret.
   */
  readonly __unfinished?: string;
  /** With `__unfinished`: the names of the arguments that it had sent. Older states and some kinds lack it. */
  readonly __sent?: readonly string[];
  /** What the service has added of its own right after a change (`Call.added`). Most states lack it. */
  readonly __added?: readonly string[];
  /** For arguments that are references: the digests of the values last applied, by path. Secret in the state. */
  readonly __applied?: Applied;
  // And `__first`: contract/watched.ts.
}

export type Unfinished = Pick<Marks, "__unfinished" | "__sent">;

/** The valid marks: the state may have been edited. */
export function marksOf({ __args, __version, __unfinished, __sent, __added, __applied }: Properties): Marks {
  return {
    ...(Array.isArray(__args) && { __args: namesIn(__args) }),
    ...(typeof __version === "number" && { __version }),
    ...(typeof __unfinished === "string" && { __unfinished }),
    ...(Array.isArray(__sent) && { __sent: namesIn(__sent) }),
    ...(Array.isArray(__added) && { __added: namesIn(__added) }),
    ...(isPlain(__applied) && { __applied: digestsIn(__applied) }),
  };
}

function digestsIn(applied: Properties): Applied {
  // Still marked if it has not passed through the engine.
  const { value } = applied;
  const digests = isSecret(applied) && isPlain(value) ? value : applied;
  // Just checked.
  return Object.fromEntries(Object.entries(digests).filter(([, text]) => isDigest(text))) as Applied;
}

/** The outs of an object, for the state. `before`: those in the state; `carried`: what the protocol stores with them. */
export function toOuts(
  { kind }: Pick<Lifecycle<never, never>, "kind">,
  what: {
    outputs: object;
    args: object;
    carried: Properties;
    before: Properties;
    applied?: Applied;
    added?: readonly string[];
    unfinished?: Unfinished;
  },
): Properties {
  const { outputs, args, carried, before, applied = {}, added = [], unfinished } = what;
  const first = firstShown(kind, before, { ...outputs });
  return clean({
    ...outputs,
    ...args,
    ...carried,
    __args: Object.keys(args).sort(),
    __version: 1,
    ...(Object.keys(applied).length > 0 && { __applied: applied }),
    ...(added.length > 0 && { __added: added }),
    ...(Object.keys(first).length > 0 && { __first: first }),
    ...unfinished,
  });
}

/** The stored object. An edited value counts as not stored. */
export function storedFrom<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  id: string,
  outs: Properties,
): Stored<Args, Outputs> {
  const { __args, __unfinished, __sent, __added = [] } = marksOf(outs);
  const kept = Object.entries(visible(outs)).filter((entry) => !isEdited(resource, entry));
  return {
    id,
    // This provider returned it earlier, and it passed through the JSON of the state.
    outs: Object.fromEntries(kept) as Partial<Outputs & Args>,
    managed: new Set(__args),
    // Of an edited state, an update: it continues less.
    unfinished: __unfinished !== undefined && (__unfinished === "create" ? "create" : "update"),
    sent: __sent && new Set(__sent),
    added: __added,
  };
}

/** Called before a request that depends on the state. A read takes everything from the service. */
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
  ignored: readonly string[] = [],
): Comparison<Args> {
  const { args: specs } = resource;
  // Every resource of a program has an argument. If none is named (an import), all known arguments count as managed.
  const known = managed.size > 0 ? managed : new Set(Object.keys(outs).filter((name) => specOf(specs, name)));
  const changes = compare(specs, { outs: outs as Properties, managed: known, news, ignored });
  const other = resource.mismatched?.(id, news as Partial<Args>);
  if (other === undefined) return changes;
  return { ...changes, changed: new Set([...changes.changed, other]), replaces: new Set([...changes.replaces, other]) };
}

/**
 * The same for a running program, with the values of its references. An argument that is only given in another form,
 * with the value last applied, is in `added`: it is not sent.
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
  const paths = session.memory.claims.checked.get(urn)?.ignored ?? [];
  const ignored = notSentBy(stored, { ignored: paths });
  const object = { kind: resource.kind, id: stored.id };
  const compared = await compareValues(about, { object, outs: stored.outs as Properties, applied, news, ignored });
  const changes = compareWith(resource, { ...stored, outs: compared.outs as typeof stored.outs }, news, paths);
  const other = [...compared.sameValue, ...compared.lacking] as (keyof Args & string)[];
  const added = new Set([...changes.added, ...other.filter((name) => !changes.changed.has(name))]);
  const needed: ReadonlySet<string> = new Set([...sentNames(resource, stored, changes, news), ...compared.lacking]);
  return { changes: { ...changes, added }, compared, needed, applied: compared.applied };
}

/**
 * The arguments that an update sends regardless of what the service shows: those that change, and those that an
 * unfinished change had sent. A value that is still unknown may turn out to be unchanged.
 */
function sentNames<Args extends object, Outputs extends object>(
  { args: specs }: Lifecycle<Args, Outputs>,
  stored: Stored<Args, Outputs>,
  changes: Comparison<Args>,
  news: Properties,
): string[] {
  const changed = new Set([...changes.changed].filter((name) => !containsUnknown(news[name])));
  const isSending = changed.size > 0 || stored.unfinished !== false;
  return specEntries(specs)
    .filter(
      ([name, { sentAlways = false }]) => changed.has(name) || mayBeOpen(stored, name) || (sentAlways && isSending),
    )
    .map(([name]) => name);
}

/** Whether an argument, or an output that identifies the object, has a type that this provider never stores. */
function isEdited<Args extends object, Outputs extends object>(
  { args, identity = [] }: Lifecycle<Args, Outputs>,
  [name, value]: [string, unknown],
): boolean {
  const spec = specOf(args, name);
  return spec === undefined ? identity.includes(name) && typeof value !== "string" : !isOfType(spec.schema, value);
}
