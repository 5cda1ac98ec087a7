import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Properties } from "../../src/contract/hiddenKeys";
import { KIND_CASES } from "../kinds";
import { cheapDigests } from "../support/cheapDigests";
import { harness, PROJECT, thrownBy } from "../support/harness";
import * as email from "../support/emailServers";
import * as oauth from "../support/oauthProviders";

// A service that repeats the value of a reference to a process that never sends it: a refresh, a destroy, a plan.

cheapDigests();

const VARIABLE = "SVC_TEST_REPEATED";
const VALUE = 'canary "Repeated" pä/ss+word';
const folder = mkdtempSync(join(tmpdir(), "repeated-"));
const path = join(folder, "secret");
beforeEach(() => {
  process.env[VARIABLE] = VALUE;
  writeFileSync(path, `${VALUE}\n`);
});
afterEach(() => delete process.env[VARIABLE]);
afterAll(() => rmSync(folder, { recursive: true }));

const compute = (reference: object): Properties => ({
  projectId: PROJECT,
  branchId: "br-dev",
  size: 1,
  settings: { pgSettings: { "app.token": reference } },
});
const CASES = [
  ["EmailServer", () => email.started(), (one: object) => ({ ...email.STANDARD, password: one })],
  ["OAuthProvider", () => oauth.started(), (one: object) => ({ ...oauth.STANDARD, clientSecret: one })],
  ["ComputeEndpoint", () => harness(KIND_CASES.ComputeEndpoint.lifecycle), compute],
] as const;
const REFERENCES = [{ fromEnv: VARIABLE }, { fromFile: path }];
const ECHO = {
  status: 422,
  times: 0,
  body: { code: "bad", message: `cannot use ${JSON.stringify({ password: VALUE })} or ${encodeURIComponent(VALUE)}` },
};

test.each(CASES.flatMap(([kind, started, inputs]) => REFERENCES.map((one) => [kind, one, started, inputs] as const)))(
  "%s by %j: neither a refresh nor a deletion nor a plan shows it",
  async (_kind, reference, started, inputs) => {
    const given = await started();
    const state = await given.create(inputs(reference));
    for (const method of ["GET", "DELETE", "PATCH", "POST"]) await given.fault({ ...ECHO, method });
    const calls = [
      () => given.read(state),
      () => given.delete(state),
      () => given.plan(inputs(reference), {}, "another"),
    ];
    const said: string[] = [];
    for (const call of calls) {
      // Another process: nothing is known of what this one sent.
      given.restart();
      said.push(
        await call().then(
          (result) => JSON.stringify(result),
          ({ message }: Error) => message,
        ),
      );
    }
    said.push(...given.log.map(({ message }) => message));
    const hidden = said.filter(
      (text) => /422 bad\b/.test(text) && text.includes("[the service's message repeats a secret]"),
    );
    expect(hidden.length).toBeGreaterThanOrEqual(2);
    expect(said.join("\n")).not.toMatch(/Repeated|ss\+word|ss%2B/);
  },
);

test.each<[string, unknown]>([
  ["a variable that is not set", { fromEnv: "SVC_TEST_NOWHERE" }],
  ["a file that is not there", { fromFile: join(folder, "nowhere") }],
  ["a folder", { fromFile: folder }],
  ["what somebody has edited", { fromFile: 7 }],
  ["what somebody else has edited", { fromEnv: { fromEnv: VARIABLE }, fromFile: [path] }],
])("a refresh and a deletion do not fail for %s", async (_, reference) => {
  const given = await email.started();
  const { id, outs } = await given.create({ ...email.STANDARD, password: { fromEnv: VARIABLE } });
  const state = { id, outs: { ...outs, password: reference } };
  given.restart();
  expect(await given.read(state)).toBeDefined();
  await given.delete(state);
});

test("no response of the service makes the provider read a file", async () => {
  const given = await email.started();
  const state = await given.create(email.STANDARD);
  const body = { code: "bad", message: `no ${VALUE}`, password: { fromFile: path }, token: { fromEnv: VARIABLE } };
  await given.fault({ method: "GET", status: 422, body, times: 0 });
  given.restart();
  const { message } = await thrownBy(given.read(state));
  // Nobody knows it, so it is not a secret.
  expect(message).toContain(VALUE);
});
