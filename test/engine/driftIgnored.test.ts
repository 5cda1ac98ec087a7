import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ignoreResultSchema } from "../../src/cli/drift/ignore";
import { api, DEMO } from "../support/emulator";
import { Stack } from "../support/Stack";
import { drift, svc, type Ended } from "../support/svc";

const MARKED = "canary-marked-ignored";
const THEIRS = "canary-theirs-ignored";
/** Reports show it, because nothing marks it as secret. The committed file is more careful. */
const OF_APPLICATION = "value-of-an-application";
const SMTP = "canary-smtp-ignored";

const PROGRAM = `
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
const { projectId } = auth;
for (const providerId of ["google", "github"])
  new svc.OAuthProvider(providerId, { projectId, providerId, absent: true, adopt: true });
new svc.EmailServer("email", {
  projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  password: pulumi.secret("${SMTP}"), senderEmail: "auth@example.com", senderName: "Demo",
});
new svc.Whitelist("list", { projectId, domains: ["https://a.example.com"] });
const api = new svc.ComputeEndpoint("api", {
  projectId: "prj-demo", branchId: "br-dev", size: { min: 0.5, max: 2 },
  settings: { pgSettings: { marked: pulumi.secret("${MARKED}"), work_mem: "64MB" } },
});
new svc.ComputeEndpoint("other", { projectId: "prj-demo", branchId: "br-test", size: 1, name: "a" });`;

interface Entry {
  readonly resource?: string;
  readonly property?: string;
  readonly found?: unknown;
  readonly [key: string]: unknown;
}

interface File {
  readonly $schema?: string;
  readonly ignore: readonly Entry[];
}

const pathIn = (stack: Stack): string => join(stack.folder, "program", "svc-drift.json");
const fileOf = (stack: Stack): File => JSON.parse(readFileSync(pathIn(stack), "utf8")) as File;
const write = (stack: Stack, ...ignore: Entry[]): void => writeFileSync(pathIn(stack), JSON.stringify({ ignore }));

const ignore = (stack: Stack, ...args: string[]): Promise<Ended> => svc(stack, ["drift", "--ignore", ...args]);

function expectFailure({ code, stdout, stderr }: Ended, words: RegExp): void {
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(words);
}

test("what svc-drift.json names is tolerated until it changes again or the day is over; --ignore writes it, and no secret", async () => {
  const stack = await Stack.create({ program: PROGRAM });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const apiId = (await stack.resource("api")).id.split("/")[1] ?? "";
  const entry = { resource: "api", property: "size.max", found: 4, reason: "the sale" };

  // A value that the file names is not drift.
  await service.edit({ kind: "endpoint", id: apiId, set: { autoscaling_limit_max_cu: 4 } });
  const changed = await drift(stack);
  expect(changed.code).toBe(7);
  write(stack, { ...entry, until: "2099-12-31" });
  const tolerated = await drift(stack);
  expect(tolerated).toMatchObject({
    code: 0,
    report: {
      drift: [],
      tolerated: [{ name: "api", properties: [{ path: "size.max", declared: 2, found: 4 }], entry: "ignore[0]" }],
      expired: [],
    },
  });

  // Another value is drift, and so is one whose day is over.
  write(stack, { ...entry, found: 8 }, { ...entry, until: "2020-01-01" });
  const over = await drift(stack);
  expect(over).toMatchObject({
    code: 7,
    report: { tolerated: [], expired: [{ entry: "ignore[1]" }], unused: [{ entry: "ignore[0]" }] },
  });
  expect(over.report.fingerprint).toBe(changed.report.fingerprint);

  // An earlier report stays as it was, also with another file beside it, and if a version without the file wrote it.
  const report = join(stack.folder, "report.json");
  writeFileSync(report, JSON.stringify(tolerated.report));
  expect(await drift(stack, "--from", report)).toEqual(tolerated);
  const text = await svc(stack, ["drift", "--from", report]);
  expect(text.code).toBe(0);
  expect(text.stdout).toMatch(/^Stack dev: no drift, 1 tolerated\n\nNot drift: tolerated by svc-drift\.json\n/);
  expect(text.stdout).toMatch(/\n {4}reason: the sale[^\n]*\n {4}repair: update, which restarts the compute\n/);
  expect(text.stdout).toContain("\npulumi up --refresh also repairs what is tolerated.");
  const { stack: name, drift: drifted, ignored, unmanaged, byItself, fingerprint } = changed.report;
  writeFileSync(report, JSON.stringify({ stack: name, drift: drifted, ignored, unmanaged, byItself, fingerprint }));
  expect(await drift(stack, "--from", report)).toEqual(changed);

  // A wrong file: all of it at once, and nothing is asked.
  write(stack, { ...entry, until: "soon" }, { resource: "api", reson: "a" });
  await service.clearRequests();
  for (const args of [["drift"], ["drift", "--ignore", "api", "--reason", "a"]]) {
    expectFailure(
      await svc(stack, args),
      /^pulumi-svc: svc-drift\.json: ignore\[0\]\.until: must be a date.*\npulumi-svc: svc-drift\.json: ignore\[1\]\.reason: is missing\npulumi-svc: svc-drift\.json: ignore\[1\]\.reson: unknown key\n$/,
    );
  }
  expect(await service.requests()).toEqual([]);

  // --ignore of all that somebody changed. Secrets are without their value.
  await service.edit({
    kind: "endpoint",
    id: apiId,
    set: {
      settings: { pg_settings: { marked: THEIRS, work_mem: "1MB", api_token: THEIRS, "app.key": OF_APPLICATION } },
    },
  });
  await service.edit({ kind: "email_server", set: { host: "smtp.foreign.example.com", password: THEIRS } });
  await api(service.emulator, "POST", `${DEMO}/auth/domains`, {
    domain: "https://b.example.com",
    auth_provider: "supported_provider",
  });
  await api(service.emulator, "POST", `${DEMO}/auth/oauth_providers`, { id: "microsoft" });
  const kept = { rule: "shared-mail", reason: "one server for all" };
  writeFileSync(pathIn(stack), `${JSON.stringify({ ignore: [{ ...entry, found: 8 }, kept] }, undefined, "\t")}\n`);
  const all = [
    "api",
    "email",
    "list",
    "prj-demo/microsoft",
    "--unmanaged",
    "--all-stacks",
    "--reason",
    "the sale",
    "--until",
    "2099-12-31",
  ];
  const written = await ignore(stack, ...all);
  expect([written.code, written.stderr]).toEqual([0, ""]);
  expect(written.stdout).toMatch(
    /^svc-drift\.json: 9 entries for all stacks\n {2}entry +what it is about +reason\n {2}ignore\[2\] {2}api settings/,
  );
  const why = { reason: "the sale", until: "2099-12-31" };
  const ofSetting = (name: string) => ({ resource: "api", property: `settings.pgSettings${name}`, ...why });
  expect(fileOf(stack)).toEqual({
    ignore: [
      { ...entry, ...why },
      kept,
      ofSetting(".api_token"),
      ofSetting(".marked"),
      { ...ofSetting(".work_mem"), found: "1MB" },
      ofSetting('["app.key"]'),
      { resource: "email", property: "host", found: "smtp.foreign.example.com", ...why },
      { resource: "email", property: "password", ...why },
      { resource: "list", property: "domains", found: ["https://a.example.com", "https://b.example.com"], ...why },
      { unmanaged: "prj-demo/microsoft", kind: "OAuthProvider", ...why },
    ],
  });
  expect(readFileSync(pathIn(stack), "utf8")).toMatch(/^\{\n\t"ignore": \[\n\t\t\{\n[^]*\n\}\n$/);
  expect(readFileSync(pathIn(stack), "utf8")).not.toMatch(/canary|value-of/);
  expect(readdirSync(join(stack.folder, "program")).filter((file) => file.startsWith("svc-drift"))).toEqual([
    "svc-drift.json",
  ]);
  const after = await drift(stack, "--unmanaged");
  expect(after).toMatchObject({ code: 0, report: { drift: [], unmanaged: [], unused: [], expired: [] } });
  expect(after.report.toleratedUnmanaged).toMatchObject([{ id: "prj-demo/microsoft", reason: "the sale" }]);

  // The warning of the repair is true: an up --refresh reverts all of it.
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  const repaired = await drift(stack);
  expect(repaired).toMatchObject({ code: 0, report: { tolerated: [] } });
  expect(repaired.report.unused).toHaveLength(8);
  // Tolerated drift has the fingerprint of no drift.
  expect(tolerated.report.fingerprint).toBe(repaired.report.fingerprint);

  // --ignore begins the file beside Pulumi.yaml, from wherever below it runs.
  rmSync(pathIn(stack));
  const below = join(stack.folder, "program", "src");
  mkdirSync(below);
  const { id = "", urn } = await stack.resource("other");
  await service.edit({ kind: "endpoint", id: id.split("/")[1], set: { name: "b" } });
  const reason = ["--reason", "a test"];
  expectFailure(await ignore(stack, "other", "--property", "size", ...reason), /"other" does not differ in "size"/);
  expect(existsSync(pathIn(stack))).toBe(false);
  const begun = await svc(stack, ["drift", "--ignore", "other", ...reason, "--json"], { folder: "program/src" });
  const ofName = { resource: urn, property: "name", found: "b", reason: "a test" };
  expect([begun.code, ignoreResultSchema.parse(JSON.parse(begun.stdout))]).toEqual([
    0,
    {
      stack: "dev",
      file: "../svc-drift.json",
      entries: [{ entry: "ignore[0]", ...ofName }],
      allStacks: false,
      messages: [],
    },
  ]);
  const { $schema = "", ...content } = fileOf(stack);
  expect(content).toEqual({ ignore: [ofName] });
  // The schema for editors.
  expect(JSON.parse(readFileSync(join(stack.folder, "program", $schema), "utf8"))).toMatchObject({
    required: ["ignore"],
  });
  expect((await svc(stack, ["drift"], { folder: "program/src" })).code).toBe(0);
  const markdown = await ignore(stack, urn, "--format", "markdown", "--reason", "again");
  expect(markdown).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\n\| `ignore\[0\]` \| `urn:\S+::other name found "b"` \| `again` \|\n/),
  });

  // A deleted resource stays drift.
  write(stack, { resource: "other", reason: "whatever" });
  await service.edit({ kind: "endpoint", id: id.split("/")[1], delete: true });
  expect(await drift(stack)).toMatchObject({ code: 7, report: { drift: [{ change: "deleted" }], tolerated: [] } });

  expect(await stack.leaks([MARKED, THEIRS, SMTP, service.emulator.apiKey])).toEqual([]);
  await api(service.emulator, "DELETE", `${DEMO}/auth/oauth_providers/microsoft`);
  await stack.end(before);
});
