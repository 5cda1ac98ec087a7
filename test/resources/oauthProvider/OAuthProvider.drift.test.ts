import { CANARY, expectNoSecrets, planAfterRefresh } from "../../support/harness";
import { kept, listing, OTHER_SECRET, setByHand, SHARED, STANDARD, started } from "../../support/oauthProviders";

describe("drift of an OAuth provider", () => {
  test("one that is deleted by hand is gone", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await given.edit({ kind: "oauth_provider", id: "microsoft", delete: true });
    given.restart();
    expect(await given.read(state)).toBeUndefined();
  });

  test("own credentials that became shared keys show as a text in props and inputs, and an update repairs them", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await setByHand(given, { type: "shared", client_id: null, client_secret: null });
    given.restart();
    const { found, changes, replaces } = await planAfterRefresh(given, state, STANDARD);
    const marker = "(shared keys of the service: changed outside Pulumi)";
    expect(found.outs).toMatchObject({ clientId: marker, type: "shared", clientSecret: `${CANARY}-secret` });
    expect(found.inputs).toMatchObject({ clientId: marker });
    expect({ changes, replaces }).toEqual({ changes: undefined, replaces: [] });
    const repaired = await given.update({ id: found.id, outs: found.outs }, STANDARD);
    expect(await kept(given)).toMatchObject({ type: "standard", client_id: "own-id" });
    expect(await planAfterRefresh(given, repaired, STANDARD)).toMatchObject({ changes: false });
  });

  test("shared keys that became own credentials show in props and inputs, and a replacement repairs them", async () => {
    const given = await started();
    const state = await given.create(SHARED);
    await setByHand(given, { type: "standard", client_id: "theirs", client_secret: `${CANARY}-theirs` });
    given.restart();
    const { found, changes, replaces } = await planAfterRefresh(given, state, SHARED);
    const marker = "(own credentials: changed outside Pulumi)";
    expect(found.outs).toMatchObject({ clientId: marker, type: "standard" });
    expect(found.inputs).toMatchObject({ clientId: marker });
    expect({ changes, replaces }).toEqual({ changes: undefined, replaces: ["clientId"] });
    await given.delete(found);
    const repaired = await given.create(SHARED);
    expect(await kept(given)).toMatchObject({ type: "shared" });
    expect(await planAfterRefresh(given, repaired, SHARED)).toMatchObject({ changes: false, replaces: [] });
  });

  test("own credentials found in place of shared keys can be declared instead", async () => {
    const given = await started();
    const state = await given.create(SHARED);
    await setByHand(given, { type: "standard", client_id: "theirs", client_secret: `${CANARY}-theirs` });
    const found = await given.read(state);
    const { replaces } = await given.diff({ ...state, outs: found?.outs ?? {} }, STANDARD);
    expect(replaces).toEqual([]);
    await given.update({ ...state, outs: found?.outs ?? {} }, STANDARD);
    expect(await kept(given)).toMatchObject({ type: "standard", client_id: "own-id" });
  });

  test("the shared keys are no drift any more once somebody put them back", async () => {
    const given = await started();
    const state = await given.create(SHARED);
    await setByHand(given, { type: "standard", client_id: "theirs", client_secret: "theirs" });
    const drifted = await given.read(state);
    await setByHand(given, { type: "shared", client_id: null, client_secret: null });
    given.restart();
    const { found, changes } = await planAfterRefresh(given, { ...state, outs: drifted?.outs ?? {} }, SHARED);
    expect(found.outs).not.toHaveProperty("clientId");
    expect(changes).toBe(false);
  });

  test.each([
    ["masked", { client_id: "********", client_secret: "••••" }],
    ["masked in part", { client_id: "own-****", client_secret: "abc***" }],
    ["empty", { client_id: "", client_secret: "" }],
    ["absent", {}],
    ["the same", { client_id: "own-id" }],
  ])("credentials that come back %s are no drift", async (_how, shown) => {
    const given = await started();
    const state = await given.create(STANDARD);
    await listing(given, { id: "microsoft", type: "standard", ...shown });
    given.restart();
    const { found, changes } = await planAfterRefresh(given, state, STANDARD);
    expect(changes).toBe(false);
    expect(found.outs).toEqual(state.outs);
  });

  test("a client id or secret that can be read and differs is drift", async () => {
    const given = await started();
    const state = await given.create(STANDARD);
    await listing(given, { id: "microsoft", type: "standard", client_id: "theirs", client_secret: OTHER_SECRET });
    given.restart();
    const { found, changes } = await planAfterRefresh(given, state, STANDARD);
    expect(found.outs).toMatchObject({ clientId: "theirs", clientSecret: OTHER_SECRET });
    expect(found.inputs).toMatchObject({ clientId: "theirs", clientSecret: OTHER_SECRET });
    expect(changes).toBeUndefined();
    expectNoSecrets(given);
  });

  test("the client id of the service's own application, where it is shown, is no drift of shared keys", async () => {
    const given = await started();
    const state = await given.create(SHARED);
    await listing(given, { id: "microsoft", type: "shared", client_id: "of-the-service" });
    given.restart();
    const { found, changes, replaces } = await planAfterRefresh(given, state, SHARED);
    expect(found.outs).toEqual(state.outs);
    expect({ changes, replaces }).toEqual({ changes: false, replaces: [] });
  });

  test("one that is only looked up shows its type, and no text in place of credentials", async () => {
    const given = await started();
    const { id } = await given.create(STANDARD);
    const found = await given.read({ id, outs: {} });
    expect(found?.outs).toMatchObject({ ...SHARED, type: "standard" });
    expect(found?.outs).not.toHaveProperty("clientId");
  });
});
