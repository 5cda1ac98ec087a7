/** `ignoreChanges` with the credentials of an OAuth provider, and what a change sends beside what has changed. */
import type { Properties } from "../../../src/contract/hiddenKeys";
import { STAND_INS } from "../../../src/contract/standIns";
import { hashed } from "../../../src/emulator/model/records";
import {
  CANARY,
  expectNoSecrets,
  keptBy,
  notes,
  planAfterRefresh,
  thrownBy,
  type Harness,
  type State,
} from "../../support/harness";
import {
  bodies,
  kept,
  listing,
  OTHER_SECRET,
  PATH,
  setByHand,
  SHARED,
  STANDARD,
  started,
} from "../../support/oauthProviders";

const IGNORING = { ...STANDARD, __ignoreChanges: ["clientSecret"] };
const CREDENTIALS = ["clientId", "clientSecret"];
const BY_HAND = `${CANARY}-by-hand`;

/** A plan and an update in commands of their own, and what the plan says. */
async function up(given: Harness, state: State, news: Properties) {
  given.restart();
  const before = given.log.length;
  expect((await given.plan(news, STANDARD)).failures).toEqual([]);
  await given.diff(state, news);
  const says = given.log.slice(before).filter(({ severity }) => severity === "warning");
  given.restart();
  expect(await given.check(news, STANDARD)).toEqual([]);
  await given.forgetRequests();
  const next = await given.update(state, news);
  return { next, says: says.map(({ message }) => message), sent: await bodies(given) };
}

async function shareByHand(given: Harness): Promise<void> {
  await given.edit({ kind: "oauth_provider", id: "microsoft", delete: true });
  await given.post(PATH, { id: "microsoft" });
}

test("another client id leaves the secret that was rotated by hand", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  await setByHand(given, { client_secret: BY_HAND });
  const { says, sent } = await up(given, state, { ...IGNORING, clientId: "new-id" });
  expect([says, sent]).toEqual([[], [["PATCH", { client_id: "new-id" }]]]);
  expect(await kept(given)).toMatchObject({ client_id: "new-id", client_secret: hashed(BY_HAND) });
  expectNoSecrets(given);
});

test("a change of the secret that did not finish is not sent again where it is ignored now, and the plan says so", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  const open = { ...state, outs: { ...state.outs, __unfinished: "update", __sent: ["clientId", "clientSecret"] } };
  await setByHand(given, { client_id: "by-hand", client_secret: BY_HAND });
  const { next, says, sent } = await up(given, open, IGNORING);
  expect(says).toEqual([
    `the previous update of OAuthProvider ${state.id} ("thing") did not finish. This update resumes it: "clientId" is sent again; "clientSecret" is not sent again, because of ignoreChanges`,
  ]);
  expect(sent).toEqual([["PATCH", { client_id: STANDARD.clientId }]]);
  expect(next.outs).not.toHaveProperty("__unfinished");
  expect(await kept(given)).toMatchObject({ client_secret: hashed(BY_HAND) });
});

test("a creation that did not finish goes on with the secret: the service may have none of it yet", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  const open = { ...state, outs: { ...state.outs, __unfinished: "create" } };
  const { next } = await up(given, open, IGNORING);
  expect(await kept(given)).toMatchObject({ client_secret: hashed(STANDARD.clientSecret) });
  expect(next.outs).not.toHaveProperty("__unfinished");
});

test("a provider that became shared needs both credentials, ignored or not: the plan names the other one", async () => {
  for (const program of [STANDARD, IGNORING]) {
    const given = await started();
    const state = await given.create(STANDARD);
    await shareByHand(given);
    const { says } = await up(given, state, { ...program, clientId: "new-id" });
    expect(says).toEqual([
      'pulumi up also sets "clientSecret" of the OAuth provider microsoft ("thing"): it has the shared keys of the service, and needs both',
    ]);
    expect(await kept(given)).toMatchObject({ client_id: "new-id", client_secret: hashed(STANDARD.clientSecret) });
  }
});

describe("a client id that is ignored, of a provider that became shared: there is none at the service", () => {
  const news = { ...STANDARD, clientSecret: OTHER_SECRET, __ignoreChanges: ["clientId"] };
  const words =
    /"clientId" is in ignoreChanges, and the OAuth provider microsoft has the type shared, without a client id of its own: .* Remove "clientId" from ignoreChanges/;

  test("is not set with another secret: plan and update refuse", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await shareByHand(given);
    given.restart();
    expect((await given.plan(news, STANDARD)).failures).toEqual([]);
    const before = given.log.length;
    await given.diff(state, news);
    expect(given.log.slice(before).map(({ message }) => message)).toEqual([expect.stringMatching(words)]);
    await given.forgetRequests();
    expect((await thrownBy(given.update(state, news))).message).toMatch(words);
    expect(await given.mutations()).toEqual([]);
    // The way out.
    const { says } = await up(given, state, { ...STANDARD, clientSecret: OTHER_SECRET });
    expect(says).toEqual([expect.stringContaining('pulumi up also sets "clientId"')]);
    expect(await kept(given)).toMatchObject({ client_id: STANDARD.clientId, client_secret: hashed(OTHER_SECRET) });
    expectNoSecrets(given);
  });

  test("is not set by a change that did not finish", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await shareByHand(given);
    const open = { ...state, outs: { ...state.outs, __unfinished: "update", __sent: ["clientSecret"] } };
    const ignoring = { ...STANDARD, __ignoreChanges: ["clientId"] };
    given.restart();
    expect(await given.check(ignoring, STANDARD)).toEqual([]);
    await given.forgetRequests();
    expect((await thrownBy(given.update(open, ignoring))).message).toMatch(words);
    expect(await given.mutations()).toEqual([]);
  });

  test("is set by a creation that goes on", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await shareByHand(given);
    await up(given, { ...state, outs: { ...state.outs, __unfinished: "create" } }, news);
    expect(await kept(given)).toMatchObject({ client_id: STANDARD.clientId, client_secret: hashed(OTHER_SECRET) });
  });

  test("stands in the way of nothing where nothing is sent", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await shareByHand(given);
    const { says, sent } = await up(given, state, { ...STANDARD, __ignoreChanges: ["clientId"] });
    expect([says, sent]).toEqual([[], []]);
  });

  test("after a refresh the engine hands over the text in its place: the same refusal", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await shareByHand(given);
    given.restart();
    const { found } = await planAfterRefresh(given, state, STANDARD);
    const handed = { ...news, clientId: STAND_INS.sharedByHand };
    expect(found.outs).toMatchObject({ clientId: handed.clientId });
    given.restart();
    expect((await given.plan(handed, { ...STANDARD, clientId: handed.clientId })).failures).toEqual([]);
    const before = given.log.length;
    await given.diff(found, handed);
    expect(given.log.slice(before).map(({ message }) => message)).toEqual([expect.stringMatching(words)]);
    expect((await thrownBy(given.update(found, handed))).message).toMatch(words);
  });
});

test("a response that shows another client id is no failure where it is ignored", async () => {
  const given = await started();
  const state = await given.create(STANDARD);
  await given.fault({ method: "PATCH", path: `${PATH}/microsoft`, effect: "done", merge: { client_id: "theirs" } });
  const news = { ...STANDARD, clientSecret: OTHER_SECRET, __ignoreChanges: ["clientId"] };
  const { next } = await up(given, state, news);
  expect(next.outs).toMatchObject({ clientSecret: OTHER_SECRET });
  expect(next.outs).not.toHaveProperty("__unfinished");
});

test("an adoption names the credentials that it replaces: they cannot be restored", async () => {
  const given = await started();
  await given.post(PATH, { id: "microsoft", client_id: "theirs", client_secret: `${CANARY}-theirs` });
  const { warnings } = await given.plan({ ...STANDARD, adopt: true });
  expect(warnings).toEqual([
    "pulumi up takes over the OAuth provider microsoft of project prj-demo, which exists with the type standard: it gets the credentials of the program, and the credentials that it has cannot be restored; destroying deletes it, unless retainOnDelete is set",
  ]);
});

describe("a client id that was set by hand, when the program changes the secret", () => {
  const news = { ...STANDARD, clientSecret: OTHER_SECRET };
  const byHand = async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await setByHand(given, { client_id: "by-hand", client_secret: BY_HAND });
    return { given, state };
  };

  test("goes with it where a list shows it, and the plan names it", async () => {
    const { given, state } = await byHand();
    await listing(given, { id: "microsoft", type: "standard", client_id: "by-hand" });
    const { says, sent } = await up(given, state, news);
    expect(says).toEqual([
      'pulumi up overwrites "clientId" of the OAuth provider microsoft ("thing"): the service has another value there than the state',
    ]);
    expect(sent).toEqual([["PATCH", { client_id: STANDARD.clientId, client_secret: hashed(OTHER_SECRET) }]]);
    expect(notes(given).at(-1)).toMatch(/^OAuthProvider .*: "clientId" had another value .*, and was overwritten$/);
  });

  test("stays if none does, the update fails because of it, and the next one sends both", async () => {
    const { given, state } = await byHand();
    const { id, message, properties } = await keptBy(up(given, state, news));
    expect(message).toContain('the service still shows another "clientId" after it accepted the change');
    expect(properties).toMatchObject({ clientId: "by-hand" });
    const { next } = await up(given, { id, outs: properties }, news);
    expect(await kept(given)).toMatchObject({ client_id: STANDARD.clientId, client_secret: hashed(OTHER_SECRET) });
    expect(next.outs).not.toHaveProperty("__unfinished");
    expectNoSecrets(given);
  });

  test("stays where it is ignored", async () => {
    const { given, state } = await byHand();
    await listing(given, { id: "microsoft", type: "standard", client_id: "by-hand" });
    const { says, sent } = await up(given, state, { ...news, __ignoreChanges: ["clientId"] });
    expect([says, sent]).toEqual([[], [["PATCH", { client_secret: hashed(OTHER_SECRET) }]]]);
  });
});

test("credentials that a failed update may have set are not left where the program declares the shared keys again", async () => {
  const given = await started();
  const state = await given.create(SHARED);
  const open = { ...state, outs: { ...state.outs, __unfinished: "update", __sent: [...CREDENTIALS] } };
  // It has not set them.
  given.restart();
  expect((await given.update(open, SHARED)).outs).not.toHaveProperty("__unfinished");
  await setByHand(given, { type: "standard", client_id: STANDARD.clientId, client_secret: STANDARD.clientSecret });
  given.restart();
  expect((await given.plan(SHARED, SHARED)).failures).toEqual([]);
  const before = given.log.length;
  await given.diff(open, SHARED);
  const words =
    /the OAuth provider microsoft has credentials of its own, which the previous update may have set\..* Run pulumi up --refresh/;
  expect(given.log.slice(before).map(({ message }) => message)).toEqual([expect.stringMatching(words)]);
  await given.forgetRequests();
  expect((await thrownBy(given.update(open, SHARED))).message).toMatch(words);
  expect(await given.mutations()).toEqual([]);
  given.restart();
  const { found } = await planAfterRefresh(given, open, SHARED);
  expect(await given.diff(found, SHARED)).toMatchObject({ replaces: ["clientId"] });
});
