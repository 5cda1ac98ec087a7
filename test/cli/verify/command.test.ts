import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { VerifyReport } from "../../../src/cli/verify/report";
import type { Emulator } from "../../../src/emulator";
import { MAIN, runProcess, type Ended } from "../../support/command";
import { until } from "../../support/emulator";
import { KEY, objectsOf, startService } from "../../support/verifying";

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "verify-"))));
afterAll(() => rmSync(folder, { recursive: true }));

const BRANCH = ["verify", "--project", "prj-demo", "--branch", "br-dev", "--part", "compute"];

const environment = ({ baseUrl }: Emulator) => ({ ...process.env, SVC_BASE_URL: baseUrl, SVC_API_KEY: KEY });

const run = (emulator: Emulator, ...args: string[]): Promise<Ended> =>
  runProcess({ args: [...BRANCH, ...args], cwd: folder, env: environment(emulator) });

/** Sends a signal as soon as the service holds what the run has made. */
async function signalled(emulator: Emulator, signal: NodeJS.Signals): Promise<Ended & { by: unknown }> {
  const child = spawn(process.execPath, [MAIN, ...BRANCH, "--yes", "--format", "json"], {
    cwd: folder,
    env: environment(emulator),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  await until(
    async () => JSON.stringify(await objectsOf(emulator)),
    (objects) => objects.includes("pulumi-svc-verify-"),
  );
  child.kill(signal);
  const [code, by] = (await ended) as [number | null, string | null];
  const [stdout, stderr] = await output;
  return { code: code ?? -1, by, stdout, stderr };
}

const changes = (emulator: Emulator): unknown[] => emulator.requests().filter(({ method }) => method !== "GET");

test("--dry-run shows the plan, and without a terminal nothing begins", async () => {
  const emulator = await startService();
  const plan = await run(emulator, "--dry-run");
  expect(plan).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/what it makes and costs:\n- computes on branch br-dev: one primary of 0\.25/),
    stderr: "",
  });
  // Else the settings of another service would be found out by its bill.
  expect(plan.stdout).toContain(`of project prj-demo at ${new URL(emulator.baseUrl).host},`);
  expect(await run(emulator)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/no terminal to ask on\. Use --yes to begin\. Nothing was changed\n$/),
  });
  expect(changes(emulator)).toEqual([]);
});

test.each(["SIGTERM", "SIGHUP"] as const)("%s: what was made is removed, and the report says so", async (signal) => {
  const emulator = await startService();
  const before = await objectsOf(emulator);
  const { code, stdout, stderr } = await signalled(emulator, signal);
  const report = JSON.parse(stdout) as VerifyReport;
  expect([code, report.isStopped, report.left]).toEqual([1, true, []]);
  expect(report.service).toBe(new URL(emulator.baseUrl).host);
  expect(stderr).toMatch(new RegExp(`${signal}: the current step ends[^]*removed: ComputeEndpoint prj-demo/ep-`));
  expect(await objectsOf(emulator)).toEqual(before);
});

test("after kill -9, the next run names what was left and changes nothing", async () => {
  const emulator = await startService();
  expect((await signalled(emulator, "SIGKILL")).by).toBe("SIGKILL");
  const sent = changes(emulator).length;
  const { code, stdout, stderr } = await run(emulator, "--yes");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(
    /nothing was changed\npulumi-svc: (ep-\S+) on br-dev is left from an earlier run \(pulumi-svc-verify-.*DELETE \/projects\/prj-demo\/endpoints\/\1/,
  );
  expect(changes(emulator)).toHaveLength(sent);
});
