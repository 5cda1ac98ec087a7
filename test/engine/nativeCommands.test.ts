import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { FleetReport } from "../../src/cli/fleet/report";
import { standardsOf } from "../../src/cli/declarations";
import { nameInUrn, typeInUrn } from "../../src/contract/identifiers";
import { KINDS, type Kind } from "../../src/contract/pointer";
import { handMadeProject } from "../support/handMade";
import { ROOT, WHOLE } from "../support/cli";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

/* Our commands on a stack of native resources, and on one of both kinds, with the real engine. */

const SETTING = "canary-native-setting";
const PASSWORD = "canary-native-password";
const CLIENT_SECRET = "canary-native-client";

const native = (kind: Kind, name: string, args: object | string, options = "{}"): string =>
  `native("${kind}", "${name}", ${typeof args === "string" ? args : JSON.stringify(args)}, [], ${options});`;
const dynamic = (name: string, branch: string, options = "{}"): string =>
  `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "${branch}", size: 1 }, ${options});`;

const idOf = async (stack: Stack, name: string): Promise<string> => (await stack.resource(name)).id.split("/")[1] ?? "";

/** Somebody resizes the computes. */
async function resized(stack: Stack, size: number, ...names: string[]): Promise<void> {
  const set = { autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size };
  for (const name of names) await stack.service.edit({ kind: "endpoint", id: await idOf(stack, name), set });
}

async function fleet(stack: Stack): Promise<FleetReport> {
  const { stdout } = await svc(stack, ["fleet", "drift", "--json"]);
  // The command's JSON output.
  return JSON.parse(stdout) as FleetReport;
}

test("drift in all its forms, and fleet: the same drift of every depth, accepted in words, ignored, repaired", async () => {
  const settings = `{ pgSettings: { "app.token": pulumi.secret("${SETTING}"), work_mem: "64MB" } }`;
  const mail = `type: "standard", host: "smtp.example.com", port: 587, username: "mailer", password: pulumi.secret("${PASSWORD}"), senderEmail: "auth@example.com", senderName: "Example"`;
  const stack = await Stack.create({
    native: true,
    program: [
      native("ComputeEndpoint", "api", `{ projectId: "prj-demo", branchId: "br-dev", size: 1, settings: ${settings} }`),
      native("ComputeEndpoint", "web", `{ projectId: "prj-demo", branchId: "br-test", size: 1 }`),
      `const auth = ${native("AuthIntegration", "auth", { projectId: "prj-demo" })}`,
      native("EmailServer", "mail", `{ projectId: "prj-demo", ${mail} }`, "{ dependsOn: auth }"),
      native("ComputeEndpoint", "looked", {}, '{ id: "prj-demo/ep-demo-main-10000001" }'),
      native(
        "WhitelistDomain",
        "site",
        { projectId: "prj-demo", domain: "https://a.example.com" },
        "{ dependsOn: auth }",
      ),
    ].join("\n"),
  });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0, report: { drift: [] } });
  expect((await fleet(stack)).stacks).toMatchObject([{ drift: [] }]);

  const web = await idOf(stack, "web");
  await service.edit({
    kind: "endpoint",
    id: await idOf(stack, "api"),
    set: { settings: { pg_settings: { "app.token": "theirs", work_mem: "64MB" } } },
  });
  await service.edit({ kind: "email_server", set: { host: "smtp.other.example.com" } });
  // What a program only looks up may change.
  await resized(stack, 2, "web", "looked");
  await service.edit({ kind: "domain", id: "https://a.example.com", delete: true });
  const { code, report } = await drift(stack, "--unmanaged");
  expect(code).toBe(7);
  expect(
    report.drift.map(({ name, change, properties }) => [name, change, ...properties.map(({ path }) => path)]),
  ).toEqual([
    ["api", "changed", 'settings.pgSettings["app.token"]'],
    ["web", "changed", "size"],
    ["mail", "changed", "host"],
    ["site", "deleted"],
  ]);
  expect(report.unmanaged.map(({ id }) => id)).toEqual(["prj-demo/github", "prj-demo/google"]);
  const [of] = (await fleet(stack)).stacks;
  expect(of?.drift).toEqual(report.drift);
  expect(JSON.stringify([report, of])).not.toContain("theirs");

  expect(await svc(stack, ["drift", "--ignore", "web", "--reason", "agreed"])).toMatchObject({ code: 0 });
  const ignoring = await drift(stack);
  expect(ignoring.report.tolerated.map(({ name }) => name)).toEqual(["web"]);
  expect(await svc(stack, ["drift", "--repair", "--yes"])).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0, report: { drift: [] } });
  rmSync(join(stack.folder, "program", "svc-drift.json"));
  expect(await svc(stack, ["drift", "--repair", "--yes", "web"])).toMatchObject({ code: 0 });
  expect(await idOf(stack, "web")).toBe(web);
  expect(await stack.leaks([SETTING, PASSWORD])).toEqual([]);
  await stack.finish(before);
});

// It has processes of its own, and takes half a minute.
if (WHOLE)
  test("in the middle of a migration both kinds are seen, and repaired in one run", async () => {
    const both = [dynamic("one", "br-test"), dynamic("two", "br-dev")];
    const stack = await Stack.create({ native: true, ownProcess: true, program: both.join("\n") });
    expect(await stack.up()).toMatchObject({ code: 0 });
    const alias = '{ aliases: [{ type: "pulumi-nodejs:dynamic/svc:ComputeEndpoint" }] }';
    const args = { projectId: "prj-demo", branchId: "br-dev", size: 1 };
    stack.program([both[0], native("ComputeEndpoint", "two", args, alias)].join("\n"));
    expect(await stack.up("--target", "**svc:index:ComputeEndpoint::two")).toMatchObject({ code: 0 });
    const types = async () => (await stack.resources()).map(({ type }) => type).toSorted();
    expect(await types()).toEqual(["pulumi-nodejs:dynamic/svc:ComputeEndpoint", "svc:index:ComputeEndpoint"]);

    await resized(stack, 2, "one", "two");
    const { report } = await drift(stack, "--unmanaged");
    expect(report).toMatchObject({ drift: [{ name: "one" }, { name: "two" }], unmanaged: [] });
    expect((await fleet(stack)).stacks).toMatchObject([{ drift: report.drift }]);
    expect((await svc(stack, ["env"])).stdout).toMatch(/^ONE_HOST=[^]*^TWO_HOST=/m);
    const audit = await svc(stack, ["doctor", "--audit", "--max-size", "0.5"]);
    expect(audit.stdout).toMatch(/ComputeEndpoint one: can have[^]*ComputeEndpoint two: can have/);
    expect(await svc(stack, ["doctor"])).toMatchObject({ code: 0 });

    const repaired = await svc(stack, ["drift", "--repair", "--yes"]);
    expect(repaired).toMatchObject({ code: 0, stdout: expect.stringMatching(/repaired one[^]*repaired two/) });
    expect(await drift(stack)).toMatchObject({ code: 0 });
    expect(await types()).toHaveLength(2);
  });

// It has processes of its own, and takes half a minute.
if (WHOLE)
  test("a program's own components in a project that is called svc are not asked for, nor are their children", async () => {
    const program = `
class Compute extends pulumi.ComponentResource {
  constructor(name, args, opts) { super("svc:index:ComputeEndpoint", name, args, opts); this.registerOutputs(args); }
}
class Theirs extends pulumi.dynamic.Resource {
  constructor(name, opts) {
    super({ create: async () => ({ id: "1", outs: {} }), read: async () => { throw new Error("theirs was asked"); } }, name, {}, opts);
  }
}
const own = new Compute("own", { projectId: "prj-demo", size: 4, host: "own.example.com" });
new Theirs("theirs", { parent: own });
${native("ComputeEndpoint", "api", { projectId: "prj-demo", branchId: "br-dev", size: 1 }, "{ parent: own }")}`;
    const stack = await Stack.create({ native: true, ownProcess: true, program });
    const { emulator } = stack.service;
    const yaml = readFileSync(join(stack.folder, "program", "Pulumi.yaml"), "utf8");
    stack.write("Pulumi.yaml", yaml.replace("name: proj", "name: svc"));
    rmSync(join(stack.folder, "program", "Pulumi.dev.yaml"));
    expect(await stack.run("stack", "init", "dev")).toMatchObject({ code: 0 });
    await stack.config("svc:baseUrl", emulator.baseUrl);
    await stack.config("svc:apiKey", emulator.apiKey, true);
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await drift(stack)).toMatchObject({ code: 0, report: { drift: [] } });
    expect((await svc(stack, ["env"])).stdout).not.toContain("own.example.com");
    expect((await svc(stack, ["doctor", "--audit", "--max-size", "2"])).stdout).not.toMatch(/size-over-limit/);
    const [api] = (await stack.service.endpoints()).filter(({ branch_id }) => branch_id === "br-dev");
    await stack.service.edit({ kind: "endpoint", id: String(api?.["id"]), set: { autoscaling_limit_max_cu: 2 } });
    const repaired = await svc(stack, ["drift", "--repair", "--yes"]);
    expect(repaired).toMatchObject({ code: 0, stdout: expect.stringMatching(/repaired api/) });
    expect(await stack.destroy()).toMatchObject({ code: 0 });
  });

test("each kind is imported with neither defaults nor secrets, and a program of its inputs changes nothing", async () => {
  const stack = await Stack.create({ native: true, program: "", emulator: { secretAnswers: "masked" } });
  await handMadeProject(stack.service.emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  const refused = await svc(stack, ["import", "--project", "prj-demo"]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/^pulumi-svc: this program uses the native plugin, .*pulumi import svc:index:KIND/);

  const imported = async (resources: readonly { kind: Kind; id: string }[], from = 0) => {
    const named = resources.map(({ kind, id }, at) => ({ type: `svc:index:${kind}`, name: `r${from + at}`, id }));
    stack.write("import.json", JSON.stringify({ resources: named }));
    const run = await stack.run("import", "--file", "import.json", "--yes", "--protect=false", "--generate-code=false");
    expect(run).toMatchObject({ code: 0 });
  };
  const [first] = await stack.service.endpoints();
  await imported([{ kind: "ComputeEndpoint", id: `prj-demo/${String(first?.["id"])}` }]);
  const { report } = await drift(stack, "--unmanaged");
  await imported([...report.unmanaged, ...report.byItself], 1);
  const resources = (await stack.resources()).map(({ type, urn, inputs }) => {
    const kind = KINDS.find((one) => type.endsWith(`:${one}`)) as Kind;
    return { kind, name: nameInUrn(urn), inputs };
  });
  expect(new Set(resources.map(({ kind }) => kind))).toEqual(
    new Set(["AuthIntegration", "ComputeEndpoint", "EmailServer", "OAuthProvider", "WhitelistDomain"]),
  );
  for (const { kind, inputs } of resources) {
    for (const [name, value] of Object.entries(standardsOf(kind)))
      if (value !== undefined) expect([name, inputs[name]]).not.toEqual([name, value]);
    expect(JSON.stringify(inputs)).not.toMatch(/canary|4dabf18193072939515e22adb298388d/);
  }
  const program = (password: object): string =>
    resources
      .map(({ kind, name, inputs }) => native(kind, name, kind === "EmailServer" ? { ...inputs, ...password } : inputs))
      .join("\n");
  // A program needs what no service shows.
  stack.program(program({}));
  expect((await stack.preview()).text).toMatch(/EmailServer .*password: is required for the type "standard"/);
  stack.program(program({ password: PASSWORD }));
  const { stdout } = await stack.preview("--json");
  const { steps } = JSON.parse(stdout) as { steps: { op: string; urn: string }[] };
  const changes = steps.filter(({ op }) => op !== "same").map(({ op, urn }) => `${op} ${typeInUrn(urn)}`);
  expect(changes).toEqual(["update svc:index:EmailServer"]);
  await stack.service.clearRequests();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual(["PATCH /projects/{project_id}/auth/email_server"]);
  // Own credentials cannot be read, either: without them the program asks for the shared keys.
  const { drift: left } = (await drift(stack)).report;
  expect(left.map(({ id, properties }) => [id, ...properties.map(({ path }) => path)])).toEqual([
    ["prj-demo/github", "clientId"],
  ]);
  expect(await stack.leaks([CLIENT_SECRET])).toEqual([]);
});

test("all redirect domains are imported as one Whitelist", async () => {
  const stack = await Stack.create({ native: true, program: "" });
  await handMadeProject(stack.service.emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  const run = ["import", "svc:index:Whitelist", "domains", "prj-demo", "--yes", "--protect=false"];
  expect(await stack.run(...run, "--generate-code=false")).toMatchObject({ code: 0 });
  const { inputs } = await stack.resource("domains");
  expect(inputs).toMatchObject({
    projectId: "prj-demo",
    domains: ["http://localhost:3000", "https://app.example.com"],
  });
  stack.program(native("Whitelist", "domains", inputs));
  expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
});

test("drift --accept edits the program, --ignore tolerates, --unmanaged names what nobody declares", async () => {
  const stack = await Stack.create({ native: true, program: "" });
  const program = 'new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });';
  stack.program(program, "pulumi-svc/native");
  expect(await stack.up()).toMatchObject({ code: 0 });
  await resized(stack, 2, "api");
  expect(await svc(stack, ["drift", "--ignore", "api", "--reason", "a trial"])).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0 });
  await resized(stack, 4, "api");
  const accepted = await svc(stack, ["drift", "--accept", "api", "--force"]);
  expect(accepted).toMatchObject({ code: 0 });
  expect(readFileSync(join(stack.folder, "program", "index.js"), "utf8")).toContain("size: 4");
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0 });
  const unmanaged = await svc(stack, ["drift", "--unmanaged"]);
  expect(unmanaged.stdout).toMatch(/br-main/);
  expect(unmanaged.stdout).not.toContain((await stack.resource("api")).id);
});

test("native resources without the entry in Pulumi.yaml: drift and the doctor say it, and with it the way back is open", async () => {
  const stack = await Stack.create({
    native: true,
    program: native("ComputeEndpoint", "api", { projectId: "prj-demo", branchId: "br-dev", size: 1 }),
  });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const project = "name: proj\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n";
  stack.write("Pulumi.yaml", `${project}packages: {}\n`);
  stack.program(dynamic("api", "br-dev"), "pulumi-svc");
  const words = "the stack holds native resources, and Pulumi.yaml names no package";
  const said = expect.stringMatching(
    new RegExp(`${words}: pulumi refresh failed: .*\\. Add "packages: .*run a whole pulumi up, and then remove`),
  );
  expect(await svc(stack, ["drift"])).toMatchObject({ code: 1, stderr: said });
  expect(await svc(stack, ["drift", "--repair", "--yes"])).toMatchObject({ code: 1, stderr: said });
  const doctor = await svc(stack, ["doctor"]);
  expect(doctor).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(`warning +native plugin +${words}: .*\n +Add "packages`),
  });

  stack.write("Pulumi.yaml", `${project}packages: { svc: ${join(ROOT, "plugin")} }\n`);
  expect(await drift(stack)).toMatchObject({ code: 0, report: { drift: [] } });
  expect((await svc(stack, ["doctor"])).stdout).not.toContain("native plugin");
  for (const command of [
    ["preview", "--refresh"],
    ["refresh", "--preview-only"],
    ["destroy", "--preview-only"],
  ])
    expect(await stack.run(...command)).toMatchObject({ code: 0 });
  expect(await stack.run("up", "--refresh", "--yes", "--skip-preview")).toMatchObject({ code: 0 });
  stack.write("Pulumi.yaml", `${project}packages: {}\n`);
  expect(await drift(stack)).toMatchObject({ code: 0, report: { drift: [] } });
  await stack.finish(before);
});
