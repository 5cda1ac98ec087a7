import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The version of the pulumi-svc whose `dist` (or `src`) this is; undefined where it is none, as in a bundle. */
export function packageVersion(dist: string = join(__dirname, "..")): string | undefined {
  try {
    // Only these two are looked at, and checked below.
    type Package = { name?: unknown; version?: unknown };
    const { name, version } = JSON.parse(readFileSync(join(dist, "..", "package.json"), "utf8")) as Package;
    return name === "pulumi-svc" && typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}
