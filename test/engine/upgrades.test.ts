import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { protocolOf, type Kind, KINDS, typeToken } from "../../src/contract/pointer";
import { KIND_CASES } from "../kinds";
import { wholeIn } from "../kinds/KindCase";
import { ROOT, WHOLE } from "../support/cli";
import { DECLARATIONS } from "../support/declarations";
import { ownPort, type Service } from "../support/service";
import { Stack, type StoredResource } from "../support/Stack";

/**
 * Complete states from earlier versions, with their programs and the service's objects: created once, never edited.
 * `PULUMI_SVC_WRITE_STATE=<version of the SDK> npm run test:engine -- test/engine/upgrades.test.ts` adds those that
 * this version lacks: all scenes for a release, or one scene for a new kind or output.
 */
const STATES = join(__dirname, "states");
const WRITE = process.env["PULUMI_SVC_WRITE_STATE"];

const ALL_KINDS = `
  const provider = new svc.Provider("other");
  const old = { projectId: "prj-demo" };
  new svc.ComputeEndpoint("full", {
    ...old, branchId: "br-dev", type: "read_write", name: "full", size: { min: 0.5, max: 2 }, scaleToZero: { afterSeconds: 600 },
    poolerEnabled: true, poolerMode: "transaction", disabled: false, passwordlessAccess: true,
    settings: { pgSettings: { max_parallel_workers: "4" }, preloadLibraries: { useDefaults: true } }, restartTriggers: ["first", { at: 1 }],
  }, { customTimeouts: { create: "2m", update: "2m", delete: "2m" } });
  new svc.ComputeEndpoint("adopted", { ...old, branchId: "br-main", adopt: true });
  new svc.ComputeEndpoint("bare", { ...old, branchId: "br-main", type: "read_only" }, { provider });
  const auth = new svc.AuthIntegration("auth", { ...old, databaseName: "svcdb", roleName: "svcdb_owner" });
  const { projectId } = auth;
  new svc.OAuthProvider("shared", { projectId, providerId: "google", adopt: true });
  new svc.OAuthProvider("own", { projectId, providerId: "microsoft", clientId: "client", clientSecret: pulumi.secret("fixture-client-secret") });
  new svc.WhitelistDomain("domain", { projectId, domain: "https://app.example.com" });
  new svc.EmailServer("email", { projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
    password: pulumi.secret("fixture-smtp-password"), senderEmail: "app@example.com", senderName: "App" });
  new svc.AuthKeys("keys", { projectId, rotationTriggers: ["first"] });
  new svc.AuthUser("user", { projectId, email: "user@example.com", name: "User" });
  new svc.AuthOwnershipTransfer("transfer", { projectId, triggers: ["first"] });
  const whole = new svc.ProjectAuth("whole", { projectId: "prj-two", databaseName: "svcdb", roleName: "svcdb_owner", oauth: { google: "shared" },
    redirectDomains: ["https://two.example.com"], exclusiveDomains: true, email: { type: "shared" } });
  new svc.ComputeGroup("group", { projectId: "prj-two", branchId: "br-two", primary: { adopt: true, size: 1 }, replicas: 1 });
  exports.host = whole.integration.jwksUrl;`;

/** Also an unfinished change and an unfinished creation. */
const computes = (size: number): string => `
  new svc.ComputeEndpoint("changed", { projectId: "prj-three", branchId: "br-three", size: ${size}, adopt: true });`;
const CREATED_COMPUTE = `
  new svc.ComputeEndpoint("created", { projectId: "prj-three", branchId: "br-new", name: "created" });`;

/** The same for an integration's objects, and an integration that was created and could not be read. */
const children = (name: string, projectId: string, { secret = "first", domains = ["one"] } = {}): string => `
  new svc.OAuthProvider("oauth-${name}", { ${projectId}, providerId: "microsoft", clientId: "client",
    clientSecret: pulumi.secret("fixture-client-secret-${secret}") });
  new svc.EmailServer("email-${name}", { ${projectId}, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
    password: pulumi.secret("fixture-smtp-password-${secret}"), senderEmail: "app@example.com", senderName: "App" });
  new svc.Whitelist("whitelist-${name}", { ${projectId}, domains: ${JSON.stringify(domains.map((one) => `https://${one}.example.com`))} });`;
const integration = (number: string): string => `
  const { projectId: ${number} } = new svc.AuthIntegration("${number}", { projectId: "prj-${number}" });`;
const THREE = { secret: "second", domains: ["one", "two", "three"] };

/** Secrets by reference. One of them has a new value that was not applied. */
const REFERENCES = `
  const { projectId } = new svc.AuthIntegration("nine", { projectId: "prj-nine" });
  new svc.OAuthProvider("oauth", { projectId, providerId: "microsoft", clientId: "client", clientSecret: svc.fromEnv("FIXTURE_CLIENT") });
  new svc.EmailServer("email", { projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
    password: svc.fromFile("fixture-smtp"), senderEmail: "app@example.com", senderName: "App" });
  new svc.ComputeEndpoint("compute", { projectId: "prj-nine", branchId: "br-new",
    settings: { pgSettings: { "app.token": svc.fromEnv("FIXTURE_TOKEN"), work_mem: "64MB" } } });`;
function giveReferences(stack: Stack, client: string): void {
  stack.write("fixture-smtp", "fixture-smtp-password\n");
  Object.assign(stack.env, { FIXTURE_TOKEN: "fixture-token", FIXTURE_CLIENT: client });
}

/**
 * Values that versions without marks of their own have left in plain text: a transformation removes the program's
 * marks.
 */
const IN_CLEAR = `
  pulumi.runtime.registerStackTransformation(({ props, opts }) => ({
    props: {
      ...props,
      ...("password" in props && { password: "fixture-clear-password" }),
      ...("clientSecret" in props && { clientSecret: "fixture-clear-client" }),
    },
    opts: { ...opts, additionalSecretOutputs: [] },
  }));
  const { projectId } = new svc.AuthIntegration("ten", { projectId: "prj-ten" });
  new svc.OAuthProvider("oauth", { projectId, providerId: "microsoft", clientId: "client", clientSecret: "replaced" });
  new svc.EmailServer("email", { projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
    password: "replaced", senderEmail: "app@example.com", senderName: "App" });
  new svc.AuthKeys("keys", { projectId });
  new svc.AuthOwnershipTransfer("transfer", { projectId });
  new svc.ComputeEndpoint("compute", { projectId: "prj-ten", branchId: "br-new",
    settings: { pgSettings: { "app.token": "fixture-clear-token", work_mem: "64MB" } } });`;

const PATHS = { oauth: "auth/oauth_providers", email: "auth/email_server", domains: "auth/domains" };
const path = (project: string, below: string): string => `/projects/prj-${project}/${below}`;

interface Scene {
  /** In which the program has something. */
  readonly projects: readonly string[];
  readonly before: string;
  readonly after: string;
  /** While `after` is brought up. */
  readonly faults: readonly object[];
  /** The names of what is left unfinished. */
  readonly unfinished: readonly string[];
  /** It holds secrets in plain text. */
  readonly inClear?: true;
  /** The objects that exist before the program runs. */
  readonly give?: (stack: Stack, when: "before" | "after") => void;
}

/** By the suffix of the state's name. */
const SCENES: Record<string, Scene> = {
  "": {
    projects: ["demo", "two", "three"],
    before: ALL_KINDS + computes(1),
    after: ALL_KINDS + computes(2) + CREATED_COMPUTE,
    faults: ["apply_config", "start_compute"].map((action) => ({
      operation: { action, status: "failed", error: "no capacity left" },
    })),
    unfinished: ["changed", "created"],
  },
  "-auth": {
    projects: ["five", "six", "seven"],
    before: integration("five") + integration("six") + children("changed", "projectId: five"),
    after:
      integration("five") +
      integration("six") +
      children("changed", "projectId: five", THREE) +
      children("created", "projectId: six", THREE) +
      integration("seven"),
    faults: [
      { method: "PATCH", path: path("five", `${PATHS.oauth}/microsoft`), status: 500, times: 0 },
      { method: "PATCH", path: path("five", PATHS.email), status: 500, times: 0 },
      { method: "POST", path: path("five", PATHS.domains), status: 403, after: 1 },
      { method: "POST", path: path("six", PATHS.oauth), merge: { type: "shared" }, effect: "done" },
      { method: "PATCH", path: path("six", PATHS.email), merge: { host: "other.example.com" }, effect: "done" },
      { method: "POST", path: path("six", PATHS.domains), status: 403, after: 1 },
      { method: "GET", path: path("seven", "auth/integrations"), status: 403, after: 2 },
    ],
    unfinished: [...["oauth", "email", "whitelist"].flatMap((kind) => [`${kind}-changed`, `${kind}-created`]), "seven"],
  },
  // The answer to its creation was lost, and making keys for it failed.
  "-keyless": {
    projects: ["eight"],
    before: "",
    after: integration("eight"),
    faults: [
      { method: "POST", path: "/projects/auth/create", drop: "reset", effect: "done" },
      { method: "POST", path: "/projects/auth/keys", status: 403 },
    ],
    unfinished: ["eight"],
  },
  "-references": {
    projects: ["nine"],
    before: REFERENCES,
    after: REFERENCES,
    faults: [{ method: "PATCH", path: path("nine", `${PATHS.oauth}/microsoft`), status: 500, times: 0 }],
    unfinished: ["oauth"],
    give: (stack, when) => giveReferences(stack, when === "before" ? "fixture-client" : "fixture-client-rotated"),
  },
  // Written by the commit before the one that brought src/runtime/secrets.ts.
  "-clear": { projects: ["ten"], before: "", after: IN_CLEAR, faults: [], unfinished: [], inClear: true },
};

/** Any other kind has its own scene, built from its case. */
const declared = Object.values(SCENES)
  .map(({ after }) => after)
  .join("\n");
for (const kind of KINDS) {
  if (declared.includes(`new svc.${kind}(`)) continue;
  const name = kind.toLowerCase();
  const place = { projectId: `prj-${name}`, main: `br-${name}`, free: "br-new", other: "br-other" };
  const { inIntegration } = KIND_CASES[kind];
  const whole = JSON.stringify(wholeIn(KIND_CASES[kind], place));
  const program = `${inIntegration ? integration(name) : ""}
  new svc.${kind}("whole", { ...${whole}, projectId: ${inIntegration ? name : JSON.stringify(place.projectId)} });`;
  SCENES[`-${name}`] = { projects: [name], before: "", after: program, faults: [], unfinished: [] };
}

const sceneOf = (state: string): Scene => SCENES[/(-[a-z]+)?$/.exec(state)?.[0] ?? ""] as Scene;

/** Removed after the emulators that write into them have closed. */
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));
function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-upgrade-"));
  folders.push(folder);
  return folder;
}

const project = (name: string): object => ({
  id: `prj-${name}`,
  branches: [{ id: `br-${name}`, default: true }, { id: "br-new" }, { id: "br-other" }],
});

interface Saved {
  readonly program: string;
  readonly port: number;
  readonly deployment: { readonly deployment: { readonly resources: readonly StoredResource[] } };
}

const file = (state: string, name: string): string => join(STATES, state, name);

const urnsOf = async (stack: Stack): Promise<string[]> => (await stack.resources()).map(({ urn }) => urn).sort();

/** The outputs of each resource in the state, without marks: each encryption of a value differs. */
async function outputsOf(stack: Stack): Promise<Record<string, StoredResource["outputs"]>> {
  const { stdout } = await stack.run("stack", "export", "--show-secrets");
  const { deployment } = JSON.parse(stdout, (_key, value: { plaintext?: string } | null) =>
    value?.plaintext === undefined ? value : (JSON.parse(value.plaintext) as unknown),
  ) as Saved["deployment"];
  return Object.fromEntries(deployment.resources.filter(isOurs).map(({ urn, outputs }) => [urn, outputs]));
}

const isOurs = ({ type }: StoredResource): boolean => type.startsWith(typeToken("" as Kind));

/** The parts of a project that no resource creates: they exist before the first `up`, or remain after it. */
const NOT_HELD = ["branches", "operations", "deleted_endpoints", "kept_schemas"];

/** The program's secrets and those that the service has created, if they are in plain text. */
function secretsInClear({ inputs, outputs }: StoredResource): string[] {
  const { secretServerKey, url } = outputs;
  const made = [secretServerKey, url].filter((value) => typeof value === "string");
  return [...made, ...(JSON.stringify([inputs, outputs]).match(/fixture-clear-[a-z]+/g) ?? [])];
}

/** The service's objects: each record of each list of a project, and its mail server. */
async function held(service: Service): Promise<Record<string, unknown[]>> {
  const { projects } = await service.state();
  const parts = projects.flatMap((one) =>
    Object.entries(one)
      .filter(([name, value]) => typeof value === "object" && !NOT_HELD.includes(name))
      .map(([name, value]): [string, unknown[]] => [
        `${String(one["id"])} ${name}`,
        Array.isArray(value) ? value : [value],
      ]),
  );
  return Object.fromEntries(parts);
}

/**
 * Creates others' objects beside ours, in each project whose integration is not ours, and in one of their own. Returns
 * the objects that must remain after all of ours are deleted.
 */
async function plantOthers(service: Service, { projects }: Scene): Promise<Record<string, unknown[]>> {
  const isOf = (name: string): boolean => projects.some((one) => name.startsWith(`prj-${one} `));
  const before = Object.entries(await held(service)).filter(([name]) => isOf(name));
  const keyOf = (name: string, record: unknown): string => `${name} ${JSON.stringify(record)}`;
  const ours = new Set(before.flatMap(([name, records]) => records.map((one) => keyOf(name, one))));
  await service.addProject(project("four"));
  const plant = (project_id: string, kind: string, create: object) => service.edit({ project_id, kind, create });
  for (const name of ["three", "four"]) {
    const id = `prj-${name}`;
    await plant(id, "integration", { branch_id: `br-${name}`, database_name: "theirs", role_name: "theirs" });
    await plant(id, "domain", { domain: "https://theirs.example.com" });
    await plant(id, "user", { email: "theirs@example.com" });
    await plant(id, "endpoint", { branch_id: `br-${name}`, type: "read_only" });
  }
  await plant("prj-demo", "endpoint", { branch_id: "br-main", type: "read_only" });
  await plant("prj-two", "endpoint", { branch_id: "br-two", type: "read_only" });
  const planted = Object.entries(await held(service)).map(([name, records]): [string, unknown[]] => {
    if (name.endsWith("email_server")) return [name, [{ type: "shared" }]];
    return [name, records.filter((one) => !ours.has(keyOf(name, one)))];
  });
  return Object.fromEntries(planted);
}

async function write(sdk: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const folder = temporary();
  const run = (cwd: string, ...args: string[]): string => execFileSync("npm", args, { cwd, encoding: "utf8" });
  const [{ filename }] = JSON.parse(run(ROOT, "pack", "--json", "--ignore-scripts", "--pack-destination", folder)) as [
    { filename: string },
  ];
  const dependencies = { "@pulumi/pulumi": sdk, "pulumi-svc": `file:${join(folder, filename)}` };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  run(folder, "install", "--no-audit", "--no-fund");
  const installed = readFileSync(join(folder, "node_modules/@pulumi/pulumi/package.json"), "utf8");
  const state = `${version}-sdk-${(JSON.parse(installed) as { version: string }).version}`;
  // A state is never written again, whatever the SDK was. No version writes secrets in plain text any more.
  const kept = states.filter((one) => one.startsWith(`${version}-sdk-`)).map(sceneOf);
  const missing = Object.entries(SCENES).filter(([, scene]) => !kept.includes(scene) && scene.inClear !== true);
  if (missing.length === 0) throw new Error(`${version} has a state of each scene.`);
  for (const [end, scene] of missing) await writeScene(state + end, scene, join(folder, "node_modules"));
}

async function writeScene(state: string, scene: Scene, modules: string): Promise<void> {
  const port = ownPort();
  const data = temporary();
  const emulator = { data: join(data, "service.json"), port, apiKey: "fixture-key" };
  const stack = await Stack.create({ program: scene.before, emulator, modules });
  for (const name of new Set(["two", "three", ...scene.projects]))
    if (name !== "demo") await stack.service.addProject(project(name));
  scene.give?.(stack, "before");
  const first = await stack.up();
  if (first.code !== 0) throw new Error(stack.said);
  for (const fault of scene.faults) await stack.service.fault(fault);
  const program = scene.after;
  stack.program(program);
  scene.give?.(stack, "after");
  expect((await stack.up("--continue-on-error")).code === 0).toBe(scene.unfinished.length === 0);
  mkdirSync(join(STATES, state), { recursive: true });
  const saved = { program, port, deployment: JSON.parse(await stack.exported()) as unknown };
  writeFileSync(file(state, "state.json"), `${JSON.stringify(saved, undefined, 2)}\n`);
  await stack.service.emulator.close();
  cpSync(join(data, "service.json"), file(state, "service.json"));
}

const states = existsSync(STATES) ? readdirSync(STATES) : [];
const saved = (state: string): Saved => JSON.parse(readFileSync(file(state, "state.json"), "utf8")) as Saved;
const ours = (state: string): readonly StoredResource[] => saved(state).deployment.deployment.resources.filter(isOurs);

// Alone: the other tests use the states from when this file was loaded.
if (WRITE !== undefined) test.only("writes a state", () => write(WRITE));

test("every kind, every output, and all that the scenes leave unfinished stand in a state that is kept", () => {
  const kept = states.flatMap(ours);
  // The failure says what is to be done: these are sentences, and none may be left.
  const missing = DECLARATIONS.flatMap(({ kind, outputs }) => {
    const ofKind = kept.filter(({ type }) => type === typeToken(kind));
    const names = new Set(ofKind.flatMap((one) => Object.keys(one.outputs)));
    const what = ofKind.length === 0 ? [kind] : Object.keys(outputs).filter((name) => !names.has(name));
    return what.map(
      (one) =>
        `No state has ${ofKind.length === 0 ? "the kind" : `the output of ${kind}`} ${one}. ${ofKind.length === 0 ? "Write one" : "Add it to a new scene of SCENES in test/engine/upgrades.test.ts, and write a state"}: PULUMI_SVC_WRITE_STATE=<version of the SDK> npm run test:engine -- test/engine/upgrades.test.ts`,
    );
  });
  expect(missing).toEqual([]);
  expect(new Set(kept.map(({ type }) => type))).toEqual(new Set(KINDS.map(typeToken)));
  for (const state of states) {
    const unfinished = ours(state).filter(({ outputs }) => "__unfinished" in outputs);
    const names = unfinished.map(({ urn }) => urn.split("::").at(-1));
    expect([state, names.sort()]).toEqual([state, [...sceneOf(state).unfinished].sort()]);
  }
  for (const end of Object.keys(SCENES)) expect(states.map(sceneOf)).toContain(SCENES[end]);
});

const oldest = states[0]?.replace(/-[a-z]+$/, "") ?? "";

/** A stack with the state, and what must remain of the service's objects once it is destroyed. */
async function opened(state: string, native = false): Promise<{ stack: Stack; others: Record<string, unknown[]> }> {
  const { program, port, deployment } = saved(state);
  const scene = sceneOf(state);
  const data = join(temporary(), "service.json");
  cpSync(file(state, "service.json"), data);
  // The state has the address of then.
  const stack = await Stack.create({ program, emulator: { data, port, apiKey: "fixture-key" }, native });
  scene.give?.(stack, "after");
  const others = await plantOthers(stack.service, scene);
  stack.write("state.json", JSON.stringify(deployment));
  expect(await stack.run("stack", "import", "--file", "state.json")).toMatchObject({ code: 0 });
  return { stack, others };
}

// States of the oldest SDK are included in every run.
test.each(WHOLE ? states : states.filter((state) => state.startsWith(oldest)))(
  "the state of %s is planned, refreshed, finished and destroyed",
  async (state) => {
    const { stack, others } = await opened(state);
    const scene = sceneOf(state);
    const urns = await urnsOf(stack);
    const outputs = await outputsOf(stack);
    const secrets = ours(state).flatMap(secretsInClear);
    expect(secrets.length > 0).toBe(scene.inClear === true);
    const preview = await stack.run("preview", "--json");
    const plan = JSON.parse(preview.stdout) as { changeSummary: Record<string, number> };
    expect(plan.changeSummary).toEqual({
      same: expect.any(Number),
      ...(scene.unfinished.length > 0 && { update: scene.unfinished.length }),
    });
    const refreshed = await stack.refresh("--diff");
    expect(refreshed).toMatchObject({ code: 0 });
    const shown = preview.text + refreshed.text + (await stack.exported());
    expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
    if (scene.inClear === true) expect(refreshed.text).not.toMatch(/\[secret\]|~/);
    // Nothing else has changed at the service since, which may show the unfinished change by now.
    const finished = (all: typeof outputs): object =>
      Object.entries(all).filter(([urn]) => !scene.unfinished.includes(urn.split("::").at(-1) ?? ""));
    expect(finished(await outputsOf(stack))).toEqual(finished(outputs));
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.drift()).toMatchObject({ code: 0 });
    expect(await urnsOf(stack)).toEqual(urns);
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    expect(await held(stack.service)).toEqual(others);
    // The next one may need its port.
    await stack.close();
  },
);

test("a state of each kind goes through the native plugin and back: finished, left alone, and destroyed", async () => {
  const { program } = saved(oldest);
  const { stack, others } = await opened(oldest, true);
  const typesOf = async (): Promise<Set<string>> =>
    new Set((await stack.resources()).map(({ type }) => (protocolOf(type) === "native" ? "native" : "dynamic")));
  stack.program(program, "pulumi-svc/native");
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await typesOf()).toEqual(new Set(["native"]));
  await stack.service.clearRequests();
  expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.drift()).toMatchObject({ code: 0 });
  stack.program(program, "pulumi-svc");
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await typesOf()).toEqual(new Set(["dynamic"]));
  expect(await stack.drift()).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
  expect(await stack.destroy()).toMatchObject({ code: 0 });
  expect(await held(stack.service)).toEqual(others);
});
