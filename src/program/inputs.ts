import type * as pulumi from "@pulumi/pulumi";
import type { SecretReference } from "../contract/references";

type Leaf = string | number | boolean | null | undefined;

/**
 * A value as a program may give it: known or not yet, at every depth. A reference to a secret is given as it is, so that the
 * constructor sees that there is nothing to hide.
 */
export type InputOf<Value> = unknown extends Value
  ? pulumi.Input<unknown>
  : [Extract<Value, SecretReference>] extends [never]
    ? pulumi.Input<InputsIn<Value>>
    : pulumi.Input<InputsIn<Exclude<Value, SecretReference>>> | SecretReference;

/** Of a union each member; around it there is one Input, so that an `Output<boolean>` fits where a boolean does. */
type InputsIn<Value> = Value extends Leaf
  ? Value
  : Value extends readonly (infer Element)[]
    ? InputOf<Element>[]
    : { [Name in keyof Value]: InputOf<Value[Name]> };

/**
 * Arguments as a program may give them, from the shape of their resolved values. The interface of a resource repeats
 * `projectId`: one without members of its own is called by this type in the errors of the compiler.
 */
export type ArgumentsOf<Shape> = {
  [Name in keyof Shape]: GivenOf<Exclude<Shape[Name], undefined>> | (undefined extends Shape[Name] ? undefined : never);
};

/** What is never there may not come as an Input either: an `Output<never>` would take any Output. */
type GivenOf<Value> = [Value] extends [never] ? never : InputOf<Value>;
