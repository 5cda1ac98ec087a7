import type * as pulumi from "@pulumi/pulumi";
import type { SecretReference } from "../contract/references";

type Leaf = string | number | boolean | null | undefined;

/**
 * A value as a program may give it: known or not yet, at every depth. A reference to a secret is given directly, so
 * that the constructor sees that nothing needs hiding.
 */
export type InputOf<Value> = unknown extends Value
  ? pulumi.Input<unknown>
  : [Extract<Value, SecretReference>] extends [never]
    ? pulumi.Input<InputsIn<Value>>
    : pulumi.Input<InputsIn<Exclude<Value, SecretReference>>> | SecretReference;

/**
 * Applies to each member of a union, with one Input around the union, so that an `Output<boolean>` fits where a boolean
 * does.
 */
type InputsIn<Value> = Value extends Leaf
  ? Value
  : Value extends readonly (infer Element)[]
    ? InputOf<Element>[]
    : { [Name in keyof Value]: InputOf<Value[Name]> };

/**
 * Arguments as a program may give them, from the shape of their resolved values. A resource's interface repeats
 * `projectId`: the compiler would name an interface without members of its own by this type in its errors.
 */
export type ArgumentsOf<Shape> = {
  [Name in keyof Shape]: GivenOf<Exclude<Shape[Name], undefined>> | (undefined extends Shape[Name] ? undefined : never);
};

/** A property that is never given may not be an Input either: an `Output<never>` would accept any Output. */
type GivenOf<Value> = [Value] extends [never] ? never : InputOf<Value>;
