import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inspect, promisify } from "node:util";
import { format } from "prettier/standalone";
import * as estree from "prettier/plugins/estree";
import * as typescript from "prettier/plugins/typescript";
import { importReport, leftOutText } from "../../../src/cli/import/importText";
import { render } from "../../../src/cli/report/render";
import { type Kind, typeToken } from "../../../src/contract/pointer";
import { importProject, type ImportOptions, type ImportReport } from "../../../src/cli/import/importProject";
import type { Properties } from "../../../src/contract/hiddenKeys";
import { load } from "../../../src/provider";
import { DISABLED, handMadeAuth, REPORTS } from "../../support/handMade";
import { unmarked } from "../../support/engineMarks";
import { Service } from "../../support/service";
import { ROOT } from "../../support/cli";
import { createCompute, PRIMARY, STANDARD_EMAIL } from "../../support/emulator";

const toText = (report: ImportReport): string => render(importReport(report), "text");

const KEY = "canary-key-import";
const CLIENT_SECRET = "canary-client-secret";
const PASSWORD = "canary-smtp-password";

let service: Service;
let folder: string;
const before = { ...process.env };
const cwd = process.cwd();
beforeEach(async () => {
  service = await Service.start({ apiKey: KEY });
  folder = mkdtempSync(join(tmpdir(), "import-"));
  process.env["SVC_API_KEY"] = KEY;
  process.env["SVC_BASE_URL"] = service.emulator.baseUrl;
  // Without a program, so that no stack is asked.
  process.chdir(folder);
});
afterEach(async () => {
  process.chdir(cwd);
  process.env = { ...before };
  rmSync(folder, { recursive: true });
  await service.emulator.close();
});

interface Entry {
  type: string;
  name: string;
  id: string;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown>;
}

const path = (name: string): string => join(folder, name);
const run = (more: Partial<ImportOptions> = {}): Promise<ImportReport> =>
  importProject({ project: "prj-demo", out: path("import.json"), program: path("index.ts"), ...more });
const written = (name: string): string => readFileSync(path(name), "utf8");
const entries = (): Entry[] => (JSON.parse(written("import.json")) as { resources: Entry[] }).resources;
const formatted = (text: string): Promise<string> =>
  format(text, { parser: "typescript", plugins: [estree, typescript] });

/** Every kind of object, made by hand. */
async function fullProject(): Promise<void> {
  const { emulator } = service;
  await createCompute(emulator, { ...REPORTS, passwordless_access: false });
  await createCompute(emulator, DISABLED);
  await handMadeAuth(emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
}

it("refuses a program of native resources, which its Pulumi.yaml or the state shows", async () => {
  const words = /^this program uses the native plugin, .* pulumi import svc:index:KIND NAME ID$/;
  const plugin = "./node_modules/pulumi-svc/plugin";
  for (const entries of [`  svc: ${plugin}\n`, `  # ours\n  other: x\n  "svc": ${plugin}\n`]) {
    writeFileSync(path("Pulumi.yaml"), `name: proj\nruntime: yaml\npackages:\n${entries}`);
    await expect(run({ state: stored() })).rejects.toThrow(words);
  }
  writeFileSync(path("Pulumi.yaml"), "name: proj\nruntime: nodejs\npackages:\n  other: x\nsvc: y\n");
  expect(await run({ state: stored() })).toMatchObject({ imported: [{ name: "main" }] });
  const urn = "urn:pulumi:dev::proj::svc:index:EmailServer::mail";
  await expect(run({ force: true, state: stored({ urn, type: "svc:index:EmailServer" }) })).rejects.toThrow(words);
});

/** The file of a state. */
function stored(...resources: readonly object[]): string {
  writeFileSync(path("state.json"), JSON.stringify({ version: 3, deployment: { resources } }));
  return path("state.json");
}

it("writes the program that a person would write", async () => {
  await fullProject();
  const report = await run();
  expect(written("index.ts")).toBe(`import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = "prj-demo";
const mainBranchId = "br-main";

const main = new svc.ComputeEndpoint("main", {
  projectId,
  branchId: mainBranchId,
  size: { min: 0.25, max: 2 },
});

const mainReports = new svc.ComputeEndpoint("main-reports", {
  projectId,
  branchId: mainBranchId,
  type: "read_only",
  name: "Reports",
  size: 1,
  scaleToZero: false,
  poolerEnabled: true,
  passwordlessAccess: false,
});

const dev = new svc.ComputeEndpoint("dev", {
  projectId,
  branchId: "br-dev",
  size: { min: 0.25, max: 2 },
  scaleToZero: { afterSeconds: 600 },
  disabled: true,
  settings: {
    pgSettings: {
      max_parallel_workers: "4",
      "auto_explain.log_min_duration": "1s",
    },
  },
});

// Its keys cannot be read: secretServerKey and pubClientKey are empty.
const auth = new svc.AuthIntegration("auth", {
  projectId,
  branchId: mainBranchId,
});

const github = new svc.OAuthProvider("github", {
  projectId: auth.projectId,
  providerId: "github",
  clientId: config.require("githubClientId"),
  clientSecret: config.requireSecret("githubClientSecret"),
});

const google = new svc.OAuthProvider("google", {
  projectId: auth.projectId,
  providerId: "google",
});

const localhost3000 = new svc.WhitelistDomain("localhost-3000", {
  projectId: auth.projectId,
  domain: "http://localhost:3000",
});

const appExampleCom = new svc.WhitelistDomain("app-example-com", {
  projectId: auth.projectId,
  domain: "https://app.example.com",
});

const mail = new svc.EmailServer("mail", {
  projectId: auth.projectId,
  type: "standard",
  host: "smtp.example.com",
  port: 587,
  username: "mailer",
  password: config.requireSecret("smtpPassword"),
  senderEmail: "no-reply@example.com",
  senderName: "Example",
});
`);
  expect(await formatted(written("index.ts"))).toBe(written("index.ts"));
  expect(report.next).toEqual([
    "pulumi config set githubClientId",
    "pulumi config set --secret githubClientSecret",
    "pulumi config set --secret smtpPassword",
    `pulumi import --file ${path("import.json")} --generate-code=false --yes`,
    "pulumi preview",
    "pulumi up",
  ]);
});

/** Properties of an import file as the engine hands them to the provider. */
const inClear = (properties: object): Properties =>
  JSON.parse(JSON.stringify(properties), (_, value: unknown) => {
    const isSecret = typeof value === "object" && value !== null && "plaintext" in value;
    return isSecret ? (JSON.parse(String(value.plaintext)) as unknown) : value;
  }) as Properties;

it.each(["echo", "masked", "absent"] as const)(
  "writes into the import file what a refresh of it would store, and no secret anywhere: answers with secrets %s",
  async (secretAnswers) => {
    await service.emulator.close();
    service = await Service.start({ apiKey: KEY, secretAnswers });
    process.env["SVC_BASE_URL"] = service.emulator.baseUrl;
    await fullProject();
    const report = await run();
    for (const { type, id, inputs: given, outputs: stored } of entries()) {
      const [inputs, outputs] = [inClear(given), inClear(stored)];
      const provider = load(type.split(":").pop() ?? "");
      const { props, inputs: read } = await provider.read(id, outputs);
      // The one secret that a service may show in a list.
      const password = secretAnswers === "echo" && type.endsWith("EmailServer") ? { password: PASSWORD } : {};
      expect(unmarked(props ?? {})).toEqual({ ...outputs, ...password });
      expect(unmarked(read ?? {})).toEqual({ ...inputs, ...password });
      expect(await provider.check({}, inputs)).toMatchObject({ failures: [] });
      expect(await provider.diff(id, outputs, inputs)).toMatchObject({ changes: false, replaces: [] });
    }
    const everything = [written("import.json"), written("index.ts"), JSON.stringify(report), toText(report)].join("\n");
    for (const secret of [KEY, CLIENT_SECRET, PASSWORD]) expect(everything).not.toContain(secret);
    const mail = entries().find(({ name }) => name === "mail");
    expect([mail?.inputs["password"], mail?.outputs["password"]]).toEqual([
      expect.objectContaining({ plaintext: '"(not shown by the service)"' }),
      expect.objectContaining({ plaintext: '"(not shown by the service)"' }),
    ]);
  },
);

it("takes from the configuration what may be a secret among the settings of a compute, so that no program holds it", async () => {
  const secrets = { "app.api_key": "canary-1", "app.api-key": "canary-2", "app.dsn": "postgres://u:canary-3@h/db" };
  const pg_settings = { ...secrets, "app.mode": "fast", "app.token_ttl": "3600" };
  await createCompute(service.emulator, { ...DISABLED, settings: { pg_settings } });
  const report = await run();
  const keys = ["devAppApiKey", "devAppApiKey-2", "devAppDsn"];
  expect(written("index.ts")).toContain(`
    pgSettings: {
      "app.api_key": config.requireSecret("${keys[0]}"),
      "app.api-key": config.requireSecret("${keys[1]}"),
      "app.dsn": config.requireSecret("${keys[2]}"),
      "app.mode": "fast",
      "app.token_ttl": "3600",
    },`);
  expect(report.configuration).toEqual(keys.map((key) => ({ key, secret: true, resource: "dev" })));
  for (const text of [written("index.ts"), JSON.stringify(report), toText(report)])
    expect(text).not.toContain("canary");
  const { inputs } = entries().find(({ name }) => name === "dev") as Entry;
  // The engine encrypts these properties of an import file.
  const { "app.mode": mode, ...marked } = (inputs["settings"] as { pgSettings: Properties }).pgSettings;
  expect(mode).toBe("fast");
  expect(Object.values(marked).filter((value) => typeof value === "object")).toHaveLength(3);
  expect(inClear(inputs)).toMatchObject({ settings: { pgSettings: pg_settings } });
});

it("reports as text what was written, what cannot be read and what comes next", async () => {
  await fullProject();
  const text = toText({ ...(await run()), files: ["import.json", "index.ts"] });
  expect(text).toMatch(
    /^wrote import\.json and index\.ts: 9 resources of project prj-demo\n {2}ComputeEndpoint {2}main/,
  );
  expect(text).toContain(`main             read_write compute ${PRIMARY} on br-main, 0.25 to 2 CU\n`);
  expect(text).toMatch(/secretServerKey and pubClientKey are empty\./);
  expect(text).toMatch(/Neither file contains users and key sets, which the service does not list/);
  expect(text).toMatch(/No stack is selected here, so objects that a stack already holds were not left out\./);
  expect(text).toMatch(
    /pulumi preview {2}# changes at most "github" and "mail": it sets the values that you have configured, and deletes nothing\n/,
  );
});

it("leaves out what a stack holds, with the names that it uses", async () => {
  await fullProject();
  await run();
  const resources = entries().map(({ type, name, id }) => ({ urn: `urn:pulumi:dev::p::${type}::${name}`, type, id }));
  const stateOf = (held: object[]) => {
    writeFileSync(path("state.json"), JSON.stringify({ version: 3, deployment: { resources: held } }));
    return { state: path("state.json"), force: true };
  };
  const report = await run(stateOf(resources.slice(0, 4)));
  expect(report.held.map(({ kind }) => kind)).toEqual([
    "ComputeEndpoint",
    "ComputeEndpoint",
    "ComputeEndpoint",
    "AuthIntegration",
  ]);
  expect(entries().map(({ name }) => name)).toEqual(["github", "google", "localhost-3000", "app-example-com", "mail"]);
  // The integration is in another program.
  expect(written("index.ts")).toContain('new svc.EmailServer("mail", {\n  projectId,\n');
  expect(report.notes.join()).not.toMatch(/No stack is selected/);

  // A name that another resource of the stack has.
  await run(stateOf([{ urn: `urn:pulumi:dev::p::${resources[0]?.type ?? ""}::main`, type: "t", id: "other" }]));
  expect(entries()[0]?.name).toBe("main-compute");

  // The whole list is one resource.
  const whitelist = { type: "pulumi-nodejs:dynamic/svc:Whitelist", id: "prj-demo", urn: "urn:pulumi:dev::p::t::list" };
  expect((await run(stateOf([whitelist]))).held.map(({ kind }) => kind)).toEqual([
    "WhitelistDomain",
    "WhitelistDomain",
  ]);

  const kept = written("index.ts");
  const nothing = await run({ ...stateOf(resources), out: path("2.json"), program: path("2.ts") });
  expect(nothing).toMatchObject({ files: [], imported: [], next: [] });
  expect(toText(nothing)).toMatch(/^wrote nothing: project prj-demo holds nothing that the stack does not hold\n/);
  expect(readdirSync(folder).sort()).toEqual(["import.json", "index.ts", "state.json"]);
  expect(written("index.ts")).toBe(kept);
});

it.each([
  ["what is no JSON", `${CLIENT_SECRET} {`],
  ["another file", `{"secret":"${CLIENT_SECRET}"}`],
  ["resources of another shape", '{"deployment":{"resources":[{"id":"x"}]}}'],
])("refuses a state that is invalid: %s", async (_what, text) => {
  writeFileSync(path("state.json"), text);
  await expect(run({ state: path("state.json") })).rejects.toThrow(
    `${path("state.json")} is not what pulumi stack export writes`,
  );
  expect(readdirSync(folder)).toEqual(["state.json"]);
});

it("overwrites nothing without --force, and both files with it", async () => {
  writeFileSync(path("index.ts"), "mine");
  await service.clearRequests();
  await expect(run()).rejects.toThrow(
    `${path("index.ts")} exists already, and nothing was written. Choose other files with --out and --program, or overwrite with --force`,
  );
  expect(readdirSync(folder)).toEqual(["index.ts"]);
  expect(written("index.ts")).toBe("mine");
  expect(await service.requests()).toEqual([]);
  await run({ force: true });
  expect(written("index.ts")).toMatch(/^import \* as svc/);
  expect(readdirSync(folder).sort()).toEqual(["import.json", "index.ts"]);
});

it("writes both files or none", async () => {
  await expect(run({ program: path("src/index.ts") })).rejects.toThrow(
    `could not write ${path("src/index.ts")}: no such file or directory`,
  );
  expect(readdirSync(folder)).toEqual([]);
  mkdirSync(path("src"));
  await expect(run({ program: path("src"), force: true })).rejects.toThrow(`${path("src")} is a folder`);
  await expect(run({ program: `${folder}/./import.json` })).rejects.toThrow("--out and --program name the same file");
  expect(readdirSync(folder)).toEqual(["src"]);
});

/** If the test's folder is a program, the first `pulumi` on PATH: its selected stack has this configuration. */
function fakeStack(
  config: Record<string, string>,
  fails: Record<string, string> = {},
  more: Record<string, string> = {},
): void {
  writeFileSync(path("Pulumi.yaml"), "name: x\nruntime: nodejs\n");
  mkdirSync(path("bin"));
  const answers = {
    "stack --show-name": "dev",
    "stack ls --json": "[]",
    "stack export": JSON.stringify({ version: 3, deployment: {} }),
    ...more,
    "config --json": JSON.stringify(
      Object.fromEntries(
        Object.entries(config).map(([key, value]) => [key, key === "svc:apiKey" ? { secret: true } : { value }]),
      ),
    ),
    ...Object.fromEntries(Object.entries(config).map(([key, value]) => [`config get ${key}`, value])),
  };
  // Each answer is a file: a shell is ready thirty times as fast as Node.
  for (const [kind, texts] of Object.entries({ answers, fails }))
    for (const [asked, text] of Object.entries(texts)) {
      mkdirSync(path(`bin/${kind}`), { recursive: true });
      writeFileSync(path(`bin/${kind}/${asked}`), `${text}\n`);
    }
  const script = `#!/bin/sh
    asked="$*"
    case "$asked" in *" --non-interactive"*) asked="\${asked%% --non-interactive*}\${asked#* --non-interactive}" ;; esac
    if [ -f "${path("bin")}/fails/$asked" ]; then cat "${path("bin")}/fails/$asked" >&2; exit 1; fi
    cat "${path("bin")}/answers/\${asked%% --stack prod}" || exit 1
  `;
  writeFileSync(path("bin/pulumi"), script, { mode: 0o755 });
  process.env["PATH"] = `${path("bin")}:${process.env["PATH"] ?? ""}`;
}

describe("the settings", () => {
  it("are those of the selected stack, then those of the environment", async () => {
    fakeStack({ "svc:apiKey": KEY, "svc:authProvider": "another_provider" });
    process.env["SVC_API_KEY"] = "canary-wrong";
    await handMadeAuth(service.emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
    const report = await run();
    expect(report.imported.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["ComputeEndpoint", "OAuthProvider"]),
    );
    // It differs from that of the stack, so the program has to name it.
    expect(written("index.ts")).toContain('  authProvider: "supported_provider",\n');
    expect(JSON.stringify(report)).not.toContain(KEY);
  });

  it("are those of the stack that is named, and of no other", async () => {
    const unknown = { "stack --show-name --stack qa": "error: no stack named 'qa' found" };
    fakeStack({ "svc:apiKey": KEY }, { ...unknown, "stack --show-name": "error: no stack selected" });
    process.env["SVC_API_KEY"] = "canary-wrong";
    await expect(run({ stack: "qa" })).rejects.toThrow(/^the stack "qa" cannot be read: no stack named 'qa' found$/);
    await expect(run()).rejects.toThrow(/^the API key is missing or wrong/);
    expect((await run({ stack: "prod" })).imported).toHaveLength(1);
  });

  it("have to be there and readable, or nothing is asked", async () => {
    delete process.env["SVC_API_KEY"];
    await service.clearRequests();
    await expect(run()).rejects.toThrow(
      /^no API key: name the variable or the file .* `pulumi config set svc:apiKeyEnv`.*SVC_API_KEY.*`pulumi config set --secret svc:apiKey`/,
    );
    await expect(run({ stack: "dev" })).rejects.toThrow(
      'no Pulumi.yaml in this folder or above, so there is no stack "dev"',
    );
    fakeStack({ "svc:apiKey": KEY }, { "config get svc:apiKey": "error: incorrect passphrase" });
    await expect(run()).rejects.toThrow(
      /^the configuration of the stack dev cannot be read: incorrect passphrase\. It needs the login and the passphrase/,
    );
    expect(await service.requests()).toEqual([]);
  });
});

describe("a program that is there", () => {
  const project = (files: Record<string, string>, main = ""): void => {
    fakeStack({ "svc:apiKey": KEY });
    writeFileSync(path("Pulumi.yaml"), `name: x\nruntime: nodejs\n${main}`);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
    }
  };
  const imported = (more: Partial<ImportOptions> = {}): Promise<ImportReport> =>
    importProject({ project: "prj-demo", out: path("import.json"), ...more });
  const ESM = '{ "type": "module" }';
  const TS_LINE = 'import * as svc from "pulumi-svc";';
  const CJS_LINE = 'const svc = require("pulumi-svc");';

  it.each([
    ["none", {}, "", "index.ts", undefined, TS_LINE],
    ["a folder that main names, empty", { "infra/.keep": "" }, "main: infra\n", "infra/index.ts", undefined, TS_LINE],
    ["a file that main names and that is to be written", {}, "main: main.ts\n", "main.ts", undefined, TS_LINE],
    ["TypeScript", { "index.ts": "" }, "", "imported.ts", 'index.ts: import "./imported";', TS_LINE],
    ["JavaScript", { "index.js": "" }, "", "imported.js", 'index.js: require("./imported");', CJS_LINE],
    [
      "JavaScript before TypeScript",
      { "index.ts": "", "index.js": "" },
      "",
      "imported.js",
      'index.js: require("./imported");',
      CJS_LINE,
    ],
    [
      "ES modules",
      { "package.json": ESM, "index.js": "" },
      "",
      "imported.js",
      'index.js: import "./imported.js";',
      TS_LINE,
    ],
    [
      "ES modules in TypeScript",
      { "package.json": ESM, "index.ts": "" },
      "",
      "imported.ts",
      'index.ts: import "./imported.js";',
      TS_LINE,
    ],
    ["an ES module", { "index.mjs": "" }, "", "imported.mjs", 'index.mjs: import "./imported.mjs";', TS_LINE],
    [
      "the main of package.json",
      { "package.json": '{ "main": "src/app.ts" }', "src/app.ts": "", "index.ts": "" },
      "",
      "src/imported.ts",
      'src/app.ts: import "./imported";',
      TS_LINE,
    ],
    [
      "that of main",
      { "src/app.ts": "" },
      "main: src/app.ts\n",
      "src/imported.ts",
      'src/app.ts: import "./imported";',
      TS_LINE,
    ],
  ])("%s: the file stands beside it, and the first step takes it in", async (_what, files, main, file, step, line) => {
    project(files, main);
    const report = await imported();
    expect(report.files[1]).toBe(file);
    expect(written(file).split("\n")[0]).toBe(line);
    expect(report.next[0]?.startsWith("#") ? report.next[0] : undefined).toBe(step && `# add to ${step}`);
    for (const [name, text] of Object.entries(files)) expect(written(name)).toBe(text);
  });

  it("takes in a file of any place by its path from there", async () => {
    project({ "src/app.js": "", "other/.keep": "" }, "main: src/app.js\n");
    const { next } = await imported({ program: path("other/o'brien.js") });
    expect(next[0]).toBe(`# add to src/app.js: require("../other/o'brien");`);
  });

  it("what a stack holds is not known if its backend does not answer: a failure, and nothing is written", async () => {
    const none = { "stack --show-name": "error: could not get the current stack: connection refused" };
    fakeStack({}, { ...none, "stack ls --json": "error: connection refused" });
    const words =
      "it is not known what the stack here holds, because its backend does not answer: pulumi stack ls failed: connection refused";
    await expect(imported()).rejects.toThrow(words);
    expect(readdirSync(folder).sort()).toEqual(["Pulumi.yaml", "bin"]);
    // A file says it.
    expect((await run({ state: stored() })).imported).toHaveLength(1);
  });

  it("none is selected if the backend answers", async () => {
    fakeStack({}, { "stack --show-name": "error: no stack selected" });
    expect((await imported()).notes.join()).toMatch(/No stack is selected/);
  });

  it("whether other stacks run the program is not known if they are not listed: a failure", async () => {
    fakeStack({ "svc:apiKey": KEY }, { "stack ls --json": "error: forbidden" });
    await expect(imported()).rejects.toThrow("pulumi stack ls failed: forbidden");
    expect(readdirSync(folder).sort()).toEqual(["Pulumi.yaml", "bin"]);
  });

  it("leaves out what the selected stack holds, without --state", async () => {
    await fullProject();
    await run();
    const resources = entries().map(({ type, name, id }) => ({ urn: `urn:pulumi:dev::p::${type}::${name}`, type, id }));
    rmSync(path("import.json"));
    rmSync(path("index.ts"));
    fakeStack(
      { "svc:apiKey": KEY },
      {},
      { "stack export": JSON.stringify({ version: 3, deployment: { resources: resources.slice(1) } }) },
    );
    const report = await imported();
    expect(report.imported.map(({ name }) => name)).toEqual(["main"]);
    expect(report.held).toHaveLength(resources.length - 1);
    expect(report.notes.join()).not.toMatch(/No stack is selected/);
  });

  it("a state that cannot be read is a failure, and nothing is written", async () => {
    fakeStack({ "svc:apiKey": KEY }, { "stack export": "error: the lock of the backend" });
    await expect(imported()).rejects.toThrow("pulumi stack export failed: the lock of the backend");
    expect(readdirSync(folder).sort()).toEqual(["Pulumi.yaml", "bin"]);
  });
});

describe("--only", () => {
  it("imports these objects alone, by id or by its end, and names what they live in", async () => {
    await fullProject();
    const report = await run({ only: [PRIMARY, "prj-demo/google", "https://app.example.com", "EmailServer"] });
    expect(report.imported.map(({ name }) => name)).toEqual(["main", "google", "app-example-com", "mail"]);
    expect(written("index.ts")).toContain('new svc.OAuthProvider("google", {\n  projectId,\n');
    expect(report.notes).toContainEqual(
      expect.stringMatching(
        /^"google", "app-example-com", "mail": the file does not declare the integration prj-demo\/supported_provider, which contains this/,
      ),
    );
  });

  it("with the integration, they are declared in it", async () => {
    await fullProject();
    const { notes } = await run({ only: ["supported_provider", "google"] });
    expect(written("index.ts")).toContain('new svc.OAuthProvider("google", {\n  projectId: auth.projectId,\n');
    expect(notes.join()).not.toMatch(/does not declare the integration/);
  });

  it("an id that nothing has is refused, with those that there are", async () => {
    await fullProject();
    await expect(run({ only: ["ep-none", "google", "bitbucket"] })).rejects.toThrow(
      /^--only ep-none: project prj-demo has no such object\. It has ep-demo-main-10000001, .*, google, .*, EmailServer\n--only bitbucket: /,
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

it("declares protection where that is asked for", async () => {
  await run({ protect: true });
  expect(written("index.ts")).toContain("size: { min: 0.25, max: 2 },\n  },\n  { protect: true },\n);\n");
  expect(await formatted(written("index.ts"))).toBe(written("index.ts"));
});

it("gives secrets by reference where that is asked for, and no file holds one", async () => {
  const pg_settings = { "app.api_key": "canary-1", "app.api-key": "canary-2", "app.mode": "fast" };
  await handMadeAuth(service.emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  await createCompute(service.emulator, { ...DISABLED, settings: { pg_settings } });
  const report = await run({ fromEnv: true });
  const names = ["DEV_APP_API_KEY", "DEV_APP_API_KEY_2", "GITHUB_CLIENT_SECRET", "SMTP_PASSWORD"];
  expect(report.variables).toEqual(names);
  expect(report.configuration).toEqual([{ key: "githubClientId", secret: false, resource: "github" }]);
  expect(report.next).toContain(`# set in the environment of pulumi preview and up: ${names.join(", ")}`);
  expect(written("index.ts")).toContain(`
      "app.api_key": svc.fromEnv("DEV_APP_API_KEY"),
      "app.api-key": svc.fromEnv("DEV_APP_API_KEY_2"),
      "app.mode": "fast",`);
  expect(written("index.ts")).toContain('  password: svc.fromEnv("SMTP_PASSWORD"),\n');
  for (const text of [written("index.ts"), written("import.json"), JSON.stringify(report), toText(report)])
    expect(text).not.toContain("canary");
  for (const { type, id, inputs, outputs } of entries()) {
    const provider = load(type.split(":").pop() ?? "");
    expect(await provider.check({}, inputs)).toMatchObject({ failures: [] });
    // Only the values are left to send, because no state has their digests yet.
    const wanted = type.endsWith("OAuthProvider") && id.endsWith("github");
    const { changes } = await provider.diff(id, inClear(outputs), inClear(inputs));
    if (!wanted) expect([id, changes]).toEqual([id, false]);
  }
});

it("says all that is wrong at once, each in a line of its own", async () => {
  process.env["SVC_BASE_URL"] = "http://127.0.0.1:1/api";
  delete process.env["SVC_API_KEY"];
  writeFileSync(path("index.ts"), "mine");
  const error: unknown = await run({ out: path("none/import.json"), state: path("none.json") }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error instanceof Error && error.message.split("\n")).toEqual([
    `could not write ${path("none/import.json")}: no such file or directory`,
    expect.stringMatching(/index\.ts exists already, and nothing was written\./),
    `could not read ${path("none.json")}: no such file or directory`,
    expect.stringMatching(/^no API key/),
    expect.stringMatching(/must end in the version segment/),
  ]);
  expect(readdirSync(folder)).toEqual(["index.ts"]);
});

it("fails with a message, and nothing is written", async () => {
  await expect(run({ project: "prj-none" })).rejects.toThrow(/^not found \(project prj-none\)/);
  process.env["SVC_API_KEY"] = "canary-wrong";
  await expect(run()).rejects.toThrow(/^the API key is missing or wrong/);
  await expect(run()).rejects.not.toThrow(/canary/);
  expect(readdirSync(folder)).toEqual([]);
});

it("shows no secret in its reports, its files and its errors, in debug mode too", async () => {
  await fullProject();
  Object.assign(process.env, { SVC_DEBUG: "1", SVC_LOG: "debug" });
  const lines: unknown[] = [];
  const stderr = jest.spyOn(process.stderr, "write").mockImplementation((line) => lines.push(line) > 0);
  const report = await run();
  await service.fault({ method: "GET", path: "/projects/{project_id}/auth/email_server", status: 403, times: 9 });
  const error: unknown = await run({ force: true }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  stderr.mockRestore();
  expect(lines.join("")).toMatch(
    /^pulumi-svc: GET \/projects\/\{project_id\}\/auth\/email_server -> 403, .*attempt 1\n/m,
  );
  const files = [written("import.json"), written("index.ts")];
  const shown = [toText(report), JSON.stringify(report), ...files, inspect(error), ...lines];
  for (const canary of [KEY, CLIENT_SECRET, PASSWORD]) expect(shown.join("\n")).not.toContain(canary);
});

it("skips what the stack holds under another spelling of its id, or declares absent", async () => {
  const { emulator } = service;
  await handMadeAuth(emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  const entry = (kind: Kind, id: string): object => ({
    urn: `urn:pulumi:dev::proj::${typeToken(kind)}::${id}`,
    type: typeToken(kind),
    id,
  });
  const held = [
    entry("AuthIntegration", "PRJ-demo/supported_provider"),
    entry("OAuthProvider", "prj-demo/GitHub"),
    entry("OAuthProvider", "prj-demo/google/absent"),
    entry("WhitelistDomain", "prj-demo/HTTPS://APP.example.com:443/"),
    entry("EmailServer", "PRJ-DEMO"),
  ];
  writeFileSync(path("state.json"), JSON.stringify({ version: 3, deployment: { resources: held } }));
  const report = await run({ state: path("state.json") });
  expect(report.held.map(({ id }) => id)).toEqual([
    "prj-demo/supported_provider",
    "prj-demo/github",
    "prj-demo/google",
    "prj-demo/https://app.example.com",
    "prj-demo",
  ]);
  expect(report.imported.map(({ id }) => id)).toEqual([`prj-demo/${PRIMARY}`, "prj-demo/http://localhost:3000"]);
});

it("says what the service shows and no program can declare, and leaves it out", async () => {
  const set = { autoscaling_limit_min_cu: 17, autoscaling_limit_max_cu: 17, suspend_timeout_seconds: 30 };
  await service.edit({ kind: "endpoint", id: PRIMARY, set });
  const { notes } = await run();
  expect(notes.slice(0, 2)).toEqual([
    expect.stringMatching(/^"main": size: 17 CU is not a size of the service .*\. The program does not declare it$/),
    '"main": scaleToZero.afterSeconds: must be at least 60 seconds. The program does not declare it',
  ]);
  const [entry] = entries();
  expect(entry?.inputs).toEqual({ projectId: "prj-demo", branchId: "br-main", __provider: expect.any(String) });
  expect(entry?.outputs["__args"]).toEqual(["branchId", "projectId"]);
  expect(written("index.ts")).toContain('  branchId: "br-main",\n});');
});

const CALLBACK = "javascript://callback";

/** What the service shows from now on, without its checks. */
const answer = (route: string, body: object): Promise<void> =>
  service.fault({
    method: "GET",
    path: `/projects/{project_id}/${route}`,
    status: 200,
    body,
    times: 0,
  });

it("leaves out of both files what no program can declare, and says it", async () => {
  const { emulator } = service;
  await handMadeAuth(emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  await service.edit({ kind: "domain", id: "http://localhost:3000", set: { domain: CALLBACK } });
  await answer("auth/email_server", { ...STANDARD_EMAIL, sender_name: "" });
  const report = await run();
  expect(report.leftOut).toEqual([
    {
      kind: "WhitelistDomain",
      id: `prj-demo/${CALLBACK}`,
      describe: `redirect domain ${CALLBACK}`,
      reasons: ["domain: must begin with http:// or https://, such as https://app.example.com"],
    },
    expect.objectContaining({ kind: "EmailServer", reasons: [expect.stringMatching(/^senderName: /)] }),
  ]);
  expect(leftOutText(report)).toMatch(
    /^pulumi-svc: left out, because no program can declare it: redirect domain javascript:\/\/callback: domain: must begin/,
  );
  expect(leftOutText(report).trimEnd().split("\n")).toHaveLength(2);
  for (const text of [written("index.ts"), written("import.json")]) expect(text).not.toMatch(/javascript:|smtp/);
  expect(entries().map(({ name }) => name)).toEqual(["main", "auth", "github", "google", "app-example-com"]);
  expect(report.configuration.map(({ resource }) => resource)).toEqual(["github", "github"]);
});

it("leaves out what a program could only declare as another object", async () => {
  const endpoints = (await service.endpoints()).map((record) => ({ ...record, type: "read_everything" }));
  await answer("endpoints", { endpoints });
  const report = await run();
  expect(report.leftOut).toEqual([expect.objectContaining({ kind: "ComputeEndpoint" })]);
  expect(report).toMatchObject({ files: [], imported: [], next: [] });
  expect(toText(report)).toMatch(/^wrote nothing: project prj-demo holds nothing else that a program can declare\n/);
  expect(readdirSync(folder)).toEqual([]);
});

it("declares the redirect domains as one Whitelist where it is asked to", async () => {
  await handMadeAuth(service.emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  const report = await run({ whitelist: true });
  expect(written("index.ts")).toContain(`const domains = new svc.Whitelist("domains", {
  projectId: auth.projectId,
  domains: ["http://localhost:3000", "https://app.example.com"],
});
`);
  expect(entries().filter(({ type }) => /Whitelist/.test(type))).toMatchObject([{ id: "prj-demo", name: "domains" }]);
  expect(report.imported.map(({ describe }) => describe)).toContain("whitelist of 2 redirect domains");

  const single = { type: "pulumi-nodejs:dynamic/svc:WhitelistDomain", id: "prj-demo/https://x.test", urn: "u::x" };
  writeFileSync(path("state.json"), JSON.stringify({ deployment: { resources: [single] } }));
  await expect(run({ whitelist: true, force: true, state: path("state.json") })).rejects.toThrow(
    /^the stack holds a WhitelistDomain of the project, which excludes a Whitelist of the same project: leave out --whitelist$/,
  );
});

it("leaves the domains of another auth provider out of a Whitelist, and says so", async () => {
  await handMadeAuth(service.emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  const other = { domain: "https://other.example.com", auth_provider: "other" };
  const own = { domain: "https://app.example.com", auth_provider: "supported_provider" };
  await answer("auth/domains", { domains: [own, other] });
  const report = await run({ whitelist: true });
  expect(report.imported.map(({ describe }) => describe)).toContain("whitelist of 1 redirect domain");
  expect(report.leftOut).toMatchObject([
    {
      kind: "WhitelistDomain",
      id: "prj-demo/https://other.example.com",
      reasons: [expect.stringMatching(/^a Whitelist holds/)],
    },
  ]);
  expect(written("index.ts")).not.toContain("other.example.com");
});

it("writes no Whitelist that would remove what it cannot declare", async () => {
  await handMadeAuth(service.emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  await service.edit({ kind: "domain", id: "http://localhost:3000", set: { domain: CALLBACK } });
  const without = await run({ whitelist: true });
  expect(without.leftOut).toMatchObject([{ kind: "Whitelist", reasons: [expect.stringMatching(/^domains\[\d\]: /)] }]);
  expect(leftOutText(without)).toMatch(/Without --whitelist the other domains are imported/);
  expect(written("index.ts")).not.toContain("Whitelist");
});

it("names replicas after their branch, and no two resources alike, whatever else there is", async () => {
  const { emulator } = service;
  for (const branch_id of ["br-main", "br-dev"]) {
    for (const name of [undefined, undefined, "reports", `${branch_id.slice(3)}-reports`])
      await createCompute(emulator, { branch_id, type: "read_only", ...(name !== undefined && { name }) });
  }
  await createCompute(emulator, { branch_id: "br-dev", type: "read_write", name: "main" });
  const names = async (): Promise<string[]> => (await run({ force: true })).imported.map(({ name }) => name);
  const first = await names();
  expect(first).toEqual([
    "main",
    "main-replica",
    "main-replica-2",
    "main-reports",
    "main-reports-replica",
    "dev-replica",
    "dev-replica-2",
    "dev-reports",
    "dev-reports-replica",
    "main-compute",
  ]);
  // A younger one changes no name of the others.
  await createCompute(emulator, { branch_id: "br-main", type: "read_only" });
  expect(await names()).toEqual([...first, "main-replica-3"]);
  expect(written("index.ts")).toContain('const mainBranchId = "br-main";\nconst devBranchId = "br-dev";\n');
});

it("shows nothing of the service that a terminal or a reader of the program obeys", async () => {
  const OBEYED = /[^\P{Cc}\n]|\p{Cf}|[\u2028\u2029]/u;
  const hostile = "\u001b]0;owned\u0007\u001b[31m\u009b2J\u202e\r\nx";
  const { emulator } = service;
  await handMadeAuth(emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  await service.edit({ kind: "endpoint", id: PRIMARY, set: { name: "a\u202eb" } });
  await createCompute(emulator, { branch_id: "br-dev", type: "read_only", name: "y" });
  const [replica] = (await service.endpoints()).filter(({ type }) => type === "read_only");
  await service.edit({ kind: "endpoint", id: replica?.["id"], set: { name: hostile } });
  await service.edit({ kind: "domain", id: "http://localhost:3000", set: { domain: `x${hostile}` } });
  await service.edit({ kind: "email_server", set: { host: `smtp${hostile}.test`, sender_name: hostile } });
  await service.edit({ kind: "integration", id: "supported_provider", set: { db_name: hostile } });
  await service.edit({ kind: "branch", id: "br-main", set: { name: hostile } });
  const said: string[] = [];
  for (const more of [[], ["--json", "--force"]]) {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [join(ROOT, "dist", "cli", "main.js"), "import", "--project", "prj-demo", ...more],
      // Jest's own environment does not reach a process by itself.
      { cwd: folder, env: { ...process.env } },
    );
    said.push(stdout, stderr);
  }
  const [words = "", note = "", json = ""] = said;
  expect([words, note]).toEqual(Array(2).fill(expect.stringContaining(String.raw`\u{1b}`)));
  const report = JSON.parse(json) as ImportReport;
  expect(report.leftOut.map(({ describe }) => describe).join()).toContain("\u001b");
  for (const text of [...said, written("index.ts"), written("import.json")]) expect(OBEYED.exec(text)).toBeNull();
  // The program means the very name that the service shows, or has none.
  expect(written("index.ts")).toContain(String.raw`name: "a\u202eb"`);
  expect(report.notes.join()).toContain("name: must not contain a line break or another control character");
});

describe("what is not shown", () => {
  it("of an integration is no reason to write a program without it", async () => {
    await fullProject();
    for (const list of ["domains", "oauth_providers", "email_server"]) {
      await service.fault({ method: "GET", path: `/projects/{project_id}/auth/${list}`, status: 404, times: 0 });
      await expect(run()).rejects.toThrow(`(GET /projects/{project_id}/auth/${list} -> 404`);
      expect(readdirSync(folder)).toEqual([]);
      await service.clearFaults();
    }
  });

  it("of a list that breaks off is no reason either", async () => {
    await fullProject();
    await service.fault({ path: "/projects/{project_id}/endpoints", paging: "repeats", times: 0 });
    await expect(run()).rejects.toThrow(/the list could not be read to its end/);
    expect(readdirSync(folder)).toEqual([]);
  });
});
