import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { descendants, isAlive, ROOT, type RunningProcess } from "../support/cli";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";
import { leftIn } from "../support/temporary";

/** Interrupts a repair (terminal closed, reader gone, process killed) at each point where the state differs. */

const MAIN = join(ROOT, "dist", "cli", "main.js");
const ENDPOINT = "/projects/{project_id}/endpoints/{endpoint_id}";
const PROGRAM = `
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: { min: 0.5, max: 2 } });
const first = new svc.WhitelistDomain("first", { projectId: auth.projectId, domain: "https://first.example.com" });
new svc.WhitelistDomain("second", { projectId: auth.projectId, domain: "https://second.example.com" }, { parent: first, dependsOn: [first] });`;

/** Nobody deploys it. */
const PENDING = `
new svc.WhitelistDomain("pending", { projectId: auth.projectId, domain: "https://pending.example.com" });`;

let stack: Stack;
let id: string;
let deployed: Record<string, unknown>;

beforeAll(async () => {
  stack = await Stack.create({ program: PROGRAM });
  expect(await stack.up()).toMatchObject({ code: 0 });
  id = (await stack.resource("api")).id.split("/")[1] ?? "";
  deployed = await stack.entries();
  stack.program(PROGRAM + PENDING);
});

/** Over raw HTTP. */
const size = async (): Promise<unknown> =>
  (await stack.service.endpoints()).find((one) => one["id"] === id)?.["autoscaling_limit_max_cu"];
const domains = async (): Promise<string[]> => {
  const { domains: all } = (await stack.service.list("/projects/prj-demo/auth/domains")) as {
    domains: { domain: string }[];
  };
  return all.map(({ domain }) => domain).toSorted();
};
const DOMAINS = ["https://first.example.com", "https://second.example.com"];

async function change(): Promise<void> {
  await stack.service.edit({ kind: "endpoint", id, set: { autoscaling_limit_max_cu: 8 } });
  await stack.service.edit({ kind: "domain", id: DOMAINS[0], delete: true });
}

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await isDone());) {
    if (Date.now() > end) throw new Error("it did not come to that");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

interface Cut {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** All that ran. */
  readonly processes: readonly RunningProcess[];
}

const stateFile = (): string => stack.stateFiles().find((file) => file.endsWith("stacks/proj/dev.json")) ?? "";
const temporaryFolders = (): string[] => leftIn(join(stack.folder, "home"));

/** `cut` receives the process group and the processes started so far. */
async function cutOff(
  args: readonly string[],
  ready: () => boolean | Promise<boolean>,
  cut: (pid: number, started: readonly RunningProcess[]) => void,
): Promise<Cut> {
  const child = spawn(process.execPath, [MAIN, "drift", ...args], {
    cwd: join(stack.folder, "program"),
    env: stack.env,
    detached: true,
  });
  const pid = child.pid ?? Number.NaN;
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const ended = new Promise<number>((resolve) => child.on("exit", (code) => resolve(code ?? -1)));
  await until(ready);
  const processes = [{ pid, command: "pulumi-svc" }, ...descendants(pid)];
  cut(pid, processes);
  const code = await ended;
  await until(() => !processes.some(isAlive));
  return { code, stdout, stderr, processes };
}

const isCli = ({ command }: RunningProcess): boolean => /^(\S*\/)?pulumi (up|refresh|preview)\b/.test(command);
const kill = (signal: NodeJS.Signals, processes: readonly RunningProcess[]): void => {
  for (const { pid } of processes) process.kill(pid, signal);
};

const patched = async (): Promise<boolean> => (await stack.service.requests()).some(({ method }) => method === "PATCH");

/**
 * After any interruption: drift is reported, or that it cannot be determined; and the same repair leads back, alone. What
 * its message says comes before it, if something is in the way.
 */
async function tellsTruth(): Promise<void> {
  const report = await svc(stack, ["drift", "--json"]);
  const isAsDeclared = (await size()) === 2 && (await domains()).join() === DOMAINS.join();
  if (report.code === 0) expect(isAsDeclared).toBe(true);
  else expect({ ...report, asDocumented: [7, 11].includes(report.code) }).toEqual({ ...report, asDocumented: true });
  // By its mark: between two steps of the engine no operation is pending.
  const cut = /was interrupted: a repair has not ended.*pulumi cancel.*then the same pulumi-svc drift --repair/;
  if (report.code === 11) expect(report.stderr).toMatch(cut);
  const repair = () => svc(stack, ["drift", "--repair", "--yes"]);
  let again = await repair();
  if (again.code === 11 && again.stderr.includes("it has locked the stack")) {
    expect(await stack.run("cancel", "--yes")).toMatchObject({ code: 0 });
    again = await repair();
  }
  if (again.code === 11) {
    expect(again.stderr).toMatch(/its creation of "first" .*pulumi refresh --clear-pending-creates --preview-only/);
    await stack.run("cancel", "--yes");
    expect(await stack.run("refresh", "--clear-pending-creates", "--preview-only")).toMatchObject({ code: 0 });
    again = await repair();
  }
  expect(again).toMatchObject({ code: 0 });
  expect([await size(), await domains()]).toEqual([2, DOMAINS]);
  expect(await svc(stack, ["drift"])).toMatchObject({ code: 0 });
  expect(temporaryFolders()).toEqual([]);
  expect(JSON.stringify(Object.values(await stack.entries()))).not.toMatch(/pendingReplacement|interrupted-repair/);
  // As before the repair, and the edit of the program is still to be deployed.
  expect(await stack.entries()).toEqual(deployed);
  const plan = await stack.preview();
  expect(plan.text).toMatch(/\+ .*pending +create/);
  expect(plan.text).toMatch(/\+ 1 to create\n[^~]*$/);
}

test("a reader that goes away ends nothing", async () => {
  await change();
  await stack.service.clearRequests();
  await stack.service.fault({ method: "PATCH", path: ENDPOINT, delayMs: 1_000, times: 1 });
  const command = `"${process.execPath}" "${MAIN}" drift --repair --yes 2>&1 | head -c 5`;
  const child = spawn("sh", ["-c", command], { cwd: join(stack.folder, "program"), env: stack.env });
  const pid = child.pid ?? Number.NaN;
  let seen: RunningProcess[] = [];
  const ended = new Promise((resolve) => child.on("exit", resolve));
  await until(async () => {
    seen = descendants(pid);
    return seen.some(isCli) && (await patched());
  }).catch(() => undefined);
  await ended;
  await until(() => !seen.some(isAlive));
  expect([await size(), await domains()]).toEqual([2, DOMAINS]);
  await tellsTruth();
});

test("a terminal that hangs up lets what has begun end", async () => {
  await change();
  await stack.service.clearRequests();
  await stack.service.fault({ method: "PATCH", path: ENDPOINT, delayMs: 3_000, times: 1 });
  const cut = await cutOff(["--repair", "--yes"], patched, (pid) => process.kill(-pid, "SIGHUP"));
  expect(cut).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/interrupted: changes that had begun were completed/),
  });
  expect(await size()).toBe(2);
  await tellsTruth();
});

/** The state contains what the refresh found instead of what was deployed. */
const isWritten = (): boolean => /"max":\s*8/.test(readFileSync(stateFile(), "utf8"));

test.each([
  ["the command and the CLI, when the refresh is written", isWritten, () => true],
  ["the command and the CLI, during the update", patched, () => true],
  ["the command, during the update", patched, ({ command }: RunningProcess) => command === "pulumi-svc"],
  ["the CLI, during the update", patched, isCli],
] as const)("SIGKILL of %s leaves the truth", async (_what, ready, isVictim) => {
  await change();
  await stack.service.clearRequests();
  await stack.service.fault({ method: "PATCH", path: ENDPOINT, delayMs: 2_000, times: 1 });
  await cutOff(["--repair", "--yes"], ready, (_pid, all) => kill("SIGKILL", all.filter(isVictim)));
  await tellsTruth();
});

test("what somebody has deployed after the cut is not taken back, and no secret of the state before is in clear", async () => {
  await change();
  await stack.service.clearRequests();
  await stack.service.fault({ method: "PATCH", path: ENDPOINT, delayMs: 2_000, times: 1 });
  await cutOff(["--repair", "--yes"], patched, (_pid, all) =>
    kill(
      "SIGKILL",
      all.filter(({ command }) => command === "pulumi-svc"),
    ),
  );
  expect(await stack.exported()).toContain("interrupted-repair");
  expect(await stack.leaks([stack.service.emulator.apiKey])).toEqual([]);
  const { urn } = await stack.resource("api");
  stack.program(PROGRAM.replace("max: 2", "max: 4"));
  expect(await stack.up("--target", urn)).toMatchObject({ code: 0 });
  const state = await stack.exported();
  const again = await svc(stack, ["drift", "--repair", "--yes"]);
  expect(again).toMatchObject({
    code: 11,
    stdout: "",
    stderr: expect.stringMatching(
      /^pulumi-svc: a repair of this stack was cut off, and it is not known whether somebody has deployed something since: the last update in the history of the stack is another one\. Run pulumi up --refresh, which/m,
    ),
  });
  expect([await size(), await stack.exported()]).toEqual([4, state]);
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect([await size(), await domains()]).toEqual([4, DOMAINS]);
  expect(await svc(stack, ["drift"])).toMatchObject({ code: 0 });
});
