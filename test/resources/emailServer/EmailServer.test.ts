import { emailServer } from "../../../src/resources/emailServer/emailServerLifecycle";
import {
  configured,
  PATH,
  patches,
  setByHand,
  SHARED,
  SMTP,
  STANDARD,
  started,
  THEIRS,
  WHOLE,
} from "../../support/emailServers";
import {
  CANARY,
  expectNoSecrets,
  harness,
  keptBy,
  notes,
  offline,
  planAfterRefresh,
  PROJECT,
  PROVIDER,
  thrownBy,
  urnOf,
  withIntegration,
} from "../../support/harness";

describe("creating a mail configuration", () => {
  test("is announced as what overwrites another server, and only where it is new", async () => {
    const given = await started();
    expect(await offline(() => given.plan(STANDARD))).toEqual({
      failures: [],
      warnings: [
        `creating an EmailServer sets the mail configuration of project ${PROJECT}: another server that is configured there is overwritten`,
      ],
    });
    given.restart();
    expect(await offline(() => given.plan(STANDARD, STANDARD))).toEqual({ failures: [], warnings: [] });
  });

  test("sends a standard one as a whole, with complete outs", async () => {
    const given = await started();
    const { id, outs } = await given.create(STANDARD);
    expect(id).toBe(PROJECT);
    expect(outs).toMatchObject({ ...STANDARD, authProviderProjectId: expect.any(String) });
    expect(outs["__args"]).toEqual(["projectId", "type", ...SMTP].sort());
    expect(await patches(given)).toEqual([WHOLE]);
    expect(await configured(given)).toEqual({
      type: "standard",
      host: "smtp.example.com",
      port: 587,
      username: "mailer",
      password: `${CANARY}-smtp`,
      sender_email: "auth@example.com",
      sender_name: "Example",
    });
    expect(notes(given)).toEqual([]);
    expectNoSecrets(given);
  });

  test("sends a shared one as its type", async () => {
    const given = await started();
    const { outs } = await given.create(SHARED);
    expect(outs).toMatchObject(SHARED);
    expect(await patches(given)).toEqual([["PATCH", "type"]]);
  });

  test("says when another server was configured there, by its host alone", async () => {
    const given = await started();
    await setByHand(given, { ...THEIRS, port: 587 });
    await given.create(STANDARD);
    expect(notes(given)).toEqual([
      `EmailServer ${PROJECT}: another server was configured there (smtp.theirs.example.com), different in "host", "username", "password", "senderEmail", "senderName"; it was overwritten`,
    ]);
    expectNoSecrets(given);
  });

  test("says nothing when the same server was configured there", async () => {
    const given = await started();
    await given.create(STANDARD);
    await given.create({ ...STANDARD, host: "SMTP.example.com" });
    expect(notes(given)).toEqual([]);
  });

  test.each(["masked", "absent"] as const)("says so when its password comes back %s", async (secretAnswers) => {
    const given = await started({ secretAnswers });
    await setByHand(given, { ...THEIRS, port: 587 });
    await given.create(STANDARD);
    expect(notes(given)[0]).toMatch(/different in "host", .*; the service does not show its "password"; it was over/);
    const there = 'a server was configured there (smtp.example.com), and the service does not show its "password"';
    expect((await given.plan(STANDARD)).warnings).toEqual([expect.stringContaining(there)]);
    await given.create(STANDARD);
    expect(notes(given).at(-1)).toBe(`EmailServer ${PROJECT}: ${there}; it was overwritten`);
    expectNoSecrets(given);
  });

  test("that the service refuses leaves nothing in the state and keeps the password to itself", async () => {
    const given = await started();
    const body = { message: `535 ${CANARY}-smtp`, code: "" };
    await given.fault({ method: "PATCH", path: PATH, status: 422, body });
    const error = await thrownBy(given.create(STANDARD));
    expect(error.message).toMatch(/^Could not create EmailServer \("thing"\): the service refused.*422/);
    expect(error).not.toHaveProperty("id");
    expectNoSecrets(given);
  });
});

describe("changing a mail configuration", () => {
  test.each([
    ["host", "smtp2.example.com"],
    ["port", 2525],
    ["username", "other"],
    ["password", `${CANARY}-new`],
    ["senderEmail", "other@example.com"],
    ["senderName", "Other"],
  ])("sends all of it, because a standard one requires it: %s", async (name, value) => {
    const given = await started();
    const state = await given.create(STANDARD);
    const news = { ...STANDARD, [name]: value };
    expect(await given.diff(state, news)).toEqual({ replaces: [], deleteBeforeReplace: true });
    await given.forgetRequests();
    expect((await given.update(state, news)).outs).toMatchObject(news);
    expect(await patches(given)).toEqual([WHOLE]);
    expect(Object.values(await configured(given))).toContain(value);
    expectNoSecrets(given);
  });

  test("from standard to shared is an update that leaves none of the fields behind, and warns of nothing", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await given.check(SHARED, STANDARD);
    expect(await given.diff(state, SHARED)).toEqual({ replaces: [], deleteBeforeReplace: true });
    const { outs } = await given.update(state, SHARED);
    expect(outs).toMatchObject({ ...SHARED, __args: ["projectId", "type"] });
    for (const name of SMTP) expect(outs).not.toHaveProperty(name);
    expect(await configured(given)).toEqual({ type: "shared" });
    expect(given.log).toEqual([]);
    expect(await planAfterRefresh(given, { ...state, outs }, SHARED)).toMatchObject({ changes: false });
  });

  test("from shared to standard is an update", async () => {
    const given = await started();
    const state = await given.create(SHARED);
    expect((await given.diff(state, STANDARD)).replaces).toEqual([]);
    await given.update(state, STANDARD);
    expect(await configured(given)).toMatchObject({ type: "standard", host: "smtp.example.com" });
  });

  test("another case of the host is no change", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    expect(await given.diff(state, { ...STANDARD, host: "SMTP.Example.COM" })).toMatchObject({ changes: false });
  });
});

describe("a configuration that is not shown as it was sent", () => {
  const other = { method: "PATCH", path: PATH, effect: "done", merge: { host: "other.example.com" } };

  test("is in the state as it is shown, without the password, until an update shows all of it", async () => {
    const given = await started();
    await given.fault(other);
    const error = await keptBy(given.create(STANDARD));
    expect(error.message).toContain('the service still shows another "host" after it accepted the change');
    const { password: _password, ...shown } = STANDARD;
    expect(error).toMatchObject({ id: PROJECT, properties: { ...shown, host: "other.example.com" } });
    expect(error.properties["password"]).toBeUndefined();
    expect(error.properties).toHaveProperty("__unfinished", "create");
    given.restart();
    // A refresh does not show which password was applied last.
    const { found, changes } = await planAfterRefresh(given, { id: error.id, outs: error.properties }, STANDARD);
    expect([found.outs["__unfinished"], changes]).toEqual(["create", true]);
    await given.forgetRequests();
    const { outs } = await given.update({ id: found.id, outs: found.outs }, STANDARD);
    expect(outs).toMatchObject(STANDARD);
    expect(outs).not.toHaveProperty("__unfinished");
    expect(await patches(given)).toEqual([WHOLE]);
    expectNoSecrets(given);
  });

  test("keeps the password that was known to be applied", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await given.fault(other);
    const news = { ...STANDARD, port: 25, password: `${CANARY}-new` };
    const { properties } = await keptBy(given.update(state, news));
    expect(properties).toMatchObject({ host: "other.example.com", port: 25, password: STANDARD.password });
  });

  test("is waited for where the response shows what somebody has set up meanwhile, of which the state knows nothing", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await setByHand(given, THEIRS);
    await given.fault({ method: "PATCH", path: PATH, effect: "done", merge: THEIRS });
    expect((await given.update(state, { ...STANDARD, port: 25 })).outs).toMatchObject({ ...STANDARD, port: 25 });
    expect(await configured(given)).toMatchObject({ host: STANDARD.host, port: 25 });
  });

  test("is over for a refresh where no password is managed", async () => {
    const given = await started();
    await given.fault({ ...other, merge: { type: "standard" } });
    const { id, properties } = await keptBy(given.create(SHARED));
    given.restart();
    const { found, changes } = await planAfterRefresh(given, { id, outs: properties }, SHARED);
    expect([found.outs["__unfinished"], changes]).toEqual([undefined, false]);
  });

  test.each<[string, object, boolean]>([
    ["shows what was sent: it is done", { body: "", effect: "done" }, true],
    ["shows something else: it is not", { body: "" }, false],
    ["cannot show the password, after an answer of another shape: it is not", { body: [], effect: "done" }, false],
  ])("is looked at after an answer that says nothing, and %s", async (_, fault, isDone) => {
    const given = await started();
    await setByHand(given, THEIRS);
    await given.fault({ method: "PATCH", path: PATH, status: 200, ...fault });
    const outcome = await given.create(STANDARD).catch((error: Error) => error);
    if (isDone) expect(outcome).toMatchObject({ outs: STANDARD });
    else expect(outcome).toBeInstanceOf(Error);
  });
});

test("a field that was managed by hand and is as declared is taken over without a request", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  const { __args: _args, ...outs } = state.outs;
  await given.forgetRequests();
  const managed = Object.keys(STANDARD).filter((name) => name !== "senderName");
  const taken = await given.update({ id: state.id, outs: { ...outs, __args: managed } }, STANDARD);
  expect(taken.outs).toMatchObject(STANDARD);
  expect(await patches(given)).toEqual([]);
});

test("a server in place of the shared one is told of in a creation, by what differs", async () => {
  const given = await started();
  await setByHand(given, THEIRS);
  await given.create(SHARED);
  const [note = ""] = notes(given);
  expect(note).toContain("another server was configured there (smtp.theirs.example.com), different in ");
  for (const name of ["type", "host", "port", "username", "senderEmail", "senderName"])
    expect(note).toContain(`"${name}"`);
});

describe("drift of a mail configuration", () => {
  test.each([
    ["host", { host: "smtp.theirs.example.com" }],
    ["port", { port: 25 }],
    ["username", { username: "them" }],
    ["password", { password: `${CANARY}-theirs` }],
    ["senderEmail", { sender_email: "them@example.com" }],
    ["senderName", { sender_name: "Them" }],
  ])("is found in %s alone, and an update repairs it", async (name, set) => {
    const given = await started();
    const state = await given.create(STANDARD);
    await setByHand(given, set);
    given.restart();
    const { found, changes, replaces } = await planAfterRefresh(given, state, STANDARD);
    expect({ changes, replaces }).toEqual({ changes: undefined, replaces: [] });
    const differing = Object.keys(STANDARD).filter((key) => found.inputs[key] !== state.outs[key]);
    expect(differing).toEqual([name]);
    expect(found.outs[name]).toEqual(found.inputs[name]);
    const repaired = await given.update({ id: found.id, outs: found.outs }, STANDARD);
    given.restart();
    expect(await planAfterRefresh(given, repaired, STANDARD)).toMatchObject({ changes: false });
    expectNoSecrets(given);
  });

  test("shows what came in place of the shared server, without its password", async () => {
    const given = await started();
    const state = await given.create(SHARED);
    await setByHand(given, THEIRS);
    given.restart();
    const { found, changes } = await planAfterRefresh(given, state, SHARED);
    expect(changes).toBeUndefined();
    expect(found.inputs).toMatchObject({ type: "standard", host: "smtp.theirs.example.com", username: "them" });
    expect(JSON.stringify(found)).not.toContain(CANARY);
    const repaired = await given.update({ id: found.id, outs: found.outs }, SHARED);
    expect(await configured(given)).toEqual({ type: "shared" });
    expect(repaired.outs).not.toHaveProperty("host");
    expect(await planAfterRefresh(given, repaired, SHARED)).toMatchObject({ changes: false });
  });

  test("shows that the shared server came in place of one's own, and a program that says so plans nothing", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await setByHand(given, { type: "shared" });
    given.restart();
    const { found, changes } = await planAfterRefresh(given, state, STANDARD);
    expect(changes).toBeUndefined();
    expect(found.inputs).toMatchObject({ type: "shared" });
    for (const name of SMTP) expect(found.inputs).not.toHaveProperty(name);
    expect(await planAfterRefresh(given, state, SHARED)).toMatchObject({ changes: false });
    // The other program brings all of it back.
    const repaired = await given.update({ id: found.id, outs: found.outs }, STANDARD);
    given.restart();
    expect(await configured(given)).toMatchObject({ type: "standard", password: STANDARD.password });
    expect(await planAfterRefresh(given, repaired, STANDARD)).toMatchObject({ changes: false });
    expectNoSecrets(given);
  });

  test.each(["masked", "absent"] as const)("is nothing that comes back %s", async (secretAnswers) => {
    const given = await started({ secretAnswers });
    const state = await given.create(STANDARD);
    given.restart();
    const { found, changes } = await planAfterRefresh(given, state, STANDARD);
    expect(changes).toBe(false);
    expect(found.outs).toEqual(state.outs);
  });

  test("of one that is only looked up is nothing: it shows what stands, without the password", async () => {
    const given = await started();
    const { id } = await given.create(STANDARD);
    const found = await given.read({ id, outs: {} });
    const { password: _password, ...shown } = STANDARD;
    expect(found?.outs).toMatchObject(shown);
    expect(JSON.stringify(found)).not.toContain(CANARY);
  });
});

describe("deleting a mail configuration", () => {
  test("goes back to the shared server and says so", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await given.delete(state);
    expect(await configured(given)).toEqual({ type: "shared" });
    expect(notes(given)).toEqual([`EmailServer ${PROJECT}: mail is sent by the shared server of the service again`]);
  });

  // The setting names the first; the second is what a program may give as an argument to all but this kind.
  test.each([PROVIDER, "stack"])("leaves the configuration of another integration with %s alone", async (name) => {
    const given = await harness(emailServer, { authProvider: name });
    await withIntegration(given, name);
    const state = await given.create(STANDARD);
    await given.edit({ kind: "integration", delete: true });
    await withIntegration(given, name);
    await setByHand(given, THEIRS);
    given.restart();
    await given.delete(state);
    expect(await configured(given)).toMatchObject({ host: "smtp.theirs.example.com" });
    expect(notes(given)).toEqual([
      expect.stringMatching(
        /^EmailServer prj-demo: its auth integration was replaced by another one \(\S+, on br-main.*\); nothing in that one was deleted$/,
      ),
    ]);
  });
});

test("two configurations of one project are an error of the plan", async () => {
  const given = await started();
  const first = await given.provider.check({}, { ...SHARED, __urn: urnOf("EmailServer", "one") });
  const second = await given.provider.check({}, { ...SHARED, __urn: urnOf("EmailServer", "two") });
  expect(first.failures).toEqual([]);
  expect(second.failures).toEqual([
    {
      property: "",
      reason: '"one" of this program declares the e-mail server of the same "projectId" too. Declare it once',
    },
  ]);
});
