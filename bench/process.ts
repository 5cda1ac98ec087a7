import { execFileSync } from "node:child_process";
import { startEmulator } from "../src/emulator";
import { pointer } from "../src/contract/pointer";
import { fakeEngine } from "../test/support/fakeEngine";
import { ProviderProcess, type Props } from "../test/support/providerProcess";
import { type Figure, Figures, median, megabytes } from "./report";
import { ROOT } from "./stack";

const PROCESSES = 9;
const RESOURCES = 500;
const CALLS = 10_000;
const AT_ONCE = 16;

/** What loading costs a program, and what the provider process costs the machine. */
export async function processFigures(): Promise<readonly Figure[]> {
  const figures = new Figures("processes");
  const add = figures.add.bind(figures);
  add('require("pulumi-svc") over @pulumi/pulumi, ms', median(repeated(loadMs)), 20);

  const emulator = await startEmulator({ variants: { startReplicas: true }, activationMs: 0 });
  const engine = await fakeEngine((_request, reply) => reply(null));
  try {
    const inputs = (i: number): Props => ({
      ...{ projectId: "prj-demo", branchId: "br-main", type: "read_only", name: `replica-${i}`, size: 1 },
      __provider: pointer("ComputeEndpoint"),
      __urn: `urn:pulumi:dev::bench::pulumi-nodejs:dynamic/svc:ComputeEndpoint::replica${i}`,
    });
    const began = performance.now();
    const provider = await ProviderProcess.start(engine.address);
    await provider.configure({ "svc:apiKey": emulator.apiKey, "svc:baseUrl": emulator.baseUrl });
    add("provider process, from its start to its first answer, ms", performance.now() - began);
    const first = performance.now();
    await provider.check({}, inputs(0));
    add("first call into it, which loads the provider, ms", performance.now() - first);
    const created = await inTurns(RESOURCES, async (i) => provider.create(inputs(i)));
    add(`its memory with ${RESOURCES} computes created, MB`, megabytes(provider.pid), 150);
    await inTurns(CALLS, async (i) => {
      const { id, outs } = created[i % RESOURCES] ?? { id: "", outs: {} };
      if (i % 3 === 0) await provider.check(inputs(i), inputs(i));
      else if (i % 3 === 1) await provider.diff(id, outs, inputs(i % RESOURCES));
      else await provider.read(id, outs);
    });
    add(`its memory after ${CALLS} calls more, MB`, megabytes(provider.pid), 150);
    provider.stop();
  } finally {
    engine.close();
    await emulator.close();
  }
  return figures.all;
}

const repeated = (measure: () => number): number[] => Array.from({ length: PROCESSES }, measure);

function loadMs(): number {
  const program = `require("@pulumi/pulumi"); const began = performance.now(); require("pulumi-svc");
    process.stdout.write(String(performance.now() - began)); process.exit(0);`;
  return Number(execFileSync(process.execPath, ["-e", program], { cwd: ROOT, encoding: "utf8" }));
}

/** As many at once as the engine runs. */
async function inTurns<Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
