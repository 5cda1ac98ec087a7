/** Jobs that share an account: several provider processes that know nothing of each other, and a service with a limit. */
import { pointer } from "../../src/contract/pointer";
import { type EmulatorOptions, startEmulator } from "../../src/emulator";
import { fakeEngine } from "./fakeEngine";
import { ProviderProcess } from "./providerProcess";

export interface JobsRun {
  /** From the start of the processes to the end of the last job. */
  readonly seconds: number;
  readonly accepted: number;
  readonly refused: number;
  /** Of the requests from a minute after the first refusal on. */
  readonly acceptedLater: number;
  readonly refusedLater: number;
  /** The messages of creations that failed. */
  readonly failures: readonly string[];
  /** The computes of all projects at the end. */
  readonly computes: number;
}

interface Jobs {
  readonly jobs: number;
  /** Each job creates so many computes, in a project of its own. */
  readonly creations: number;
  readonly emulator: EmulatorOptions;
  /** Beside the key and the address. */
  readonly config?: Record<string, string>;
}

const MINUTE_MS = 60_000;

export async function runJobs({ jobs, creations, emulator: options, config = {} }: Jobs): Promise<JobsRun> {
  const projects = Array.from({ length: jobs }, (_, job) => `prj-${job}`);
  const emulator = await startEmulator({
    ...options,
    projects,
    variants: { startReplicas: true, ...options.variants },
  });
  const engine = await fakeEngine((_request, reply) => reply(null));
  const failures: string[] = [];
  const began = performance.now();
  const work = projects.map(async (projectId) => {
    const provider = await ProviderProcess.start(engine.address);
    try {
      await provider.configure({ "svc:apiKey": emulator.apiKey, "svc:baseUrl": emulator.baseUrl, ...config });
      const all = Array.from({ length: creations }, (_, nth) =>
        provider.create({
          ...{ projectId, branchId: `br-main-${projectId}`, type: "read_only", name: `replica-${nth}`, size: 1 },
          __provider: pointer("ComputeEndpoint"),
          __urn: `urn:pulumi:dev::jobs::pulumi-nodejs:dynamic/svc:ComputeEndpoint::replica-${nth}`,
        }),
      );
      for (const outcome of await Promise.allSettled(all))
        if (outcome.status === "rejected") failures.push(String(outcome.reason));
    } finally {
      provider.stop();
    }
  });
  try {
    await Promise.all(work);
    const seconds = (performance.now() - began) / 1_000;
    const log = await fetch(`${emulator.url}/_emulator/requests`);
    const { requests } = (await log.json()) as { requests: { at: string; method: string; status: number | null }[] };
    const isRefused = ({ status }: { status: number | null }): boolean => status === 429;
    const refused = requests.filter(isRefused);
    const laterFrom = Date.parse(refused[0]?.at ?? "9999-01-01") + MINUTE_MS;
    const later = requests.filter(({ at }) => Date.parse(at) >= laterFrom);
    return {
      seconds,
      accepted: requests.length - refused.length,
      refused: refused.length,
      acceptedLater: later.length - later.filter(isRefused).length,
      refusedLater: later.filter(isRefused).length,
      failures,
      computes: requests.filter(({ method, status }) => method === "POST" && status === 201).length,
    };
  } finally {
    engine.close();
    await emulator.close();
  }
}
