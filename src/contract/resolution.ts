import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * The file that the pointer loads for a program that runs in `folder`, as in the dynamic-provider process.
 * `besideSdk`: a file of the `@pulumi/pulumi` that the program has. Undefined: the engine could not load this package.
 */
export function resolveProvider(folder: string, besideSdk: string | undefined): string | undefined {
  for (const anchor of [join(folder, "_"), besideSdk]) {
    try {
      if (anchor !== undefined) return createRequire(anchor).resolve("pulumi-svc/provider");
    } catch {
      // Try the next place.
    }
  }
  return undefined;
}
