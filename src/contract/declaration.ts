import type { Kind } from "./pointer";

/** `secret`: encrypted in the state, whatever the program wraps it in. */
type Secrecy = "plain" | "secret";

/**
 * What the class of a resource, its lifecycle and the reference are made from. `Shape`: the arguments, once they are known;
 * `Outputs`: what the service adds, and arguments that have a value (or another type) also where they are left out.
 */
export interface Declaration<Shape extends object, Outputs extends object> {
  readonly kind: Kind;
  readonly args: Readonly<Record<keyof Shape & string, Secrecy>>;
  readonly outputs: Readonly<Record<keyof Outputs & string, Secrecy>>;
  /** The service refuses a second one beside one that exists, so a replacement deletes first. The program's own option wins. */
  readonly deleteBeforeReplace: boolean;
}
