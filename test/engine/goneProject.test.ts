import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

const PROJECT = "prj-shop";
const NOT_FOUND = { status: 404, body: { code: "", message: "project not found" }, times: 0 };
const ADVICE =
  "Use the key of the account that project prj-shop belongs to. If the project itself was deleted, run `SVC_GONE_PROJECT=prj-shop pulumi refresh`, which takes what was in it out of the stack, and remove it from the program";

const program = ({
  size = 1,
  host = "smtp.example.com",
  more = "",
}: {
  size?: number;
  host?: string;
  more?: string;
}) => `
const projectId = "${PROJECT}";
new svc.ComputeEndpoint("api", { projectId, branchId: "br-1", size: ${size} });
const auth = new svc.AuthIntegration("auth", { projectId });
const inAuth = { projectId: auth.projectId };
new svc.WhitelistDomain("app", { ...inAuth, domain: "https://app.example.com" });
new svc.EmailServer("mail", { ...inAuth, type: "standard", host: "${host}", port: 25, username: "u", password: "canary", senderEmail: "a@example.com", senderName: "a" });
new svc.OAuthProvider("github", { ...inAuth, providerId: "github", adopt: true });
new svc.AuthUser("ana", { ...inAuth, email: "ana@example.com" });
new svc.AuthKeys("keys", inAuth);
${more}`;

/** The errors and warnings of the resources, by name. The lines of the Stack say only that others failed. */
function complaints(text: string): Record<string, string> {
  const [, diagnostics = ""] = text.split("Diagnostics:");
  return Object.fromEntries(
    [...diagnostics.matchAll(/svc:\w+ \((\w+)\):\n((?: {4}.*\n)+)/g)].map(([, name, lines]) => [name, lines]),
  ) as Record<string, string>;
}

test("after a project was deleted, each command that needs it says what to do, and that works", async () => {
  const stack = await Stack.create({ program: program({}) });
  const { service } = stack;
  await service.addProject({ id: PROJECT, branches: [{ id: "br-0", default: true }, { id: "br-1" }] });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const deployed = await stack.resources();
  await service.fault(NOT_FOUND);

  const everything = ["ana", "api", "app", "auth", "github", "keys", "mail"];
  for (const args of [
    ["refresh", "--yes", "--skip-preview"],
    ["up", "--refresh", "--yes", "--skip-preview"],
    ["preview", "--refresh"],
  ]) {
    const run = await stack.run(...args);
    expect(run.code).not.toBe(0);
    const said = complaints(run.text);
    expect(Object.keys(said).sort()).toEqual(everything);
    for (const text of Object.values(said)) expect(text).toContain(ADVICE);
  }
  const destroyed = complaints((await stack.destroy()).text);
  // Keys leave the stack alone: nothing of them could be deleted.
  for (const name of ["ana", "app", "github", "mail"]) expect(destroyed[name]).toContain(ADVICE);
  const report = await svc(stack, ["drift"]);
  expect(report.code).toBe(1);
  expect(report.stdout + report.stderr).toContain(ADVICE);

  // A change and a creation, without a refresh.
  const more = `new svc.WhitelistDomain("new", { ...inAuth, domain: "https://new.example.com" });
new svc.ComputeEndpoint("other", { projectId, branchId: "br-0" });`;
  stack.program(program({ size: 2, host: "mx.example.com", more }));
  const plan = complaints((await stack.preview()).text);
  for (const name of ["api", "mail", "new", "other"]) {
    expect(plan[name]).toMatch(/project prj-shop does not exist, or this key may not see it/);
    expect(plan[name]).toContain(ADVICE);
  }
  // After the first failure, the engine starts no other.
  const failed = Object.values(complaints((await stack.up()).text));
  expect(failed).not.toEqual([]);
  for (const text of failed) expect(text).toContain(ADVICE);
  const kept = deployed.filter(({ urn }) => !urn.endsWith("::keys")).map(({ id }) => id);
  expect(new Set((await stack.resources()).map(({ id }) => id))).toEqual(new Set(kept));

  // What the advice says.
  stack.env["SVC_GONE_PROJECT"] = PROJECT;
  expect(await stack.refresh()).toMatchObject({ code: 0 });
  delete stack.env["SVC_GONE_PROJECT"];
  expect(await stack.resources()).toEqual([]);
  // The program still declares it.
  const again = complaints((await stack.up()).text);
  for (const name of ["auth", "api"]) expect(again[name]).toContain(ADVICE);
  stack.program("");
  await service.clearFaults();
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  await stack.close();
});
