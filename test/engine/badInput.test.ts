import { Stack } from "../support/Stack";

const CANARY = "canary-value-in-an-argument";

test("bad input gives one message with all problems of a resource, names no string value and sends nothing", async () => {
  const stack = await Stack.create({
    program: `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "${CANARY}", size: 17.5, scaleToZero: { afterSeconds: 5 }, poolerMode: "${CANARY}" });`,
  });
  const { service } = stack;
  for (const run of [await stack.preview(), await stack.up()]) {
    expect(run.code).not.toBe(0);
    expect(run.text).toMatch(/branchId: must be the id of a branch/);
    expect(run.text).toMatch(/size: 17\.5 CU is not a size of the service/);
    expect(run.text).toMatch(/scaleToZero\.afterSeconds: must be at least 60 seconds/);
    expect(run.text).toMatch(/poolerMode: must be "transaction"/);
    expect(run.text).not.toContain(CANARY);
  }

  stack.program(
    `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: { min: 4, max: 2 } });`,
  );
  expect((await stack.preview()).text).toMatch(/size\.min: min must not be larger than max/);

  await stack.config("svc:baseUrl", "api.example.com/v2");
  await stack.removeConfig("svc:apiKey");
  const settings = await stack.preview();
  expect(settings.text).toMatch(/size\.min: min must not be larger than max/);
  expect(settings.text).toMatch(/no API key: .*svc:apiKey.*SVC_API_KEY/);
  expect(settings.text).toMatch(/svc:baseUrl \(or SVC_BASE_URL\) must begin with https:\/\//);
  expect(settings.text).not.toContain("api.example.com");
  expect(await service.requests()).toEqual([]);
});

test("a number that `pulumi config set --path` stores as a string is shown, and the commands of the message give it its type", async () => {
  const stack = await Stack.create({
    program: `
      const { min } = new pulumi.Config().requireObject("size");
      new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: { min, max: 2 } });`,
  });
  expect(await stack.run("config", "set", "--path", "size.min", "0.25")).toMatchObject({ code: 0 });
  const { text } = await stack.preview();
  const [said = ""] = /size\.min: must be a number .*, not the string "0\.25"\. .*/.exec(text) ?? [text];
  const [remove, set] = [...said.matchAll(/`pulumi (.*?)`/g)].map(([, command = ""]) => command.split(" "));
  expect([remove, set]).toEqual([
    ["config", "rm", "--path"],
    ["config", "set", "--path", "--type", "float"],
  ]);
  expect(await stack.run(...(remove ?? []), "size.min")).toMatchObject({ code: 0 });
  expect(await stack.run(...(set ?? []), "size.min", "0.25")).toMatchObject({ code: 0 });
  expect(await stack.preview()).toMatchObject({ code: 0 });
});

test("an argument that a stack transformation adds is named, with where it may come from", async () => {
  const stack = await Stack.create({
    program: `
      pulumi.runtime.registerStackTransformation((args) => ({ props: { ...args.props, tags: { team: "x" } }, opts: args.opts }));
      new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev" });`,
  });
  const run = await stack.preview();
  expect(run.code).not.toBe(0);
  expect(run.text).toMatch(/tags: is not an argument of ComputeEndpoint.*transformation/);
});

test("a misspelt name is refused in the plan with what was meant, wherever it stands, and nothing is sent", async () => {
  const base = 'projectId: "prj-demo", branchId: "br-dev"';
  const stack = await Stack.create({
    program: `new svc.ComputeEndpoint("api", { ${base}, sise: "${CANARY}", settings: { pgSetings: { x: "${CANARY}" } } });`,
  });
  for (const run of [await stack.preview(), await stack.up()]) {
    expect(run.code).not.toBe(0);
    expect(run.text).toMatch(/sise: unknown property\. Did you mean "size"\?/);
    expect(run.text).toMatch(/settings\.pgSetings: unknown property\. Did you mean "pgSettings"\?/);
    expect(run.text).not.toContain(CANARY);
  }
  stack.program(`new svc.ComputeEndpoint("api", pulumi.output({ ${base}, nmae: pulumi.secret("${CANARY}") }));`);
  const lifted = await stack.preview();
  expect(lifted.text).toMatch(/nmae: unknown property\. Did you mean "name"\?/);
  expect(lifted.text).not.toContain(CANARY);
  stack.program(
    `new svc.ProjectAuth("auth", { projectId: "prj-demo", oauth: { google: { client_id: "${CANARY}" } } });`,
  );
  const component = await stack.preview();
  expect(component.code).not.toBe(0);
  expect(component.text).toMatch(/oauth\.google\.client_id: unknown property\. Did you mean "clientId"\?/);
  expect(await stack.service.requests()).toEqual([]);
});
