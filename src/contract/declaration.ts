import type { IdRules } from "./objectIds";
import type { Claim, Container } from "./claims";
import type { Kind } from "./pointer";

/**
 * The rules of an argument, except its schema, which a program does not load. `{}`: optional and plain; values are
 * compared as JSON, and a change updates the object in place.
 */
export interface ArgumentRules<Value> {
  /** The argument is required. */
  readonly required?: true;
  /** Encrypted in the state, even if the program does not mark it secret. */
  readonly secret?: true;
  /** Encrypted if the program does not give it: an earlier program may have given it as a secret. */
  readonly secretUnlessGiven?: true;
  /** Every update that sends anything sends this too: the service replaces the object as a whole. */
  readonly sentAlways?: true;
  /** It may be a secret by reference (references.ts), or each value in one part of it may, such as `pgSettings`. */
  readonly reference?: true | { readonly valuesOf: string };
  /** A change replaces the resource. */
  readonly replaces?: true;
  /**
   * The argument names an object of this kind, in which the resource's object lives and is deleted with it. An unknown
   * value replaces the resource, even if a known one would move it
   * (docs/design/decisions.md, Replacing, moving, adopting).
   */
  readonly container?: Container;
  /**
   * The one form of all values that mean the same (forms.ts); without it, values are compared as JSON. Whatever compares
   * values of this argument, or objects by it, compares these. A method, so that any rules are assignable to
   * `ArgumentRules<unknown>`.
   */
  form?(value: Value): unknown;
  /** The service's default if the argument is omitted; adding or dropping exactly this value is no change. */
  readonly assumed?: Value;
  /** The service's default for a new object: an import leaves this value out, as it does with `assumed`. */
  readonly standard?: Value;
  /** Omitting it declares that it is not set: an update or a replacement then removes an existing value. */
  readonly unset?: "update" | "replace";
  /** The service does not show it, and no request changes it: if no value is stored, the program's is assumed. */
  readonly unreadable?: true;
  /** No request carries it. Giving it for the first time counts as a change. */
  readonly local?: true;
  /**
   * While the state holds `true` for it, the object is neither deleted nor replaced (runtime/protection.ts). Stored only
   * in the state.
   */
  readonly protects?: true;
  /** Used only when the object is created; a later change has no effect. */
  readonly createOnly?: true;
  /** False: `pulumi-svc import` does not write it, although the service shows it. */
  readonly imported?: false;
  /** The service shows only the parts that are managed, so an omitted argument has no value. */
  readonly onlyIfGiven?: true;
}

/** The rules of each argument. An argument that the type `Shape` requires must be `required` here too. */
export type ArgumentTable<Shape extends object> = {
  readonly [Name in keyof Shape & string]: ArgumentRules<Exclude<Shape[Name], undefined>> &
    (undefined extends Shape[Name] ? { readonly required?: never } : { readonly required: true });
};

/** An output computed from the id or another property when a program reads it. */
export interface Derived {
  readonly from: string;
  /** Not called if `from` has no value. */
  readonly by: (value: never) => unknown;
}

/** The rules of an output. `{}`: a plain value that the lifecycle returns. */
export interface OutputRules {
  /** Encrypted in the state. */
  readonly secret?: true;
  /** A string that identifies the object. If the stored value is not a string (an edited state), nothing is sent. */
  readonly identity?: true;
  /** No update changes it, so it stays known in the preview of one, as far as the protocol can say so. */
  readonly stays?: true;
  /** Costs nothing until it is read; the SDK prepares every other property with four promises for each resource. */
  readonly derived?: Derived;
}

/** The derived outputs whose `from` is in `known`, by name. */
export function derivedOutputs(
  outputs: Readonly<Record<string, OutputRules>>,
  known: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const made = Object.entries(outputs).flatMap(([name, { derived }]) => {
    const value = derived && known[derived.from];
    // A declaration derives an output from a value of the type that `by` takes.
    return derived === undefined || value === undefined ? [] : [[name, derived.by(value as never)]];
  });
  return Object.fromEntries(made) as Record<string, unknown>;
}

/**
 * The table of a resource. The class, the comparison, the secrets and the reference page are made from it; with the
 * schemas and the lifecycle (runtime/define.ts), so is the provider's side. `Shape`: the resolved arguments. `Outputs`:
 * what the service adds, and arguments that have a value (or another type) even if they are omitted.
 */
export interface Declaration<Shape extends object, Outputs extends object> {
  readonly kind: Kind;
  readonly id: IdRules;
  /**
   * The objects at the service that these arguments declare. It is an error if another resource declares one of them.
   * `args`: the known ones; `authProvider`: that of the settings; `givenNames`: also of those that are not known yet.
   */
  readonly claims?: (args: Partial<Shape>, authProvider: string, givenNames: ReadonlySet<string>) => Claim[];
  readonly args: ArgumentTable<Shape>;
  readonly outputs: { readonly [Name in keyof Outputs & string]: OutputRules };
}
