import { authIntegration } from "../../../src/resources/authIntegration/authIntegrationLifecycle";
import {
  CANARY,
  expectNoSecrets,
  harness,
  planAfterRefresh,
  PROJECT,
  type State,
  thrownBy,
  withIntegration,
} from "../../support/harness";
import { ID, INPUTS, integrations } from "../../support/authIntegrations";

describe("planning", () => {
  test("finds all bad arguments at once, without their values", async () => {
    const auth = await harness(authIntegration);
    const problems = await auth.check({
      projectId: `${CANARY}/x`,
      branchId: CANARY,
      databaseName: "",
      roleName: "x".repeat(64),
      authProvider: `${CANARY} x`,
      adopt: CANARY,
    });
    expect(problems).toEqual([
      expect.stringMatching(/^projectId: must be the id of a project/),
      expect.stringMatching(/^branchId: must be the id of a branch, which begins with "br-"/),
      "databaseName: must have 1 to 63 characters",
      "roleName: must have 1 to 63 characters",
      expect.stringMatching(/^authProvider: must be/),
      expect.stringMatching(/^adopt: must be true or false, not /),
    ]);
    expect(await auth.check({})).toEqual(["projectId: is required"]);
    expect(await auth.requests()).toEqual([]);
    expectNoSecrets(auth);
  });
});

test("a plan that replaces it says once what is lost", async () => {
  const auth = await harness(authIntegration);
  const state = await auth.create(INPUTS);
  const news = { ...INPUTS, databaseName: "other" };
  await auth.check(news);
  await auth.diff(state, news);
  await auth.diff(state, news);
  expect(auth.log.filter(({ severity }) => severity === "warning").map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^AuthIntegration prj-demo\/.* is replaced, because "databaseName" changes: it is deleted and created again: all of its users and keys are lost/,
    ),
  ]);
});

test.each([
  ["on the same database", { roleName: "other" }, true],
  ["on another database", { roleName: "other", databaseName: "other" }, false],
  ["on another branch", { branchId: "br-dev" }, false],
  ["in another project", { projectId: "prj-other" }, false],
])("a plan that replaces it %s says whether the schema there may be in the way", async (_where, changed, said) => {
  const auth = await harness(authIntegration);
  const state = await auth.create(INPUTS);
  const news = { ...INPUTS, ...changed };
  await auth.check(news);
  await auth.diff(state, news);
  const [message] = auth.log.map((line) => line.message);
  const words = /if the service keeps the old schema there.*refuses the new integration until you drop the schema/;
  if (said) expect(message).toMatch(words);
  else expect(message).not.toMatch(/schema/);
});

describe("a replacement whose creation the service may refuse", () => {
  const refused =
    /br-dev is not flagged as the default branch of the project.*To move it anyway, which loses its users/;
  const news = { ...INPUTS, branchId: "br-dev" };
  const stored = async () => {
    const auth = await harness(authIntegration);
    const state = await auth.create(INPUTS);
    auth.restart();
    return { auth, state };
  };

  test("is refused by the plan", async () => {
    const { auth, state } = await stored();
    await auth.plan(news, INPUTS);
    await auth.diff(state, news);
    // It fails the plan, strict or not.
    const { failures, warnings } = await auth.plan(news);
    expect(warnings).toEqual([]);
    expect(failures).toEqual([expect.stringMatching(/^AuthIntegration \S+ \("thing"\) is not replaced, because/)]);
    expect(failures.join()).toMatch(refused);
  });

  test.each([
    ["on another branch", news, refused],
    ["on a branch that is not there", { ...INPUTS, branchId: "br-none" }, /project prj-demo has no branch br-none/],
  ])("is refused by the update while the old one is there: %s", async (_where, changed, words) => {
    const { auth, state } = await stored();
    await auth.check(changed, INPUTS);
    await auth.diff(state, changed);
    // Before the deletion, the engine checks what it will create.
    await auth.check(changed);
    const before = await integrations(auth);
    expect((await thrownBy(auth.delete(state))).message).toMatch(words);
    expect(await integrations(auth)).toEqual(before);
    expect(await auth.mutations()).toHaveLength(1);
  });

  test("continues where the branch is the default one, and a deletion asks for no branch", async () => {
    const { auth, state } = await stored();
    const other = { ...INPUTS, databaseName: "other" };
    await auth.check(other, INPUTS);
    await auth.diff(state, other);
    await auth.check(other);
    await auth.delete(state);
    expect(await integrations(auth)).toEqual([]);
    const next = await stored();
    await next.auth.forgetRequests();
    await next.auth.delete(next.state);
    expect((await next.auth.requests()).map(({ path }) => path).join()).not.toMatch("branches");
  });
});

describe("a refresh", () => {
  test.each([
    ["branchId", { branch_id: "br-dev" }, "br-dev"],
    ["databaseName", { db_name: "other" }, "other"],
  ])("finds a change of %s by hand, and the plan replaces", async (name, set, value) => {
    const auth = await harness(authIntegration);
    const state = await auth.create(INPUTS);
    await auth.edit({ kind: "integration", set });
    auth.restart();
    const { replaces, found } = await planAfterRefresh(auth, state, INPUTS);
    expect(found.outs).toMatchObject({ [name]: value });
    expect(found.inputs).toMatchObject({ [name]: value });
    expect(replaces).toEqual([name]);
  });

  test("of arguments that the program leaves out finds no drift", async () => {
    const auth = await harness(authIntegration);
    const inputs = { projectId: PROJECT };
    const state = await auth.create(inputs);
    await auth.edit({ kind: "integration", set: { branch_id: "br-dev", db_name: "other" } });
    auth.restart();
    const { changes, found } = await planAfterRefresh(auth, state, inputs);
    expect(changes).toBe(false);
    expect(found.outs).toMatchObject({ branchId: "br-dev", databaseName: "other" });
  });

  test("shows a transferred ownership without calling it a change", async () => {
    const auth = await harness(authIntegration);
    const state = await auth.create(INPUTS);
    await auth.edit({ kind: "integration", set: { owned_by: "user" } });
    auth.restart();
    const { changes, found } = await planAfterRefresh(auth, state, INPUTS);
    expect(changes).toBe(false);
    expect(found.outs).toMatchObject({ ownedBy: "user", secretServerKey: state.outs["secretServerKey"] });
  });

  test("finds it gone when another one is in its place", async () => {
    const auth = await harness(authIntegration);
    const state = await auth.create(INPUTS);
    await auth.edit({ kind: "integration", delete: true });
    await withIntegration(auth);
    auth.restart();
    expect(await auth.read(state)).toBeUndefined();
  });

  test("keeps the address of the public keys if the list does not show it", async () => {
    const auth = await harness(authIntegration);
    const state = await auth.create(INPUTS);
    const [made] = await integrations(auth);
    const { jwks_url: _unsaid, ...rest } = made ?? {};
    const path = "/projects/{project_id}/auth/integrations";
    await auth.fault({ method: "GET", path, status: 200, body: { data: [rest] }, times: 0 });
    auth.restart();
    expect((await auth.read(state))?.outs).toMatchObject({ jwksUrl: made?.["jwks_url"] });
  });

  test("looks up one that is not managed, without its keys", async () => {
    const auth = await harness(authIntegration);
    await withIntegration(auth);
    expect((await auth.read({ id: ID, outs: {} }))?.outs).toMatchObject({
      projectId: PROJECT,
      branchId: "br-main",
      secretServerKey: "",
      schemaName: "svc_auth",
      tableName: "users_sync",
    });
  });

  test("keeps the table that its key set named, or none if it named none", async () => {
    const auth = await harness(authIntegration);
    const { schemaName, tableName, ...outs } = (await auth.create(INPUTS)).outs;
    expect([schemaName, tableName]).toEqual(["svc_auth", "users_sync"]);
    const named = await auth.read({ id: ID, outs: { ...outs, schemaName: "other_auth" } });
    expect(named?.outs).toMatchObject({ schemaName: "other_auth" });
    for (const name of ["schemaName", "tableName"])
      expect((await auth.read({ id: ID, outs }))?.outs).not.toHaveProperty(name);
  });
});

describe("deleting", () => {
  test("takes it away", async () => {
    const auth = await harness(authIntegration);
    const state = await auth.create(INPUTS);
    await auth.delete(state);
    expect(await integrations(auth)).toEqual([]);
  });

  test("leaves another integration alone that stands in its place", async () => {
    const auth = await harness(authIntegration);
    const state = await auth.create(INPUTS);
    await auth.edit({ kind: "integration", delete: true });
    await withIntegration(auth);
    auth.restart();
    await auth.delete(state);
    expect(await integrations(auth)).toHaveLength(1);
    expect(auth.log.at(-1)?.message).toMatch(
      /its auth integration was replaced by another one.*nothing in that one was deleted/,
    );
  });

  test.each([
    ["401", { status: 401 }],
    ["403", { status: 403 }],
  ])("that is answered with %s fails and says so", async (status, fault) => {
    const auth = await harness(authIntegration);
    const state = await auth.create(INPUTS);
    await auth.fault({ method: "DELETE", ...fault });
    expect((await thrownBy(auth.delete(state))).message).toContain(status);
    expect(await integrations(auth)).toHaveLength(1);
    expectNoSecrets(auth);
  });
});

test("an owner and an address of keys that changed by hand are marked with the first value, until it is back", async () => {
  const auth = await harness(authIntegration);
  const created = await auth.create(INPUTS);
  const { jwksUrl } = created.outs;
  expect(created.outs).not.toHaveProperty("__first");
  const read = async (state: State, set?: object): Promise<State> => {
    if (set !== undefined) await auth.edit({ kind: "integration", set });
    auth.restart();
    const found = await auth.read(state);
    if (found === undefined) throw new Error("it is gone");
    // None of it is an argument, so no refresh and no plan reports it.
    expect(found.inputs).not.toHaveProperty("ownedBy");
    expect((await auth.diff(found, INPUTS)).changes).not.toBe(true);
    return found;
  };
  const clean = await read(created);
  expect(clean.outs).not.toHaveProperty("__first");
  const moved = await read(clean, { owned_by: "user", jwks_url: "https://attacker.example/jwks.json" });
  expect(moved.outs).toMatchObject({ ownedBy: "user", __first: { ownedBy: "svc", jwksUrl } });
  const again = await read(moved);
  expect(again.outs["__first"]).toEqual({ ownedBy: "svc", jwksUrl });
  const updated = await auth.update(again, { ...INPUTS, adopt: true });
  expect(updated.outs["__first"]).toEqual({ ownedBy: "svc", jwksUrl });
  const back = await read(updated, { owned_by: "svc", jwks_url: jwksUrl });
  expect(back.outs).not.toHaveProperty("__first");
});
