/** Attacks on rules 4 and 5 with the real engine. */
import { Stack } from "./Stack";

const AUTH = 'const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });';
const domain = (name: string, letter: string, more = "") =>
  `new svc.WhitelistDomain("${name}", { projectId: auth.projectId, domain: "https://${letter}.example.com", adopt: true }${more});`;

test("--replace and a taint: the plan says what is lost, and that the children come back", async () => {
  const stack = await Stack.create({ program: AUTH + domain("a", "a") });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { urn } = await stack.resource("auth");
  await stack.service.clearRequests();
  const forced = await stack.preview("--replace", urn);
  expect(forced.text).toMatch(/is replaced, .*all of its users and keys are lost/);
  await stack.run("state", "taint", urn, "--yes");
  const tainted = await stack.preview();
  expect(tainted.text).toMatch(/is replaced, .*all of its users and keys are lost/);
  expect(await stack.service.mutations()).toEqual([]);
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("a child that an alias has renamed long ago comes back when its integration is replaced", async () => {
  const program = (name: string, databaseName: string, more = "") => `
    const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "${databaseName}" });
    new svc.OAuthProvider("${name}", { projectId: auth.projectId, providerId: "google", adopt: true }${more});`;
  const aliased = ', { aliases: [{ name: "old" }] }';
  const stack = await Stack.create({ program: program("old", "one") });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program("new", "one", aliased));
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program("new", "two", aliased));
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("a Whitelist whose domains depend on something new is planned", async () => {
  const list = (domains: string) => `new svc.Whitelist("list", { projectId: auth.projectId, domains: ${domains} });`;
  const stack = await Stack.create({ program: AUTH + list('["https://a.example.com"]') });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const api = 'const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev" });';
  stack.program(AUTH + api + list('api.host.apply((host) => ["https://" + host])'));
  expect(await stack.preview()).toMatchObject({ code: 0 });
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("two providers on one account: an object that both declare is refused, or at least stays for the one", async () => {
  const provider = (name: string) => `const ${name} = new svc.Provider("${name}");`;
  const both = AUTH + provider("one") + provider("two") + domain("x", "a", ", { provider: one }");
  const stack = await Stack.create({ program: both + domain("y", "a", ", { provider: two }") });
  const first = await stack.up();
  stack.program(both);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect([first.code, (await stack.drift()).code]).not.toEqual([0, 7]);
});
