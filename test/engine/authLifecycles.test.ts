import { Stack } from "../support/Stack";

const GOOGLE = "canary-google-secret-9";
const SMTP = "canary-smtp-password-9";
const AUTH = "/projects/prj-demo/auth";

/** One resource of each kind, with every argument that the service can show. */
const program = (round: number) => `
const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo", branchId: "br-main", databaseName: "shop" });
new svc.AuthKeys("keys", { projectId, rotationTriggers: [${round}] });
new svc.AuthUser("user", { projectId, email: "user${round}@example.com", name: "Someone" });
const transfer = new svc.AuthOwnershipTransfer("transfer", { projectId, triggers: [${round}] });
new svc.OAuthProvider("google", { projectId, providerId: "google", clientId: "google-id", clientSecret: "${GOOGLE}", adopt: true });
new svc.WhitelistDomain("domain", { projectId, domain: "https://app.example.com" });
new svc.EmailServer("email", {
  projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  password: pulumi.secret("${SMTP}"), senderEmail: "auth@example.com", senderName: "Demo",
});
exports.transferUrl = transfer.url;`;

const EMAIL_SERVER = {
  type: "standard",
  host: "smtp.example.com",
  port: 587,
  username: "mailer",
  sender_email: "auth@example.com",
  sender_name: "Demo",
};

/** The URL for the second step of the transfer, as a user sees it. */
const transferUrl = async (stack: Stack) => String((await stack.outputs())["transferUrl"]);

test("each auth resource is created, left alone, found drifted in every argument that can be read, repaired, rotated and destroyed", async () => {
  const stack = await Stack.create({ program: program(1) });
  const { service } = stack;
  const before = await service.state();
  const repairedSettings = async () => {
    expect(await service.list(`${AUTH}/email_server`)).toMatchObject(EMAIL_SERVER);
    expect(await service.list(`${AUTH}/domains`)).toMatchObject({ domains: [{ domain: "https://app.example.com" }] });
  };

  expect(await stack.up()).toMatchObject({ code: 0 });
  await repairedSettings();
  const urls = [await transferUrl(stack)];
  await service.clearRequests();
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([]);

  const edited = {
    host: "smtp.foreign.example.com",
    port: 2525,
    username: "foreigner",
    sender_email: "foreign@example.com",
    sender_name: "Foreign",
  };
  await service.edit({ kind: "email_server", set: edited });
  await service.edit({ kind: "domain", id: "https://app.example.com", delete: true });
  // No list shows either: what cannot be read does not drift.
  await service.edit({ kind: "oauth_provider", id: "google", set: { client_id: "foreign-id" } });
  await service.edit({ kind: "user", set: { name: "Foreigner" } });
  const drift = await stack.drift("--diff");
  expect(drift.code).toBe(7);
  expect(drift.text).toMatch(/~ host\s*: "smtp\.foreign\.example\.com" => "smtp\.example\.com"/);
  expect(drift.text).toMatch(/~ port\s*: 2525 => 587/);
  expect(drift.text).toMatch(/~ username\s*: "foreigner" => "mailer"/);
  expect(drift.text).toMatch(/~ senderEmail\s*: "foreign@example\.com" => "auth@example\.com"/);
  expect(drift.text).toMatch(/~ senderName\s*: "Foreign" => "Demo"/);
  expect(drift.text).toMatch(/\+ 1 to create\s+~ 1 to update\s/);
  expect(drift.text).not.toMatch(/foreign-id|Foreigner/);
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  await repairedSettings();

  // The type alone drifts, in the same plan as a rotation, another address of the user and another transfer.
  await service.edit({ kind: "email_server", set: { type: "shared" } });
  stack.program(program(2));
  const plan = await stack.preview("--refresh", "--diff");
  expect(plan.text).toMatch(/~ type\s*: "shared" => "standard"/);
  expect(plan.text).toMatch(
    /warning: AuthKeys prj-demo\/\S+ \("\w+"\) is replaced, because "rotationTriggers" changes: a new key set is created; the service cannot revoke keys: the old keys stay valid/,
  );
  expect(plan.text).toMatch(
    /warning: AuthUser prj-demo\/\S+ \("\w+"\) is replaced, because .*: the new user, with another id, is created, and then the old one is deleted/,
  );
  const [oldKeys, oldUser] = [await stack.resource("keys"), await stack.resource("user")];
  await service.clearRequests();
  const rotation = await stack.up("--refresh");
  expect(rotation).toMatchObject({ code: 0 });
  await repairedSettings();

  const mutations = await service.mutations();
  expect([...mutations].sort()).toEqual([
    "DELETE /projects/{project_id}/auth/users/{auth_user_id}",
    "PATCH /projects/{project_id}/auth/email_server",
    "POST /projects/auth/keys",
    "POST /projects/auth/transfer_ownership",
    "POST /projects/auth/user",
  ]);
  // The address of the new one might have been taken.
  expect(mutations.filter((request) => request.includes("/user"))).toEqual([
    "POST /projects/auth/user",
    "DELETE /projects/{project_id}/auth/users/{auth_user_id}",
  ]);
  // The new set was there before the old one was forgotten; nothing is deleted for it (see the requests above).
  expect(rotation.text).toMatch(/AuthKeys keys created replacement[^]*AuthKeys keys deleting original/);
  expect(rotation.text).not.toMatch(/AuthKeys keys deleting original[^]*AuthKeys keys created replacement/);
  const [keys, user] = [await stack.resource("keys"), await stack.resource("user")];
  expect(keys.id).not.toBe(oldKeys.id);
  expect(user.id).not.toBe(oldUser.id);
  expect((await service.state()).projects[0]).toMatchObject({ users: [{ email: "user2@example.com" }] });

  urls.push(await transferUrl(stack));
  expect(new Set(urls).size).toBe(2);
  const tokens = urls.map((url) => url.split("/").at(-1) ?? "");
  for (const token of tokens) expect(token.length).toBeGreaterThan(10);
  expect(await stack.leaks([...urls, ...tokens, GOOGLE, SMTP])).toEqual([]);
  await stack.finish(before);
});

test("an integration that stands on another branch and database than declared is found by name, and replaced", async () => {
  const stack = await Stack.create({
    program: `new svc.AuthIntegration("auth", { projectId: "prj-demo", branchId: "br-main", databaseName: "shop" });`,
  });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  await service.edit({ kind: "integration", set: { branch_id: "br-test", db_name: "foreign" } });
  const drift = await stack.drift("--diff");
  expect(drift.code).toBe(7);
  expect(drift.text).toMatch(/~ branchId\s*: "br-test" => "br-main"/);
  expect(drift.text).toMatch(/~ databaseName\s*: "foreign" => "shop"/);
  expect(drift.text).toMatch(/\+-1 to replace/);
  await service.clearRequests();
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([
    "DELETE /projects/{project_id}/auth/integration/{auth_provider}",
    "POST /projects/auth/create",
  ]);
  expect(await service.list(`${AUTH}/integrations`)).toMatchObject({
    data: [{ branch_id: "br-main", db_name: "shop" }],
  });
  await stack.finish(before);
});

test("a child whose transformation hides its dependency is replaced with its integration, and the plan says so", async () => {
  const programWith = (databaseName: string, options = "") => `
const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo", branchId: "br-main", databaseName: "${databaseName}" }, { ${options} });
const transforms = [({ props, opts }) => ({ props, opts })];
new svc.OAuthProvider("gitlab", { projectId, providerId: "gitlab", clientId: "id", clientSecret: "${GOOGLE}" }, { transforms });`;
  const stack = await Stack.create({ program: programWith("shop") });
  const { service } = stack;
  const before = await service.state();
  const changes = [
    "DELETE /projects/{project_id}/auth/integration/{auth_provider}",
    "POST /projects/auth/create",
    "POST /projects/{project_id}/auth/oauth_providers",
  ];
  const said = /warning: OAuthProvider prj-demo\/\S+ \("gitlab"\) is replaced, because its integration is replaced: /;
  expect(await stack.up()).toMatchObject({ code: 0 });

  stack.program(programWith("other"));
  const plan = await stack.preview();
  expect(plan.text).toMatch(said);
  expect(plan.text).toMatch(/\+-2 to replace/);
  await service.clearRequests();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual(changes);

  // The engine asks nobody whether it is replaced, so a plan cannot know.
  const { urn } = await stack.resource("auth");
  expect(await stack.run("state", "taint", urn, "--yes")).toMatchObject({ code: 0 });
  stack.program(programWith("other", "deleteBeforeReplace: true"));
  await service.clearRequests();
  const again = await stack.up();
  expect(again).toMatchObject({ code: 0 });
  expect(again.text).toMatch(said);
  expect(await service.mutations()).toEqual(changes);
  expect(await stack.preview("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  await stack.finish(before);
});
