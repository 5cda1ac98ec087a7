import type { Kind } from "./pointer";

/** `secret`: encrypted in the state, whatever the program wraps it in. */
type Secrecy = "plain" | "secret";

/** An output that follows from the id, or from another property: made when a program asks for it. */
interface Derived {
  readonly from: string;
  /** Not called where that has no value. */
  readonly by: (value: never) => unknown;
}

/**
 * What the class of a resource, its lifecycle and the reference are made from. `Shape`: the arguments, once they are known;
 * `Outputs`: what the service adds, and arguments that have a value (or another type) also where they are left out.
 */
export interface Declaration<Shape extends object, Outputs extends object> {
  readonly kind: Kind;
  readonly args: Readonly<Record<keyof Shape & string, Secrecy>>;
  readonly outputs: Readonly<Record<keyof Outputs & string, Secrecy>>;
  /** The SDK prepares a property with four promises, for each resource; these cost nothing. */
  readonly derived?: Readonly<Partial<Record<keyof Outputs & string, Derived>>>;
  /** Arguments that have a value only where they are given: the service does not show them, or shows what is managed alone. */
  readonly onlyIfGiven?: readonly (keyof Shape & string)[];
  /** The service refuses a second one beside one that exists, so a replacement deletes first. The program's own option wins. */
  readonly deleteBeforeReplace: boolean;
}
