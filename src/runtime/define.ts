import type { Declaration, OutputRules } from "../contract/declaration";
import { type ArgumentSpecs, ruleOf, type SchemasOf } from "./arguments";
import type { Lifecycle } from "./lifecycle";

/** What a lifecycle adds to its declaration and schemas. */
export type Methods<Args extends object, Outputs extends object> = Omit<
  Lifecycle<Args, Outputs>,
  "kind" | "id" | "declares" | "args" | "identity" | "secretOutputs" | "staying"
>;

/**
 * Makes a resource that the runtime can serve. A lifecycle may store arguments beside its outputs, even unmanaged ones, as
 * the service shows them.
 */
export function define<Args extends object, Outputs extends object>(
  { kind, id, claims, args: rules, outputs }: Declaration<Args, Outputs>,
  schemas: SchemasOf<Args>,
  methods: Methods<Args, Outputs & Partial<Args>>,
): Lifecycle<Args, Outputs & Partial<Args>> {
  const specs = Object.keys(rules).map((name) => [
    name,
    { ...ruleOf(rules, name), schema: Reflect.get(schemas, name) },
  ]);
  // Both tables have every argument and nothing else.
  const args = Object.fromEntries(specs) as ArgumentSpecs<Args>;
  const outputsThat = (rule: "identity" | "secret" | "stays"): string[] =>
    Object.entries<OutputRules>(outputs).flatMap(([name, rules]) => (rules[rule] ? [name] : []));
  return {
    kind,
    id,
    args,
    identity: outputsThat("identity"),
    secretOutputs: outputsThat("secret"),
    staying: outputsThat("stays"),
    ...(claims !== undefined && { declares: claims }),
    ...methods,
  };
}
