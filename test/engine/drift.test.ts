import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "../../src/cli/drift/report";
import { startEmulator } from "../../src/emulator";
import { api, DEMO } from "../support/emulator";
import { ownPort } from "../support/service";
import { Stack } from "../support/Stack";
import { drift, svc, type Ended } from "../support/svc";

const GOOGLE = "canary-google-secret-drift";
const SMTP = "canary-smtp-password-drift";
const SETTING = "canary-pg-setting-drift";
const THEIRS = "canary-their-secret-drift";

/** Runs the command, whatever it prints. */
const ended = (stack: Stack, args: string[], env: NodeJS.ProcessEnv = {}, folder = "program"): Promise<Ended> =>
  svc(stack, ["drift", ...args], { env, folder });

/** One line on standard error, exit code 1, nothing else. */
function expectFailure({ code, stdout, stderr }: Ended, words: RegExp): void {
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^pulumi-svc: [^\n]+\n$/);
  expect(stderr).toMatch(words);
}

const program = (pending = ""): string => `
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
const { projectId } = auth;
exports.serverKey = auth.secretServerKey;
new svc.OAuthProvider("google", { projectId, providerId: "google", adopt: true, clientId: "id", clientSecret: "${GOOGLE}" });
new svc.OAuthProvider("github", { projectId, providerId: "github", adopt: true });
new svc.Whitelist("list", { projectId, domains: ["https://a.example.com", "https://b.example.com"] });
new svc.EmailServer("email", {
  projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  password: pulumi.secret("${SMTP}"), senderEmail: "auth@example.com", senderName: "Demo",
});
new svc.AuthUser("user", { projectId, email: "a@example.com" });
const other = new svc.Provider("other");
new svc.ComputeEndpoint("main", { projectId: "prj-demo", branchId: "br-main", adopt: true, size: 1 }, { provider: other, retainOnDelete: true });
new svc.ComputeEndpoint("replica", { projectId: "prj-demo", branchId: "br-main", type: "read_only", name: "one" });
const api = new svc.ComputeEndpoint("api", {
  projectId: "prj-demo", branchId: "br-dev", size: ${pending === "" ? "{ min: 0.5, max: 2 }" : "8"},
  settings: { pgSettings: { "app.token": pulumi.secret("${SETTING}"), work_mem: "64MB" } },
});
svc.ComputeEndpoint.get("looked-up", api.id);
class Theirs extends pulumi.dynamic.Resource {
  constructor(name) {
    // Its refresh fails: who asks for drift of ours needs nothing of theirs.
    super({ create: async () => ({ id: "1", outs: {} }), read: async () => { throw new Error("theirs was asked"); } }, name, {});
  }
}
new Theirs("theirs");
${pending}`;

const templates = async (stack: Stack): Promise<string[]> =>
  (await stack.service.requests()).map(({ method, template }) => `${method} ${template}`).sort();

test("drift names what somebody changed, deleted and added, and nothing that the program has pending", async () => {
  // Reads are shared within a time, which a process that is there already takes less of: a refresh is compared with the command.
  const stack = await Stack.create({ program: program() });
  const { service } = stack;
  const { emulator } = service;
  const before = await service.state();
  expectFailure(await ended(stack, []), /holds no resource of pulumi-svc.*pulumi up/);

  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program(`new svc.ComputeEndpoint("new", { projectId: "prj-demo", branchId: "br-test" });`));
  const added = await api(emulator, "POST", `${DEMO}/endpoints`, {
    endpoint: { branch_id: "br-test", type: "read_write" },
  });
  expect(added.status).toBe(201);
  const { id: addedId } = added.body["endpoint"] as { id: string };
  const only = await ended(stack, ["--unmanaged", "--stack", "dev"]);
  expect(only.code).toBe(8);
  expect(only.stdout).toMatch(/^Stack dev: no drift, 1 not declared\n/);
  expect(only.stdout).toContain(`ComputeEndpoint prj-demo/${addedId}`);

  const idOf = async (name: string): Promise<string> => (await stack.resource(name)).id;
  const [apiId, replicaId] = [await idOf("api"), await idOf("replica")];
  const edit = (kind: string, change: object) => service.edit({ kind, ...change });
  await edit("endpoint", {
    id: apiId.split("/")[1],
    set: { autoscaling_limit_max_cu: 4, settings: { pg_settings: { "app.token": THEIRS, work_mem: "64MB" } } },
  });
  await edit("oauth_provider", { id: "github", set: { type: "standard", client_id: "theirs", client_secret: THEIRS } });
  await edit("email_server", { set: { host: "smtp.foreign.example.com", password: THEIRS } });
  await api(emulator, "POST", `${DEMO}/auth/domains`, {
    domain: "https://foreign.example.com",
    auth_provider: "supported_provider",
  });
  await api(emulator, "DELETE", `${DEMO}/auth/domains`, {
    auth_provider: "supported_provider",
    domains: [{ domain: "https://a.example.com" }],
  });
  await api(emulator, "POST", `${DEMO}/auth/oauth_providers`, { id: "microsoft" });
  expect((await api(emulator, "DELETE", `${DEMO}/endpoints/${replicaId.split("/")[1]}`)).status).toBe(200);

  // The requests of the CLI's own refresh of the same resources, and one list for each collection. If a primary is
  // declared nowhere, the list of branches, too.
  await service.clearRequests();
  const targets = ["--target", "**pulumi-nodejs:dynamic/svc:**"];
  expect(await stack.run("refresh", "--preview-only", "--expect-no-changes", ...targets)).toMatchObject({ code: 7 });
  const refresh = await templates(stack);
  await service.clearRequests();
  const { code, report } = await drift(stack);
  expect(code).toBe(7);
  expect(await templates(stack)).toEqual(refresh);
  await service.clearRequests();
  // As --format json writes it.
  const asJson = await ended(stack, ["--unmanaged", "--json"]);
  const all = { code: asJson.code, report: JSON.parse(asJson.stdout) as Report };
  const lists = [
    "branches",
    "endpoints",
    "auth/integrations",
    "auth/oauth_providers",
    "auth/domains",
    "auth/email_server",
  ];
  expect(await templates(stack)).toEqual(
    [...refresh, ...lists.map((list) => `GET /projects/{project_id}/${list}`)].sort(),
  );

  const urn = (kind: string, name: string) => `urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:${kind}::${name}`;
  expect(report).toEqual({
    stack: "dev",
    drift: [
      {
        urn: urn("ComputeEndpoint", "api"),
        kind: "ComputeEndpoint",
        name: "api",
        id: apiId,
        change: "changed",
        properties: [
          { path: 'settings.pgSettings["app.token"]', declared: "[secret]", found: "[secret]" },
          { path: "size.max", declared: 2, found: 4 },
        ],
        repair: {
          action: "update",
          restarts: true,
          messages: [expect.stringMatching(/restarts compute ep-.*dropped/)],
        },
      },
      {
        urn: urn("ComputeEndpoint", "replica"),
        kind: "ComputeEndpoint",
        name: "replica",
        id: replicaId,
        change: "deleted",
        properties: [],
        repair: {
          action: "create",
          restarts: false,
          messages: [`ComputeEndpoint ${replicaId} is created again: the new compute has another id and another host`],
        },
      },
      {
        urn: urn("EmailServer", "email"),
        kind: "EmailServer",
        name: "email",
        id: "prj-demo",
        change: "changed",
        properties: [
          { path: "host", declared: "smtp.example.com", found: "smtp.foreign.example.com" },
          { path: "password", declared: "[secret]", found: "[secret]" },
        ],
        repair: { action: "update", restarts: false, messages: [] },
      },
      {
        urn: urn("OAuthProvider", "github"),
        kind: "OAuthProvider",
        name: "github",
        id: "prj-demo/github",
        change: "changed",
        properties: [{ path: "clientId", declared: null, found: expect.stringMatching(/own credentials/) }],
        repair: { action: "replace", restarts: false, messages: [expect.stringMatching(/shared keys/)] },
      },
      {
        urn: urn("Whitelist", "list"),
        kind: "Whitelist",
        name: "list",
        id: "prj-demo",
        change: "changed",
        properties: [
          {
            path: "domains",
            declared: ["https://a.example.com", "https://b.example.com"],
            found: ["https://b.example.com", "https://foreign.example.com"],
          },
        ],
        repair: {
          action: "update",
          restarts: false,
          messages: ["Whitelist prj-demo: adds domains[0]; removes https://foreign.example.com"],
        },
      },
    ],
    ignored: [],
    tolerated: [],
    unmanaged: [],
    toleratedUnmanaged: [],
    byItself: [],
    expired: [],
    expiredDomains: [],
    sharedObjects: [],
    unused: [],
    fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(all.code).toBe(7);
  expect(all.report.drift).toEqual(report.drift);
  // The domains are the Whitelist's.
  expect(all.report.unmanaged.map(({ kind, id, adopt }) => [kind, id, adopt])).toEqual([
    ["ComputeEndpoint", `prj-demo/${addedId}`, "adopt: true"],
    ["OAuthProvider", "prj-demo/microsoft", "adopt: true"],
  ]);
  expect(all.report.fingerprint).not.toBe(report.fingerprint);

  // The engine's own log of a plan holds what the program has pending, too.
  const events = join(stack.folder, "events.json");
  stack.env["PULUMI_DEBUG_COMMANDS"] = "true";
  // The SDK in a process of the program writes debug events, which hold its secrets in clear.
  stack.ownProcess = true;
  const plan = await stack.run("preview", "--refresh", "--event-log", events, ...targets);
  expect(plan).toMatchObject({ code: 0, text: expect.stringMatching(/2 to create/) });
  stack.ownProcess = false;
  delete stack.env["PULUMI_DEBUG_COMMANDS"];
  expect((await drift(stack, "--from", events)).report).toEqual(report);
  expect(await stack.leaks([SMTP])).toEqual([`${SMTP} in ${events}`]);
  rmSync(events);

  // The other formats, the job summary, and debug mode.
  const summary = join(stack.folder, "job-summary");
  const out = join(stack.folder, "drift.md");
  const markdown = await ended(stack, ["--unmanaged", "--format", "markdown", "--out", out], {
    GITHUB_STEP_SUMMARY: summary,
    SVC_DEBUG: "1",
    SVC_API_KEY: emulator.apiKey,
    PULUMI_SKIP_CONFIRMATIONS: "true",
  });
  expect(markdown).toEqual({
    code: 7,
    stdout: `Stack dev: 4 changed, 1 deleted, 2 not declared. The report is in ${out}\n`,
    stderr: "",
  });
  expect(readFileSync(out, "utf8")).toContain("| ComputeEndpoint `api` | `size.max` | `2` | `4` |");
  expect(readFileSync(summary, "utf8")).toBe(readFileSync(out, "utf8"));
  const file = join(stack.folder, "report.json");
  writeFileSync(file, JSON.stringify(all.report));
  const text = await ended(stack, ["--from", file], { SVC_DEBUG: "1" }, ".");
  expect([text.code, text.stderr]).toEqual([7, ""]);
  for (const words of ["size.max", "smtp.foreign.example.com", "microsoft", "deleted", all.report.fingerprint])
    expect(text.stdout).toContain(words);

  // Repaired, with what the program had pending taken back.
  stack.program(program());
  expect(await stack.up("--refresh", ...targets)).toMatchObject({ code: 0 });
  expect(await ended(stack, [])).toEqual({ code: 0, stdout: "Stack dev: no drift\n", stderr: "" });
  expect((await api(emulator, "DELETE", `${DEMO}/endpoints/${addedId}`)).status).toBe(200);
  await api(emulator, "DELETE", `${DEMO}/auth/oauth_providers/microsoft`);
  expect(await ended(stack, ["--unmanaged"])).toEqual({ code: 0, stdout: "Stack dev: no drift\n", stderr: "" });

  const { serverKey } = await stack.outputs();
  expect(serverKey).toMatch(/./);
  expect(await stack.leaks([String(serverKey), GOOGLE, SMTP, SETTING, THEIRS, emulator.apiKey])).toEqual([]);
  // The refresh has shown nothing, of ours: that of theirs fails.
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  await stack.end(before);
});

test("what it cannot tell is a failure in one line, with the words of the CLI or of the service", async () => {
  const stack = await Stack.create({
    program: `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });`,
    passphrase: true,
  });
  const data = join(stack.folder, "service.json");
  const first = await startEmulator({ activationMs: 50, data, port: ownPort(), apiKey: "canary-first-key-drift" });
  await stack.config("svc:baseUrl", first.baseUrl);
  await stack.config("svc:apiKey", first.apiKey, true);
  expect(await stack.up()).toMatchObject({ code: 0 });
  mkdirSync(join(stack.folder, "elsewhere"));
  // The command starts Node by its path, and looks for the CLI only.
  expectFailure(await ended(stack, [], { PATH: "/nowhere" }), /Pulumi CLI was not found.*PATH/);
  stack.write(
    "old/pulumi",
    `#!/bin/sh\n[ "$1" != stack ] || { echo '{"deployment":{}}'; exit; }\necho 'error: unknown flag: --run-program' >&2\nexit 255\n`,
  );
  chmodSync(join(stack.folder, "program", "old", "pulumi"), 0o755);
  expectFailure(await ended(stack, [], { PATH: `./old:${stack.env["PATH"]}` }), /unknown flag.*too old.*update it/);
  expectFailure(await ended(stack, [], {}, "elsewhere"), /pulumi stack export failed: no Pulumi\.yaml/);
  expectFailure(await ended(stack, ["--stack", "nope"]), /no stack named 'nope'/);
  expectFailure(await ended(stack, [], { PULUMI_CONFIG_PASSPHRASE: "wrong" }), /incorrect passphrase/);
  expectFailure(
    await ended(stack, [], { PULUMI_BACKEND_URL: "https://me:canary-pw@127.0.0.1:9" }),
    /pulumi stack export failed/,
  );

  const fault = (body: object) =>
    fetch(`${first.url}/_emulator/faults`, { method: "POST", body: JSON.stringify(body) });
  await fault({ status: 429, headers: { "retry-after": "2" }, times: 2 });
  expect(await ended(stack, [], { SVC_LOG: "debug" })).toEqual({
    code: 0,
    stdout: "Stack dev: no drift\n",
    stderr: expect.stringMatching(
      /^(pulumi-svc: GET \/projects\/\{project_id\}\/endpoints -> (429, request req-fault|200), \d+ ms, attempt [123]\n){3,}$/,
    ),
  });
  await first.close();

  const second = await startEmulator({ activationMs: 50, data, port: first.port, apiKey: "canary-second-key-drift" });
  try {
    expectFailure(await ended(stack, [], { SVC_DEBUG: "1" }), /Could not read ComputeEndpoint .*401/);
  } finally {
    await second.close();
  }
  expectFailure(await ended(stack, ["--unmanaged"]), /Could not read ComputeEndpoint .*cannot be reached/);
  expect(await stack.leaks(["canary-first-key-drift", "canary-second-key-drift", "canary-pw"])).toEqual([]);
});
