/** How the engine handles secret marks, for tests in process (docs/design/engine.md, Secrets and settings). */
import { isSecret } from "../../src/contract/engineSecrets";
import type { Properties } from "../../src/contract/hiddenKeys";

const isObject = (value: unknown): value is Properties =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Properties as the engine passes them to a dynamic provider: plain JSON without marks. */
export const unmarked = (properties: object): Properties =>
  JSON.parse(JSON.stringify(properties), (_, value: unknown) =>
    isSecret(value) ? Reflect.get(Object(value), "value") : value,
  ) as Properties;

export const containsSecret = (value: unknown): boolean =>
  isSecret(value) || (typeof value === "object" && value !== null && Object.values(value).some(containsSecret));

/** A provider's result with the engine's marks: those of the same paths, in objects only. */
export function annotated(returned: Properties, given: Properties): Properties {
  const marked = Object.entries(returned).map(([name, value]): [string, unknown] => {
    const from = given[name];
    if (isObject(value) && isObject(from) && !isSecret(value) && !isSecret(from)) return [name, annotated(value, from)];
    return [name, !isSecret(value) && containsSecret(from) ? asSecret(value) : value];
  });
  return Object.fromEntries(marked);
}

/** A value marked as by `pulumi.secret` in a program. */
export const asSecret = (value: unknown): object => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});

/** The text of a state that is readable without its passphrase. */
export const inClear = (properties: object): string =>
  JSON.stringify(properties, (_, value: unknown) => (isSecret(value) ? "[encrypted]" : value));
