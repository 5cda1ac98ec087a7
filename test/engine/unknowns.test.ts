import { Stack } from "../support/Stack";

const program = (database: string, args = "") => `
  const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "${database}" });
  const same = (value) => auth.createdAt.apply(() => value);
  new svc.ComputeEndpoint("api", {
    projectId: same("prj-demo"), branchId: same("br-dev"), regionId: same("aws-us-east-1"),
    size: { min: 1, max: same(2) }, settings: { pgSettings: { work_mem: same("64MB") } } ${args}
  });`;

test("values that are not known yet pass a preview, which only reads; they are checked once known", async () => {
  const stack = await Stack.create({ program: program("one") });
  const { service } = stack;
  const before = await service.state();
  const preview = await stack.preview();
  expect(preview).toMatchObject({ code: 0 });
  expect(preview.text).toMatch(/2 to create|3 to create/);
  // The output of the integration, whose project is known.
  expect((await service.requests()).map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    "GET /projects/prj-demo/auth/integrations",
    "GET /projects/prj-demo/branches",
  ]);

  expect(await stack.up()).toMatchObject({ code: 0 });
  const { id } = await stack.resource("api");

  // While the integration is replaced everything that depends on it is unknown, its values stay what they are.
  stack.program(program("two"));
  await service.clearRequests();
  expect(await stack.preview()).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([]);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.resource("api")).id).toBe(id);
  expect(await service.mutations()).toEqual([
    "DELETE /projects/{project_id}/auth/integration/{auth_provider}",
    "POST /projects/auth/create",
  ]);

  stack.program(program("two", ', name: same("x".repeat(65))'));
  const refused = await stack.up();
  expect(refused.code).not.toBe(0);
  expect(refused.text).toMatch(/name: must have 1 to 64 characters/);
  stack.program(program("two"));
  await stack.finish(before);
});

test("each argument of an integration replaces it, and the preview says what is lost", async () => {
  const declared = { projectId: "prj-demo", branchId: "br-main", databaseName: "svcdb", roleName: "svcdb_owner" };
  const text = (changes: object) => `new svc.AuthIntegration("auth", ${JSON.stringify({ ...declared, ...changes })});`;
  const stack = await Stack.create({ program: text({}) });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  for (const [changes, order] of [
    [{ projectId: "prj-other" }, "the new one is created, and then it is deleted"],
    // To a branch that is not the default one it would be refused.
    [{ databaseName: "other" }, "it is deleted and created again"],
    [{ roleName: "other" }, "it is deleted and created again"],
    [{ authProvider: "another" }, "the new one is created, and then it is deleted"],
  ] as const) {
    stack.program(text(changes));
    const { stdout } = await stack.run("preview", "--json");
    const { steps, diagnostics } = JSON.parse(stdout) as {
      steps: { op: string; urn: string }[];
      diagnostics: { message: string }[];
    };
    const ops = steps.filter(({ urn }) => urn.endsWith("::auth")).map(({ op }) => op);
    expect([changes, ops]).toEqual([changes, ["replace"]]);
    expect(diagnostics.map(({ message }) => message).join("\n")).toContain(
      `AuthIntegration prj-demo/supported_provider ("auth") is replaced, because "${Object.keys(changes).join()}" changes: ${order}: all of its users and keys are lost`,
    );
  }
  stack.program(text({}));
  await stack.finish(before);
});
