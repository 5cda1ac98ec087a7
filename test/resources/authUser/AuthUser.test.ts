import { authUser } from "../../../src/resources/authUser/authUserLifecycle";
import {
  CANARY,
  expectNoSecrets,
  harness,
  PROJECT,
  PROVIDER,
  thrownBy,
  urnOf,
  withIntegration,
  type Json,
} from "../../support/harness";

const EMAIL = `${CANARY}@example.com`;
const INPUTS = { projectId: PROJECT, email: EMAIL, name: `${CANARY} Someone` };
const started = async () => {
  const user = await harness(authUser);
  await withIntegration(user);
  return user;
};

const users = async (given: { state(): Promise<Json> }) => (await given.state())["users"] as Json[];

test("the user stands at the service as declared, and the outs hold its id", async () => {
  const user = await started();
  const { id, outs } = await user.create(INPUTS);
  const [made] = await users(user);
  expect(made).toMatchObject({ email: EMAIL, name: INPUTS.name });
  expect(id).toBe(`${PROJECT}/${String(made?.["id"])}`);
  expect(outs).toMatchObject({
    ...INPUTS,
    authProvider: PROVIDER,
    userId: made?.["id"],
    authProviderProjectId: expect.stringMatching(/.+/),
    __args: ["email", "name", "projectId"],
  });
});

test("a name that is left out is not sent", async () => {
  const user = await started();
  await user.create({ projectId: PROJECT, email: EMAIL });
  expect((await user.mutations()).map(({ body }) => body)).toEqual([
    { project_id: PROJECT, auth_provider: PROVIDER, email: EMAIL },
  ]);
});

test("a name that is taken out of the program is no longer managed: the plan says so and nothing is sent", async () => {
  const user = await started();
  const state = await user.create(INPUTS);
  const news = { projectId: PROJECT, email: EMAIL };
  await user.forgetRequests();
  await user.check(news, INPUTS);
  expect(await user.diff(state, news)).toMatchObject({ replaces: [] });
  expect(user.log.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^"name" of AuthUser .*no longer managed/),
  ]);
  const updated = await user.update(state, news);
  expect(updated.outs).toMatchObject({ userId: state.outs["userId"], __args: ["email", "projectId"] });
  expect(await user.diff(updated, news)).toMatchObject({ changes: false });
  expect(await user.mutations()).toEqual([]);
});

test("the name that was taken out of the program and comes back is the one the user has: nothing is replaced", async () => {
  const user = await started();
  const without = { projectId: PROJECT, email: EMAIL };
  const dropped = await user.update(await user.create(INPUTS), without);
  user.restart();
  const refreshed = await user.read(dropped);
  for (const state of [dropped, { id: dropped.id, outs: refreshed?.outs ?? {} }]) {
    expect(await user.diff(state, INPUTS)).toMatchObject({ replaces: [] });
    expect((await user.diff(state, { ...INPUTS, name: "Other" })).replaces).toEqual(["name"]);
  }
  const back = await user.update(dropped, INPUTS);
  expect(await user.diff(back, INPUTS)).toMatchObject({ changes: false });
});

test("a replacement deletes first, and the plan says that the id changes", async () => {
  const user = await started();
  const state = await user.create(INPUTS);
  const news = { ...INPUTS, name: "Other" };
  await user.check(news);
  expect(await user.diff(state, news)).toMatchObject({ replaces: ["name"], deleteBeforeReplace: true });
  expect(user.log.map(({ message }) => message)).toEqual([
    `AuthUser ${state.id} ("thing") is replaced, because "name" changes: the user is deleted and created again, with another id`,
  ]);
  await user.delete(state);
  expect(await users(user)).toEqual([]);
  const again = await user.create(news);
  expect(again.id).not.toBe(state.id);
});

test("deleting a user whom somebody deleted already succeeds", async () => {
  const user = await started();
  const state = await user.create(INPUTS);
  await user.edit({ kind: "user", delete: true });
  await user.delete(state);
  expect(await users(user)).toEqual([]);
});

test("an address that is taken is reported with both ways out", async () => {
  const user = await started();
  await user.edit({ kind: "user", create: { email: EMAIL } });
  const error = await thrownBy(user.create(INPUTS));
  expect(error.message).toMatch(
    /409.*A user with this "email" exists already. An interrupted pulumi up may have created it/,
  );
  expect(error.message).toMatch(
    /users_sync.*AuthUser\.get with the id <project>\/<user id>\), delete it, or choose another address; or, if .* add an alias/,
  );
  expect(await users(user)).toHaveLength(1);
  expectNoSecrets(user);
});

test.each([
  ["the connection breaks after the user was made", { drop: "reset", effect: "done" }],
  ["the answer is cut", { drop: "cut", effect: "done" }],
  ["a proxy answers 504 after the user was made", { status: 504, body: "<html></html>", effect: "done" }],
])("when %s, no second user is made and the error says how to find out", async (_how, fault) => {
  const user = await started();
  await user.fault({ method: "POST", path: "/projects/auth/user", ...fault });
  const error = await thrownBy(user.create(INPUTS));
  expect(error.message).toMatch(
    /may or may not have been created.*Run pulumi up again.*conflict.*users_sync.*AuthUser\.get.*delete it/,
  );
  expect(error.message).not.toMatch(/import/);
  expect(error).not.toHaveProperty("id");
  expect(await users(user)).toHaveLength(1);
  expect(await user.mutations()).toHaveLength(1);
  expectNoSecrets(user);
});

test("all bad arguments are found at once, and no value is repeated", async () => {
  const user = await started();
  const problems = await user.check({
    projectId: "",
    email: `${CANARY} at example.com`,
    name: "x".repeat(256),
    authProvider: "a/b",
  });
  expect(problems).toEqual([
    expect.stringMatching(/^projectId: must be the id of a project/),
    "email: must be an e-mail address",
    "name: must have 1 to 255 characters",
    expect.stringMatching(/^authProvider: must be the short name/),
  ]);
  expect(await user.check({})).toEqual(["projectId: is required", "email: is required"]);
  expect(await user.check({ ...INPUTS, name: "" })).toEqual(["name: must have 1 to 255 characters"]);
  expect(await user.check({ ...INPUTS, name: "x".repeat(255) })).toEqual([]);
  expectNoSecrets(user);
});

test("when the list of integrations lags behind a new one, the user is made anyway and is not taken for gone", async () => {
  const user = await harness(authUser, { listLagMs: 1_500 });
  await withIntegration(user);
  const { id, outs } = await user.create(INPUTS);
  expect(outs).not.toHaveProperty("authProviderProjectId");
  await new Promise((resolve) => setTimeout(resolve, 1_600));
  user.restart();
  expect((await user.read({ id, outs }))?.outs).toMatchObject({ userId: outs["userId"] });
});

/** Two users of a program, driven in one process as one run drives them. */
describe("an address", () => {
  const named = (name: string, inputs: object) => ({
    ...INPUTS,
    ...inputs,
    __provider: "pointer",
    __urn: urnOf("AuthUser", name),
  });

  test("that two users of the program have is an error of the plan, in whatever case it is written", async () => {
    const user = await started();
    const check = async (name: string, inputs: object) =>
      (await user.provider.check({}, named(name, inputs))).failures?.map(({ reason }) => reason);
    expect(await check("one", {})).toEqual([]);
    expect(await check("two", { email: EMAIL.toUpperCase() })).toEqual([
      '"one" of this program declares an auth user with the same "projectId" and "email" too. Declare it once',
    ]);
    for (const email of ["Zo\u00eb@b\u00fccher.example", "zoe\u0308@xn--bcher-kva.example."])
      expect((await check(email, { email }))?.length).toBe(email.startsWith("Z") ? 0 : 1);
    expect(await check("three", { email: `x${EMAIL}` })).toEqual([]);
    expect(await check("four", { projectId: "prj-other" })).toEqual([]);
  });

  test("in another spelling, and a name composed otherwise, are no other user: nothing is replaced", async () => {
    const user = await started();
    const inputs = { ...INPUTS, email: "Ops@b\u00fccher.example", name: "Zo\u00eb" };
    const state = await user.create(inputs);
    const before = await users(user);
    await user.forgetRequests();
    const respelled = { ...inputs, email: "ops@XN--bcher-kva.example", name: " Zoe\u0308" };
    expect(await user.diff(state, respelled)).toMatchObject({ changes: false, replaces: [] });
    expect(await user.requests()).toEqual([]);
    expect(await users(user)).toEqual(before);
    for (const other of [{ email: "dev@b\u00fccher.example" }, { name: "ZO\u00cb" }])
      expect((await user.diff(state, { ...inputs, ...other })).replaces).toEqual(Object.keys(other));
  });

  test.each([
    ["is being deleted by this run", 0],
    ["this run begins to delete a moment later", 60],
  ])("of a user who %s is free soon, and waited for", async (_, later) => {
    const user = await started();
    const { id, outs } = await user.create(INPUTS);
    user.restart();
    await user.fault({ method: "DELETE", delayMs: 300 });
    const deleting = new Promise((resolve) => setTimeout(resolve, later)).then(() => user.provider.delete(id, outs));
    // The creation is refused while the other one still has the address.
    await new Promise((resolve) => setTimeout(resolve, later === 0 ? 30 : 0));
    const made = await user.provider.create(named("new", {}));
    await deleting;
    expect(made.id).not.toBe(id);
    expect((await users(user)).map(({ id: one }) => `${PROJECT}/${String(one)}`)).toEqual([made.id]);
    expect((await user.requests("POST")).map(({ path }) => path).slice(1)).toHaveLength(2);
  });

  test("that was free before, and that somebody else has taken since, is not waited for", async () => {
    const user = await started();
    const { id, outs } = await user.create(INPUTS);
    user.restart();
    await user.provider.delete(id, outs);
    await user.edit({ kind: "user", create: { email: EMAIL } });
    const error = await thrownBy(user.provider.create(named("new", {})));
    expect(error.message).toContain('A user with this "email" exists already');
    expect((await user.requests("POST")).slice(1)).toHaveLength(1);
  });
});

describe("deleting a user whose deletion is answered by something in front of the service", () => {
  const odd = { method: "DELETE", status: 404, body: "default backend - 404", times: 0 };

  test("fails while his integration stands", async () => {
    const user = await started();
    const state = await user.create(INPUTS);
    await user.fault(odd);
    const error = await thrownBy(user.delete(state));
    expect(error.message).toContain("the user's integration is still listed");
    expect(await users(user)).toHaveLength(1);
  });

  test("succeeds once his integration is gone, also where the state does not know which one it was", async () => {
    const user = await started();
    const { id, outs } = await user.create(INPUTS);
    const { authProviderProjectId: _integration, ...unknown } = outs;
    await user.fault(odd);
    expect((await thrownBy(user.delete({ id, outs: unknown }))).message).toContain("still listed");
    await user.edit({ kind: "integration", delete: true });
    await user.delete({ id, outs });
    await user.delete({ id, outs: unknown });
  });
});

test("a user who is only looked up has the arguments that his id tells, and can be deleted", async () => {
  const user = await started();
  const { id } = await user.create(INPUTS);
  user.restart();
  const found = await user.read({ id, outs: {} });
  expect(found?.inputs).toMatchObject({ projectId: PROJECT });
  await user.delete({ id, outs: found?.outs ?? {} });
  expect(await users(user)).toEqual([]);
});
