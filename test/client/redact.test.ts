import { redactor, secretsOf } from "../../src/client/redact";

test("a Postgres setting that the service repeats is hidden, but not a short one, which is a word of any message", () => {
  const body = {
    endpoint: { settings: { pg_settings: { "app.token_name": "canary-setting", work_mem: "64MB" } }, name: "api" },
  };
  const redact = redactor(secretsOf(body));
  expect(redact('invalid value "canary-setting" beside 64MB of api')).toBe(
    'invalid value "[secret]" beside 64MB of api',
  );
});

test("secrets are found at any depth by the names of their fields", () => {
  const body = { provider: { client_secret: "s1-canary" }, email: [{ password: "s2-canary", host: "h" }] };
  expect(secretsOf(body)).toEqual(["s1-canary", "s2-canary"]);
});

test("a short Postgres setting whose name tells of a secret is hidden as well", () => {
  const redact = redactor(secretsOf({ pg_settings: { "x.token": "s3cr3t", "x.password_mode": "on" } }));
  expect(redact('invalid value for parameter "x.token": "s3cr3t" in the operation')).toBe(
    'invalid value for parameter "x.token": "[secret]" in the operation',
  );
});

test("settings are known by the name that they have in a program, too", () => {
  expect(secretsOf([{ settings: { pgSettings: { "app.key": "canary-setting" } } }, undefined])).toEqual([
    "canary-setting",
  ]);
});
