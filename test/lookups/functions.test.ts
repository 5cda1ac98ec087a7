import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";
import { knownSettings, readerOf } from "../../src/lookups/account";
import { resolveSettings } from "../../src/contract/settings";
import { api, control, createCompute, integrate, PRIMARY, record, start } from "../support/emulator";
import { mockEngine } from "../support/mockedEngine";

const CANARY = "canary-Fn7";
const KEY = `${CANARY}-key`;
const PROJECT = { projectId: "prj-demo" };

beforeAll(() => mockEngine({ isPreview: true }));
afterEach(() => pulumi.runtime.setAllConfig({}));

/** An emulator that the stack is configured for. */
async function configured(options: Parameters<typeof start>[0] = {}) {
  const emulator = await start({ apiKey: KEY, ...options });
  pulumi.runtime.setAllConfig({ "svc:apiKey": KEY, "svc:baseUrl": emulator.baseUrl });
  return emulator;
}

const gets = async (url: string): Promise<unknown[]> => {
  const { body } = await control(url, "GET", "/requests?method=GET");
  // The log is a list of requests.
  return body["requests"] as unknown[];
};

const valueOf = <T>(output: pulumi.Output<T>): Promise<T> => new Promise((resolve) => void output.apply(resolve));

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error)) throw new Error("nothing was thrown");
  expect(pulumi.RunError.isInstance(error)).toBe(true);
  expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(CANARY);
  return error.message;
}

test("what a project has is looked up on every page", async () => {
  const emulator = await configured({ pageSize: 1 });
  for (const branch_id of ["br-dev", "br-test"]) await createCompute(emulator, { branch_id, type: "read_write" });
  expect((await svc.getComputeEndpoints(PROJECT)).map(({ branchId }) => branchId)).toEqual([
    ...["br-main", "br-dev", "br-test"],
  ]);
  expect(await svc.getComputeEndpoint({ ...PROJECT, branchId: "br-test" })).toMatchObject({ branchId: "br-test" });
  expect((await svc.getBranches(PROJECT)).map(({ branchId }) => branchId)).toEqual(["br-main", "br-dev", "br-test"]);
  await control(emulator.url, "POST", "/faults", {
    path: "/projects/{project_id}/branches",
    paging: "repeats",
    times: 0,
  });
  expect(await messageOf(svc.getBranches(PROJECT))).toMatch(/the list could not be read to its end/);
});

describe("computes", () => {
  test("come with what changes by itself", async () => {
    const emulator = await configured();
    const [only] = await svc.getComputeEndpoints(PROJECT);
    const { body } = await api(emulator, "GET", `/projects/prj-demo/endpoints/${PRIMARY}`);
    const raw = record(body, "endpoint");
    expect(only).toMatchObject({
      projectId: "prj-demo",
      endpointId: PRIMARY,
      branchId: "br-main",
      type: "read_write",
      host: raw["host"],
      pooledHost: expect.stringContaining(`${PRIMARY}-pooler.`),
      autoscalingLimitMinCu: 0.25,
      autoscalingLimitMaxCu: 2,
      currentState: "active",
      lastActive: raw["last_active"],
      updatedAt: raw["updated_at"],
    });
    expect(only?.pendingState).toBeUndefined();
  });

  test("the primary of a branch is told by its type, wherever it stands in the list", async () => {
    const emulator = await configured();
    await createCompute(emulator, { branch_id: "br-dev", type: "read_only" });
    expect(await messageOf(svc.getComputeEndpoint({ ...PROJECT, branchId: "br-dev" }))).toBe(
      'getComputeEndpoint: only read replicas serve this "branchId", no primary compute. Give the "endpointId" of one of them',
    );
    const { id } = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    expect(await svc.getComputeEndpoint({ ...PROJECT, branchId: "br-dev" })).toMatchObject({ endpointId: id });
    expect(await svc.getComputeEndpoints({ ...PROJECT, branchId: "br-dev" })).toHaveLength(2);
    expect(await svc.getComputeEndpoint({ ...PROJECT, endpointId: PRIMARY })).toMatchObject({ branchId: "br-main" });
  });

  test.each([
    [{ endpointId: "ep-none" }, 'the project has no compute with this "endpointId"'],
    [{ branchId: "br-test" }, 'no compute of the project serves this "branchId"'],
    [{}, 'give either "endpointId" or "branchId"'],
    [{ branchId: "br-main", endpointId: PRIMARY }, 'give either "endpointId" or "branchId"'],
    [{ branchId: "" }, '"branchId" must be a string that is not empty; pass an Output to the form that ends in Output'],
  ])("asked for with %j fail with a message", async (args, words) => {
    await configured();
    expect(await messageOf(svc.getComputeEndpoint({ ...PROJECT, ...args }))).toBe(`getComputeEndpoint: ${words}`);
  });
});

describe("branches", () => {
  test("come with the default one", async () => {
    await configured();
    expect((await svc.getBranches(PROJECT)).map(({ branchId }) => branchId)).toEqual(["br-main", "br-dev", "br-test"]);
    expect(await svc.getDefaultBranch(PROJECT)).toMatchObject({ branchId: "br-main", name: "main", default: true });
  });

  test("are an error with a message where the service does not list them, or flags none", async () => {
    const emulator = await configured();
    const unflag = { kind: "branch", project_id: "prj-demo", id: "br-main", set: { default: false } };
    await control(emulator.url, "POST", "/edit", unflag);
    expect(await messageOf(svc.getDefaultBranch(PROJECT))).toMatch(/no branch of the project is flagged as default/);
    await configured({ seedOnly: true });
    expect(await messageOf(svc.getBranches(PROJECT))).toBe("getBranches: this service does not list branches");
  });
});

describe("the managed auth", () => {
  test("shows the integration, its OAuth providers and its domains", async () => {
    const emulator = await configured();
    await integrate(emulator);
    const domain = { domain: "https://app.example.com", auth_provider: "supported_provider" };
    await api(emulator, "POST", "/projects/prj-demo/auth/domains", domain);
    const integration = {
      projectId: "prj-demo",
      authProvider: "supported_provider",
      branchId: "br-main",
      databaseName: "svcdb",
      ownedBy: "svc",
    };
    expect(await svc.getAuthIntegration(PROJECT)).toMatchObject(integration);
    expect(await svc.getAuthIntegrations(PROJECT)).toMatchObject([integration]);
    expect(await svc.getOAuthProviders(PROJECT)).toEqual([
      { providerId: "google", type: "shared" },
      { providerId: "github", type: "shared" },
    ]);
    expect(await svc.getWhitelistDomains(PROJECT)).toEqual([
      { domain: "https://app.example.com", authProvider: "supported_provider" },
    ]);
    expect(await svc.getEmailServer(PROJECT)).toMatchObject({ type: "shared" });
  });

  test("without an integration is an empty list, or an error with a message", async () => {
    await configured();
    expect(await svc.getAuthIntegrations(PROJECT)).toEqual([]);
    expect(await messageOf(svc.getAuthIntegration(PROJECT))).toBe(
      "getAuthIntegration: the project has no auth integration with this auth provider",
    );
    expect(await messageOf(svc.getOAuthProviders(PROJECT))).toMatch(/^getOAuthProviders: .*404/);
  });

  const SMTP = {
    type: "standard",
    host: "smtp.example.com",
    port: 587,
    username: "mailer",
    password: `${CANARY}-smtp`,
    sender_email: "noreply@example.com",
    sender_name: "Demo",
  };

  test("gives the SMTP password only as a secret Output", async () => {
    const emulator = await configured();
    await integrate(emulator);
    await api(emulator, "PATCH", "/projects/prj-demo/auth/email_server", SMTP);
    const plain = await svc.getEmailServer(PROJECT);
    expect(plain).toEqual({
      type: "standard",
      host: "smtp.example.com",
      port: 587,
      username: "mailer",
      senderEmail: "noreply@example.com",
      senderName: "Demo",
    });
    const output = svc.getEmailServerOutput(PROJECT);
    expect(await pulumi.isSecret(output)).toBe(true);
    expect(await valueOf(output)).toEqual({ ...plain, password: SMTP.password });
  });

  test.each(["masked", "absent"] as const)("a password that comes back %s is left out", async (secretAnswers) => {
    const emulator = await configured({ secretAnswers });
    await integrate(emulator);
    await api(emulator, "PATCH", "/projects/prj-demo/auth/email_server", SMTP);
    const output = svc.getEmailServerOutput(PROJECT);
    expect(await pulumi.isSecret(output)).toBe(false);
    expect(await valueOf(output)).not.toHaveProperty("password");
  });

  test("a password that comes back masked in part is left out", async () => {
    const emulator = await configured();
    await integrate(emulator);
    const partly = { ...SMTP, password: "ma****er" };
    await api(emulator, "PATCH", "/projects/prj-demo/auth/email_server", partly);
    expect(await valueOf(svc.getEmailServerOutput(PROJECT))).not.toHaveProperty("password");
  });
});

describe("settings", () => {
  test("come from an explicit provider, whose secrets do not mark the result", async () => {
    const emulator = await start({ apiKey: KEY });
    const provider = new svc.Provider("account", { apiKey: KEY, baseUrl: pulumi.output(emulator.baseUrl) });
    expect(await svc.getDefaultBranch(PROJECT, { provider })).toMatchObject({ branchId: "br-main" });
    const output = svc.getDefaultBranchOutput({ projectId: pulumi.output("prj-demo") }, { provider });
    expect(await valueOf(output)).toMatchObject({ branchId: "br-main" });
    expect(await pulumi.isSecret(output)).toBe(false);
  });

  test("that an explicit provider lacks come from the stack", async () => {
    const emulator = await configured();
    pulumi.runtime.setAllConfig({ "svc:apiKey": KEY, "svc:baseUrl": emulator.baseUrl });
    const provider = new svc.Provider("rest");
    expect(await svc.getBranches(PROJECT, { provider })).toHaveLength(3);
  });

  test("with a share of requests: that of the provider, else of the stack, with a message if it is invalid", async () => {
    const emulator = await start({ apiKey: KEY });
    const account = { apiKey: KEY, baseUrl: emulator.baseUrl };
    const readOf = async (provider: svc.Provider) => resolveSettings(readerOf(await knownSettings(provider)));
    pulumi.runtime.setAllConfig({ "svc:maxRequestsPerMinute": "33" });
    const share = new svc.Provider("share", { ...account, maxRequestsPerMinute: pulumi.output(120) });
    expect(await readOf(share)).toMatchObject({ settings: { maxRequestsPerMinute: 120 } });
    expect(await svc.getBranches(PROJECT, { provider: share })).toHaveLength(3);
    const stack = new svc.Provider("stack", account);
    expect(await readOf(stack)).toMatchObject({ settings: { maxRequestsPerMinute: 33 } });
    const none = new svc.Provider("none", { ...account, maxRequestsPerMinute: 1.5 });
    await expect(svc.getBranches(PROJECT, { provider: none })).rejects.toThrow(
      /^getBranches: svc:maxRequestsPerMinute .* must be a whole number, 10 or more, not "1\.5"$/,
    );
  });

  test("may name the variable or the file that holds the key, in the configuration and in a provider", async () => {
    const { baseUrl } = await start({ apiKey: KEY });
    const folder = mkdtempSync(join(tmpdir(), "svc-functions-"));
    process.env["SVC_TEST_KEY"] = KEY;
    try {
      const apiKeyFile = join(folder, "key");
      writeFileSync(apiKeyFile, `${KEY}\n`);
      pulumi.runtime.setAllConfig({ "svc:apiKeyEnv": "SVC_TEST_KEY", "svc:baseUrl": baseUrl });
      expect(await svc.getBranches(PROJECT)).toHaveLength(3);
      expect(await svc.getBranches(PROJECT, { provider: new svc.Provider("same") })).toHaveLength(3);
      process.env["SVC_TEST_KEY"] = "another-key";
      expect(await messageOf(svc.getBranches(PROJECT))).toMatch(/It comes from SVC_TEST_KEY, which svc:apiKeyEnv/);
      const provider = new svc.Provider("file", { apiKeyFile });
      expect(await svc.getBranches(PROJECT, { provider })).toHaveLength(3);
      expect(await valueOf(svc.getBranchesOutput(PROJECT, { provider }))).toHaveLength(3);
    } finally {
      delete process.env["SVC_TEST_KEY"];
      rmSync(folder, { recursive: true });
    }
  });

  test("that no Provider takes come from the stack for an explicit one too", async () => {
    const settings = {
      apiKey: KEY,
      baseUrl: "http://api.example.com/v2",
      authProvider: undefined,
      maxRequestsPerMinute: undefined,
    };
    const provider = new svc.Provider("clear", { apiKey: settings.apiKey, baseUrl: settings.baseUrl });
    await expect(svc.getBranches(PROJECT, { provider })).rejects.toThrow(/getBranches: .*unencrypted/);
    pulumi.runtime.setAllConfig({ "svc:allowHttp": "true" });
    expect(resolveSettings(readerOf(settings))).toMatchObject({ problems: [], settings: { apiKey: KEY } });
  });

  test("that are not known yet make the Output unknown, and the promise an error that says so", async () => {
    await configured();
    // The value that a preview passes for an output of a resource that does not exist yet.
    const apiKey = pulumi.output(pulumi.unknown) as unknown as pulumi.Output<string>;
    const provider = new svc.Provider("unknown", { apiKey });
    // Marked internal in the SDK's types.
    const output = svc.getBranchesOutput(PROJECT, { provider }) as unknown as { isKnown: Promise<boolean> };
    expect(await output.isKnown).toBe(false);
    expect(await messageOf(svc.getBranches(PROJECT, { provider }))).toMatch(/not known yet in this preview/);
  });

  test("that are missing or wrong are named, all at once, and nothing is sent", async () => {
    pulumi.runtime.setAllConfig({ "svc:baseUrl": `https://user:${CANARY}@example.com/api` });
    const message = await messageOf(svc.getBranches(PROJECT));
    expect(message).toMatch(/^getBranches: no API key: .*; .*must not contain a user name.*; .*version segment/);
  });

  test("a refused key is reported with a message, without the key", async () => {
    await configured();
    const emulator = await start({ apiKey: "another" });
    pulumi.runtime.setAllConfig({ "svc:apiKey": KEY, "svc:baseUrl": emulator.baseUrl });
    expect(await messageOf(svc.getBranches(PROJECT))).toMatch(/^getBranches: .*401/);
  });
});

describe("asking", () => {
  test("is done once for all who ask at the same time, and again for each who asks later", async () => {
    const emulator = await configured();
    await Promise.all([svc.getBranches(PROJECT), svc.getDefaultBranch(PROJECT), svc.getBranches(PROJECT)]);
    expect(await gets(emulator.url)).toHaveLength(1);
    const edit = { kind: "branch", project_id: "prj-demo", create: { id: "br-new" } };
    await control(emulator.url, "POST", "/edit", edit);
    expect(await svc.getBranches(PROJECT)).toHaveLength(4);
    expect(await gets(emulator.url)).toHaveLength(2);
  });

  test("is not done in a preview for arguments that are not known yet", async () => {
    const emulator = await configured();
    // As above.
    const projectId = pulumi.output(pulumi.unknown) as unknown as pulumi.Output<string>;
    const output = svc.getBranchesOutput({ projectId }) as unknown as { isKnown: Promise<boolean> };
    expect(await output.isKnown).toBe(false);
    expect(await gets(emulator.url)).toEqual([]);
  });

  test("with a secret argument gives a secret", async () => {
    await configured();
    expect(await pulumi.isSecret(svc.getBranchesOutput({ projectId: pulumi.secret("prj-demo") }))).toBe(true);
  });
});
