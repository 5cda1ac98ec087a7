import { Stack } from "../support/Stack";

/** The objects that must not change while resources change hands; an adoption creates new keys. */
async function objectsAtService({ service }: Stack): Promise<object> {
  const auth = "/projects/prj-demo/auth";
  const ids = (await service.endpoints()).map(({ id }) => id);
  const routes = ["integrations", "oauth_providers", "domains", "email_server"];
  return { ids, lists: await Promise.all(routes.map((route) => service.list(`${auth}/${route}`))) };
}

const names = (stack: Stack) => stack.resources().then((all) => all.map(({ urn }) => urn.split("::").at(-1)).sort());

test("what a renamed resource takes over is kept when the old name goes, and the plan after it is empty", async () => {
  const program = (mark: string, adopt: string) => `
    const auth = new svc.AuthIntegration("auth${mark}", { projectId: "prj-demo" ${adopt} });
    const { projectId } = auth;
    new svc.OAuthProvider("github${mark}", { projectId, providerId: "github", clientId: "id", clientSecret: "s3cret-0123", adopt: true });
    new svc.EmailServer("mail${mark}", { projectId, type: "standard", host: "smtp.example.com", port: 587, username: "u",
      password: "p4ssword-0123", senderEmail: "a@example.com", senderName: "A" });
    new svc.Whitelist("list${mark}", { projectId, domains: ["https://a.example.com", "https://b.example.com"] });
    new svc.ComputeEndpoint("api${mark}", { projectId: "prj-demo", branchId: "br-dev", size: 1 ${adopt} });`;
  const stack = await Stack.create({ program: program("", "") });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const made = await objectsAtService(stack);

  stack.program(program("-2", ", adopt: true"));
  const handedOver = await stack.up();
  expect(handedOver).toMatchObject({ code: 0 });
  expect(handedOver.text).toMatch(
    /ComputeEndpoint prj-demo\/ep-\S+ is not deleted: "api-2" of this program manages it now/,
  );
  expect(handedOver.text).toContain(
    'AuthIntegration prj-demo/supported_provider is not deleted: "auth-2" of this program manages it now',
  );
  expect(await objectsAtService(stack)).toEqual(made);
  expect(await names(stack)).toEqual(["api-2", "auth-2", "github-2", "list-2", "mail-2"]);
  await stack.finish(before);
});

test("redirect domains change from one form to the other without leaving the list", async () => {
  const auth = 'const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });';
  const origins = ["https://a.example.com", "https://b.example.com"];
  const list = `new svc.Whitelist("list", { projectId, domains: ${JSON.stringify(origins)} });`;
  const single = `for (const domain of ${JSON.stringify(origins)}) new svc.WhitelistDomain(domain, { projectId, domain, adopt: true });`;
  const stack = await Stack.create({ program: `${auth} ${list}` });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const made = await objectsAtService(stack);
  for (const form of [single, list]) {
    stack.program(`${auth} ${form}`);
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await objectsAtService(stack)).toEqual(made);
  }
  await stack.finish(before);
});
