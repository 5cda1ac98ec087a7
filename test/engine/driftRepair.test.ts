import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { descendants, pulumi, ROOT } from "../support/cli";
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
  // Not among what the tests look for secrets in.
  const { stdout } = await pulumi(["stack", "export", "--show-secrets"], {
    cwd: join(stack.folder, "program"),
    env: stack.env,
  });
  const { deployment } = JSON.parse(stdout) as { deployment: { resources: Record<string, unknown>[] } };
  return deployment.resources
    .map(({ modified: _modified, dependencies, propertyDependencies, ...rest }) => ({
      ...rest,
      // A set, in an order of its own each time.
      dependencies: ((dependencies ?? []) as string[]).toSorted(),
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
    stack: "dev",
    plan: [],
    repaired: [],
    fingerprint: report.fingerprint,
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
      { name: "github", action: "replace", dependants: [] },
      { name: "api", action: "create", dependants: [expect.stringMatching(/::consumer$/)] },
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

/** In place of the CLI: it says `SAYS` instead of its version. */
const WRAPPER = `#!/bin/sh
[ "$1" = version ] && [ -n "$SAYS" ] && echo "$SAYS" && exit 0
PATH="\${PATH#*:}" exec pulumi "$@"
`;

/** What the command keeps in files while it runs. */
function temporaryFiles(stack: Stack): string {
  const home = join(stack.folder, "home");
  const folders = readdirSync(home).filter((name) => name.startsWith("pulumi-svc-drift-"));
  return folders
    .flatMap((folder) => readdirSync(join(home, folder)).map((file) => readFileSync(join(home, folder, file), "utf8")))
    .join("\n");
}

/** The command in a process group of its own, as a terminal has it, and what could be seen of it while it ran. */
async function interruptedRepair(stack: Stack, ready: () => Promise<boolean>): Promise<Ended & { seen: string }> {
  const args = [join(ROOT, "dist", "cli", "main.js"), "drift", "--repair", "--yes"];
  const child = spawn(process.execPath, args, { cwd: join(stack.folder, "program"), env: stack.env, detached: true });
  const pid = child.pid ?? Number.NaN;
  let [stdout, stderr, seen] = ["", "", ""];
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const ended = new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? -1)));
  let isInterrupted = false;
  const timer = setInterval(() => {
    seen += descendants(pid)
      .map(({ command }) => command)
      .join("\n");
    seen += temporaryFiles(stack);
    if (!isInterrupted)
      void ready().then((isReady) => {
        if (isReady && !isInterrupted) process.kill(-pid, "SIGINT");
        isInterrupted ||= isReady;
      });
  }, 200);
  const code = await ended;
  clearInterval(timer);
  stack.said += stdout + stderr;
  return { code, stdout, stderr, seen };
}

test("what stands in the way of a repair is told in words, and nothing is sent", async () => {
  const stack = await Stack.create({ program: program().replace("protect: true", "protect: false") });
  const { service } = stack;
  expect(await stack.up()).toMatchObject({ code: 0 });
  const id = await computeId(stack);
  const drifted = (size: number) => service.edit({ kind: "endpoint", id, set: { autoscaling_limit_max_cu: size } });
  await drifted(8);
  stack.write("bin/pulumi", WRAPPER);
  chmodSync(join(stack.folder, "program", "bin", "pulumi"), 0o755);
  const inTheWay = async (env: Record<string, string>, ...args: string[]): Promise<Ended> => {
    await service.clearRequests();
    const PATH = `${join(stack.folder, "program", "bin")}:${stack.env["PATH"]}`;
    const ended = await svc(stack, ["drift", "--repair", "--yes", ...args], { env: { PATH, ...env } });
    expect(await service.mutations()).toEqual([]);
    return ended;
  };

  expect(await inTheWay({ PATH: "/nowhere" })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Pulumi CLI was not found/),
  });
  expect(await inTheWay({ SAYS: "v3.258.9" })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/needs the Pulumi CLI 3\.259\.0 or later.*v3\.258\.9.*update it/),
  });
  const unknown = await inTheWay({}, "nobody", "--json");
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no resource of pulumi-svc with the name or URN "nobody"/),
  });
  expect(JSON.parse(unknown.stdout)).toMatchObject({ plan: [], messages: [expect.stringMatching(/"nobody"/)] });

  const locks = join(stack.folder, "backend", ".pulumi", "locks", "organization", "proj", "dev");
  mkdirSync(locks, { recursive: true });
  writeFileSync(
    join(locks, "one.json"),
    JSON.stringify({ pid: 1, username: "them", hostname: "there", timestamp: new Date() }),
  );
  expect(await inTheWay({})).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/another operation has locked the stack.*pulumi cancel/),
  });
  rmSync(locks, { recursive: true });

  // A project that is locked for a while is waited for.
  await service.fault({ method: "PATCH", status: 423, times: 2 });
  expect(await repair(stack, "--yes")).toMatchObject({ code: 0, stderr: expect.stringMatching(/^api: update$/m) });
  expect(await drift(stack)).toMatchObject({ code: 0 });
  expect((await service.requests()).filter(({ method }) => method === "PATCH").map(({ status }) => status)).toEqual([
    423, 423, 200,
  ]);
  await service.emulator.close();
  expect(await svc(stack, ["drift", "--repair", "--yes"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/cannot be reached/),
  });
  expect(await stack.leaks([PASSWORD, SETTING, service.emulator.apiKey])).toEqual([]);
});

test("an interrupted repair ends what it has begun and can be run again; no secret is in a file, an argument or an output", async () => {
  const later = `new svc.WhitelistDomain("later", { projectId: auth.projectId, domain: "https://later.example.com" }, { dependsOn: [api] });`;
  const stack = await Stack.create({ program: program({ pending: later }), emulator: { activationMs: 4_000 } });
  const { service } = stack;
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await lasting(stack);
  await service.edit({ kind: "domain", id: "https://later.example.com", delete: true });
  await service.edit({ kind: "endpoint", id: await computeId(stack), set: { autoscaling_limit_max_cu: 8 } });
  await service.edit({ kind: "email_server", set: { password: "canary-theirs" } });
  await service.clearRequests();
  const { code, stderr, seen } = await interruptedRepair(stack, async () =>
    (await service.mutations()).includes("PATCH /projects/{project_id}/endpoints/{endpoint_id}"),
  );
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/interrupted: .*Run this again/) });
  expect(stderr).toMatch(/^api: update\napi: \w+ing\b/m);
  expect(seen).toMatch(/pulumi up .*--client=127\.0\.0\.1:\d+/);
  expect(seen).toContain("resourcePreEvent");
  // What was not begun is drift as before, not forgotten.
  expect((await drift(stack)).report.drift.map(({ name, change }) => [name, change])).toEqual([["later", "deleted"]]);
  expect(await repair(stack, "--yes")).toMatchObject({ code: 0 });
  const sinceWhen = ({ created: _created, ...rest }: Record<string, unknown>) => rest;
  expect((await lasting(stack)).map(sinceWhen)).toEqual(before.map(sinceWhen));
  const secrets = [
    PASSWORD,
    SETTING,
    "canary-theirs",
    String((await stack.outputs())["serverKey"]),
    service.emulator.apiKey,
  ];
  expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
  expect(await stack.leaks(secrets)).toEqual([]);
});

test("a repair asks what an up --refresh asks and looks twice; options of the state count, and what is ignored stays", async () => {
  const options = `{ ignoreChanges: ["poolerEnabled"], replaceOnChanges: ["size"] }`;
  const stack = await Stack.create({
    program: `
new svc.ComputeEndpoint("named", { projectId: "prj-demo", branchId: "br-dev", name: "named", size: 1 });
new svc.ComputeEndpoint("other", { projectId: "prj-demo", branchId: "br-test", name: "other", size: 1, poolerEnabled: true }, ${options});`,
  });
  const { service } = stack;
  // A program in a folder of its own, as `main` of Pulumi.yaml says.
  stack.write("src/index.js", readFileSync(join(stack.folder, "program", "index.js"), "utf8"));
  stack.write("Pulumi.yaml", "name: proj\nruntime:\n  name: nodejs\n  options:\n    typescript: false\nmain: src/\n");
  expect(await stack.up()).toMatchObject({ code: 0 });
  const idOf = async (name: string): Promise<string> => (await stack.resource(name)).id.split("/")[1] ?? "";
  const [named, other] = [await idOf("named"), await idOf("other")];
  const edit = (id: string, set: object) => service.edit({ kind: "endpoint", id, set });
  const asked = async (run: () => Promise<unknown>): Promise<string[]> => {
    await edit(named, { name: "theirs" });
    await service.clearRequests();
    expect(await run()).toMatchObject({ code: 0 });
    return (await service.requests()).map(({ method, template }) => `${method} ${template}`);
  };
  const look = await asked(() => stack.run("refresh", "--preview-only"));
  const up = await asked(() => stack.run("up", "--refresh", "--yes", "--target", "**::named"));
  const repaired = await asked(() => repair(stack, "--yes"));
  expect(repaired.toSorted()).toEqual([...up, ...look, ...look].toSorted());

  await edit(other, { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2, pooler_enabled: false });
  await edit(named, { name: "theirs", autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 });
  stack.write(
    "svc-drift.json",
    JSON.stringify({ ignore: [{ resource: "named", property: "size", reason: "until Monday" }] }),
  );
  await service.clearRequests();
  expect(await repair(stack, "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/replaces or deletes other \(replace\)/),
  });
  expect(await service.mutations()).toEqual([]);
  const partly = await repair(stack, "--yes", "--allow-replace", "--json");
  expect(partly).toMatchObject({ code: 7 });
  expect(JSON.parse(partly.stdout)).toMatchObject({
    plan: [{ name: "other", action: "replace", messages: [expect.stringMatching(/the engine replaces it/)] }],
    repaired: [{ name: "other" }],
    left: [{ name: "named", properties: [{ path: "name" }] }],
    messages: [expect.stringMatching(/^named is left as it is: svc-drift.json covers a part/)],
  });
  expect(await idOf("other")).not.toBe(other);
  expect(await repair(stack, "named", "--yes")).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0 });
});

test("a repair ends what a replacement has left: the old object goes with --allow-replace, and a missing one is created", async () => {
  const domain = (name: string, options: string) => `
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
new svc.WhitelistDomain("d", { projectId: auth.projectId, domain: "https://${name}.example.com" }, ${options});`;
  const stack = await Stack.create({ program: domain("one", "{ deleteBeforeReplace: false }") });
  const { service } = stack;
  const before = await service.state();
  const route = "/projects/{project_id}/auth/domains";
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(domain("two", "{ deleteBeforeReplace: false }"));
  await service.fault({ method: "DELETE", path: route, status: 403 });
  expect((await stack.up()).code).not.toBe(0);
  expect(await repair(stack, "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/replaces or deletes d \(delete\)/),
  });
  expect(await repair(stack, "--yes", "--allow-replace")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/WhitelistDomain d .*one.*: delete\n/),
  });
  expect(await service.list("/projects/prj-demo/auth/domains")).toMatchObject({
    domains: [{ domain: "https://two.example.com" }],
  });

  stack.program(domain("three", "{ deleteBeforeReplace: true }"));
  await service.fault({ method: "POST", path: route, status: 400 });
  expect((await stack.up()).code).not.toBe(0);
  expect(await service.list("/projects/prj-demo/auth/domains")).toMatchObject({ domains: [] });
  // What the state holds of it is what was deployed last: neither the failed change nor a pending edit.
  expect(await repair(stack, "--yes")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/WhitelistDomain d .*: create\n/),
  });
  expect(await service.list("/projects/prj-demo/auth/domains")).toMatchObject({
    domains: [{ domain: "https://two.example.com" }],
  });
  expect(await stack.up()).toMatchObject({ code: 0 });
  await stack.finish(before);
});
