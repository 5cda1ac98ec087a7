import { api, DEMO } from "../support/emulator";
import { Stack } from "../support/Stack";
import { drift, svc, type Ended } from "../support/svc";

const PASSWORD = "canary-smtp-password-repair";
const SETTING = "canary-pg-setting-repair";

const repair = (stack: Stack, ...args: string[]): Promise<Ended> => svc(stack, ["drift", "--repair", ...args]);

/** Another package's resource: a repair that asked for it would fail. */
const THEIRS = `
class Theirs extends pulumi.dynamic.Resource {
  constructor(name, value) {
    const failing = async () => { throw new Error("theirs was asked"); };
    super({ create: async () => ({ id: "1", outs: { value: "theirs" } }), read: failing, update: failing, delete: failing }, name, { value });
  }
}
const theirs = new Theirs("theirs", undefined);`;

/** A child of a component with an explicit provider, protected, that depends on another package's resource; and a pending edit. */
const program = ({ size = 2, pending = "" } = {}): string => `${THEIRS}
class Group extends pulumi.ComponentResource {
  constructor(name) { super("their:group:Group", name); this.registerOutputs({ of: "the group" }); }
}
const parent = new Group("group");
const provider = new svc.Provider("other");
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
const api = new svc.ComputeEndpoint("api", {
  projectId: "prj-demo", branchId: "br-dev", name: theirs.urn.apply(() => "api"), size: { min: 0.5, max: ${size} },
  settings: { pgSettings: { "app.token": pulumi.secret("${SETTING}"), work_mem: "64MB" } },
}, { parent, provider, protect: true, dependsOn: [theirs], customTimeouts: { update: "5m" } });
new svc.EmailServer("mail", {
  projectId: auth.projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  password: pulumi.secret("${PASSWORD}"), senderEmail: "auth@example.com", senderName: "Demo",
});
exports.host = api.host;
exports.serverKey = auth.secretServerKey;
${pending}`;

/** The state without what each update of the engine writes, whatever it does: times, the order, empty lists, secrets' salt. */
async function lasting(stack: Stack): Promise<Record<string, unknown>[]> {
  const { stdout } = await stack.run("stack", "export", "--show-secrets");
  const { deployment } = JSON.parse(stdout) as { deployment: { resources: Record<string, unknown>[] } };
  return deployment.resources
    .map(({ modified: _modified, propertyDependencies, ...rest }) => ({
      ...rest,
      propertyDependencies: Object.fromEntries(
        Object.entries((propertyDependencies ?? {}) as Record<string, string[]>).filter(([, urns]) => urns.length > 0),
      ),
    }))
    .sort((left, right) => (String(Reflect.get(left, "urn")) < String(Reflect.get(right, "urn")) ? -1 : 1));
}

const computeId = async (stack: Stack): Promise<string> => (await stack.resource("api")).id.split("/")[1] ?? "";

test("a repair brings back what drifted, and leaves pending edits pending and the rest of the state as it is", async () => {
  const stack = await Stack.create({ program: program() });
  const { service } = stack;
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await lasting(stack);
  const outputs = await stack.outputs();
  expect(await repair(stack, "--yes")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Stack dev: no drift, nothing to repair\n$/),
  });

  const pending = `new svc.WhitelistDomain("new", { projectId: auth.projectId, domain: "https://new.example.com" });`;
  stack.program(program({ size: 4, pending }));
  await service.edit({ kind: "endpoint", id: await computeId(stack), set: { autoscaling_limit_max_cu: 8 } });
  await service.edit({ kind: "email_server", set: { host: "smtp.foreign.example.com", password: "canary-theirs" } });

  const asked = await repair(stack);
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/--yes/) });
  expect(asked.stdout).toMatch(/ComputeEndpoint api .*: update, which restarts the compute/);
  const done = await repair(stack, "--yes");
  expect(done).toMatchObject({ code: 0 });
  expect(done.stdout).toMatch(/size\.max +2 +8/);
  expect(done.stdout).toMatch(/repaired api \(prj-demo\/ep-/);
  expect(await lasting(stack)).toEqual(before);
  expect(await stack.outputs()).toEqual(outputs);
  expect(await drift(stack)).toMatchObject({ code: 0 });
  const plan = await stack.preview("--diff");
  expect(plan.text).toMatch(/max: 2 => 4/);
  expect(plan.text).toMatch(/1 to create[^]*1 to update[^]*2 changes/);
});

test("what is deleted is created again, and only --allow-replace replaces; another fingerprint than the approved one changes nothing", async () => {
  const consumer = `
new Theirs("consumer", api.host);
new svc.OAuthProvider("github", { projectId: auth.projectId, providerId: "github", adopt: true });`;
  const stack = await Stack.create({ program: program().replace("protect: true", "protect: false") + consumer });
  const { service } = stack;
  expect(await stack.up()).toMatchObject({ code: 0 });
  const outputs = await stack.outputs();
  const id = await computeId(stack);
  expect((await api(service.emulator, "DELETE", `${DEMO}/endpoints/${id}`)).status).toBe(200);
  await service.edit({
    kind: "oauth_provider",
    id: "github",
    set: { type: "standard", client_id: "theirs", client_secret: "canary-theirs" },
  });

  const { report } = await drift(stack);
  await service.clearRequests();
  const other = await repair(stack, "--yes", "--expect", "0".repeat(32), "--json");
  expect(other).toMatchObject({
    code: 9,
    stderr: expect.stringMatching(/not the approved one.*fingerprint is [0-9a-f]{32}/),
  });
  expect(JSON.parse(other.stdout)).toMatchObject({
    plan: [],
    repaired: [],
    fingerprint: "",
    messages: [expect.stringMatching(/nothing was changed/)],
  });
  const refused = await repair(stack, "--yes", "--expect", report.fingerprint, "--json");
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/replaces or deletes github \(replace\).*--allow-replace/),
  });
  expect(JSON.parse(refused.stdout)).toMatchObject({
    stack: "dev",
    fingerprint: report.fingerprint,
    plan: [
      { name: "api", action: "create", dependants: [expect.stringMatching(/::consumer$/)] },
      { name: "github", action: "replace", dependants: [] },
    ],
    repaired: [],
  });
  expect(await service.mutations()).toEqual([]);

  const alone = await repair(stack, "api", "--yes", "--format", "markdown");
  expect(alone).toMatchObject({ code: 0, stdout: expect.stringMatching(/^## Repair\n/) });
  expect(alone.stdout).toContain("consumer");
  expect(alone.stdout).not.toContain("github");
  expect(await computeId(stack)).not.toBe(id);
  expect(await stack.outputs()).toEqual(outputs);
  expect((await drift(stack)).report.drift.map(({ name }) => name)).toEqual(["github"]);
  expect(await repair(stack, "--yes", "--allow-replace")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/repaired github/),
  });
  expect(await drift(stack)).toMatchObject({ code: 0 });
  expect(await stack.leaks([PASSWORD, SETTING, "canary-theirs"])).toEqual([]);
});
