import type { Kind } from "../../src/contract/pointer";

/** The two protocols of the engine, for tests that run through both. */
export const PROTOCOLS = ["dynamic", "native"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Declares a resource through one of them, as an expression. `args` and `options`: code. */
export const declaredBy =
  (protocol: Protocol) =>
  (kind: Kind, name: string, args: string, options = "{}", outputs: readonly string[] = []): string =>
    protocol === "native"
      ? `native("${kind}", "${name}", ${args}, ${JSON.stringify(outputs)}, ${options})`
      : `new svc.${kind}("${name}", ${args}, ${options})`;
