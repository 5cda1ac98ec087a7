import { hashed } from "../../src/emulator/model/records";
import { KIND_CASES } from "../kinds";
import { CANARY, expectNoSecrets, harness, PROJECT, thrownBy, type Harness } from "../support/harness";
import * as email from "../support/emailServers";
import * as oauth from "../support/oauthProviders";

// Secrets by reference (docs/design/decisions.md, Secrets by reference), from the inputs to what the service gets.

const NAME = "SVC_TEST_SECRET";
const OTHER = "SVC_TEST_OTHER";
const VALUE = `${CANARY}-value`;
const REFERENCE = { fromEnv: NAME };

const set = (value: string | undefined, name = NAME): void => {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
};
beforeEach(() => set(VALUE));
afterEach(() => [NAME, OTHER].forEach((name) => set(undefined, name)));

/** Nothing of the values in what a plan, a log or an error shows, and nothing in the state but a digest. */
function expectHidden(given: Harness, outs: object): void {
  expectNoSecrets(given);
  expect(JSON.stringify(outs)).not.toContain(CANARY);
}

const COMPUTE = {
  projectId: PROJECT,
  branchId: "br-dev",
  size: 1,
  settings: { pgSettings: { work_mem: "64MB", "app.token": REFERENCE } },
};

test("a creation sends the value of a client secret, and the state holds its name", async () => {
  const given = await oauth.started();
  const { outs } = await given.create({ ...oauth.STANDARD, clientSecret: REFERENCE });
  expect(outs).toMatchObject({ clientId: "own-id", clientSecret: REFERENCE });
  expect(await oauth.kept(given)).toMatchObject({ client_secret: hashed(VALUE) });
  expectHidden(given, outs);
});

test("a creation sends the value of a password, and the state holds its name", async () => {
  const given = await email.started();
  const { outs } = await given.create({ ...email.STANDARD, password: REFERENCE });
  expect(outs).toMatchObject({ username: "mailer", password: REFERENCE });
  expect((await given.mutations()).map(({ body }) => body["password"])).toEqual([hashed(VALUE)]);
  expectHidden(given, outs);
});

test("a creation sends the value of a setting of Postgres, and the state holds its name", async () => {
  const given = await harness(KIND_CASES.ComputeEndpoint.lifecycle);
  const { outs } = await given.create(COMPUTE);
  expect(outs).toMatchObject({ settings: COMPUTE.settings });
  const [sent] = await given.mutations();
  expect(JSON.stringify(sent?.body)).toContain(hashed(VALUE));
  expectHidden(given, outs);
});

test.each([
  ["is not set", undefined],
  ["is empty", ""],
])("a creation whose variable %s fails before anything is sent, and names it", async (problem, value) => {
  set(value);
  const given = await oauth.started();
  const error = await thrownBy(given.create({ ...oauth.STANDARD, clientSecret: REFERENCE }));
  expect(error.message).toMatch(
    new RegExp(`Could not create OAuthProvider.*"clientSecret": ${NAME} ${problem}, so nothing`),
  );
  expect(error).not.toHaveProperty("id");
  expect(await given.requests()).toEqual([]);
});

test("check refuses what is no reference, at its path and without showing it", async () => {
  const given = await oauth.started();
  const wrong = { ...oauth.STANDARD, clientSecret: { fromEnv: `${CANARY} no name` } };
  expect(await given.check(wrong)).toEqual([expect.stringMatching(/^clientSecret: fromEnv must be the name of/)]);
  expect(await given.check({ ...oauth.STANDARD, clientId: REFERENCE })).toEqual(["clientId: must be a string"]);
  expect(await given.check({ ...oauth.STANDARD, clientSecret: { other: "x" } })).toEqual([
    "clientSecret: must be a string",
  ]);
  expectNoSecrets(given);
});

test("check refuses a reference beside pgSettings, and one in their place", async () => {
  const given = await harness(KIND_CASES.ComputeEndpoint.lifecycle);
  expect(await given.check(COMPUTE)).toEqual([]);
  expect(await given.check({ ...COMPUTE, settings: { pgSettings: REFERENCE } })).toEqual([
    "settings.pgSettings: must be an object of Postgres settings: each can be a reference",
  ]);
  expect(await given.check({ ...COMPUTE, settings: REFERENCE })).not.toEqual([]);
  const wrong = { pgSettings: { "app.token": { fromFile: "a\nb" } } };
  expect(await given.check({ ...COMPUTE, settings: wrong })).toEqual([
    expect.stringMatching(/^settings.pgSettings.app.token: fromFile must be/),
  ]);
});
