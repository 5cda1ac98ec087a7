import { auditRules } from "../../src/audit/rules";
import { auditSchema } from "../../src/cli/doctor/audit";
import { Stack } from "../support/Stack";
import { type Ended, svc } from "../support/svc";

const SECRET = "canary-client-secret";

const BROKEN = `
  const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
  const inAuth = { projectId: auth.projectId };
  new svc.OAuthProvider("google", { ...inAuth, providerId: "google", adopt: true });
  new svc.OAuthProvider("microsoft", { ...inAuth, providerId: "microsoft", clientId: "own", clientSecret: "${SECRET}" });
  new svc.EmailServer("mail", { ...inAuth, type: "shared" });
  new svc.WhitelistDomain("local", { ...inAuth, domain: "http://localhost:3000" });
  new svc.WhitelistDomain("plain", { ...inAuth, domain: "http://app.example.com" });
  new svc.WhitelistDomain("wild", { ...inAuth, domain: "https://*.example.com", expiresOn: "2020-01-31" });
  new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 2, scaleToZero: false });
  svc.ComputeEndpoint.get("found", "prj-demo/ep-demo-main-10000001");`;

const PREVIEW = `{ origin: "https://preview.example.com", expiresOn: "2020-02-29" }`;

const mended = (protect: boolean): string => `
  const opts = { protect: ${protect} };
  const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" }, opts);
  const inAuth = { projectId: auth.projectId };
  new svc.OAuthProvider("microsoft", { ...inAuth, providerId: "microsoft", clientId: "own", clientSecret: svc.fromEnv("MICROSOFT_SECRET") }, opts);
  for (const providerId of ["google", "github"])
    new svc.OAuthProvider(providerId, { ...inAuth, providerId, absent: true, adopt: true }, opts);
  new svc.Whitelist("domains", { ...inAuth, domains: ["https://app.example.com", ${PREVIEW}] }, opts);
  new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1, scaleToZero: false, restartTriggers: ["2026-03-01"] }, opts);`;

const audit = (stack: Stack, ...args: string[]): Promise<Ended> => svc(stack, ["doctor", "--audit", ...args]);

/** The findings as `rule name`, and the rest of the report. */
async function report(stack: Stack, ...args: string[]) {
  const { code, stdout } = await audit(stack, "--json", ...args);
  const { findings, accepted, ...rest } = auditSchema.strict().parse(JSON.parse(stdout));
  const named = (list: readonly { rule: string; name: string }[]) => list.map(({ rule, name }) => `${rule} ${name}`);
  return { code, findings: named(findings), accepted: named(accepted), ...rest };
}

test("a stack that breaks every rule is told rule by rule; mended or accepted, it ends with 0", async () => {
  const stack = await Stack.create({ program: BROKEN });
  const before = await stack.service.state();
  // Nothing was checked, which is not the same as no findings.
  for (const args of [[], ["--stack", "prod"]])
    expect(await audit(stack, ...args)).toMatchObject({ code: 1, stdout: "" });
  expect(await stack.up()).toMatchObject({ code: 0 });

  expect(stack.said).toMatch(/"expiresOn" of the WhitelistDomain \("wild"\) is today or in the past/);

  await stack.service.clearRequests();
  const broken = await report(stack, "--max-size", "1");
  const provider = broken.findings.find((one) => one.startsWith("api-key-in-state"));
  const all = [
    "shared-oauth-keys google",
    "shared-mail-server mail",
    "redirect-localhost local",
    "redirect-plain-http plain",
    "redirect-wildcard wild",
    "redirect-expired wild",
    "whitelist-not-exclusive local",
    "whitelist-not-exclusive plain",
    "whitelist-not-exclusive wild",
    "never-scales-to-zero api",
    "always-on-without-restart api",
    "size-over-limit api",
    "secret-in-state microsoft",
    provider,
    "undeclared-shared-oauth auth",
    ...["auth", "api", "mail", "google", "microsoft", "local", "plain", "wild"].map((name) => `not-protected ${name}`),
  ];
  expect(broken.findings.toSorted()).toEqual(all.toSorted());
  expect(new Set(broken.findings.map((one) => one.split(" ")[0]))).toEqual(
    new Set([...auditRules.map(({ name }) => name), "undeclared-shared-oauth"]),
  );
  expect(broken).toMatchObject({ code: 10, stack: "dev", accepted: [], expired: [], unused: [] });
  expect((await report(stack)).findings.toSorted()).toEqual(
    all.filter((one) => one !== "size-over-limit api").toSorted(),
  );
  const text = await audit(stack, "--max-size", "1");
  expect(text).toMatchObject({ code: 10, stderr: "" });
  expect(text.stdout).toMatch(/^Stack dev: 23 findings\n/);
  expect(text.stdout).toContain(`
size-over-limit
  ComputeEndpoint api: can have 2 CU, and the limit is 1 CU
    urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::api
  Declare a smaller size, or raise the limit.
`);
  expect(await stack.service.requests()).toEqual([]);
  expect(stack.said).not.toContain(SECRET);

  // If it cannot check, it says so, whatever else it could find.
  stack.write("svc-drift.json", '{ "ignore": [{ "rule": "not-protected" }] }');
  const unread = await audit(stack, "--json");
  expect(unread.code).toBe(1);
  expect(JSON.parse(unread.stdout)).toEqual({ messages: ["svc-drift.json: ignore[0].reason: is missing"] });

  stack.program(mended(true));
  expect(await stack.run("config", "rm", "svc:apiKey")).toMatchObject({ code: 0 });
  stack.env["SVC_API_KEY"] = stack.service.emulator.apiKey;
  stack.env["MICROSOFT_SECRET"] = SECRET;
  const entries = [
    { rule: "never-scales-to-zero", resource: "api", reason: "no cold starts", until: "2999-01-31" },
    { rule: "not-protected", resource: "api", reason: "too long ago", until: "2020-01-31" },
    { rule: "not-protected", resource: "gone", reason: "it was a test" },
    { resource: "api", property: "size", reason: "an entry for drift" },
    { rule: "redirect-expired", resource: "domains", reason: "the review goes on" },
  ];
  stack.write("svc-drift.json", JSON.stringify({ ignore: entries }));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await report(stack, "--max-size", "1", "--stack", "dev")).toEqual({
    code: 0,
    stack: "dev",
    findings: [],
    accepted: ["redirect-expired domains", "never-scales-to-zero api"],
    expired: [{ entry: "ignore[1]", ...entries[1] }],
    unused: [{ entry: "ignore[2]", ...entries[2] }],
  });
  const accepted = await audit(stack);
  expect(accepted).toMatchObject({ code: 0, stderr: "" });
  expect(accepted.stdout).toContain("no cold starts (until 2999-01-31)");
  // The same file serves drift, which minds no rule.
  const drift = await svc(stack, ["drift", "--json"]);
  expect(drift).toMatchObject({ code: 0 });
  expect(JSON.parse(drift.stdout)).toMatchObject({
    expiredDomains: [{ name: "domains", domain: "https://preview.example.com", expiresOn: "2020-02-29" }],
    expired: [],
    unused: [{ entry: "ignore[3]" }],
  });

  stack.program(mended(false));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await report(stack)).toMatchObject({
    code: 10,
    findings: expect.arrayContaining(["not-protected api"]),
    expired: [{ entry: "ignore[1]" }],
  });
  await stack.finish(before);
});
