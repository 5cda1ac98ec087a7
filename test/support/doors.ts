import type { Kind } from "../../src/contract/pointer";

/** The two protocols of the engine, for tests that run through both. */
export const DOORS = ["dynamic", "native"] as const;
export type Door = (typeof DOORS)[number];

/** Declares a resource through one of them, as an expression. `args` and `options`: code. */
export const declaredBy =
  (door: Door) =>
  (kind: Kind, name: string, args: string, options = "{}", outputs: readonly string[] = []): string =>
    door === "native"
      ? `native("${kind}", "${name}", ${args}, ${JSON.stringify(outputs)}, ${options})`
      : `new svc.${kind}("${name}", ${args}, ${options})`;
