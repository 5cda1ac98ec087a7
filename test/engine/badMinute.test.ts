import { Stack } from "../support/Stack";

const PROGRAM = `
  const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
  new svc.ComputeEndpoint("api", { projectId: auth.projectId, branchId: "br-dev", size: 1 });`;

test("a refresh while the service is unwell fails in words and drops nothing; afterwards all is well", async () => {
  const stack = await Stack.create({ program: PROGRAM });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  // Each export encrypts anew.
  const kept = async () =>
    (await stack.resources()).map(({ id, inputs, outputs }) =>
      JSON.stringify({ id, inputs, outputs }).replace(/"ciphertext":"[^"]+"/g, '"ciphertext"'),
    );
  const stored = await kept();
  expect(stored).toHaveLength(2);

  const html = { contentType: "text/html", body: "<html><h1>Bad gateway</h1></html>" };
  const bad: [string, object, RegExp][] = [
    ["401", { status: 401 }, /the API key is missing or wrong/],
    ["403", { status: 403 }, /403/],
    ["404", { status: 404 }, /404/],
    ["500", { status: 500 }, /500/],
    ["503 with a page", { status: 503, ...html }, /503/],
    ["200 with a page", { status: 200, ...html }, /not JSON|HTML|web page|no JSON/i],
    ["200 with an odd body", { status: 200, body: { hello: "world" } }, /an unexpected shape/],
  ];
  for (const [what, fault, words] of bad) {
    await service.fault({ method: "GET", times: 0, ...fault });
    const run = await stack.refresh();
    await service.clearFaults();
    expect([what, run.code === 0]).toEqual([what, false]);
    expect(run.text).toMatch(/Could not read (ComputeEndpoint|AuthIntegration) prj-demo/);
    expect(run.text).toMatch(words);
    expect(run.text).not.toContain("<h1>");
    expect([what, await kept()]).toEqual([what, stored]);
  }
  await stack.finish(before);
});

test("a refresh while the service does not answer fails after its deadline and drops nothing", async () => {
  const stack = await Stack.create({ program: PROGRAM });
  const { service } = stack;
  expect(await stack.up()).toMatchObject({ code: 0 });
  await service.fault({ method: "GET", times: 0, drop: "hang" });
  const run = await stack.refresh();
  await service.clearFaults();
  expect(run.code).not.toBe(0);
  expect(run.text).toMatch(/no complete response within 10 s; still failing after 30 s/);
  expect(await stack.resources()).toHaveLength(2);
  expect(await stack.destroy()).toMatchObject({ code: 0 });
});

test("destroy works with the key only in the environment, also when everything was deleted by hand before", async () => {
  const stack = await Stack.create({ program: PROGRAM, configured: false });
  const { service } = stack;
  const before = await service.state();
  stack.env["SVC_API_KEY"] = service.emulator.apiKey;
  stack.env["SVC_BASE_URL"] = service.emulator.baseUrl;
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.exported()).not.toContain("svc:apiKey");
  await service.edit({ kind: "integration", id: "supported_provider", delete: true });
  await service.edit({ kind: "endpoint", id: (await stack.resource("api")).outputs["endpointId"], delete: true });
  expect(await stack.destroy()).toMatchObject({ code: 0 });
  expect((await service.state()).projects).toMatchObject([{ id: "prj-demo", integrations: [] }]);
  expect(await service.endpoints()).toHaveLength((before.projects[0]?.["endpoints"] as unknown[]).length);
});
