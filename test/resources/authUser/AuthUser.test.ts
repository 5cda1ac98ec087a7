import { authUser } from "../../../src/resources/authUser/lifecycle";
import { childCases } from "../../support/childCases";
import {
  CANARY,
  expectNoSecrets,
  harness,
  PROJECT,
  PROVIDER,
  thrownBy,
  UNKNOWN,
  withIntegration,
  type Json,
} from "../../support/harness";

const EMAIL = `${CANARY}@example.com`;
const INPUTS = { projectId: PROJECT, email: EMAIL, name: `${CANARY} Someone` };

childCases({
  lifecycle: authUser,
  inputs: INPUTS,
  replacedBy: { email: "other@example.com", name: "Other", authProvider: "other_provider" },
  unknowns: { email: UNKNOWN, name: UNKNOWN },
});

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
    `AuthUser ${state.id} is replaced, since "name" changes: the user is deleted and created again, with another id`,
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

test("an address that is taken is reported with both ways to go on", async () => {
  const user = await started();
  await user.edit({ kind: "user", create: { email: EMAIL } });
  const error = await thrownBy(user.create(INPUTS));
  expect(error.message).toMatch(
    /409.*A user with this "email" exists already; an interrupted pulumi up may have created it/,
  );
  expect(error.message).toMatch(/users_sync.*delete it or choose another address; or, if .* give it an alias/);
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
    /not known whether this one was created.*Run it again.*conflict.*users_sync.*delete it/,
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

test("when the list of integrations lags behind a new one, the user is made all the same and is not taken for gone", async () => {
  const user = await harness(authUser, { listLagMs: 1_500 });
  await withIntegration(user);
  const { id, outs } = await user.create(INPUTS);
  expect(outs).not.toHaveProperty("authProviderProjectId");
  await new Promise((resolve) => setTimeout(resolve, 1_600));
  user.restart();
  expect((await user.read({ id, outs }))?.outs).toMatchObject({ userId: outs["userId"] });
});
