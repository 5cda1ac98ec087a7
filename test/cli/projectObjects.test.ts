import { Client, NotFoundError } from "../../src/client";
import { listProjectObjects } from "../../src/cli/projectObjects";
import { Service } from "../support/service";
import { api, createCompute, DEMO, integrate, PRIMARY, STANDARD_EMAIL } from "../support/emulator";

let service: Service;
beforeEach(async () => {
  service = await Service.start({});
});
afterEach(() => service.emulator.close());

const clientOf = ({ emulator: { baseUrl, apiKey } }: Service): Client => new Client({ baseUrl, apiKey });
const listed = (projectId = "prj-demo") =>
  listProjectObjects({ client: clientOf(service), projectId, authProvider: "supported_provider", options: {} });
const lines = async () => (await listed()).map(({ kind, id, describe, adopt }) => [kind, id, describe, adopt]);

it("names everything that exists, as the resources would", async () => {
  const { emulator } = service;
  const replica = await createCompute(emulator, {
    branch_id: "br-main",
    type: "read_only",
    name: 'the "reports"',
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 1,
    disabled: true,
  });
  await integrate(emulator);
  await api(emulator, "PATCH", `${DEMO}/auth/oauth_providers/github`, { client_id: "own", client_secret: "canary-1" });
  for (const domain of ["https://b.example.com", "http://A.example.com:80"])
    await api(emulator, "POST", `${DEMO}/auth/domains`, { domain, auth_provider: "supported_provider" });
  await api(emulator, "PATCH", `${DEMO}/auth/email_server`, STANDARD_EMAIL);

  expect(await lines()).toEqual([
    ["ComputeEndpoint", `prj-demo/${PRIMARY}`, `read_write compute ${PRIMARY} on br-main, 0.25 to 2 CU`, "adopt: true"],
    [
      "ComputeEndpoint",
      `prj-demo/${String(replica["id"])}`,
      `read_only compute ${String(replica["id"])} on br-main, "the \\"reports\\"", 1 CU, disabled`,
      `adopt: "${String(replica["id"])}"`,
    ],
    [
      "AuthIntegration",
      "prj-demo/supported_provider",
      "auth integration supported_provider on br-main, database svcdb",
      "adopt: true",
    ],
    [
      "OAuthProvider",
      "prj-demo/github",
      "OAuth provider github with credentials of its own",
      "adopt: true, with its clientId and clientSecret",
    ],
    ["OAuthProvider", "prj-demo/google", "OAuth provider google with the service's shared keys", "adopt: true"],
    ["WhitelistDomain", "prj-demo/http://a.example.com", "redirect domain http://a.example.com", "adopt: true"],
    ["WhitelistDomain", "prj-demo/https://b.example.com", "redirect domain https://b.example.com", "adopt: true"],
    ["EmailServer", "prj-demo", "e-mail server smtp.example.com", "declaring it takes it over"],
  ]);
});

it("asks for each list once", async () => {
  await integrate(service.emulator);
  await service.clearRequests();
  await listed();
  const asked = (await service.requests()).map(
    ({ method, template }) => `${method} ${template.split("/").pop() ?? ""}`,
  );
  expect(asked.sort()).toEqual([
    "GET domains",
    "GET email_server",
    "GET endpoints",
    "GET integrations",
    "GET oauth_providers",
  ]);
});

it("finds the computes alone where there is no integration, and no e-mail server that is the shared one", async () => {
  expect((await listed()).map(({ kind }) => kind)).toEqual(["ComputeEndpoint"]);
  await integrate(service.emulator);
  expect((await listed()).map(({ kind }) => kind)).not.toContain("EmailServer");
});

it("takes no list of an integration that is not shown for an empty one", async () => {
  await integrate(service.emulator);
  for (const list of ["oauth_providers", "domains", "email_server"]) {
    await service.fault({ path: `/projects/{project_id}/auth/${list}`, status: 404 });
    await expect(listed()).rejects.toThrow(NotFoundError);
  }
});

it("lists the computes of a project whose service has no auth", async () => {
  await service.fault({ path: "/projects/{project_id}/auth/integrations", status: 404 });
  expect((await listed()).map(({ kind }) => kind)).toEqual(["ComputeEndpoint"]);
});

it("names everything that exists, on every page", async () => {
  await service.emulator.close();
  service = await Service.start({ pageSize: 2 });
  await integrate(service.emulator);
  for (const number of [1, 2, 3, 4]) {
    await createCompute(service.emulator, { branch_id: "br-main", type: "read_only" });
    await service.edit({ kind: "domain", create: { domain: `https://${number}.example.com` } });
    await service.edit({ kind: "oauth_provider", create: { id: `own-${number}` } });
  }
  const counts = new Map<string, number>();
  for (const { kind } of await listed()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  expect(Object.fromEntries(counts)).toEqual({
    ...{ ComputeEndpoint: 5, AuthIntegration: 1, OAuthProvider: 6, WhitelistDomain: 4 },
  });
});

it("takes no missing project for an empty one", async () => {
  await expect(listed("prj-none")).rejects.toThrow(NotFoundError);
});
