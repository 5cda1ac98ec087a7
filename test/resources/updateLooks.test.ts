/** What a plan asks and says about an update. Creations: lookAhead.test.ts. */
import type { Properties } from "../../src/contract/hiddenKeys";
import type { Kind } from "../../src/contract/pointer";
import { EACH_KIND, KIND_CASES } from "../kinds";
import { DEMO } from "../kinds/KindCase";
import { started } from "../kinds/started";
import { OAUTH_STANDARD } from "../kinds/OAuthProvider";
import { WHITELIST_ARGS } from "../kinds/Whitelist";
import { DEMO_PRIMARY } from "../support/computeCases";
import { PROJECT, PROVIDER, thrownBy, UNKNOWN, type Harness, type Json, type State } from "../support/harness";

const LISTS = {
  endpoints: `/projects/${PROJECT}/endpoints`,
  branches: `/projects/${PROJECT}/branches`,
  integrations: `/projects/${PROJECT}/auth/integrations`,
  oauthProviders: `/projects/${PROJECT}/auth/oauth_providers`,
  domains: `/projects/${PROJECT}/auth/domains`,
  emailServer: `/projects/${PROJECT}/auth/email_server`,
};
const COMPUTE = { projectId: PROJECT, branchId: "br-dev", size: 1 };
const EMAIL = { projectId: PROJECT, type: "shared" };

/** What the plan of an update says that concerns its success, and which lists it has read. */
async function planned(given: Harness, { state, from }: Deployed, to: Properties) {
  const before = given.log.length;
  const { failures } = await given.plan(to, from);
  expect(failures).toEqual([]);
  let failure: string | undefined;
  await given.diff(state, to).catch((error: unknown) => (failure = error instanceof Error ? error.message : "?"));
  const warnings = given.log
    .slice(before)
    .filter(({ severity, ephemeral }) => severity === "warning" && !ephemeral)
    .map(({ message }) => message)
    .filter((text) => /pulumi up|has no branch|refused|does not exist|no auth integration/.test(text));
  const asked = (await given.requests()).map(({ path }) => path);
  await given.forgetRequests();
  return { warnings, failure, asked };
}

interface Deployed {
  readonly state: State;
  readonly from: Properties;
}

/** A deployed resource, and a new command that plans. */
async function deployed(kind: Kind, from: Properties) {
  const given = await started(KIND_CASES[kind], {}, { lagMs: 50, attemptTimeoutMs: 5_000 });
  const state = await given.create(from);
  given.restart();
  await given.forgetRequests();
  return { given, resource: { state, from } };
}

const strictly = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  process.env["SVC_STRICT_PLAN"] = "1";
  try {
    return await work();
  } finally {
    delete process.env["SVC_STRICT_PLAN"];
  }
};

const MAY_FAIL = expect.stringMatching(
  /^pulumi up will fail here, unless the same run removes this first: br-main already has a primary.*If this program moves it away, add its resource to dependsOn of this one\. Otherwise use two steps: first move/,
);

const replaceIntegration = async (given: Harness): Promise<void> => {
  await given.call("DELETE", `/projects/${PROJECT}/auth/integration/${PROVIDER}`);
  await given.call("POST", "/projects/auth/create", {
    project_id: PROJECT,
    auth_provider: PROVIDER,
    branch_id: "br-main",
  });
  await given.forgetRequests();
};

test.each([
  [true, false],
  [false, true],
])(
  "a plan that turns the protection from %s to %s asks nobody, and is not held up by a service that is down",
  async (was, is) => {
    const from = { ...COMPUTE, deletionProtection: was };
    const { given, resource } = await deployed("ComputeEndpoint", from);
    await given.fault({ status: 503, times: 0 });
    const to = { ...from, deletionProtection: is };
    const plan = await strictly(() => planned(given, resource, to));
    expect(plan).toEqual({ warnings: [], failure: undefined, asked: [] });
  },
);

test.each(EACH_KIND)("the plan of a %s that changes nothing asks nobody", async (kind) => {
  const from = KIND_CASES[kind].least(DEMO);
  const { given, resource } = await deployed(kind, from);
  expect(await planned(given, resource, from)).toEqual({ warnings: [], failure: undefined, asked: [] });
});

test("an update in an update asks nobody, and a refresh does not either", async () => {
  const { given, resource } = await deployed("ComputeEndpoint", COMPUTE);
  await given.check({ ...COMPUTE, branchId: "br-none" }, COMPUTE);
  await given.diff(resource.state, { ...COMPUTE, branchId: "br-none" });
  given.restart();
  await given.diff(resource.state, { ...COMPUTE, branchId: "br-none" });
  expect(await given.requests()).toEqual([]);
});

describe("ComputeEndpoint", () => {
  test("a change reads the list of computes, and a move that of the branches beside it, once", async () => {
    const { given, resource } = await deployed("ComputeEndpoint", COMPUTE);
    const resize = await planned(given, resource, { ...COMPUTE, size: 2 });
    expect(resize).toEqual({ warnings: [], failure: undefined, asked: [LISTS.endpoints] });
    const move = await planned(given, resource, { ...COMPUTE, branchId: "br-test" });
    expect(move).toEqual({ warnings: [], failure: undefined, asked: [LISTS.branches] });
    expect((await planned(given, resource, { ...COMPUTE, branchId: "br-test" })).asked).toEqual([]);
  });

  test("a branch that is not there is reported with those that are, and fails a strict plan", async () => {
    const { given, resource } = await deployed("ComputeEndpoint", COMPUTE);
    const to = { ...COMPUTE, branchId: "br-none" };
    const words = /^project prj-demo has no branch br-none\. It has br-main \("main", default\), br-dev/;
    expect((await planned(given, resource, to)).warnings).toEqual([expect.stringMatching(words)]);
    given.restart();
    expect(await strictly(() => planned(given, resource, to))).toMatchObject({
      warnings: [],
      failure: expect.stringMatching(words),
    });
  });

  test("a primary of somebody else is reported with the two steps, and fails a strict plan", async () => {
    const { given, resource } = await deployed("ComputeEndpoint", COMPUTE);
    const to = { ...COMPUTE, branchId: "br-main" };
    const words = `pulumi up will fail here: br-main already has a primary compute (${DEMO_PRIMARY}), and a branch can have only one. Use two steps: first move ${DEMO_PRIMARY} to a free branch, or remove it from the program, and run pulumi up; then move this one and run pulumi up again`;
    expect((await planned(given, resource, to)).warnings).toEqual([MAY_FAIL]);
    given.restart();
    expect(await strictly(() => planned(given, resource, to))).toMatchObject({ warnings: [], failure: words });
    // The update fails as it was said.
    given.restart();
    expect((await thrownBy(given.update(resource.state, to))).message).toMatch(/br-main already has a primary compute/);
  });

  test("a program that does not say what else it declares is never failed for a primary that may leave", async () => {
    const { given, resource } = await deployed("ComputeEndpoint", COMPUTE);
    const to = { ...COMPUTE, branchId: "br-main" };
    await strictly(async () => {
      await given.provider.check(COMPUTE, { ...to, __urn: "urn:pulumi:dev::proj::a::thing", __preview: true });
      const news = { ...to, __urn: "urn:pulumi:dev::proj::a::thing" };
      await given.provider.diff(resource.state.id, resource.state.outs, news);
    });
    expect(given.log.filter(({ severity }) => severity === "warning").map(({ message }) => message)).toContainEqual(
      MAY_FAIL,
    );
  });

  test("a replica, a branch that is not known yet and a compute that somebody has moved there already are no mistakes", async () => {
    const replica = { ...COMPUTE, type: "read_only" };
    const { given, resource } = await deployed("ComputeEndpoint", replica);
    const quiet = { warnings: [], failure: undefined };
    expect(await planned(given, resource, { ...replica, branchId: "br-main" })).toMatchObject(quiet);
    expect(await planned(given, resource, { ...replica, branchId: UNKNOWN })).toMatchObject(quiet);
    const primary = await deployed("ComputeEndpoint", COMPUTE);
    const id = String(primary.resource.state.outs["endpointId"]);
    await primary.given.edit({ kind: "endpoint", id, set: { branch_id: "br-test" } });
    await primary.given.forgetRequests();
    const moved = await planned(primary.given, primary.resource, { ...COMPUTE, branchId: "br-test" });
    expect(moved).toEqual({ ...quiet, asked: [LISTS.endpoints] });
  });

  test("a compute that is gone is reported whatever is changed, after a second list", async () => {
    const { given, resource } = await deployed("ComputeEndpoint", COMPUTE);
    const id = String(resource.state.outs["endpointId"]);
    await given.edit({ kind: "endpoint", id, delete: true });
    await given.forgetRequests();
    const words = `pulumi up will fail here: compute ${id} ("thing") no longer exists. Run pulumi up --refresh, which creates it again`;
    const said = await planned(given, resource, { ...COMPUTE, size: 2 });
    expect(said).toEqual({ warnings: [words], failure: undefined, asked: [LISTS.endpoints, LISTS.endpoints] });
    given.restart();
    expect((await thrownBy(given.update(resource.state, { ...COMPUTE, size: 2 }))).message).toMatch(
      /it no longer exists\. Run pulumi up --refresh/,
    );
  });

  test("a list that lags for a moment is not believed", async () => {
    const { given, resource } = await deployed("ComputeEndpoint", COMPUTE);
    await given.fault({ method: "GET", path: LISTS.endpoints, status: 200, body: { endpoints: [] }, times: 1 });
    const said = await strictly(() => planned(given, resource, { ...COMPUTE, size: 2 }));
    expect(said).toMatchObject({ warnings: [], failure: undefined });
  });
});

describe("what lives in an integration", () => {
  const CASES: readonly (readonly [Kind, Properties, Properties])[] = [
    ["OAuthProvider", { ...OAUTH_STANDARD }, { ...OAUTH_STANDARD, clientId: "other-id" }],
    ["Whitelist", { ...WHITELIST_ARGS }, { ...WHITELIST_ARGS, domains: ["https://new.example.com"] }],
    ["EmailServer", EMAIL, { ...KIND_CASES.EmailServer.updates[0]?.args }],
  ];

  test.each(CASES)("a %s is changed where its integration stands: one list, and its own", async (kind, from, to) => {
    const { given, resource } = await deployed(kind, from);
    const own = { OAuthProvider: [LISTS.oauthProviders], EmailServer: [LISTS.emailServer], Whitelist: [LISTS.domains] };
    const said = await planned(given, resource, to);
    expect(said).toEqual({
      warnings: [],
      failure: undefined,
      asked: [LISTS.integrations, ...(Reflect.get(own, kind) ?? [])],
    });
  });

  test.each(CASES)(
    "of a %s in somebody else's integration the plan names that, as the update does",
    async (kind, from, to) => {
      const { given, resource } = await deployed(kind, from);
      await replaceIntegration(given);
      const words =
        /^pulumi up will fail here: the auth integration of this resource \(\S+\) no longer exists: another one has replaced it \(.*, on br-main.*\)\. Run pulumi up --refresh/;
      expect((await planned(given, resource, to)).warnings).toEqual([expect.stringMatching(words)]);
      given.restart();
      expect(await strictly(() => planned(given, resource, to))).toMatchObject({
        warnings: [],
        failure: expect.stringMatching(words),
      });
      given.restart();
      expect((await thrownBy(given.update(resource.state, to))).message).toMatch(/^Could not update/);
    },
  );

  test.each(CASES)("of a %s whose integration is gone the plan says so", async (kind, from, to) => {
    const { given, resource } = await deployed(kind, from);
    await given.call("DELETE", `/projects/${PROJECT}/auth/integration/${PROVIDER}`);
    await given.forgetRequests();
    expect((await planned(given, resource, to)).warnings).toEqual([
      expect.stringMatching(
        /^pulumi up will fail here: the auth integration of this resource \(\S+\) no longer exists\. Run/,
      ),
    ]);
    given.restart();
    expect((await thrownBy(given.update(resource.state, to))).message).toMatch(/^Could not update/);
  });

  test("an OAuth provider that is gone is reported", async () => {
    const { given, resource } = await deployed("OAuthProvider", { ...OAUTH_STANDARD });
    await given.call("DELETE", `${LISTS.oauthProviders}/${OAUTH_STANDARD.providerId}`);
    await given.forgetRequests();
    const to = { ...OAUTH_STANDARD, clientId: "other-id" };
    expect((await planned(given, resource, to)).warnings).toEqual([
      expect.stringMatching(
        /^pulumi up will fail here: the OAuth provider \S+ \("thing"\) no longer exists\. Run pulumi up --refresh/,
      ),
    ]);
    given.restart();
    expect((await thrownBy(given.update(resource.state, to))).message).toMatch(/it no longer exists/);
  });

  test("a domain that is gone is no mistake: the update adds it again", async () => {
    const { given, resource } = await deployed("Whitelist", { ...WHITELIST_ARGS });
    await given.edit({ kind: "domain", id: "https://app.example.com", delete: true });
    await given.forgetRequests();
    const to = { ...WHITELIST_ARGS, domains: [...WHITELIST_ARGS.domains, "https://new.example.com"] };
    expect((await planned(given, resource, to)).warnings).toEqual([
      'pulumi up adds to Whitelist prj-demo ("thing") again what is missing there: https://app.example.com',
    ]);
    given.restart();
    await given.update(resource.state, to);
  });
});

/** The plans of two updates. */
const NOT_ASKED = /could not be queried, so this plan does not show what would make pulumi up fail: /;
const HOSTILE: readonly (readonly [string, Json, RegExp])[] = [
  ["fails (500)", { status: 500, times: 0 }, /the service failed.*500/],
  ["is a web page", { status: 200, body: "<html>log in</html>", contentType: "text/html", times: 0 }, /web page/],
  ["has no items", { status: 200, body: {}, times: 0 }, /an unexpected shape/],
  ["has items of another shape", { status: 200, body: { endpoints: [7, null] }, times: 0 }, /an unexpected shape/],
  ["hangs", { drop: "hang", times: 0 }, /no (complete )?response within/],
  [
    "is a gateway's 404",
    { status: 404, body: "no backend", contentType: "text/plain", times: 0 },
    /does not have the service.s error format/,
  ],
];

describe("a service that misbehaves in the plan of an update", () => {
  const QUICK = { lookAheadMs: 1_500, attemptTimeoutMs: 1_000, readDeadlineMs: 2_000, lagMs: 50 };

  test.each(HOSTILE)("a list that %s is one warning, and no error", async (_what, fault, words) => {
    const given = await started(KIND_CASES.ComputeEndpoint, {}, QUICK);
    const state = await given.create(COMPUTE);
    given.restart();
    await given.fault(fault);
    const resource = { state, from: COMPUTE };
    const first = await planned(given, resource, { ...COMPUTE, branchId: "br-none" });
    expect(first).toMatchObject({ failure: undefined, warnings: [expect.stringMatching(NOT_ASKED)] });
    expect(first.warnings.join()).toMatch(words);
    const second = await planned(given, resource, { ...COMPUTE, branchId: "br-none" });
    expect(second).toMatchObject({ failure: undefined, warnings: [], asked: [] });
  });

  test.each([401, 403])("a key that is refused (%i) fails the plan, once", async (status) => {
    const { given, resource } = await deployed("ComputeEndpoint", COMPUTE);
    await given.fault({ status, times: 0, body: { code: "no", message: "not for this key" } });
    const first = await planned(given, resource, { ...COMPUTE, size: 2 });
    expect(first.failure).toMatch(/^127\.0\.0\.1:\d+ refused a request of this plan: the API key .*It comes from/);
    expect(await planned(given, resource, { ...COMPUTE, size: 2 })).toMatchObject({ failure: undefined, warnings: [] });
  });

  test("a project that is gone is reported", async () => {
    const { given, resource } = await deployed("ComputeEndpoint", COMPUTE);
    const body = { code: "", message: "project not found" };
    await given.fault({ status: 404, times: 0, body });
    expect((await planned(given, resource, { ...COMPUTE, size: 2 })).warnings).toEqual([
      expect.stringMatching(/^project prj-demo does not exist, or this key may not see it/),
    ]);
  });
});
