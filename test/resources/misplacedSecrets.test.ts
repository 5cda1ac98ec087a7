import { auditRules } from "../../src/audit/rules";
import { typeToken } from "../../src/contract/pointer";
import type { Properties } from "../../src/contract/hiddenKeys";
import { KIND_CASES } from "../kinds";
import { cheapDigests } from "../support/cheapDigests";
import { CANARY, expectNoSecrets, harness, PROJECT, thrownBy } from "../support/harness";
import * as email from "../support/emailServers";
import * as oauth from "../support/oauthProviders";

// A secret itself where the name of its variable or the path of its file belongs: as a plain object, without `fromEnv` and `fromFile`.

cheapDigests();

const VARIABLE = "SVC_TEST_SMTP";
const FILE_VARIABLE = "SVC_TEST_SMTP_FILE";
beforeEach(() => (process.env[VARIABLE] = `${CANARY}-password`));
afterEach(() => [VARIABLE, FILE_VARIABLE].forEach((name) => delete process.env[name]));

const MISPLACED: [string, object, RegExp][] = [
  ["a path", { fromFile: `${CANARY}-password` }, /fromFile must be the path of a file, not the value of a variable/],
  ["a name", { fromEnv: "canary_Zq8_password" }, /fromEnv must be the name of an environment variable/],
];

describe.each(MISPLACED)("a secret in place of %s", (_, reference, words) => {
  beforeEach(() => {
    if ("fromEnv" in reference) process.env[VARIABLE] = "canary_Zq8_password";
  });
  const hidden = (text: string): void => expect(text).not.toMatch(/canary.Zq8.password/);

  test.each([
    ["password", () => email.started(), { ...email.STANDARD, password: reference }],
    ["clientSecret", () => oauth.started(), { ...oauth.STANDARD, clientSecret: reference }],
    [
      "settings.pgSettings.app.token",
      () => harness(KIND_CASES.ComputeEndpoint.lifecycle),
      { projectId: PROJECT, branchId: "br-dev", size: 1, settings: { pgSettings: { "app.token": reference } } },
    ],
  ])("is refused by check, a creation and an update as %s, without it", async (path, started, inputs: Properties) => {
    const given = await started();
    const [problem = "", ...more] = await given.check(inputs);
    expect([problem.slice(0, path.length + 2), more]).toEqual([`${path}: `, []]);
    expect(problem).toMatch(words);
    const { message } = await thrownBy(given.create(inputs));
    expect(message).toMatch(words);
    expect(await given.mutations()).toEqual([]);
    [problem, message].forEach(hidden);
    expectNoSecrets(given);
  });

  test("that a state holds is in no message, and its object can be refreshed and deleted", async () => {
    const given = await email.started();
    const literal = await given.create({ ...email.STANDARD, password: "literal" });
    const state = { ...literal, outs: { ...literal.outs, password: reference } };
    expect(await given.read(state)).toBeDefined();
    const { message } = await thrownBy(given.update(state, { ...email.STANDARD, password: reference }));
    expect(message).toMatch(words);
    // As written by a version that does not refuse it yet: the plan compares with the state.
    given.restart();
    await given.check({ ...email.STANDARD, password: "literal" }, state.outs);
    await given.diff(state, { ...email.STANDARD, password: reference });
    await given.delete(state);
    [message, ...given.log.map((line) => line.message), ...given.failures].forEach(hidden);
  });

  test("counts as a secret in the state for an audit, which does not show it", () => {
    const found = auditRules.map((rule) => {
      const one = { type: typeToken("EmailServer"), name: "mail", urn: "urn", protect: true };
      return rule.find({ ...one, props: { ...email.STANDARD, password: reference } }, {});
    });
    expect(found).toContain('the state holds the value of "password"');
    hidden(found.join("\n"));
  });
});

test("the path that a variable holds is one where its name says so", async () => {
  const given = await email.started();
  process.env[FILE_VARIABLE] = "/run/secrets/svc-test-smtp";
  const inputs = { ...email.STANDARD, password: { fromFile: "/run/secrets/svc-test-smtp" } };
  expect(await given.check(inputs)).toEqual([]);
  const { message } = await thrownBy(given.create(inputs));
  expect(message).toContain('"password": the file /run/secrets/svc-test-smtp does not exist, so nothing was sent');
});
