import { authIntegration } from "../../src/resources/authIntegration/authIntegrationLifecycle";
import { authUser } from "../../src/resources/authUser/authUserLifecycle";
import { whitelistDomain } from "../../src/resources/whitelist/whitelistDomainLifecycle";
import type { Kind } from "../../src/contract/pointer";
import type { Properties } from "../../src/contract/hiddenKeys";
import type { EmulatorOptions } from "../../src/emulator";
import { dynamicProvider } from "../../src/protocols/dynamic/provider";
import type { DynamicProvider } from "../../src/protocols/dynamic/types";
import { Session } from "../../src/runtime/session";
import { EACH_CASE, EACH_CHILD, EACH_KIND, KIND_CASES } from "../kinds";
import { DEMO, type KindCase } from "../kinds/KindCase";
import { started } from "../kinds/started";
import { DEMO_PRIMARY } from "../support/computeCases";
import { STANDARD_EMAIL } from "../support/emulator";
import { CANARY, harness, PROJECT, PROVIDER, UNKNOWN, urnOf, withIntegration, type Harness } from "../support/harness";
import { inProject } from "../support/rules/routes";

const DOMAIN = "https://app.example.com";
const LISTS = {
  endpoints: `/projects/${PROJECT}/endpoints`,
  branches: `/projects/${PROJECT}/branches`,
  integrations: `/projects/${PROJECT}/auth/integrations`,
  oauthProviders: `/projects/${PROJECT}/auth/oauth_providers`,
  domains: `/projects/${PROJECT}/auth/domains`,
  emailServer: `/projects/${PROJECT}/auth/email_server`,
};

/** Each object of a case that another one keeps from being created. */
const CONFLICTS = EACH_CASE.flatMap((kindCase) =>
  kindCase.creations.flatMap((creation) =>
    creation.conflicts.map(({ title, make }) => [creation.title, title, { kindCase, creation, make }] as const),
  ),
);

const paths = async (given: Harness): Promise<string[]> => (await given.requests()).map(({ path }) => path);

async function startKind(kind: Kind, options?: EmulatorOptions) {
  const kindCase: KindCase = KIND_CASES[kind];
  const given = await started(kindCase, options, { attemptTimeoutMs: 5_000 });
  const lists = kindCase.planLists.map((list) => inProject(list, PROJECT));
  return { given, inputs: kindCase.least(DEMO), lists };
}

/** What a plan says of one resource. */
const said = (given: Harness, inputs: Properties) => given.plan({ projectId: PROJECT, ...inputs });

const strict = async <Result>(work: () => Promise<Result>, name = "SVC_STRICT_PLAN"): Promise<Result> => {
  process.env[name] = "true";
  try {
    return await work();
  } finally {
    delete process.env[name];
  }
};

describe("every kind", () => {
  test.each(EACH_KIND)("a plan that creates a %s reads each of its lists once and has nothing to say", async (name) => {
    const { given, inputs, lists } = await startKind(name);
    expect(await said(given, inputs)).toEqual({ failures: [], warnings: [] });
    expect(await paths(given)).toEqual(lists);
    // Another look reads nothing again.
    await given.plan(inputs);
    expect(await paths(given)).toHaveLength(lists.length);
  });

  test.each(EACH_KIND)(
    "a %s that is in the stack, one in an update and one in an unknown project ask nobody",
    async (name) => {
      const { given, inputs } = await startKind(name);
      await given.plan(inputs, inputs);
      expect(await given.check(inputs)).toEqual([]);
      given.restart();
      await given.plan({ ...inputs, projectId: UNKNOWN });
      expect(await given.requests()).toEqual([]);
    },
  );

  test.each(EACH_KIND)("of a %s in a project that is not there the plan says so, and asks no more", async (name) => {
    const { given, inputs } = await startKind(name);
    const wrong = { ...inputs, projectId: "prj-wrong" };
    const { failures, warnings } = await given.plan(wrong);
    expect(failures).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(/^project prj-wrong does not exist, or this key may not see it\. Check "projectId"/),
    ]);
    const asked = (await given.requests()).length;
    await given.plan(wrong);
    expect(await given.requests()).toHaveLength(asked);
  });

  test.each(EACH_KIND)("a key that is refused fails the plan of a %s, with the host, once", async (name) => {
    const { given, inputs } = await startKind(name);
    await given.fault({ status: 401, times: 0, body: { code: "unauthorized", message: `no ${CANARY}-key` } });
    const { failures } = await given.plan(inputs);
    expect(failures).toEqual([
      expect.stringMatching(/^127\.0\.0\.1:\d+ refused a request of this plan: the API key is missing or wrong.*401/),
    ]);
    expect(failures.join()).toMatch(/It comes from svc:apiKey in the stack's configuration, or from the apiKey/);
    expect(failures.join()).not.toMatch(/refresh and destroy/i);
    expect(failures.join()).not.toContain(CANARY);
    expect((await given.plan(inputs)).failures).toEqual([]);
  });

  test.each(CONFLICTS)("a plan that creates %s names the %s that is in the way", async (_title, _what, conflict) => {
    const { kindCase, creation, make } = conflict;
    const given = await started(kindCase, creation.options);
    await make(given);
    const { failures, warnings } = await given.plan(creation.args);
    expect(failures).toEqual([]);
    expect(warnings).toHaveLength(1);
    const listed = await creation.list(given);
    expect(listed).toHaveLength(1);
    for (const record of listed) {
      const names = [creation.nameOf(record), ...(creation.marks?.(record) ?? [])];
      expect([warnings[0], names.some((name) => warnings[0]?.includes(name))]).toEqual([warnings[0], true]);
    }
  });

  test.each(EACH_CHILD)(
    "of a %s without an integration the plan says what to declare",
    async (_kind, { lifecycle, least }) => {
      const given = await harness(lifecycle, {}, { attemptTimeoutMs: 5_000 });
      const { warnings } = await given.plan(least(DEMO));
      expect(warnings).toEqual([
        expect.stringMatching(
          /^project prj-demo has no auth integration, .*Declare an AuthIntegration and pass its "projectId"/,
        ),
      ]);
      expect(await paths(given)).toEqual([LISTS.integrations]);
    },
  );
});

describe("ComputeEndpoint", () => {
  test("a branch that is not there is reported with those that are", async () => {
    const { given } = await startKind("ComputeEndpoint");
    expect((await said(given, { branchId: "br-prod" })).warnings).toEqual([
      'project prj-demo has no branch br-prod. It has br-main ("main", default), br-dev ("dev"), br-test ("test"): "branchId" takes the id, not the name',
    ]);
  });

  test("of many branches the first ones are named", async () => {
    const branches = Array.from({ length: 24 }, (_, nth) => ({ id: `br-${nth}` }));
    const { given } = await startKind("ComputeEndpoint", { seed: { projects: [{ id: "prj-demo", branches }] } });
    expect((await said(given, { branchId: "br-prod" })).warnings.join()).toMatch(/br-19 \("19"\) and 4 more:/);
  });

  test("a branch whose name moves the cursor of a terminal is named without that, also in a failure", async () => {
    const branches = [{ id: "br-odd", name: "odd\u001b[2Jname\nerror: gone" }];
    const { given } = await startKind("ComputeEndpoint", { seed: { projects: [{ id: "prj-demo", branches }] } });
    const { failures } = await strict(() => said(given, { branchId: "br-prod" }));
    expect(failures).toEqual([expect.stringMatching(/It has br-odd \("odd \[2Jname error: gone"[^\p{Cc}]*$/u)]);
  });

  test("a service that does not list branches is not asked for one twice, and nothing is reported", async () => {
    const { given } = await startKind("ComputeEndpoint", { seedOnly: true });
    expect(await said(given, { branchId: "br-prod" })).toEqual({ failures: [], warnings: [] });
  });

  test("a primary that exists there is reported with the line to add, also where the program names another to adopt", async () => {
    const { given } = await startKind("ComputeEndpoint");
    const { warnings } = await said(given, { branchId: "br-main" });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^pulumi up will fail here, unless the same run removes this first: the branch already has a primary compute: ep-demo-main-10000001 on br-main.*"adopt: true"/,
      ),
    ]);
  });

  test("what adopt takes over is reported with what that does to it, and nothing where it takes over nothing", async () => {
    const { given } = await startKind("ComputeEndpoint");
    const takesOver = async (inputs: Properties) => {
      // A process says each warning once.
      given.restart();
      return (await said(given, inputs)).warnings;
    };
    const words = (what: string) => [
      `pulumi up takes over ${DEMO_PRIMARY} on br-main instead of creating a compute: ${what}destroying deletes it, unless retainOnDelete is set`,
    ];
    const restarts = "size differs from the program";
    const drops = "it restarts when it is active, which drops open connections; ";
    const [shown] = (await given.get(LISTS.endpoints))["endpoints"] as {
      autoscaling_limit_min_cu: number;
      autoscaling_limit_max_cu: number;
    }[];
    const size = { min: shown?.autoscaling_limit_min_cu, max: shown?.autoscaling_limit_max_cu };
    for (const adopt of [true, DEMO_PRIMARY]) {
      expect(await takesOver({ branchId: "br-main", adopt })).toEqual(words(""));
      expect(await takesOver({ branchId: "br-main", adopt, size })).toEqual(words(""));
      expect(await takesOver({ branchId: "br-main", adopt, size: 56 })).toEqual(words(`its ${restarts}: ${drops}`));
      expect(await takesOver({ branchId: "br-main", adopt, size: UNKNOWN })).toEqual(
        words(`if its ${restarts}, ${drops}`),
      );
      expect(await takesOver({ branchId: "br-main", adopt, disabled: true })).toEqual(
        words('"disabled" suspends it: open connections are dropped, and no query wakes it; '),
      );
    }
    expect(await takesOver({ branchId: "br-dev", adopt: DEMO_PRIMARY })).toEqual(words("it moves to br-dev; "));
    expect(await takesOver({ branchId: UNKNOWN, adopt: DEMO_PRIMARY })).toEqual(
      words("it may move to another branch; "),
    );
    // Nothing is there.
    expect(await takesOver({ branchId: "br-dev", adopt: true })).toEqual([]);
    // Too little is known to look.
    expect(await takesOver({ branchId: UNKNOWN, adopt: true })).toEqual([
      expect.stringMatching(
        /^ComputeEndpoint \("thing"\) takes over the primary compute of its branch, if there is one/,
      ),
    ]);
  });

  test("of a compute that adopt names the plan says that it is not there, or another type", async () => {
    const { given } = await startKind("ComputeEndpoint");
    expect((await said(given, { branchId: "br-dev", adopt: "ep-none" })).warnings).toEqual([
      '"adopt" names a compute that is not in this project. Remove "adopt" to create a new one',
    ]);
    const replica = { branchId: "br-dev", type: "read_only", adopt: DEMO_PRIMARY };
    expect((await said(given, replica)).warnings).toEqual([
      expect.stringMatching(/whose type is read_write, not read_only/),
    ]);
  });

  test("a primary that adopt takes over while it is under way is reported with its state", async () => {
    const { given } = await startKind("ComputeEndpoint");
    const set = { current_state: "init", pending_state: "active" };
    await given.edit({ kind: "endpoint", id: DEMO_PRIMARY, set });
    for (const adopt of [true, DEMO_PRIMARY]) {
      expect((await said(given, { branchId: "br-main", adopt })).warnings).toEqual([
        expect.stringMatching(/^pulumi up takes over ep-demo-main-10000001/),
        expect.stringMatching(
          /^ep-demo-main-10000001 on br-main, which "adopt" takes over, is not ready: it is "init", on its way to "active"/,
        ),
      ]);
      given.restart();
    }
  });

  test("a read replica of the same name is reported with its id, one without a name is not looked for", async () => {
    const { given } = await startKind("ComputeEndpoint");
    const replica = { branch_id: "br-main", type: "read_only", name: "reports" };
    await given.post(LISTS.endpoints, { endpoint: replica });
    const declared = { branchId: "br-main", type: "read_only" };
    expect((await said(given, { ...declared, name: "reports" })).warnings).toEqual([
      expect.stringMatching(/already has a read replica of this name: (ep-\S+) on br-main.*"adopt: '\1'"/),
    ]);
    expect(await said(given, declared)).toEqual({ failures: [], warnings: [] });
  });

  test.each([
    ["is created first", {}, { type: "read_only" }],
    ["is created first and has its name", { type: "read_only", name: "reader" }, { regionId: "eu-1" }],
  ])("a replacement that %s says nothing of the compute that it replaces", async (_order, more, change) => {
    const { given } = await startKind("ComputeEndpoint");
    const inputs = { projectId: PROJECT, branchId: "br-dev", ...more };
    const state = await given.create(inputs);
    const news = { ...inputs, ...change };
    await given.plan(news, inputs);
    await given.diff(state, news);
    const { failures, warnings } = await given.plan(news);
    expect([...failures, ...warnings]).toEqual([]);
  });
});

describe("AuthIntegration", () => {
  test("one that exists is reported with the line to add and what differs", async () => {
    const { given } = await startKind("AuthIntegration");
    await withIntegration(given);
    expect((await said(given, { databaseName: "other" })).warnings).toEqual([
      expect.stringMatching(
        /will fail here.*an auth integration exists on br-main.*differs from the program in "databaseName".*"adopt: true"/,
      ),
    ]);
    expect((await said(given, { databaseName: "other", adopt: true })).warnings).toEqual([
      expect.stringMatching(/which cannot be changed\. Declare the existing values/),
    ]);
    expect(await said(given, { adopt: true })).toEqual({
      failures: [],
      warnings: [
        expect.stringMatching(
          /^pulumi up takes over the auth integration of project prj-demo, which exists on br-main, created .* ago|now: a new key set is created.*destroying deletes it with all of its users/,
        ),
      ],
    });
  });

  test("a branch that is not there, or not the default one, is reported", async () => {
    const { given } = await startKind("AuthIntegration");
    expect((await said(given, { branchId: "br-none" })).warnings).toEqual([
      expect.stringMatching(/^project prj-demo has no branch br-none/),
    ]);
    const { failures, warnings } = await strict(() => said(given, { branchId: "br-dev" }));
    expect(failures).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(/^br-dev is not flagged as the default branch of the project, which is br-main/),
    ]);
    expect(await said(given, {})).toEqual({ failures: [], warnings: [] });
  });
});

describe("what lives in an integration", () => {
  test("an integration that the program declares before it will be there", async () => {
    const { given } = await startKind("ComputeEndpoint");
    const { baseUrl, apiKey } = given.service;
    const warnings: string[] = [];
    const session = new Session(({ severity, message }) => severity === "warning" && warnings.push(message));
    const settings: Record<string, string> = { "svc:apiKey": apiKey, "svc:baseUrl": baseUrl };
    const config = { get: (key: string) => settings[key], require: () => "" };
    const plan = async (provider: DynamicProvider, inputs: Properties): Promise<void> => {
      await provider.configure({ config });
      const urn = urnOf("Any", `${JSON.stringify(inputs)}`.length.toString());
      await provider.check({}, { projectId: PROJECT, ...inputs, __urn: urn, __preview: true });
    };
    await plan(dynamicProvider(authIntegration, session), {});
    await plan(dynamicProvider(whitelistDomain, session), { domain: DOMAIN });
    await plan(dynamicProvider(authUser, session), { email: "a@example.com", authProvider: PROVIDER });
    expect(warnings).toEqual([]);
    await plan(dynamicProvider(authUser, session), { email: "bb@example.com", authProvider: "other" });
    expect(warnings).toEqual([expect.stringMatching(/no auth integration with other/)]);
  });

  test("an auth provider without an integration is reported with the one that there is", async () => {
    const { given } = await startKind("WhitelistDomain");
    expect((await said(given, { domain: DOMAIN, authProvider: "other" })).warnings).toEqual([
      expect.stringMatching(/no auth integration with other \(it has one with supported_provider\)/),
    ]);
  });

  test("a domain that is listed, in any spelling, is reported with the line to add", async () => {
    const { given } = await startKind("WhitelistDomain");
    await given.edit({ kind: "domain", create: { domain: "https://APP.example.com:443" } });
    expect((await said(given, { domain: DOMAIN })).warnings).toEqual([
      expect.stringMatching(/will fail here.*https:\/\/app\.example\.com is on the whitelist already.*"adopt: true"/),
    ]);
    expect(await said(given, { domain: DOMAIN, adopt: true })).toEqual({
      failures: [],
      warnings: [
        "pulumi up takes over https://app.example.com, which is on the whitelist of project prj-demo already: destroying removes it, unless retainOnDelete is set",
      ],
    });
  });

  test("an OAuth provider that exists is reported with the line to add, or that its credentials stay", async () => {
    const { given } = await startKind("OAuthProvider");
    expect((await said(given, { providerId: "google" })).warnings).toEqual([
      expect.stringMatching(
        /the OAuth provider google exists already, with the shared keys of the service.*"adopt: true"/,
      ),
    ]);
    const destroying = "destroying deletes it, unless retainOnDelete is set";
    const shared = `pulumi up takes over the OAuth provider google of project prj-demo, which exists with the shared keys of the service`;
    expect(await said(given, { providerId: "google", adopt: true })).toEqual({
      failures: [],
      warnings: [`${shared}: ${destroying}`],
    });
    const ours = { clientId: "a", clientSecret: `${CANARY}-a`, adopt: true };
    expect((await said(given, { providerId: "google", ...ours })).warnings).toEqual([
      `${shared}: it gets the credentials of the program; ${destroying}`,
    ]);
    await given.post(LISTS.oauthProviders, { id: "microsoft", client_id: "a", client_secret: `${CANARY}-b` });
    given.restart();
    expect((await said(given, { providerId: "microsoft", adopt: true })).warnings).toEqual([
      expect.stringMatching(/declares no credentials, and the service cannot remove them/),
    ]);
  });

  test("what a Whitelist and an EmailServer do to what is there is reported, and never fails a plan", async () => {
    const { given } = await startKind("Whitelist");
    await given.post(LISTS.domains, { domain: "https://old.example.com", auth_provider: PROVIDER });
    // With all that is said: a remark that it may do so would say it twice.
    const removes = await strict(() => given.plan({ projectId: PROJECT, domains: [DOMAIN] }));
    expect(removes).toEqual({
      failures: [],
      warnings: [expect.stringMatching(/that this Whitelist does not declare: https:\/\/old\.example\.com$/)],
    });

    const mail = (await startKind("EmailServer")).given;
    await mail.edit({ kind: "email_server", set: STANDARD_EMAIL });
    const overwrites = await strict(() => mail.plan({ projectId: PROJECT, type: "shared" }));
    expect(overwrites).toEqual({
      failures: [],
      warnings: [
        expect.stringMatching(
          /^pulumi up overwrites the e-mail server of project prj-demo: another server was configured there \(smtp\.example\.com\)/,
        ),
      ],
    });
    expect(JSON.stringify(overwrites)).not.toContain(STANDARD_EMAIL.password);
  });
});

describe("settings", () => {
  test("with strictPlan what is in the way fails the plan", async () => {
    const { given } = await startKind("ComputeEndpoint");
    const { failures, warnings } = await strict(() => said(given, { branchId: "br-main" }));
    expect(warnings).toEqual([]);
    expect(failures).toEqual([expect.stringMatching(/the branch already has a primary compute/)]);
  });

  test("with offlinePlan nothing is asked and nothing is reported", async () => {
    const { given } = await startKind("ComputeEndpoint");
    const { failures, warnings } = await strict(() => said(given, { branchId: "br-main" }), "SVC_OFFLINE_PLAN");
    expect([...failures, ...warnings]).toEqual([]);
    expect(await given.requests()).toEqual([]);
  });
});
