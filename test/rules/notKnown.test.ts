/** What the service does not show is not known, and not "no" (docs/design/rules.md, 9). */
import { EACH_CHILD, EACH_KIND, KIND_CASES } from "../kinds";
import { COMPUTE } from "../kinds/ComputeEndpoint";
import { DEMO, PATIENCE, wholeIn, type KindCase } from "../kinds/KindCase";
import { OAUTH_STANDARD } from "../kinds/OAuthProvider";
import { sceneOf } from "../kinds/started";
import { DOMAIN_ARGS } from "../kinds/WhitelistDomain";
import { DEMO_PRIMARY } from "../support/computeCases";
import { expectNoSecrets, PROJECT, PROVIDER, type Harness, type State } from "../support/harness";
import { altered, empty, json, type Scene } from "../support/rules/hostile";
import { inProject, INTEGRATIONS, OAUTH_PROVIDER, recordsOf } from "../support/rules/routes";
import { computeScene } from "../support/rules/scenes";
import { outcomeOf, wordsOf } from "../support/rules/steps";
import type { Properties } from "../../src/contract/hiddenKeys";

const DELETABLE = EACH_KIND.flatMap(([kind, kindCase]) =>
  kindCase.deletion === undefined ? [] : [[kind, kindCase, kindCase.deletion] as const],
);

const created = async (kindCase: KindCase, options = {}): Promise<Scene & { state: State }> => {
  const opened = await sceneOf(kindCase, options);
  const state = await opened.given.create({ ...wholeIn(kindCase, DEMO), ...PATIENCE });
  opened.given.restart();
  opened.given.log.splice(0);
  return { ...opened, state };
};

/** How every route of a project answers the key of another account. */
const NO_PROJECT = json({ code: "", message: "project not found" }, 404);
const VARIABLE = "SVC_GONE_PROJECT";

afterEach(() => delete process.env[VARIABLE]);

describe.each(EACH_KIND)("%s, whose project answers 404 to everything", (_kind, kind) => {
  const unseen = async () => {
    const opened = await created(kind);
    opened.network.on({ executed: false, answer: NO_PROJECT });
    return opened;
  };
  const WORDS = /it is not known whether .* is gone: the service answers 404 for its list \(.*project not found.*\)/;
  const WAYS_OUT = `Use the key of the account that project ${PROJECT} belongs to. If the project itself was deleted, run \`SVC_GONE_PROJECT=${PROJECT} pulumi refresh\``;

  test("stays in the state in a refresh, which says why and what to do", async () => {
    const { given, state } = await unseen();
    const words = wordsOf(await outcomeOf(() => given.read(state)));
    expect(words).toMatch(WORDS);
    expect(words).toContain(WAYS_OUT);
    expectNoSecrets(given);
  });

  test("is gone in a refresh of a command for which a person has said that the project is gone", async () => {
    const { given, state } = await unseen();
    process.env[VARIABLE] = `prj-another, ${PROJECT}`;
    expect(await given.read(state)).toBeUndefined();
    process.env[VARIABLE] = "prj-another";
    expect(wordsOf(await outcomeOf(() => given.read(state)))).toMatch(WORDS);
  });

  test("is read as it is if a person is wrong about that", async () => {
    const { given, state } = await created(kind);
    process.env[VARIABLE] = PROJECT;
    expect(await given.read(state)).toMatchObject({ id: state.id });
  });
});

describe.each(DELETABLE)("deleting %s, whose project answers 404 to everything", (_kind, kind) => {
  test("fails in words, whatever was sent, and succeeds once the project answers", async () => {
    const { given, network, state } = await created(kind);
    network.on({ executed: false, answer: NO_PROJECT });
    const words = wordsOf(await outcomeOf(async () => void (await given.delete(state))));
    expect(words).toMatch(/it is not known whether .* is gone: /);
    expect(words).toContain(`run \`SVC_GONE_PROJECT=${PROJECT} pulumi refresh\``);
    expect(kind.standing(await given.state(), state)).not.toEqual([]);
    expectNoSecrets(given);
    network.calm();
    await given.delete(state);
    expect(kind.standing(await given.state(), state)).toEqual([]);
  });

  test("succeeds in a command for which a person has said that the project is gone", async () => {
    const { given, network, state } = await created(kind);
    network.on({ executed: false, answer: NO_PROJECT });
    process.env[VARIABLE] = PROJECT;
    await given.delete(state);
  });

  test("deletes it if a person is wrong about that", async () => {
    const { given, state } = await created(kind);
    process.env[VARIABLE] = PROJECT;
    await given.delete(state);
    expect(kind.standing(await given.state(), state)).toEqual([]);
  });
});

test.each(EACH_CHILD)(
  "%s: without its integration it is deleted, and nothing is sent that changes anything",
  async (_, kind) => {
    const { given, state } = await created(kind);
    await given.edit({ kind: "integration", delete: true });
    await given.forgetRequests();
    await given.delete(state);
    expect(await given.mutations()).toEqual([]);
  },
);

/** The list in the emulator's state of those kinds of which a project has several. */
const LISTED = {
  ComputeEndpoint: "endpoints",
  AuthIntegration: "integrations",
  OAuthProvider: "oauth_providers",
  WhitelistDomain: "domains",
  Whitelist: "domains",
} as const;
const EACH_LISTED = EACH_KIND.flatMap(([kind, kindCase]) =>
  kind in LISTED ? [[kind, kindCase, LISTED[kind as keyof typeof LISTED]] as const] : [],
);

describe("in lists of one object a page", () => {
  /** An object that no first page shows, nor its integration. */
  const onLaterPage = async (kind: KindCase) => {
    const { given, network } = await sceneOf(kind, { pageSize: 1 });
    // Of the same auth provider, as no service has them: only their ids distinguish them.
    const addIntegration = () => given.edit({ kind: "integration", create: { branch_id: "br-main" } });
    if (kind.inIntegration) await addIntegration();
    if (kind.kind === "WhitelistDomain")
      await given.edit({ kind: "domain", create: { domain: "https://first.example.com" } });
    const { id, outs } = await given.create({ ...wholeIn(kind, DEMO), ...PATIENCE });
    if (kind.kind === "AuthIntegration") await addIntegration();
    given.restart();
    const second = (await recordsOf(given, "integrations")).at(-1)?.["auth_provider_project_id"];
    const ofSecond = "authProviderProjectId" in outs && { authProviderProjectId: second };
    await given.forgetRequests();
    return { given, network, state: { id, outs: { ...outs, ...ofSecond } } };
  };
  const countOf = async (given: Harness, list: string): Promise<number> =>
    (await given.requests("GET")).filter(({ path }) => path === inProject(list, PROJECT)).length;

  test.each(EACH_KIND)("%s is refreshed, wherever it is listed", async (_, kind) => {
    const { given, state } = await onLaterPage(kind);
    expect(await given.read(state)).toMatchObject({ id: state.id });
  });

  test.each(EACH_LISTED)("%s: a refresh sends one request for each page", async (_, kind, list) => {
    const { given, state } = await onLaterPage(kind);
    await given.read(state);
    const objects = (await recordsOf(given, list)).length;
    expect(objects).toBeGreaterThan(1);
    expect(await countOf(given, kind.list)).toBe(objects);
  });

  test.each(EACH_LISTED.filter(([kind]) => kind !== "Whitelist"))(
    "%s is gone once no page shows it",
    async (_, kind) => {
      const { given, state } = await onLaterPage(kind);
      if (kind.kind === "AuthIntegration") await given.edit({ kind: "integration", id: PROVIDER, delete: true });
      else await kind.vanish(given, state);
      expect(await given.read(state)).toBeUndefined();
    },
  );

  test.each(DELETABLE)("%s is deleted", async (_, kind) => {
    const { given, state } = await onLaterPage(kind);
    await given.delete(state);
    expect(kind.standing(await given.state(), state)).toEqual([]);
  });

  // Users cannot be listed.
  test.each(DELETABLE.filter(([kind]) => kind !== "AuthUser"))(
    "%s is not deleted by an empty response while a later page shows it",
    async (_, kind, { method, path }) => {
      const { given, network, state } = await onLaterPage(kind);
      network.on({ method, path, executed: false, answer: empty(204) });
      expect(wordsOf(await outcomeOf(async () => void (await given.delete(state))))).toContain("still listed");
      expect(kind.standing(await given.state(), state)).not.toEqual([]);
    },
  );

  test("an update sends what differs for a compute of a later page", async () => {
    const { given, state } = await onLaterPage(KIND_CASES.ComputeEndpoint);
    const { inputs } = (await given.read(state)) ?? { inputs: {} };
    await given.update(state, { ...inputs, size: 8 });
    expect(await given.mutations()).toMatchObject([{ method: "PATCH" }]);
  });

  test("a Whitelist removes the domains that the program does not list from every page", async () => {
    const { given, state } = await onLaterPage(KIND_CASES.Whitelist);
    for (const domain of ["https://x.example.com", "https://y.example.com"])
      await given.edit({ kind: "domain", create: { domain } });
    const found = await given.read(state);
    expect(found?.inputs["domains"]).toHaveLength(4);
    const kept = { ...found?.inputs, domains: ["https://y.example.com"] };
    await given.update({ id: state.id, outs: found?.outs ?? {} }, kept);
    expect((await recordsOf(given, "domains")).map(({ domain }) => domain)).toEqual(["https://y.example.com"]);
  });

  test("a strict plan accepts a branch of a later page, and refuses one that no page shows", async () => {
    const { given } = await computeScene({ pageSize: 1 });
    process.env["SVC_STRICT_PLAN"] = "1";
    try {
      expect(await given.plan({ ...COMPUTE, branchId: "br-test" })).toMatchObject({ failures: [] });
      const { failures } = await given.plan({ ...COMPUTE, branchId: "br-absent" }, {}, "another");
      expect(failures).toEqual([expect.stringContaining(`project ${PROJECT} has no branch br-absent. It has br-main`)]);
    } finally {
      delete process.env["SVC_STRICT_PLAN"];
    }
  });
});

/** How a list goes wrong after its first page, and what the message says. */
const BROKEN: readonly [string, object, RegExp][] = [
  ["whose second page fails", { page: 2, status: 503 }, /503/],
  ["whose second page refuses the key", { page: 2, status: 401 }, /401/],
  [
    "whose second page is not found",
    { page: 2, status: 404 },
    /is gone: the list could not be read to its end: not found/,
  ],
  [
    "whose second page comes again and again",
    { paging: "repeats" },
    /it is not known whether .* is gone: the list could not be read to its end: it names the same next page again and again .*Run this again/,
  ],
  [
    "without an end",
    { paging: "endless" },
    /it is not known whether .* is gone: the list could not be read to its end: it has more than 100 pages/,
  ],
];

/** Three of each: the first page of a list that breaks off shows one of them. */
const THREE: readonly [string, KindCase, Properties[]][] = [
  [
    "ComputeEndpoint",
    KIND_CASES.ComputeEndpoint,
    ["br-dev", "br-test", "br-main"].map((branchId) => ({ ...COMPUTE, branchId })),
  ],
  [
    "OAuthProvider",
    KIND_CASES.OAuthProvider,
    ["gitlab", "apple", "microsoft"].map((providerId) => ({ ...OAUTH_STANDARD, providerId })),
  ],
  [
    "WhitelistDomain",
    KIND_CASES.WhitelistDomain,
    [1, 2, 3].map((number) => ({ ...DOMAIN_ARGS, domain: `https://${number}.example.com` })),
  ],
];

describe.each(BROKEN)("a list %s", (_how, fault, words) => {
  const brokenOff = async (kind: KindCase, [one = {}, two = {}, three = {}]: readonly Properties[]) => {
    // Only a page that fails for ever is read until the deadline.
    const readDeadlineMs = "paging" in fault ? 20_000 : 1_500;
    const { given } = await sceneOf(kind, { pageSize: 1 }, { readDeadlineMs });
    // What a project has from the start would be on the first page.
    if (kind.kind === "ComputeEndpoint") await given.edit({ kind: "endpoint", id: DEMO_PRIMARY, delete: true });
    if (kind.kind === "OAuthProvider")
      for (const id of ["google", "github"]) await given.edit({ kind: "oauth_provider", id, delete: true });
    const [first, other] = [await given.create(one), await given.create(two)];
    await given.create(three);
    given.restart();
    given.log.splice(0);
    await given.fault({ path: kind.list, times: 0, ...fault });
    return { given, first, other };
  };

  test.each(THREE)("refreshes the object that it has shown: %s", async (_, kind, args) => {
    const { given, first } = await brokenOff(kind, args);
    expect(await given.read(first)).toMatchObject({ id: first.id });
  });

  test.each(THREE)("drops no object that it has not shown, and says why: %s", async (_, kind, args) => {
    const { given, other } = await brokenOff(kind, args);
    // That it is really gone makes no difference.
    await kind.vanish(given, other);
    expect(wordsOf(await outcomeOf(() => given.read(other)))).toMatch(words);
    expectNoSecrets(given);
  });

  test("is no reason to keep a compute that it has shown", async () => {
    const [, kind, args] = THREE[0] as (typeof THREE)[number];
    const { given, first } = await brokenOff(kind, args);
    await given.delete(first);
    expect(kind.standing(await given.state(), first)).toEqual([]);
  });

  test("does not confirm a deletion that was answered without a body", async () => {
    const [, kind, args] = THREE[1] as (typeof THREE)[number];
    const { given, first } = await brokenOff(kind, args);
    const outcome = await outcomeOf(async () => void (await given.delete(first)));
    expect(wordsOf(outcome)).toMatch(words);
    await given.clearFaults();
    await given.delete(first);
  });
});

describe("an update of a compute whose operation failed, where the key may not see operations by then", () => {
  const failed = async (status: number) => {
    const { given } = await computeScene();
    const { id, outs } = await given.create(COMPUTE);
    await given.fault({ operation: { action: "apply_config", status: "failed" } });
    const outcome = await outcomeOf(() => given.update({ id, outs }, { ...COMPUTE, size: 4 }));
    if (outcome.ended === "well" || outcome.kept === undefined) throw new Error("the failed change was not kept");
    given.restart();
    await given.fault({ method: "GET", path: "/projects/{project_id}/operations", status, times: 0 });
    await given.forgetRequests();
    return { given, state: outcome.kept };
  };

  test.each([403, 404, 405])(
    "stays unfinished in a refresh (%i), since nothing shows that it has ended",
    async (status) => {
      const { given, state } = await failed(status);
      expect((await given.read(state))?.outs).toHaveProperty("__unfinished", "update");
    },
  );

  test("is sent again by the next one, and then done as at a service without operations", async () => {
    const { given, state } = await failed(404);
    const { outs } = await given.update(state, { ...COMPUTE, size: 4 });
    expect(await given.mutations()).toMatchObject([{ method: "PATCH" }]);
    expect(outs).not.toHaveProperty("__unfinished");
  });
});

describe("a 404 of one route, in a project that answers", () => {
  const CHILDREN = EACH_CHILD.filter(([, { list }]) => list !== INTEGRATIONS);

  test.each(EACH_KIND)("%s stays, although a person has said that the project is gone", async (_, kind) => {
    const { given, network, state } = await created(kind);
    network.on({ method: "GET", path: kind.list, executed: false, answer: NO_PROJECT });
    process.env[VARIABLE] = PROJECT;
    expect(wordsOf(await outcomeOf(() => given.read(state)))).toContain("it is not known whether");
  });

  test.each(CHILDREN)("%s stays while one list alone lacks its integration", async (_, kind) => {
    const { given, network, state } = await created(kind);
    network.on({ method: "GET", path: kind.list, executed: false, answer: NO_PROJECT });
    network.on({ method: "GET", path: INTEGRATIONS, nth: 2, executed: false, answer: json({ data: [] }) });
    expect(wordsOf(await outcomeOf(() => given.read(state)))).toContain("it is not known whether");
  });
});

/** What a list may say beside the objects that it shows. */
const SAID: readonly [string, object][] = [
  ["an error", { error: { message: "time-out" } }],
  ["errors", { errors: ["time-out"] }],
  ["the error of the service", { code: "", message: "internal error" }],
  ["that it goes on, and not where", { has_more: true }],
];

describe.each(SAID)("an empty list that says %s", (_said, beside) => {
  test.each(EACH_LISTED)("drops no %s", async (_, kind) => {
    const { given, network, state } = await created(kind);
    const emptied = altered((body) => ({
      ...Object.fromEntries(Object.entries(body).map(([name, value]) => [name, Array.isArray(value) ? [] : value])),
      ...beside,
    }));
    network.on({ method: "GET", path: kind.list, answer: emptied });
    expect(wordsOf(await outcomeOf(() => given.read(state)))).toContain("the response has an unexpected shape");
  });
});

test("a deletion is not believed by a response that shows another object", async () => {
  const { given, network, state } = await created(KIND_CASES.OAuthProvider);
  const another = json({ id: "google", type: "shared" });
  network.on({ method: "DELETE", path: OAUTH_PROVIDER, executed: false, answer: another });
  expect(wordsOf(await outcomeOf(async () => void (await given.delete(state))))).toContain("still listed");
});
