import type { RefreshedStack } from "../../../src/cli/drift/previewRefresh";
import { StackState } from "../../../src/cli/stack/state";
import { unmanagedObjects } from "../../../src/cli/drift/unmanaged";
import { type Kind, typeToken } from "../../../src/contract/pointer";
import type { EmulatorOptions } from "../../../src/emulator";
import { api, createCompute, DEMO, integrate, PRIMARY } from "../../support/emulator";
import { Service } from "../../support/service";

const PROVIDER = "urn:pulumi:dev::proj::pulumi:providers:pulumi-nodejs::default";

let service: Service;
let second: Service | undefined;
afterEach(async () => {
  await service.emulator.close();
  await second?.emulator.close();
  second = undefined;
});

async function start(options: EmulatorOptions = {}): Promise<void> {
  service = await Service.start(options);
}

type Held = readonly [kind: Kind, id: string, more?: { authProvider?: string; isHeld?: boolean }];

/** What a new integration has with the shared keys. */
const STANDARD: readonly Held[] = ["github", "google"].map((id) => ["OAuthProvider", `prj-demo/${id}`]);

/** As a refresh and the state show it. */
function stackWith(...held: Held[]): RefreshedStack {
  return stackAt(service.emulator, ...held);
}

function stackAt({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }, ...held: Held[]): RefreshedStack {
  const inputs = { "svc:baseUrl": baseUrl, "svc:apiKey": apiKey };
  return {
    state: new StackState(
      JSON.stringify({
        deployment: { resources: [{ urn: PROVIDER, type: "pulumi:providers:pulumi-nodejs", id: "1", inputs }] },
      }),
    ),
    resources: held.map(([kind, id, more]) => ({
      urn: `urn:pulumi:dev::proj::${typeToken(kind)}::${id}`,
      kind,
      id,
      provider: `${PROVIDER}::1`,
      authProvider: undefined,
      isHeld: true,
      drift: undefined,
      ignored: undefined,
      expiredDomains: [],
      ...more,
    })),
  };
}

async function told(...stacks: RefreshedStack[]) {
  const { unmanaged, byItself } = await unmanagedObjects(stacks);
  return { unmanaged: unmanaged.map(({ describe }) => describe), byItself: byItself.map(({ id }) => id) };
}

const addDomain = (domain: string, authProvider: string) =>
  api(service.emulator, "POST", `${DEMO}/auth/domains`, { domain, auth_provider: authProvider });

test("the order is that of the projects, in whatever order a refresh tells of them", async () => {
  await start();
  await service.addProject({ id: "prj-a", branches: [{ id: "br-main", name: "main", default: true }] });
  for (const project of ["prj-demo", "prj-a"])
    await service.edit({
      project_id: project,
      kind: "endpoint",
      create: { id: `ep-${project}`, branch_id: "br-main", type: "read_only" },
    });
  const held: Held[] = [
    ["ComputeEndpoint", "prj-demo/ep-held-1"],
    ["ComputeEndpoint", "prj-a/ep-held-2"],
  ];
  const inOrder = (await unmanagedObjects([stackWith(...held)])).unmanaged.map(({ id }) => id);
  expect(inOrder).toEqual(["prj-a/ep-prj-a", "prj-demo/ep-prj-demo"]);
  const reversed = await unmanagedObjects([stackWith(...held.toReversed())]);
  expect(reversed.unmanaged.map(({ id }) => id)).toEqual(inOrder);
});

test("what a new project and a new integration have by themselves is apart; what somebody made is not", async () => {
  await start();
  const { emulator } = service;
  await integrate(emulator);
  const held = stackWith(["AuthIntegration", "prj-demo/supported_provider"]);
  // Users can sign in with the two providers, so they are not apart.
  expect(await told(held)).toEqual({
    unmanaged: ["github", "google"].map((id) => `OAuth provider ${id} with the service's shared keys`),
    byItself: [`prj-demo/${PRIMARY}`],
  });
  // Declared absent, but it exists: that is drift.
  const absent: Held[] = ["github", "google"].map((id) => ["OAuthProvider", `prj-demo/${id}/absent`]);
  expect(await told(stackWith(["AuthIntegration", "prj-demo/supported_provider"], ...absent))).toMatchObject({
    unmanaged: [],
  });

  // Another branch's primary, a replica, a shared provider that is not a standard one, and one with credentials.
  const other = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
  const replica = await createCompute(emulator, { branch_id: "br-main", type: "read_only" });
  await api(emulator, "POST", `${DEMO}/auth/oauth_providers`, { id: "microsoft" });
  await api(emulator, "PATCH", `${DEMO}/auth/oauth_providers/github`, { client_id: "own", client_secret: "canary-1" });
  const { unmanaged, byItself } = await told(held);
  expect(byItself).toEqual([`prj-demo/${PRIMARY}`]);
  expect(unmanaged).toEqual([
    expect.stringContaining(String(other["id"])),
    expect.stringContaining(String(replica["id"])),
    "OAuth provider github with credentials of its own",
    "OAuth provider google with the service's shared keys",
    "OAuth provider microsoft with the service's shared keys",
  ]);
});

test("branches are asked for only where an undeclared primary asks for it; unknown, no compute is there by itself", async () => {
  await start();
  const compute = stackWith(["ComputeEndpoint", `prj-demo/${PRIMARY}`]);
  const branches = async () => (await service.requests()).filter(({ template }) => template.endsWith("/branches"));
  expect(await told(compute)).toEqual({ unmanaged: [], byItself: [] });
  expect(await branches()).toEqual([]);
  await service.fault({ path: "/projects/{project_id}/branches", status: 404, times: 9 });
  const { unmanaged, byItself } = await told(stackWith(["AuthIntegration", "prj-demo/supported_provider"]));
  expect([unmanaged.length, byItself]).toEqual([1, []]);
  expect((await branches()).length).toBeGreaterThan(0);
});

test("what nobody declares is reported from every page", async () => {
  await start({ pageSize: 1 });
  await integrate(service.emulator);
  for (const number of [1, 2]) {
    await createCompute(service.emulator, { branch_id: "br-main", type: "read_only" });
    await addDomain(`https://${number}.example.com`, "supported_provider");
  }
  const { unmanaged, byItself } = await told(
    stackWith(["AuthIntegration", "prj-demo/supported_provider"], ...STANDARD),
  );
  expect([unmanaged.length, byItself]).toEqual([4, [`prj-demo/${PRIMARY}`]]);
});

test("redirect domains are reported of an auth provider that only an argument names", async () => {
  // The settings say nothing, so theirs is the standard one.
  await start({ authProvider: "other" });
  await integrate(service.emulator, { auth_provider: "other" });
  await addDomain("https://held.example.com", "other");
  await addDomain("https://foreign.example.com", "other");
  const integration: Held = ["AuthIntegration", "prj-demo/other"];
  const held: Held = ["WhitelistDomain", "prj-demo/https://held.example.com", { authProvider: "other" }];
  expect((await told(stackWith(integration, ...STANDARD, held))).unmanaged).toEqual([
    "redirect domain https://foreign.example.com of auth provider other",
  ]);
  // A list of another auth provider holds none of these, and the right one all.
  const ofStandard: Held = ["Whitelist", "prj-demo", { authProvider: "supported_provider" }];
  expect((await told(stackWith(integration, ...STANDARD, ofStandard))).unmanaged).toHaveLength(2);
  expect(
    (await told(stackWith(integration, ...STANDARD, ["Whitelist", "prj-demo", { authProvider: "other" }]))).unmanaged,
  ).toEqual([]);
  const { unmanaged } = await unmanagedObjects([stackWith(integration, ...STANDARD, held)]);
  expect(unmanaged).toMatchObject([{ adopt: 'adopt: true, authProvider: "other"' }]);
});

test("what any of several stacks holds is declared, and a project is asked once", async () => {
  await start();
  const other = await createCompute(service.emulator, { branch_id: "br-dev", type: "read_write" });
  const [one, two] = [`prj-demo/${PRIMARY}`, `prj-demo/${String(other["id"])}`].map((id) =>
    stackWith(["ComputeEndpoint", id]),
  );
  if (one === undefined || two === undefined) throw new Error("two stacks were made");
  expect((await told(one)).unmanaged).toHaveLength(1);
  await service.clearRequests();
  expect(await told(one, two)).toEqual({ unmanaged: [], byItself: [] });
  expect((await service.requests()).filter(({ template }) => template.endsWith("/endpoints"))).toHaveLength(1);
});

test("what a stack declares at one service is not declared in the project of the same id at another one", async () => {
  await start();
  second = await Service.start({});
  const { emulator: other } = second;
  for (const emulator of [service.emulator, other]) await integrate(emulator);
  await api(service.emulator, "POST", `${DEMO}/auth/oauth_providers`, { id: "microsoft" });
  await api(other, "POST", `${DEMO}/auth/oauth_providers`, { id: "microsoft" });
  const integration: Held = ["AuthIntegration", "prj-demo/supported_provider"];
  const stacks = [
    stackAt(service.emulator, integration, ...STANDARD, ["OAuthProvider", "prj-demo/microsoft"]),
    stackAt(other, integration, ...STANDARD),
  ];
  const found = [`OAuth provider microsoft with the service's shared keys, at ${other.baseUrl}`];
  expect((await told(...stacks)).unmanaged).toEqual(found);
  // Two providers of one stack are the same to it.
  const [first, last] = stacks as [RefreshedStack, RefreshedStack];
  const provider = PROVIDER.replace(/default$/, "second");
  const text = (all: readonly unknown[]) => JSON.stringify({ deployment: { resources: all } });
  const both: RefreshedStack = {
    state: new StackState(text([...first.state.resources, { ...last.state.resources[0], urn: provider }])),
    resources: [...first.resources, ...last.resources.map((one) => ({ ...one, provider: `${provider}::1` }))],
  };
  expect((await told(both)).unmanaged).toEqual(found);
});

test.each([
  ["the spelling", (address: string) => `${address.replace("http://", "HTTP://")}/`],
  ["the name of this machine in", (address: string) => address.replace("127.0.0.1", "localhost")],
])("one service is one, whatever %s its address and with whichever key", async (_, respelled) => {
  await start({ apiKey: "test-key" });
  const other = await createCompute(service.emulator, { branch_id: "br-dev", type: "read_write" });
  const spelled = respelled(service.emulator.baseUrl);
  await service.clearRequests();
  const found = await told(
    stackWith(["ComputeEndpoint", `prj-demo/${PRIMARY}`]),
    stackAt({ baseUrl: spelled, apiKey: "another-key" }, ["ComputeEndpoint", `prj-demo/${String(other["id"])}`]),
  );
  expect(found).toEqual({ unmanaged: [], byItself: [] });
  expect((await service.requests()).filter(({ template }) => template.endsWith("/endpoints"))).toHaveLength(1);
});

test("an object with the id of one that a replacement has deleted is somebody else's", async () => {
  await start();
  const other = await createCompute(service.emulator, { branch_id: "br-dev", type: "read_write" });
  const id = `prj-demo/${String(other["id"])}`;
  const stack = (isHeld: boolean) =>
    stackWith(["ComputeEndpoint", `prj-demo/${PRIMARY}`], ["ComputeEndpoint", id, { isHeld }]);
  expect((await told(stack(true))).unmanaged).toEqual([]);
  expect((await told(stack(false))).unmanaged).toHaveLength(1);
});

test("no line to take over is offered for a domain that no program can declare", async () => {
  await start();
  await integrate(service.emulator);
  await service.edit({ kind: "domain", create: { domain: "myapp://callback" } });
  await service.edit({ kind: "domain", create: { domain: "javascript://callback" } });
  await service.edit({ kind: "domain", create: { domain: "https://*.example.com:*" } });
  await service.edit({ kind: "domain", create: { domain: "https://app.example.com/callback" } });
  const { unmanaged } = await unmanagedObjects([
    stackWith(["AuthIntegration", "prj-demo/supported_provider"], ...STANDARD),
  ]);
  const cannot = "no program can declare it: domain: must";
  expect(unmanaged.map(({ id, adopt }) => [id, adopt])).toEqual([
    ["prj-demo/https://*.example.com:*", "adopt: true"],
    [
      "prj-demo/https://app.example.com/callback",
      `${cannot} be an origin such as https://app.example.com, without path`,
    ],
    ["prj-demo/javascript://callback", `${cannot} begin with http:// or https://, such as https://app.example.com`],
    ["prj-demo/myapp://callback", "adopt: true"],
  ]);
});

test("nor for anything else that the check of a plan refuses", async () => {
  await start();
  await integrate(service.emulator);
  const endpoints = (await service.endpoints()).map((record) => ({ ...record, type: "read_everything" }));
  await service.fault({ method: "GET", path: `${DEMO}/endpoints`, status: 200, body: { endpoints }, times: 0 });
  const providers = [{ id: "Google", type: "shared" }];
  await service.fault({
    method: "GET",
    path: `${DEMO}/auth/oauth_providers`,
    status: 200,
    body: { providers },
    times: 0,
  });
  const { unmanaged } = await unmanagedObjects([stackWith(["AuthIntegration", "prj-demo/supported_provider"])]);
  expect(unmanaged.map(({ id, adopt }) => [id, adopt])).toEqual([
    [`prj-demo/${PRIMARY}`, 'no program can declare it: type: must be "read_write" or "read_only"'],
    ["prj-demo/Google", expect.stringMatching(/^no program can declare it: providerId: must be the short name/)],
  ]);
});

test("an id in another spelling names the same object", async () => {
  await start();
  await integrate(service.emulator);
  for (const domain of ["https://app.example.com", "https://xn--bcher-kva.example", "https://*.example.com:*"])
    await service.edit({ kind: "domain", create: { domain } });
  const held: Held[] = [
    ["OAuthProvider", "prj-demo/Google"],
    ["AuthIntegration", "PRJ-demo/Supported_Provider"],
    ["OAuthProvider", "prj-demo/github/absent"],
    ["WhitelistDomain", "prj-demo/HTTPS://App.example.com:443/"],
    ["WhitelistDomain", "prj-demo/https://BU\u0308cher.example"],
    ["WhitelistDomain", "prj-demo/https://*.EXAMPLE.com:*"],
  ];
  expect((await told(stackWith(...held))).unmanaged).toEqual([]);
});

test("SVC_LOG=debug shows the requests on standard error", async () => {
  await start();
  const lines: string[] = [];
  const stderr = jest.spyOn(process.stderr, "write").mockImplementation((line) => lines.push(String(line)) > 0);
  process.env["SVC_LOG"] = "debug";
  try {
    await told(stackWith(["ComputeEndpoint", `prj-demo/${PRIMARY}`]));
  } finally {
    Reflect.deleteProperty(process.env, "SVC_LOG");
    stderr.mockRestore();
  }
  expect(lines.join("")).toMatch(/^pulumi-svc: GET \/projects\/\{project_id\}\/endpoints -> 200, \d+ ms, attempt 1$/m);
});
