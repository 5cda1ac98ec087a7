import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pointer, PROVIDER_TYPE, STACK_TYPE, typeToken } from "../src/contract/pointer";
import { type Emulator, startEmulator } from "../src/emulator";
import { fakeEngine } from "../test/support/fakeEngine";
import { ProviderProcess } from "../test/support/providerProcess";
import { type Figure, Figures, median } from "./report";
import { ROOT } from "./stack";

const STACKS = 200;
/** In each stack. */
const COMPUTES = 5;
const LATENCY_MS = 50;
const KEY = "bench-key";
/** The most that the service's part may take, in seconds. */
const GOAL = 20;

/** The drift of many stacks, with one command for all and with one for each. Each stack has a project of its own. */
export async function fleetFigures(rounds: number): Promise<readonly Figure[]> {
  const figures = new Figures(`fleet drift of ${STACKS} stacks with ${COMPUTES} computes each`);
  const emulator = await startEmulator({
    ...{ variants: { startReplicas: true }, activationMs: 0, latencyMs: LATENCY_MS, apiKey: KEY },
    seed: { projects: names.map((id) => ({ id, branches: [{ id: "br-main", compute: true }] })) },
  });
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-bench-"));
  try {
    await storeStacks(emulator, folder);
    const runs: (Told & { whole: number })[] = [];
    const alone: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const began = performance.now();
      const told = await command(folder, ["fleet", "drift", "--json"]);
      runs.push({ ...(JSON.parse(told) as Told), whole: (performance.now() - began) / 1_000 });
      const beganAlone = performance.now();
      await command(folder, ["drift", "--stack", names[round] ?? ""]);
      alone.push((performance.now() - beganAlone) / 1_000);
    }
    const checked = runs.map(({ stacks }) => stacks.length);
    if (checked.some((count) => count !== STACKS))
      throw new Error(`not all stacks were checked: ${checked.join(", ")}`);
    figures.add("the service's part, s", median(runs.map(({ seconds }) => seconds.service)), GOAL);
    figures.add("the states' part, s", median(runs.map(({ seconds }) => seconds.states)));
    figures.add("the whole command, s", median(runs.map(({ whole }) => whole)));
    figures.add("requests", median(runs.map(({ requests }) => requests)), STACKS, 0);
    figures.add("pulumi-svc drift of one of these stacks, s", median(alone));
  } finally {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return figures.all;
}

/** The stacks and their projects. */
const names = Array.from({ length: STACKS }, (_, index) => `stack-${index}`);

/** Of the report. */
interface Told {
  readonly stacks: readonly unknown[];
  readonly requests: number;
  readonly seconds: { readonly states: number; readonly service: number };
}

/** States as the provider process makes them, in the CLI's file backend. */
async function storeStacks({ baseUrl }: Emulator, folder: string): Promise<void> {
  const stacks = join(folder, "backend", ".pulumi", "stacks", "bench");
  for (const path of [stacks, join(folder, "home"), join(folder, "program")]) mkdirSync(path, { recursive: true });
  writeFileSync(join(folder, "backend", ".pulumi", "meta.yaml"), "version: 1\n");
  writeFileSync(join(folder, "program", "Pulumi.yaml"), "name: bench\nruntime: nodejs\n");
  symlinkSync(join(ROOT, "node_modules"), join(folder, "program", "node_modules"));
  const engine = await fakeEngine((_request, reply) => reply(null));
  const provider = await ProviderProcess.start(engine.address);
  try {
    await provider.configure({ "svc:apiKey": KEY, "svc:baseUrl": baseUrl });
    for (const name of names) {
      const urnOf = (type: string, called: string): string => `urn:pulumi:${name}::bench::${type}::${called}`;
      const type = typeToken("ComputeEndpoint");
      const reference = urnOf(PROVIDER_TYPE, "default");
      const computes = Array.from({ length: COMPUTES }, async (_, index) => {
        const urn = urnOf(`${STACK_TYPE}$${type}`, `replica-${index}`);
        const inputs = {
          ...{ projectId: name, branchId: "br-main", type: "read_only", name: `replica-${index}`, size: 1 },
          ...{ __provider: pointer("ComputeEndpoint"), __urn: urn },
        };
        const { id, outs } = await provider.create(inputs);
        return { urn, type, custom: true, id, provider: `${reference}::1`, inputs, outputs: outs };
      });
      const settings = { "svc:baseUrl": baseUrl, "svc:apiKeyEnv": "SVC_BENCH_KEY" };
      const default_ = {
        urn: reference,
        type: PROVIDER_TYPE,
        custom: true,
        id: "1",
        inputs: settings,
        outputs: settings,
      };
      const manifest = { time: new Date().toISOString(), magic: "", version: "" };
      const latest = { manifest, resources: [default_, ...(await Promise.all(computes))] };
      const checkpoint = { stack: `organization/bench/${name}`, latest };
      writeFileSync(join(stacks, `${name}.json`), JSON.stringify({ version: 3, checkpoint }));
    }
  } finally {
    provider.stop();
    engine.close();
  }
}

/** What a command prints that finds no drift. */
function command(folder: string, args: readonly string[]): Promise<string> {
  const env = {
    ...process.env,
    ...{ HOME: join(folder, "home"), PULUMI_HOME: join(folder, "home", ".pulumi"), SVC_BENCH_KEY: KEY },
    ...{ PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`, PULUMI_CONFIG_PASSPHRASE: "bench" },
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
  const options = { cwd: join(folder, "program"), env, maxBuffer: 100_000_000 };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [join(ROOT, "dist", "cli", "main.js"), ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`pulumi-svc ${args.join(" ")} failed: ${stderr}${stdout.slice(0, 2_000)}`));
    });
  });
}
