import { Stack } from "../support/Stack";

/**
 * Behaviour that only the engine shows: who is asked before a deletion, and what is already deleted at a refusal. In
 * process: test/runtime/protection.test.ts.
 */

const program = (on: boolean, database = "svcdb") => `
  new svc.ProjectAuth("auth", {
    projectId: "prj-demo", databaseName: "${database}", deletionProtection: ${on},
    oauth: { google: "shared" }, redirectDomains: ["https://app.example.com"],
  });
  new svc.ComputeGroup("db", {
    projectId: "prj-demo", branchId: "br-dev", primary: { deletionProtection: ${on} }, replicas: 1,
  });`;

/** The engine's refusal in a plan, and the provider's. */
const ENGINE = (name: string) => new RegExp(`::${name}" cannot be deleted\\s+because it is protected`);
const PROVIDER = (kind: string, name: string) =>
  new RegExp(`Could not delete ${kind} \\S+ \\("${name}"\\): its "deletionProtection" is on, so nothing was sent`);

test("destroy, removal and replacement are refused in the plan; without the engine's own guard the provider refuses; off again by an up", async () => {
  const stack = await Stack.create({ program: program(true) });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  const standing = await service.state();
  await service.clearRequests();

  // All that is protected is named at once, and nothing is deleted: not even what lives in the integration.
  for (const refused of [
    await stack.run("destroy", "--yes"),
    await (async () => {
      stack.program("");
      return stack.run("up", "--yes");
    })(),
  ]) {
    expect(refused.code).not.toBe(0);
    for (const name of ["auth", "db-primary"]) expect(refused.text).toMatch(ENGINE(name));
  }

  // In a replacement the provider is asked.
  stack.program(program(true, "other"));
  const replaced = await stack.preview();
  expect(replaced.code).not.toBe(0);
  expect(replaced.text).toMatch(
    /AuthIntegration \S+ \("auth"\) is not replaced, although the change of "databaseName" requires it: its "deletionProtection" is on/,
  );
  expect(await service.mutations()).toEqual([]);
  expect(await service.state()).toEqual(standing);

  // The option `protect` can be taken out of the state without an update; this cannot.
  stack.program(program(true));
  expect(await stack.run("state", "unprotect", "--all", "--yes")).toMatchObject({ code: 0 });
  const destroyed = await stack.destroy("--continue-on-error");
  expect(destroyed.code).not.toBe(0);
  expect(destroyed.text).toMatch(PROVIDER("AuthIntegration", "auth"));
  expect(destroyed.text).toMatch(PROVIDER("ComputeEndpoint", "db-primary"));
  const [{ integrations, endpoints } = {}] = (await service.state()).projects;
  expect(integrations).toEqual(standing.projects[0]?.["integrations"]);
  // The replicas are not protected, and what lives in the integration goes before it: docs/resources/AuthIntegration.md says so.
  expect(endpoints).toHaveLength(2);
  expect(await service.mutations()).toHaveLength(3);

  // Off again, by an up that sends nothing for it.
  await service.clearRequests();
  stack.program(program(false));
  expect(await stack.up()).toMatchObject({ code: 0 });
  // Deleted objects are created again, and nothing else is sent.
  const sent = await service.mutations();
  expect(sent).toHaveLength(3);
  expect(sent.filter((request) => !request.startsWith("POST "))).toEqual([]);
  expect(await stack.drift()).toMatchObject({ code: 0 });
  await stack.end(before);
  expect(stack.said).toMatch(
    /AuthIntegration \S+: its deletion is sent now. It also deletes all of its users, keys, .*table of synced users may stay in database svcdb of br-main/,
  );
});
