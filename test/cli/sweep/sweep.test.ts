import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { isAgreed } from "../../../src/cli/ask";
import { BusyError } from "../../../src/cli/stack/unfinished";
import type { SweepReport } from "../../../src/cli/sweep/report";
import { sweep, type SweepFlags } from "../../../src/cli/sweep/sweep";
import { type Kind, pointer, PROVIDER_TYPE, typeToken } from "../../../src/contract/pointer";
import { PRIMARY, until } from "../../support/emulator";
import { type LoggedRequest, Service } from "../../support/service";

/** Attacks on a deletion without a state: each could delete what is in use. The backend is a CLI that answers from files. */

jest.mock("../../../src/cli/ask");
const asked = jest.mocked(isAgreed);

const KEY = "canary-sweep-key";
const OLD = "2026-01-02T03:04:05Z";
const DOMAIN = "https://pr-1.preview.example.com";
const before = { ...process.env };
const { isTTY } = process.stdin;
let folder: string;
let service: Service;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sweep-"));
  service = await Service.start({ apiKey: KEY });
  writeFileSync(join(folder, "pulumi"), CLI, { mode: 0o755 });
  Object.assign(process.env, { FOLDER: folder, PATH: `${folder}${delimiter}${before["PATH"]}` });
  process.stdin.isTTY = false;
  for (const id of ["br-pr-1", "br-pr-2", "br-pr-3"])
    await service.edit({ kind: "branch", create: { id, name: id.replace("br-", "preview/") } });
});
afterEach(async () => {
  process.env = { ...before };
  process.stdin.isTTY = isTTY;
  const all = said.splice(0).join("\n");
  rmSync(folder, { recursive: true });
  await service.emulator.close();
  expect(all).not.toContain(KEY);
});

/** After `stack export` of a stack, its next state is its state. */
const CLI = `#!/bin/sh
case "$*" in
  "whoami"*) echo '{"user":"ci","url":"'"\${BACKEND:-s3://\${WHOSE:-}states?region=eu&endpoint=minio-a}"'"}' ;;
  "config"*) cat "$FOLDER/config.json" 2>/dev/null || echo '{}' ;;
  "stack ls"*) cat "$FOLDER/stacks.json" ;;
  "stack export"*)
    name=$(echo "$*" | sed 's/.*--stack //')
    echo "$name" >> "$FOLDER/exports"
    [ ! -e "$FOLDER/later" ] || [ "$(grep -c '' "$FOLDER/exports")" -lt "$LATER" ] || { sh "$FOLDER/later"; rm "$FOLDER/later"; }
    cat "$FOLDER/states/$name.json" || { echo "error: $name is locked away" >&2; exit 1; }
    [ ! -e "$FOLDER/states/$name.next" ] || mv "$FOLDER/states/$name.next" "$FOLDER/states/$name.json"
    [ ! -e "$FOLDER/states/$name.after" ] || mv "$FOLDER/states/$name.after" "$FOLDER/states/$name.next" ;;
esac
`;

interface Scene {
  readonly resources?: readonly { kind?: Kind; id: string; inputs?: object; external?: true }[];
  readonly pending?: readonly string[];
  readonly settings?: object;
}

function stateOf(name: string, { resources = [], pending = [], settings }: Scene): string {
  const [, project = "", stack = ""] = name.split("/");
  const provider = `urn:pulumi:${stack}::${project}::${PROVIDER_TYPE}::default`;
  const inputs = settings ?? { "svc:baseUrl": service.emulator.baseUrl, "svc:apiKey": KEY };
  return JSON.stringify({
    version: 3,
    deployment: {
      resources: [
        { urn: provider, type: PROVIDER_TYPE, custom: true, id: "1", inputs },
        ...resources.map(({ kind = "ComputeEndpoint", id, inputs: own = {}, external }, index) => ({
          ...{
            urn: `urn:pulumi:${stack}::${project}::${typeToken(kind)}::r${index}`,
            type: typeToken(kind),
            id,
            external,
          },
          ...{ custom: true, provider: `${provider}::1`, inputs: own, outputs: { ...own, __provider: pointer(kind) } },
        })),
      ],
      pending_operations: pending.map((urn) => ({ type: "creating", resource: { urn } })),
    },
  });
}

/** `later`: what a state becomes after it was read; `last`: after it was read once more. */
function store(
  scenes: Readonly<Record<string, Scene | null>>,
  later: Readonly<Record<string, Scene>> = {},
  last: Readonly<Record<string, Scene>> = {},
): void {
  writeFileSync(join(folder, "stacks.json"), JSON.stringify(Object.keys(scenes).map((name) => ({ name }))));
  const write = (name: string, ending: string, scene: Scene): void => {
    const file = join(folder, "states", `${name}.${ending}`);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, stateOf(name, scene));
  };
  for (const [name, scene] of Object.entries(scenes)) if (scene !== null) write(name, "json", scene);
  for (const [name, scene] of Object.entries(later)) write(name, "next", scene);
  for (const [name, scene] of Object.entries(last)) write(name, "after", scene);
}

const MAIN = { id: `prj-demo/${PRIMARY}` };
const HOLDS_MAIN = { "org/shop/prod": { resources: [MAIN] } };

/** An old compute. */
const plant = (id: string, fields: object = {}, project_id = "prj-demo") =>
  service.edit({ project_id, kind: "endpoint", create: { id, branch_id: "br-pr-1", created_at: OLD, ...fields } });

const plantDomains = async (...domains: readonly string[]): Promise<void> => {
  await service.edit({ kind: "integration", create: { branch_id: "br-main" } });
  for (const domain of domains) await service.edit({ kind: "domain", create: { domain } });
};

const said: string[] = [];
async function ended(
  { isAsking = false, ...flags }: Partial<SweepFlags> & { isAsking?: boolean } = {},
  timings: Parameters<typeof sweep>[1] = {},
) {
  const writes = (["stdout", "stderr"] as const).map((stream) =>
    jest.spyOn(process[stream], "write").mockImplementation((chunk) => said.push(String(chunk)) > 0),
  );
  await service.clearRequests();
  const mode = isAsking ? {} : ({ yes: true, json: true } as const);
  const given = { match: ["pr-*", "https://pr-*"], olderThanMs: 86_400_000, ...mode, ...flags };
  const short = { client: { lagMs: 50, baseDelayMs: 5, pollCeilingMs: 50 }, deadlineMs: 1_500, ...timings };
  const code = await sweep(given, short).finally(() => {
    for (const write of writes) write.mockRestore();
  });
  return { code, text: said.at(-1) ?? "" };
}

async function run(...args: Parameters<typeof ended>): Promise<SweepReport & { code: number }> {
  const { code, text } = await ended(...args);
  return { code, ...(JSON.parse(text) as SweepReport) };
}

const outcomes = ({ leftBehind }: SweepReport): unknown =>
  Object.fromEntries(leftBehind.map(({ id, outcome }) => [id, outcome]));
const reasons = ({ kept }: SweepReport): unknown => Object.fromEntries(kept.map(({ id, reason }) => [id, reason]));
const computes = async (projectId?: string): Promise<unknown[]> =>
  (await service.endpoints(projectId)).map(({ id }) => id);

/** Waits until the service has got such a request; a delayed one is logged when it is answered. */
const requested = (isIt: (request: LoggedRequest) => boolean): Promise<unknown> =>
  until(
    () => service.requests(),
    (all) => all.some(isIt),
  );

async function expectNothingSent(): Promise<void> {
  expect(await service.mutations()).toEqual([]);
}

test("only what matches, is old, and neither a state nor an open branch names is swept", async () => {
  await plant("ep-left-1", { name: "pr-1" });
  await plant("ep-branch-1", { branch_id: "br-pr-2", type: "read_only" });
  await plant("ep-held-1", { name: "pr-held", type: "read_only" });
  await plant("ep-used-1", { name: "pr-used", type: "read_only" });
  await plant("ep-young-1", { name: "pr-young", type: "read_only", created_at: new Date().toISOString() });
  await plant("ep-open-1", { branch_id: "br-pr-3" });
  await plant("ep-main-1", { name: "pr-main", branch_id: "br-main", type: "read_only" });
  await plant("ep-other-1", { name: "other", branch_id: "br-dev" });
  store({
    ...HOLDS_MAIN,
    "org/shop/pr": { resources: [{ id: "prj-demo/ep-held-1" }] },
    // Another package's resource, an output, a look-up: whatever names it.
    "org/web/dev": { settings: { url: "postgres://EP-used-1.host" } },
  });
  const flags = { match: ["pr-*", "preview/*"], keep: ["Pr_3"] };
  const dry = await run({ ...flags, dryRun: true });
  expect(dry).toMatchObject({ code: 8, backend: "s3://states endpoint=minio-a (as ci)", projects: ["prj-demo"] });
  await expectNothingSent();
  const report = await run(flags);
  expect([report.code, outcomes(report)]).toEqual([
    0,
    { "prj-demo/ep-left-1": "deleted", "prj-demo/ep-branch-1": "deleted" },
  ]);
  expect(reasons(report)).toEqual({
    "prj-demo/ep-held-1": "the state of org/shop/pr names it",
    "prj-demo/ep-used-1": "the state of org/web/dev names it",
    "prj-demo/ep-young-1": "it is younger",
    "prj-demo/ep-open-1": "it is named after the open branch Pr_3",
    "prj-demo/ep-main-1": "it is on the default branch",
  });
  expect(reasons(dry)).toEqual(reasons(report));
  expect(await computes()).not.toEqual(expect.arrayContaining(["ep-left-1", "ep-branch-1"]));
  expect(await computes()).toEqual(expect.arrayContaining(["ep-other-1", PRIMARY, "ep-held-1"]));
  expect(await service.mutations()).toHaveLength(2);
  expect(await run({ ...flags, olderThanMs: 0, keep: ["pr-3", "pr-young"] })).toMatchObject({
    code: 0,
    leftBehind: [],
  });
  await expectNothingSent();
});

test("a compute on a branch that a state names stays: the branch may have come with it", async () => {
  await plant("ep-came-1");
  await plant("ep-left-1", { branch_id: "br-pr-2" });
  store({
    ...HOLDS_MAIN,
    "org/branches/dev": { settings: { branch: "br-pr-1" } },
  });
  const report = await run({ match: ["preview/*"] });
  expect([report.code, outcomes(report), reasons(report)]).toEqual([
    0,
    { "prj-demo/ep-left-1": "deleted" },
    { "prj-demo/ep-came-1": "the state of org/branches/dev names its branch br-pr-1" },
  ]);
});

test("the backend is named without what its address may hold of secrets", async () => {
  store(HOLDS_MAIN);
  process.env["WHOSE"] = `me:${KEY}@`;
  expect(await run({ dryRun: true })).toMatchObject({ code: 0, backend: "s3://states endpoint=minio-a (as ci)" });
});

test("a project is asked once, however the states spell the address of its service", async () => {
  const { baseUrl } = service.emulator;
  const spelled = [`${baseUrl.replace("http://", "HTTP://")}/`, baseUrl.replace("127.0.0.1", "localhost")];
  const others = spelled.map((address, index) => [
    `org/shop/other${index}`,
    { resources: [MAIN], settings: { "svc:baseUrl": address, "svc:apiKey": KEY } },
  ]);
  store({ ...HOLDS_MAIN, ...Object.fromEntries(others) });
  await plant("ep-left-1", { name: "pr-1" });
  const { leftBehind, projects } = await run({ dryRun: true });
  expect(projects).toEqual(["prj-demo"]);
  expect(leftBehind).toMatchObject([{ id: "prj-demo/ep-left-1", service: baseUrl }]);
});

test("computes of equal name in two projects are told apart, and each is asked for in its own", async () => {
  await service.addProject({
    id: "prj-two",
    branches: [{ id: "br-main", name: "main", default: true }, { id: "br-pr-1" }],
  });
  await plant("ep-one-1", { name: "pr-1" });
  await plant("ep-two-1", { name: "pr-1" }, "prj-two");
  store({ ...HOLDS_MAIN, "org/two/dev": { resources: [{ id: "prj-two/ep-two-1" }] } });
  const report = await run();
  expect([report.code, outcomes(report), reasons(report)]).toEqual([
    0,
    { "prj-demo/ep-one-1": "deleted" },
    { "prj-two/ep-two-1": "the state of org/two/dev names it" },
  ]);
  expect(await computes("prj-two")).toEqual(["ep-two-1"]);
  // Without a state that leads to it, a project is searched where it is named.
  store(HOLDS_MAIN);
  expect(await run()).toMatchObject({ code: 0, leftBehind: [], kept: [] });
  // Nor does a look-up lead to it.
  store({ "org/shop/prod": { resources: [MAIN, { id: "prj-two/ep-main-1", external: true }] } });
  expect(await run()).toMatchObject({ code: 0, projects: ["prj-demo"], leftBehind: [], kept: [] });
  Object.assign(process.env, { SVC_BASE_URL: service.emulator.baseUrl, SVC_API_KEY: KEY });
  expect(await run({ project: "prj-two", dryRun: true })).toMatchObject({
    code: 8,
    leftBehind: [{ id: "prj-two/ep-two-1", outcome: null }],
  });
});

test("if one state is not known, nothing is deleted", async () => {
  await plant("ep-left-1", { name: "pr-1" });
  store({ ...HOLDS_MAIN, "org/closed/dev": null });
  await expect(ended()).rejects.toThrow(/^nothing was deleted: .*\norg\/closed\/dev may hold anything: pulumi stack/);
  expect(JSON.parse(said.at(-1) ?? "")).toMatchObject({
    messages: [expect.stringMatching(/^nothing/), expect.anything()],
  });
  const urn = `urn:pulumi:dev::p::${typeToken("ComputeEndpoint")}::api`;
  store({ ...HOLDS_MAIN, "org/busy/dev": { pending: [urn] } });
  await expect(ended()).rejects.toThrow(BusyError);
  store({ "org/shop/prod": { resources: [MAIN], settings: { "svc:apiKeyEnv": "SWEEP_MISSING" } } });
  await expect(ended()).rejects.toThrow(/how to reach the projects of org\/shop\/prod .*SWEEP_MISSING is not set/);
  store({ "org/shop/prod": {} });
  await expect(ended()).rejects.toThrow(/no stack .* Name the project with --project/);
  store({});
  await expect(ended()).rejects.toThrow(/the backend has no stack/);
  await expectNothingSent();
});

test.each([
  ["a stack adopts it", { resources: [MAIN, { id: "prj-demo/ep-left-1" }] }],
  ["any stack changes", { resources: [MAIN], settings: { "svc:apiKey": "other" } }],
  ["an update begins", { resources: [MAIN], pending: ["urn:pulumi:prod::shop::t::api"] }],
])("nothing is deleted if, a second before, %s", async (_what, later) => {
  await plant("ep-left-1", { name: "pr-1" });
  store(HOLDS_MAIN, { "org/shop/prod": later });
  const report = await run();
  expect([report.code, outcomes(report)]).toEqual([11, { "prj-demo/ep-left-1": "left" }]);
  expect(report.messages).toEqual([
    expect.stringMatching(/^Nothing more was deleted: (?!nothing was deleted).*Run this again$/),
  ]);
  await expectNothingSent();
});

test("a stack that changes between two deletions stops the rest, whose deletion is not begun", async () => {
  for (const n of [1, 2, 3]) await plant(`ep-left-${n}`, { name: `pr-${n}`, type: "read_only" });
  const adopts = { "org/shop/prod": { resources: [MAIN, { id: "prj-demo/ep-left-2" }] } };
  store(HOLDS_MAIN, HOLDS_MAIN, adopts);
  const report = await run({}, { freshMs: 0 });
  expect([report.code, outcomes(report)]).toEqual([
    11,
    { "prj-demo/ep-left-1": "deleted", "prj-demo/ep-left-2": "left", "prj-demo/ep-left-3": null },
  ]);
  expect(report.leftBehind.map(({ reason }) => reason)).toEqual([null, expect.any(String), null]);
  expect(report.messages).toEqual([expect.stringMatching(/org\/shop\/prod has changed/)]);
  expect(await computes()).toEqual(expect.arrayContaining(["ep-left-2", "ep-left-3"]));
});

test.each([
  ["a compute of a locked project", "ep-left-1", { status: 423 }, "left"],
  ["a compute that may be deleted", "ep-left-1", { status: 502 }, "unknown"],
  ["a domain of a locked project", undefined, { status: 423 }, "left"],
])("a stack that adopts an object while its deletion waits stops it: %s", async (_what, compute, fault, outcome) => {
  await plant("ep-left-1", { name: "pr-1", type: "read_only" });
  await plantDomains(DOMAIN);
  const id = `prj-demo/${compute ?? DOMAIN}`;
  store(HOLDS_MAIN, HOLDS_MAIN, { "org/shop/prod": { resources: [MAIN, { id }] } });
  const path = `/projects/prj-demo/${compute === undefined ? "auth/domains" : `endpoints/${compute}`}`;
  await service.fault({ method: "DELETE", path, ...fault });
  const report = await run({ olderThanMs: 0, match: [compute === undefined ? DOMAIN : "pr-1"] });
  expect([report.code, outcomes(report)]).toEqual([11, { [id]: outcome }]);
  expect(report.leftBehind[0]?.reason).toBe("the state of org/shop/prod has changed meanwhile");
  expect(report.messages).toEqual([expect.stringMatching(/^Nothing more was deleted: the state of org\/shop\/prod/)]);
  expect((await service.requests()).filter(({ method }) => method === "DELETE")).toHaveLength(1);
});

describe("an up that has begun, and has changed nothing yet", () => {
  const lockFile = (stack = "prod"): string =>
    join(folder, "backend", ".pulumi", "locks", "org", "shop", stack, "lock.json");
  /** A backend of files, where nobody holds a lock. */
  const ofFiles = (query = ""): void => {
    mkdirSync(join(folder, "backend", ".pulumi", "stacks"), { recursive: true });
    process.env["BACKEND"] = `file://${join(folder, "backend")}${query}`;
  };
  const locked = (stack?: string): void => {
    mkdirSync(join(lockFile(stack), ".."), { recursive: true });
    writeFileSync(lockFile(stack), "{}");
  };
  /** Runs when a state is read for this time. */
  const atExport = (count: number, script: string): void => {
    writeFileSync(join(folder, "later"), script);
    process.env["LATER"] = String(count);
  };
  const words =
    /the stack org\/shop\/(prod|new) is locked: an update of it runs, or was killed\. Wait for its end; if it was killed, run pulumi cancel --stack org\/shop\/\1/;

  test("may be about to use what would be deleted: nothing is", async () => {
    await plant("ep-left-1", { name: "pr-1" });
    store(HOLDS_MAIN);
    ofFiles();
    locked();
    const refused = ended();
    await expect(refused).rejects.toThrow(BusyError);
    await expect(refused).rejects.toThrow(words);
    rmSync(lockFile());
    // What the CLI keeps beside a lock is none.
    writeFileSync(`${lockFile()}.attrs`, "{}");
    const report = await run();
    expect([report.code, outcomes(report), report.locksNotSeen]).toEqual([
      0,
      { "prj-demo/ep-left-1": "deleted" },
      null,
    ]);
  });

  test.each([
    ["one of the stacks", "prod"],
    ["a stack that was not there yet", "new"],
  ])("stops a run between two deletions, even if the states were read just before: %s", async (_what, stack) => {
    for (const n of [1, 2]) await plant(`ep-left-${n}`, { name: `pr-${n}`, type: "read_only" });
    store(HOLDS_MAIN);
    ofFiles();
    const deletion = { method: "DELETE", path: "/projects/prj-demo/endpoints/ep-left-1", status: 423, delayMs: 150 };
    await service.fault(deletion);
    const running = run();
    await requested(({ method }) => method === "DELETE");
    locked(stack);
    const report = await running;
    expect([report.code, outcomes(report)]).toEqual([11, { "prj-demo/ep-left-1": "left", "prj-demo/ep-left-2": null }]);
    expect(report.messages).toEqual([expect.stringMatching(words)]);
    expect(await computes()).toEqual(expect.arrayContaining(["ep-left-1", "ep-left-2"]));
  });

  test("is seen right before the deletion, after the states were read", async () => {
    await plant("ep-left-1", { name: "pr-1" });
    store(HOLDS_MAIN);
    ofFiles();
    atExport(2, `mkdir -p "${join(lockFile(), "..")}" && echo {} > "${lockFile()}"`);
    const report = await run();
    expect([report.code, outcomes(report)]).toEqual([11, { "prj-demo/ep-left-1": "left" }]);
    await expectNothingSent();
  });

  test("is shown by the service that keeps the states", async () => {
    await plant("ep-left-1", { name: "pr-1" });
    store(HOLDS_MAIN);
    process.env["BACKEND"] = "https://api.pulumi.com/ci";
    const listed = (updateInProgress: boolean): void =>
      writeFileSync(join(folder, "stacks.json"), JSON.stringify([{ name: "org/shop/prod", updateInProgress }]));
    listed(true);
    await expect(ended()).rejects.toThrow(words);
    listed(false);
    expect(await run()).toMatchObject({ code: 0, locksNotSeen: null });
  });

  test.each([
    ["a bucket", undefined],
    ["a folder that is not there", "file:///nowhere/to/be/found"],
    ["a part of a folder", "?prefix=ci/"],
  ])("is not seen in %s: the report says so, and the states are read before each deletion", async (_what, backend) => {
    for (const n of [1, 2]) await plant(`ep-left-${n}`, { name: `pr-${n}`, type: "read_only" });
    store(HOLDS_MAIN);
    if (backend?.startsWith("?")) ofFiles(backend);
    else if (backend !== undefined) process.env["BACKEND"] = backend;
    const report = await run();
    expect(report).toMatchObject({
      code: 0,
      locksNotSeen: expect.stringMatching(
        /^it is not known whether an update of a stack has begun: .*Do not run this while /,
      ),
    });
    expect(readFileSync(join(folder, "exports"), "utf8").trim().split("\n")).toHaveLength(3);
    await plant("ep-left-3", { name: "pr-3", type: "read_only" });
    expect((await ended({ isAsking: true, dryRun: true })).text).toContain(`${report.locksNotSeen ?? ""}.`);
  });
});

test("a terminal shows why a deletion waits", async () => {
  await plant("ep-left-1", { name: "pr-1", type: "read_only" });
  store(HOLDS_MAIN);
  await service.fault({ method: "DELETE", path: "/projects/prj-demo/endpoints/ep-left-1", status: 503 });
  await service.fault({ method: "GET", path: "/projects/prj-demo/branches", status: 503 });
  const { isTTY: isTerminal } = process.stderr;
  process.stderr.isTTY = true;
  const { code } = await ended().finally(() => (process.stderr.isTTY = isTerminal));
  expect(code).toBe(0);
  expect(said.join("")).toMatch(/projects read: 0 of 1, retrying: [^]*deletions ended: 0 of 1, retrying: /);
});

test("a signal ends the run after the deletion that was sent, and it is reported", async () => {
  for (const n of [1, 2]) await plant(`ep-left-${n}`, { name: `pr-${n}`, type: "read_only" });
  store(HOLDS_MAIN);
  await service.fault({ method: "DELETE", path: "/projects/prj-demo/endpoints/ep-left-1", status: 423, delayMs: 150 });
  const running = run();
  await requested(({ method }) => method === "DELETE");
  process.emit("SIGTERM", "SIGTERM");
  const report = await running;
  expect([report.code, outcomes(report), report.messages]).toEqual([
    1,
    { "prj-demo/ep-left-1": "deleted", "prj-demo/ep-left-2": null },
    ["Nothing more was deleted after SIGTERM"],
  ]);
  expect(process.listenerCount("SIGTERM")).toBe(0);
});

test("before the question it says what it cannot know, and after it it looks again", async () => {
  await plant("ep-left-1", { name: "pr-1" });
  store(HOLDS_MAIN);
  const flags = { isAsking: true };
  expect(await ended(flags)).toEqual({ code: 2, text: expect.stringMatching(/no terminal to ask on\. Use --yes/) });
  process.stdin.isTTY = true;
  asked.mockResolvedValueOnce(false);
  expect((await ended(flags)).code).toBe(1);
  const shown = said.join("");
  expect(shown).toContain("ComputeEndpoint prj-demo/ep-left-1");
  expect(shown).toContain(
    "States that were read: 1, of the backend s3://states endpoint=minio-a (as ci). None names these objects.",
  );
  expect(shown).toMatch(/Other backends, .* are not seen: what only they hold looks left behind/);
  const { host } = new URL(service.emulator.baseUrl);
  expect(asked).toHaveBeenLastCalledWith(`Delete this at ${host}?`);
  expect(shown).toContain(`Service: ${service.emulator.baseUrl} (as the states store it), projects: prj-demo`);
  asked.mockImplementationOnce(async () => {
    await plant("ep-left-2", { name: "pr-2", branch_id: "br-pr-2" });
    return true;
  });
  await expect(ended(flags)).rejects.toThrow(/not what was shown any more/);
  await expectNothingSent();
  asked.mockResolvedValueOnce(true);
  expect(await ended(flags)).toEqual({ code: 0, text: expect.stringMatching(/Left behind: 2[^]*deleted/) });
});

test.each([
  ["it refuses", { status: 403 }, "left"],
  ["it refuses what it may have done before", { after: 1, status: 403 }, "unknown"],
  ["it fails", { status: 503 }, "unknown"],
  ["it answers with a web page", { status: 200, body: "<html>", contentType: "text/html" }, "unknown"],
  ["a proxy says 404", { status: 404, body: "default backend - 404", contentType: "text/plain" }, "left"],
  ["it accepts and deletes nothing", { status: 204, body: "" }, "unknown"],
])("a service that fails in the middle: %s", async (_what, fault, outcome) => {
  for (const n of [1, 2, 3]) await plant(`ep-left-${n}`, { name: `pr-${n}`, type: "read_only" });
  store(HOLDS_MAIN);
  const deletion = { method: "DELETE", path: "/projects/prj-demo/endpoints/ep-left-2" };
  await service.fault({ ...deletion, times: 0, ...fault });
  // What the fault lets pass first.
  await service.fault({ ...deletion, status: 502 });
  const report = await run();
  expect([report.code, outcomes(report)]).toEqual([
    1,
    { "prj-demo/ep-left-1": "deleted", "prj-demo/ep-left-2": outcome, "prj-demo/ep-left-3": null },
  ]);
  expect(report.leftBehind[1]?.reason).toMatch(/./);
  expect(report.messages).toEqual(["Nothing more was deleted after the failure"]);
  expect(await computes()).toEqual(expect.arrayContaining(["ep-left-2", "ep-left-3"]));
});

test("an object is deleted if only the response was lost", async () => {
  for (const n of [1, 2]) await plant(`ep-left-${n}`, { name: `pr-${n}`, type: "read_only" });
  store(HOLDS_MAIN);
  const lost = { method: "DELETE", path: "/projects/prj-demo/endpoints/ep-left-1", status: 502, effect: "done" };
  await service.fault(lost);
  const report = await run();
  expect([report.code, outcomes(report)]).toEqual([
    0,
    { "prj-demo/ep-left-1": "deleted", "prj-demo/ep-left-2": "deleted" },
  ]);
});

test("a list that cannot be read again sends nothing", async () => {
  await plant("ep-left-1", { name: "pr-1" });
  store(HOLDS_MAIN);
  await service.fault({ method: "GET", path: "/projects/prj-demo/endpoints", after: 1, times: 0, status: 401 });
  const report = await run();
  expect([report.code, outcomes(report)]).toEqual([1, { "prj-demo/ep-left-1": "left" }]);
  await expectNothingSent();
  await expect(ended()).rejects.toThrow(/nothing was deleted: project prj-demo could not be read: .*401/);
});

test("what changes or goes while its project is locked is not deleted, and the others are", async () => {
  for (const n of [1, 2, 3]) await plant(`ep-left-${n}`, { name: `pr-${n}`, type: "read_only" });
  store(HOLDS_MAIN);
  const locked = { method: "DELETE", path: "/projects/prj-demo/endpoints/ep-left-1", status: 423, delayMs: 150 };
  await service.fault(locked);
  const running = run();
  await requested(({ method }) => method === "DELETE");
  await service.edit({ kind: "endpoint", id: "ep-left-2", set: { branch_id: "br-main" } });
  await service.edit({ kind: "endpoint", id: "ep-left-3", delete: true });
  const report = await running;
  expect([report.code, outcomes(report)]).toEqual([
    1,
    { "prj-demo/ep-left-1": "deleted", "prj-demo/ep-left-2": "left", "prj-demo/ep-left-3": "gone" },
  ]);
  expect(report.leftBehind[1]?.reason).toBe("it has changed since it was listed: branch_id");
  expect(
    new Set((await service.requests()).filter(({ method }) => method === "DELETE").map(({ path }) => path)).size,
  ).toBe(1);
});

test("domains show no age, so only --older-than 0 sweeps them", async () => {
  await plantDomains(DOMAIN, "https://pr-2.preview.example.com", "https://pr-3-login.preview.example.com");
  // In another spelling.
  const inputs = { domain: "HTTPS://PR-2.preview.Example.com:443" };
  store({ ...HOLDS_MAIN, "org/web/pr": { resources: [{ kind: "WhitelistDomain", id: "prj-demo/x", inputs }] } });
  const ageless = { reason: "its age is not known" };
  expect(await run({ match: ["https://pr-*"] })).toMatchObject({
    code: 0,
    leftBehind: [],
    kept: [ageless, { reason: "the state of org/web/pr names it" }, ageless],
  });
  const flags = { match: ["https://pr-*"], olderThanMs: 0, keep: ["login"] };
  await service.fault({ method: "DELETE", path: "/projects/prj-demo/auth/domains", status: 200, body: "" });
  const failed = await run(flags);
  expect([failed.code, outcomes(failed)]).toEqual([1, { [`prj-demo/${DOMAIN}`]: "unknown" }]);
  const report = await run(flags);
  expect([report.code, outcomes(report)]).toEqual([0, { [`prj-demo/${DOMAIN}`]: "deleted" }]);
  expect(reasons(report)).toEqual({
    "prj-demo/https://pr-2.preview.example.com": "the state of org/web/pr names it",
    "prj-demo/https://pr-3-login.preview.example.com": "it is named after the open branch login",
  });
  expect((await service.list("/projects/prj-demo/auth/domains"))["domains"]).toHaveLength(2);
});

test("a host is named by its letters or in its xn-- form, however its characters are composed", async () => {
  await plantDomains(
    "https://pr-1.xn--bcher-kva.example",
    "https://pr-2.xn--bcher-kva.example",
    "https://pr-3.b.example:*",
  );
  // Of another package.
  const inputs = { url: "https://pr-1.BU\u0308CHER.example/login", text: "pr-3.b.example" };
  store({ ...HOLDS_MAIN, "org/web/pr": { resources: [{ kind: "AuthUser", id: "prj-demo/x", inputs }] } });
  const flags = { match: ["https://pr-*"], olderThanMs: 0, dryRun: true as const };
  expect(reasons(await run(flags))).toEqual({
    "prj-demo/https://pr-1.xn--bcher-kva.example": "the state of org/web/pr names it",
    "prj-demo/https://pr-3.b.example:*": "the state of org/web/pr names it",
  });
  expect(reasons(await run({ ...flags, keep: ["bu\u0308cher"] }))).toHaveProperty(
    ["prj-demo/https://pr-2.xn--bcher-kva.example"],
    "it is named after the open branch bu\u0308cher",
  );
});

test("domains of a Whitelist, and of an integration that was replaced, stay", async () => {
  await plantDomains(DOMAIN);
  store({ ...HOLDS_MAIN, "org/web/dev": { resources: [{ kind: "Whitelist", id: "prj-demo" }] } });
  const flags = { match: ["https://*"], olderThanMs: 0 };
  expect(await run(flags)).toMatchObject({
    code: 0,
    kept: [{ reason: expect.stringMatching(/^the Whitelist in the state of org\/web\/dev declares all/) }],
  });
  store(HOLDS_MAIN);
  await service.fault({ method: "GET", path: "/projects/prj-demo/auth/integrations", delayMs: 150, times: 0 });
  const running = run(flags);
  await requested(({ template }) => template.endsWith("/auth/domains"));
  await service.edit({ kind: "integration", set: { auth_provider_project_id: "another" } });
  const report = await running;
  expect([report.code, outcomes(report)]).toEqual([1, { [`prj-demo/${DOMAIN}`]: "left" }]);
  expect(report.leftBehind[0]?.reason).toBe("its auth integration has been deleted or replaced");
  await expectNothingSent();
});

test.each([
  [
    "the branches are not listed",
    { status: 404, body: { code: "", message: "no such route" } },
    /which branch is the default/,
  ],
  ["no branch is the default one", { effect: "done", merge: { branches: [] } }, /which branch is the default/],
])("computes stay if %s", async (_what, fault, reason) => {
  await plant("ep-left-1", { name: "pr-1" });
  store(HOLDS_MAIN);
  await service.fault({ method: "GET", path: "/projects/prj-demo/branches", times: 0, ...fault });
  const { code, leftBehind, kept } = await run();
  expect({ code, leftBehind }).toEqual({ code: 0, leftBehind: [] });
  expect(kept.find(({ id }) => id === "prj-demo/ep-left-1")?.reason).toMatch(reason);
  await expectNothingSent();
});

test("a compute without a name may match by its branch, so it is told if branches are not listed", async () => {
  await plant("ep-left-1");
  store(HOLDS_MAIN);
  const flags = { match: ["preview/pr-*"] };
  expect(outcomes(await run({ ...flags, dryRun: true }))).toEqual({ "prj-demo/ep-left-1": null });
  const missing = { status: 404, body: { code: "", message: "no such route" } };
  await service.fault({ method: "GET", path: "/projects/prj-demo/branches", times: 0, ...missing });
  expect(reasons(await run(flags))).toHaveProperty(
    ["prj-demo/ep-left-1"],
    "it is not known which branch is the default one",
  );
  await expectNothingSent();
});

test("what is left behind is found and deleted on every page", async () => {
  await service.emulator.close();
  service = await Service.start({ apiKey: KEY, pageSize: 1 });
  await service.edit({ kind: "branch", create: { id: "br-pr-1", name: "preview/pr-1" } });
  for (const n of [1, 2, 3]) await plant(`ep-left-${n}`, { name: `pr-${n}`, type: "read_only" });
  await plantDomains("https://held.example.com", DOMAIN);
  store(HOLDS_MAIN);
  const report = await run({ olderThanMs: 0 });
  expect([report.code, outcomes(report)]).toEqual([
    0,
    Object.fromEntries(["ep-left-1", "ep-left-2", "ep-left-3", DOMAIN].map((id) => [`prj-demo/${id}`, "deleted"])),
  ]);
  expect(await computes()).toEqual([PRIMARY]);
});

test("a list that breaks off, or a list of domains that is not shown, is a failure, and nothing is deleted", async () => {
  await plant("ep-left-1", { name: "pr-1" });
  await plantDomains(DOMAIN);
  store(HOLDS_MAIN);
  await service.fault({ path: "/projects/{project_id}/branches", paging: "repeats", times: 0 });
  await expect(ended()).rejects.toThrow(/nothing was deleted: project prj-demo could not be read: .*read to its end/);
  await service.clearFaults();
  await service.fault({ method: "GET", path: "/projects/{project_id}/auth/domains", status: 404, times: 0 });
  await expect(ended()).rejects.toThrow(/nothing was deleted: project prj-demo could not be read: .*404/);
  await expectNothingSent();
});

describe("an address that no state stores", () => {
  /** Without an address, as of a stack that is deployed with SVC_BASE_URL. */
  const ADDRESSLESS = { "org/shop/prod": { resources: [MAIN], settings: { "svc:apiKey": KEY } } };
  let other: Service;
  const hostOf = ({ emulator }: Service): string => new URL(emulator.baseUrl).host;

  beforeEach(async () => {
    // Another service, which has a project of the same name: nothing there is named by any state.
    other = await Service.start({ apiKey: KEY });
    for (const one of [service, other]) {
      await one.edit({ kind: "branch", create: { id: "br-pr-9", name: "preview/br-pr-9" } });
      const fields = { id: "ep-left-1", name: "pr-1", branch_id: "br-pr-9", created_at: OLD };
      await one.edit({ project_id: "prj-demo", kind: "endpoint", create: fields });
    }
    Object.assign(process.env, { SVC_BASE_URL: other.emulator.baseUrl, SVC_API_KEY: KEY });
  });
  afterEach(() => other.emulator.close());

  const nothingSent = async () => {
    expect(await other.mutations()).toEqual([]);
    await expectNothingSent();
  };

  test.each([{}, { project: "prj-demo" }])("is said, and --yes deletes nothing there (%j)", async (flags) => {
    store(ADDRESSLESS);
    const report = await run(flags);
    expect([report.code, outcomes(report)]).toEqual([2, { "prj-demo/ep-left-1": null }]);
    expect(report.services).toEqual([{ service: other.emulator.baseUrl, from: "environment", projects: ["prj-demo"] }]);
    expect(report.messages).toEqual([
      `Nothing was deleted: whether project prj-demo is at ${hostOf(other)} is only said by SVC_BASE_URL: no state stores an address. ` +
        `If that is the service, run this again with --service ${hostOf(other)}`,
    ]);
    await nothingSent();
  });

  test("is confirmed by its host, and another host is refused before anything is read", async () => {
    store(ADDRESSLESS);
    await expect(ended({ service: hostOf(service) })).rejects.toThrow(
      `nothing was deleted: project prj-demo is at ${hostOf(other)}, and --service names another service`,
    );
    await nothingSent();
    const report = await run({ service: hostOf(other) });
    expect([report.code, outcomes(report)]).toEqual([0, { "prj-demo/ep-left-1": "deleted" }]);
    expect(await other.mutations()).toEqual(["DELETE /projects/{project_id}/endpoints/{endpoint_id}"]);
    await expectNothingSent();
  });

  test("is good if all states that store one store the same", async () => {
    store({ ...ADDRESSLESS, ...storing("org/two/dev", other) });
    expect(await run({ project: "prj-demo" })).toMatchObject({ code: 0, leftBehind: [{ outcome: "deleted" }] });
    store({ ...ADDRESSLESS, ...storing("org/two/dev", other), ...storing("org/three/dev", service) });
    await other.edit({
      project_id: "prj-demo",
      kind: "endpoint",
      create: { id: "ep-left-2", name: "pr-2", branch_id: "br-pr-9", created_at: OLD },
    });
    const report = await run({ project: "prj-demo" });
    expect(report).toMatchObject({ code: 2, leftBehind: [{ id: "prj-demo/ep-left-2", outcome: null }] });
    expect(report.messages[0]).toMatch(/the states store 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+\. /);
  });

  test("may be that of the configuration in this folder, which is said as well", async () => {
    store(ADDRESSLESS);
    const before = process.cwd();
    writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
    writeFileSync(join(folder, "config.json"), JSON.stringify({ "svc:baseUrl": { value: service.emulator.baseUrl } }));
    process.chdir(folder);
    const report = await run({ project: "prj-demo" }).finally(() => process.chdir(before));
    expect(report.code).toBe(2);
    expect(report.services).toEqual([
      { service: service.emulator.baseUrl, from: "configuration", projects: ["prj-demo"] },
    ]);
    expect(report.messages[0]).toMatch(/is only said by the configuration of the stack in this folder/);
    await nothingSent();
  });

  test("is named by the question, and by a report that found nothing", async () => {
    store(ADDRESSLESS);
    process.stdin.isTTY = true;
    asked.mockResolvedValueOnce(false);
    await ended({ isAsking: true });
    expect(asked).toHaveBeenLastCalledWith(`Delete this at ${hostOf(other)}?`);
    const { text } = await ended({ isAsking: true, match: ["nothing-*"] });
    expect(text).toContain(`Service: ${other.emulator.baseUrl} (from SVC_BASE_URL, not from a state)`);
  });
});

/** A stack whose state stores the address of a service. */
const storing = (name: string, { emulator }: Service): Record<string, Scene> => ({
  [name]: {
    resources: [{ id: "prj-other/ep-1", external: true }],
    settings: { "svc:baseUrl": emulator.baseUrl, "svc:apiKey": KEY },
  },
});
