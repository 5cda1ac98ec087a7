/** `ignoreChanges` with the credentials of an OAuth provider, and what a change sends beside what has changed. */
import type { Properties } from "../../../src/contract/hiddenKeys";
import { hashed } from "../../../src/emulator/model/records";
import { CANARY, expectNoSecrets, type Harness, type State } from "../../support/harness";
import { bodies, kept, OTHER_SECRET, PATH, setByHand, STANDARD, started } from "../../support/oauthProviders";

const IGNORING = { ...STANDARD, __ignoreChanges: ["clientSecret"] };
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
