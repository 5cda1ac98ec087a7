import { Redactor, secretsOf } from "../../../src/client/http/redact";

/** A redactor that has seen this body, and its result for a text. */
function cleaned(body: unknown, text: string): string {
  const redactor = new Redactor("the-key");
  redactor.learn(body);
  return redactor.clean(text);
}

test("a Postgres setting that the service repeats is hidden, but not a short one, which is a word of any message", () => {
  const body = {
    endpoint: { settings: { pg_settings: { "app.token_name": "canary-setting", work_mem: "64MB" } }, name: "api" },
  };
  expect(cleaned(body, 'invalid value "canary-setting" beside 64MB of api')).toBe(
    'invalid value "[secret]" beside 64MB of api',
  );
});

test("secrets are found at any depth by the names of their fields", () => {
  const body = { provider: { client_secret: "s1-canary" }, email: [{ password: "s2-canary", host: "h" }] };
  expect(secretsOf(body)).toEqual(["s1-canary", "s2-canary"]);
});

test("each of these names marks a secret, and no other one does", () => {
  const names = ["client_secret", "password", "passphrase", "token", "api_key", "apiKey", "aws_credential", "url"];
  const others = ["name", "jwks_url", "host", "username", "client_id"];
  const body = Object.fromEntries([...names, ...others].map((name) => [name, `canary-${name}`]));
  expect(secretsOf(body)).toEqual(names.map((name) => `canary-${name}`));
});

test("a short Postgres setting whose name marks a secret is hidden as well", () => {
  const body = { pg_settings: { "x.token": "s3cr3t", "x.password_mode": "on" } };
  expect(cleaned(body, 'invalid value for parameter "x.token": "s3cr3t" in the operation')).toBe(
    'invalid value for parameter "x.token": "[secret]" in the operation',
  );
});

test("a short one is told by the names of settings as well", () => {
  const body = { pg_settings: { "app.cookie_key": "c00kie", "app.sort_key": "byname" } };
  expect(cleaned(body, 'invalid value "c00kie", byname')).toBe('invalid value "[secret]", byname');
});

test("settings are known by the name that they have in a program, too", () => {
  expect(secretsOf([{ settings: { pgSettings: { "app.key": "canary-setting" } } }, undefined])).toEqual([
    "canary-setting",
  ]);
});

test("what was learned once stays hidden, and so does what is learned later", () => {
  const redactor = new Redactor("the-key");
  expect(redactor.clean("the-key, first, second")).toBe("[secret], first, second");
  redactor.learn({ password: "first" });
  redactor.learn({ token: "second" });
  expect(redactor.clean("the-key, first, second")).toBe("[secret], [secret], [secret]");
});

test("a secret that a service written in Go repeats inside JSON inside its message is hidden", () => {
  const redactor = new Redactor("key");
  redactor.learn({ password: "p&ss<word>1" });
  const echoed = 'cannot apply {"password":"p\\u0026ss\\u003cword\\u003e1"}';
  expect(redactor.clean(echoed)).toBe('cannot apply {"password":"[secret]"}');
});

test("a secret as long as a file may be is hidden, beside a short one", () => {
  const long = "k9/+\n".repeat(13_000);
  expect(cleaned({ password: long, token: "k9" }, `no such key: ${long}, nor k9`)).toBe(
    "no such key: [secret], nor [secret]",
  );
});

test.each([
  ["in base64", (value: string) => Buffer.from(value).toString("base64")],
  ["in base64 for addresses", (value: string) => Buffer.from(value).toString("base64url")],
  ["in a form", (value: string) => new URLSearchParams({ v: value }).toString().slice(2)],
  ["in JSON within JSON", (value: string) => JSON.stringify(JSON.stringify(value)).slice(3, -3)],
  ["as one of its lines", (value: string) => value.split("\n")[1] ?? ""],
])("a secret that the service repeats %s is hidden", (_, repeated) => {
  const value = 'canary "first" & <100%>/ü\nthe second line+\n';
  expect(cleaned({ password: value }, `refused: ${repeated(value)}!`)).toBe("refused: [secret]!");
});

test("what hides a secret is no secret itself", () => {
  const secrets = ["secret", "[", "]"].map((password) => ({ password }));
  expect(cleaned(secrets, "the secret [ x ]")).toBe("the [secret] [secret] x [secret]");
});

test("a short secret is hidden as a word, and not inside words, where their other letters would reveal it", () => {
  expect(cleaned([{ password: "on" }, { token: "ü-" }], 'the connection is "on", as on=on and xü-y ü-')).toBe(
    'the connection is "[secret]", as [secret]=[secret] and xü-y [secret]',
  );
});
