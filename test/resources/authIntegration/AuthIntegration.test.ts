import { asSecret } from "../../../src/contract/engineSecrets";
import type { Properties } from "../../../src/contract/hiddenKeys";
import { authIntegration } from "../../../src/resources/authIntegration/authIntegrationLifecycle";
import {
  expectNoSecrets,
  harness,
  keptBy,
  planAfterRefresh,
  PROJECT,
  PROVIDER,
  thrownBy,
  UNKNOWN,
  urnOf,
  withIntegration,
  type Harness,
  type Json,
} from "../../support/harness";
import { until } from "../../support/emulator";
import { ID, INPUTS, integrations } from "../../support/authIntegrations";

const keySets = async (given: Harness) => (await given.state())["key_sets"] as Json[];

describe("creating", () => {
  test("sends what is declared, and the outs hold the record and the key set", async () => {
    const auth = await harness(authIntegration);
    const { id, outs } = await auth.create(INPUTS);
    const [made] = await integrations(auth);
    expect(id).toBe(ID);
    expect((await auth.mutations()).map(({ path, body }) => ({ path, body }))).toEqual([
      {
        path: "/projects/auth/create",
        body: {
          project_id: PROJECT,
          auth_provider: PROVIDER,
          branch_id: "br-main",
          database_name: "svcdb",
          role_name: "svcdb_owner",
        },
      },
    ]);
    expect(outs).toMatchObject({
      ...INPUTS,
      authProvider: PROVIDER,
      authProviderProjectId: made?.["auth_provider_project_id"],
      jwksUrl: made?.["jwks_url"],
      createdAt: made?.["created_at"],
      ownedBy: "svc",
      pubClientKey: expect.stringMatching(/.+/),
      secretServerKey: expect.stringMatching(/.{8,}/),
      schemaName: "svc_auth",
      tableName: "users_sync",
    });
    expectNoSecrets(auth, [String(outs["secretServerKey"])]);
  });

  test("without a branch it goes to the default one, and what is left out is not sent", async () => {
    const auth = await harness(authIntegration);
    const { outs } = await auth.create({ projectId: PROJECT });
    expect(outs).toMatchObject({ branchId: "br-main", databaseName: "svcdb", __args: ["projectId"] });
    const [{ body } = { body: {} }] = await auth.mutations();
    expect(body).toEqual({ project_id: PROJECT, auth_provider: PROVIDER, branch_id: "br-main" });
  });

  test.each([
    ["the service does not list branches", { seedOnly: true }, false, /does not list branches.*Give "branchId"/],
    ["no branch is flagged as default", {}, true, /no branch of the project is flagged as default. Give "branchId"/],
  ])("when %s it asks for the branch, and sends nothing", async (_why, options, unflag, words) => {
    const auth = await harness(authIntegration, options);
    if (unflag) await auth.edit({ kind: "branch", id: "br-main", set: { default: false } });
    const error = await thrownBy(auth.create({ projectId: PROJECT }));
    expect(error.message).toMatch(words);
    expect(await auth.mutations()).toEqual([]);
  });

  test("against a service that has only the documented routes it succeeds with a branch", async () => {
    const auth = await harness(authIntegration, { seedOnly: true });
    expect((await auth.create(INPUTS)).outs).toMatchObject({ branchId: "br-main", ownedBy: "svc" });
  });

  test("a list that lags behind is waited for", async () => {
    const auth = await harness(authIntegration, { listLagMs: 150 });
    const { outs } = await auth.create(INPUTS);
    expect(outs).toMatchObject({ ...INPUTS, createdAt: expect.stringMatching(/.+/) });
  });

  test("one that no list shows, for longer than lists lag, is kept with its keys, unfinished", async () => {
    const auth = await harness(authIntegration, { listLagMs: 60_000 });
    const error = await thrownBy(auth.create(INPUTS));
    expect(error.message).toMatch(/exists, but the service does not list it yet/);
    expect(error["properties"]).toMatchObject({ secretServerKey: expect.stringMatching(/.+/), __unfinished: "create" });
  });
});

describe("an integration that exists already", () => {
  test("is named with its branch and age, with both ways out, and is left alone", async () => {
    const auth = await harness(authIntegration);
    await withIntegration(auth);
    await auth.edit({ kind: "integration", set: { created_at: new Date(Date.now() - 7_260_000).toISOString() } });
    const error = await thrownBy(auth.create(INPUTS));
    expect(error.message).toMatch(/an auth integration exists on br-main, created 2 hours ago/);
    expect(error.message).toMatch(
      /interrupted pulumi up may have created it.*"adopt: true".*or delete it first.*add an alias/,
    );
    expect(error).not.toHaveProperty("id");
    expect(await auth.mutations()).toEqual([]);
  });

  test("is taken over with adopt, with a new key set, and then plans are empty", async () => {
    const auth = await harness(authIntegration);
    await withIntegration(auth);
    const inputs = { ...INPUTS, adopt: true };
    const state = await auth.create(inputs);
    expect(state.id).toBe(ID);
    expect((await auth.mutations()).map(({ path }) => path)).toEqual(["/projects/auth/keys"]);
    const [, made] = await keySets(auth);
    expect(state.outs).toMatchObject({ pubClientKey: made?.["pub_client_key"], branchId: "br-main" });
    expect(await auth.diff(state, inputs)).toMatchObject({ changes: false });
    expect(await auth.diff(state, INPUTS)).toMatchObject({ replaces: [] });
    expect(await planAfterRefresh(auth, state, inputs)).toMatchObject({ changes: false });
  });

  test("is taken over on the branch where it stands when the program names none", async () => {
    const auth = await harness(authIntegration);
    await auth.edit({ kind: "integration", create: { branch_id: "br-dev" } });
    const { outs } = await auth.create({ projectId: PROJECT, adopt: true });
    expect(outs).toMatchObject({ branchId: "br-dev" });
  });

  test("is not taken over when it differs from the program, and the error names in what", async () => {
    const auth = await harness(authIntegration);
    await withIntegration(auth);
    const other = { ...INPUTS, branchId: "br-dev", databaseName: "other", adopt: true };
    const error = await thrownBy(auth.create(other));
    expect(error.message).toMatch(/differs from the program in "branchId" and "databaseName", which cannot be changed/);
    expect(await auth.mutations()).toEqual([]);
  });

  test("adopt is no hindrance where nothing stands", async () => {
    const auth = await harness(authIntegration);
    await auth.create({ ...INPUTS, adopt: true });
    expect(await integrations(auth)).toHaveLength(1);
  });
});

test("a schema that an earlier integration left behind is explained, with what to do about it", async () => {
  const auth = await harness(authIntegration, { variants: { keepSchemas: true } });
  const state = await auth.create(INPUTS);
  await auth.delete(state);
  const error = await thrownBy(auth.create(INPUTS));
  expect(error.message).toMatch(/409.*most likely the database schema of a deleted integration/);
  expect(error.message).toContain(
    "But the service does not list an integration in this project. Lists can be out of date",
  );
  expect(error.message).toMatch(/drop the schema in the database.*or choose another database/);
  expect(error).not.toHaveProperty("id");
  expect((await auth.create({ ...INPUTS, databaseName: "other" })).id).toBe(ID);
});

describe("when the fate of the creation is unknown", () => {
  test.each([
    ["the connection breaks", { drop: "reset", effect: "done" }],
    ["the answer is cut", { drop: "cut", effect: "done" }],
    ["a proxy answers 502", { status: 502, body: "<html></html>", effect: "done" }],
  ])("because %s after it was made, it is found and gets another key set", async (_how, fault) => {
    const auth = await harness(authIntegration);
    await auth.fault({ method: "POST", path: "/projects/auth/create", ...fault });
    const { id, outs } = await auth.create(INPUTS);
    expect(id).toBe(ID);
    expect(await integrations(auth)).toHaveLength(1);
    const made = await keySets(auth);
    expect(outs["pubClientKey"]).toBe(made[1]?.["pub_client_key"]);
    expect((await auth.mutations()).map(({ path }) => path)).toEqual(["/projects/auth/create", "/projects/auth/keys"]);
  });

  test("and it was not made, it is not sent twice, and the error says that it was looked for", async () => {
    const auth = await harness(authIntegration);
    await auth.fault({ method: "POST", path: "/projects/auth/create", drop: "reset" });
    const error = await thrownBy(auth.create(INPUTS));
    expect(error.message).toMatch(/a later check did not find the integration.*Run pulumi up again/);
    expect(await auth.mutations()).toHaveLength(1);
    expect((await auth.create(INPUTS)).id).toBe(ID);
  });
});

describe("a creation that fails after the integration was made", () => {
  const LIST = "/projects/{project_id}/auth/integrations";

  test("keeps it in the state with its keys, and the next up finishes it without a request that changes anything", async () => {
    const auth = await harness(authIntegration, {}, { readDeadlineMs: 500 });
    await auth.fault({ method: "GET", path: LIST, status: 503, after: 2, times: 0 });
    const error = await thrownBy(auth.create(INPUTS));
    expect(error["id"]).toBe(ID);
    // What the engine stores of a partial creation.
    const outs = error["properties"] as Record<string, unknown>;
    expect(outs).toMatchObject({
      ...INPUTS,
      __provider: "pointer",
      secretServerKey: expect.stringMatching(/.+/),
      __unfinished: "create",
    });
    expect(error.message).toMatch(/exists, but .*503.*kept in the stack: run pulumi up again/);
    await auth.clearFaults();
    await auth.forgetRequests();
    auth.restart();
    const state = { id: ID, outs };
    expect(await auth.diff(state, INPUTS)).toMatchObject({ changes: true, replaces: [] });
    const finished = await auth.update(state, INPUTS);
    expect(finished.outs).toMatchObject({ ownedBy: "svc", secretServerKey: outs["secretServerKey"] });
    expect(finished.outs).not.toHaveProperty("__unfinished");
    expect(await auth.mutations()).toEqual([]);
    expect(await auth.diff(finished, INPUTS)).toMatchObject({ changes: false });
    expectNoSecrets(auth, [String(outs["secretServerKey"])]);
  });

  test("can be deleted straight away", async () => {
    const auth = await harness(authIntegration, {}, { readDeadlineMs: 500 });
    await auth.fault({ method: "GET", path: LIST, status: 503, after: 2, times: 0 });
    const error = await thrownBy(auth.create(INPUTS));
    await auth.clearFaults();
    await auth.delete({ id: ID, outs: error["properties"] as Record<string, unknown> });
    expect(await integrations(auth)).toEqual([]);
  });

  test("and is gone by the next up is reported as such", async () => {
    const auth = await harness(authIntegration);
    const state = await auth.create(INPUTS);
    await auth.edit({ kind: "integration", delete: true });
    auth.restart();
    const error = await thrownBy(auth.update(state, INPUTS));
    expect(error.message).toMatch(/no longer exists. Run pulumi up --refresh/);
  });

  test("and has another one in its place by the next up is reported so as well, not mixed with that one", async () => {
    const auth = await harness(authIntegration);
    const state = await auth.create(INPUTS);
    await auth.edit({ kind: "integration", delete: true });
    await withIntegration(auth);
    auth.restart();
    const error = await thrownBy(auth.update(state, INPUTS));
    expect(error.message).toMatch(/no longer exists. Run pulumi up --refresh/);
  });
});

test("the role that is declared is the one in the outs, since no record shows it", async () => {
  const auth = await harness(authIntegration);
  const { outs } = await auth.create({ ...INPUTS, roleName: "reader" });
  expect(outs).toMatchObject({ roleName: "reader" });
});

describe("an integration whose answer was lost", () => {
  const lost = { method: "POST", path: "/projects/auth/create", drop: "reset" };

  test("and whose keys could not be made is kept without them; the next up makes them, once", async () => {
    const auth = await harness(authIntegration);
    await auth.fault({ ...lost, effect: "done" });
    await auth.fault({ method: "POST", path: "/projects/auth/keys", status: 403 });
    const { id, properties } = await keptBy(auth.create(INPUTS));
    expect(properties).toMatchObject({ pubClientKey: "", secretServerKey: "", __unfinished: "create" });
    auth.restart();
    await auth.forgetRequests();
    const done = await auth.update({ id, outs: properties }, INPUTS);
    expect(done.outs).toMatchObject({ ...INPUTS, secretServerKey: expect.stringMatching(/.{8,}/) });
    expect((await auth.mutations()).map(({ path }) => path)).toEqual(["/projects/auth/keys"]);
    await auth.forgetRequests();
    const again = await auth.update({ id, outs: { ...done.outs, __unfinished: "create" } }, INPUTS);
    expect(again.outs["secretServerKey"]).toBe(done.outs["secretServerKey"]);
    expect(await auth.mutations()).toEqual([]);
  });

  test("and whose keys are made by the next up keeps them, also where no list can be read after that", async () => {
    const auth = await harness(authIntegration);
    await auth.fault({ ...lost, effect: "done" });
    await auth.fault({ method: "POST", path: "/projects/auth/keys", status: 403 });
    const { id, properties } = await keptBy(auth.create(INPUTS));
    auth.restart();
    const [item] = await integrations(auth);
    const list = { method: "GET", path: `/projects/${PROJECT}/auth/integrations` };
    // Searched, and proven to be ours: both lists are of another database, so later lists must decide.
    await auth.fault({ ...list, status: 200, body: { data: [{ ...item, db_name: "theirs" }] }, times: 2 });
    await auth.fault({ ...list, status: 403, times: 0 });
    const completed = await keptBy(auth.update({ id, outs: properties }, INPUTS));
    expect(completed.message).toContain("the service accepted the request, but reading the result failed");
    const { secretServerKey } = completed.properties;
    expect(secretServerKey).toMatch(/.{8,}/);
    await auth.clearFaults();
    auth.restart();
    await auth.forgetRequests();
    const { outs } = await auth.update({ id, outs: completed.properties }, INPUTS);
    expect(outs["secretServerKey"]).toBe(secretServerKey);
    expect(await auth.mutations()).toEqual([]);
  });

  test("is not taken for what somebody else made meanwhile on another database", async () => {
    const auth = await harness(authIntegration);
    await auth.fault(lost);
    const creating = auth.create(INPUTS);
    await until(auth.mutations, (all) => all.length > 0);
    const made = { project_id: PROJECT, auth_provider: PROVIDER, branch_id: "br-main", database_name: "theirs" };
    await auth.post("/projects/auth/create", made);
    const { message } = await thrownBy(creating);
    expect(message).toContain("may or may not be the result: an auth integration on br-main, database theirs, created");
    expect(message).toContain('Set "adopt: true" to manage it here (if it matches the program), or delete it');
    expect(await integrations(auth)).toHaveLength(1);
  });
});

test("an integration that is shown otherwise than it was sent is kept as it is shown, until it is as declared", async () => {
  const auth = await harness(authIntegration);
  const listed = async (change: Json): Promise<void> => {
    const [item] = await integrations(auth);
    const body = { data: [{ ...item, ...change }] };
    await auth.fault({ method: "GET", path: `/projects/${PROJECT}/auth/integrations`, status: 200, body, times: 0 });
  };
  const { id, outs } = await auth.create(INPUTS);
  const unfinished = { ...outs, __unfinished: "create" };
  await listed({ db_name: "other" });
  auth.restart();
  const error = await thrownBy(auth.update({ id, outs: unfinished }, INPUTS));
  expect(error.message).toContain('the service still shows another "databaseName" after it accepted the change');
  expect(error).toMatchObject({ properties: { databaseName: "other", secretServerKey: outs["secretServerKey"] } });
  await auth.clearFaults();
  auth.restart();
  expect((await auth.update({ id, outs: unfinished }, INPUTS)).outs).toMatchObject({ databaseName: "svcdb" });
});

test("two integrations of one project and provider are an error of the plan, others are not", async () => {
  const auth = await harness(authIntegration);
  const check = async (name: string, inputs: object): Promise<number | undefined> => {
    const __urn = urnOf("AuthIntegration", name);
    const { failures } = await auth.provider.check({}, { ...INPUTS, ...inputs, __urn });
    for (const { reason } of failures ?? [])
      expect(reason).toBe(
        '"one" of this program declares an auth integration with the same "projectId" and "authProvider" too. Declare it once',
      );
    return failures?.length;
  };
  expect(await check("one", {})).toBe(0);
  expect(await check("two", { authProvider: PROVIDER })).toBe(1);
  expect(await check("three", { authProvider: "stack" })).toBe(0);
  expect(await check("four", { projectId: "prj-other" })).toBe(0);
  expect(await check("five", { authProvider: UNKNOWN })).toBe(0);
});

test("what the program no longer gives may have been a secret: it is marked until the next update or refresh", async () => {
  const auth = await harness(authIntegration);
  const { id, outs } = await auth.create(INPUTS);
  const { databaseName, ...less } = INPUTS;
  auth.restart();
  const given = { ...less, __urn: urnOf("AuthIntegration"), __provider: "pointer" };
  const update = async (stored: Properties) => (await auth.provider.update(id, stored, given)).outs ?? {};
  const first = await update(outs);
  expect(first).toMatchObject({ databaseName: asSecret(databaseName), roleName: INPUTS.roleName });
  // The engine hands over what it has stored in plain text.
  const stored = { ...first, databaseName };
  expect(await update(stored)).toMatchObject({ databaseName });
  expect((await auth.provider.read(id, stored)).props).toMatchObject({ databaseName });
});
