import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { packageVersion } from "../contract/version";

let checked = false;

/**
 * Looks until it is so, once per program, whether the pointer resolves where the dynamic-provider process will resolve it: from the
 * program's directory, then from beside `@pulumi/pulumi`. Without this the first sign would be "Cannot find module" out
 * of another process, for every resource.
 * @throws when it does not resolve. Another version than this one is a warning.
 */
export function checkPointerResolves(): void {
  if (checked) return;
  const found = resolve();
  if (found === undefined) {
    throw new Error(
      "pulumi-svc: this program's own package does not depend on pulumi-svc, so the Pulumi engine cannot load it. Add pulumi-svc to the dependencies of the package.json beside Pulumi.yaml (or of the folder that `main` names).",
    );
  }
  checked = true;
  const [own, other] = [packageVersion(), packageVersion(dirname(found))];
  if (own !== other) {
    void pulumi.log.warn(
      `pulumi-svc ${own ?? "of an unknown version"} is imported, but ${other ?? "an unknown version"} will run: two versions are installed. Let the program and its packages depend on the same one.`,
    );
  }
}

function resolve(): string | undefined {
  const anchors = [join(process.cwd(), "_"), require.resolve("@pulumi/pulumi/cmd/dynamic-provider")];
  for (const anchor of anchors) {
    try {
      return createRequire(anchor).resolve("pulumi-svc/provider");
    } catch {
      // Looked for in the next place.
    }
  }
  return undefined;
}
