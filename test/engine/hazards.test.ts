import { Stack, type StoredResource } from "../support/Stack";

/** What broke a throw-away provider under the real engine (docs/design/engine.md), kept from coming back. */

test("a child of a replaced parent, with warnings in its diff, does not crash the CLI", async () => {
  const program = (database: string, size: number) => `
    const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "${database}" });
    new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: ${size} }, { parent: auth });`;
  const stack = await Stack.create({ program: program("one", 1) });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program("two", 2));
  const preview = await stack.preview();
  expect(preview.text).not.toMatch(/assertion has failed|panic/i);
  expect(preview.code).toBe(0);
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("a forced replacement deletes first, so that the branch is free for the new primary", async () => {
  const stack = await Stack.create({
    program: `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });`,
  });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { urn, id } = await stack.resource("api");
  expect(await stack.up("--replace", urn)).toMatchObject({ code: 0 });
  expect((await stack.resource("api")).id).not.toBe(id);
  await stack.finish(before);
});

test("a warning shows once in a phase, and not at all in a refresh", async () => {
  const program = (size: number) =>
    `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: ${size} });`;
  const stack = await Stack.create({ program: program(1) });
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program(2));
  const { stdout } = await stack.run("preview", "--json");
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { message: string }[] };
  expect(diagnostics.filter(({ message }) => message.includes('a change of "size" restarts'))).toHaveLength(1);
  const refreshed = await stack.refresh();
  expect(refreshed).toMatchObject({ code: 0 });
  expect(refreshed.text).not.toContain("warning");
  expect(await stack.destroy()).toMatchObject({ code: 0 });
});

test("a rename with an alias and a changed customTimeouts plan nothing", async () => {
  const program = (name: string, options: string) =>
    `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "br-dev", size: 1 }, { ${options} });`;
  const stack = await Stack.create({ program: program("api", "") });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program("renamed", 'aliases: [{ name: "api" }], customTimeouts: { delete: "5m" }'));
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("a refresh honours customTimeouts.read, and a state from before that has it plans nothing", async () => {
  const program = (options: string, size = 1) =>
    `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: ${size} }, { ${options} });`;
  const stack = await Stack.create({ program: program('customTimeouts: { read: "1m" }') });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  // Earlier versions took no "read" over.
  const exported = JSON.parse(await stack.exported()) as { deployment: { resources: StoredResource[] } };
  const stored = exported.deployment.resources.filter(({ urn }) => urn.endsWith("::api"));
  expect(stored.map(({ inputs, outputs }) => [inputs["__timeouts"], outputs["__timeouts"]])).toEqual([
    [{ read: 60 }, { read: 60 }],
  ]);
  for (const { inputs, outputs } of stored) inputs["__timeouts"] = outputs["__timeouts"] = {};
  stack.write("older.json", JSON.stringify(exported));
  expect(await stack.run("stack", "import", "--file", "older.json")).toMatchObject({ code: 0 });
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.drift()).toMatchObject({ code: 0 });
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.run("refresh", "--preview-only", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect((await stack.resource("api")).outputs).toMatchObject({ __timeouts: {} });
  // The next update brings the time to where a refresh finds it.
  stack.program(program('customTimeouts: { read: "2s" }', 2));
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.service.fault({ method: "GET", delayMs: 4_000, times: 0 });
  const slow = await stack.refresh();
  expect(slow.code).not.toBe(0);
  expect(slow.text).toMatch(/Could not read ComputeEndpoint .*\("api"\): no response within 2 s.*customTimeouts\.read/);
  expect((await stack.resource("api")).id).toBe(stored[0]?.id);
  stack.program(`
    const options = { customTimeouts: { read: "2s" } };
    ${program('customTimeouts: { read: "2s" }', 2)}
    svc.ComputeEndpoint.get("found", "${stored[0]?.id}", options);`);
  const looked = await stack.preview();
  expect(looked.code).not.toBe(0);
  expect(looked.text).toMatch(/Could not read ComputeEndpoint .*\("found"\): no response within 2 s/);
  await stack.service.clearFaults();
  stack.program(program('customTimeouts: { read: "2s" }', 2));
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

test("a key that stands in clear in the configuration is warned of, once", async () => {
  const stack = await Stack.create({
    program: `
      for (const branchId of ["br-dev", "br-test"]) new svc.ComputeEndpoint(branchId, { projectId: "prj-demo", branchId });`,
  });
  const words = /svc:apiKey is stored in plain text in the stack's configuration/;
  expect((await stack.preview()).text).not.toMatch(words);
  await stack.config("svc:apiKey", stack.service.emulator.apiKey);
  const { diagnostics } = JSON.parse((await stack.run("preview", "--json")).stdout) as {
    diagnostics: { message: string }[];
  };
  expect(diagnostics.filter(({ message }) => words.test(message))).toHaveLength(1);
});
