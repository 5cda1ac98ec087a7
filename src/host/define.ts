import type { Declaration, OutputRules } from "../contract/declaration";
import { type ArgumentSpecs, ruleOf, type SchemasOf } from "./arguments";
import type { Lifecycle } from "./lifecycle";

/** What a lifecycle says beside its declaration and schemas. */
export type Methods<Args extends object, Outputs extends object> = Omit<
  Lifecycle<Args, Outputs>,
  "kind" | "args" | "identity" | "secretOutputs" | "deleteBeforeReplace"
>;

/**
 * A resource as the host runs it. A lifecycle may store arguments beside its outputs, also where they are not managed: as
 * the service shows them.
 */
export function define<Args extends object, Outputs extends object>(
  { kind, deleteBeforeReplace, args: rules, outputs }: Declaration<Args, Outputs>,
  schemas: SchemasOf<Args>,
  methods: Methods<Args, Outputs & Partial<Args>>,
): Lifecycle<Args, Outputs & Partial<Args>> {
  const specs = Object.keys(rules).map((name) => [
    name,
    { ...ruleOf(rules, name), schema: Reflect.get(schemas, name) },
  ]);
  // Both tables have each argument, and nothing else.
  const args = Object.fromEntries(specs) as ArgumentSpecs<Args>;
  const outputsThat = (rule: "identity" | "secret"): string[] =>
    Object.entries<OutputRules>(outputs).flatMap(([name, rules]) => (rules[rule] ? [name] : []));
  return {
    kind,
    args,
    identity: outputsThat("identity"),
    secretOutputs: outputsThat("secret"),
    deleteBeforeReplace,
    ...methods,
  };
}
