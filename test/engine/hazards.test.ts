import { Stack, type StoredResource } from "../support/Stack";

/** Hazards that broke a prototype provider with the real engine (docs/design/engine.md). */

const KEY_IN_CLEAR = /svc:apiKey is stored in plain text in the stack's configuration/;

test("a child of a replaced parent, a forced replacement, a rename and customTimeouts.read, in the life of one stack", async () => {
  const program = (database: string, size: number, options: string, name = "api") => `
    const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "${database}" });
    new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "br-dev", size: ${size} }, { parent: auth, ${options} });`;
  const stack = await Stack.create({ program: program("one", 1, 'customTimeouts: { read: "1m" }') });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });

  // A state of an earlier version, which took no "read" over, plans nothing, and stays as it is.
  const exported = JSON.parse(await stack.exported()) as { deployment: { resources: StoredResource[] } };
  const stored = exported.deployment.resources.filter(({ urn }) => urn.endsWith("::api"));
  expect(stored.map(({ inputs, outputs }) => [inputs["__timeouts"], outputs["__timeouts"]])).toEqual([
    [{ read: 60 }, { read: 60 }],
  ]);
  for (const { inputs, outputs } of stored) inputs["__timeouts"] = outputs["__timeouts"] = {};
  stack.write("older.json", JSON.stringify(exported));
  expect(await stack.run("stack", "import", "--file", "older.json")).toMatchObject({ code: 0 });
  expect(await stack.drift()).toMatchObject({ code: 0 });
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.run("refresh", "--preview-only", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect((await stack.resource("api")).outputs).toMatchObject({ __timeouts: {} });

  // A child of a replaced parent, with a warning in its diff, does not crash the CLI. The warning shows once in a phase.
  const shorter = 'customTimeouts: { read: "2s" }';
  stack.program(program("two", 2, shorter));
  const preview = await stack.preview("--json");
  expect(preview.text).not.toMatch(/assertion has failed|panic/i);
  expect(preview.code).toBe(0);
  const { diagnostics } = JSON.parse(preview.stdout) as { diagnostics: { message: string }[] };
  expect(diagnostics.filter(({ message }) => message.includes('a change of "size" restarts'))).toHaveLength(1);

  // In a refresh no warning shows, also for what somebody has changed by hand.
  const [, endpointId] = (await stack.resource("api")).id.split("/");
  await stack.service.edit({ kind: "endpoint", id: endpointId, set: { autoscaling_limit_max_cu: 4 } });
  const refreshed = await stack.refresh();
  expect(refreshed).toMatchObject({ code: 0 });
  expect(refreshed.text).not.toContain("warning");

  // The update brings customTimeouts.read to where a refresh finds it.
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { urn, id } = await stack.resource("api");
  expect(id).toBe(stored[0]?.id);
  await stack.service.fault({ method: "GET", delayMs: 4_000, times: 0 });
  const slow = await stack.refresh();
  expect(slow.code).not.toBe(0);
  expect(slow.text).toMatch(/Could not read ComputeEndpoint .*\("api"\): no response within 2 s.*customTimeouts\.read/);
  expect((await stack.resource("api")).id).toBe(id);
  stack.program(`
    const options = { ${shorter} };
    ${program("two", 2, shorter)}
    svc.ComputeEndpoint.get("found", "${id}", options);`);
  const looked = await stack.preview();
  expect(looked.code).not.toBe(0);
  expect(looked.text).toMatch(/Could not read ComputeEndpoint .*\("found"\): no response within 2 s/);
  await stack.service.clearFaults();

  // A forced replacement deletes first if the program says so, so that the branch is free for the new primary.
  stack.program(program("two", 2, `${shorter}, deleteBeforeReplace: true`));
  expect(await stack.up("--replace", urn)).toMatchObject({ code: 0 });
  expect((await stack.resource("api")).id).not.toBe(id);

  // A rename with an alias and a changed customTimeouts plan nothing.
  stack.program(program("two", 2, 'aliases: [{ name: "api" }], customTimeouts: { delete: "5m" }', "renamed"));
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  // Its key is encrypted in the configuration.
  expect(stack.said).not.toMatch(KEY_IN_CLEAR);
  await stack.finish(before);
});

test("an explicit provider for each account, and one that takes the rest from the configuration", async () => {
  const stack = await Stack.create({
    program: `
      const one = new svc.Provider("one", { apiKey: process.env.KEY_ONE, baseUrl: process.env.URL_ONE });
      const two = new svc.Provider("two");
      new svc.ComputeEndpoint("a", { projectId: "prj-demo", branchId: "br-dev", size: 1 }, { provider: one });
      new svc.ComputeEndpoint("b", { projectId: "prj-demo", branchId: "br-test", size: 1 }, { provider: two });`,
  });
  const other = await Stack.create({ program: "" });
  const before = await stack.service.state();
  stack.env["KEY_ONE"] = other.service.emulator.apiKey;
  stack.env["URL_ONE"] = other.service.emulator.baseUrl;
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.service.endpoints()).map(({ branch_id }) => branch_id)).toEqual(["br-main", "br-test"]);
  expect((await other.service.endpoints()).map(({ branch_id }) => branch_id)).toEqual(["br-main", "br-dev"]);
  expect(await stack.leaks([other.service.emulator.apiKey])).toEqual([]);
  await stack.finish(before);
  expect((await other.service.endpoints()).map(({ branch_id }) => branch_id)).toEqual(["br-main"]);
});

test("a component gives its Provider to the program's own dynamic resources too, whose configure sees no configuration", async () => {
  const program = (providers: string, provider = ""): string => `
    class Own extends pulumi.dynamic.Resource {
      constructor(name, opts) { super({
        async configure({ config }) { this.greeting = config.get("proj:greeting") ?? "none"; },
        async create() { return { id: "1", outs: { greeting: this.greeting } }; },
      }, name, { greeting: undefined }, opts); }
    }
    class Group extends pulumi.ComponentResource {
      constructor(name, opts) {
        super("my:index:Group", name, {}, opts);
        new svc.ComputeEndpoint(name + "-api", { projectId: "prj-demo", branchId: "br-dev", size: 1 }, { parent: this ${provider} });
        this.greeting = new Own(name + "-own", { parent: this }).greeting;
      }
    }
    const account = new svc.Provider("account");
    exports.greeting = new Group("group", { ${providers} }).greeting;`;
  const stack = await Stack.create({ program: "" });
  await stack.config("greeting", "hello");
  const key = /provider resource map where key svc doesn't match provider/;
  const greeted = async (providers: string, provider = "") => {
    stack.program(program(providers, provider));
    const { code, text } = await stack.up();
    const { greeting } = await stack.outputs();
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    return { code, greeting, isKeyWrong: key.test(text) };
  };
  expect(await greeted("providers: [account]")).toEqual({ code: 0, greeting: "none", isKeyWrong: false });
  expect(await greeted("providers: { svc: account }")).toMatchObject({ code: 0, isKeyWrong: true });
  expect(await greeted('providers: { "pulumi-nodejs": account }')).toMatchObject({ code: 0, isKeyWrong: false });
  expect(await greeted("", ", provider: account")).toEqual({ code: 0, greeting: "hello", isKeyWrong: false });
});

test("a key that stands in plain text in the configuration is warned of, once", async () => {
  const stack = await Stack.create({
    program: `
      for (const branchId of ["br-dev", "br-test"]) new svc.ComputeEndpoint(branchId, { projectId: "prj-demo", branchId });`,
  });
  await stack.config("svc:apiKey", stack.service.emulator.apiKey);
  await stack.config("svc:strictplan", "true");
  const { diagnostics } = JSON.parse((await stack.run("preview", "--json")).stdout) as {
    diagnostics: { message: string }[];
  };
  for (const words of [KEY_IN_CLEAR, /svc:strictplan \(did you mean svc:strictPlan\?\)/])
    expect(diagnostics.filter(({ message }) => words.test(message))).toHaveLength(1);
});

test("outs without a pointer are updated by a plan that shows it, and refresh and destroy work after that", async () => {
  const stack = await Stack.create({
    program: `
      const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
      new svc.AuthUser("user", { projectId, email: "a@example.com" });
      new svc.WhitelistDomain("domain", { projectId, domain: "https://app.example.com" });
      new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });`,
  });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });

  // As the state is after an alias from a type of another provider.
  const exported = JSON.parse(await stack.exported()) as { deployment: { resources: StoredResource[] } };
  for (const { type, inputs, outputs } of exported.deployment.resources) {
    if (!type.includes("dynamic/svc:")) continue;
    delete inputs["__provider"];
    delete outputs["__provider"];
  }
  stack.write("pointerless.json", JSON.stringify(exported));
  expect(await stack.run("stack", "import", "--file", "pointerless.json")).toMatchObject({ code: 0 });

  await stack.service.clearRequests();
  expect((await stack.preview()).stdout).toMatch(/~ 4 to update/);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
  expect(await stack.refresh()).toMatchObject({ code: 0 });
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  await stack.finish(before);
});
