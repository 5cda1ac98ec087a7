/**
 * `ignoreChanges` with a mail server, whose every change replaces all of it: what it names is the service's
 * (docs/design/rules.md, 5).
 */
import type { Properties } from "../../../src/contract/hiddenKeys";
import { hashed } from "../../../src/emulator/model/records";
import {
  configured,
  PATH,
  patches,
  setByHand,
  SHARED,
  STANDARD,
  started,
  THEIRS,
  WHOLE,
} from "../../support/emailServers";
import {
  CANARY,
  expectNoSecrets,
  keptBy,
  notes,
  planAfterRefresh,
  PROJECT,
  thrownBy,
  type Harness,
  type State,
} from "../../support/harness";
import { EMAIL } from "../../support/rules/routes";
import { emailScene } from "../../support/rules/scenes";
import { json } from "../../support/rules/hostile";

const ROTATED = { username: "rotated", password: `${CANARY}-rotated` };

/** An `up` to a program: as the engine does, which restores the earlier inputs at the ignored paths by itself. */
async function up(given: Harness, state: State, olds: Properties, news: Properties, ignored: readonly string[]) {
  given.restart();
  const program = { ...news, __ignoreChanges: ignored };
  expect(await given.check(program, olds)).toEqual([]);
  await given.diff(state, program);
  return given.update(state, program);
}

/** What a plan says of the service, and how it ends. */
async function planned(given: Harness, state: State, olds: Properties, news: Properties, ignored: readonly string[]) {
  given.restart();
  const before = given.log.length;
  const program = { ...news, __ignoreChanges: ignored };
  expect((await given.plan(program, olds)).failures).toEqual([]);
  const failure = await given.diff(state, program).then(
    () => undefined,
    (error: Error) => error.message,
  );
  const says = given.log.slice(before).filter(({ severity }) => severity === "warning");
  return { says: says.map(({ message }) => message), failure };
}

const strictly = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  process.env["SVC_STRICT_PLAN"] = "1";
  return work().finally(() => delete process.env["SVC_STRICT_PLAN"]);
};

const RENAMED = { ...STANDARD, senderName: "Renamed" };
const UNKNOWN_PASSWORD =
  'it is not known whether this change would set "password" of the e-mail server of project prj-demo';

describe.each([
  ["by name", ["username", "password"]],
  ["in brackets", ['["username"]', '["password"]']],
])("credentials that were rotated by hand, with ignoreChanges %s", (_how, ignored) => {
  test("stay when another argument changes, and the plan has nothing to say", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await setByHand(given, ROTATED);
    await given.forgetRequests();
    expect(await planned(given, state, STANDARD, RENAMED, ignored)).toEqual({ says: [], failure: undefined });
    const next = await up(given, state, STANDARD, RENAMED, ignored);
    expect(await patches(given)).toEqual([WHOLE]);
    expect(await configured(given)).toMatchObject({ ...ROTATED, sender_name: "Renamed" });
    expectNoSecrets(given);
    // What the engine hands over is what the state holds.
    expect(await given.diff(next, RENAMED)).toMatchObject({ changes: false });
  });

  test("stay after a refresh too", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await setByHand(given, ROTATED);
    given.restart();
    const { inputs, ...found } = (await given.read(state)) ?? { ...state, inputs: STANDARD };
    await up(given, found, inputs, { ...inputs, senderName: "Renamed" }, ignored);
    expect(await configured(given)).toMatchObject({ ...ROTATED, sender_name: "Renamed" });
    expectNoSecrets(given);
  });

  test.each(["masked", "absent"] as const)(
    "are not set back where the service answers with a password that is %s: the plan says so, and nothing is sent",
    async (secretAnswers) => {
      const given = await started({ secretAnswers });
      const state = await given.create(STANDARD);
      await setByHand(given, ROTATED);
      given.restart();
      // The refresh finds the new user name, and the state keeps the old password.
      const { inputs, ...found } = (await given.read(state)) ?? { ...state, inputs: STANDARD };
      expect(found.outs).toMatchObject({ username: ROTATED.username, password: STANDARD.password });
      const news = { ...inputs, senderName: "Renamed" };
      const plan = await planned(given, found, inputs, news, ignored);
      expect(plan).toEqual({
        says: [
          `pulumi up will fail here: ${UNKNOWN_PASSWORD} ("thing") back: "password" is in ignoreChanges, and the service does not show it, but accepts the change only together with it. ` +
            'Nothing was sent. To send what the program gives, remove "password" from ignoreChanges; or make this change at the service',
        ],
        failure: undefined,
      });
      const strict = await strictly(() => planned(given, found, inputs, news, ignored));
      expect(strict).toMatchObject({ says: [], failure: expect.stringContaining(UNKNOWN_PASSWORD) });
      await given.forgetRequests();
      const error = await thrownBy(up(given, found, inputs, news, ignored));
      expect(error.message).toContain(UNKNOWN_PASSWORD);
      // The state stays as it is.
      expect(error).not.toHaveProperty("id");
      expect(await given.mutations()).toEqual([]);
      // The way out: the program gives the password.
      await up(given, found, inputs, { ...news, password: ROTATED.password }, ["username"]);
      expect(await given.state()).toMatchObject({
        email_server: { username: ROTATED.username, password: hashed(ROTATED.password), sender_name: "Renamed" },
      });
      expectNoSecrets(given);
    },
  );
});

test.each([
  ["echo", true],
  ["masked", false],
] as const)(
  "an unfinished change with everything ignored sets nothing back, with passwords that are shown as %s",
  async (secretAnswers, isSent) => {
    const given = await started({ secretAnswers });
    const state = await given.create(STANDARD);
    const open = { ...state, outs: { ...state.outs, __unfinished: "update" } };
    await setByHand(given, ROTATED);
    const going = up(given, open, STANDARD, STANDARD, ["*"]);
    if (isSent) expect((await going).outs).not.toHaveProperty("__unfinished");
    else expect((await thrownBy(going)).message).toContain(UNKNOWN_PASSWORD);
    expect(await given.state()).toMatchObject({
      email_server: { ...ROTATED, password: hashed(ROTATED.password), sender_name: STANDARD.senderName },
    });
  },
);

test("a shared server drops all that somebody has set since: the plan names it", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  expect((await planned(given, state, STANDARD, SHARED, [])).says).toEqual([]);
  await setByHand(given, { host: THEIRS.host, sender_name: THEIRS.sender_name });
  expect((await planned(given, state, STANDARD, SHARED, [])).says).toEqual([
    'pulumi up clears "host", "senderName" of the e-mail server of project prj-demo ("thing"): the program does not list them',
  ]);
});

test.each(["masked", "absent"] as const)(
  "a shared server drops a password that comes back %s, too: plan and update name it",
  async (secretAnswers) => {
    const given = await started({ secretAnswers });
    const own = await given.create(STANDARD);
    // The plan shows that the password of the state goes.
    expect((await planned(given, own, STANDARD, SHARED, [])).says).toEqual([]);
    const state = await given.update(own, SHARED);
    await setByHand(given, THEIRS);
    const found = await given.read({ id: own.id, outs: state.outs });
    if (found === undefined) throw new Error("it is there");
    for (const ignored of [[], ["password"]])
      expect((await planned(given, found, found.inputs, SHARED, ignored)).says).toEqual([
        'pulumi up clears "password" of the e-mail server of project prj-demo ("thing"): the program does not list it',
      ]);
    await up(given, found, found.inputs, SHARED, ["password"]);
    expect(notes(given).at(-1)).toBe('EmailServer prj-demo: "password" was set at the service, and was cleared');
    expect(await configured(given)).toEqual({ type: "shared" });
    expectNoSecrets(given);
  },
);

test("what somebody has set after the plan is named by the update", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  expect((await planned(given, state, STANDARD, RENAMED, [])).says).toEqual([]);
  await setByHand(given, { host: THEIRS.host });
  await up(given, state, STANDARD, RENAMED, []);
  expect(notes(given).at(-1)).toBe(
    'EmailServer prj-demo: "host" had another value at the service than in the state, and was overwritten',
  );
});

test("a value that the service keeps of its own is called so the second time", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  const news = { ...STANDARD, username: "other" };
  await given.fault({ method: "PATCH", path: PATH, effect: "done", merge: { username: "o" }, times: 0 });
  await given.fault({ method: "GET", path: PATH, effect: "done", merge: { username: "o" }, times: 0 });
  const first = await keptBy(up(given, state, STANDARD, news, []));
  expect(first.message).toContain(
    'another "username" after it accepted the change. The change is kept in the stack: run pulumi up again.',
  );
  const second = await keptBy(up(given, { id: first.id, outs: first.properties }, STANDARD, news, []));
  expect(second.message).toContain("It was so after the change before, too: the service keeps its own value.");
  expectNoSecrets(given);
});

test("what is sent back is what the service has when the request leaves, not when the update began", async () => {
  const { given, network } = await emailScene({ secretAnswers: "echo" });
  const state = await given.create(STANDARD);
  // Somebody rotates the credentials while the service asks to wait.
  network.on({
    method: "PATCH",
    path: EMAIL,
    nth: 1,
    executed: false,
    after: () => setByHand(given, ROTATED),
    answer: json({ code: "", message: "busy" }, 423),
  });
  await up(given, state, STANDARD, RENAMED, ["username", "password"]);
  expect(await configured(given)).toMatchObject({ ...ROTATED, sender_name: "Renamed" });
});

test("a change that the response does not show in what is ignored is done", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  await given.fault({ method: "PATCH", path: EMAIL, effect: "done", merge: { username: "of the service" } });
  const { outs } = await up(given, state, STANDARD, RENAMED, ["username"]);
  expect(outs).toMatchObject({ senderName: "Renamed" });
  expect(outs).not.toHaveProperty("__unfinished");
});

test.each(["password", "username"])(
  "the shared server has no %s that could be lost: that of the program is sent",
  async (name) => {
    const given = await started({ secretAnswers: "masked" });
    const state = await given.create(STANDARD);
    await setByHand(given, { type: "shared" });
    const plan = await planned(given, state, STANDARD, RENAMED, [name]);
    expect(plan.says).toEqual([
      'pulumi up overwrites "type" of the e-mail server of project prj-demo ("thing"): the service has another value there than the state',
    ]);
    await up(given, state, STANDARD, RENAMED, [name]);
    expect(await given.state()).toMatchObject({
      email_server: {
        type: "standard",
        username: STANDARD.username,
        password: hashed(STANDARD.password),
        sender_name: "Renamed",
      },
    });
  },
);

test("a type that is ignored does not become another one: the update says what does not go with it", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  await setByHand(given, { type: "shared" });
  await given.forgetRequests();
  expect((await thrownBy(up(given, state, STANDARD, RENAMED, ["type"]))).message).toMatch(
    /"type" is in ignoreChanges, and the service has "shared" there: "host" is only allowed for the type "standard"\. Nothing was sent/,
  );
  expect(await given.mutations()).toEqual([]);
});

test("a creation that did not finish goes on with the password that it had sent", async () => {
  const given = await started({ secretAnswers: "masked" });
  await given.fault({ method: "PATCH", path: EMAIL, effect: "done", merge: { host: "other.example.com" } });
  const { id, properties } = await keptBy(given.create(STANDARD));
  await setByHand(given, { password: `${CANARY}-half` });
  const { outs } = await up(given, { id, outs: properties }, STANDARD, STANDARD, ["password"]);
  expect(outs).not.toHaveProperty("__unfinished");
  expect(await given.state()).toMatchObject({ email_server: { password: hashed(STANDARD.password) } });
});

test("an ignored argument is no drift, and no change of the next plan", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  await setByHand(given, ROTATED);
  const next = await up(given, state, STANDARD, RENAMED, ["username", "password"]);
  given.restart();
  const { found } = await planAfterRefresh(given, next, RENAMED);
  // The engine restores what the refresh has put into the inputs.
  expect(await given.diff(found, { ...RENAMED, ...ROTATED })).toMatchObject({ changes: false });
});

describe("what a change sends along without ignoreChanges", () => {
  test("is named by the plan where somebody has changed it", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await setByHand(given, { ...ROTATED, port: 2525 });
    const { says, failure } = await planned(given, state, STANDARD, RENAMED, []);
    expect([says, failure]).toEqual([
      [
        'pulumi up overwrites "password", "port", "username" of the e-mail server of project prj-demo ("thing"): the service has another value there than the state',
      ],
      undefined,
    ]);
    // An effect fails no strict plan.
    expect(await strictly(() => planned(given, state, STANDARD, RENAMED, []))).toEqual({ says, failure });
    expectNoSecrets(given);
  });

  test("is named where the service does not show it", async () => {
    const given = await started({ secretAnswers: "absent" });
    const state = await given.create(STANDARD);
    expect((await planned(given, state, STANDARD, RENAMED, [])).says).toEqual([
      'pulumi up also sets "password" of the e-mail server of project prj-demo ("thing"), because it sends all of it. The service does not show the value that it has: one that was set by hand is lost',
    ]);
    // The password itself changes: the plan shows that.
    const password = `${CANARY}-new`;
    expect((await planned(given, state, STANDARD, { ...STANDARD, password }, [])).says).toEqual([]);
  });

  test("is another server that came in place of the shared one, which the state does not know", async () => {
    const given = await started();
    const state = await given.create(SHARED);
    await setByHand(given, THEIRS);
    const { says } = await planned(given, state, SHARED, STANDARD, []);
    expect(says.join()).toMatch(
      /^pulumi up overwrites "host", "password", "port", "senderEmail", "senderName", "username" of/,
    );
  });

  test("is announced when an update goes on with a change that did not finish", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    const open = { ...state, outs: { ...state.outs, __unfinished: "update" } };
    expect((await planned(given, open, STANDARD, STANDARD, [])).says).toEqual([
      `the previous update of EmailServer ${PROJECT} ("thing") did not finish. This update resumes it: all of its arguments are sent again`,
    ]);
  });
});
