import { KIND_CASES } from "../../kinds";
import { sceneOf } from "../../kinds/started";
import { lost } from "../../support/rules/hostile";
import { oauthProvider } from "../../../src/resources/oauthProvider/oauthProviderLifecycle";
import {
  harness,
  notes,
  planAfterRefresh,
  PROJECT,
  thrownBy,
  UNKNOWN,
  withIntegration,
  type Harness,
  type Json,
} from "../../support/harness";

/** A provider that is declared absent. A new integration of the emulator has google and github, shared. */

const ABSENT = { projectId: PROJECT, providerId: "github", absent: true, adopt: true };
const SHARED = { projectId: PROJECT, providerId: "github", adopt: true };
const ID = `${PROJECT}/github/absent`;
const LIST = `/projects/${PROJECT}/auth/oauth_providers`;
const DELETION = `${LIST}/github`;

async function providers(): Promise<Harness> {
  const given = await harness(oauthProvider);
  await withIntegration(given);
  return given;
}

const ids = async (given: Harness): Promise<unknown[]> =>
  ((await given.get(LIST))["providers"] as Json[]).map(({ id }) => id).sort();
const deletions = (given: Harness) => given.requests("DELETE");
/** Somebody sets it up with credentials of their own. */
const theirs = (given: Harness) => given.post(LIST, { id: "github", client_id: "theirs", client_secret: "theirs" });
const removed = (given: Harness) => given.call("DELETE", DELETION);

test("the one that is there from the start is named by the plan, and deleted; a refresh and the next plan are empty", async () => {
  const given = await providers();
  expect(await given.plan(ABSENT)).toEqual({
    failures: [],
    warnings: [
      `pulumi up deletes the OAuth provider github of project ${PROJECT}, which has the shared keys of the service: users can no longer sign in with it`,
    ],
  });
  expect(await given.mutations()).toEqual([]);
  const state = await given.create(ABSENT);
  expect(state).toMatchObject({ id: ID, outs: { type: "absent", absent: true } });
  expect(await ids(given)).toEqual(["google"]);
  expect(notes(given)).toEqual([expect.stringContaining("OAuth provider github")]);
  const { found, ...plan } = await planAfterRefresh(given, state, ABSENT);
  expect(plan).toMatchObject({ changes: false, replaces: [] });
  expect(found.id).toBe(ID);
});

test("without adopt nothing is deleted: plan and creation say what to do", async () => {
  const given = await providers();
  const { adopt: _adopt, ...cautious } = ABSENT;
  expect((await given.plan(cautious)).warnings).toEqual([
    expect.stringContaining('Set "adopt: true" to have it deleted'),
  ]);
  expect((await thrownBy(given.create(cautious))).message).toContain('Set "adopt: true" to have it deleted');
  expect(await deletions(given)).toEqual([]);
});

test("one with credentials of its own is never deleted: somebody would lose them", async () => {
  const given = await providers();
  await removed(given);
  await theirs(given);
  await given.forgetRequests();
  const words = /declared absent, and exists with the type standard: somebody has set it up. It is not deleted/;
  expect((await given.plan(ABSENT)).warnings).toEqual([expect.stringMatching(words)]);
  expect((await thrownBy(given.create(ABSENT))).message).toMatch(words);
  expect(await given.mutations()).toEqual([]);
});

test("where there is none, nothing is reported or sent", async () => {
  const given = await providers();
  await removed(given);
  await given.forgetRequests();
  expect(await given.plan(ABSENT)).toEqual({ failures: [], warnings: [] });
  expect(await given.create(ABSENT)).toMatchObject({ id: ID });
  expect(await given.mutations()).toEqual([]);
});

test.each([
  ["shared", (given: Harness) => given.post(LIST, { id: "github" })],
  ["standard", theirs],
])("one that somebody adds later, %s, is drift; the resource's own deletion does not touch it", async (type, add) => {
  const given = await providers();
  const state = await given.create(ABSENT);
  await add(given);
  await given.forgetRequests();
  await given.check(ABSENT, ABSENT);
  const { found, replaces } = await planAfterRefresh(given, state, ABSENT);
  expect(found).toMatchObject({ id: ID, inputs: { absent: false }, outs: { type } });
  expect(replaces).toEqual(["absent"]);
  expect(given.log.at(-1)?.message).toContain(
    'is replaced, because "absent" changes: users can no longer sign in with it: it is deleted if it has the shared keys',
  );
  // As at the end of a replacement, and for a program that no longer declares it.
  await given.delete(found);
  expect(await given.mutations()).toEqual([]);
  // The creation in its place deletes what is of nobody.
  const again = given.create(ABSENT);
  if (type === "shared") expect(await again).toMatchObject({ id: ID });
  else expect((await thrownBy(again)).message).toContain("It is not deleted");
  expect((await ids(given)).includes("github")).toBe(type !== "shared");
});

test("from shared to absent and back: a replacement each, whose plan says what users lose or get", async () => {
  const given = await providers();
  const shared = await given.create(SHARED);
  const said = async (olds: object, state: typeof shared, news: object) => {
    given.restart();
    const before = given.log.length;
    await given.check({ ...news }, { ...olds });
    const { replaces } = await given.diff(state, { ...news });
    return [replaces, given.log.slice(before).map(({ message }) => message)];
  };
  expect(await said(SHARED, shared, ABSENT)).toEqual([
    ["absent"],
    [
      expect.stringMatching(
        /is replaced, because "absent" changes: users can no longer sign in with it: it is deleted$/,
      ),
    ],
  ]);
  await given.delete(shared);
  const absent = await given.create(ABSENT);
  expect(await ids(given)).toEqual(["google"]);
  expect(await said(ABSENT, absent, SHARED)).toEqual([
    ["absent"],
    [expect.stringContaining("it is created, and users can sign in with it")],
  ]);
  await given.delete(absent);
  expect(await given.create(SHARED)).toMatchObject({ id: `${PROJECT}/github`, outs: { type: "shared" } });
});

test("a retried deletion looks again: what a colleague has set up since the first attempt stays", async () => {
  const { given, network } = await sceneOf(KIND_CASES.OAuthProvider);
  // Carried out, but answered with a 502, after a colleague has changed it.
  network.on({ method: "DELETE", path: DELETION, nth: 1, after: () => theirs(given), answer: lost });
  expect((await thrownBy(given.create(ABSENT))).message).toContain("It is not deleted");
  expect(await ids(given)).toContain("github");
  expect(await deletions(given)).toHaveLength(1);
});

test("an update deletes nothing, whatever somebody has added: only the plan of a creation reports it", async () => {
  const given = await providers();
  const state = await given.create(ABSENT);
  await given.post(LIST, { id: "github" });
  await given.forgetRequests();
  // As after a rename with an alias, where the engine calls an update for the hidden inputs alone.
  expect(await given.update(state, ABSENT)).toMatchObject({ outs: { absent: true } });
  expect(await given.mutations()).toEqual([]);
  expect(await ids(given)).toContain("github");
});

test.each([
  ["that must not ask", () => void (process.env["SVC_OFFLINE_PLAN"] = "1")],
  ["whose service does not answer", (given: Harness) => given.fault({ status: 503, times: 0 })],
])("a plan %s says that the provider may be deleted", async (_what, prepare) => {
  const given = await providers();
  try {
    await prepare(given);
    const { warnings } = await given.plan(ABSENT);
    expect(warnings.join("\n")).toContain("the provider github is deleted if it has the shared keys of the service");
  } finally {
    delete process.env["SVC_OFFLINE_PLAN"];
  }
});

test("a program that declares it again replaces the resource, also where the state says that it is there", async () => {
  const given = await providers();
  const state = await given.create(ABSENT);
  await given.post(LIST, { id: "github" });
  const { found } = await planAfterRefresh(given, state, ABSENT);
  expect(found).toMatchObject({ id: ID, inputs: { absent: false } });
  for (const news of [{ ...ABSENT, absent: false }, SHARED])
    expect(await given.diff(found, news)).toMatchObject({ replaces: ["absent"] });
});

test("the first attempt of a deletion looks, too: what a colleague has set up since the plan stays", async () => {
  const { given, network } = await sceneOf(KIND_CASES.OAuthProvider);
  let lists = 0;
  network.on({
    method: "GET",
    path: LIST,
    before: async () => {
      lists += 1;
      // After the creation has read the list, and before the attempt reads it.
      if (lists !== 2) return;
      await removed(given);
      await theirs(given);
    },
  });
  expect((await thrownBy(given.create(ABSENT))).message).toContain("It is not deleted");
  expect(await ids(given)).toContain("github");
});

test("a value that is not known yet sends no request, and credentials with it are refused", async () => {
  const given = await providers();
  expect(await given.plan({ ...ABSENT, absent: UNKNOWN })).toEqual({ failures: [], warnings: [] });
  expect(await given.check({ ...ABSENT, clientId: "a", clientSecret: "b" })).toEqual([
    'clientId: must be left out with "absent: true"',
    'clientSecret: must be left out with "absent: true"',
  ]);
  expect(await given.check({ ...ABSENT, absent: "true" })).toEqual([
    expect.stringMatching(/^absent: must be true or false, not the string "true"/),
  ]);
});

test("`absent: false` says no more than leaving it out, and a state of before knows nothing of it", async () => {
  const given = await providers();
  const state = await given.create(SHARED);
  expect(state.outs).not.toHaveProperty("absent");
  expect(await given.diff(state, { ...SHARED, absent: false })).toMatchObject({ replaces: [] });
  const { outs } = await given.update(state, { ...SHARED, absent: false });
  expect(await given.diff({ ...state, outs }, { ...SHARED })).toMatchObject({ replaces: [] });
  const read = await given.read({ ...state, outs });
  expect(read?.inputs).toMatchObject({ absent: false });
});

test("an integration that is gone takes its absent ones along", async () => {
  const given = await providers();
  const state = await given.create(ABSENT);
  await given.edit({ kind: "integration", delete: true });
  given.restart();
  expect(await given.read(state)).toBeUndefined();
});
