import { whitelist } from "../../src/resources/whitelist/whitelistLifecycle";
import { whitelistDomain } from "../../src/resources/whitelist/whitelistDomainLifecycle";
import { EACH_KIND, KIND_CASES } from "../kinds";
import { DEMO, PATIENCE, wholeIn, type KindCase } from "../kinds/KindCase";
import { sceneOf } from "../kinds/started";
import { DOMAIN_ARGS } from "../kinds/WhitelistDomain";
import { expectNoSecrets, harness, PROJECT, withIntegration } from "../support/harness";
import { altered, FOREIGN_404S, OWN_404 } from "../support/rules/hostile";
import { DOMAINS, recordsOf, removedById, USER } from "../support/rules/routes";
import { domainScene } from "../support/rules/scenes";
import { listed } from "../support/whitelists";
import { lastingLines, outcomeOf, wordsOf } from "../support/rules/steps";

const DELETABLE = EACH_KIND.flatMap(([kind, kindCase]) =>
  kindCase.deletion === undefined ? [] : [[kind, kindCase, kindCase.deletion] as const],
);

const created = async (kindCase: KindCase) => {
  const opened = await sceneOf(kindCase);
  const state = await opened.given.create({ ...wholeIn(kindCase, DEMO), ...PATIENCE });
  opened.given.restart();
  opened.given.log.splice(0);
  return { ...opened, state };
};

describe.each(DELETABLE)("deleting %s", (_kind, kind, { method, path }) => {
  const { standing, vanish } = kind;

  test.each(FOREIGN_404S)("that still stands fails when something in front answers %s", async (_how, answer) => {
    const { given, network, state } = await created(kind);
    network.on({ method, path, executed: false, answer });
    const outcome = await outcomeOf(async () => void (await given.delete(state)));
    expect(standing(await given.state(), state)).not.toEqual([]);
    expect(wordsOf(outcome)).toMatch(/404/);
    expect(lastingLines(given).join("\n")).not.toMatch(/\bgone\b|deleted|shared server/);
    expectNoSecrets(given);
    network.calm();
    await given.delete(state);
    expect(standing(await given.state(), state)).toEqual([]);
  });

  test.each(FOREIGN_404S)("fails when everything is answered with %s", async (_how, answer) => {
    const { given, network, state } = await created(kind);
    network.on({ executed: false, answer });
    const outcome = await outcomeOf(async () => void (await given.delete(state)));
    expect(standing(await given.state(), state)).not.toEqual([]);
    expect(wordsOf(outcome)).toMatch(/404/);
    expectNoSecrets(given);
  });

  test.each([...FOREIGN_404S, OWN_404])(
    "that is really gone succeeds when it is answered with %s, since a list confirms it",
    async (_how, answer) => {
      const { given, network, state } = await created(kind);
      await vanish(given, state);
      network.on({ method, path, executed: false, answer });
      await given.delete(state);
    },
  );

  test("that is really gone succeeds by the word of the service", async () => {
    const { given, state } = await created(kind);
    await vanish(given, state);
    await given.delete(state);
  });

  test("that is really gone costs one list more when the service answers 404", async () => {
    const { given, network, state } = await created(kind);
    await vanish(given, state);
    network.on({ method, path, executed: false, answer: OWN_404[1] });
    network.arrived.splice(0);
    await given.delete(state);
    const sent = network.arrived.findIndex((request) => request.method === method);
    // Nothing is sent if its integration is gone.
    if (sent !== -1) expect(network.arrived.slice(sent + 1)).toMatchObject([{ method: "GET" }]);
  });
});

const removeUser = removedById("user");

describe("deleting a user who is gone and whom no list shows", () => {
  test("succeeds by the word of the service", async () => {
    const { given, state } = await created(KIND_CASES.AuthUser);
    await removeUser(given, state);
    await given.delete(state);
  });

  test.each(FOREIGN_404S)("fails when something in front answers %s", async (_how, answer) => {
    const { given, network, state } = await created(KIND_CASES.AuthUser);
    await removeUser(given, state);
    network.on({ method: "DELETE", path: USER, executed: false, answer });
    const outcome = await outcomeOf(async () => void (await given.delete(state)));
    expect(wordsOf(outcome)).toMatch(/404/);
  });
});

describe.each(EACH_KIND)("refreshing %s", (_kind, kind) => {
  test.each([...FOREIGN_404S, OWN_404])("drops nothing when its list is answered with %s", async (_how, answer) => {
    const { given, network, state } = await created(kind);
    network.on({ method: "GET", path: kind.list, executed: false, answer });
    const outcome = await outcomeOf(() => given.read(state));
    expect(wordsOf(outcome)).toMatch(/404/);
    expect(outcome).toMatchObject({ kept: undefined });
    expectNoSecrets(given);
  });
});

describe("a list of the service", () => {
  const emptied = altered((body) =>
    Object.fromEntries(Object.entries(body).map(([name, value]) => [name, Array.isArray(value) ? [] : value])),
  );

  // Objects in an integration are searched in two lists: laggingLists.test.ts.
  test.each(EACH_KIND.filter(([, { inIntegration }]) => !inIntegration))(
    "that lacks %s once, and shows it after a lag, drops nothing",
    async (_kind, kind) => {
      const { given, network, state } = await created(kind);
      network.on({ method: "GET", path: kind.list, nth: 1, answer: emptied });
      expect(await given.read(state)).toMatchObject({ id: state.id });
    },
  );
});

test("a domain can be deleted while another auth provider of the project has it too", async () => {
  const { given, network } = await domainScene();
  const state = await given.create(DOMAIN_ARGS);
  const theirs = { domain: DOMAIN_ARGS.domain, auth_provider: "another_provider" };
  network.on({
    method: "GET",
    path: DOMAINS,
    answer: altered((body) => ({ domains: [...(body["domains"] as object[]), theirs] })),
  });
  await given.delete(state);
  expect(await recordsOf(given, "domains")).toEqual([]);
});

/** The spelling of the program, and one that the service may use. */
const site = "https://a.example.com";

describe("a domain that the service spells otherwise, and that a lagging list hides", () => {
  const spelt = "https://A.Example.com/";
  test.each([
    ["a WhitelistDomain", whitelistDomain, { projectId: PROJECT, domain: site }],
    ["a Whitelist", whitelist, { projectId: PROJECT, domains: [site] }],
  ] as const)("%s is not deleted green while it stands", async (_, lifecycle, inputs) => {
    // The union type of both lifecycles cannot be called.
    const given = await harness(lifecycle as typeof whitelistDomain);
    await withIntegration(given);
    const state = await given.create(inputs);
    await given.edit({ kind: "domain", id: site, set: { domain: spelt } });
    await given.fault({
      method: "GET",
      path: `/projects/${PROJECT}/auth/domains`,
      status: 200,
      body: { domains: [] },
      times: 1,
    });
    const ended = await given.delete(state).then(
      () => "green",
      () => "red",
    );
    // Nothing shows that its other spelling is ours: what is still listed is not deleted.
    expect([ended, await listed(given)]).toEqual(["red", [spelt]]);
  });
});
