import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { format } from "prettier/standalone";
import * as estree from "prettier/plugins/estree";
import * as typescript from "prettier/plugins/typescript";
import { inWords } from "../../src/cli/import";
import { importProject, type ImportOptions, type ImportReport } from "../../src/cli/importProject";
import { load } from "../../src/provider";
import { DISABLED, handMadeAuth, REPORTS } from "../support/handMade";
import { Service } from "../support/service";
import { createCompute, PRIMARY } from "../support/emulator";

const KEY = "canary-key-import";
const CLIENT_SECRET = "canary-client-secret";
const PASSWORD = "canary-smtp-password";

let service: Service;
let folder: string;
const before = { ...process.env };
beforeEach(async () => {
  service = await Service.start({ apiKey: KEY });
  folder = mkdtempSync(join(tmpdir(), "import-"));
  process.env["SVC_API_KEY"] = KEY;
  process.env["SVC_BASE_URL"] = service.emulator.baseUrl;
});
afterEach(async () => {
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

it("writes the program that a person would write", async () => {
  await fullProject();
  const report = await run();
  expect(written("index.ts")).toBe(`import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = "prj-demo";

const main = new svc.ComputeEndpoint("main", {
  projectId,
  branchId: "br-main",
  size: { min: 0.25, max: 2 },
});

const reports = new svc.ComputeEndpoint("reports", {
  projectId,
  branchId: "br-main",
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
  branchId: "br-main",
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
    `pulumi import --file ${path("import.json")} --generate-code=false --protect=false --yes`,
    "pulumi preview",
    "pulumi up",
  ]);
});

/** Properties of an import file as the engine hands them to the provider. */
const inClear = (properties: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, value]) => {
      const isSecret = typeof value === "object" && value !== null && "plaintext" in value;
      return [name, isSecret ? (JSON.parse(String(value.plaintext)) as unknown) : value];
    }),
  );

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
      expect(props).toEqual({ ...outputs, ...password });
      expect(read).toEqual({ ...inputs, ...password });
      expect(await provider.check({}, inputs)).toMatchObject({ failures: [] });
      expect(await provider.diff(id, outputs, inputs)).toMatchObject({ changes: false, replaces: [] });
    }
    const everything = [written("import.json"), written("index.ts"), JSON.stringify(report), inWords(report)].join(
      "\n",
    );
    for (const secret of [KEY, CLIENT_SECRET, PASSWORD]) expect(everything).not.toContain(secret);
    const mail = entries().find(({ name }) => name === "mail");
    expect([mail?.inputs["password"], mail?.outputs["password"]]).toEqual([
      expect.objectContaining({ plaintext: '"(not shown by the service)"' }),
      expect.objectContaining({ plaintext: '"(not shown by the service)"' }),
    ]);
  },
);

it("reports in words what was written, what cannot be read and what comes next", async () => {
  await fullProject();
  const text = inWords({ ...(await run()), files: ["import.json", "index.ts"] });
  expect(text).toMatch(
    /^wrote import\.json and index\.ts: 9 resources of project prj-demo\n {2}ComputeEndpoint {2}main/,
  );
  expect(text).toContain(`main             read_write compute ${PRIMARY} on br-main, 0.25 to 2 CU\n`);
  expect(text).toMatch(/secretServerKey and pubClientKey are empty here/);
  expect(text).toMatch(/Neither file has users and key sets, which the service does not list/);
  expect(text).toMatch(/pulumi stack export --file state\.json/);
  expect(text).toMatch(
    /pulumi preview {2}# changes "github" and "mail" alone: what the service does not show is set anew\n/,
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
  expect(report.notes.join()).not.toMatch(/Is the stack empty/);

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
  expect(inWords(nothing)).toMatch(/^wrote nothing: project prj-demo holds nothing that the stack does not hold\n/);
  expect(readdirSync(folder).sort()).toEqual(["import.json", "index.ts", "state.json"]);
  expect(written("index.ts")).toBe(kept);
});

it.each([
  ["what is no JSON", `${CLIENT_SECRET} {`],
  ["another file", `{"secret":"${CLIENT_SECRET}"}`],
  ["resources of another shape", '{"deployment":{"resources":[{"id":"x"}]}}'],
])("refuses a state that is none: %s", async (_what, text) => {
  writeFileSync(path("state.json"), text);
  await expect(run({ state: path("state.json") })).rejects.toThrow(
    `${path("state.json")} is not what pulumi stack export writes`,
  );
  expect(readdirSync(folder)).toEqual(["state.json"]);
});

it("overwrites nothing unless it is told to, and then both", async () => {
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

it("says what is missing in the environment, and how to take it from the stack", async () => {
  const cwd = process.cwd();
  process.chdir(folder);
  try {
    delete process.env["SVC_API_KEY"];
    await expect(run()).rejects.toThrow(
      /^SVC_API_KEY is not set in the environment, and this command reads no stack configuration$/,
    );
    delete process.env["SVC_BASE_URL"];
    writeFileSync(path("Pulumi.yaml"), "name: x\n");
    await expect(run()).rejects.toThrow(
      /Where the stack is configured: export SVC_API_KEY="\$\(pulumi config get svc:apiKey\)"; export SVC_BASE_URL="\$\(pulumi config get svc:baseUrl\)"$/,
    );
  } finally {
    process.chdir(cwd);
  }
  process.env["SVC_API_KEY"] = KEY;
  process.env["SVC_BASE_URL"] = "http://127.0.0.1:1/api";
  await expect(run()).rejects.toThrow(/must end in the version segment/);
});

it("fails in words, with nothing written", async () => {
  await expect(run({ project: "prj-none" })).rejects.toThrow(/^not found \(project prj-none\)/);
  process.env["SVC_API_KEY"] = "canary-wrong";
  await expect(run()).rejects.toThrow(/^the API key is missing or wrong/);
  await expect(run()).rejects.not.toThrow(/canary/);
  expect(readdirSync(folder)).toEqual([]);
});

it("shows no secret in its reports, its files and its errors, in debug mode too", async () => {
  await fullProject();
  process.env["SVC_DEBUG"] = "1";
  const report = await run();
  await service.fault({ method: "GET", path: "/projects/{project_id}/auth/email_server", status: 403, times: 9 });
  const error: unknown = await run({ force: true }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  const shown = [inWords(report), JSON.stringify(report), written("import.json"), written("index.ts"), inspect(error)];
  for (const canary of [KEY, CLIENT_SECRET, PASSWORD]) expect(shown.join("\n")).not.toContain(canary);
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
