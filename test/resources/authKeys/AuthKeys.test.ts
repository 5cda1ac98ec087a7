import { authKeys } from "../../../src/resources/authKeys/authKeysLifecycle";
import { expectNoSecrets, harness, PROJECT, PROVIDER, withIntegration, type Json } from "../../support/harness";

const INPUTS = { projectId: PROJECT, rotationTriggers: ["2025-11"] };
const started = async () => {
  const keys = await harness(authKeys);
  await withIntegration(keys);
  return keys;
};

const keySets = async (given: { state(): Promise<Json> }) => (await given.state())["key_sets"] as Json[];

test("the outs hold the whole key set, and the id a hash of the public key", async () => {
  const keys = await started();
  const { id, outs } = await keys.create(INPUTS);
  const [, made] = await keySets(keys);
  expect(outs).toMatchObject({
    ...INPUTS,
    authProvider: PROVIDER,
    pubClientKey: made?.["pub_client_key"],
    secretServerKey: expect.stringMatching(/.{8,}/),
    jwksUrl: expect.stringMatching(/^http:.*\/\.well-known\/jwks\.json$/),
    schemaName: "svc_auth",
    tableName: "users_sync",
    authProviderProjectId: expect.stringMatching(/.+/),
    __args: ["projectId", "rotationTriggers"],
    __version: 1,
  });
  expect(id).toMatch(new RegExp(`^${PROJECT}/${PROVIDER}/[0-9a-f]{12}$`));
});

test("a rotation makes the new set before the old one is forgotten, and the plan says that the old one stays valid", async () => {
  const keys = await started();
  const first = await keys.create(INPUTS);
  const news = { ...INPUTS, rotationTriggers: ["2025-12"] };
  await keys.check(news);
  expect(await keys.diff(first, news)).toMatchObject({ replaces: ["rotationTriggers"], deleteBeforeReplace: false });
  const warnings = keys.log.filter(({ severity }) => severity === "warning");
  expect(warnings.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^AuthKeys prj-demo\/.* is replaced, because "rotationTriggers" changes: a new key set is created; .*cannot revoke keys.*stay valid/,
    ),
  ]);
  const second = await keys.create(news);
  expect(second.id).not.toBe(first.id);
  expect(second.outs["secretServerKey"]).not.toBe(first.outs["secretServerKey"]);
});

test("triggers that are taken out of the program are a change, an empty list of them is none", async () => {
  const keys = await started();
  const state = await keys.create(INPUTS);
  expect(await keys.diff(state, { projectId: PROJECT })).toMatchObject({ replaces: ["rotationTriggers"] });
  const without = await keys.create({ projectId: PROJECT });
  expect(await keys.diff(without, { projectId: PROJECT, rotationTriggers: [] })).toMatchObject({ replaces: [] });
});

test("deleting sends nothing and says that the keys stay valid", async () => {
  const keys = await started();
  const state = await keys.create(INPUTS);
  await keys.forgetRequests();
  await keys.delete(state);
  expect(await keys.requests()).toEqual([]);
  expect(keys.log.at(-1)).toMatchObject({
    severity: "info",
    ephemeral: false,
    message: expect.stringMatching(/^AuthKeys prj-demo\/.*removed from the stack only: .*cannot revoke/),
  });
  expectNoSecrets(keys, [String(state.outs["secretServerKey"])]);
});

test.each([
  ["the connection breaks after the keys were made", { drop: "reset", effect: "done" }],
  ["the answer is cut", { drop: "cut", effect: "done" }],
  ["a proxy answers 502 after the keys were made", { status: 502, body: "<html></html>", effect: "done" }],
])("another set is asked for when %s", async (_how, fault) => {
  const keys = await started();
  await keys.fault({ method: "POST", path: "/projects/auth/keys", ...fault });
  const { outs } = await keys.create(INPUTS);
  const made = await keySets(keys);
  // The one of the integration, the one whose answer was lost, and the one that was used.
  expect(made).toHaveLength(3);
  expect(outs["pubClientKey"]).toBe(made[2]?.["pub_client_key"]);
});

test("a key set that is only looked up has no keys", async () => {
  const keys = await started();
  const { id } = await keys.create(INPUTS);
  expect((await keys.read({ id, outs: {} }))?.outs).toMatchObject({
    authProvider: PROVIDER,
    pubClientKey: "",
    secretServerKey: "",
  });
});

test("triggers may be of any type", async () => {
  const keys = await started();
  expect(await keys.check({ ...INPUTS, rotationTriggers: [1, true, { a: [null] }] })).toEqual([]);
  expect(await keys.check({ ...INPUTS, rotationTriggers: "2025-11" })).toEqual([
    expect.stringMatching(/^rotationTriggers: must be a list of any values, not a string\./),
  ]);
});
