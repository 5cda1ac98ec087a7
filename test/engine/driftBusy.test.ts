/**
 * `pulumi-svc drift` beside an `up`: what the `up` has changed at the service is not drift, and is neither accepted,
 * repaired nor tolerated.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/cli";
import { type Asked, Gateway } from "../support/Gateway";
import { Stack } from "../support/Stack";
import { type Ended, svc } from "../support/svc";

/** For two stacks. An `up` waits before its first declaration while a file `hold` exists. */
const program = (size: number): string => `
const { existsSync, writeFileSync } = require("node:fs");
const branchId = pulumi.getStack() === "dev" ? "br-dev" : "br-test";
module.exports = async () => {
  if (!pulumi.runtime.isDryRun()) writeFileSync("began", "");
  while (!pulumi.runtime.isDryRun() && existsSync("hold")) await new Promise((resolve) => setTimeout(resolve, 50));
  new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId, size: ${size} });
};`;

let stack: Stack;
let gateway: Gateway;

beforeAll(async () => {
  stack = await Stack.create({ program: program(1) });
  gateway = await Gateway.start(stack.service.emulator.baseUrl);
  await stack.config("svc:baseUrl", gateway.baseUrl);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.run("stack", "init", "prod", "--copy-config-from", "dev", "--no-select")).toMatchObject({
    code: 0,
  });
  expect(await stack.up("--stack", "prod")).toMatchObject({ code: 0 });
});
afterAll(() => gateway.close());

interface Held {
  /** Until the request has come, and `done` of it is done. */
  readonly reached: Promise<void>;
  readonly release: () => void;
}

/** Holds the next request with a method. `isDone`: the service has executed it, and only the response is held. */
function held(method: string, isDone: boolean): Held {
  let reach = (): void => undefined;
  let release = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  let isHeld = false;
  gateway.instead = async (asked: Asked) => {
    if (isHeld || asked.method !== method) return undefined;
    isHeld = true;
    const answer = isDone ? await carriedOut(asked) : undefined;
    reach();
    await released;
    return answer;
  };
  return { reached, release };
}

async function carriedOut({ method, path, sent }: Asked) {
  const { baseUrl, apiKey } = stack.service.emulator;
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const response = await fetch(baseUrl + path, { method, headers, body: sent });
  return { status: response.status, body: await response.json() };
}

async function until(isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + 120_000; !isSo(); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() > end) throw new Error("it did not come to that");
}

const inProgram = (file: string): string => join(stack.folder, "program", file);

const BUSY =
  /^pulumi-svc: an update of the stack is running, or was interrupted: (.*)\. Wait for its end, for example with --wait 600\. If its process was killed, run pulumi cancel, [^\n]*\n$/;

/** Expects a command that reports the update with its own exit code and does nothing. */
async function expectBusy(sign: string, ...args: string[]): Promise<Ended> {
  const ended = await svc(stack, ["drift", ...args]);
  expect(ended).toMatchObject({ code: 11, stderr: expect.stringMatching(BUSY) });
  expect(BUSY.exec(ended.stderr)?.[1]).toBe(sign);
  return ended;
}

/** A command that has begun to wait, and its result. */
async function waiting(...args: string[]): Promise<{ readonly ended: Promise<Ended> }> {
  const child = spawn(process.execPath, [join(ROOT, "dist", "cli", "main.js"), "drift", ...args], {
    cwd: join(stack.folder, "program"),
    env: stack.env,
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code) => resolve({ code: code ?? -1, stdout, stderr })),
  );
  await until(() => stderr.includes("Waiting for its end") || child.exitCode !== null);
  return { ended };
}

test("an up that has changed something is reported, --wait waits for its end, and another stack is no concern", async () => {
  stack.program(program(4));
  stack.write("hold", "");
  const patch = held("PATCH", true);
  const up = stack.up();
  await until(() => existsSync(inProgram("began")));
  // It has the lock, and nothing has changed yet: that is not drift.
  expect(await svc(stack, ["drift"])).toMatchObject({ code: 0, stderr: "" });
  rmSync(inProgram("hold"));
  await patch.reached;

  const sign = 'its change of "api" has not ended';
  expect(JSON.parse((await expectBusy(sign, "--json")).stdout)).toEqual({
    messages: [expect.stringContaining(sign)],
  });
  const before = readFileSync(inProgram("index.js"), "utf8");
  await expectBusy(sign, "--unmanaged");
  await expectBusy(sign, "--accept", "--force");
  await expectBusy(sign, "--repair", "--yes");
  await expectBusy(sign, "--ignore", "api", "--reason", "because");
  expect(readFileSync(inProgram("index.js"), "utf8")).toBe(before);
  expect(existsSync(inProgram("svc-drift.json"))).toBe(false);
  expect(await svc(stack, ["drift", "--stack", "prod"])).toMatchObject({ code: 0, stderr: "" });

  const { ended } = await waiting("--wait", "600");
  patch.release();
  expect(await up).toMatchObject({ code: 0 });
  expect(await ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Stack dev: no drift\n/) });
});

test("an up that begins and ends in the middle of the look is no drift", async () => {
  stack.program(program(2));
  const get = held("GET", false);
  const look = svc(stack, ["drift"]);
  await get.reached;
  expect(await stack.up()).toMatchObject({ code: 0 });
  get.release();
  expect(await look).toMatchObject({
    code: 11,
    stdout: "",
    stderr: expect.stringMatching(/it changed the state while this command read it\. Wait for its end/),
  });
  expect(await svc(stack, ["drift"])).toMatchObject({ code: 0, stderr: "" });
});

test("an up that was killed is waited for in vain, and the words of the message lead out", async () => {
  stack.program(program(8));
  const patch = held("PATCH", true);
  let cli: ChildProcess | undefined;
  const up = stack.started((child) => (cli = child), "up", "--yes", "--skip-preview");
  await patch.reached;
  cli?.kill("SIGKILL");
  expect(await up).toMatchObject({ code: null });
  patch.release();
  const ended = await svc(stack, ["drift", "--wait", "1"]);
  expect(ended).toMatchObject({ code: 11, stdout: "" });
  expect(ended.stderr).toMatch(/Waiting for its end, 1 s at most\n.*run pulumi cancel, then pulumi up --refresh/s);
  expect(await stack.run("cancel", "--yes")).toMatchObject({ code: 0 });
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect(await svc(stack, ["drift"])).toMatchObject({ code: 0, stderr: "" });
});
