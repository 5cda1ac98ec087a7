import { Redactor, secretsOf } from "../../../src/client/http/redact";

const HIDDEN = "[the service's message repeats a secret]";

/** What a redactor that has seen this body shows of a text. */
function shown(body: unknown, text: string): string {
  const redactor = new Redactor("the-key");
  redactor.learn(body);
  return redactor.message(text);
}

test("a message that repeats a Postgres setting is hidden, but not for a short one, which is a word of any message", () => {
  const body = {
    endpoint: { settings: { pg_settings: { "app.token_name": "canary-setting", work_mem: "64MB" } }, name: "api" },
  };
  expect(shown(body, 'invalid value "canary-setting" of api')).toBe(HIDDEN);
  expect(shown(body, "64MB of api")).toBe("64MB of api");
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

test("a short Postgres setting whose name marks a secret is found as well", () => {
  const body = {
    pg_settings: { "x.token": "s3cr3t", "x.password_mode": "on", "app.cookie_key": "c00kie", "app.sort_key": "byname" },
  };
  for (const value of ["s3cr3t", "c00kie"]) expect(shown(body, `invalid value for parameter: "${value}"`)).toBe(HIDDEN);
  for (const text of ["it is on", "byname"]) expect(shown(body, text)).toBe(text);
});

test("settings are known by the name that they have in a program, too", () => {
  expect(secretsOf([{ settings: { pgSettings: { "app.key": "canary-setting" } } }, undefined])).toEqual([
    "canary-setting",
  ]);
});

test("what was learned once stays hidden, and so does what is learned later", () => {
  const redactor = new Redactor("the-key");
  redactor.learn({ password: "first" });
  expect(["the-key", "first", "second"].map((word) => redactor.word(word))).toEqual(["[secret]", "[secret]", "second"]);
  redactor.learn({ token: "second" });
  expect(["the-key", "first", "second"].map((word) => redactor.word(word))).toEqual(Array(3).fill("[secret]"));
});

test("a word is hidden where the text that it comes from repeats a secret", () => {
  const redactor = new Redactor("The-Key");
  expect(redactor.word("the-key.example.com", "https://The-Key.example.com/login")).toBe("[secret]");
  expect(redactor.word("example.com", "https://Example.com/login")).toBe("example.com");
});

test("a secret that a service written in Go repeats inside JSON inside its message is found", () => {
  expect(shown({ password: "p&ss<word>1" }, 'cannot apply {"password":"p\\u0026ss\\u003cword\\u003e1"}')).toBe(HIDDEN);
});

test("a secret as long as a file may be is found", () => {
  const long = "k9/+\n".repeat(13_000);
  expect(shown({ password: long }, `no such key: ${long}!`)).toBe(HIDDEN);
});
