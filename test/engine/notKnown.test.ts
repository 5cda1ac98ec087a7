import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { api, createCompute, DEMO } from "../support/emulator";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

/** What the service does not show is not known, and not "no" (docs/design/rules.md, 9): with the real engine. */

const OTHER_KEY = "canary-key-of-another-account";

/** Every kind that deletes something, in two projects: one project cannot have a Whitelist and a WhitelistDomain. */
const EVERYTHING = `
  const projectId = "prj-demo";
  new svc.ComputeEndpoint("api", { projectId, branchId: "br-dev", size: 1 });
  const auth = new svc.AuthIntegration("auth", { projectId });
  const inAuth = { projectId: auth.projectId };
  new svc.OAuthProvider("gitlab", { ...inAuth, providerId: "gitlab", clientId: "id", clientSecret: pulumi.secret("canary-oauth") });
  new svc.WhitelistDomain("site", { ...inAuth, domain: "https://site.example.com" });
  new svc.AuthUser("user", { ...inAuth, email: "user@example.com" });
  new svc.EmailServer("mail", {
    ...inAuth, type: "standard", host: "smtp.example.com", port: 587, username: "u", password: pulumi.secret("canary-smtp"),
    senderEmail: "no-reply@example.com", senderName: "S",
  });
  const other = new svc.AuthIntegration("other", { projectId: "prj-other" });
  new svc.Whitelist("list", { projectId: other.projectId, domains: ["https://list.example.com"] });`;

test("with the key of another account nothing is forgotten: not by a refresh, a destroy, or an up without the resources", async () => {
  const stack = await Stack.create({
    program: EVERYTHING,
    configured: false,
    emulator: { projects: ["prj-demo", "prj-other"], otherApiKeys: [OTHER_KEY] },
  });
  const { apiKey, baseUrl } = stack.service.emulator;
  const useKey = (key: string): void => void Object.assign(stack.env, { SVC_API_KEY: key, SVC_BASE_URL: baseUrl });
  useKey(apiKey);
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const entries = await stack.entries();
  const objects = await stack.service.state();

  useKey(OTHER_KEY);
  for (const [work, verb] of [
    [() => stack.refresh(), "read"],
    [() => stack.destroy("--continue-on-error"), "delete"],
    [async () => (stack.program(""), stack.up("--continue-on-error")), "delete"],
  ] as const) {
    const { code, text } = await work();
    expect(code).not.toBe(0);
    expect(text).toMatch(
      new RegExp(
        `Could not ${verb} ComputeEndpoint prj-demo/ep-.* \\("api"\\): it is not known whether the compute is gone: the service answers 404`,
      ),
    );
    expect(text).toContain("run `SVC_GONE_PROJECT=prj-demo pulumi refresh`");
    expect(await stack.entries()).toEqual(entries);
  }
  expect(await stack.service.state()).toEqual(objects);

  // Only a person knows that a project is gone: what that person says is believed in this command.
  const kept = join(stack.folder, "kept.json");
  writeFileSync(kept, await stack.exported());
  stack.program(EVERYTHING);
  stack.env["SVC_GONE_PROJECT"] = "prj-demo";
  expect((await stack.refresh()).code).not.toBe(0);
  expect((await stack.resources()).map(({ urn }) => urn.split("::").at(-1)).sort()).toEqual(["list", "other"]);
  expect(await stack.run("stack", "import", "--file", kept)).toMatchObject({ code: 0 });
  stack.env["SVC_GONE_PROJECT"] = "prj-demo,prj-other";
  expect(await stack.destroy()).toMatchObject({ code: 0 });
  expect(await stack.resources()).toEqual([]);
  expect(await stack.service.state()).toEqual(objects);

  delete stack.env["SVC_GONE_PROJECT"];
  expect(await stack.run("stack", "import", "--file", kept)).toMatchObject({ code: 0 });
  useKey(apiKey);
  expect(await stack.leaks([OTHER_KEY, "canary-oauth", "canary-smtp"])).toEqual([]);
  await stack.finish(before);
});

test("with lists in pages of two nothing is dropped, duplicated or left behind", async () => {
  const domains = [1, 2, 3, 4, 5].map((number) => `https://${number}.example.com`);
  const program = (size: number): string => `
    const projectId = "prj-demo";
    for (const branchId of ["br-dev", "br-test"]) new svc.ComputeEndpoint(branchId, { projectId, branchId, size: ${size} });
    for (const name of ["a", "b"]) new svc.ComputeEndpoint(name, { projectId, branchId: "br-main", type: "read_only", name });
    const auth = new svc.AuthIntegration("auth", { projectId });
    for (const domain of ${JSON.stringify(domains)})
      new svc.WhitelistDomain(domain, { projectId: auth.projectId, domain });
    new svc.OAuthProvider("gitlab", { projectId: auth.projectId, providerId: "gitlab", clientId: "id", clientSecret: "s" });
    svc.getComputeEndpoints({ projectId }).then((all) => (exports.computes = all.length));
    svc.getBranches({ projectId }).then((all) => (exports.branches = all.length));`;
  const stack = await Stack.create({ program: program(1), emulator: { pageSize: 2 } });
  stack.env["SVC_STRICT_PLAN"] = "1";
  const { emulator } = stack.service;
  const before = await stack.service.state();
  expect(await stack.preview()).toMatchObject({ code: 0 });
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.refresh("--expect-no-changes")).toMatchObject({ code: 0 });
  stack.program(program(2));
  expect(await stack.up()).toMatchObject({ code: 0, text: expect.stringMatching(/~ 2 updated/) });
  expect((await stack.service.endpoints()).length).toBe(2);

  // What nobody declares is on the last page.
  const { id } = await createCompute(emulator, { branch_id: "br-main", type: "read_only" });
  await api(emulator, "POST", `${DEMO}/auth/domains`, {
    domain: "https://z.example.com",
    auth_provider: "supported_provider",
  });
  const told = await drift(stack, "--unmanaged");
  expect(told.code).toBe(8);
  expect(told.report.unmanaged?.map((one) => one.id)).toEqual(
    expect.arrayContaining([`prj-demo/${String(id)}`, "prj-demo/https://z.example.com"]),
  );
  const imported = await svc(stack, ["import", "--project", "prj-demo", "--json", "--program", "imported.js"]);
  expect(imported).toMatchObject({ code: 0, stderr: "" });
  const report = JSON.parse(imported.stdout) as { imported: { id: string }[]; held: { id: string }[] };
  expect(report.held).toHaveLength(11);
  expect(report.imported.map((one) => one.id)).toEqual(
    expect.arrayContaining([`prj-demo/${String(id)}`, "prj-demo/https://z.example.com"]),
  );
  await stack.service.edit({ kind: "endpoint", id: String(id), delete: true });
  await stack.service.edit({ kind: "domain", id: "https://z.example.com", delete: true });

  // A page that fails drops nothing.
  const entries = await stack.entries();
  await stack.service.fault({ path: "/projects/{project_id}/endpoints", page: 2, status: 403, times: 0 });
  expect((await stack.refresh()).code).not.toBe(0);
  expect(await stack.entries()).toEqual(entries);
  await stack.service.clearFaults();
  await stack.finish(before);
});
