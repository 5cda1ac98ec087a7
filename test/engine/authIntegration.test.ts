import { Stack } from "../support/Stack";

const program = (args: string) =>
  `const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", ${args} });
   exports.key = auth.secretServerKey;`;

test("an integration is created on the default branch, its key kept secret, missed when deleted by hand, replaced where the new one is taken, and destroyed", async () => {
  const stack = await Stack.create({ program: program("") });
  const { service } = stack;
  const before = await service.state();

  expect(await stack.up()).toMatchObject({ code: 0 });
  const created = await stack.resource("auth");
  expect(created.id).toBe("prj-demo/supported_provider");
  expect(created.outputs).toMatchObject({
    branchId: "br-main",
    databaseName: "svcdb",
    ownedBy: "svc",
    __provider: expect.stringMatching(/load\("AuthIntegration"\)$/),
  });
  const key = String((await stack.outputs())["key"]);
  expect(key.length).toBeGreaterThan(10);
  expect(await stack.leaks([key])).toEqual([]);
  expect(created.outputs["secretServerKey"]).toHaveProperty("ciphertext");

  await service.clearRequests();
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([]);

  await service.edit({ kind: "integration", id: "supported_provider", delete: true });
  const drift = await stack.drift();
  expect(drift.code).toBe(7);
  expect(drift.text).toMatch(/\+ 1 to create/);
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });

  stack.program(program('branchId: "br-dev", databaseName: "other"'));
  await service.clearRequests();
  const refusal = /might not come back: br-dev is not flagged as the default branch of the project, which is br-main/;
  expect(await stack.preview()).toMatchObject({ code: 1, text: expect.stringMatching(refusal) });
  const refused = await stack.up();
  expect(refused).toMatchObject({ code: 1, text: expect.stringMatching(refusal) });
  expect(refused.text).toMatch(/Could not delete AuthIntegration \S+ \("auth"\): nothing is deleted, because/);
  expect(await service.mutations()).toEqual([]);

  // The production branch is another one now.
  await service.edit({ kind: "branch", id: "br-main", set: { default: false } });
  await service.edit({ kind: "branch", id: "br-dev", set: { default: true } });
  expect((await stack.preview()).text).toMatch(/\+-1 to replace/);
  await service.clearRequests();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([
    "DELETE /projects/{project_id}/auth/integration/{auth_provider}",
    "POST /projects/auth/create",
  ]);
  expect(await service.list("/projects/prj-demo/auth/integrations")).toMatchObject({
    data: [{ branch_id: "br-dev", db_name: "other" }],
  });
  await stack.finish(before);
});
