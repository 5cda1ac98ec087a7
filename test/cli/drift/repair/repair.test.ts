import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { repair, type RepairFlags } from "../../../../src/cli/drift/repair/repair";
import { repairReportSchema, type RepairReport } from "../../../../src/cli/drift/repair/report";
import { events, log, type Refresh } from "../../../support/refreshes";

/*
 * What the command decides before it changes anything, with a CLI that answers from files. What the engine does with a repair:
 * test/engine/driftRepair.test.ts.
 */

const before = { ...process.env };
const { isTTY } = process.stdin;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-repair-"));
});
afterEach(() => {
  process.env = { ...before };
  process.stdin.isTTY = isTTY;
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** It answers from files, and records the requests. */
const CLI = `#!/bin/sh
cd "$FOLDER" && echo "$1" >> calls
case "$1" in
  version) echo "$SAYS" ;;
  refresh | preview) file=$(echo " $*" | sed 's/.*--event-log //; s/ .*//') && cp "$1.json" "$file" ;;
  stack)
    [ -e deployed ] && grep -q preview calls && rm deployed && mv deployed.json state.json
    cat state.json ;;
  *) exit 1 ;;
esac
`;

const RESIZED: Refresh = {
  declared: { projectId: "prj-demo", branchId: "br-dev", size: 1 },
  found: { size: 4 },
  differing: ["size"],
};
const GITHUB: Refresh = {
  kind: "OAuthProvider",
  name: "github",
  id: "prj-demo/github",
  declared: { projectId: "prj-demo", providerId: "github" },
  found: { clientId: "theirs" },
  differing: ["clientId"],
};
const OLD: Refresh = {
  kind: "WhitelistDomain",
  name: "old",
  id: "prj-demo/https://old.test",
  declared: { projectId: "prj-demo", domain: "https://old.test" },
  found: {},
  delete: true,
};

interface Ended {
  /** Undefined: it threw. */
  readonly code: number | undefined;
  readonly stdout: string;
  /** With the message of what it threw. */
  readonly stderr: string;
  /** The commands of the CLI, by their first word. */
  readonly calls: readonly string[];
}

interface Scene {
  readonly refreshes?: readonly Refresh[];
  /** What the engine plans to do about it. @default what was found */
  readonly planned?: readonly Refresh[];
  readonly refreshLog?: string;
  readonly version?: string;
  readonly names?: readonly string[];
  readonly flags?: Partial<RepairFlags>;
  /** Somebody deploys once, while the repair is planned. */
  readonly isDeployed?: boolean;
}

/** A repair where this is what a refresh finds, and where nobody can be asked. */
async function repaired(scene: Scene): Promise<Ended> {
  const { refreshes = [RESIZED], version = "v3.259.0", names = [], flags = {} } = scene;
  const entries = refreshes.map((one) => {
    const [{ resourcePreEvent }] = events(one) as [
      { resourcePreEvent: { metadata: { urn: string; type: string; old: object } } },
    ];
    const { urn, type, old } = resourcePreEvent.metadata;
    return { urn, type, ...old };
  });
  const found = refreshes.flatMap(events);
  writeFileSync(join(folder, "state.json"), JSON.stringify({ deployment: { resources: entries } }));
  writeFileSync(join(folder, "refresh.json"), scene.refreshLog ?? `${log(...found)}\n`);
  writeFileSync(join(folder, "preview.json"), `${log(...(scene.planned ?? refreshes).flatMap(events))}\n`);
  if (scene.isDeployed === true) {
    writeFileSync(join(folder, "deployed"), "");
    writeFileSync(join(folder, "deployed.json"), JSON.stringify({ deployment: { resources: entries, later: true } }));
  }
  writeFileSync(join(folder, "pulumi"), CLI, { mode: 0o755 });
  Object.assign(process.env, { FOLDER: folder, SAYS: version, PATH: `${folder}${delimiter}${process.env["PATH"]}` });
  let [stdout, stderr] = ["", ""];
  jest.spyOn(process.stdout, "write").mockImplementation((text) => (stdout += String(text)) !== "");
  jest.spyOn(process.stderr, "write").mockImplementation((text) => (stderr += String(text)) !== "");
  process.stdin.isTTY = false;
  const code = await repair(names, { stack: undefined, format: "text", ...flags }).catch((error: Error) => {
    stderr += error.message;
    return undefined;
  });
  const calls = join(folder, "calls");
  return { code, stdout, stderr, calls: existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [] };
}

const reportOf = ({ stdout }: Ended): RepairReport => repairReportSchema.parse(JSON.parse(stdout));

const LOOK = ["version", "stack", "refresh", "stack"];
/** The plan belongs to the look: the state is read once more after both. */
const PLAN = ["version", "stack", "refresh", "preview", "stack"];

test("a CLI that is missing or too old is named, and nothing else is started", async () => {
  const old = await repaired({ version: "v3.258.9" });
  expect(old).toMatchObject({ code: undefined, calls: ["version"] });
  expect(old.stderr).toMatch(/needs the Pulumi CLI 3\.259\.0 or later.*v3\.258\.9.*update it/);
  process.env["PATH"] = "/nowhere";
  rmSync(join(folder, "pulumi"));
  await expect(repair([], { stack: undefined, format: "text" })).rejects.toThrow(/Pulumi CLI was not found/);
});

test("a name that no resource has ends it after the look, in the format that was asked for", async () => {
  const unknown = await repaired({ names: ["nobody"], flags: { yes: true, format: "json" } });
  expect(unknown).toMatchObject({ code: undefined, calls: LOOK });
  expect(unknown.stderr).toMatch(/no resource of pulumi-svc with the name or URN "nobody"/);
  expect(reportOf(unknown)).toMatchObject({ plan: [], messages: [expect.stringMatching(/"nobody"/)] });
});

test("a service that cannot be reached ends it with the words of the engine", async () => {
  const failed = { diagnosticEvent: { severity: "error", message: "the service cannot be reached" } };
  const unreachable = await repaired({ refreshLog: `${log(failed)}\n`, flags: { yes: true } });
  expect(unreachable).toMatchObject({ code: undefined, calls: LOOK });
  expect(unreachable.stderr).toMatch(/pulumi refresh failed: the service cannot be reached/);
});

test("another fingerprint than the approved one is other drift: exit code 9, after the look", async () => {
  const flags = { yes: true, format: "json" } as const;
  const other = await repaired({ flags: { ...flags, expect: "0".repeat(32) } });
  expect(other).toMatchObject({ code: 9, calls: LOOK });
  const { fingerprint, ...report } = reportOf(other);
  expect(fingerprint).toMatch(/^[0-9a-f]{32}$/);
  expect(other.stderr).toMatch(new RegExp(`not the approved one.*fingerprint is ${fingerprint}`));
  expect(report).toMatchObject({
    stack: "dev",
    plan: [],
    repaired: [],
    messages: [expect.stringMatching(/nothing was changed/)],
  });
});

test("without a terminal and without --yes it shows the plan, and says what is missing", async () => {
  const asked = await repaired({});
  expect(asked).toMatchObject({ code: 2, calls: PLAN });
  expect(asked.stderr).toBe("pulumi-svc: there is no terminal to ask on. Use --yes to repair this\n");
  // Said once, wherever both streams go.
  expect((asked.stdout + asked.stderr).match(/nothing was changed/g)).toHaveLength(1);
  expect(asked.stdout).toMatch(
    /ComputeEndpoint api .* changed\n[^]*\n {2}repair: update, which restarts the compute\n/,
  );
  const [, fingerprint = ""] = /fingerprint ([0-9a-f]{32})/.exec(asked.stdout) ?? [];
  // The approved fingerprint is the one that was shown.
  expect(await repaired({ flags: { expect: fingerprint } })).toMatchObject({ code: 2 });
  const json = reportOf(await repaired({ flags: { format: "json" } }));
  expect(json).toMatchObject({
    plan: [{ name: "api" }],
    messages: ["nothing was changed: it needs --yes"],
    fingerprint,
  });
});

test("a plan stands for one state: who deploys while it is made is noticed, and waited for if asked to", async () => {
  const refused = await repaired({ isDeployed: true, flags: { yes: true } });
  expect(refused).toMatchObject({ code: undefined, calls: PLAN });
  expect(refused.stderr).toMatch(/it changed the state while this command read it/);
  rmSync(join(folder, "calls"));
  const waited = await repaired({ isDeployed: true, flags: { wait: 60 } });
  expect(waited).toMatchObject({ code: 2, calls: [...PLAN, ...PLAN.slice(1)] });
  expect(waited.stderr).toMatch(/it changed the state while this command read it\. Waiting for its end, 60 s at most/);
  expect(waited.stdout.match(/^Stack /gm)).toHaveLength(1);
});

test("what replaces or deletes is refused without --allow-replace, with the plan of all of it", async () => {
  const refused = await repaired({ refreshes: [RESIZED, GITHUB, OLD], flags: { yes: true, format: "json" } });
  expect(refused).toMatchObject({ code: undefined, calls: PLAN });
  expect(refused.stderr).toMatch(/replaces or deletes github \(replace\), old \(delete\)\. Give --allow-replace/);
  expect(reportOf(refused)).toMatchObject({
    plan: [
      { name: "api", action: "update" },
      { name: "github", action: "replace" },
      { name: "old", action: "delete" },
    ],
    repaired: [],
  });
});

test("what the engine replaces because of an option is refused, too, though the service can change it", async () => {
  const scene = { planned: [{ ...RESIZED, before: "replace" }], flags: { yes: true } } as const;
  const refused = await repaired(scene);
  expect(refused).toMatchObject({ code: undefined, calls: PLAN });
  expect(refused.stderr).toMatch(/nothing was changed: the repair replaces or deletes api \(replace\)\./);
  expect(refused.stdout).toMatch(/the engine replaces it, because of an option/);
});

test("without drift there is nothing to repair", async () => {
  expect(await repaired({ refreshes: [{ declared: RESIZED.declared }], flags: { yes: true } })).toEqual({
    code: 0,
    stdout: "Stack dev: no drift, nothing to repair\n",
    stderr: "",
    calls: LOOK,
  });
});

test("what a replacement has left is left where svc-drift.json tolerates its successor, which goes by the same URN", async () => {
  const cwd = process.cwd();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  const entry = { resource: "api", property: "size", found: 4, reason: "the sale" };
  writeFileSync(join(folder, "svc-drift.json"), JSON.stringify({ ignore: [entry] }));
  const leftover: Refresh = { ...RESIZED, id: "prj-demo/ep-old", found: {}, differing: [], delete: true };
  process.chdir(folder);
  try {
    const refreshes = [leftover, RESIZED];
    const left = await repaired({ refreshes, flags: { yes: true, format: "json" } });
    expect(left).toMatchObject({ code: 7, calls: LOOK });
    expect(reportOf(left)).toMatchObject({
      plan: [],
      left: [{ id: "prj-demo/ep-old", change: "leftover" }],
      messages: [expect.stringMatching(/^api is left as it is: svc-drift\.json covers a part/)],
    });
    // Named, it is repaired with what is tolerated.
    const named = await repaired({ refreshes, planned: [RESIZED], names: ["api"], flags: { format: "json" } });
    expect(reportOf(named).plan.map(({ change }) => change)).toEqual(["changed", "leftover"]);
  } finally {
    process.chdir(cwd);
  }
});

test("an owner and an address of keys that somebody changed are left, since no update brings them back", async () => {
  const outs = { ownedBy: "user", __first: { ownedBy: "svc" } };
  const AUTH: Refresh = {
    kind: "AuthIntegration",
    name: "auth",
    id: "prj-demo/p",
    declared: { projectId: "prj-demo" },
    outs,
  };
  const { code, calls, ...left } = await repaired({ refreshes: [AUTH], flags: { yes: true, format: "json" } });
  expect([code, calls]).toEqual([7, LOOK]);
  expect(reportOf({ code, calls, ...left })).toMatchObject({
    plan: [],
    left: [{ name: "auth", properties: [{ path: "ownedBy", declared: "svc", found: "user" }] }],
    messages: [expect.stringMatching(/^auth is left as it is: "ownedBy" is not an argument, so no update restores it/)],
  });
});
