/** Over HTTP: what a service repeats. The redactor alone: redact.test.ts. */
import fc from "fast-check";
import { inspect } from "node:util";
import { Client, Deadline, SvcError } from "../../../src/client";
import { Redactor } from "../../../src/client/http/redact";
import { addOAuthProvider, ANY } from "../../support/creating";
import { closeAll, errorOf, type Reply, scripted } from "../../support/scriptedServer";
import { PROVEN } from "../../support/proven";

afterEach(closeAll);

const KEY = "canary-key-51b7";
const SECRET = 'canary-"secret"\n/71?&';
const PASSWORD = "canary-pass+word=93";
const marks = ["canary-", "51b7", "word=93", "word%3D93"];

/** Everything that somebody could print of an error. */
function printed(error: unknown): string {
  const own = error instanceof Error ? [error.message, error.stack ?? "", String(error.cause)] : [];
  return [...own, String(error), JSON.stringify(error), inspect(error, { depth: null, showHidden: true })].join("\n");
}

const echoes: [string, (sent: string) => Reply][] = [
  [
    "an error that echoes the request",
    (sent) => ({ status: 400, json: { code: sent, message: `bad: ${sent} ${KEY}`, request_id: KEY } }),
  ],
  [
    "an error that echoes the secrets raw",
    () => ({ status: 422, json: { code: SECRET, message: `${SECRET} ${PASSWORD} ${KEY}` } }),
  ],
  [
    "an error that echoes them in an address",
    () => ({ status: 409, json: { message: encodeURIComponent(`${SECRET}${PASSWORD}`) } }),
  ],
  ["401", () => ({ status: 401, json: { message: `Bearer ${KEY} is wrong` } })],
  ["403", () => ({ status: 403, json: { message: KEY } })],
  ["404 as a page", (sent) => ({ status: 404, text: `<html>${sent}${KEY}</html>` })],
  ["a redirect", () => ({ status: 307, headers: { location: `http://127.0.0.1:1/?${KEY}` } })],
  ["a redirect to a host", () => ({ status: 307, headers: { location: `http://${KEY.toUpperCase()}.example/` } })],
  ["a redirect to an escaped host", () => ({ status: 307, headers: { location: `http://%61${KEY}.example/` } })],
  ["500", (sent) => ({ status: 500, json: { message: sent } })],
  ["a good status with the request as a page", (sent) => ({ text: `<p>${sent}</p>` })],
  ["a good status with another shape", (sent) => ({ json: { id: 5, type: [KEY, sent] } })],
  ["a cut answer", (sent) => ({ fault: "cut", text: `{"a": ${JSON.stringify(sent)}` })],
  ["a reset", () => ({ fault: "reset" })],
  ["no answer", () => ({ fault: "hang" })],
];

test.each(echoes)("no secret shows in an error after %s", async (_, reply) => {
  const { client } = await scripted(
    ({ text, path }) => {
      if (text !== "") return reply(text);
      // What is looked at before a creation.
      if (path.endsWith("/oauth_providers")) return { json: { providers: [] } };
      return { status: 400, json: { message: KEY } };
    },
    {
      apiKey: KEY,
      attemptTimeoutMs: 80,
      readDeadlineMs: 150,
      lagMs: 20,
      baseDelayMs: 1,
    },
  );
  const deadline = (): { deadline: Deadline } => ({ deadline: new Deadline(150) });
  const email = {
    type: "standard",
    host: "h",
    port: 25,
    username: "u",
    password: PASSWORD,
    more_secret: SECRET,
    sender_email: "a@b.test",
    sender_name: "n",
  };
  const credentials = { client_id: "id", client_secret: SECRET, nested: [{ token: PASSWORD }] };
  const errors = await Promise.all(
    [
      client.computes.list("p"),
      client.auth.emailServers("p").update({ body: email, expected: ANY }, { ...deadline(), ...PROVEN }),
      addOAuthProvider(client, { id: "google", ...credentials }, deadline()),
      client.auth
        .oauthProviders("p")
        .update({ id: "google", body: credentials, expected: ANY }, { ...deadline(), ...PROVEN }),
    ].map(errorOf),
  );
  for (const error of errors) {
    expect(error).toBeInstanceOf(SvcError);
    for (const mark of marks) expect(printed(error)).not.toContain(mark);
  }
});

test("no secret shows when the service cannot be reached", async () => {
  const { server, client } = await scripted(() => ({}), { apiKey: KEY, readDeadlineMs: 50 });
  await server.close();
  const error = await errorOf(client.computes.list("p"));
  for (const mark of marks) expect(printed(error)).not.toContain(mark);
});

test("a client that is printed does not show its key", () => {
  const client = new Client({ baseUrl: "http://127.0.0.1:1/api/v2", apiKey: KEY });
  expect(printed(client)).not.toContain(KEY);
});

test("a text of the service is shown without a secret in any spelling and without control characters, and is capped", () => {
  const instead = "[the service's message repeats a secret] [secret]";
  const secret = fc
    .string({ minLength: 6, unit: "grapheme" })
    .filter((text) => text.trim().length >= 6 && !instead.includes(text));
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), (hidden, before, after) => {
      const redactor = new Redactor(hidden);
      for (const form of [hidden, JSON.stringify(hidden), encodeURIComponent(hidden)]) {
        const text = `${before}${form}${after}`;
        for (const [shown, cap] of [
          [redactor.message(text), 500],
          [redactor.word(text), 100],
        ] as const) {
          expect(shown).not.toContain(hidden);
          expect(shown).not.toMatch(/[\p{Cc}]/u);
          expect(shown.length).toBeLessThanOrEqual(cap);
        }
      }
    }),
  );
});

test("a secret at the cap is not shown in part", () => {
  expect(new Redactor("hunter2-hunter2").message(`${"x".repeat(490)} hunter2-hunter2`)).not.toContain("hunter");
});
