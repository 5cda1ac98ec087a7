import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fleetDrift, type FleetDriftFlags } from "../../../src/cli/fleet/fleetDrift";
import type { FleetReport } from "../../../src/cli/fleet/report";
import { ProgressLine } from "../../../src/cli/fleet/progress";
import { FleetRefresh } from "../../../src/cli/fleet/refresh";
import { fleetStacks, matches } from "../../../src/cli/fleet/stacks";
import { reliableState } from "../../../src/cli/fleet/states";
import { REPAIR_TYPE } from "../../../src/cli/stack/unfinished";
import { type Kind, pointer, PROVIDER_TYPE, typeToken } from "../../../src/contract/pointer";
import type { EmulatorOptions } from "../../../src/emulator";
import { api, createCompute, PRIMARY } from "../../support/emulator";
import { Service } from "../../support/service";

/** Many stacks, with a CLI that answers from files: what is known about each, and what is not. */

/** Longer than a lag. */
const READ_SECONDS = 5;
const KEY = "canary-fleet-key";
const SECRET = "canary-fleet-secret";
const before = { ...process.env };
let folder: string;
let services: Service[];
let service: Service;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "fleet-"));
  services = [];
  service = await start();
  writeFileSync(join(folder, "pulumi"), CLI, { mode: 0o755 });
  Object.assign(process.env, { FOLDER: folder, PATH: `${folder}${delimiter}${before["PATH"]}` });
});
afterEach(async () => {
  process.env = { ...before };
  rmSync(folder, { recursive: true });
  for (const one of services) await one.emulator.close();
});

async function start(options: EmulatorOptions = {}): Promise<Service> {
  const started = await Service.start({ apiKey: KEY, ...options });
  services.push(started);
  return started;
}

/** `stack export` returns the state of the stack, and the next one from then on. */
const CLI = `#!/bin/sh
echo "$*" >> "$FOLDER/calls"
case "$*" in
  "stack ls"*) cat "$FOLDER/stacks.json" ;;
  "stack export"*)
    name=$(echo "$*" | sed 's/.*--stack //')
    cat "$FOLDER/states/$name.json" || { echo "error: $name is locked away" >&2; exit 1; }
    [ ! -e "$FOLDER/states/$name.next" ] || mv "$FOLDER/states/$name.next" "$FOLDER/states/$name.json" ;;
esac
`;

interface Scene {
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  readonly resources?: readonly Declared[];
  readonly pending?: readonly string[];
  /** What the state becomes after it was read. */
  readonly next?: string;
  /** The text of the state; null: it cannot be read. */
  readonly text?: string | null;
  readonly more?: readonly object[];
}

interface Declared {
  readonly kind?: Kind;
  readonly name?: string;
  readonly id: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly facts?: object;
}

const hidden = (value: unknown): object => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  plaintext: JSON.stringify(value),
});

const nameOf = (name: string) => ({ project: name.split("/")[1] ?? "", stack: name.split("/")[2] ?? "" });

/** The state as the CLI exports it with its secrets. */
function stateOf({ name, settings, resources = [], pending = [], more = [] }: Scene): string {
  const { project, stack } = nameOf(name);
  const provider = `urn:pulumi:${stack}::${project}::${PROVIDER_TYPE}::default`;
  const given = settings ?? { "svc:baseUrl": service.emulator.baseUrl, "svc:apiKey": hidden(KEY) };
  const entries = resources.map(({ kind = "ComputeEndpoint", name: called = "api", id, inputs, outputs, facts }) => {
    const urn = `urn:pulumi:${stack}::${project}::${typeToken(kind)}::${called}`;
    const own = { __provider: pointer(kind), __urn: urn, __timeouts: { read: READ_SECONDS } };
    return {
      ...{ urn, type: typeToken(kind), custom: true, id, provider: `${provider}::1`, inputs: { ...inputs, ...own } },
      outputs: { ...inputs, ...outputs, ...own, __args: Object.keys(inputs).sort(), __version: 1 },
      ...facts,
    };
  });
  return JSON.stringify({
    version: 3,
    deployment: {
      resources: [{ urn: provider, type: PROVIDER_TYPE, custom: true, id: "1", inputs: given }, ...entries, ...more],
      pending_operations: pending.map((urn) => ({ type: "updating", resource: { urn } })),
    },
  });
}

function store(...scenes: readonly Scene[]): void {
  writeFileSync(join(folder, "stacks.json"), JSON.stringify(scenes.map(({ name }) => ({ name }))));
  for (const scene of scenes) {
    const file = join(folder, "states", `${scene.name}.json`);
    mkdirSync(join(file, ".."), { recursive: true });
    if (scene.text !== null) writeFileSync(file, scene.text ?? stateOf(scene));
    if (scene.next !== undefined) writeFileSync(file.replace(/json$/, "next"), scene.next);
  }
}

const compute = (more: Partial<Declared> & { size?: number; projectId?: string } = {}): Declared => {
  const { size = 2, projectId = "prj-demo", ...rest } = more;
  const inputs = { projectId, branchId: "br-main", type: "read_write", size: { min: 0.25, max: size } };
  return { id: `${projectId}/${PRIMARY}`, inputs, ...rest };
};

const said: string[] = [];
const ended = async (flags: Partial<FleetDriftFlags> = {}, folders: readonly string[] = []) => {
  const writes = (["stdout", "stderr"] as const).map((stream) =>
    jest.spyOn(process[stream], "write").mockImplementation((chunk) => {
      said.push(String(chunk));
      return true;
    }),
  );
  const code = await fleetDrift(folders, { parallel: 4, format: "json", ...flags }).finally(() => {
    for (const write of writes) write.mockRestore();
  });
  return { code, text: said.at(-1) ?? "" };
};

async function run(...args: Parameters<typeof ended>): Promise<FleetReport & { code: number }> {
  const { code, text } = await ended(...args);
  return { code, ...(JSON.parse(text) as FleetReport) };
}

afterEach(() => {
  const all = said.splice(0).join("\n");
  for (const canary of [KEY, SECRET]) expect(all).not.toContain(canary);
});

const drifted = ({ stacks }: FleetReport): string[] =>
  stacks.filter(({ drift }) => drift.length > 0).map(({ name }) => name);

test("stacks of equal name in two projects, and one object in two stacks, are told apart, and a list is read once", async () => {
  await service.addProject({ id: "prj-auth", branches: [{ id: "br-main", default: true }] });
  const { id } = await createCompute(service.emulator, { branch_id: "br-dev", type: "read_write" });
  store(
    { name: "org/shop/dev", resources: [compute({ size: 1 })] },
    { name: "org/auth/dev", resources: [compute()] },
    { name: "org/auth/prod", resources: [compute(), compute({ name: "gone", id: "prj-demo/ep-gone-1" })] },
    { name: "org/net/dev", resources: [] },
    {
      name: "org/reads/dev",
      resources: [compute({ id: "prj-demo/ep-gone-1", facts: { external: true, inputs: {} } })],
    },
  );
  await service.clearRequests();
  const report = await run();
  expect(report).toMatchObject({
    code: 7,
    notKnown: [],
    withoutResources: ["org/net/dev", "org/reads/dev"],
    unmanaged: [],
  });
  expect(drifted(report)).toEqual(["org/shop/dev", "org/auth/prod"]);
  expect(report.stacks.map(({ project, stack }) => [project, stack])).toEqual([
    ["shop", "dev"],
    ["auth", "dev"],
    ["auth", "prod"],
  ]);
  // The second list confirms what is gone.
  expect(await service.requests()).toHaveLength(2);
  expect(report.requests).toBe(2);
  expect(new Set(report.stacks.map(({ fingerprint }) => fingerprint)).size).toBe(3);

  const withObjects = await run({ unmanaged: true });
  expect(withObjects.unmanaged.map((one) => one.id)).toEqual([`prj-demo/${String(id)}`]);
  expect([report.unmanagedChecked, withObjects.unmanagedChecked]).toEqual([false, true]);
  const metrics = async (flags: object) => (await ended({ ...flags, format: "prometheus", stack: ["auth/dev"] })).text;
  expect(await metrics({})).not.toContain("svc_unmanaged ");
  expect(await metrics({ unmanaged: true })).toMatch(/^svc_unmanaged 1$/m);
  expect(await run({ unmanaged: true, stack: ["auth/dev"] })).toMatchObject({
    code: 8,
    stacks: [{ name: "org/auth/dev" }],
  });
});

test("a native resource is compared, by the settings of its provider, and a component of the program is none", async () => {
  const type = "svc:index:ComputeEndpoint";
  const provider = "urn:pulumi:dev::native::pulumi:providers:svc::default";
  const settings = { baseUrl: service.emulator.baseUrl, apiKey: hidden(KEY), maxRequestsPerMinute: 600, quiet: true };
  const of = { type: "pulumi:providers:svc", custom: true, id: "2", inputs: settings };
  const { inputs, outputs } = {
    inputs: { size: 1, projectId: "prj-demo" },
    outputs: { __args: ["projectId", "size"] },
  };
  const entry = {
    urn: `urn:pulumi:dev::native::${type}::api`,
    type,
    custom: true,
    id: `prj-demo/${PRIMARY}`,
    provider: `${provider}::2`,
  };
  const component = { urn: `urn:pulumi:dev::native::${type}::own`, type, custom: false, inputs: { size: 4 } };
  const more = [
    { urn: provider, ...of },
    { ...entry, inputs, outputs: { ...inputs, ...outputs, __version: 1 } },
    component,
  ];
  store({ name: "org/native/dev", settings: {}, more });
  expect(await run({})).toMatchObject({
    code: 7,
    notKnown: [],
    stacks: [{ drift: [{ name: "api", properties: [{ path: "size", declared: 1, found: { min: 0.25, max: 2 } }] }] }],
  });
});

test("what only the engine can know makes a stack not known, and the others are reported", async () => {
  const urn = `urn:pulumi:dev::p::${typeToken("ComputeEndpoint")}::api`;
  const mark = { urn: `urn:pulumi:dev::p::${REPAIR_TYPE}::mark`, type: REPAIR_TYPE };
  const other = (facts: object) => [compute({ facts })];
  store(
    { name: "org/fine/dev", resources: [compute()] },
    { name: "org/pending/dev", resources: [compute()], pending: [urn] },
    { name: "org/repaired/dev", resources: [compute()], more: [mark] },
    { name: "org/newer/dev", text: stateOf({ name: "org/newer/dev" }).replace('"version":3', '"version":5') },
    { name: "org/hollow/dev", text: '{"version":3,"deployment":null}' },
    { name: "org/cut/dev", text: '{"version":3,"deplo' },
    { name: "org/closed/dev", text: null },
    { name: "org/kind/dev", resources: other({ type: "pulumi-nodejs:dynamic/svc:Later" }) },
    { name: "org/foreign/dev", resources: other({ outputs: { __provider: "exports.handler=()=>({})" } }) },
    {
      name: "org/orphan/dev",
      resources: other({ provider: "urn:pulumi:dev::p::pulumi:providers:pulumi-nodejs::x::2" }),
    },
    { name: "org/sealed/dev", resources: [compute({ outputs: { size: { ...hidden(1), plaintext: undefined } } })] },
  );
  const report = await run({ unmanaged: true });
  expect(report).toMatchObject({ code: 1, stacks: [{ name: "org/fine/dev", drift: [] }], unmanaged: [] });
  expect(Object.fromEntries(report.notKnown.map(({ name, reason }) => [name.split("/")[1], reason]))).toEqual({
    pending: 'an update of the stack is running, or was interrupted: its change of "api" has not ended',
    repaired: "an update of the stack is running, or was interrupted: a repair has not ended",
    newer: expect.stringMatching(/version 5.*knows 3 and 4/),
    hollow: expect.stringMatching(/not what pulumi stack export writes/),
    cut: expect.stringMatching(/not what pulumi stack export writes/),
    closed: expect.stringMatching(/pulumi stack export failed/),
    kind: expect.stringMatching(/"api" is of the type .*svc:Later, which this version of pulumi-svc lacks/),
    foreign: '"api" is not a resource of this package',
    orphan: 'the state lacks the provider of "api"',
    sealed: expect.stringMatching(/without its secrets/),
  });
  // Any of them may declare what no other does.
  expect(report.unmanagedNotKnown).toEqual([
    expect.stringMatching(/^all projects: .*org\/pending\/dev, .*org\/cut\/dev/),
  ]);
});

test("the first line says nothing of the stacks that are not known", async () => {
  store(
    { name: "org/fine/dev", resources: [compute()] },
    { name: "org/drifted/dev", resources: [compute({ size: 8 })] },
    { name: "org/closed/dev", text: null },
  );
  const first = async (...stack: string[]) => (await ended({ format: "text", stack })).text.split("\n")[0];
  expect(await first("closed/dev")).toBe("1 stack: 1 not known");
  expect(await first("closed/dev", "fine/dev")).toBe("2 stacks: no drift in 1, 1 not known");
  expect(await first("closed/dev", "drifted/dev")).toBe("2 stacks: 1 drifted, 1 not known");
  expect(await first("fine/dev")).toBe("1 stack: no drift");
});

test("a refused key, a missing key and a service that fails in the middle are never a finding", async () => {
  const second = await start({ apiKey: "canary-fleet-key-of-second" });
  const at = (apiKey: object): Scene["settings"] => ({ "svc:baseUrl": second.emulator.baseUrl, ...apiKey });
  for (const id of ["prj-one", "prj-two", "prj-three"])
    await service.addProject({ id, branches: [{ id: "br-main", default: true }] });
  process.env["FLEET_SECOND"] = "canary-fleet-key-of-second";
  store(
    { name: "org/fine/dev", resources: [compute()] },
    { name: "org/refused/dev", settings: at({ "svc:apiKey": hidden(KEY) }), resources: [compute({ size: 8 })] },
    { name: "org/named/dev", settings: at({ "svc:apiKeyEnv": "FLEET_SECOND" }), resources: [compute({ size: 8 })] },
    { name: "org/missing/dev", settings: at({ "svc:apiKeyEnv": "FLEET_MISSING" }), resources: [compute()] },
    { name: "org/file/dev", settings: at({ "svc:apiKeyFile": "keys/dev" }), resources: [compute()] },
    { name: "org/failing/dev", resources: [compute(), compute({ name: "two", projectId: "prj-one" })] },
    { name: "org/web/dev", resources: [compute({ projectId: "prj-two" })] },
    { name: "org/forbidden/dev", resources: [compute({ projectId: "prj-three" })] },
  );
  const fault = (project: string, rest: object) =>
    service.fault({ path: `/projects/${project}/endpoints`, times: 0, ...rest });
  await fault("prj-one", { status: 500 });
  await fault("prj-two", { status: 200, body: `<html>${SECRET}</html>`, contentType: "text/html" });
  await fault("prj-three", { status: 403 });
  const report = await run();
  expect(report.code).toBe(1);
  expect(drifted(report)).toEqual(["org/named/dev"]);
  expect(report.stacks.map(({ name }) => name)).toEqual(["org/fine/dev", "org/named/dev"]);
  expect(Object.fromEntries(report.notKnown.map(({ name, reason }) => [name.split("/")[1], reason]))).toEqual({
    refused: expect.stringMatching(/401/),
    missing: expect.stringMatching(/FLEET_MISSING is not set/),
    file: expect.stringMatching(/svc:apiKeyFile is relative to the folder of its program/),
    failing: expect.stringMatching(/500/),
    web: expect.stringMatching(/Could not read ComputeEndpoint prj-two/),
    forbidden: expect.stringMatching(/403/),
  });
  await service.clearFaults();
  await fault("prj-one", { status: 403 });
  const objects = await run({ unmanaged: true, stack: ["fine/dev", "failing/dev", "web/dev"] });
  expect(objects.unmanagedNotKnown).toEqual([expect.stringMatching(/^project prj-one: .*403/)]);
  // A stack without its settings has ids, which name the projects that it is about.
  await service.clearFaults();
  await createCompute(service.emulator, { branch_id: "br-dev", type: "read_write" });
  const both = { unmanaged: true, stack: ["fine/dev", "missing/dev"] } as const;
  expect(await run(both)).toMatchObject({
    unmanaged: [],
    unmanagedChecked: false,
    unmanagedNotKnown: ["project prj-demo: its objects may be declared in org/missing/dev"],
  });
  const missing = { "svc:apiKeyEnv": "FLEET_MISSING" };
  store(
    { name: "org/fine/dev", resources: [compute()] },
    { name: "org/missing/dev", settings: at(missing), resources: [compute({ projectId: "prj-elsewhere" })] },
  );
  expect(await run({ unmanaged: true })).toMatchObject({
    code: 1,
    unmanaged: [{ kind: "ComputeEndpoint" }],
    unmanagedChecked: false,
    unmanagedNotKnown: ["project prj-elsewhere: its objects may be declared in org/missing/dev"],
  });
});

test("what a colleague deploys between the state and the list is no finding", async () => {
  const { id } = await createCompute(service.emulator, { branch_id: "br-dev", type: "read_write" });
  const later = (name: string, resources: readonly Declared[]) => stateOf({ name, resources });
  const second = compute({ name: "two", id: `prj-demo/${String(id)}` });
  store(
    { name: "org/shop/dev", resources: [compute({ size: 1 })], next: later("org/shop/dev", [compute()]) },
    { name: "org/shop/prod", resources: [compute()] },
  );
  expect(await run()).toMatchObject({
    code: 1,
    stacks: [{ name: "org/shop/prod" }],
    notKnown: [{ name: "org/shop/dev", reason: expect.stringMatching(/changed the state while/) }],
  });
  store({ name: "org/shop/dev", resources: [compute()], next: later("org/shop/dev", [compute(), second]) });
  expect(await run({ unmanaged: true })).toMatchObject({
    code: 1,
    stacks: [{ name: "org/shop/dev", drift: [] }],
    notKnown: [],
    unmanaged: [],
    unmanagedNotKnown: [expect.stringMatching(/org\/shop\/dev/)],
  });
});

test("programs in folders bring their svc-drift.json, and each entry is told once", async () => {
  const program = (project: string, ignore: readonly object[]): string => {
    const path = join(folder, project);
    mkdirSync(path);
    writeFileSync(join(path, "Pulumi.yaml"), `name: ${project}\nruntime: nodejs\n`);
    writeFileSync(join(path, "svc-drift.json"), JSON.stringify({ ignore }));
    return path;
  };
  await createCompute(service.emulator, { branch_id: "br-dev", type: "read_write" });
  const shop = program("shop", [
    { resource: "api", property: "size", reason: "a test of load" },
    { resource: "api", property: "name", reason: "never" },
    { unmanaged: "prj-demo/*", reason: "of another team" },
    { unmanaged: "prj-none/*", reason: "nothing" },
    { resource: "api", reason: "over", until: "2020-01-01" },
  ]);
  store({ name: "org/shop/dev", resources: [compute({ size: 1 })] }, { name: "org/shop/prod", resources: [compute()] });
  const report = await run({ unmanaged: true }, [shop]);
  expect(report).toMatchObject({
    code: 0,
    stacks: [{ tolerated: [{ reason: "a test of load" }] }, { tolerated: [] }],
    toleratedUnmanaged: [{ reason: "of another team" }],
  });
  expect(report.unused.map(({ entry }) => entry)).toEqual(
    [1, 3].map((n) => expect.stringMatching(new RegExp(`svc-drift.json ignore\\[${n}\\]$`))),
  );
  expect(report.expired.map(({ entry }) => entry)).toEqual([expect.stringMatching(/ignore\[4\]$/)]);
  // Without the folder the file is not known.
  expect(await run()).toMatchObject({ code: 7 });
  // Paths of keys begin there, too.
  mkdirSync(join(shop, "keys"));
  writeFileSync(join(shop, "keys", "dev"), `${KEY}\n`);
  const settings = { "svc:baseUrl": service.emulator.baseUrl, "svc:apiKeyFile": "keys/dev" };
  store({ name: "org/shop/dev", settings, resources: [compute()] });
  expect(await run({}, [shop])).toMatchObject({ code: 0, stacks: [{ name: "org/shop/dev" }] });
  await expect(ended({}, [shop, shop])).rejects.toThrow(/same project, shop/);
  await expect(ended({}, [folder])).rejects.toThrow(/has no Pulumi.yaml/);
});

test("drift keeps the time at which a report first had it, until it is other drift", async () => {
  store({ name: "org/shop/dev", resources: [compute({ size: 1 })] }, { name: "org/shop/prod", resources: [compute()] });
  const first = await ended();
  const previous = join(folder, "previous.json");
  writeFileSync(previous, first.text.replaceAll(/"(since|checkedAt)": "[^"]+"/g, '"$1": "2026-01-02T03:04:05.000Z"'));
  const sinceOf = ({ stacks }: FleetReport): unknown[] => stacks.map(({ since }) => since);
  expect(sinceOf(await run({ previous }))).toEqual(["2026-01-02T03:04:05.000Z", null]);
  const { text } = await ended({ previous, format: "prometheus" });
  expect(text).toContain(
    `svc_drift_since_seconds{stack="org/shop/dev",project="shop"} ${Date.UTC(2026, 0, 2, 3, 4, 5) / 1_000}\n`,
  );
  store({ name: "org/shop/dev", resources: [compute({ size: 4 })] });
  const later = await run({ previous });
  expect(sinceOf(later)).toEqual([later.checkedAt]);
  // The first run of a schedule, which writes what the next one reads.
  for (const file of ["none.json", "empty.json"]) {
    if (file === "empty.json") writeFileSync(join(folder, file), "");
    const none = await run({ previous: join(folder, file) });
    expect(sinceOf(none)).toEqual([none.checkedAt]);
    // A name that is mistyped looks the same.
    expect(said.join("")).toMatch(new RegExp(`^pulumi-svc: .*/${file} does not exist, or is empty: `, "m"));
  }
  await expect(ended({ previous: join(folder, "stacks.json") })).rejects.toThrow(
    /is not a report of pulumi-svc fleet drift/,
  );
});

test("nothing to check is a failure, and so is a pattern that names nothing", async () => {
  store({ name: "org/net/dev" }, { name: "org/net/prod" });
  await expect(ended()).rejects.toThrow(/no stack holds a resource of pulumi-svc/);
  expect(JSON.parse(said.at(-1) ?? "")).toEqual({ messages: [expect.stringMatching(/nothing to check/)] });
  await expect(ended({ stack: ["dev", "shop/*"] })).rejects.toThrow('no stack matches "shop/*"');
  store();
  await expect(ended()).rejects.toThrow(/the backend has no stack/);
});

test.each([
  ["dev", "org/shop/dev", true],
  ["shop/dev", "org/shop/dev", true],
  ["org/shop/dev", "org/shop/dev", true],
  ["op/dev", "org/shop/dev", false],
  ["d*", "org/shop/dev", true],
  ["org/*", "org/shop/dev", false],
  ["org/*/*", "org/shop/dev", true],
  ["shop/*", "org/shop/dev.eu", true],
  ["dev.eu", "org/shop/devXeu", false],
])("the pattern %s of the stack %s: %s", (pattern, name, expected) => expect(matches(pattern, name)).toBe(expected));

test("of several shares of one account, the smallest counts for all", async () => {
  const settings = (share: object): Scene["settings"] => ({
    ...{ "svc:baseUrl": service.emulator.baseUrl, "svc:apiKey": hidden(KEY) },
    ...share,
  });
  const scenes: Scene[] = [
    { name: "org/a/dev", settings: settings({ "svc:maxRequestsPerMinute": "600" }), resources: [compute()] },
    { name: "org/b/dev", settings: settings({ "svc:maxRequestsPerMinute": "90" }), resources: [compute()] },
    { name: "org/c/dev", settings: settings({}), resources: [compute()] },
  ];
  store(...scenes);
  const states = await Promise.all((await fleetStacks([], [])).map(reliableState));
  const refresh = new FleetRefresh(4, () => undefined);
  expect((await refresh.results(states, new ProgressLine())).size).toBe(3);
  const shares = states.map((state) =>
    refresh.settingsOf(state, state.resources[0]?.provider ?? "")("maxRequestsPerMinute"),
  );
  expect(shares).toEqual(["90", "90", "90"]);
});

test("names of stacks and reasons cannot act on a terminal, a page or a runner", async () => {
  store(
    { name: "org/shop/dev", resources: [compute({ name: "a\u001B[2J", size: 1 })] },
    { name: 'org/shop/##[x]"|`', text: null },
  );
  for (const format of ["text", "markdown", "prometheus", "json"] as const) {
    const { text } = await ended({ format });
    expect(text).not.toMatch(/\u001B|##\[/);
  }
  expect(await api(service.emulator, "GET", "/projects/prj-demo/endpoints")).toMatchObject({ status: 200 });
});
