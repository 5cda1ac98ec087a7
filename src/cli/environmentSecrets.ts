const NAMES = ["SVC_API_KEY", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"];

/** What the Pulumi CLI says, without the secrets that the environment gives it. */
export function withoutEnvironmentSecrets(text: string): string {
  const secrets = NAMES.map((name) => process.env[name]?.trim() ?? "").filter((secret) => secret !== "");
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "[secret]"), text);
}
