import * as pulumi from "@pulumi/pulumi";

const KEY = "svc:apiKey";

let checked = false;

/**
 * Warns once per program of an API key that the stack's configuration holds in clear: the engine copies its
 * configuration into the state, encrypted only where it is marked as a secret (docs/design/engine.md, Secrets and settings).
 */
export function warnOfPlainKey(): void {
  if (checked) return;
  checked = true;
  if (pulumi.runtime.allConfig()[KEY] === undefined || isSecret(KEY)) return;
  void pulumi.log.warn(
    `${KEY} stands in clear in the stack's configuration, and so in its state. Set it anew with \`pulumi config set --secret ${KEY}\` and run pulumi up, or give it in the environment as SVC_API_KEY; then rotate it.`,
  );
}

/** Not in the SDK's types, but exported since 2.10. Where it is missing nothing is known, and nothing is said. */
function isSecret(key: string): boolean {
  const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (key: string) => boolean };
  return isConfigSecret?.(key) ?? true;
}
