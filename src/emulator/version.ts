import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The version of this package. The path is the same from src and from dist. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8"));
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isManifest ? String(manifest.version) : "unknown";
}
