import { isSecretName, isSecretSetting, holdsPassword } from "../../src/contract/secretNames";

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

it.each(["app.pw", "app.db_pwd", "app.PASSWD", "smtp.pass", "app.jwt", "app.signing_key", "app.settings.jwt_secret"])(
  "%s is the name of a secret setting",
  (name) => {
    expect(isSecretSetting(name)).toBe(true);
  },
);

it.each(["app.mode", "app.jwt_exp", "app.pw_length", "app.bypass", "app.sort_key", "app.settings.pwa", "search_path"])(
  "%s is the name of no secret setting",
  (name) => {
    expect(isSecretSetting(name)).toBe(false);
  },
);

it.each([
  "postgres://u:p@h/db",
  "host=h postgresql://user:p%40ss@h:5432/db",
  "redis://:p@h",
  "redis://u:p:p@[::1]:80/",
  "postgres://h/db?user=u&password=p",
  "host=h user=u password = 'p w'",
  "host=h PASSWORD=p",
])("%s holds a password", (text) => {
  expect(holdsPassword(text)).toBe(true);
});

it.each([
  "",
  "64MB",
  "postgres://u@h:5432/db",
  "postgres://h:5432/a@b",
  "https://h/a:b@c",
  "postgres://u:@h/db",
  "host=h passfile=/run/secrets/pass",
  "host=h password=",
  "password",
  "://:".repeat(50_000),
])("a text without a password holds none (%#)", (text) => {
  expect(holdsPassword(text)).toBe(false);
});
