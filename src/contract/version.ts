import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The version in the package.json of the package whose `dist` (or `src`) this is; undefined when there is none. */
export function packageVersion(dist: string = join(__dirname, "..")): string | undefined {
  try {
    // Only its version is looked at, and checked below.
    const { version } = JSON.parse(readFileSync(join(dist, "..", "package.json"), "utf8")) as { version?: unknown };
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}
