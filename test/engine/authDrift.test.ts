import { Stack } from "../support/Stack";
import { drift as driftReport, svc } from "../support/svc";

const GOOGLE = "canary-google-secret-7";
const SMTP = "canary-smtp-password-7";
const THEIRS = "canary-their-secret-7";

/** One secret given as a plain string, one as a `pulumi.secret`. */
const program = ({ google = `clientId: "google-id", clientSecret: "${GOOGLE}",`, whitelist = "" } = {}): string => `
const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
new svc.OAuthProvider("google", { projectId, providerId: "google", adopt: true, ${google} });
new svc.OAuthProvider("github", { projectId, providerId: "github", adopt: true });
new svc.Whitelist("whitelist", { projectId, domains: ["https://app.example.com"] });
${whitelist}
new svc.EmailServer("email", {
  projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  password: pulumi.secret("${SMTP}"), senderEmail: "auth@example.com", senderName: "Demo",
});`;

const providers = (stack: Stack) => stack.service.list("/projects/prj-demo/auth/oauth_providers");

test("drift of the auth settings shows by name and is repaired; credentials that cannot be read included", async () => {
  const stack = await Stack.create({ program: program() });
  const { service } = stack;
  const before = await service.state();
  const edit = (kind: string, change: object) => service.edit({ kind, ...change });

  // The plan and the update have nothing to warn about.
  expect(await stack.run("up", "--yes")).toMatchObject({
    code: 0,
    text: expect.not.stringMatching(/takes over the whole list|is overwritten/),
  });
  expect(await providers(stack)).toEqual({
    providers: [
      { id: "google", type: "standard" },
      { id: "github", type: "shared" },
    ],
  });
  expect((await stack.resource("google")).inputs["clientSecret"]).toHaveProperty("ciphertext");
  expect((await stack.resource("email")).outputs["password"]).toHaveProperty("ciphertext");

  // The plan after a refresh shows it, and `up --refresh` repairs it.
  await edit("domain", { create: { domain: "https://foreign.example.com" } });
  await edit("email_server", { set: { host: "smtp.foreign.example.com", password: THEIRS } });
  await edit("oauth_provider", { id: "google", set: { type: "shared", client_id: null, client_secret: null } });
  await edit("oauth_provider", { id: "github", set: { type: "standard", client_id: "theirs", client_secret: THEIRS } });
  const drift = await stack.drift("--diff");
  expect(drift.code).toBe(7);
  for (const words of [
    /https:\/\/foreign\.example\.com/,
    /smtp\.foreign\.example\.com/,
    /\[secret\]/,
    /\(shared keys of the service: changed outside Pulumi\)/,
    /\(own credentials: changed outside Pulumi\)/,
    /replace/,
  ])
    expect(drift.text).toMatch(words);
  await service.clearRequests();
  expect(await stack.up("--refresh", "--diff")).toMatchObject({ code: 0 });
  expect(await service.list("/projects/prj-demo/auth/domains")).toMatchObject({
    domains: [{ domain: "https://app.example.com" }],
  });
  expect(await service.list("/projects/prj-demo/auth/email_server")).toMatchObject({ host: "smtp.example.com" });
  expect(await providers(stack)).toMatchObject({
    providers: expect.arrayContaining([
      { id: "google", type: "standard" },
      { id: "github", type: "shared" },
    ]),
  });
  // Own credentials became shared keys: repaired by a PATCH. Shared keys became own credentials: only a new provider is
  // without them.
  const providerChanges = (await service.requests())
    .filter(({ method, path }) => method !== "GET" && path.includes("/auth/oauth_providers"))
    .map(({ method, path }) => `${method} ${path.slice(path.indexOf("/auth/"))}`);
  expect(providerChanges.toSorted()).toEqual([
    "DELETE /auth/oauth_providers/github",
    "PATCH /auth/oauth_providers/google",
    "POST /auth/oauth_providers",
  ]);

  // A refresh that stores the drift leaves it to the next plain up. Here that one also drops both credentials: back to the
  // shared keys, as a replacement that the plan shows.
  await edit("oauth_provider", { id: "github", set: { type: "standard", client_id: "theirs", client_secret: THEIRS } });
  expect(await stack.refresh()).toMatchObject({ code: 0 });
  stack.program(program({ google: "" }));
  const plan = await stack.run("up", "--yes", "--diff");
  expect(plan.code).toBe(0);
  expect(plan.text).toMatch(/with the shared keys of the service: users cannot sign in/);
  expect(plan.text).not.toMatch(/no longer managed/);
  expect(await providers(stack)).toMatchObject({
    providers: expect.arrayContaining([
      { id: "github", type: "shared" },
      { id: "google", type: "shared" },
    ]),
  });

  stack.program(
    program({
      google: "",
      whitelist: 'new svc.WhitelistDomain("twin", { projectId, domain: "https://app.example.com", adopt: true });',
    }),
  );
  const both = await stack.preview();
  expect(both.code).not.toBe(0);
  expect(both.text).toMatch(/of this program declares the redirect domains of the same "projectId"/);
  stack.program(program({ google: "" }));

  // The owner and the address of the keys: no plan reports a change, a refresh stores it, and it stays drift until
  // somebody decides.
  const jwks = "https://attacker.example/jwks.json";
  await edit("integration", { set: { owned_by: "user", jwks_url: jwks } });
  const owner = { path: "ownedBy", declared: "svc", found: "user" };
  const byHand = {
    code: 7,
    report: { drift: [{ name: "auth", properties: [owner, { path: "jwksUrl", found: jwks }] }] },
  };
  expect(await driftReport(stack)).toMatchObject(byHand);
  expect(await stack.refresh()).toMatchObject({ code: 0 });
  expect(await driftReport(stack)).toMatchObject(byHand);
  const audit = await svc(stack, ["doctor", "--audit", "--json"]);
  expect(audit.code).toBe(10);
  for (const words of ["owner-changed", "keys-address-changed", "has them at attacker.example"])
    expect(audit.stdout).toContain(words);
  expect(await svc(stack, ["env"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      /AuthIntegration auth: had its public keys at .*, and now has them at attacker\.example/,
    ),
  });
  await service.clearRequests();
  expect(await svc(stack, ["drift", "--repair", "--yes"])).toMatchObject({
    code: 7,
    stdout: expect.stringMatching(/auth is left as it is: "ownedBy" is not an argument, so no update restores it/),
  });
  expect(await service.mutations()).toEqual([]);
  expect(await svc(stack, ["drift", "--accept", "--dry-run"])).toMatchObject({
    code: 7,
    stdout: expect.stringMatching(/AuthIntegration auth ownedBy .*pulumi-svc drift --ignore/),
  });
  expect(await svc(stack, ["drift", "--ignore", "auth", "--reason", "it was us"])).toMatchObject({ code: 0 });
  expect(await driftReport(stack)).toMatchObject({
    code: 0,
    report: { tolerated: [{ name: "auth" }, { name: "auth" }] },
  });
  expect(await svc(stack, ["env"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`AUTH_JWKS_URL=${jwks}`),
  });

  expect(await stack.leaks([GOOGLE, SMTP, THEIRS])).toEqual([]);
  expect(await stack.drift()).toMatchObject({ code: 0 });
  await stack.end(before);
});

test("50 redirect domains come and go on a service that allows 40 requests a second", async () => {
  const stack = await Stack.create({
    program: `
const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
for (let index = 0; index < 50; index += 1) {
  new svc.WhitelistDomain("domain" + index, { projectId, domain: "https://app" + index + ".example.com" });
}`,
    emulator: { ratePerSecond: 40 },
  });
  const { service } = stack;
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await service.list("/projects/prj-demo/auth/domains"))["domains"]).toHaveLength(50);
  expect(await stack.destroy("--parallel", "32")).toMatchObject({ code: 0 });
  expect((await service.state()).projects[0]).toMatchObject({ domains: [], integrations: [] });
});
