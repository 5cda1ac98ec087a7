import type { EmulatorOptions } from "../src/emulator";
import { authStack, computes, domains, tenProjects, type Contender, type Program } from "./programs";
import { createIntegration, createTenProjects, type Prepare } from "./stack";

export const STEPS = ["create", "plan", "refresh plan", "no-op up", "change", "destroy"] as const;
export type Step = (typeof STEPS)[number];

/** One step of our program. Seconds exclude the floor: the same command with nothing declared. */
export interface Goal {
  readonly seconds?: number;
  readonly requests?: (seconds: number) => number;
  /** Over the hand-written program's. */
  readonly ratio?: number;
  readonly locked?: number;
}

export interface Case {
  readonly name: string;
  readonly title: string;
  readonly resources: readonly number[];
  readonly emulator: EmulatorOptions;
  readonly parallel: number;
  readonly prepare?: Prepare;
  readonly steps: readonly Step[];
  readonly programs: Readonly<Record<Contender, Program>>;
  /** The least that the service takes for a step, by the emulator's own timings, in seconds. */
  readonly limit: (step: Step, resources: number) => number;
  readonly goals: (step: Step, resources: number) => Goal;
}

const LATENCY_MS = 50;
const ACTIVATION_MS = 1_000;
const SERVICE = { latencyMs: LATENCY_MS, activationMs: ACTIVATION_MS, variants: { startReplicas: true } };
const PARALLEL = 10;

/** A change of a compute takes a request and an activation; a deletion a request and the third of an activation. */
const limitOfComputes =
  (atOnce: number, { latencyMs = 0, activationMs = 0 }: EmulatorOptions = SERVICE) =>
  (step: Step, resources: number): number => {
    const rounds = Math.ceil(resources / atOnce);
    if (step === "create" || step === "change") return (rounds * (latencyMs + activationMs)) / 1_000;
    if (step === "destroy") return (rounds * (latencyMs + activationMs / 3)) / 1_000;
    return step === "refresh plan" ? latencyMs / 1_000 : 0;
  };

const limitOfRequests =
  (changing: number) =>
  (step: Step, resources: number): number => {
    const requests = { create: resources, destroy: resources, change: changing * resources, "refresh plan": 1 };
    return (Math.ceil((requests[step as keyof typeof requests] ?? 0) / PARALLEL) * LATENCY_MS) / 1_000;
  };

/** For 50 read replicas. The best Terraform provider takes 6.3, 6.4, 0.45, 0.1 and 2.6 s on the same work. */
const OF_FIFTY: Partial<Record<Step, Goal>> = {
  create: { seconds: 6.6, requests: (seconds) => 50 + 1 + 5 * seconds },
  change: { seconds: 6.7, requests: (seconds) => 50 + 1 + 5 * seconds },
  "refresh plan": { seconds: 1.3, requests: () => 1 },
  plan: { seconds: 1.0, requests: () => 0 },
  destroy: { seconds: 2.6, requests: (seconds) => 50 + 5 * seconds },
};
const OF_TWO_HUNDRED: Partial<Record<Step, Goal>> = {
  plan: { ratio: 1.15, requests: () => 0 },
  create: { ratio: 1 },
  "refresh plan": { requests: () => 3 },
};

export const cases: readonly Case[] = [
  {
    name: "computes",
    title: "read replicas of one project",
    resources: [1, 50, 200],
    emulator: SERVICE,
    parallel: PARALLEL,
    steps: STEPS,
    programs: computes,
    limit: limitOfComputes(PARALLEL),
    goals: (step, resources) =>
      (resources === 50 ? OF_FIFTY[step] : resources === 200 ? OF_TWO_HUNDRED[step] : undefined) ?? {},
  },
  {
    name: "locked",
    title: "read replicas of a project that locks",
    resources: [10],
    emulator: { ...SERVICE, lockProjects: true },
    parallel: PARALLEL,
    // A hand-written program without retries ends with the first 423.
    steps: ["create", "change", "destroy"],
    programs: computes,
    limit: limitOfComputes(1),
    goals: (step) => (step === "destroy" ? {} : { seconds: 1.1 * limitOfComputes(1)("create", 10), locked: PARALLEL }),
  },
  {
    name: "auth",
    title: "an auth integration with what belongs to it",
    resources: [50],
    emulator: SERVICE,
    parallel: PARALLEL,
    steps: STEPS,
    programs: authStack,
    limit: limitOfRequests(2),
    goals: () => ({}),
  },
  {
    name: "projects",
    title: "read replicas in ten projects",
    resources: [50],
    emulator: SERVICE,
    parallel: PARALLEL,
    prepare: createTenProjects,
    steps: STEPS,
    programs: tenProjects,
    limit: limitOfComputes(PARALLEL),
    goals: (step) => (step === "refresh plan" ? { requests: () => 30 } : {}),
  },
  {
    name: "domains",
    title: "redirect domains of one project, without latency",
    resources: [50],
    emulator: {},
    parallel: 32,
    prepare: createIntegration,
    steps: ["create", "no-op up", "refresh plan", "destroy"],
    programs: domains,
    limit: () => 0,
    goals: (step) => (step === "destroy" ? { ratio: 1.1 } : {}),
  },
  {
    name: "large",
    title: "read replicas of one project, a fast service",
    resources: [200, 1000],
    emulator: { latencyMs: 5, activationMs: 50, variants: { startReplicas: true } },
    parallel: PARALLEL,
    steps: STEPS,
    programs: computes,
    limit: limitOfComputes(PARALLEL, { latencyMs: 5, activationMs: 50 }),
    goals: (step, resources) => (resources === 1000 && step === "refresh plan" ? { requests: () => 3 } : {}),
  },
];
