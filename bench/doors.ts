import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import * as grpc from "@grpc/grpc-js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { fakeEngine } from "../test/support/fakeEngine";
import { computes } from "./programs";
import { type Figure, Figures, median, megabytes } from "./report";
import { ROOT, Stack } from "./stack";

const RESOURCES = 50;
const SERVICE = { latencyMs: 50, activationMs: 1_000, variants: { startReplicas: true } };
const UP = ["up", "--yes", "--skip-preview"];
/** Each step, its command, and the most seconds over the floor through the native door; null: not more than the other takes. */
const STEPS: readonly (readonly [name: string, command: readonly string[], goal: number | null])[] = [
  ["create", UP, null],
  ["plan", ["preview"], 0.7],
  ["refresh plan", ["preview", "--refresh"], 1.1],
  ["change", UP, null],
  ["destroy", ["destroy", "--yes", "--skip-preview"], null],
];
const DOORS = { dynamic: "pulumi-svc", native: "pulumi-svc/native" } as const;
type Door = keyof typeof DOORS;

/** The same program through both doors, in turn, and what a process of the native one takes. */
export async function doorFigures(rounds: number): Promise<readonly Figure[]> {
  const figures = new Figures(`doors: ${RESOURCES} read replicas of one project, seconds over the floor`);
  const seconds = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1)
    for (const resources of [0, RESOURCES])
      for (const door of ["dynamic", "native"] as const)
        for (const [step, taken] of await wholeLife(door, resources)) {
          const key = `${step} ${door} ${resources}`;
          seconds.set(key, [...(seconds.get(key) ?? []), taken]);
        }
  for (const [step, , goal] of STEPS) {
    const over = (door: Door): number =>
      median(seconds.get(`${step} ${door} ${RESOURCES}`) ?? []) - median(seconds.get(`${step} ${door} 0`) ?? []);
    figures.add(`${step}, dynamic`, over("dynamic"), undefined, 2);
    figures.add(`${step}, native`, over("native"), goal ?? undefined, 2);
    const of = (door: Door): readonly number[] => seconds.get(`${step} ${door} ${RESOURCES}`) ?? [];
    const ratio = median(of("native").map((taken, i) => taken / (of("dynamic")[i] ?? Number.NaN)));
    figures.add(`${step}, whole commands, native / dynamic`, ratio, goal === null ? 1.05 : undefined, 2);
  }
  const { readyMs, loadedMs, loadedMb } = await pluginProcess();
  figures.add("plugin process, until it prints its port, ms", readyMs);
  figures.add("until it has answered a first call, ms", loadedMs);
  figures.add("its memory then, MB", loadedMb, 100);
  return figures.all;
}

async function wholeLife(door: Door, resources: number): Promise<[string, number][]> {
  const stack = await Stack.create(SERVICE, 10, undefined, door === "native");
  try {
    const taken: [string, number][] = [];
    for (const [step, command] of STEPS) {
      const program = computes.ours({ resources, changed: step === "change" });
      stack.write(program.replace('require("pulumi-svc")', `require("${DOORS[door]}")`));
      taken.push([step, (await stack.run(command)).seconds]);
    }
    return taken;
  } finally {
    await stack.end();
  }
}

type PluginInfo = (request: Empty, done: (error: Error | null) => void) => void;

async function pluginProcess(): Promise<{ readyMs: number; loadedMs: number; loadedMb: number }> {
  const engine = await fakeEngine((_request, reply) => reply(null));
  const began = performance.now();
  const plugin = spawn(join(ROOT, "plugin", "pulumi-resource-svc"), [engine.address], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [port] = (await once(plugin.stdout, "data")) as [Buffer];
    const readyMs = performance.now() - began;
    const address = `127.0.0.1:${port.toString().trim()}`;
    const client = new ResourceProviderClient(address, grpc.credentials.createInsecure());
    await promisify(client.getPluginInfo.bind(client) as PluginInfo)(new Empty());
    client.close();
    const loadedMs = performance.now() - began;
    return { readyMs, loadedMs, loadedMb: megabytes(plugin.pid ?? Number.NaN) };
  } finally {
    plugin.kill();
    engine.close();
  }
}
