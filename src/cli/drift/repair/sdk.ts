import { createRequire } from "node:module";

/**
 * Loads modules of the SDK that the program uses, and of its dependencies: the engine's protocol, and grpc-js, which
 * this package does not depend on.
 * @throws if the SDK is not installed.
 */
export function fromSdk(): (module: string) => unknown {
  try {
    return createRequire(require.resolve("@pulumi/pulumi"));
  } catch {
    throw new Error("@pulumi/pulumi is not installed beside pulumi-svc: install it in the folder of the program");
  }
}
