import type { Kind } from "./pointer";

/**
 * What is known of an argument, but for its schema, which a program does not load. `{}`: optional and plain; values are
 * equal as JSON, and a changed one updates the object in place.
 */
export interface ArgumentRules<Value> {
  /** The argument has to be given. */
  readonly required?: true;
  /** Encrypted in the state, whatever the program wraps it in. */
  readonly secret?: true;
  /** Encrypted where the program does not give it: it may have given it as a secret before. */
  readonly secretUnlessGiven?: true;
  /** Every update that sends something sends it: the service takes the object as a whole. */
  readonly sentAlways?: true;
  /** It may be a secret by reference (references.ts), or each of the values in one part of it, such as `pgSettings`. */
  readonly reference?: true | { readonly valuesOf: string };
  /**
   * A change replaces the resource. `"container"`: the argument names what the object lives in, so a value that is not
   * known yet counts as a change too (docs/design/decisions.md, Replacing, moving, adopting).
   */
  readonly replaces?: true | "container";
  /** Whether two values that differ as JSON mean the same. A method, so that rules of any value are `ArgumentRules<unknown>`. */
  equal?(left: Value, right: Value): boolean;
  /** The service's default for an argument that is left out; adding or dropping exactly this value is no change. */
  readonly assumed?: Value;
  /** Leaving it out declares that it is not set: an update or a replacement then removes an existing value. */
  readonly unset?: "update" | "replace";
  /** The service does not show it, and no request changes it: without a stored value, that of the program is assumed. */
  readonly unreadable?: true;
  /** A value that no request carries. Beginning to give it is a change of it. */
  readonly local?: true;
  /** While the state holds `true` of it, the object is neither deleted nor replaced (host/protection.ts). It stands in the state alone. */
  readonly protects?: true;
  /** Used only when the object is created: a change of it is no change of the object. */
  readonly createOnly?: true;
  /** False: `pulumi-svc import` does not write it, although the service shows it. */
  readonly imported?: false;
  /** The service shows only the parts that are managed, so there is no value where none is given. */
  readonly onlyIfGiven?: true;
}

/** The rules of each argument. One that the type `Shape` requires says so here too. */
export type ArgumentTable<Shape extends object> = {
  readonly [Name in keyof Shape & string]: ArgumentRules<Exclude<Shape[Name], undefined>> &
    (undefined extends Shape[Name] ? { readonly required?: never } : { readonly required: true });
};

/** An output that follows from the id, or from another property: made when a program asks for it. */
export interface Derived {
  readonly from: string;
  /** Not called where that has no value. */
  readonly by: (value: never) => unknown;
}

/** What is known of an output. `{}`: a plain value that the lifecycle returns. */
export interface OutputRules {
  /** Encrypted in the state. */
  readonly secret?: true;
  /** A text that tells which object it is: where somebody has edited the state so that it is none, nothing is sent. */
  readonly identity?: true;
  /** The SDK prepares a property with four promises, for each resource; these cost nothing. */
  readonly derived?: Derived;
}

/** The derived outputs whose `from` is in `known`, by their names. */
export function derivedOutputs(
  outputs: Readonly<Record<string, OutputRules>>,
  known: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const made = Object.entries(outputs).flatMap(([name, { derived }]) => {
    const value = derived && known[derived.from];
    // A declaration derives an output from a value of the type that it takes.
    return derived === undefined || value === undefined ? [] : [[name, derived.by(value as never)]];
  });
  return Object.fromEntries(made) as Record<string, unknown>;
}

/**
 * One table a resource: its class, comparison, secrets and reference are made from it, and with its schemas and lifecycle
 * (host/define.ts) the provider's side. `Shape`: the arguments, once they are known; `Outputs`: what the service adds, and
 * arguments that have a value (or another type) also where they are left out.
 */
export interface Declaration<Shape extends object, Outputs extends object> {
  readonly kind: Kind;
  /** The service refuses a second one beside one that exists, so a replacement deletes first. The program's own option wins. */
  readonly deleteBeforeReplace: boolean;
  readonly args: ArgumentTable<Shape>;
  readonly outputs: { readonly [Name in keyof Outputs & string]: OutputRules };
}
