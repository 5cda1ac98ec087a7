import { scryptSync } from "node:crypto";
import { isSecret } from "../../src/contract/engineSecrets";
import type { Properties } from "../../src/contract/hiddenKeys";
import { Digests } from "../../src/runtime/digests";
import { SecretValues } from "../../src/runtime/references";
import { declaration } from "../../src/resources/computeEndpoint/computeEndpointDeclaration";
import { hashed } from "../../src/emulator/model/records";
import { KIND_CASES } from "../kinds";
import { cheapDigests } from "../support/cheapDigests";
import {
  CANARY,
  expectNoSecrets,
  harness,
  keptBy,
  PROJECT,
  thrownBy,
  UNKNOWN,
  type Harness,
  type State,
} from "../support/harness";
import * as email from "../support/emailServers";
import * as oauth from "../support/oauthProviders";

// Secrets by reference (docs/design/decisions.md, Secrets by reference), from the inputs to what the service gets.

cheapDigests();

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

/** In the form of a digest. */
const MADE_UP = `scrypt-bound$16$1$1$${"A".repeat(22)}==$${"A".repeat(43)}=`;

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

test("the time that the digests of a program take is not charged to a change", async () => {
  const given = await oauth.started();
  const { digests } = given.session;
  const quick = digests.of.bind(digests);
  jest.spyOn(digests, "of").mockImplementation(async (value) => {
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    return quick(value);
  });
  const { outs } = await given.create({ ...oauth.STANDARD, clientSecret: REFERENCE, __timeouts: { create: 1 } });
  expect(outs).toMatchObject({ clientSecret: REFERENCE, __applied: { clientSecret: expect.any(String) } });
});

test("check refuses what is no reference, at its path and without showing it", async () => {
  const given = await oauth.started();
  const wrong = { ...oauth.STANDARD, clientSecret: { fromEnv: `${CANARY} no name` } };
  expect(await given.check(wrong)).toEqual([expect.stringMatching(/^clientSecret: fromEnv must be the name of/)]);
  expect(await given.check({ ...oauth.STANDARD, clientId: REFERENCE })).toEqual([
    "clientId: must be a string, not an object",
  ]);
  expect(await given.check({ ...oauth.STANDARD, clientSecret: { other: "x" } })).toEqual([
    "clientSecret: must be a string, not an object",
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

describe("once it is applied", () => {
  const GIVEN = { ...oauth.STANDARD, clientSecret: REFERENCE };
  const GOOGLE = `OAuthProvider ${PROJECT}/microsoft ("thing")`;
  const warnings = ({ log }: Harness): string[] =>
    log.filter(({ severity }) => severity === "warning").map(({ message }) => message);
  /** What a plan of a new process says. */
  async function planned(given: Harness, state: State, inputs: Properties, before = inputs) {
    given.restart();
    given.log.splice(0);
    await given.check(inputs, before);
    const { changes, replaces } = await given.diff(state, inputs);
    return { changes, replaces, says: warnings(given) };
  }
  /** The secrets that an update sends, as the service logs them. */
  async function updated(given: Harness, state: State, inputs: Properties) {
    await given.forgetRequests();
    const next = await given.update(state, inputs);
    return { next, sent: (await oauth.bodies(given)).map(([, body]) => body["client_secret"]) };
  }

  test("the state holds a digest of the value, which differs in each resource", async () => {
    const given = await oauth.started();
    const one = await given.create(GIVEN);
    const two = await given.create({ ...GIVEN, providerId: "google", adopt: true });
    const digest = { clientSecret: expect.stringMatching(/^scrypt-bound\$/) };
    expect([one.outs["__applied"], two.outs["__applied"]]).toEqual([digest, digest]);
    expect(one.outs["__applied"]).not.toEqual(two.outs["__applied"]);
    // One command hashes the value once.
    const saltOf = ({ outs }: typeof one): unknown => JSON.stringify(outs["__applied"]).split("$")[4];
    expect(saltOf(one)).toBe(saltOf(two));
    expect(saltOf(one)).toMatch(/^[\w+/]{22}==$/);
    given.restart();
    expect(saltOf(await given.create({ ...GIVEN, providerId: "github", adopt: true }))).not.toBe(saltOf(one));
    // It is marked by the provider: no program names it.
    const { outs } = await given.provider.update(one.id, one.outs, { ...GIVEN, __provider: "pointer" });
    expect(isSecret(outs?.["__applied"])).toBe(true);
    expectHidden(given, one.outs);
  });

  test("the same value is no change, and nothing is reported", async () => {
    const given = await oauth.started();
    const state = await given.create(GIVEN);
    expect(await planned(given, state, GIVEN)).toEqual({ changes: false, replaces: [], says: [] });
  });

  test("another value is an update, which is announced and sent", async () => {
    const given = await oauth.started();
    const state = await given.create(GIVEN);
    set(`${CANARY}-rotated`);
    expect(await planned(given, state, GIVEN)).toEqual({
      changes: true,
      replaces: [],
      says: [`"clientSecret" of ${GOOGLE}: the value of ${NAME} differs from the last applied one`],
    });
    const { next, sent } = await updated(given, state, GIVEN);
    expect(sent).toEqual([hashed(`${CANARY}-rotated`)]);
    expect(await planned(given, next, GIVEN)).toMatchObject({ changes: false, says: [] });
    expectHidden(given, next.outs);
  });

  test.each([
    ["is not set", undefined],
    ["is empty", ""],
  ])("a variable that %s is no change, and is reported", async (problem, value) => {
    const given = await oauth.started();
    const state = await given.create(GIVEN);
    set(value);
    expect(await planned(given, state, GIVEN)).toEqual({
      changes: false,
      replaces: [],
      says: [`"clientSecret" of ${GOOGLE}: could not be compared: ${NAME} ${problem}`],
    });
    // Another change does not need it, nor do a refresh and a deletion.
    const { next, sent } = await updated(given, state, { ...GIVEN, clientId: "other-id" });
    expect(sent).toEqual([undefined]);
    expect(next.outs["__applied"]).toEqual(state.outs["__applied"]);
    expect((await given.read(next))?.outs).toEqual(next.outs);
    await given.delete(next);
  });

  test("a plan that creates it warns of a variable that is not set", async () => {
    set(undefined);
    const given = await oauth.started();
    const { failures, warnings: says } = await given.plan(GIVEN);
    expect(failures).toEqual([]);
    expect(says).toContain(
      `OAuthProvider ("thing") needs "clientSecret", but ${NAME} is not set. pulumi up fails without it`,
    );
  });

  test("a replacement without its value fails while the old object is still there", async () => {
    const given = await oauth.started();
    set(undefined);
    const other = { ...GIVEN, providerId: "github" };
    expect(await given.check(other, GIVEN)).toEqual([]);
    // The engine checks a replacement once more, as if nothing had been there, and deletes then.
    expect(await given.check(other)).toEqual([
      `the replacement needs "clientSecret", but ${NAME} is not set. Nothing is deleted`,
    ]);
    set(VALUE);
    expect(await given.check(other)).toEqual([]);
    // A text that is not a reference may be the secret itself.
    for (const wrong of [{ fromEnv: `${CANARY} no name` }, { fromFile: 5 }])
      expect(await given.check({ ...other, clientSecret: wrong })).toEqual([
        expect.stringMatching(/^clientSecret: from/),
      ]);
    expectNoSecrets(given);
  });

  test("a replacement of the engine's own without its value fails while the old object is still there", async () => {
    const given = await oauth.started();
    const state = await given.create(GIVEN);
    given.restart();
    set(undefined);
    // With --replace, the engine checks it as if nothing had been there, and deletes the old one then.
    expect(await given.check(GIVEN)).toEqual([]);
    const { message } = await thrownBy(given.delete(state));
    expect(message).toBe(
      `Could not delete ${GOOGLE}: its replacement needs "clientSecret", but ${NAME} is not set. Nothing is deleted`,
    );
    expect(await oauth.kept(given)).toBeDefined();
    set(VALUE);
    await given.delete(state);
    expect(await oauth.kept(given)).toBeUndefined();
  });

  test.each<[string, unknown, unknown]>([
    ["a literal that becomes a reference", VALUE, REFERENCE],
    ["a reference that becomes a literal", REFERENCE, VALUE],
    ["a reference that gets another name", REFERENCE, { fromEnv: OTHER }],
  ])("%s with the same value is an update without a request", async (_, from, to) => {
    set(VALUE, OTHER);
    const given = await oauth.started();
    const state = await given.create({ ...GIVEN, clientSecret: from });
    const next = { ...GIVEN, clientSecret: to };
    // The engine compares the inputs.
    const plan = await planned(given, state, next, { ...GIVEN, clientSecret: from });
    expect([plan.changes ?? "by the engine", plan.says]).toEqual(["by the engine", []]);
    const { next: kept, sent } = await updated(given, state, next);
    expect(sent).toEqual([]);
    expect(kept.outs["clientSecret"]).toEqual(to);
    expect(Object.keys(kept.outs).includes("__applied")).toBe(to !== VALUE);
    if (to === VALUE) return;
    expectHidden(given, kept.outs);
    given.restart();
    expect(await planned(given, kept, next)).toMatchObject({ changes: false, says: [] });
  });

  test.each<[string, unknown, unknown]>([
    ["a literal that becomes a reference", `${CANARY}-before`, { fromEnv: OTHER }],
    ["a reference that becomes a literal", REFERENCE, `${CANARY}-after`],
    ["a reference that gets another name", REFERENCE, { fromEnv: OTHER }],
  ])("%s with another value is sent", async (_, from, to) => {
    set(`${CANARY}-after`, OTHER);
    const given = await oauth.started();
    const state = await given.create({ ...GIVEN, clientSecret: from });
    const { next, sent } = await updated(given, state, { ...GIVEN, clientSecret: to });
    expect(sent).toEqual([hashed(`${CANARY}-after`)]);
    expect(next.outs["clientSecret"]).toEqual(to);
  });

  test("a literal that becomes a reference without a value fails, and the state stays", async () => {
    const given = await oauth.started();
    const state = await given.create({ ...GIVEN, clientSecret: VALUE });
    const next = { ...GIVEN, clientSecret: { fromEnv: OTHER } };
    const { says } = await planned(given, state, next);
    expect(says).toEqual([
      expect.stringMatching(/could not be compared: SVC_TEST_OTHER is not set. pulumi up fails without it/),
    ]);
    await given.forgetRequests();
    const error = await thrownBy(given.update(state, next));
    expect(error.message).toContain(`"clientSecret": ${OTHER} is not set, so nothing was sent`);
    expect(error).not.toHaveProperty("id");
    expect(await given.requests()).toEqual([]);
  });

  test.each([
    ["nonsense", { clientSecret: "scrypt$9$nonsense" }],
    ["nothing", undefined],
    ["no object", 7],
    ["a list", ["scrypt$"]],
    ["an object", { clientSecret: { value: MADE_UP } }],
    ["for other places", JSON.parse(`{"__proto__":"${MADE_UP}","constructor":"${MADE_UP}","client":"${MADE_UP}"}`)],
    ["a secret without a value", { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" }],
    ["as dear as none is", { clientSecret: MADE_UP.replace("16$1", "65536$9") }],
    ["cheap, to guess the value by", { clientSecret: MADE_UP.replace("16$1", "8$1") }],
  ])("a digest that somebody made %s does not count: the value is sent", async (_, __applied) => {
    const given = await oauth.started();
    const state = await given.create(GIVEN);
    const edited = { ...state, outs: { ...state.outs, __applied } };
    const { says } = await planned(given, edited, GIVEN);
    expect(says).toEqual([
      `"clientSecret" of ${GOOGLE}: the state does not record which value was last applied, so the value of ${NAME} is sent`,
    ]);
    const { next, sent } = await updated(given, edited, GIVEN);
    expect(sent).toEqual([hashed(VALUE)]);
    // Once: the new digest is believed.
    expect(await planned(given, next, GIVEN)).toEqual({ changes: false, replaces: [], says: [] });
  });

  test("a digest of an earlier version distinguishes the same value from another, until an update of the resource renews it", async () => {
    const given = await oauth.started();
    const state = await given.create(GIVEN);
    // What 0.1.0 stored: no place.
    const salt = Buffer.alloc(16, 7);
    const hash = scryptSync(VALUE, salt, 32, { N: 2, r: 1, p: 1 });
    const clientSecret = `scrypt$16$1$1$${salt.toString("base64")}$${hash.toString("base64")}`;
    const older = { ...state, outs: { ...state.outs, __applied: { clientSecret } } };
    expect(await planned(given, older, GIVEN)).toMatchObject({ changes: false, says: [] });
    expect((await given.read(older))?.outs).toMatchObject({ clientSecret: REFERENCE, __applied: { clientSecret } });
    const { next, sent } = await updated(given, older, { ...GIVEN, clientId: "other-id" });
    expect([sent, next.outs["__applied"]]).toEqual([
      [undefined],
      { clientSecret: expect.stringMatching(/^scrypt-bound/) },
    ]);
    set(`${CANARY}-rotated`);
    expect(await planned(given, older, GIVEN)).toMatchObject({ changes: true });
  });

  test("a digest that is copied from another object does not count for this one: the value is sent", async () => {
    const given = await oauth.started();
    const state = await given.create(GIVEN);
    const other = await given.create({ ...GIVEN, providerId: "google", adopt: true });
    const edited = { ...state, outs: { ...state.outs, __applied: other.outs["__applied"] } };
    expect(await planned(given, edited, GIVEN)).toMatchObject({ changes: true });
    const { next, sent } = await updated(given, edited, GIVEN);
    expect(sent).toEqual([hashed(VALUE)]);
    expect(await planned(given, next, GIVEN)).toMatchObject({ changes: false });
  });

  test.each([
    ["EmailServer", () => email.started(), { ...email.STANDARD, password: REFERENCE }, "password"],
    ["ComputeEndpoint", () => harness(KIND_CASES.ComputeEndpoint.lifecycle), COMPUTE, "settings.pgSettings.app.token"],
  ] as const)(
    "%s with a digest that is not believed is sent once, also after a refresh",
    async (_, started, inputs, path) => {
      for (const refreshes of [false, true]) {
        const given = await started();
        const state = await given.create(inputs);
        const cheap = { [path]: MADE_UP.replace("16$1", "8$1") };
        const edited = { ...state, outs: { ...state.outs, __applied: cheap } };
        given.restart();
        const outs = refreshes ? ((await given.read(edited))?.outs ?? {}) : edited.outs;
        expect(JSON.stringify(outs)).not.toContain(CANARY);
        const found = { ...edited, outs };
        expect(await planned(given, found, inputs)).toMatchObject({ changes: true, replaces: [] });
        const next = await given.update(found, inputs);
        expect(await planned(given, next, inputs)).toEqual({ changes: false, replaces: [], says: [] });
      }
    },
  );

  test("an update that failed leaves the digest of before, so that the next one sends the value again", async () => {
    const given = await oauth.started();
    const state = await given.create(GIVEN);
    set(`${CANARY}-rotated`);
    await given.fault({ method: "PATCH", path: `${oauth.PATH}/microsoft`, status: 500, times: 0 });
    const { properties, id } = await keptBy(given.update(state, GIVEN));
    await given.clearFaults();
    const open = { id, outs: properties };
    expect(open.outs["__applied"]).toEqual(state.outs["__applied"]);
    expect((await planned(given, open, GIVEN)).changes).toBe(true);
    expect((await updated(given, open, GIVEN)).sent).toEqual([hashed(`${CANARY}-rotated`)]);
  });

  test("an update whose response was lost is sent again, whatever the value is by then, and fails where it has none", async () => {
    const given = await oauth.started();
    const state = await given.create(GIVEN);
    set(`${CANARY}-rotated`);
    await given.fault({ method: "PATCH", path: `${oauth.PATH}/microsoft`, drop: "reset", effect: "done", times: 0 });
    const { properties, id } = await keptBy(given.update(state, GIVEN));
    await given.clearFaults();
    const open = { id, outs: properties };
    expect(open.outs).toMatchObject({ __unfinished: "update", __sent: ["clientSecret"] });
    for (const value of [VALUE, `${CANARY}-rotated`, `${CANARY}-third`]) {
      set(value);
      expect((await planned(given, open, GIVEN)).changes).toBe(true);
      const { next, sent } = await updated(given, open, GIVEN);
      expect(sent).toEqual([hashed(value)]);
      expect(await planned(given, next, GIVEN)).toMatchObject({ changes: false, says: [] });
    }
    set(undefined);
    expect((await planned(given, open, GIVEN)).says).toEqual([
      expect.stringContaining('This update resumes it: "clientSecret" is sent again'),
      expect.stringMatching(/pulumi up fails without it$/),
    ]);
    await given.forgetRequests();
    expect((await thrownBy(given.update(open, GIVEN))).message).toContain(`${NAME} is not set, so nothing was sent`);
    expect(await given.requests()).toEqual([]);
    expectNoSecrets(given);
  });

  test("a mail server sends the password with each change, and a refresh keeps its name", async () => {
    const given = await email.started();
    const inputs = { ...email.STANDARD, password: REFERENCE };
    const state = await given.create(inputs);
    await given.forgetRequests();
    const next = await given.update(state, { ...inputs, port: 25 });
    expect((await given.mutations()).map(({ body }) => body["password"])).toEqual([hashed(VALUE)]);
    expect((await given.read(next))?.inputs).toMatchObject({ password: REFERENCE });
    set(undefined);
    const error = await thrownBy(given.update(next, inputs));
    expect(error.message).toMatch(new RegExp(`Could not update EmailServer .*${NAME} is not set, so nothing was sent`));
  });

  describe("and ignoreChanges names it", () => {
    const asIgnored = (...paths: string[]) => ({ ...GIVEN, __ignoreChanges: paths });

    test.each([["clientSecret"], ["*"], ['["clientSecret"]']])(
      "as %s, another value and a missing one are no change",
      async (path) => {
        const given = await oauth.started();
        const state = await given.create(GIVEN);
        for (const value of [`${CANARY}-rotated`, undefined]) {
          set(value);
          expect(await planned(given, state, asIgnored(path))).toEqual({ changes: false, replaces: [], says: [] });
        }
        // Another argument does not send it, and so its digest stays.
        set(`${CANARY}-rotated`);
        const { next, sent } = await updated(given, state, { ...asIgnored(path), clientId: "other-id" });
        expect([sent, next.outs["__applied"]]).toEqual([[undefined], state.outs["__applied"]]);
        expect(await planned(given, next, { ...GIVEN, clientId: "other-id" })).toMatchObject({ changes: true });
      },
    );

    test.each([
      ["settings", 0],
      ["settings.pgSettings", 0],
      ["settings.pgSettings.*", 0],
      ['settings.pgSettings["app.token"]', 0],
      // Without quotes it leads to no setting, which is said too.
      ["settings.pgSettings.app.token", 2],
      ["settings.pgSettings.work_mem", 1],
      ["size", 1],
    ])("as %s, another value of a setting is said with %i lines", async (path, lines) => {
      const given = await harness(KIND_CASES.ComputeEndpoint.lifecycle);
      const state = await given.create(COMPUTE);
      set(`${CANARY}-rotated`);
      const plan = await planned(given, state, { ...COMPUTE, __ignoreChanges: [path] }, COMPUTE);
      expect([plan.changes, plan.says.length]).toEqual([lines > 0, lines]);
    });

    test("what is sent with another argument is what the service has, and no value is needed for that", async () => {
      const given = await email.started();
      const inputs = { ...email.STANDARD, password: REFERENCE };
      const state = await given.create(inputs);
      for (const value of [`${CANARY}-rotated`, undefined]) {
        set(value);
        const port = value === undefined ? 26 : 25;
        const news = { ...inputs, port };
        const plan = await planned(given, state, { ...news, __ignoreChanges: ["password"] }, inputs);
        expect(plan).toMatchObject({ says: [] });
        await given.forgetRequests();
        const next = await given.update(state, news);
        expect((await given.mutations()).map(({ body }) => body["password"])).toEqual([hashed(VALUE)]);
        expect(next.outs["__applied"]).toEqual(state.outs["__applied"]);
      }
      set(`${CANARY}-rotated`);
      // Once it is not ignored any more, the value that differs is sent.
      expect(await planned(given, state, inputs)).toMatchObject({ changes: true });
    });

    test("a mail server that does not show its password is not changed: nobody knows which one it has", async () => {
      const given = await email.started({ secretAnswers: "masked" });
      const inputs = { ...email.STANDARD, password: REFERENCE };
      const state = await given.create(inputs);
      const news = { ...inputs, port: 25 };
      await planned(given, state, { ...news, __ignoreChanges: ["password"] }, inputs);
      await given.forgetRequests();
      expect((await thrownBy(given.update(state, news))).message).toMatch(
        /whether this change would set "password" of the e-mail server of project prj-demo back/,
      );
      expect(await given.mutations()).toEqual([]);
    });
  });

  test.each([
    ["beside another argument, where all is sent", { port: 25 }, { ...email.STANDARD, password: REFERENCE }],
    ["of a mail server that was the shared one", {}, email.SHARED],
  ])("a plan warns of the missing value that is needed: %s", async (_, more, olds) => {
    const given = await email.started();
    const inputs = { ...email.STANDARD, password: REFERENCE };
    const state = await given.create(olds);
    set(undefined);
    const news = { ...inputs, ...more };
    const text = `"password" of EmailServer ${PROJECT} ("thing"): could not be compared: ${NAME} is not set`;
    expect((await planned(given, state, news, olds)).says).toContain(`${text}. pulumi up fails without it`);
    await given.forgetRequests();
    const { message } = await thrownBy(given.update(state, news));
    expect(message).toContain(`"password": ${NAME} is not set, so nothing was sent`);
    expect(await given.requests()).toEqual([]);
    // What is not known yet may turn out to be as it was.
    const { says } = await planned(given, state, { ...inputs, senderName: UNKNOWN }, olds);
    expect(says.some((one) => one === text)).toBe(olds !== email.SHARED);
  });

  test("a plan warns of the missing value of a setting that is sent with another one, or once more", async () => {
    const given = await harness(KIND_CASES.ComputeEndpoint.lifecycle);
    const state = await given.create(COMPUTE);
    set(undefined);
    const settings = { pgSettings: { ...COMPUTE.settings.pgSettings, work_mem: "32MB" } };
    const fails = expect.stringMatching(/app\.token" of .* is not set\. pulumi up fails without it$/);
    expect((await planned(given, state, { ...COMPUTE, settings }, COMPUTE)).says).toContainEqual(fails);
    const open = { ...state, outs: { ...state.outs, __unfinished: "update", __sent: ["settings"] } };
    expect((await planned(given, open, COMPUTE)).says).toContainEqual(fails);
    const other = { ...open, outs: { ...open.outs, __sent: ["size"] } };
    const untold = expect.stringMatching(/app\.token" of .* is not set$/);
    expect((await planned(given, other, COMPUTE)).says).toContainEqual(untold);
    expect((await planned(given, state, { ...COMPUTE, size: 2 }, COMPUTE)).says).toContainEqual(untold);
  });

  test("a setting that the service shows is the reference, and another value there a text", async () => {
    const given = await harness(KIND_CASES.ComputeEndpoint.lifecycle);
    const state = await given.create(COMPUTE);
    const found = await given.read(state);
    expect(found?.inputs).toMatchObject({ settings: COMPUTE.settings });
    expect(await planned(given, state, COMPUTE)).toMatchObject({ changes: false });
    const byHand = { pg_settings: { work_mem: "64MB", "app.token": `${CANARY}-by-hand` } };
    await given.edit({ kind: "endpoint", id: String(state.outs["endpointId"]), set: { settings: byHand } });
    const drifted = await given.read(state);
    expect(drifted?.inputs).toMatchObject({
      settings: { pgSettings: { work_mem: "64MB", "app.token": "(another value: changed outside Pulumi)" } },
    });
    expectHidden(given, drifted ?? {});
    // Stored, the text takes the place of the reference: a second look shows no more.
    expect((await given.read({ id: state.id, outs: drifted?.outs ?? {} }))?.inputs).toEqual(drifted?.inputs);
    given.restart();
    const mended = await given.update(drifted ?? state, COMPUTE);
    expect(JSON.stringify((await given.mutations()).at(-1)?.body)).toContain(hashed(VALUE));
    expect((await given.read(mended))?.inputs).toMatchObject({ settings: COMPUTE.settings });
  });

  test("a setting that the service, or the program, names in another case is the same one", async () => {
    const given = await harness(KIND_CASES.ComputeEndpoint.lifecycle);
    const inputs = { ...COMPUTE, settings: { pgSettings: { "App.Token": REFERENCE, work_mem: "64MB" } } };
    const state = await given.create(inputs);
    const shown = { "app.token": VALUE, work_mem: "64MB", jit: "off" };
    await given.edit({
      kind: "endpoint",
      id: String(state.outs["endpointId"]),
      set: { settings: { pg_settings: shown } },
    });
    const text = "(another value: changed outside Pulumi)";
    const found = await given.read(state);
    const { "app.token": _value, ...others } = shown;
    expect(found?.inputs["settings"]).toEqual({ pgSettings: { ...others, "App.Token": REFERENCE } });
    expectHidden(given, found ?? {});
    const respelled = { ...COMPUTE, settings: { pgSettings: { "APP.token": REFERENCE, work_mem: "64MB" } } };
    expect(await planned(given, state, respelled, inputs)).toMatchObject({ changes: false, says: [] });
    set(`${CANARY}-rotated`);
    given.restart();
    expect((await planned(given, state, respelled, inputs)).says).toEqual([
      expect.stringMatching(/"settings.pgSettings.APP.token" of .* differs from the last applied one/),
    ]);
    set(VALUE);
    given.restart();
    const twice = { ...COMPUTE, settings: { pgSettings: { "app.token": REFERENCE, "App.token": "x" } } };
    expect(await given.check(twice)).toEqual([
      "settings.pgSettings.App.token: is given twice: Postgres ignores upper and lower case in the names of settings",
    ]);
    // The same of what a change that failed leaves.
    const values = new SecretValues(declaration.args, () => undefined);
    values.valueOf(REFERENCE);
    const other = { settings: { pgSettings: { ...shown, "of.the.service": VALUE } } };
    expect(values.withoutValues(inputs, other)).toEqual({
      settings: { pgSettings: { "app.token": REFERENCE, work_mem: "64MB", jit: "off", "of.the.service": text } },
    });
    // A value that no reference of now has may be the one of before.
    const former = { settings: { pgSettings: { ...shown, "app.token": `${CANARY}-former` } } };
    expect(values.withoutValues(inputs, former)).toEqual({ settings: { pgSettings: { ...shown, "app.token": text } } });
  });

  test("a value in another unit is the same one: as the service shows it, as the variable has it, and as a literal", async () => {
    const given = await harness(KIND_CASES.ComputeEndpoint.lifecycle);
    const inputs = { ...COMPUTE, settings: { pgSettings: { shared_buffers: REFERENCE } } };
    set("128MB");
    const state = await given.create(inputs);
    const show = (value: string): Promise<void> =>
      given.edit({
        kind: "endpoint",
        id: String(state.outs["endpointId"]),
        set: { settings: { pg_settings: { shared_buffers: value } } },
      });
    await show("131072kB");
    expect((await given.read(state))?.inputs["settings"]).toEqual(inputs.settings);
    set("131072kB");
    expect(await planned(given, state, inputs)).toMatchObject({ changes: false, says: [] });
    const literal = { ...COMPUTE, settings: { pgSettings: { shared_buffers: "0.125GB" } } };
    await given.forgetRequests();
    await planned(given, state, literal, inputs);
    const asLiteral = await given.update(state, literal);
    await planned(given, asLiteral, inputs, literal);
    await given.update(asLiteral, inputs);
    expect(await given.mutations()).toEqual([]);
    // An earlier version made the digest of the value as it was.
    const place = { kind: "ComputeEndpoint", id: state.id, path: "settings.pgSettings.shared_buffers" };
    const old = { ...state.outs, __applied: { [place.path]: (await new Digests().of("128MB"))(place) } };
    set("128MB");
    expect(await planned(given, { id: state.id, outs: old }, inputs)).toMatchObject({ changes: false, says: [] });
    await show("256MB");
    expect((await given.read(state))?.inputs).toMatchObject({
      settings: { pgSettings: { shared_buffers: "(another value: changed outside Pulumi)" } },
    });
  });

  test("a rotated setting is sent, and restarts nothing by itself", async () => {
    const given = await harness(KIND_CASES.ComputeEndpoint.lifecycle);
    const state = await given.create(COMPUTE);
    set(`${CANARY}-rotated`);
    expect((await planned(given, state, COMPUTE)).says).toEqual([
      expect.stringContaining(`"settings.pgSettings.app.token" of ComputeEndpoint`),
    ]);
    await given.forgetRequests();
    const next = await given.update(state, COMPUTE);
    expect((await given.mutations()).map(({ method }) => method)).toEqual(["PATCH"]);
    expect(await planned(given, next, COMPUTE)).toMatchObject({ changes: false, says: [] });
    expectHidden(given, next.outs);
  });
});
