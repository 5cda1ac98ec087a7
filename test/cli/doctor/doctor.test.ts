import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT, TESTED } from "../../support/cli";
import { runCommand, runProcess } from "../../support/command";
import { control, start } from "../../support/emulator";

const KEY = "canary-key-of-the-doctor";

interface Check {
  name: string;
  status: string;
  message: string;
  remedy?: string;
}

interface Ended {
  code: number;
  /** Standard output and error. */
  text: string;
  /** By name. */
  checks: Record<string, Check>;
  ok: boolean | undefined;
}

let folder: string;
let bin: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "doctor-"));
  bin = join(folder, "bin");
  mkdirSync(bin);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Whatever a test made must appear in no output. */
async function doctor(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = folder,
  run = runCommand,
): Promise<Ended> {
  const own = { PATH: bin, HOME: folder, ...env };
  const { code, stdout, stderr } = await run({ args: ["doctor", ...args], cwd, env: own });
  const text = stdout + stderr;
  expect(text).not.toContain("canary");
  expect(text).not.toMatch(/AxiosError|\n\s+at /);
  const { ok, checks }: { ok?: boolean; checks: Check[] } = args.includes("--json")
    ? (JSON.parse(stdout) as { ok: boolean; checks: Check[] })
    : { checks: [] };
  return { code, text, ok, checks: Object.fromEntries(checks.map((check) => [check.name, check])) };
}

/** The state with its secrets in plain text. */
const secret = (value: string): object => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  plaintext: JSON.stringify(value),
});

/** A `pulumi` of this version, whose stack has this configuration and holds resources of these projects. */
function fakePulumi({ version = `v${TESTED}`, config = {}, projects = [], providers, fails = {} }: FakePulumi): void {
  const masked = Object.entries(config).map(([key, { value, secret }]) => [
    key,
    secret ? { secret } : { value, secret },
  ]);
  const urnOf = (name: string) => `urn:pulumi:dev::proj::pulumi:providers:pulumi-nodejs::${name}`;
  const resources = Object.entries(providers ?? { default: { projects } }).flatMap(
    ([name, { stored = {}, projects, own = [] }]) => [
      {
        type: "pulumi:providers:pulumi-nodejs",
        urn: urnOf(name),
        id: "1234",
        inputs: Object.fromEntries(Object.entries(stored).map(([key, value]) => [key, secret(value)])),
      },
      ...projects.map((projectId, index) => ({
        type: "pulumi-nodejs:dynamic/svc:ComputeEndpoint",
        urn: `urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::${name}-${index}`,
        provider: `${urnOf(name)}::1234`,
        outputs: { projectId },
      })),
      ...own.map((one) => ({
        type: "pulumi-nodejs:dynamic:Resource",
        urn: `urn:pulumi:dev::proj::pulumi-nodejs:dynamic:Resource::${one}`,
        provider: `${urnOf(name)}::1234`,
      })),
    ],
  );
  const answers = {
    version,
    "stack --show-name": "dev",
    "config --json": JSON.stringify(Object.fromEntries(masked)),
    "stack export --show-secrets": JSON.stringify({ deployment: { resources } }),
    ...Object.fromEntries(Object.entries(config).map(([key, { value }]) => [`config get ${key}`, value])),
  };
  // Each answer is a file: a shell is ready thirty times as fast as Node.
  for (const [kind, texts] of Object.entries({ answers, fails }))
    for (const [asked, text] of Object.entries(texts)) {
      mkdirSync(join(bin, kind), { recursive: true });
      writeFileSync(join(bin, kind, asked), `${text}\n`);
    }
  const script = `#!/bin/sh
    asked="\${*%% --non-interactive*}"
    if [ -f "${bin}/fails/$asked" ]; then /bin/cat "${bin}/fails/$asked" >&2; exit 1; fi
    if [ -f "${bin}/answers/$asked" ]; then /bin/cat "${bin}/answers/$asked"; fi
  `;
  writeFileSync(join(bin, "pulumi"), script);
  chmodSync(join(bin, "pulumi"), 0o755);
}

interface FakePulumi {
  version?: string;
  config?: Record<string, { value: string; secret: boolean }>;
  projects?: string[];
  /**
   * Instead of `projects`: the providers of the state by name, each with what the last up stored. `own`: the names of
   * dynamic resources of the program itself that it serves.
   */
  providers?: Record<string, { stored?: Record<string, string>; projects: string[]; own?: string[] }>;
  /** The output of commands that fail. */
  fails?: Record<string, string>;
}

/** A program whose packages are those of this repository. */
function program(): void {
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  writeFileSync(join(folder, "index.ts"), "");
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
}

async function settings(): Promise<{ SVC_API_KEY: string; SVC_BASE_URL: string; url: string }> {
  const { baseUrl, url } = await start({ apiKey: KEY });
  return { SVC_API_KEY: KEY, SVC_BASE_URL: baseUrl, url };
}

test("all is well: exit code 0, the versions, where each setting comes from, and what the project holds", async () => {
  program();
  const { SVC_API_KEY: key, SVC_BASE_URL: baseUrl } = await settings();
  fakePulumi({
    config: {
      "svc:apiKey": { value: key, secret: true },
      "svc:baseUrl": { value: baseUrl, secret: false },
      "svc:quiet": { value: "true", secret: true },
    },
  });
  const { code, ok, checks } = await doctor(["--project", "prj-demo", "--json"], { SVC_AUTH_PROVIDER: "stack" });
  const failed = Object.values(checks).filter(({ status }) => status !== "ok");
  expect(failed).toEqual([]);
  expect([code, ok]).toEqual([0, true]);
  expect(checks["Node"]?.message).toBe(process.versions.node);
  expect(checks["Pulumi SDK"]?.message).toBe(TESTED);
  expect(checks["Pulumi CLI"]?.message).toBe(TESTED);
  expect(checks["API key"]?.message).toBe("from the stack's configuration (svc:apiKey), for pulumi up and preview");
  expect(checks["address"]?.message).toBe(`${new URL(baseUrl).host}, from the stack's configuration (svc:baseUrl)`);
  expect(checks["settings"]?.message).toMatch(/the environment \(SVC_AUTH_PROVIDER\).*\(svc:quiet\)/);
  expect(checks["project prj-demo"]?.message).toBe("branches br-main (default), br-dev, br-test; computes: 1");
});

test("without --project it looks for the projects of the stack", async () => {
  program();
  const { SVC_BASE_URL, SVC_API_KEY } = await settings();
  fakePulumi({ projects: ["prj-demo", "prj-demo", "prj-gone"] });
  const { code, checks } = await doctor(["--json"], { SVC_BASE_URL, SVC_API_KEY });
  expect(code).toBe(1);
  expect(checks["project prj-demo"]?.status).toBe("ok");
  expect(checks["project prj-gone"]).toMatchObject({ status: "failure", remedy: expect.stringContaining("id") });
});

describe("after a rotation of the key", () => {
  const USERS = /pulumi refresh, pulumi destroy and pulumi-svc drift use it/;

  test("the stored key that the service refuses is a failure, with what stores the new one", async () => {
    program();
    const { SVC_BASE_URL, SVC_API_KEY } = await settings();
    const stored = { "svc:apiKey": "canary-old-key", "svc:baseUrl": SVC_BASE_URL };
    const config = { "svc:apiKey": { value: SVC_API_KEY, secret: true } };
    fakePulumi({ config, providers: { default: { stored, projects: ["prj-demo"] } } });
    const { code, checks } = await doctor(["--json"], { SVC_BASE_URL });
    expect(code).toBe(1);
    expect(checks["credentials"]?.status).toBe("ok");
    expect(checks["API key"]?.message).toContain("for pulumi up and preview");
    expect(checks["stored key"]).toMatchObject({
      status: "failure",
      message: expect.stringMatching(
        /^the last pulumi up stored a key that is not the configured one; \S+ refuses the key \(401\)/,
      ),
      remedy: expect.stringMatching(/pulumi up.*--run-program/),
    });
    expect(checks["stored key"]?.message).toMatch(USERS);
  });

  test("a stored key that still works is a warning, unless it is the configured one", async () => {
    program();
    const { SVC_BASE_URL, SVC_API_KEY } = await settings();
    const config = { "svc:apiKey": { value: "canary-new-key", secret: true } };
    const stored = { "svc:apiKey": SVC_API_KEY, "svc:baseUrl": SVC_BASE_URL };
    const providers = { default: { stored, projects: ["prj-demo"] } };
    fakePulumi({ config, providers });
    const other = (await doctor(["--json"], { SVC_BASE_URL })).checks;
    expect(other["credentials"]).toMatchObject({ status: "failure", message: expect.stringContaining("401") });
    expect(other["stored key"]).toMatchObject({ status: "warning", message: expect.stringMatching(USERS) });
    fakePulumi({ config: { "svc:apiKey": { value: SVC_API_KEY, secret: true } }, providers });
    expect((await doctor(["--json"], { SVC_BASE_URL })).checks["stored key"]).toMatchObject({
      status: "ok",
      message: expect.stringMatching(/the same key.*pulumi-svc drift use it/),
    });
  });
});

test("a setting that nobody knows is a warning with the nearest one; in a project that is called svc it is the project's", async () => {
  program();
  const { SVC_BASE_URL, SVC_API_KEY } = await settings();
  // The value of an unknown setting is not read.
  const config = {
    "svc:strictplan": { value: "canary", secret: false },
    "svc:mine": { value: "canary", secret: true },
    "proj:colour": { value: "red", secret: false },
  };
  fakePulumi({ config, fails: { "config get svc:mine": "error: it was asked for" } });
  const { code, checks } = await doctor(["--json"], { SVC_BASE_URL, SVC_API_KEY });
  expect(code).toBe(0);
  expect(checks["unknown settings"]).toMatchObject({
    status: "warning",
    message:
      "not settings of pulumi-svc, so they have no effect: svc:mine, svc:strictplan (did you mean svc:strictPlan?)",
    remedy: expect.stringContaining("pulumi config rm"),
  });
  writeFileSync(join(folder, "Pulumi.yaml"), 'description: name\nname: "svc" # here\nruntime: nodejs\n');
  expect((await doctor(["--json"], { SVC_BASE_URL, SVC_API_KEY })).checks["unknown settings"]).toBeUndefined();
});

test("a proxy that no_proxy excludes for the SDK, which trims nothing", async () => {
  fakePulumi({});
  const { url: _url, ...env } = await settings();
  const told = async (more: Record<string, string>) =>
    (await doctor(["--json"], { ...env, http_proxy: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1", ...more })).checks[
      "proxy"
    ];
  expect(await told({ no_proxy: "localhost,127.0.0.1" })).toMatchObject({ status: "ok" });
  expect(await told({ no_proxy: "localhost, 127.0.0.1" })).toMatchObject({ status: "warning" });
  // The one for gRPC takes the place of the other.
  expect(await told({ no_proxy: "127.0.0.1", no_grpc_proxy: "localhost" })).toMatchObject({
    status: "warning",
    remedy: expect.stringContaining("Set no_grpc_proxy="),
  });
});

test("a stack that is asked for by name needs the CLI, which is what is to be installed", async () => {
  program();
  const { checks } = await doctor(["--json", "--stack", "prod"]);
  expect(checks["stack"]).toMatchObject({
    status: "failure",
    remedy: expect.stringContaining("Install the Pulumi CLI"),
  });
});

test("secrets of the configuration that the state holds are named, without their values, with what removes them", async () => {
  program();
  const { SVC_BASE_URL } = await settings();
  const stored = { "svc:apiKey": KEY, "svc:baseUrl": SVC_BASE_URL };
  const own = { "proj:smtpPassword": "canary-smtp", "aws:token": "canary-aws", "proj:googleClientSecret": "canary-id" };
  const config = { "svc:apiKey": { value: KEY, secret: true } };
  const account = { stored: { ...stored, "proj:of-the-program": "canary-other" }, projects: ["prj-demo"] };
  fakePulumi({ config, providers: { default: { stored: { ...stored, ...own }, projects: ["prj-demo"] }, account } });
  const { code, checks } = await doctor(["--json"], { SVC_BASE_URL });
  expect(code).toBe(0);
  expect(checks["secrets"]).toMatchObject({
    status: "ok",
    message:
      "the state holds these secrets of the stack's configuration, encrypted: aws:token, proj:googleClientSecret, proj:smtpPassword",
    remedy: expect.stringContaining("pulumi config rm"),
  });
  expect(JSON.stringify(checks)).not.toContain("canary-");
  fakePulumi({ config, providers: { default: { stored, projects: ["prj-demo"] } } });
  expect((await doctor(["--json"], { SVC_BASE_URL })).checks["secrets"]).toBeUndefined();
});

test("dynamic resources of the program that an svc.Provider serves are named, but not those of other providers", async () => {
  program();
  const { SVC_BASE_URL } = await settings();
  const stored = { "svc:apiKey": KEY, "svc:baseUrl": SVC_BASE_URL };
  const config = { "svc:apiKey": { value: KEY, secret: true } };
  const account = (own: string[]) => ({ stored, projects: ["prj-demo"], own });
  const others = { default: account(["usual"]), theirs: { projects: [], own: ["apart"] } };
  fakePulumi({ config, providers: { ...others, account: account(["two", "one"]) } });
  const { code, checks } = await doctor(["--json"], { SVC_BASE_URL });
  expect(code).toBe(0);
  expect(checks["own resources"]).toMatchObject({
    status: "warning",
    message: expect.stringMatching(/^svc\.Provider account also serves dynamic resources of the program: one, two\. /),
    remedy: expect.stringContaining("docs/settings.md"),
  });
  fakePulumi({ config, providers: { ...others, account: account([]) } });
  expect((await doctor(["--json"], { SVC_BASE_URL })).checks["own resources"]).toBeUndefined();
});

describe("explicit providers", () => {
  test("a configured name and the stored key of a provider are not two forms at one place", async () => {
    program();
    const { SVC_BASE_URL } = await settings();
    const stored = { "svc:apiKey": KEY, "svc:baseUrl": SVC_BASE_URL };
    fakePulumi({
      config: { "svc:apiKeyEnv": { value: "PROD_KEY", secret: false } },
      providers: { shop: { stored, projects: ["prj-demo"] } },
    });
    const { checks, text } = await doctor(["--json"], { PROD_KEY: "canary-of-the-configuration" });
    expect(text).not.toContain("in the same place");
    expect(checks["settings"]?.status).toBe("ok");
  });

  test("a stack that has nothing else needs no configuration: each is tried with its own projects", async () => {
    program();
    const [one, two] = [await settings(), await start({ apiKey: "canary-two", projects: ["prj-two"] })];
    const providers = {
      one: { stored: { "svc:apiKey": KEY, "svc:baseUrl": one.SVC_BASE_URL }, projects: ["prj-demo"] },
      two: { stored: { "svc:apiKey": "canary-two", "svc:baseUrl": two.baseUrl }, projects: ["prj-two"] },
    };
    fakePulumi({ providers });
    const { code, ok, checks } = await doctor(["--json"]);
    expect(Object.values(checks).filter(({ status }) => status === "failure")).toEqual([]);
    expect([code, ok]).toEqual([0, true]);
    expect(checks["provider one"]?.message).toContain(new URL(one.SVC_BASE_URL).host);
    for (const name of ["provider one", "provider two", "project prj-demo", "project prj-two"])
      expect(checks[name]?.status).toBe("ok");
    expect(checks["credentials"]).toMatchObject({ status: "skipped", message: expect.stringMatching(/"one", "two"/) });

    // The project decides which of them is asked for it.
    const named = (await doctor(["--json", "--project", "prj-two"])).checks;
    expect(Object.keys(named).filter((name) => name.startsWith("project "))).toEqual(["project prj-two"]);
    expect(named["project prj-two"]?.status).toBe("ok");

    fakePulumi({
      providers: {
        ...providers,
        two: { ...providers.two, stored: { ...providers.two.stored, "svc:apiKey": "canary-old" } },
      },
    });
    const rotated = await doctor(["--json"]);
    expect(rotated.code).toBe(1);
    expect(rotated.checks["provider two"]).toMatchObject({
      status: "failure",
      message: expect.stringContaining("401"),
      remedy: expect.stringMatching(/pass the new one to the provider/),
    });
    expect(rotated.checks["project prj-two"]?.status).toBe("skipped");
  });

  test("beside resources without one, the configuration has to be complete, and is asked for their projects alone", async () => {
    program();
    const [one, two] = [await settings(), await start({ apiKey: "canary-two", projects: ["prj-two"] })];
    const stored = { "svc:apiKey": KEY, "svc:baseUrl": one.SVC_BASE_URL };
    const providers = {
      default: { stored, projects: ["prj-demo"] },
      two: { stored: { "svc:apiKey": "canary-two", "svc:baseUrl": two.baseUrl }, projects: ["prj-two"] },
    };
    fakePulumi({ providers });
    const { SVC_API_KEY, SVC_BASE_URL } = one;
    expect((await doctor(["--json"], { SVC_API_KEY, SVC_BASE_URL })).code).toBe(0);
    const lacking = await doctor(["--json"]);
    expect(lacking.code).toBe(1);
    expect(lacking.checks["settings"]?.status).toBe("failure");
  });
});

test("what the CLI says and the service shows moves no terminal", async () => {
  program();
  fakePulumi({ fails: { "config --json": "error: \u001b[31mred \u009b2J \u202eback" } });
  for (const args of [["--json"], []]) {
    const { text } = await doctor(args);
    expect(text).toMatch(/red/);
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  }
});

test("outside a program, and without a selected stack, the environment is used and the rest is skipped with a reason", async () => {
  const { SVC_BASE_URL, SVC_API_KEY } = await settings();
  fakePulumi({ fails: { "stack --show-name": "error: no stack selected; please use `pulumi stack select`" } });
  const outside = await doctor(["--json"], { SVC_BASE_URL, SVC_API_KEY });
  expect(outside.code).toBe(0);
  expect(outside.checks["stack"]).toMatchObject({ status: "skipped", message: expect.stringContaining("Pulumi.yaml") });
  for (const name of ["Pulumi SDK", "package"]) expect(outside.checks[name]?.status).toBe("skipped");
  expect(outside.checks["API key"]?.message).toBe("from the environment (SVC_API_KEY), for pulumi up and preview");
  expect(outside.checks["credentials"]?.status).toBe("ok");
  expect(outside.checks["projects"]).toMatchObject({
    status: "skipped",
    message: expect.stringContaining("--project"),
  });
  program();
  const inside = await doctor(["--json"], { SVC_BASE_URL, SVC_API_KEY });
  expect(inside.code).toBe(0);
  expect(inside.checks["stack"]?.message).toContain("no stack selected");
  const named = await doctor(["--stack", "prod", "--json"], { SVC_BASE_URL, SVC_API_KEY });
  expect(named.code).toBe(1);
  expect(named.checks["stack"]?.status).toBe("failure");
  expect(named.checks["service"]?.status).toBe("skipped");
});

test("nothing is set: each missing setting is named with how to set it", async () => {
  fakePulumi({});
  const { code, checks } = await doctor(["--json"]);
  expect(code).toBe(1);
  expect(checks["settings"]).toMatchObject({
    status: "failure",
    message: expect.stringMatching(/no API key.*SVC_API_KEY.*no base URL.*SVC_BASE_URL/),
  });
  expect(checks["service"]?.status).toBe("skipped");
});

test("a key in plain text in the stack's configuration is a warning, and is not shown", async () => {
  program();
  const { SVC_BASE_URL, SVC_API_KEY } = await settings();
  fakePulumi({ config: { "svc:apiKey": { value: SVC_API_KEY, secret: false } } });
  const { code, checks } = await doctor(["--project", "prj-demo", "--json"], { SVC_BASE_URL });
  expect(code).toBe(0);
  expect(checks["API key"]).toMatchObject({
    status: "warning",
    message: expect.stringContaining("in plain text"),
    remedy: expect.stringContaining("--secret"),
  });
});

test("an address shows host and port alone, and a user name in it is refused", async () => {
  fakePulumi({});
  const env = {
    SVC_API_KEY: KEY,
    SVC_BASE_URL: "https://canary-user:canary-password@127.0.0.1:9/canary/api/v2?canary=1",
  };
  const { code, checks } = await doctor(["--json"], env);
  expect(code).toBe(1);
  expect(checks["address"]?.message).toMatch(/^127\.0\.0\.1:9, /);
  expect(checks["settings"]?.message).toContain("user name");
});

test.each([
  ["401", { status: 401 }, "credentials", /refuses the key \(401\)/, /config set --secret/],
  ["403", { status: 403 }, "credentials", /may not read prj-demo \(403\)/, /account/],
  ["a page of a proxy", { status: 200, body: "<html>canary</html>" }, "service", /web page/, /proxy/],
  ["a proxy that wants a password", { status: 407, body: "<html>canary</html>" }, "service", /407/, /proxy/],
  ["a gateway's 404", { status: 404, body: "<html>canary</html>" }, "service", /404/, /base URL/],
  ["a service that is down", { status: 503 }, "service", /503/, /again/],
  ["an answer that is cut off", { drop: "reset" }, "service", /connection to 127.0.0.1:\d+ failed/, /network/],
])("%s is reported with what to do", async (_, fault, name, says, remedy) => {
  fakePulumi({});
  const { url, ...env } = await settings();
  expect((await control(url, "POST", "/faults", { ...fault, times: 0 })).status).toBeLessThan(300);
  const shown = { SVC_DEBUG: "1", SVC_LOG: "debug" };
  const { code, checks, text } = await doctor(["--project", "prj-demo", "--json"], { ...env, ...shown });
  expect(code).toBe(1);
  expect(text).toMatch(/^pulumi-svc: GET \/projects\/\{project_id\}\/endpoints -> \w+, .*attempt 1$/m);
  expect(checks[name]).toMatchObject({ status: "failure", message: expect.stringMatching(says) });
  expect(checks[name]?.remedy).toMatch(remedy);
  expect(checks["project prj-demo"]?.status).toBe("skipped");
});

test("a refused port, an unknown name and a wrong protocol are distinguished", async () => {
  fakePulumi({});
  const closed = createServer();
  await new Promise<void>((done) => closed.listen(0, "127.0.0.1", done));
  // A TCP server's address is an object.
  const { port } = closed.address() as AddressInfo;
  const told = async (SVC_BASE_URL: string) =>
    (await doctor(["--json"], { SVC_API_KEY: KEY, SVC_BASE_URL })).checks["service"];
  expect(await told(`https://127.0.0.1:${port}/api/v2`)).toMatchObject({
    status: "failure",
    remedy: expect.stringContaining("TLS"),
  });
  await new Promise((done) => closed.close(done));
  const [refused, unknown] = await Promise.all([
    told(`http://127.0.0.1:${port}/api/v2`),
    told("https://api.pulumi-svc.invalid/api/v2"),
  ]);
  expect(refused?.message).toContain(`127.0.0.1:${port}: ECONNREFUSED`);
  expect(refused?.remedy).toContain("Nothing listens there");
  expect(unknown?.remedy).toMatch(/DNS does not resolve api\.pulumi-svc\.invalid/);
});

test("a proxy of the environment is named by its variable where it may be the reason", async () => {
  fakePulumi({});
  const env = {
    SVC_API_KEY: KEY,
    SVC_BASE_URL: "https://api.pulumi-svc.invalid/api/v2",
    https_proxy: "http://canary:canary@127.0.0.1:9",
  };
  const { checks } = await doctor(["--json"], env);
  expect(checks["proxy"]).toMatchObject({ status: "warning", remedy: expect.stringContaining("no_proxy=127.0.0.1") });
  expect(checks["service"]?.remedy).toContain("https_proxy");
  const excepted = await doctor(["--json"], { https_proxy: env.https_proxy, no_proxy: "localhost, 127.0.0.1" });
  expect(excepted.checks["proxy"]).toBeUndefined();
});

test("a missing CLI and an unsupported one are failures, an older one is a warning", async () => {
  const { url: _url, ...env } = await settings();
  const cli = async (version?: string) => {
    if (version !== undefined) fakePulumi({ version });
    const { code, checks } = await doctor(["--project", "prj-demo", "--json"], env);
    return [code, checks["Pulumi CLI"]?.status, checks["Pulumi CLI"]?.message];
  };
  expect(await cli()).toEqual([1, "failure", expect.stringContaining("the Pulumi CLI was not found")]);
  expect(await cli("v3.215.9")).toEqual([1, "failure", expect.stringMatching(/3\.215\.9.*3\.216\.0 or later/)]);
  expect(await cli("v4.0.0")).toEqual([1, "failure", expect.stringContaining("below 4")]);
  expect(await cli("v3.226.0")).toEqual([0, "warning", expect.stringContaining("3.226.1")]);
  expect(await cli("v3.226.1-dev.3")).toEqual([0, "ok", "3.226.1-dev.3"]);
});

test("what the CLI says is shown without addresses and secrets of the environment", async () => {
  program();
  const env = { PULUMI_CONFIG_PASSPHRASE: "canary-passphrase" };
  for (const [words, shown] of [
    ["cannot open https://canary:canary@state.test/?sig=canary", "cannot open [address]"],
    ["cannot decrypt with canary-passphrase", "[the Pulumi CLI's message repeats a secret]"],
  ]) {
    fakePulumi({ fails: { "config --json": `warning: something\nerror: ${words}` } });
    const { code, checks } = await doctor(["--json"], env);
    expect(code).toBe(1);
    const message = `the configuration of dev cannot be read: ${shown}`;
    expect(checks["stack"]).toMatchObject({ status: "failure", message });
    expect(checks["service"]?.status).toBe("skipped");
  }
});

/** A package of this name and version in a node_modules. */
function install(path: string, version: string): void {
  const folder_ = join(folder, path);
  for (const file of ["dist/provider.js", "cmd/dynamic-provider/index.js"]) {
    mkdirSync(dirname(join(folder_, file)), { recursive: true });
    writeFileSync(join(folder_, file), "");
  }
  const exports = { "./provider": "./dist/provider.js", "./package.json": "./package.json" };
  const name = path.replace(/.*node_modules\//, "");
  writeFileSync(
    join(folder_, "package.json"),
    JSON.stringify({ name, version, ...(name === "pulumi-svc" && { exports }) }),
  );
}

test("of what is installed: an old SDK, a package that is missing, and another version", async () => {
  fakePulumi({});
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nmain: infra # here\nruntime: nodejs\n");
  mkdirSync(join(folder, "infra"));
  const look = async () => (await doctor(["--json"])).checks;
  const none = await look();
  expect(none["Pulumi SDK"]).toMatchObject({ status: "failure", remedy: expect.stringContaining("npm install") });
  expect(none["package"]).toMatchObject({
    status: "failure",
    remedy: expect.stringContaining("npm install pulumi-svc"),
  });
  install("infra/node_modules/@pulumi/pulumi", "3.200.0");
  install("infra/node_modules/pulumi-svc", "0.0.7");
  const old = await look();
  expect(old["Pulumi SDK"]).toMatchObject({ status: "failure", message: expect.stringContaining("3.200.0") });
  expect(old["package"]).toMatchObject({ status: "warning", message: expect.stringContaining("0.0.7") });
});

test("of TypeScript: none, one that cannot be loaded or does not know tsconfig.json, and a program that needs none", async () => {
  fakePulumi({});
  const pulumiYaml = (runtime: string) => writeFileSync(join(folder, "Pulumi.yaml"), `name: proj\n${runtime}\n`);
  // Node remembers in a process where it has found a package, or not.
  const look = async () => (await doctor(["--json"], {}, folder, runProcess)).checks["TypeScript"];
  pulumiYaml("runtime: nodejs");
  install("node_modules/@pulumi/pulumi", "3.259.0");
  const sdk = join(folder, "node_modules", "@pulumi", "pulumi");
  symlinkSync(join(ROOT, "node_modules", "@pulumi", "pulumi", "vendor"), join(sdk, "vendor"));
  expect(await look()).toMatchObject({ status: "skipped", message: "the program is not in TypeScript" });
  writeFileSync(join(folder, "index.ts"), "");
  const remedy = "Run `npm install --save-dev typescript@5` in the folder of the program.";
  expect(await look()).toEqual({
    name: "TypeScript",
    status: "warning",
    message: expect.stringMatching(/^none is installed; the Pulumi SDK uses its own, 3\.8\.3/),
    remedy,
  });
  const tsconfig = join(folder, "tsconfig.json");
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions: { module: "node16", noEmit: true } }));
  expect(await look()).toMatchObject({ status: "failure", message: expect.stringMatching(/'--module'/), remedy });
  symlinkSync(join(ROOT, "node_modules", "typescript"), join(folder, "node_modules", "typescript"));
  expect(await look()).toMatchObject({ status: "ok", message: "5.9.3" });
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions: { module: "of tomorrow" } }));
  expect(await look()).toMatchObject({ status: "failure", message: expect.stringMatching(/^5\.9\.3, .*'--module'/) });
  rmSync(join(folder, "node_modules", "typescript"));
  mkdirSync(join(folder, "node_modules", "typescript"));
  writeFileSync(join(folder, "node_modules", "typescript", "index.js"), 'exports.version = "7.0.2";');
  const unloadable = { status: "failure", message: "7.0.2 has no API that the Pulumi SDK can load" };
  expect(await look()).toMatchObject({
    ...unloadable,
    remedy: expect.stringMatching(/typescript@5`.* Or set `typescript: false`/),
  });
  // The SDK loads it all the same.
  pulumiYaml('runtime:\n  name: nodejs\n  options:\n    nodeargs: "--import tsx"');
  expect(await look()).toMatchObject(unloadable);
  renameSync(join(folder, "index.ts"), join(folder, "index.js"));
  expect(await look()).toMatchObject(unloadable);
  pulumiYaml('runtime:\n  name: nodejs\n  options:\n    typescript: false\n    nodeargs: "--import tsx"');
  expect(await look()).toMatchObject({ status: "skipped", message: "Pulumi.yaml says typescript: false" });
});

test("of TypeScript: the program and the tsconfig.json that Pulumi.yaml names", async () => {
  fakePulumi({});
  install("node_modules/@pulumi/pulumi", "3.259.0");
  symlinkSync(join(ROOT, "node_modules", "typescript"), join(folder, "node_modules", "typescript"));
  const options = "runtime:\n  name: nodejs\n  options:\n    tsconfig: tsconfig.pulumi.json";
  writeFileSync(join(folder, "Pulumi.yaml"), `name: proj\nmain: stack.ts\n${options}\n`);
  writeFileSync(join(folder, "stack.ts"), "");
  const wrong = JSON.stringify({ compilerOptions: { module: "of tomorrow" } });
  writeFileSync(join(folder, "tsconfig.pulumi.json"), wrong);
  expect((await doctor(["--json"], {}, folder, runProcess)).checks["TypeScript"]).toMatchObject({
    status: "failure",
    message: expect.stringContaining("5.9.3, which does not accept tsconfig.pulumi.json: "),
  });
});

test("pnpm: a package that is found only beside the SDK", async () => {
  fakePulumi({});
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  const store = "node_modules/.pnpm";
  install(`${store}/@pulumi+pulumi@3.259.0/node_modules/@pulumi/pulumi`, "3.259.0");
  mkdirSync(join(folder, "node_modules/@pulumi"));
  symlinkSync(
    join(folder, `${store}/@pulumi+pulumi@3.259.0/node_modules/@pulumi/pulumi`),
    join(folder, "node_modules/@pulumi/pulumi"),
  );
  install(`${store}/pulumi-svc@0.0.1/node_modules/pulumi-svc`, "0.0.1");
  mkdirSync(join(folder, `${store}/node_modules`));
  symlinkSync(
    join(folder, `${store}/pulumi-svc@0.0.1/node_modules/pulumi-svc`),
    join(folder, `${store}/node_modules/pulumi-svc`),
  );
  const { checks } = await doctor(["--json"]);
  expect(checks["package"]?.message).toContain("0.0.1");
});

test("as text: aligned lines without colour where nobody looks at a terminal, the count first, the remedy below", async () => {
  fakePulumi({ version: "v3.100.0" });
  const { code, text } = await doctor([], { SVC_API_KEY: KEY });
  expect(code).toBe(1);
  expect(text).toMatch(/^ {2}ok {7}Node {9}\d/m);
  expect(text).toMatch(/^ {2}failure {2}Pulumi CLI {3}3\.100\.0.*\n {24}Install/m);
  expect(text).toMatch(/^failures: 2, warnings: 0\n/);

  expect(text).not.toMatch(/\u001b/);
});

describe("a key by name", () => {
  const base = async (config: Record<string, string>) => {
    program();
    const { SVC_BASE_URL: value } = await settings();
    const all = { ...config, "svc:baseUrl": value };
    fakePulumi({
      config: Object.fromEntries(Object.entries(all).map(([key, value]) => [key, { value, secret: false }])),
      providers: { default: { stored: all, projects: ["prj-demo"] } },
    });
  };

  test("of a variable: which one holds it, and that the stack stores no key", async () => {
    await base({ "svc:apiKeyEnv": "PROD_KEY" });
    const { code, checks } = await doctor(["--json"], { PROD_KEY: KEY, SVC_API_KEY: "canary-other" });
    expect(code).toBe(0);
    expect(checks["API key"]).toEqual({
      name: "API key",
      status: "ok",
      message: "from PROD_KEY, which the stack's configuration (svc:apiKeyEnv) names, for pulumi up and preview",
    });
    expect(checks["stored key"]?.message).toMatch(/^the last pulumi up stored no key, but the name of PROD_KEY; /);
    expect(checks["credentials"]?.status).toBe("ok");
  });

  test("of a file: relative to the project, also from a folder below", async () => {
    await base({ "svc:apiKeyFile": "keys/prod" });
    mkdirSync(join(folder, "keys"));
    writeFileSync(join(folder, "keys", "prod"), `${KEY}\n`);
    const { code, checks } = await doctor(["--json"], {}, join(folder, "keys"));
    expect(code).toBe(0);
    expect(checks["API key"]?.message).toMatch(/^from the file .*keys.prod, which the stack's/);
    expect(checks["stored key"]?.status).toBe("ok");
  });

  test.each([
    ["a variable", { "svc:apiKeyEnv": "PROD_KEY" }],
    ["a file", { "svc:apiKeyFile": "keys/prod" }],
  ])("of %s that an svc.Provider names, where the configuration has no key: it is read", async (_, stored) => {
    program();
    const { SVC_BASE_URL: value } = await settings();
    mkdirSync(join(folder, "keys"));
    writeFileSync(join(folder, "keys", "prod"), `${KEY}\n`);
    fakePulumi({
      config: { "svc:baseUrl": { value, secret: false } },
      providers: { prod: { stored: { ...stored, "svc:baseUrl": value }, projects: ["prj-demo"] } },
    });
    const { code, checks } = await doctor(["--json"], { PROD_KEY: KEY });
    expect(code).toBe(0);
    expect(checks["provider prod"]).toMatchObject({
      status: "ok",
      message: expect.stringMatching(
        /^the last pulumi up stored no key, but the name of .*(PROD_KEY|keys.prod); \S+ accepts the key/,
      ),
    });
  });

  test("that has no value is a failure that names it, and nothing is sent", async () => {
    await base({ "svc:apiKeyEnv": "PROD_KEY" });
    const { code, checks } = await doctor(["--json"]);
    expect(code).toBe(1);
    expect(checks["settings"]).toMatchObject({
      status: "failure",
      message: expect.stringMatching(/^no API key: PROD_KEY is not set; svc:apiKeyEnv/),
    });
    expect(checks["credentials"]?.status).toBe("skipped");
    // An up would lack it too, so the advice to run one would not help.
    expect(checks["stored key"]).toMatchObject({
      status: "failure",
      message: expect.stringContaining("PROD_KEY is not set"),
      remedy: expect.stringMatching(/^Set it where these commands run\./),
    });
  });

  test("of the environment's file: where it is", async () => {
    await base({});
    writeFileSync(join(folder, "key"), KEY);
    const { code, checks } = await doctor(["--json"], { SVC_API_KEY_FILE: join(folder, "key") });
    expect(code).toBe(0);
    expect(checks["API key"]?.message).toMatch(/key, which the environment \(SVC_API_KEY_FILE\) names/);
  });

  test("is what a hint proposes where the stack stores a key, which is no failure and no warning", async () => {
    program();
    const { SVC_BASE_URL, SVC_API_KEY } = await settings();
    const stored = { "svc:apiKey": SVC_API_KEY, "svc:baseUrl": SVC_BASE_URL };
    fakePulumi({
      config: {
        "svc:apiKey": { value: SVC_API_KEY, secret: true },
        "svc:baseUrl": { value: SVC_BASE_URL, secret: false },
      },
      providers: { default: { stored, projects: ["prj-demo"] }, one: { stored, projects: ["prj-demo"] } },
    });
    const { code, checks } = await doctor(["--json"]);
    expect(code).toBe(0);
    expect(checks["API key"]).toMatchObject({ status: "ok", remedy: expect.stringContaining("svc:apiKeyEnv") });
    expect(checks["provider one"]).toMatchObject({ status: "ok", remedy: expect.stringContaining("apiKeyEnv") });
  });
});

test("wrong usage ends with 2", async () => {
  expect((await doctor(["--projekt", "x"])).code).toBe(2);
  expect((await doctor(["--project", "../x"])).code).toBe(2);
});
