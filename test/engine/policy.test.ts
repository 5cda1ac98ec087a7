import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { auditRules } from "../../src/audit/rules";
import { ROOT } from "../support/cli";
import { Stack } from "../support/Stack";

const EXAMPLE = join(ROOT, "examples", "policy");
const SECRETS = ["canary-client-Pk3", "canary-setting-Pk3", "canary-domain-pk3", "canary-account-Pk3"];

const BROKEN = `
  const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
  new svc.OAuthProvider("google", { projectId, providerId: "google" });
  new svc.OAuthProvider("github", { projectId, providerId: "github", clientId: "app", clientSecret: "${SECRETS[0]}" });
  new svc.EmailServer("mail", { projectId, type: "shared" });
  new svc.WhitelistDomain("local", { projectId, domain: "http://localhost:3000" });
  new svc.WhitelistDomain("plain", { projectId, domain: pulumi.secret("http://${SECRETS[2]}.example.com") });
  new svc.WhitelistDomain("wild", { projectId, domain: "https://*.example.com", expiresOn: "2020-01-31" });
  new svc.ComputeEndpoint("api", {
    projectId, branchId: "br-dev", size: 16, scaleToZero: false,
    settings: { pgSettings: { "app.token": pulumi.secret("${SECRETS[1]}") } },
  });
  new svc.Provider("other", { apiKey: "${SECRETS[3]}", baseUrl: "http://127.0.0.1:9/api/v2" });`;

const MENDED = `
  const options = { protect: true };
  const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" }, options);
  new svc.OAuthProvider("github", {
    projectId, providerId: "github", clientId: "app", clientSecret: svc.fromEnv("GITHUB_SECRET"), adopt: true,
  }, options);
  new svc.Whitelist("domains", { projectId, domains: ["https://app.example.com"] }, options);
  new svc.ComputeEndpoint("api", {
    projectId, branchId: "br-dev", size: 4, scaleToZero: true,
    settings: { pgSettings: { "app.token": svc.fromEnv("APP_TOKEN") } },
  }, options);`;

/** Each reported violation as `level rule resource`. */
const violations = (text: string): string[] =>
  [...text.matchAll(/\[(mandatory|advisory)\]\s+(\S+)\s+\(.*: ([^)]+)\)/g)]
    .map(([, level, rule, name]) => `${level} ${rule} ${name}`)
    .sort();

/** The key is in the environment, so no state contains it. */
async function stackOf(program: string): Promise<Stack> {
  const stack = await Stack.create({ program, configured: false });
  stack.env["SVC_BASE_URL"] = stack.service.emulator.baseUrl;
  stack.env["SVC_API_KEY"] = stack.service.emulator.apiKey;
  return stack;
}

/** The flags for a pack with its configuration: the limit, and a test's additions. */
function flags(stack: Stack, pack: string, more: object = {}): string[] {
  stack.write("policy.json", JSON.stringify({ "size-over-limit": { maxSizeCu: 8 }, ...more }));
  return ["--policy-pack", pack, "--policy-pack-config", "policy.json"];
}

/** The same for the pack without types: checking them takes two seconds in each phase of a command. */
function configuration(stack: Stack, more: object = {}): string[] {
  const pack = join(stack.folder, "pack");
  if (!existsSync(pack)) {
    cpSync(EXAMPLE, pack, {
      recursive: true,
      filter: (source) => !/node_modules|\.ts$|tsconfig/.test(basename(source)),
    });
    const compilerOptions = { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022 };
    const { outputText } = transpileModule(readFileSync(join(EXAMPLE, "index.ts"), "utf8"), { compilerOptions });
    writeFileSync(join(pack, "index.js"), outputText);
    symlinkSync(join(ROOT, "node_modules"), join(pack, "node_modules"));
  }
  return flags(stack, pack, more);
}

const UNPROTECTED = ["api", "auth", "github", "google", "local", "mail", "plain", "wild"];
const EXPECTED = [
  ...UNPROTECTED.map((name) => `advisory not-protected ${name}`),
  "advisory never-scales-to-zero api",
  "advisory always-on-without-restart api",
  "advisory redirect-expired wild",
  "advisory whitelist-not-exclusive local",
  "advisory whitelist-not-exclusive plain",
  "advisory whitelist-not-exclusive wild",
  // The key of the stack's configuration, and the one of the program.
  "advisory api-key-in-state default",
  "advisory api-key-in-state other",
  "mandatory redirect-localhost local",
  "mandatory redirect-plain-http plain",
  "mandatory redirect-wildcard wild",
  "mandatory secret-in-state api",
  "mandatory secret-in-state github",
  "mandatory shared-mail-server mail",
  "mandatory shared-oauth-keys google",
  "mandatory size-over-limit api",
].sort();

test("each rule has its violation in the plan of a program that breaks it, and no secret is reported", async () => {
  expect(new Set(EXPECTED.map((one) => one.split(" ")[1]))).toEqual(new Set(auditRules.map(({ name }) => name)));
  const stack = await Stack.create({ program: BROKEN });
  const plan = await stack.preview("--diff", ...flags(stack, EXAMPLE));
  expect(plan.code).not.toBe(0);
  expect(violations(plan.text)).toEqual(EXPECTED);
  for (const { remedy } of auditRules) expect(plan.text).toContain(remedy);
  expect(plan.text).toContain("can have 16 CU, and the limit is 8 CU");
  expect(await stack.leaks(SECRETS)).toEqual([]);
});

test("a mandatory violation stops pulumi up before anything is sent; the mended program passes without a violation", async () => {
  const stack = await stackOf(
    'new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 16 });',
  );
  const before = await stack.service.state();
  // Also without the preview in it.
  for (const args of [
    ["up", "--yes"],
    ["up", "--yes", "--skip-preview"],
  ]) {
    const refused = await stack.run(...args, ...configuration(stack));
    expect(refused.code).not.toBe(0);
    expect(violations(refused.text)).toContain("mandatory size-over-limit api");
    expect(await stack.service.mutations()).toEqual([]);
  }
  const advisory = { "size-over-limit": { maxSizeCu: 8, enforcementLevel: "advisory" } };
  const allowed = await stack.up(...configuration(stack, advisory));
  expect(allowed.code).toBe(0);
  expect(violations(allowed.text)).toContain("advisory size-over-limit api");

  // In the plan and in the update.
  stack.program(MENDED);
  stack.env["GITHUB_SECRET"] = "canary-client-Pk4";
  stack.env["APP_TOKEN"] = "canary-setting-Pk4";
  const up = await stack.run("up", "--yes", "--diff", ...configuration(stack));
  expect(up.code).toBe(0);
  expect(violations(up.text)).toEqual([]);
  expect(await stack.leaks(["canary-client-Pk4", "canary-setting-Pk4"])).toEqual([]);
  expect(await stack.run("state", "unprotect", "--all", "--yes")).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("an exception accepts what a rule finds in one resource up to its last day, and has to have a reason", async () => {
  const computes = ["br-dev", "br-main"]
    .map((branchId, index) => {
      const type = branchId === "br-main" ? `, type: "read_only"` : "";
      return `new svc.ComputeEndpoint("api${index}", { projectId: "prj-demo", branchId: "${branchId}", size: 16 ${type} }, { protect: true });`;
    })
    .join("\n");
  const stack = await stackOf(computes);
  const accept = (...exceptions: object[]) => configuration(stack, { "size-over-limit": { maxSizeCu: 8, exceptions } });
  const one = await stack.preview(
    ...accept(
      { resource: "api0", reason: "the migration of this week", until: new Date().toISOString().slice(0, 10) },
      { resource: "api1", reason: "a load test", until: "2020-01-31" },
    ),
  );
  expect(one.code).not.toBe(0);
  expect(violations(one.text)).toEqual(["mandatory size-over-limit api1"]);
  expect(one.text).toContain('The exception "a load test" ended on 2020-01-31.');
  const urn = "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::api1";
  const both = await stack.preview(
    ...accept({ resource: "api0", reason: "the migration" }, { resource: urn, reason: "reports", until: "2999-01-31" }),
  );
  expect(both.code).toBe(0);
  expect(violations(both.text)).toEqual([]);
  const without = await stack.preview(...accept({ resource: "api0" }, { resource: urn, reason: "" }));
  expect(without.code).not.toBe(0);
  expect(without.text).toMatch(/reason/);
  const noDay = await stack.preview(...accept({ resource: "api0", reason: "the migration", until: "2027-02-30" }));
  expect(noDay.code).not.toBe(0);
  expect(noDay.text).toMatch(/until/);
});

test("a value that is not known in the preview is judged by the update, before its resource is sent", async () => {
  const stack = await stackOf(`
    const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" }, { protect: true });
    const later = (value) => auth.jwksUrl.apply(() => value);
    new svc.OAuthProvider("google", {
      projectId: "prj-demo", providerId: "google", clientId: later("app"), clientSecret: svc.fromEnv("SECRET"), adopt: true,
    }, { protect: true, dependsOn: auth });
    new svc.ComputeEndpoint("api", {
      projectId: "prj-demo", branchId: "br-dev", size: { min: 1, max: later(16) }, scaleToZero: later(true),
    }, { protect: true });`);
  stack.env["SECRET"] = "canary-client-Pk5";
  const up = await stack.run("up", "--yes", ...configuration(stack));
  expect(up.text).not.toContain("can't run policy");
  const [plan = "", update = ""] = up.text.split(/^Updating/m);
  expect(violations(plan)).toEqual([]);
  expect(up.code).not.toBe(0);
  expect(violations(update)).toEqual(["mandatory size-over-limit api"]);
  expect(await stack.service.mutations()).not.toContainEqual(expect.stringContaining("endpoints"));
  expect(await stack.leaks(["canary-client-Pk5"])).toEqual([]);
});
