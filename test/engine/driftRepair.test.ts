import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { hashed } from "../../src/emulator/model/records";
import { descendants, ROOT } from "../support/cli";
import { Stack } from "../support/Stack";
import { drift, svc, type Ended } from "../support/svc";

const PASSWORD = "canary-smtp-password-repair";
const SETTING = "canary-pg-setting-repair";
const COMPONENT = "canary-component-repair";
const OUTPUT = "canary-output-repair";
const THEIRS = "canary-theirs-repair";

const repair = (stack: Stack, ...args: string[]): Promise<Ended> => svc(stack, ["drift", "--repair", ...args]);

/**
 * A state with everything that it can hold for a resource. A repair that called another package's provider would fail.
 */
const program = ({ size = 2, pending = "" } = {}): string => `
class Theirs extends pulumi.dynamic.Resource {
  constructor(name, value) {
    const failing = async () => { throw new Error("theirs was asked"); };
    super({ create: async () => ({ id: "1", outs: { value: "theirs" } }), read: failing, update: failing, delete: failing }, name, { value });
  }
}
class Group extends pulumi.ComponentResource {
  constructor(name, opts) { super("their:group:Group", name, {}, opts); this.registerOutputs({ of: pulumi.secret("${COMPONENT}") }); }
}
pulumi.runtime.registerStackTransformation(({ props, opts }) => (
  { props, opts: { ...opts, additionalSecretOutputs: [...(opts.additionalSecretOutputs ?? []), "host"] } }
));
const theirs = new Theirs("theirs", undefined);
const one = new Group("one"), two = new Group("two", { parent: one }), three = new Group("three", { parent: two, protect: true });
const provider = new svc.Provider("other", {}, { parent: two });
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
const { projectId } = auth;
const domain = (name, options = {}) => new svc.WhitelistDomain(name, { projectId, domain: "https://" + name + ".example.com" }, options);
const base = domain("base", { retainOnDelete: true, aliases: [{ name: "früher" }, "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:WhitelistDomain::old"] });
const child = domain("child", { parent: base, deletedWith: base, ignoreChanges: ["projectId"], dependsOn: [three], replaceOnChanges: ["domain"] });
const api = new svc.ComputeEndpoint("api", {
  projectId, branchId: "br-dev", name: pulumi.all([base.id, theirs.urn]).apply(() => "api"), size: { min: 0.5, max: ${size} },
  settings: { pgSettings: { "app.token": pulumi.secret("${SETTING}"), work_mem: "64MB" } },
}, {
  parent: three, provider, protect: true, dependsOn: [theirs], ignoreChanges: ["name"], hideDiffs: ["settings.pgSettings"],
  customTimeouts: { create: "1h", update: "90s", delete: "5m", read: "45s" },
});
const looked = svc.ComputeEndpoint.get("looked", api.id);
new svc.EmailServer("mail", {
  projectId, type: "standard", host: pulumi.secret("smtp.example.com"), port: 587, username: "mailer",
  password: pulumi.secret("${PASSWORD}"), senderEmail: "auth@example.com", senderName: looked.host.apply(() => "Demo"),
}, { dependsOn: [child, api] });
domain("later", { dependsOn: [api] });
const web = new svc.ComputeEndpoint("web", { projectId: "prj-demo", branchId: "br-test", size: 1 });
new Theirs("consumer", web.host);
new svc.OAuthProvider("github", { projectId, providerId: "github", adopt: true });
exports.secret = pulumi.secret({ nested: [{ key: "${OUTPUT}" }] });
exports.serverKey = auth.secretServerKey;
exports.hosts = [looked.host, web.host];
${pending}`;

/** What the command stores in unnamed files during its run. */
function temporaryFiles(pid: number): string {
  const folder = `/proc/${pid}/fd`;
  try {
    const files = readdirSync(folder).filter((fd) => readlinkSync(join(folder, fd)).includes("/pulumi-svc-"));
    return files.map((fd) => readFileSync(join(folder, fd), "utf8")).join("\n");
  } catch {
    // It has ended, or has closed one in the meantime.
    return "";
  }
}

/** Runs the command in its own process group, like a terminal, and returns what was visible while it ran. */
async function interruptedRepair(
  stack: Stack,
  names: readonly string[],
  ready: () => Promise<boolean>,
): Promise<Ended & { seen: string }> {
  const args = [join(ROOT, "dist", "cli", "main.js"), "drift", "--repair", "--yes", ...names];
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
    seen += temporaryFiles(pid);
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

test("a repair, in parts, interrupted and run again, brings back what drifted and leaves the rest and pending edits alone", async () => {
  const stack = await Stack.create({ program: program(), emulator: { activationMs: 4_000 } });
  const { service } = stack;
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await stack.entries();
  const outputs = await stack.outputs();
  const [api, web] = [await stack.resource("api"), await stack.resource("web")];
  const idOf = ({ id }: { id: string }): string => id.split("/")[1] ?? "";

  // Pending edits of the program, and changes of somebody else.
  const pending = `domain("new");`;
  stack.program(program({ size: 4, pending }));
  await service.edit({ kind: "endpoint", id: idOf(api), set: { autoscaling_limit_max_cu: 8 } });
  const theirServer = { host: "smtp.foreign.example.com", sender_name: "Theirs", password: THEIRS };
  await service.edit({ kind: "email_server", set: theirServer });
  const credentials = { type: "standard", client_id: "theirs", client_secret: THEIRS };
  await service.edit({ kind: "oauth_provider", id: "github", set: credentials });
  for (const name of ["base", "child", "later"])
    await service.edit({ kind: "domain", id: `https://${name}.example.com`, delete: true });
  await service.edit({ kind: "endpoint", id: idOf(web), delete: true });

  // Only --allow-replace replaces.
  await service.clearRequests();
  const refused = await repair(stack, "--yes", "--json");
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/replaces or deletes github \(replace\).*--allow-replace/),
  });
  const report = JSON.parse(refused.stdout) as { plan: { name: string }[] };
  const all = ["api", "base", "child", "github", "later", "mail", "web"];
  expect(report.plan.map(({ name }) => name).toSorted()).toEqual(all);
  expect(report).toMatchObject({
    stack: "dev",
    plan: expect.arrayContaining([
      expect.objectContaining({ name: "github", action: "replace", dependants: [] }),
      expect.objectContaining({
        name: "web",
        action: "create",
        dependants: [expect.stringMatching(/::consumer$/)],
      }),
    ]),
    repaired: [],
  });
  expect(await service.mutations()).toEqual([]);

  // A deleted resource is created again. Resources with its outputs are named, and keep them.
  const alone = await repair(stack, "web", "--yes", "--format", "markdown");
  expect(alone).toMatchObject({ code: 0, stdout: expect.stringMatching(/^## Repair\n/) });
  expect(alone.stdout).toContain("consumer");
  expect(alone.stdout).not.toContain("github");
  const newWeb = await stack.resource("web");
  expect(newWeb.id).not.toBe(web.id);
  const webAside = (entries: Record<string, unknown>): object => ({ ...entries, [web.urn]: newWeb.id });
  expect(webAside(await stack.entries())).toEqual(webAside(before));
  expect(await stack.outputs()).toEqual(outputs);

  // Interrupted, it ends what it has begun.
  await service.clearRequests();
  const { code, stdout, stderr, seen } = await interruptedRepair(stack, ["api", "later", "mail"], async () =>
    (await service.mutations()).includes("PATCH /projects/{project_id}/endpoints/{endpoint_id}"),
  );
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/interrupted: .*Run this again/) });
  expect(stdout).toMatch(/ComputeEndpoint api .* changed\n[^]*\n {2}repair: update, which restarts the compute\n/);
  expect(stdout).toMatch(/size\.max +2 +8/);
  expect(stderr).toMatch(/^api: update\napi: \w+ing\b/m);
  expect(seen).toMatch(/pulumi up .*--client=127\.0\.0\.1:\d+/);
  expect(seen).toContain("resourcePreEvent");
  // Changes that had not begun are still drift.
  expect((await drift(stack)).report.drift.map(({ name, change }) => [name, change])).toEqual([
    ["mail", "changed"],
    ["github", "changed"],
    ["child", "deleted"],
    ["base", "deleted"],
    ["later", "deleted"],
  ]);

  // Run again, it brings back the rest: the state and the outputs are as they were deployed.
  const rest = await repair(stack, "--yes", "--allow-replace");
  expect(rest).toMatchObject({ code: 0, stdout: expect.stringMatching(/^repaired github \(prj-demo\/github\)$/m) });
  expect(rest.stdout).toMatch(/^repaired later \(prj-demo\/https:/m);
  expect(webAside(await stack.entries())).toEqual(webAside(before));
  expect(await stack.outputs()).toEqual(outputs);
  expect(await service.endpoints()).toContainEqual(
    expect.objectContaining({ id: idOf(api), autoscaling_limit_max_cu: 2 }),
  );
  // Their credentials are gone, and the service's responses do not show that.
  expect((await service.state()).projects[0]).toMatchObject({
    email_server: { host: "smtp.example.com", sender_name: "Demo", password: hashed(PASSWORD) },
  });
  const { providers } = await service.list("/projects/prj-demo/auth/oauth_providers");
  expect(providers).toContainEqual({ id: "github", type: "shared" });
  const { domains } = (await service.list("/projects/prj-demo/auth/domains")) as { domains: { domain: string }[] };
  expect(domains.map(({ domain }) => domain).toSorted()).toEqual(
    ["base", "child", "later"].map((name) => `https://${name}.example.com`),
  );
  expect(await repair(stack, "--yes")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Stack dev: no drift, nothing to repair\n$/),
  });
  const plan = await stack.preview("--diff");
  expect(plan.text).toMatch(/max: 2 => 4/);
  // The next update passes the outputs of the new compute to what depends on it.
  expect(plan.text).toMatch(/\(update\)[^()]*::consumer\]/);
  expect(plan.text).toMatch(/1 to create[^]*2 to update[^]*3 changes/);

  // No secret is in a file, an argument or an output.
  const { apiKey } = service.emulator;
  const secrets = [PASSWORD, SETTING, COMPONENT, OUTPUT, THEIRS, String(outputs["serverKey"]), apiKey];
  expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
  expect(await stack.leaks(secrets)).toEqual([]);
});

test("a repair asks what an up --refresh asks and looks twice; options of the state count, and what is ignored stays", async () => {
  const options = `{ ignoreChanges: ["poolerEnabled"], replaceOnChanges: ["size"] }`;
  const stack = await Stack.create({
    program: `
new svc.ComputeEndpoint("named", { projectId: "prj-demo", branchId: "br-dev", name: "named", size: 1, scaleToZero: { afterSeconds: 600 } });
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
    await service.clearRequests();
    expect(await run()).toMatchObject({ code: 0 });
    return (await service.requests()).map(({ method, template }) => `${method} ${template}`);
  };
  const theirs = { name: "theirs", suspend_timeout_seconds: 3000 };
  await edit(named, theirs);
  const look = await asked(() => stack.run("refresh", "--preview-only"));
  const up = await asked(() => stack.run("up", "--refresh", "--yes", "--target", "**::named"));

  // The engine replaces because of an option; of what svc-drift.json covers a part, all is left.
  await edit(named, theirs);
  await edit(other, { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2, pooler_enabled: false });
  const ignored = { resource: "named", property: "scaleToZero", reason: "until Monday" };
  stack.write("svc-drift.json", JSON.stringify({ ignore: [ignored] }));
  const partly = await repair(stack, "--yes", "--allow-replace", "--json");
  expect(partly).toMatchObject({ code: 7 });
  expect(JSON.parse(partly.stdout)).toMatchObject({
    plan: [
      {
        name: "other",
        action: "replace",
        messages: expect.arrayContaining([
          expect.stringMatching(/the engine replaces it/),
          expect.stringMatching(/because the option "replaceOnChanges" asks for it/),
        ]),
      },
    ],
    repaired: [{ name: "other" }],
    left: [{ name: "named", properties: [{ path: "name" }] }],
    messages: [expect.stringMatching(/^named is left as it is: svc-drift.json covers a part/)],
  });
  expect(await idOf("other")).not.toBe(other);
  expect(await service.endpoints()).toContainEqual(expect.objectContaining({ id: named, ...theirs }));

  // Whoever names it repairs all of it.
  const repaired = await asked(() => repair(stack, "named", "--yes"));
  expect(repaired.toSorted()).toEqual([...up, ...look, ...look].toSorted());
  expect(await service.endpoints()).toContainEqual(
    expect.objectContaining({ id: named, name: "named", suspend_timeout_seconds: 600 }),
  );
});
