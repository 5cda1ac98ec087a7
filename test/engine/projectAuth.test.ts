import { Stack } from "../support/Stack";

const CANARIES = ["canary-google-secret-1", "canary-smtp-password-1"];

const ORIGINS = ["https://app.example.com", "http://localhost:3000"];

const program = (more: string) => `
const auth = new svc.ProjectAuth("auth", {
  projectId: "prj-demo",
  ${more}
  oauth: { google: { clientId: "google-id", clientSecret: "${CANARIES[0]}" }, github: "shared" },
  redirectDomains: ${JSON.stringify(ORIGINS)},
  email: {
    type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
    password: pulumi.secret("${CANARIES[1]}"), senderEmail: "noreply@example.com", senderName: "Demo",
  },
});
const user = new svc.AuthUser("user", { projectId: auth.integration.projectId, email: "someone@example.com" });
const keys = new svc.AuthKeys("keys", { projectId: auth.integration.projectId });
exports.jwksUrl = auth.integration.jwksUrl;
exports.branch = svc.getDefaultBranchOutput({ projectId: "prj-demo" }).branchId;`;

/** Replaces the default branch and database: this replaces the integration. */
const OTHER = 'branchId: "br-dev", databaseName: "other",';

const AUTH = "/projects/prj-demo/auth";

/** The program's objects, by the service's lists. */
async function objectsAtService({ service }: Stack): Promise<object> {
  const { users } = (await service.state()).projects[0] ?? {};
  const [integrations, providers, domains, email] = await Promise.all([
    service.list(`${AUTH}/integrations`),
    service.list(`${AUTH}/oauth_providers`),
    service.list(`${AUTH}/domains`),
    service.list(`${AUTH}/email_server`),
  ]);
  return { ...integrations, ...providers, ...domains, email, users };
}

const complete = (branch: string) => ({
  data: [{ branch_id: branch }],
  providers: expect.arrayContaining([
    { id: "google", type: "standard" },
    { id: "github", type: "shared" },
  ]),
  domains: expect.arrayContaining([
    expect.objectContaining({ domain: "https://app.example.com" }),
    expect.objectContaining({ domain: "http://localhost:3000" }),
  ]),
  email: { type: "standard", host: "smtp.example.com", port: 587 },
  users: [{ email: "someone@example.com" }],
});

test("a whole auth set-up comes in one up, again after it was deleted by hand, and again with a replaced integration", async () => {
  const stack = await Stack.create({ program: program("") });
  const { service } = stack;
  const before = await service.state();

  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await objectsAtService(stack)).toMatchObject(complete("br-main"));
  expect(await stack.outputs()).toMatchObject({ branch: "br-main" });
  expect(await stack.leaks(CANARIES)).toEqual([]);
  await service.clearRequests();
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([]);

  // Everything of it that was deleted by hand is planned again, and a destroy of nothing succeeds.
  await service.edit({ kind: "integration", id: "supported_provider", delete: true });
  const drift = await stack.drift();
  expect(drift.code).toBe(7);
  expect(drift.text).toMatch(/\+ 8 to create/);
  expect(await stack.destroy()).toMatchObject({ code: 0 });
  expect(await stack.resources()).toEqual([]);

  // A replaced integration brings everything back, as the preview said.
  expect(await stack.up()).toMatchObject({ code: 0 });
  await service.edit({ kind: "branch", id: "br-main", set: { default: false } });
  await service.edit({ kind: "branch", id: "br-dev", set: { default: true } });
  stack.program(program(OTHER));
  const plan = await stack.preview();
  // The integration, two providers, two domains, the e-mail server, the user and the keys.
  expect(plan.text).toMatch(/\+-8 to replace/);
  expect(plan.text).toMatch(
    /AuthIntegration .* is replaced, because .*: it is deleted and created again: all of its users and keys are lost/,
  );
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await objectsAtService(stack)).toMatchObject(complete("br-dev"));
  expect(await stack.leaks(CANARIES)).toEqual([]);

  // The redirect domains become one exclusive list and single ones again, while nobody is locked out for a moment.
  const made = await service.list(`${AUTH}/domains`);
  // Made side by side, in whatever order.
  expect(made["domains"]).toHaveLength(2);
  expect(made["domains"]).toEqual(
    expect.arrayContaining(ORIGINS.map((domain) => expect.objectContaining({ domain }) as object)),
  );
  await service.clearRequests();
  const domainKinds = async () =>
    (await stack.resources()).map(({ type }) => type.split(":").at(-1)).filter((kind) => kind?.startsWith("Whitelist"));
  stack.program(program(`${OTHER} exclusiveDomains: true,`));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await service.list(`${AUTH}/domains`)).toEqual(made);
  expect(await domainKinds()).toEqual(["Whitelist"]);
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.drift()).toMatchObject({ code: 0 });
  stack.program(program(`${OTHER} exclusiveDomains: false,`));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await service.list(`${AUTH}/domains`)).toEqual(made);
  expect(await domainKinds()).toEqual(["WhitelistDomain", "WhitelistDomain"]);
  expect(await service.mutations()).toEqual([]);
  await stack.finish(before);
});
