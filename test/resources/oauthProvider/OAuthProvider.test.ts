import { oauthProvider } from "../../../src/resources/oauthProvider/oauthProviderLifecycle";
import type { Properties } from "../../../src/contract/hiddenKeys";
import { until } from "../../support/emulator";
import {
  CANARY,
  expectNoSecrets,
  harness,
  keptBy,
  notes,
  planAfterRefresh,
  PROJECT,
  PROVIDER,
  thrownBy,
  UNKNOWN,
  urnOf,
  withIntegration,
  type Json,
} from "../../support/harness";
import { bodies, kept, OTHER_SECRET, PATH, setByHand, SHARED, STANDARD, started } from "../../support/oauthProviders";

describe("creating an OAuth provider", () => {
  test("with credentials makes a standard one, with complete outs", async () => {
    const given = await started();
    const [integration] = (await given.get(`/projects/${PROJECT}/auth/integrations`))["data"] as Json[];
    const { id, outs } = await given.create(STANDARD);
    expect(id).toBe(`${PROJECT}/microsoft`);
    expect(outs).toMatchObject({
      ...STANDARD,
      type: "standard",
      authProviderProjectId: integration?.["auth_provider_project_id"],
      __args: ["clientId", "clientSecret", "projectId", "providerId"],
    });
    expect(await kept(given)).toMatchObject({ type: "standard", client_id: "own-id" });
    expectNoSecrets(given);
  });

  test("without credentials sends the id alone and makes a shared one", async () => {
    const given = await started();
    const { outs } = await given.create(SHARED);
    expect(outs).toMatchObject({ ...SHARED, type: "shared" });
    expect(outs).not.toHaveProperty("clientId");
    expect(await bodies(given)).toEqual([["POST", { id: "microsoft" }]]);
  });

  test.each([["clientId"], ["clientSecret"]])(
    "half a pair is refused before anything is sent: only %s",
    async (name) => {
      const given = await started();
      const missing = name === "clientId" ? "clientSecret" : "clientId";
      const problems = await given.check({ ...SHARED, [name]: `${CANARY}-half` });
      expect(problems).toEqual([expect.stringMatching(new RegExp(`^${missing}: is missing: .*neither`))]);
      const error = await thrownBy(given.create({ ...SHARED, [name]: `${CANARY}-half` }));
      expect(error.message).toContain(`${missing}: is missing`);
      expect(await given.requests()).toEqual([]);
      expectNoSecrets(given);
    },
  );

  test("a pair with one half not known yet is not half a pair", async () => {
    const given = await started();
    expect(await given.check({ ...STANDARD, clientSecret: UNKNOWN })).toEqual([]);
  });

  test("all problems come at once and hold no value", async () => {
    const given = await started();
    const problems = await given.check({
      projectId: PROJECT,
      providerId: "a/b",
      clientId: "",
      clientSecret: 7,
      adopt: "x",
    });
    expect(problems).toEqual([
      "providerId: must be the short name of an OAuth provider, such as google: lower-case letters, digits, _ and -",
      "clientId: must not be empty",
      expect.stringMatching(/^clientSecret: must be a string, not a number\./),
      expect.stringMatching(/^adopt: must be true or false, not a string\. .*config\.requireBoolean/),
    ]);
  });

  test("a request of unknown fate that took effect is found again", async () => {
    const given = await started();
    await given.fault({ method: "POST", path: PATH, effect: "done", drop: "reset" });
    const { outs } = await given.create(SHARED);
    expect(outs).toMatchObject({ type: "shared" });
    expect((await given.requests("POST")).length).toBe(1);
    expect(notes(given)).toEqual([
      `OAuthProvider ${PROJECT}/microsoft was found after the response to its creation was lost`,
    ]);
  });

  test("one with credentials is reported, not taken: nothing shows whose they are", async () => {
    const given = await started();
    await given.fault({ method: "POST", path: PATH, effect: "done", drop: "reset" });
    const error = await thrownBy(given.create(STANDARD));
    expect(error.message).toMatch(/may or may not be the result: the OAuth provider .*"adopt: true"/);
    expect(error).not.toHaveProperty("id");
    const { outs } = await given.create({ ...STANDARD, adopt: true });
    expect(outs).toMatchObject({ type: "standard", clientId: "own-id" });
  });

  test("a request that fails for good leaves nothing in the state and keeps the secret to itself", async () => {
    const given = await started();
    const body = { message: `bad secret ${CANARY}-secret`, code: "" };
    await given.fault({ method: "POST", path: PATH, status: 422, body });
    const error = await thrownBy(given.create(STANDARD));
    expect(error.message).toMatch(/^Could not create OAuthProvider \("thing"\): the service refused.*422/);
    expect(error).not.toHaveProperty("id");
    expectNoSecrets(given);
  });
});

describe("a provider that exists already", () => {
  test("is a conflict that names it and how to go on, and nothing is sent", async () => {
    const given = await started();
    const error = await thrownBy(given.create({ ...STANDARD, providerId: "google" }));
    expect(error.message).toMatch(
      /OAuth provider google exists already, with the shared keys.*interrupted pulumi up.*"adopt: true".*delete it first.*add an alias/,
    );
    expect(await given.mutations()).toEqual([]);
    expectNoSecrets(given);
  });

  test("is adopted as it is when it is shared and no credentials are declared", async () => {
    const given = await started();
    const { outs } = await given.create({ ...SHARED, providerId: "github", adopt: true });
    expect(outs).toMatchObject({ providerId: "github", type: "shared", adopt: true });
    expect(await given.mutations()).toEqual([]);
  });

  test.each(["shared", "standard"])("is adopted with the declared credentials when it is %s", async (type) => {
    const given = await started();
    if (type === "standard") await setByHand(given, { type, client_id: "before", client_secret: "before" }, "google");
    const inputs = { ...STANDARD, providerId: "google", adopt: true };
    const state = await given.create(inputs);
    expect(state.outs).toMatchObject({ type: "standard", clientId: "own-id" });
    expect(await given.mutations()).toMatchObject([{ method: "PATCH", path: `${PATH}/google` }]);
    expect(await kept(given, "google")).toMatchObject({ type: "standard", client_id: "own-id" });
    expect(await planAfterRefresh(given, state, inputs)).toMatchObject({ changes: false, replaces: [] });
  });

  test("is not adopted when it has own credentials and none are declared", async () => {
    const given = await started();
    await setByHand(given, { type: "standard", client_id: "x", client_secret: `${CANARY}-x` }, "google");
    const error = await thrownBy(given.create({ ...SHARED, providerId: "google", adopt: true }));
    expect(error.message).toMatch(/type standard, but the program declares no credentials.*Declare "clientId" and/);
    expect(await given.mutations()).toEqual([]);
    expectNoSecrets(given);
  });

  test("adopt counts at creation only", async () => {
    const given = await started();
    const state = await given.create(SHARED);
    expect(await given.diff(state, { ...SHARED, adopt: true })).toMatchObject({ changes: false, replaces: [] });
  });
});

describe("changing an OAuth provider", () => {
  test.each([
    ["clientId", "other-id", "client_id"],
    ["clientSecret", OTHER_SECRET, "client_secret"],
  ])("sends only what changed: %s", async (name, value, field) => {
    const given = await started();
    const state = await given.create(STANDARD);
    const news = { ...STANDARD, [name]: value };
    expect((await given.diff(state, news)).replaces).toEqual([]);
    await given.forgetRequests();
    const { outs } = await given.update(state, news);
    expect(outs).toMatchObject({ ...news, type: "standard" });
    const [patch, ...more] = await bodies(given);
    expect([patch?.[0], Object.keys(patch?.[1] ?? {})]).toEqual(["PATCH", [field]]);
    expect(more).toEqual([]);
    expectNoSecrets(given);
  });

  test("giving credentials to a shared one is an update with both", async () => {
    const given = await started();
    const state = await given.create(SHARED);
    expect(await given.diff(state, STANDARD)).toEqual({ replaces: [], deleteBeforeReplace: true });
    const { outs } = await given.update(state, STANDARD);
    expect(outs).toMatchObject({ type: "standard", clientId: "own-id" });
    const [patch] = await given.requests("PATCH");
    expect(Object.keys(patch?.body ?? {}).sort()).toEqual(["client_id", "client_secret"]);
  });

  test("taking both credentials out replaces it, and the plan says what that means, not that they are unmanaged", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await given.check(SHARED, STANDARD);
    const { replaces, deleteBeforeReplace } = await given.diff(state, SHARED);
    expect({ replaces: replaces?.sort(), deleteBeforeReplace }).toEqual({
      replaces: ["clientId", "clientSecret"],
      deleteBeforeReplace: true,
    });
    expect(given.log.map(({ message }) => message)).toEqual([
      expect.stringMatching(/deleted and created again with the shared keys of the service/),
    ]);
    await given.delete(state);
    expect((await given.create(SHARED)).outs).toMatchObject({ type: "shared" });
  });

  test("credentials that are not known yet replace nothing", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    const { replaces } = await given.diff(state, { ...SHARED, clientId: UNKNOWN, clientSecret: UNKNOWN });
    expect(replaces).toEqual([]);
  });

  test("one that somebody deleted is not updated, and the error says how to go on", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await given.edit({ kind: "oauth_provider", id: "microsoft", delete: true });
    const error = await thrownBy(given.update(state, { ...STANDARD, clientId: "other-id" }));
    expect(error.message).toMatch(/no longer exists.*pulumi up --refresh/);
  });

  test("one that became shared meanwhile gets both credentials, although only one changed", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await setByHand(given, { type: "shared", client_id: null, client_secret: null });
    const { outs } = await given.update(state, { ...STANDARD, clientId: "other-id" });
    expect(outs).toMatchObject({ type: "standard" });
    expect(await kept(given)).toMatchObject({ type: "standard", client_id: "other-id" });
  });
});

describe("deleting an OAuth provider", () => {
  test("deletes it at the service", async () => {
    const given = await started();
    await given.delete(await given.create(STANDARD));
    expect(await kept(given)).toBeUndefined();
  });

  // The setting names the first; the second is what a program may give as an argument to all but this kind.
  test.each([PROVIDER, "stack"])(
    "leaves the one of the same name in another integration with %s alone",
    async (name) => {
      const given = await harness(oauthProvider, { authProvider: name });
      await withIntegration(given, name);
      const state = await given.create({ ...SHARED, providerId: "google", adopt: true });
      await given.edit({ kind: "integration", delete: true });
      await withIntegration(given, name);
      given.restart();
      await given.delete(state);
      expect(await kept(given, "google")).toMatchObject({ type: "shared" });
      expect(await given.requests("DELETE")).toEqual([]);
    },
  );
});

test.each([
  ["goggle", "google"],
  ["gogle", "google"],
  ["gihtub", "github"],
  ["micro-soft", "microsoft"],
  ["github-enterprise", "github"],
  ["microsoft-entra", "microsoft"],
  ["google2", "google"],
])("%s, which is like a known name, gets a warning in the plan of its creation alone", async (providerId, meant) => {
  const given = await started();
  const inputs = { ...SHARED, providerId };
  expect(await given.check(inputs)).toEqual([]);
  const said = `OAuthProvider ("thing"): its "providerId" is not a known one. Did you mean "${meant}"? It is sent as it is, and the service refuses one that it does not have`;
  expect(given.log.map(({ message }) => message)).toEqual([said]);
  given.restart();
  given.log.splice(0);
  expect(await given.check(inputs, inputs)).toEqual([]);
  expect(given.log).toEqual([]);
});

test.each(["google", "gitlab", "okta", "of-our-own", "a", "x", UNKNOWN])("%s gets none", async (providerId) => {
  const given = await started();
  await given.check({ ...SHARED, providerId });
  expect(given.log).toEqual([]);
});

test("many providers of one project are read with one list of each collection", async () => {
  const given = await started();
  const states = [];
  for (const providerId of ["apple", "bitbucket", "discord", "facebook"])
    states.push(await given.create({ ...SHARED, providerId }));
  given.restart();
  await given.forgetRequests();
  await Promise.all(states.map((state) => given.read(state)));
  expect((await given.requests("GET")).length).toBe(2);
});

// Kept out of the types: a program in another language may give anything.
const odd: Properties = { ...STANDARD, clientId: { nested: CANARY } };
test("a credential of another type is refused without its value", async () => {
  const given = await started();
  expect(await given.check(odd)).toEqual(["clientId: must be a string, not an object"]);
  expectNoSecrets(given);
});

describe("a provider that is not shown as it was sent", () => {
  const shared = { method: "POST", path: PATH, effect: "done", merge: { type: "shared" } };

  test("is in the state without its credentials, until an update shows all of it", async () => {
    const given = await started();
    await given.fault(shared);
    const { id, message, properties } = await keptBy(given.create(STANDARD));
    expect(message).toContain('the service still shows another "clientId" after it accepted the change');
    expect(properties).toMatchObject({ type: "shared", __unfinished: "create" });
    for (const name of ["clientId", "clientSecret"]) expect(properties[name]).toBeUndefined();
    given.restart();
    // A refresh does not show which secret was applied last.
    const { found, changes } = await planAfterRefresh(given, { id, outs: properties }, STANDARD);
    expect([found.outs["__unfinished"], found.outs["type"], changes]).toEqual(["create", "standard", true]);
    await given.forgetRequests();
    const { outs } = await given.update({ id: found.id, outs: found.outs }, STANDARD);
    expect(outs).toMatchObject({ ...STANDARD, type: "standard" });
    expect(outs).not.toHaveProperty("__unfinished");
    expect((await bodies(given)).map(([method, body]) => [method, ...Object.keys(body).sort()])).toEqual([
      ["PATCH", "client_id", "client_secret"],
    ]);
    expectNoSecrets(given);
  });

  test("is in the state with the client id that it shows, and with the secret that was known to be applied", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await given.fault({ method: "PATCH", path: `${PATH}/microsoft`, effect: "done", merge: { client_id: "other" } });
    const { properties } = await keptBy(
      given.update(state, { ...STANDARD, clientId: "new", clientSecret: OTHER_SECRET }),
    );
    expect(properties).toMatchObject({ clientId: "other", clientSecret: STANDARD.clientSecret });
  });

  test.each([
    ["with credentials", STANDARD],
    ["with shared keys", SHARED],
  ])("is looked for after an empty answer: %s, by its type", async (_, inputs) => {
    const given = await started();
    await given.fault({ method: "POST", path: PATH, status: 201, body: "", effect: "done" });
    expect((await given.create(inputs)).outs).toMatchObject({ ...inputs });
    await given.delete({ id: `${PROJECT}/microsoft`, outs: {} });
    // Another type has appeared.
    await given.fault({ method: "POST", path: PATH, status: 201, body: "" });
    await given.forgetRequests();
    const wrong = inputs === STANDARD ? {} : { client_id: "theirs", client_secret: `${CANARY}-theirs` };
    const creating = given.create(inputs);
    await until(given.mutations, (all) => all.some(({ method }) => method === "POST"));
    await given.post(PATH, { id: "microsoft", ...wrong });
    expect((await thrownBy(creating)).message).toContain(
      "may or may not be the result: the OAuth provider microsoft with the type",
    );
  });
});

test("an update without a change of the credentials sends nothing", async () => {
  const given = await started();
  for (const inputs of [STANDARD, SHARED]) {
    const state = await given.create(inputs);
    await given.forgetRequests();
    expect((await given.update(state, { ...inputs, adopt: true })).outs).toMatchObject({
      type: inputs === STANDARD ? "standard" : "shared",
    });
    expect(await given.mutations()).toEqual([]);
    await given.delete(state);
  }
});

test("two providers of one name are an error of the plan", async () => {
  const given = await started();
  await given.provider.check({}, { ...SHARED, __urn: urnOf("OAuthProvider", "one") });
  const second = await given.provider.check({}, { ...STANDARD, __urn: urnOf("OAuthProvider", "two") });
  expect(second.failures?.map(({ reason }) => reason)).toEqual([
    '"one" of this program declares an OAuth provider with the same "projectId" and "providerId" too. Declare it once',
  ]);
});

test("the plan of a replacement says what it means for those who sign in", async () => {
  const given = await started();
  const state = await given.create(SHARED);
  const news = { ...SHARED, providerId: "gitlab" };
  await given.check(news);
  await given.diff(state, news);
  expect(given.log.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /: the declared one is created, and then this one is deleted: users can no longer sign in with/,
    ),
  ]);
});
