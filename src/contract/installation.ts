/** The packages installed beside a program: this one, whether the pointer finds it, and the Pulumi SDK. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The version of the pulumi-svc that this `dist` (or `src`) belongs to; undefined if none, as in a bundle. */
export function packageVersion(dist: string = join(__dirname, "..")): string | undefined {
  try {
    // Only these two are read, and checked below.
    type Package = { name?: unknown; version?: unknown };
    const { name, version } = JSON.parse(readFileSync(join(dist, "..", "package.json"), "utf8")) as Package;
    return name === "pulumi-svc" && typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The file that the pointer loads for a program in `folder`, resolved as in the dynamic-provider process. `besideSdk`:
 * a file of the program's `@pulumi/pulumi`. Undefined: the engine could not load this package.
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

/** The oldest `@pulumi/pulumi` (and CLI) that works, the same as in peerDependencies of package.json. */
export const OLDEST_SDK = "3.216.0";

export const versionNumbers = (version: string): number[] => version.replace(/^v/, "").split(/[.-]/, 3).map(Number);

export function isAtLeast(version: string, least: string): boolean {
  const wanted = versionNumbers(least);
  const differing = versionNumbers(version)
    .map((part, index) => part - (wanted[index] ?? 0))
    .find((difference) => difference !== 0);
  return (differing ?? 0) >= 0;
}
