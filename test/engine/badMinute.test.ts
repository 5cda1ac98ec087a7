import { Stack } from "../support/Stack";

const html = { contentType: "text/html", body: "<html><h1>Bad gateway</h1></html>" };

/** The response of each project to every GET, and the expected message. */
const UNWELL: Record<string, [fault: object, words: RegExp]> = {
  "prj-401": [{ status: 401 }, /the API key is missing or wrong/],
  "prj-403": [{ status: 403 }, / -> 403\b/],
  "prj-404": [{ status: 404 }, / -> 404\b/],
  "prj-500": [{ status: 500 }, / -> 500\b/],
  "prj-503-page": [{ status: 503, ...html }, / -> 503\b/],
  "prj-200-page": [{ status: 200, ...html }, /not JSON|HTML|web page|no JSON/i],
  "prj-200-odd": [{ status: 200, body: { hello: "world" } }, /an unexpected shape/],
  "prj-silent": [{ drop: "hang" }, /no complete response within 10 s; still failing after 30 s/],
};
const PROJECTS = Object.keys(UNWELL);
const LISTS = ["endpoints", "auth/integrations"];

test("a refresh while the service is unwell or does not answer fails with a message and drops nothing; afterwards all is well", async () => {
  const stack = await Stack.create({
    program: `
      for (const projectId of ${JSON.stringify(PROJECTS)}) {
        new svc.AuthIntegration("auth-" + projectId, { projectId });
        new svc.ComputeEndpoint("api-" + projectId, { projectId, branchId: "br-dev", size: 1 });
      }`,
  });
  const { service } = stack;
  for (const id of PROJECTS)
    await service.addProject({ id, branches: [{ id: "br-main", default: true }, { id: "br-dev" }] });
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  // Each export encrypts again.
  const kept = async () =>
    (await stack.resources()).map(({ id, inputs, outputs }) =>
      JSON.stringify({ id, inputs, outputs }).replace(/"ciphertext":"[^"]+"/g, '"ciphertext"'),
    );
  const stored = await kept();
  expect(stored).toHaveLength(2 * PROJECTS.length);

  for (const project of PROJECTS)
    for (const list of LISTS)
      await service.fault({ method: "GET", path: `/projects/${project}/${list}`, times: 0, ...UNWELL[project]?.[0] });
  // All at the same time: a read that has failed ends none that has begun.
  const run = await stack.refresh("--parallel", String(2 * PROJECTS.length));
  await service.clearFaults();
  expect(run.code).not.toBe(0);
  expect(run.text).not.toContain("<h1>");
  const [, diagnostics = ""] = run.text.split("Diagnostics:");
  for (const [project, [, words]] of Object.entries(UNWELL))
    for (const kind of ["AuthIntegration", "ComputeEndpoint"]) {
      const said = diagnostics.split("\n").filter((line) => line.includes(`Could not read ${kind} ${project}/`));
      expect(said.slice(0, 1)).toEqual([expect.stringMatching(words)]);
      // Not a warning beside the failure of another project.
      expect(said[0]).toMatch(/^ +error: /i);
    }
  expect(await kept()).toEqual(stored);
  await stack.finish(before);
});

test("destroy works with the key only in the environment, also when everything was deleted by hand before", async () => {
  const stack = await Stack.create({
    program: `
      const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
      new svc.ComputeEndpoint("api", { projectId: auth.projectId, branchId: "br-dev", size: 1 });`,
    configured: false,
  });
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
