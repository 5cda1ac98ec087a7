import { whitelist } from "../../../src/resources/whitelist/whitelistLifecycle";
import { whitelistDomain } from "../../../src/resources/whitelist/whitelistDomainLifecycle";
import {
  CANARY,
  expectNoSecrets,
  harness,
  keptBy,
  planAfterRefresh,
  PROJECT,
  PROVIDER,
  UNKNOWN,
  withIntegration,
  type Harness,
} from "../../support/harness";
import { addByHand, listed, PATH } from "../../support/whitelists";

const [A, B, C] = ["https://a.example.com", "https://b.example.com", "https://c.example.com"] as const;
const [PAST, LATER, LATEST] = ["2020-01-31", "2999-01-31", "2999-02-28"] as const;
const ONE = { projectId: PROJECT, domain: A };
const dated = (origin: string, expiresOn: unknown = LATER) => ({ origin, expiresOn });
const list = (...domains: unknown[]) => ({ projectId: PROJECT, domains });

const startedDomain = async (): Promise<Harness> => {
  const given = await harness(whitelistDomain);
  await withIntegration(given);
  return given;
};
const startedList = async (): Promise<Harness> => {
  const given = await harness(whitelist);
  await withIntegration(given);
  return given;
};

const messages = (given: Harness): string[] => given.log.splice(0).map(({ message }) => message);
/** The engine compares the inputs, which differ. */
const UPDATE = { replaces: [], deleteBeforeReplace: true };
const EXPIRED = "is today or in the past (UTC). The domain stays on the whitelist until it is removed from the program";

describe("a redirect domain with a day", () => {
  test("is created and kept as any other: no request carries the day", async () => {
    const given = await startedDomain();
    const state = await given.create({ ...ONE, expiresOn: LATER });
    expect(state.outs).toMatchObject({ ...ONE, expiresOn: LATER, __args: ["domain", "expiresOn", "projectId"] });
    expect(await given.mutations()).toMatchObject([{ method: "POST", body: { domain: A, auth_provider: PROVIDER } }]);
    given.restart();
    expect((await given.read(state))?.outs).toMatchObject({ expiresOn: LATER });
    expect(await planAfterRefresh(given, state, { ...ONE, expiresOn: LATER })).toMatchObject({ changes: false });
  });

  test.each([
    [undefined, LATER],
    [LATER, LATEST],
    [LATER, undefined],
  ])("is updated from %s to %s in the state alone, and then is no change", async (from, to) => {
    const given = await startedDomain();
    const [olds, news] = [from, to].map((expiresOn) => ({ ...ONE, ...(expiresOn !== undefined && { expiresOn }) }));
    if (olds === undefined || news === undefined) throw new Error("two programs");
    const state = await given.create(olds);
    await given.forgetRequests();
    await given.fault({ status: 503, times: 0 });
    await given.check(news, olds);
    expect(await given.diff(state, news)).toEqual(UPDATE);
    const updated = await given.update(state, news);
    expect(await given.requests()).toEqual([]);
    expect(updated.outs["expiresOn"]).toBe(to);
    expect(await given.diff(updated, news)).toMatchObject({ changes: false });
    expect(messages(given)).toEqual(
      to === undefined ? [`"expiresOn" of WhitelistDomain ${state.id} ("thing") is no longer managed`] : [],
    );
  });

  test("warns in each plan from that day on, also of its creation, and removes nothing", async () => {
    const given = await startedDomain();
    const inputs = { ...ONE, expiresOn: PAST };
    expect(await given.check(inputs)).toEqual([]);
    expect(messages(given)).toEqual([
      expect.stringContaining(`"expiresOn" of the WhitelistDomain ("thing") ${EXPIRED}`),
    ]);
    const state = await given.create(inputs);
    given.restart();
    await given.check(inputs, inputs);
    expect(await given.diff(state, inputs)).toMatchObject({ changes: false });
    expect(messages(given)).toEqual([expect.stringContaining(EXPIRED)]);
    expect(await listed(given)).toEqual([A]);
    await given.check({ ...inputs, expiresOn: LATER }, inputs);
    expect(messages(given)).toEqual([]);
  });

  test.each([
    ["a time", "2027-01-31T00:00:00Z", /^expiresOn: must be a day such as 2027-01-31$/],
    ["no day of the calendar", "2027-02-29", /^expiresOn: must be a day such as 2027-01-31$/],
    ["a secret", CANARY, /^expiresOn: must be a day such as 2027-01-31$/],
    ["a number", 1_800_000_000_000, /^expiresOn: must be a day such as 2027-01-31, not a number/],
    // What the SDK makes of a Date.
    ["an object", {}, /^expiresOn: must be a day such as 2027-01-31, not an object$/],
    ["nothing", "", /^expiresOn: must be a day such as 2027-01-31$/],
  ])("is refused with %s", async (_what, expiresOn, words) => {
    const given = await startedDomain();
    expect(await given.check({ ...ONE, expiresOn })).toEqual([expect.stringMatching(words)]);
    expect(await given.requests()).toEqual([]);
    expectNoSecrets(given);
  });

  test("that is not known yet warns of nothing, and updates", async () => {
    const given = await startedDomain();
    const state = await given.create({ ...ONE, expiresOn: PAST });
    messages(given);
    expect(await given.check({ ...ONE, expiresOn: UNKNOWN }, { ...ONE, expiresOn: PAST })).toEqual([]);
    expect(await given.diff(state, { ...ONE, expiresOn: UNKNOWN })).toEqual(UPDATE);
    expect(messages(given)).toEqual([]);
  });

  test("has no day where it is only looked up", async () => {
    const given = await startedDomain();
    const { id } = await given.create({ ...ONE, expiresOn: LATER });
    expect((await given.read({ id, outs: {} }))?.outs).not.toHaveProperty("expiresOn");
  });
});

describe("a whitelist with days", () => {
  test("has plain texts as they are beside them, and is the same after a refresh", async () => {
    const given = await startedList();
    const { inputs } = await given.provider.check({}, list(B, dated("HTTPS://A.example.com:443/")));
    expect(inputs).toMatchObject({ domains: [B, dated(A)] });
    const state = await given.create(list(B, dated(A)));
    expect(state.outs).toMatchObject({ domains: [B, dated(A)] });
    expect((await given.mutations()).map(({ body }) => body)).toEqual([
      { domain: B, auth_provider: PROVIDER },
      { domain: A, auth_provider: PROVIDER },
    ]);
    given.restart();
    expect((await given.read(state))?.outs).toMatchObject({ domains: [B, dated(A)] });
    expect(await planAfterRefresh(given, state, list(dated(A), B))).toMatchObject({ changes: false });
  });

  test.each([
    ["a day that is added", [A, B], [dated(A), B]],
    ["another day", [dated(A), B], [dated(A, LATEST), B]],
    ["a day that is left out", [dated(A), B], [B, A]],
  ])("%s is stored and sends nothing, even while the service is down", async (_what, from, to) => {
    const given = await startedList();
    const state = await given.create(list(...from));
    messages(given);
    await given.forgetRequests();
    await given.fault({ status: 503, times: 0 });
    await given.check(list(...to), list(...from));
    expect(await given.diff(state, list(...to))).toEqual(UPDATE);
    const updated = await given.update(state, list(...to));
    expect(await given.requests()).toEqual([]);
    expect(updated.outs).toMatchObject({ domains: to });
    expect(await given.diff(updated, list(...to))).toMatchObject({ changes: false });
    expect(messages(given)).toEqual([]);
  });

  test("shows what was added and removed by hand, and leaves the others with their days", async () => {
    const given = await startedList();
    const state = await given.create(list(dated(A), B, dated(C)));
    await given.edit({ kind: "domain", id: C, delete: true });
    await addByHand(given, "https://theirs.example.com");
    given.restart();
    const found = await given.read(state);
    expect(found?.outs).toMatchObject({ domains: [dated(A), B, "https://theirs.example.com"] });
    if (found === undefined) throw new Error("it exists");
    messages(given);
    await given.check(list(dated(A), B, dated(C)), list(dated(A), B, dated(C)));
    await given.diff(found, list(dated(A), B, dated(C)));
    expect(messages(given)).toEqual([
      'Whitelist prj-demo ("thing"): adds domains[2]; removes https://theirs.example.com',
    ]);
    const updated = await given.update(found, list(dated(A), B, dated(C)));
    expect(updated.outs).toMatchObject({ domains: [dated(A), B, dated(C)] });
    expect((await listed(given)).toSorted()).toEqual([A, B, C]);
  });

  test("keeps the days of what stands when an update fails on the way", async () => {
    const given = await startedList();
    const state = await given.create(list(dated(A), B));
    await given.fault({ method: "POST", path: PATH, status: 400, body: { code: "x", message: "no" }, after: 1 });
    const kept = await keptBy(given.update(state, list(dated(A, LATEST), dated(C), "https://d.example.com")));
    expect(kept.properties["domains"]).toEqual([dated(A, LATEST), B, dated(C)]);
  });

  test("warns of each domain whose day has come, by its place, in each plan", async () => {
    const given = await startedList();
    const inputs = list(dated(A, PAST), B, dated(C, PAST), dated("https://d.example.com"));
    await given.create(inputs);
    messages(given);
    await given.check(inputs, inputs);
    expect(messages(given)).toEqual([
      expect.stringContaining(`"domains[0].expiresOn" of the Whitelist ("thing") ${EXPIRED}`),
      expect.stringContaining(`"domains[2].expiresOn" of the Whitelist ("thing") ${EXPIRED}`),
    ]);
    expect((await listed(given)).length).toBe(4);
  });

  test("refuses what is no domain with a day, by its place and without its value", async () => {
    const given = await startedList();
    const problems = await given.check(
      list(
        dated(A, CANARY),
        dated(B, 7),
        dated(`${C}/${CANARY}`),
        { origin: "https://d.example.com" },
        { origin: "https://e.example.com", expireson: LATER },
        dated("https://f.example.com", {}),
        dated(UNKNOWN, "2027-02-30"),
        dated("https://g.example.com", UNKNOWN),
        null,
      ),
    );
    expect(problems).toEqual([
      "domains[0].expiresOn: must be a day such as 2027-01-31",
      expect.stringMatching(/^domains\[1\]\.expiresOn: must be a day such as 2027-01-31, not a number/),
      "domains[2].origin: must be an origin such as https://app.example.com, without path",
      "domains[3].expiresOn: must be a day such as 2027-01-31, and is missing",
      "domains[4].expiresOn: must be a day such as 2027-01-31, and is missing",
      'domains[4].expireson: unknown property. Did you mean "expiresOn"?',
      "domains[5].expiresOn: must be a day such as 2027-01-31, not an object",
      "domains[6].expiresOn: must be a day such as 2027-01-31",
      expect.stringMatching(/^domains\[8\]: must be a string, or an object with origin and expiresOn, not null/),
    ]);
    expectNoSecrets(given);
  });

  test("has each origin once, with whatever days", async () => {
    const given = await startedList();
    expect(await given.check(list(A, dated(`${A}/`), dated(B), dated(B, LATEST)))).toEqual([
      "domains[1]: is the same origin as domains[0]",
      "domains[3]: is the same origin as domains[2]",
    ]);
  });

  test("manages the same objects as one without days, so either form takes them over from the other", () => {
    expect(whitelist.objects(PROJECT, { domains: [A, { origin: B, expiresOn: LATER }] })).toEqual(
      whitelist.objects(PROJECT, { domains: [A, B] }),
    );
    expect(whitelist.objects(PROJECT, { domains: [{ origin: A, expiresOn: PAST }] })).toEqual(
      whitelistDomain.objects(`${PROJECT}/${A}`, {}),
    );
  });

  test("an edited state with something else in the list is read again, and deletes what it still names", async () => {
    const given = await startedList();
    const state = await given.create(list(dated(A), B));
    const edited = { ...state, outs: { ...state.outs, domains: [{}, { origin: 7, expiresOn: LATER }, B] } };
    await given.diff(edited, list(dated(A), B));
    expect((await given.read(edited))?.outs).toMatchObject({ domains: [B, A] });
    await given.delete(edited);
    expect(await listed(given)).toEqual([A]);
  });
});

test.each(["WhitelistDomain", "Whitelist"])(
  "a repair says that a domain whose day has come is put back, of a %s as of an update",
  async (kind) => {
    const isList = kind === "Whitelist";
    const given = await (isList ? startedList() : startedDomain());
    const declared = isList ? list(dated(A, PAST), B) : { ...ONE, expiresOn: PAST };
    const state = await given.create(declared);
    // As the refresh of a repair finds it: somebody has removed the domain.
    const outs = isList ? { ...state.outs, domains: [B] } : undefined;
    const said = given.provider.repair(state.id, outs, declared)?.messages ?? [];
    expect(said.filter((text) => text.includes(EXPIRED))).toEqual([
      expect.stringContaining(
        isList ? `"domains[0].expiresOn" of the Whitelist` : `"expiresOn" of the WhitelistDomain`,
      ),
    ]);
  },
);
