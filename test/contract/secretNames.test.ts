import { isSecretName } from "../../src/contract/secretNames";

it.each([
  "password",
  "client_secret",
  "clientSecret",
  "secretServerKey",
  "PULUMI_CONFIG_PASSPHRASE",
  "app.token",
  "api_key",
  "apiKey",
  "aws_credentials",
])("%s is the name of a secret", (name) => {
  expect(isSecretName(name)).toBe(true);
});

it.each(["name", "size.max", "clientId", "pubClientKey", "jwks_url", "domain", "statement_timeout", ""])(
  "%s is not",
  (name) => {
    expect(isSecretName(name)).toBe(false);
  },
);
