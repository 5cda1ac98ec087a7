import type { Properties } from "../../src/contract/hiddenKeys";
import { whitelist } from "../../src/resources/whitelist/whitelistLifecycle";
import { whitelistDomain } from "../../src/resources/whitelist/whitelistDomainLifecycle";
import {
  expectNoSecrets,
  harness,
  PROJECT,
  withIntegration,
  type Harness,
  type Json,
  type State,
} from "../support/harness";
import { altered, FOREIGN_404S, OWN_404, type Scene } from "../support/rules/hostile";
import {
  COMPUTE,
  computeScene,
  computesOf,
  DOMAIN_ARGS,
  DOMAINS,
  domainScene,
  EMAIL,
  EMAIL_STANDARD,
  emailScene,
  ENDPOINT,
  ENDPOINTS,
  IN_PROJECT,
  INTEGRATED,
  INTEGRATION,
  integrationScene,
  INTEGRATIONS,
  keysScene,
  mailOf,
  OAUTH,
  OAUTH_PROVIDER,
  OAUTH_STANDARD,
  oauthScene,
  providerOf,
  recordsOf,
  transferScene,
  USER,
  USER_ARGS,
  userScene,
  WHITELIST_ARGS,
  whitelistScene,
} from "../support/rules/mutations";
import { lastingLines, outcomeOf, wordsOf } from "../support/rules/steps";
import { listed } from "../support/whitelists";

interface Kind {
  kind: string;
  open: () => Promise<Scene>;
  args: Properties;
  /** What a refresh asks. */
  list: string;
}

interface Deletable extends Kind {
  /** What its deletion sends. */
  method: string;
  path: string;
  stands: (given: Harness) => Promise<boolean>;
  /** Somebody else takes it away, so that a list of the service can say so. */
  vanish: (given: Harness, state: State) => Promise<void>;
}

const holds = (list: string) => async (given: Harness) => (await recordsOf(given, list)).length > 0;
const lastOf = (id: string): string => id.slice(id.indexOf("/") + 1);
const removed =
  (kind: string) =>
  (given: Harness, { id }: State): Promise<void> =>
    given.edit({ kind, id: lastOf(id), delete: true });
/** What lives in an integration does not outlive it. */
const withItsIntegration = (given: Harness): Promise<void> => given.edit({ kind: "integration", delete: true });

const DELETABLE: readonly Deletable[] = [
  {
    kind: "ComputeEndpoint",
    open: computeScene,
    args: COMPUTE,
    list: ENDPOINTS,
    method: "DELETE",
    path: ENDPOINT,
    stands: async (given) => (await computesOf(given)).length > 0,
    vanish: removed("endpoint"),
  },
  {
    kind: "AuthIntegration",
    open: integrationScene,
    args: INTEGRATED,
    list: INTEGRATIONS,
    method: "DELETE",
    path: INTEGRATION,
    stands: holds("integrations"),
    vanish: withItsIntegration,
  },
  {
    kind: "AuthUser",
    open: userScene,
    args: USER_ARGS,
    list: INTEGRATIONS,
    method: "DELETE",
    path: USER,
    stands: holds("users"),
    // No list of users could say that one is gone: that of the integrations can.
    vanish: withItsIntegration,
  },
  {
    kind: "OAuthProvider",
    open: oauthScene,
    args: OAUTH_STANDARD,
    list: OAUTH,
    method: "DELETE",
    path: OAUTH_PROVIDER,
    stands: async (given) => (await providerOf(given)) !== undefined,
    vanish: removed("oauth_provider"),
  },
  {
    kind: "WhitelistDomain",
    open: domainScene,
    args: DOMAIN_ARGS,
    list: DOMAINS,
    method: "DELETE",
    path: DOMAINS,
    stands: holds("domains"),
    vanish: removed("domain"),
  },
  {
    kind: "Whitelist",
    open: whitelistScene,
    args: WHITELIST_ARGS,
    list: DOMAINS,
    method: "DELETE",
    path: DOMAINS,
    stands: holds("domains"),
    vanish: (given) => given.edit({ kind: "domain", delete: true }),
  },
  {
    kind: "EmailServer",
    open: emailScene,
    args: EMAIL_STANDARD,
    list: EMAIL,
    method: "PATCH",
    path: EMAIL,
    stands: async (given) => (await mailOf(given))["type"] === "standard",
    vanish: withItsIntegration,
  },
];

const READABLE: readonly Kind[] = [
  ...DELETABLE,
  { kind: "AuthKeys", open: keysScene, args: IN_PROJECT, list: INTEGRATIONS },
  { kind: "AuthOwnershipTransfer", open: transferScene, args: IN_PROJECT, list: INTEGRATIONS },
];

const created = async ({ open, args }: Kind) => {
  const opened = await open();
  const state = await opened.given.create(args);
  opened.given.restart();
  opened.given.log.splice(0);
  return { ...opened, state };
};

describe.each(DELETABLE)("deleting a $kind", (kind) => {
  const { method, path, stands, vanish } = kind;

  test.each(FOREIGN_404S)("that still stands fails when something in front answers %s", async (_how, answer) => {
    const { given, network, state } = await created(kind);
    network.on({ method, path, executed: false, answer });
    const outcome = await outcomeOf(async () => void (await given.delete(state)));
    expect(await stands(given)).toBe(true);
    expect(wordsOf(outcome)).toMatch(/404/);
    expect(lastingLines(given).join("\n")).not.toMatch(/\bgone\b|deleted|shared server/);
    expectNoSecrets(given);
    network.calm();
    await given.delete(state);
    expect(await stands(given)).toBe(false);
  });

  test.each(FOREIGN_404S)("fails when everything is answered with %s", async (_how, answer) => {
    const { given, network, state } = await created(kind);
    network.on({ executed: false, answer });
    const outcome = await outcomeOf(async () => void (await given.delete(state)));
    expect(await stands(given)).toBe(true);
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
});

describe("deleting a user who is gone, of whom no list tells", () => {
  test("succeeds by the word of the service", async () => {
    const { given, state } = await created({ kind: "AuthUser", open: userScene, args: USER_ARGS, list: INTEGRATIONS });
    await given.edit({ kind: "user", id: lastOf(state.id), delete: true });
    await given.delete(state);
  });

  test.each(FOREIGN_404S)("fails when something in front answers %s", async (_how, answer) => {
    const { given, network, state } = await created({
      kind: "AuthUser",
      open: userScene,
      args: USER_ARGS,
      list: INTEGRATIONS,
    });
    await given.edit({ kind: "user", id: lastOf(state.id), delete: true });
    network.on({ method: "DELETE", path: USER, executed: false, answer });
    const outcome = await outcomeOf(async () => void (await given.delete(state)));
    expect(wordsOf(outcome)).toMatch(/404/);
  });
});

describe.each(READABLE)("refreshing a $kind", (kind) => {
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
  const emptyLists: Json = { endpoints: [], data: [], providers: [], domains: [] };

  test.each(READABLE.filter(({ kind }) => kind === "ComputeEndpoint" || kind === "AuthIntegration"))(
    "that lacks a $kind once, and shows it after a lag, drops nothing",
    async (kind) => {
      const { given, network, state } = await created(kind);
      const answer = { status: 200, text: JSON.stringify(emptyLists), headers: { "content-type": "application/json" } };
      network.on({ method: "GET", path: kind.list, nth: 1, answer });
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

/** As the program writes it, and as the service may spell it. */
const site = "https://a.example.com";

describe("a domain that the service spells otherwise, and that a lagging list hides", () => {
  const spelt = "https://A.Example.com/";
  test.each([
    ["a WhitelistDomain", whitelistDomain, { projectId: PROJECT, domain: site }],
    ["a Whitelist", whitelist, { projectId: PROJECT, domains: [site] }],
  ] as const)("%s is not deleted green while it stands", async (_, lifecycle, inputs) => {
    // The union of both lifecycles is none of them.
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
    expect([ended, (await listed(given)).sort()]).not.toEqual(["green", [spelt]]);
  });
});
