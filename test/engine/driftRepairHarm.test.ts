import { spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { pulumi, ROOT } from "../support/cli";
import { Stack } from "../support/Stack";
import { drift, svc, type Ended } from "../support/svc";

/** In place of the CLI: it runs `BEFORE_UP` with the real one right before each update. */
const WRAPPER = `#!/bin/sh
PATH="\${PATH#*:}"
[ "$1" = up ] && [ -n "$BEFORE_UP" ] && sh -c "$BEFORE_UP" > colleague.log 2>&1
# As the terminal does at Ctrl-C, for the process group of the command.
[ "$2" = import ] && [ -n "$INTERRUPT" ] && kill -INT -"$PPID" && sleep 1
exec pulumi "$@"
`;

function wrapped(stack: Stack): string {
  stack.write("bin/pulumi", WRAPPER);
  const bin = join(stack.folder, "program", "bin");
  chmodSync(join(bin, "pulumi"), 0o755);
  return `${bin}:${stack.env["PATH"]}`;
}

/** A repair, and what a colleague does right before its update. */
function repair(stack: Stack, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return svc(stack, ["drift", "--repair", "--yes", ...args], { env: { PATH: wrapped(stack), ...env } });
}

/** The entries of the state by URN and id, without what each update of the engine writes. */
async function entries(stack: Stack): Promise<Record<string, unknown>> {
  const { stdout } = await pulumi(["stack", "export", "--show-secrets"], {
    cwd: join(stack.folder, "program"),
    env: stack.env,
  });
  const { deployment } = JSON.parse(stdout) as { deployment: { resources: Record<string, unknown>[] } };
  const filled = (value: unknown): Record<string, string[]> =>
    Object.fromEntries(Object.entries((value ?? {}) as Record<string, string[]>).filter(([, urns]) => urns.length > 0));
  return Object.fromEntries(
    deployment.resources.map(
      ({ modified: _modified, created: _created, dependencies, propertyDependencies, ...rest }) => [
        String(rest["urn"]),
        {
          ...rest,
          // The SDK sends them in the order in which promises end.
          dependencies: ((dependencies ?? []) as string[]).toSorted(),
          propertyDependencies: filled(propertyDependencies),
        },
      ],
    ),
  );
}

const AUTH = `const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });`;
const domain = (name: string, options = "{}"): string =>
  `const ${name} = new svc.WhitelistDomain("${name}", { projectId: auth.projectId, domain: "https://${name}.example.com" }, ${options});`;
const api = (size: number): string =>
  `const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: { min: 0.5, max: ${size} } });`;

async function computeDrift(stack: Stack, size: number): Promise<string> {
  const id = (await stack.resource("api")).id.split("/")[1] ?? "";
  await stack.service.edit({ kind: "endpoint", id, set: { autoscaling_limit_max_cu: size } });
  return id;
}

test("what a colleague deploys between the look and the repair stays in the state", async () => {
  const stack = await Stack.create({ program: AUTH + api(2) });
  expect(await stack.up()).toMatchObject({ code: 0 });
  await computeDrift(stack, 8);
  await stack.service.clearRequests();
  stack.program(AUTH + api(2) + domain("theirs"));
  const target = (await stack.resource("auth")).urn.replace("AuthIntegration::auth", "WhitelistDomain::theirs");
  expect(
    await repair(stack, [], { BEFORE_UP: `pulumi up --yes --skip-preview --non-interactive --target '${target}'` }),
  ).toMatchObject({ code: 1, stderr: expect.stringMatching(/nothing was changed: the state has changed since/) });
  // The colleague's: the repair has sent nothing.
  expect(await stack.service.mutations()).toEqual(["POST /projects/{project_id}/auth/domains"]);
  expect((await stack.resources()).map(({ urn }) => urn.split("::").at(-1)).toSorted()).toEqual([
    "api",
    "auth",
    "theirs",
  ]);
  expect((await drift(stack)).report.drift.map(({ name }) => name)).toEqual(["api"]);
});

test("what depends on a resource that is created again, or is its child, keeps its place in the state", async () => {
  const stack = await Stack.create({
    program: AUTH + domain("first") + domain("second", "{ parent: first, dependsOn: [first], deletedWith: first }"),
  });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await entries(stack);
  await stack.service.edit({ kind: "domain", id: "https://first.example.com", delete: true });
  expect(await repair(stack, [])).toMatchObject({ code: 0 });
  expect(await entries(stack)).toEqual(before);
});

test("a message of the service about a lock is not that of the engine: what was last deployed stays in the state", async () => {
  const stack = await Stack.create({ program: AUTH + api(2) });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await entries(stack);
  await computeDrift(stack, 8);
  await stack.service.fault({
    method: "PATCH",
    times: 50,
    status: 400,
    body: { code: "INVALID", message: "the endpoint is currently locked by an administrator" },
  });
  const failed = await repair(stack, []);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/by an administrator/) });
  expect(await entries(stack)).toEqual(before);
});

test("Ctrl-C while the state is put back does not stop that", async () => {
  const stack = await Stack.create({ program: AUTH + api(2) });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await entries(stack);
  await computeDrift(stack, 8);
  await stack.service.fault({ method: "PATCH", times: 50, status: 400, body: { code: "INVALID", message: "no" } });
  const command = [join(ROOT, "dist", "cli", "main.js"), "drift", "--repair", "--yes"];
  const code = await new Promise<number | null>((resolve) => {
    const child = spawn(process.execPath, command, {
      cwd: join(stack.folder, "program"),
      env: { ...stack.env, PATH: wrapped(stack), INTERRUPT: "1" },
      stdio: "ignore",
      detached: true,
    });
    child.on("close", resolve);
  });
  expect(code).toBe(1);
  expect(await entries(stack)).toEqual(before);
});

test("nothing is deleted where the repair is refused, whatever the engine is told to do on an error", async () => {
  const stack = await Stack.create({ program: AUTH + api(2) + domain("first") });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await entries(stack);
  const id = await computeDrift(stack, 8);
  await stack.service.clearRequests();
  const edit = { project_id: "prj-demo", kind: "endpoint", id, set: { autoscaling_limit_max_cu: 4 } };
  const refused = await repair(stack, [], {
    PULUMI_CONTINUE_ON_ERROR: "true",
    BEFORE_UP: `node -e 'fetch(process.env.EDIT, { method: "POST", body: process.env.BODY })'`,
    EDIT: `${stack.service.emulator.url}/_emulator/edit`,
    BODY: JSON.stringify(edit),
  });
  expect({ ...refused, mutations: await stack.service.mutations() }).toMatchObject({
    code: 9,
    stderr: expect.stringMatching(/nothing was changed: the service holds something else than what was shown/),
    mutations: [],
  });
  expect(await entries(stack)).toEqual(before);
});

test("names with a separator are told apart, and nothing is deleted", async () => {
  const odd = `new svc.WhitelistDomain("x::first", { projectId: auth.projectId, domain: "https://odd.example.com", }, { dependsOn: [first] });
new svc.EmailServer("ma il::$ü", { projectId: auth.projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  password: pulumi.secret("p"), senderEmail: "auth@example.com", senderName: "Demo" });`;
  const stack = await Stack.create({ program: AUTH + domain("first") + odd });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await entries(stack);
  await stack.service.edit({ kind: "email_server", set: { host: "smtp.foreign.example.com" } });
  await stack.service.edit({ kind: "domain", id: "https://odd.example.com", delete: true });
  await stack.service.clearRequests();
  const done = await repair(stack, []);
  expect({ ...done, mutations: await stack.service.mutations() }).toMatchObject({ code: 0 });
  expect(Object.keys(await entries(stack)).toSorted()).toEqual(Object.keys(before).toSorted());
  expect(await drift(stack)).toMatchObject({ code: 0 });
});

test("where the refresh of the update fails, what was last deployed stays in the state", async () => {
  const stack = await Stack.create({ program: AUTH + api(2) + domain("first") });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const before = await entries(stack);
  await computeDrift(stack, 8);
  await stack.service.edit({ kind: "domain", id: "https://first.example.com", delete: true });
  const failing = { path: "/projects/{project_id}/auth/domains", times: 500, status: 403, body: { message: "no" } };
  const failed = await repair(stack, [], {
    BEFORE_UP: `node -e 'fetch(process.env.FAULTS, { method: "POST", body: process.env.BODY })'`,
    FAULTS: `${stack.service.emulator.url}/_emulator/faults`,
    BODY: JSON.stringify(failing),
  });
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/403|no/) });
  await stack.service.clearFaults();
  expect(await entries(stack)).toEqual(before);
});

test("all that a state can hold of a resource is there afterwards, and pending edits are pending as before", async () => {
  const program = (size: number) => `
const stackTransform = pulumi.runtime.registerStackTransformation(({ props, opts }) => ({ props, opts: { ...opts, additionalSecretOutputs: ["host"] } }));
class Group extends pulumi.ComponentResource {
  constructor(name, opts) { super("their:group:Group", name, {}, opts); this.registerOutputs({ of: pulumi.secret("canary-component") }); }
}
const one = new Group("one"), two = new Group("two", { parent: one }), three = new Group("three", { parent: two, protect: true });
const provider = new svc.Provider("other", {}, { parent: two });
${AUTH}
${domain("base", '{ retainOnDelete: true, aliases: [{ name: "früher" }, "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:WhitelistDomain::old"] }')}
${domain("child", "{ parent: base, deletedWith: base, ignoreChanges: ['projectId'], dependsOn: [three], replaceOnChanges: ['domain'] }")}
const api = new svc.ComputeEndpoint("api", {
  projectId: auth.projectId, branchId: "br-dev", name: base.id.apply(() => "api"), size: { min: 0.5, max: ${size} },
  settings: { pgSettings: { "app.token": pulumi.secret("canary-nested"), work_mem: "64MB" } },
}, { parent: three, provider, protect: true, ignoreChanges: ["name"], customTimeouts: { create: "1h", update: "90s", delete: "5m", read: "45s" }, hideDiffs: ["settings.pgSettings"] });
const looked = svc.ComputeEndpoint.get("looked", api.id);
const mail = new svc.EmailServer("mail", {
  projectId: auth.projectId, type: "standard", host: pulumi.secret("smtp.example.com"), port: 587, username: "mailer",
  password: pulumi.secret("canary-password"), senderEmail: "auth@example.com", senderName: looked.host.apply(() => "Demo"),
}, { dependsOn: [child, api] });
exports.secret = pulumi.secret({ nested: [{ key: "canary-output" }] });
exports.host = looked.host;`;
  const stack = await Stack.create({ program: program(2) });
  const up = await stack.up();
  expect(up).toMatchObject({ code: 0 });
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  const before = await entries(stack);
  stack.program(program(4));
  const changes = async (): Promise<string[]> =>
    (await stack.preview("--diff")).text.split("\n").filter((line) => !/Duration|Previewing|View/.test(line));
  const pending = await changes();
  await computeDrift(stack, 8);
  await stack.service.edit({ kind: "email_server", set: { host: "smtp.foreign.example.com", sender_name: "Theirs" } });
  await stack.service.edit({ kind: "domain", id: "https://base.example.com", delete: true });
  await stack.service.edit({ kind: "domain", id: "https://child.example.com", delete: true });
  const { code, stdout, stderr } = await repair(stack, ["--json"]);
  expect({ code, said: code === 0 ? "" : stdout + stderr }).toEqual({ code: 0, said: "" });
  expect(await entries(stack)).toEqual(before);
  expect((await changes()).toSorted()).toEqual(pending.toSorted());
  expect(
    await stack.leaks([
      "canary-component",
      "canary-nested",
      "canary-password",
      "canary-output",
      stack.service.emulator.apiKey,
    ]),
  ).toEqual([]);
});

test("what an earlier update left unfinished elsewhere stays as it is", async () => {
  const stack = await Stack.create({ program: AUTH + api(2) + domain("first") });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const state = JSON.parse(await stack.exported()) as {
    deployment: { resources: Record<string, unknown>[]; pending_operations?: unknown[] };
  };
  const { resources } = state.deployment;
  const first = resources.find(({ urn }) => String(urn).endsWith("::first")) ?? {};
  const urn = String(first["urn"]).replace("::first", "::ghost");
  resources.push({ ...first, id: "prj-demo/https://left.example.com", delete: true });
  state.deployment.pending_operations = [{ resource: { ...first, urn, id: "" }, type: "creating" }];
  stack.write("state.json", JSON.stringify(state));
  expect(await stack.run("stack", "import", "--file", "state.json", "--force")).toMatchObject({ code: 0 });
  const read = async () => (JSON.parse(await stack.exported()) as typeof state).deployment;
  const before = await read();
  await computeDrift(stack, 8);
  await stack.service.clearRequests();
  const done = await repair(stack, ["api"]);
  const after = await read();
  expect({ done, mutations: await stack.service.mutations() }).toMatchObject({
    done: { code: 0 },
    mutations: ["PATCH /projects/{project_id}/endpoints/{endpoint_id}"],
  });
  expect(after.resources.filter((one) => one["delete"] === true)).toHaveLength(1);
  expect(after.pending_operations?.length).toBe(before.pending_operations?.length);
});
