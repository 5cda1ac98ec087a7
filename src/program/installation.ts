import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { packageVersion } from "../contract/version";

const KEY = "svc:apiKey";

let checked = false;

/**
 * What every resource needs of the program around it. Checked until it first succeeds, once per program.
 * @throws when the Pulumi engine could not load this package.
 */
export function checkInstallation(): void {
  if (checked) return;
  checkPointerResolves();
  warnOfPlainKey();
  checked = true;
}

/** Without this the first sign would be "Cannot find module" out of another process, for every resource. */
function checkPointerResolves(): void {
  const found = resolve();
  if (found === undefined) {
    throw new Error(
      "pulumi-svc: this program's own package does not depend on pulumi-svc, so the Pulumi engine cannot load it. Add pulumi-svc to the dependencies of the package.json beside Pulumi.yaml (or of the folder that `main` names).",
    );
  }
  const [own, other] = [packageVersion(), packageVersion(dirname(found))];
  if (own !== other) {
    void pulumi.log.warn(
      `pulumi-svc ${own ?? "of an unknown version"} is imported, but ${other ?? "an unknown version"} will run: two versions are installed. Let the program and its packages depend on the same one.`,
    );
  }
}

/** As the pointer resolves in the dynamic-provider process. */
function resolve(): string | undefined {
  const anchors = [join(process.cwd(), "_"), require.resolve("@pulumi/pulumi/cmd/dynamic-provider")];
  for (const anchor of anchors) {
    try {
      return createRequire(anchor).resolve("pulumi-svc/provider");
    } catch {
      // Try the next place.
    }
  }
  return undefined;
}

/** The engine copies the configuration into the state, in clear unless it is marked (docs/design/engine.md, Secrets and settings). */
function warnOfPlainKey(): void {
  if (pulumi.runtime.allConfig()[KEY] === undefined || isSecret(KEY)) return;
  void pulumi.log.warn(
    `${KEY} stands in clear in the stack's configuration, and so in its state. Set it anew with \`pulumi config set --secret ${KEY}\` and run pulumi up, or give it in the environment as SVC_API_KEY; then rotate it.`,
  );
}

/** Not in the SDK's types, but exported since 2.10. Where it is missing, no warning is given. */
function isSecret(key: string): boolean {
  const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (key: string) => boolean };
  return isConfigSecret?.(key) ?? true;
}
