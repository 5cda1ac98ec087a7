/** Attacks on rules 4 and 5 with the real engine. */
import { Stack } from "../support/Stack";

const AUTH = 'const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });';

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
