import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pointer } from "../../../src/contract/pointer";
import { startEmulator, type Emulator } from "../../../src/emulator";
import { ROOT } from "../../support/cli";
import { until } from "../../support/emulator";
import { ProviderProcess } from "../../support/providerProcess";
import { ownPort, Service } from "../../support/service";

jest.setTimeout(60_000);

/** The engine as the provider's process sees it: another process that listens, here without any response. */
const ENGINE =
  "require('node:http2').createServer().listen(Number(process.argv[1]), '127.0.0.1', function () { console.log(this.address().port); })";
const INPUTS = { projectId: "prj-demo", size: 1, __provider: pointer("ComputeEndpoint") };

const engines: ChildProcess[] = [];
let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ activationMs: 40, lockProjects: true });
});
afterAll(async () => {
  engines.forEach((engine) => engine.kill("SIGKILL"));
  await emulator.close();
});

async function startEngine(port = 0): Promise<{ engine: ChildProcess; address: string }> {
  const engine = spawn(process.execPath, ["-e", ENGINE, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  engines.push(engine);
  const [said] = (await once(engine.stdout, "data")) as [Buffer];
  return { engine, address: `127.0.0.1:${said.toString().trim()}` };
}

async function startProvider(address: string): Promise<ProviderProcess> {
  const provider = await ProviderProcess.start(address);
  await provider.configure({ "svc:apiKey": emulator.apiKey, "svc:baseUrl": emulator.baseUrl });
  await provider.check({}, { ...INPUTS, branchId: "br-dev" });
  return provider;
}

async function stage(): Promise<{ engine: ChildProcess; provider: ProviderProcess }> {
  const { engine, address } = await startEngine();
  return { engine, provider: await startProvider(address) };
}

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1_000));
const ended = async (provider: ProviderProcess): Promise<boolean> => provider.hasEnded;

test("ends soon after the engine was killed", async () => {
  const { engine, provider } = await stage();
  await seconds(2);
  expect(provider.hasEnded).toBe(false);
  engine.kill("SIGKILL");
  await until(() => ended(provider), Boolean);
});

test("ends soon after an engine that could not be reached at first was killed", async () => {
  const port = ownPort();
  const provider = await startProvider(`127.0.0.1:${port}`);
  await seconds(1);
  const { engine } = await startEngine(port);
  await seconds(3);
  expect(provider.hasEnded).toBe(false);
  engine.kill("SIGKILL");
  await until(() => ended(provider), Boolean);
});

test("a process that a command of ours preloads ends where its engine has ended before the first connection", async () => {
  const preload = join(ROOT, "dist", "protocols", "engine", "watched.js");
  const orphan = spawn(process.execPath, [
    "--require",
    preload,
    "-e",
    "setInterval(() => {}, 1_000)",
    `127.0.0.1:${ownPort()}`,
  ]);
  await once(orphan, "exit");
  // Another program of the same command has no such argument.
  const program = spawn(process.execPath, [
    "--require",
    preload,
    "-e",
    "setTimeout(() => process.exit(3), 2_000)",
    ".",
  ]);
  expect(await once(program, "exit")).toEqual([3, null]);
});

test("ends in the middle of a creation, and sends neither that again nor what waits in the queue behind it", async () => {
  const { engine, provider } = await stage();
  const service = new Service(emulator);
  const sent = async (): Promise<unknown[]> =>
    (await service.requests()).filter(({ method }) => method === "POST").map(({ body }) => body);
  // Each attempt is answered with 423 before anything is created: the creation retries again and again, and the project
  // is locked for the other.
  await service.fault({ method: "POST", path: "/projects/{project_id}/endpoints", status: 423, times: 1000 });
  const creation = (branchId: string): Promise<unknown> =>
    provider.create({ ...INPUTS, branchId }).catch((error: unknown) => error);
  const first = creation("br-dev");
  await until(async () => (await sent()).length > 1, Boolean);
  await service.clearRequests();
  const second = creation("br-test");
  await until(async () => (await sent()).length > 1, Boolean);
  engine.kill("SIGKILL");
  await until(() => ended(provider), Boolean);
  const requests = (await service.requests()).length;
  // Sent now, either would take effect.
  await service.clearFaults();
  expect([await first, await second]).toEqual([expect.any(Error), expect.any(Error)]);
  await seconds(4);
  expect(await service.requests()).toHaveLength(requests);
  expect(JSON.stringify(await sent())).not.toContain("br-test");
  const made = (await service.endpoints()).map(({ branch_id }) => branch_id);
  expect(made).not.toContain("br-dev");
  expect(made).not.toContain("br-test");
});

test("stays while the engine is stopped or answers nothing, and continues when it continues", async () => {
  const { engine, provider } = await stage();
  engine.kill("SIGSTOP");
  await seconds(5);
  expect(provider.hasEnded).toBe(false);
  engine.kill("SIGCONT");
  expect(await provider.create({ ...INPUTS, branchId: "br-test" })).toMatchObject({ id: expect.any(String) });
});

test("stays where there was no engine at the address to begin with", async () => {
  const provider = await startProvider("127.0.0.1:1");
  await seconds(7);
  expect(provider.hasEnded).toBe(false);
});
