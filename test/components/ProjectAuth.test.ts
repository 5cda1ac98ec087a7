import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";

interface Registered {
  kind: string;
  name: string;
  inputs: Record<string, unknown>;
  timeouts: unknown;
  provider: string | undefined;
}

const registered: Registered[] = [];

beforeAll(() =>
  pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, provider }) => {
        if (type.startsWith("pulumi-nodejs:dynamic")) {
          // Hidden keys and absent arguments do not matter to the component.
          const given = Object.entries(inputs as object).filter(([key, value]) => !/^__/.test(key) && value != null);
          const timeouts: unknown = inputs.__timeouts;
          registered.push({
            kind: type.split(":").at(-1) ?? "",
            name,
            inputs: Object.fromEntries(given),
            timeouts,
            provider,
          });
        }
        return { id: `${name}-id`, state: inputs };
      },
      call: () => ({}),
    },
    "proj",
    "dev",
  ),
);
beforeEach(() => registered.splice(0));

const urnOf = (resource: pulumi.Resource): Promise<string> =>
  new Promise((resolve) => void resource.urn.apply((urn) => resolve(urn)));

/** Everything that the component made, once it is registered. */
async function made({ integration, oauthProviders, whitelistDomains, whitelist, emailServer }: svc.ProjectAuth) {
  const children = [
    integration,
    ...Object.values(oauthProviders),
    ...Object.values(whitelistDomains),
    whitelist,
    emailServer,
  ];
  const urns = await Promise.all(children.filter((child) => child !== undefined).map(urnOf));
  return { urns, byName: Object.fromEntries(registered.map(({ name, kind, inputs }) => [name, { kind, ...inputs }])) };
}

const EMAIL = {
  type: "standard",
  host: "smtp.example.com",
  port: 587,
  username: "mailer",
  password: "canary-smtp",
  senderEmail: "noreply@example.com",
  senderName: "Demo",
} as const;

test("declares the integration and everything in it, each with the project of the integration", async () => {
  const auth = new svc.ProjectAuth("auth", {
    projectId: "prj-1",
    branchId: "br-main",
    databaseName: "db",
    roleName: "owner",
    authProvider: "supported_provider",
    oauth: {
      google: { clientId: "id", clientSecret: pulumi.secret("canary-google") },
      github: "shared",
      microsoft: { adopt: false },
      gitlab: false,
    },
    redirectDomains: ["https://App.example.com/", "http://localhost:3000"],
    email: EMAIL,
  });
  const project = { projectId: "prj-1" };
  const provider = { kind: "OAuthProvider", ...project };
  const domain = { kind: "WhitelistDomain", ...project, authProvider: "supported_provider", adopt: true };
  const { byName, urns } = await made(auth);
  expect(byName).toMatchObject({
    auth: {
      kind: "AuthIntegration",
      ...project,
      branchId: "br-main",
      databaseName: "db",
      roleName: "owner",
      authProvider: "supported_provider",
    },
    "auth-google": { ...provider, providerId: "google", clientId: "id", adopt: true },
    "auth-github": { ...provider, providerId: "github", adopt: true },
    "auth-microsoft": { ...provider, providerId: "microsoft", adopt: false },
    "auth-gitlab": { ...provider, providerId: "gitlab", absent: true, adopt: true },
    "auth-https://app.example.com": { ...domain, domain: "https://app.example.com" },
    "auth-http://localhost:3000": { ...domain, domain: "http://localhost:3000" },
    "auth-email": { kind: "EmailServer", ...project, type: "standard", host: "smtp.example.com" },
  });
  expect(Object.keys(byName)).toHaveLength(8);
  for (const urn of urns) expect(urn).toContain("::svc:components:ProjectAuth$pulumi-nodejs:dynamic/svc:");
});

test("gives what it made by the names of the program", async () => {
  const auth = new svc.ProjectAuth("auth", {
    projectId: "prj-1",
    oauth: { google: "shared" },
    redirectDomains: ["https://APP.example.com:443"],
  });
  expect(Object.keys(auth.oauthProviders)).toEqual(["google"]);
  expect(Object.keys(auth.whitelistDomains)).toEqual(["https://app.example.com"]);
  expect(auth.whitelist).toBeUndefined();
  expect(auth.emailServer).toBeUndefined();
  await made(auth);
});

test("only an integration, when nothing else is declared", async () => {
  const { byName } = await made(new svc.ProjectAuth("auth", { projectId: "prj-1" }));
  expect(byName).toEqual({ auth: { kind: "AuthIntegration", projectId: "prj-1" } });
});

test("an exclusive list is one resource, whose domains may be Outputs", async () => {
  const redirectDomains = ["https://a.example.com", pulumi.output("https://b.example.com")];
  const auth = new svc.ProjectAuth("auth", { projectId: "prj-1", redirectDomains, exclusiveDomains: true });
  expect(auth.whitelistDomains).toEqual({});
  expect((await made(auth)).byName["auth-domains"]).toEqual({
    kind: "Whitelist",
    projectId: "prj-1",
    domains: ["https://a.example.com", "https://b.example.com"],
  });
});

test.each([true, false])("adopt is for the integration, domains are taken over in any case: %s", async (adopt) => {
  const auth = new svc.ProjectAuth("auth", { projectId: "prj-1", adopt, redirectDomains: ["https://a.example.com"] });
  const { byName } = await made(auth);
  expect(byName["auth"]).toMatchObject({ adopt });
  expect(byName["auth-https://a.example.com"]).toMatchObject({ adopt: true });
});

test.each([
  ["an Output of the list", pulumi.output(["https://a.example.com"]), /plain strings, not Outputs.*exclusiveDomains/],
  ["an Output in the list", [pulumi.output("https://a.example.com")], /plain strings, not Outputs.*exclusiveDomains/],
  [
    "one origin twice",
    ["https://a.example.com", "https://b.example.com", "HTTPS://A.example.com:443/"],
    /redirectDomains\[2\]: is the same origin as redirectDomains\[0\]/,
  ],
  [
    "one origin with two days",
    [
      { origin: "https://a.example.com", expiresOn: "2027-01-31" },
      { origin: "https://a.example.com/", expiresOn: "2027-02-28" },
    ],
    /redirectDomains\[1\]: is the same origin as redirectDomains\[0\]/,
  ],
  [
    "an Output as the origin of a domain with a day",
    [{ origin: pulumi.output("https://a.example.com"), expiresOn: "2027-01-31" }],
    /plain strings, not Outputs.*exclusiveDomains/,
  ],
  [
    "a domain with something else",
    ["https://a.example.com", { origin: "https://b.example.com", expireson: "2027-01-31" } as never],
    /redirectDomains\[1\]\.expireson: unknown property\. Did you mean "expiresOn"\?; redirectDomains\[1\]\.expiresOn: is required/,
  ],
])("%s is refused before anything is declared", (_what, redirectDomains, words) => {
  const make = () => new svc.ProjectAuth("auth", { projectId: "prj-1", redirectDomains });
  expect(make).toThrow(words);
  expect(make).toThrow(/^ProjectAuth "auth": /);
  expect(registered).toEqual([]);
});

test("a domain with a day: its resource has the day, which may be an Output, and the whole list takes it as it is", async () => {
  const day = pulumi.output("2027-01-31");
  const redirectDomains = ["https://a.example.com", { origin: "HTTPS://B.example.com/", expiresOn: day }];
  const each = await made(new svc.ProjectAuth("auth", { projectId: "prj-1", redirectDomains }));
  expect(each.byName["auth-https://b.example.com"]).toMatchObject({
    domain: "https://b.example.com",
    expiresOn: "2027-01-31",
  });
  expect(each.byName["auth-https://a.example.com"]).not.toHaveProperty("expiresOn");
  const all = await made(new svc.ProjectAuth("all", { projectId: "prj-1", redirectDomains, exclusiveDomains: true }));
  expect(all.byName["all-domains"]).toMatchObject({
    domains: ["https://a.example.com", { origin: "HTTPS://B.example.com/", expiresOn: "2027-01-31" }],
  });
});

test("an exclusive list has to be given, if only as an empty one", async () => {
  const exclusive = { projectId: "prj-1", exclusiveDomains: true };
  expect(() => new svc.ProjectAuth("auth", exclusive)).toThrow(/needs "redirectDomains", which may be an empty list/);
  const auth = new svc.ProjectAuth("empty", { ...exclusive, redirectDomains: [] });
  expect((await made(auth)).byName["empty-domains"]).toMatchObject({ domains: [] });
});

test("what is no origin is left to the check of its resource", async () => {
  const redirectDomains = ["https://a.example.com/path"];
  const auth = new svc.ProjectAuth("auth", { projectId: "prj-1", redirectDomains });
  expect((await made(auth)).byName).toHaveProperty(["auth-https://a.example.com/path", "domain"], redirectDomains[0]);
});

test("an explicit provider is passed to everything that it creates", async () => {
  const provider = new svc.Provider("account", { apiKey: "k", baseUrl: "https://api.example.com/api/v2" });
  const auth = new svc.ProjectAuth("auth", { projectId: "prj-1", oauth: { google: "shared" } }, { provider });
  await made(auth);
  const used = registered.map(({ provider: reference }) => reference);
  expect(used).toHaveLength(2);
  for (const reference of used) expect(reference).toContain("pulumi:providers:pulumi-nodejs::account");
});

test("secrets stay secret whatever the program wraps them in", async () => {
  const auth = new svc.ProjectAuth("auth", {
    projectId: "prj-1",
    oauth: { google: { clientId: "id", clientSecret: "canary-google" } },
    email: EMAIL,
  });
  await made(auth);
  const google = auth.oauthProviders["google"];
  if (google === undefined || auth.emailServer === undefined) throw new Error("not made");
  expect(await pulumi.isSecret(google.clientSecret)).toBe(true);
  expect(await pulumi.isSecret(auth.emailServer.password)).toBe(true);
});

test("half an e-mail server is refused by the compiler", () => {
  // @ts-expect-error: an own server needs all of its settings
  const half: svc.ProjectAuthArgs = { projectId: "prj-1", email: { type: "standard", host: "smtp.example.com" } };
  const shared: svc.ProjectAuthArgs = { projectId: "prj-1", email: { type: "shared" } };
  expect([half, shared]).toHaveLength(2);
});

test("its customTimeouts are those of each of its children", async () => {
  const args: svc.ProjectAuthArgs = {
    projectId: "prj-1",
    oauth: { google: "shared" },
    redirectDomains: ["https://app.example.com"],
    email: EMAIL,
  };
  for (const exclusiveDomains of [false, true]) {
    const name = `auth-${exclusiveDomains}`;
    await made(
      new svc.ProjectAuth(name, { ...args, exclusiveDomains }, { customTimeouts: { create: "20m", update: "5m" } }),
    );
  }
  expect(new Set(registered.map(({ kind }) => kind)).size).toBe(5);
  for (const { timeouts } of registered) expect(timeouts).toEqual({ create: 1_200, update: 300 });
});
