import fc from "fast-check";
import { declaration, type ComputeEndpointShape } from "../../src/resources/computeEndpoint/computeEndpointDeclaration";
import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { EVERY } from "../support/computeCases";
import { PROJECT, UNKNOWN, type Harness, type Json, type State } from "../support/harness";
import {
  BRANCHES,
  computesOf,
  ENDPOINT,
  ENDPOINTS,
  inProject,
  listedById,
  recordsOf,
  removedById,
  RESTART,
  START,
} from "../support/rules/routes";
import { outcomeOf } from "../support/rules/steps";
import { anyLifecycle, PATIENCE, type Creation, type KindCase, type Place } from "./KindCase";
import {
  branch,
  canary,
  counted,
  flag,
  free,
  letters,
  limits,
  lists,
  notFlag,
  notList,
  notText,
  numbers,
  objects,
  oneOf,
  PATHS,
  segment,
  SIZES,
  sizes,
  text,
} from "./rules";

export const COMPUTE = { projectId: PROJECT, branchId: "br-dev", size: 2, ...PATIENCE };
export const REPLICA = { ...COMPUTE, branchId: "br-main", type: "read_only" };

const sized = (cu: number): Json => ({ autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu });
const byColleague = (endpoint: Json) => (given: Harness) => given.post(inProject(ENDPOINTS, PROJECT), { endpoint });

/** A compute that was never started (state `init`). */
async function unstarted(given: Harness): Promise<State> {
  await given.fault({ operation: { action: "start_compute", status: "failed" } });
  const outcome = await outcomeOf(() => given.create(COMPUTE));
  if (outcome.ended === "well" || outcome.kept === undefined) throw new Error("the failed start was not kept");
  return outcome.kept;
}

const primary = ({ projectId, free: branchId }: Place) => ({ projectId, branchId });
const creation: Pick<Creation, "path" | "list" | "nameOf" | "isFound"> = {
  path: ENDPOINTS,
  list: computesOf,
  nameOf: ({ id }) => String(id),
  isFound: true,
};

export const kindCase: KindCase<ComputeEndpointShape> = {
  kind: "ComputeEndpoint",
  declaration,
  lifecycle: anyLifecycle(computeEndpoint),
  inIntegration: false,

  arguments: {
    projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
    branchId: { value: (place) => place.free, other: ({ other }) => other, change: "updates", rule: branch },
    type: { value: "read_write", other: "read_only", change: "replaces", rule: oneOf("read_write", "read_only") },
    name: { value: EVERY.name, other: "other", change: "updates", rule: counted(64) },
    size: {
      value: EVERY.size,
      other: 8,
      change: "restarts",
      rule: {
        good: fc.oneof(
          sizes,
          fc.tuple(limits, limits).map((two) => ({ min: Math.min(...two), max: Math.max(...two) })),
        ),
        bad: fc.oneof(
          fc.boolean(),
          canary,
          lists,
          objects,
          numbers.filter((size) => !SIZES.includes(size)),
          fc.constantFrom({ min: 4, max: 2 }, { min: 1, max: 18 }, { min: 1 }, { max: 1 }, { min: Number.NaN, max: 1 }),
          fc.record({ min: limits, max: limits, more: canary }),
        ),
      },
    },
    scaleToZero: {
      value: EVERY.scaleToZero,
      other: false,
      change: "updates",
      rule: {
        good: fc.oneof(
          fc.boolean(),
          fc.integer({ min: 60, max: 604_800 }).map((afterSeconds) => ({ afterSeconds })),
        ),
        bad: fc.oneof(
          canary,
          lists,
          numbers,
          objects,
          fc
            .constantFrom(59, 604_801, 60.5, Number.NaN, Number.POSITIVE_INFINITY, "60", null)
            .map((afterSeconds) => ({ afterSeconds })),
        ),
      },
    },
    poolerEnabled: { value: EVERY.poolerEnabled, other: false, change: "updates", rule: flag },
    // The only mode that can be declared.
    poolerMode: { value: "transaction", other: undefined, change: "updates", rule: oneOf("transaction") },
    disabled: { value: EVERY.disabled, other: true, change: "updates", rule: flag },
    passwordlessAccess: { value: EVERY.passwordlessAccess, other: true, change: "updates", rule: flag },
    regionId: { value: EVERY.regionId, other: "aws-eu-west-1", change: "excludes", rule: text(letters(30)) },
    provisioner: { value: EVERY.provisioner, other: "k8s-pod", change: "updates", rule: text(letters(30)) },
    settings: {
      value: EVERY.settings,
      other: { pgSettings: { max_parallel_workers: "8" } },
      change: "updates",
      rule: {
        good: fc.record(
          {
            pgSettings: fc.dictionary(letters(10), fc.string(), { noNullPrototype: true }),
            preloadLibraries: fc.record(
              { useDefaults: fc.boolean(), enabledLibraries: fc.array(letters(10)) },
              { requiredKeys: [] },
            ),
          },
          { requiredKeys: [] },
        ),
        bad: fc
          .oneof(
            notText,
            canary,
            notText.map((value) => ({ pgSettings: { work_mem: value } })),
            fc.oneof(canary, numbers, lists).map((pgSettings) => ({ pgSettings })),
            fc.oneof(canary, numbers, lists).map((preloadLibraries) => ({ preloadLibraries })),
            notList.map((enabledLibraries) => ({ preloadLibraries: { enabledLibraries } })),
            notFlag.map((useDefaults) => ({ preloadLibraries: { useDefaults } })),
          )
          .filter((value) => typeof value !== "object" || Array.isArray(value) || Object.keys(value).length > 0),
      },
    },
    restartTriggers: { value: ["first"], other: ["second"], change: "restarts", rule: free },
    deletionProtection: { value: undefined, other: true, change: "stored", rule: flag },
    adopt: {
      value: undefined,
      other: true,
      change: "nothing",
      rule: {
        good: fc.oneof(
          fc.boolean(),
          letters(30).map((id) => `ep-${id}`),
        ),
        bad: fc.oneof(numbers, canary, lists, objects, fc.constantFrom("ep-", ...PATHS)),
      },
    },
  },
  least: primary,
  unknowns: {
    branchId: UNKNOWN,
    size: { min: 1, max: UNKNOWN },
    settings: { pgSettings: UNKNOWN },
    name: UNKNOWN,
  },
  adopts: { adopt: true },
  coexists: false,

  secretArguments: { settings: (secret) => ({ pgSettings: { "app.token": secret } }) },
  byReference: ["settings"],
  secretOutputs: [],
  idIn: (projectId) => `${projectId}/ep-thing-1`,
  sendsNothing: [],

  list: ENDPOINTS,
  planLists: [ENDPOINTS, BRANCHES],
  deletion: { method: "DELETE", path: ENDPOINT, readsFirst: false },
  standing: listedById("endpoints"),
  vanish: removedById("endpoint"),
  plant: (call, place) =>
    call("POST", inProject(ENDPOINTS, place.projectId), { endpoint: { branch_id: place.free, type: "read_write" } }),
  // The emulator's state has this list.
  look: ({ endpoints }) => (endpoints as Json[]).map(({ id, branch_id }) => [id, branch_id]),

  mutations: [
    {
      title: "creating a compute",
      method: "POST",
      path: ENDPOINTS,
      to: COMPUTE,
      happened: async (given) => (await computesOf(given)).some((found) => found["autoscaling_limit_max_cu"] === 2),
    },
    {
      title: "changing a compute",
      method: "PATCH",
      path: ENDPOINT,
      from: COMPUTE,
      to: { ...COMPUTE, size: 4 },
      happened: async (given) => (await computesOf(given)).some((found) => found["autoscaling_limit_max_cu"] === 4),
      argument: /size/,
    },
    {
      title: "restarting a compute",
      method: "POST",
      path: RESTART,
      from: { ...COMPUTE, restartTriggers: [1] },
      to: { ...COMPUTE, restartTriggers: [2] },
      happened: async (given) =>
        (await recordsOf(given, "operations")).some(
          ({ action, status }) => action === "suspend_compute" && status === "finished",
        ),
    },
    {
      title: "starting a compute",
      method: "POST",
      path: START,
      prepare: unstarted,
      to: COMPUTE,
      happened: async (given) => (await computesOf(given)).some((found) => found["current_state"] === "active"),
    },
    {
      title: "deleting a compute",
      method: "DELETE",
      path: ENDPOINT,
      from: COMPUTE,
      to: undefined,
      happened: async (given) => (await computesOf(given)).length === 0,
    },
  ],
  updates: [{ title: "a compute", args: { ...COMPUTE, size: 4 }, method: "PATCH", path: ENDPOINT }],
  lost: /another (id|host)/,
  takeovers: [
    {
      title: "a primary in another project",
      from: (place) => ({ ...primary(place), adopt: true }),
      to: (_place, { projectId, main }) => ({ projectId, branchId: main, adopt: true }),
    },
    {
      title: "a primary in place of a replica",
      from: (place) => ({ ...primary(place), type: "read_only" }),
      to: (place) => ({ ...primary(place), type: "read_write", adopt: true }),
    },
  ],
  creations: [
    {
      ...creation,
      title: "a primary",
      args: { ...COMPUTE, name: "reports" },
      lookalikes: [
        {
          title: "a replica beside our primary",
          make: byColleague({ branch_id: "br-dev", type: "read_only" }),
          isNamed: false,
        },
        {
          title: "a primary of our name and another size",
          make: byColleague({ branch_id: "br-dev", type: "read_write", name: "reports", ...sized(8) }),
          isNamed: true,
        },
        {
          title: "a primary of our size and another name",
          make: byColleague({ branch_id: "br-dev", type: "read_write", name: "theirs", ...sized(2) }),
          isNamed: true,
        },
        {
          title: "a primary of our size and no name",
          make: byColleague({ branch_id: "br-dev", type: "read_write", ...sized(2) }),
          isNamed: true,
        },
      ],
      conflicts: [
        {
          title: "primary",
          make: byColleague({ branch_id: "br-dev", type: "read_write", name: "theirs", ...sized(8) }),
          isNamed: true,
        },
        {
          title: "primary that looks like ours",
          make: byColleague({ branch_id: "br-dev", type: "read_write", name: "reports", ...sized(2) }),
          isNamed: true,
        },
      ],
    },
    {
      ...creation,
      title: "a replica",
      args: REPLICA,
      lookalikes: [
        {
          title: "a replica of another branch",
          make: byColleague({ branch_id: "br-dev", type: "read_only", ...sized(2) }),
          isNamed: false,
        },
        {
          title: "a replica of another size",
          make: byColleague({ branch_id: "br-main", type: "read_only", ...sized(8) }),
          isNamed: true,
        },
      ],
      // A branch may have several replicas.
      conflicts: [],
    },
  ],
  twins: [
    { title: "the primary of a branch", one: primary, two: (place) => ({ ...primary(place), size: 2 }) },
    {
      title: "the primary of a branch, whose type one of them spells out",
      one: (place) => ({ ...primary(place), type: "read_write" }),
      two: (place) => ({ ...primary(place), adopt: true }),
    },
    {
      title: "a compute that both take over",
      one: (place) => ({ ...primary(place), type: "read_only", adopt: "ep-same-1" }),
      two: ({ projectId, other }) => ({ projectId, branchId: other, type: "read_only", adopt: "ep-same-1" }),
    },
  ],
  distinct: ({ projectId, main, free: branchId }, elsewhere) => [
    { projectId, branchId: main },
    { projectId, branchId },
    { projectId, branchId: main, type: "read_only" },
    { projectId, branchId: main, type: "read_only" },
    { projectId: elsewhere.projectId, branchId: elsewhere.main },
  ],
  heldTwice: [
    { title: "a primary", inputs: primary },
    { title: "a replica", inputs: (place) => ({ ...primary(place), type: "read_only" }) },
  ],
  several: undefined,

  campaign: {
    lists: ["endpoints"],
    program: ({ round, adopted }) => `
const compute = (name, args) => new svc.ComputeEndpoint(name, { projectId: "prj-demo", size: 1, ...args });
compute("api", { branchId: "br-dev", size: ${round}, adopt: adopt.api });
compute("worker", { branchId: "br-test", restartTriggers: [${round}], adopt: adopt.worker });
compute("replica", { branchId: "br-main", type: "read_only", adopt: adopt.replica });
compute("adopted", { branchId: "${round === 1 ? "br-main" : "br-dev"}", type: "read_only", adopt: "${adopted}" });`,
    // A compute that the colleague deleted is created again, and not restarted.
    declared: ({ round, besideColleague }) => [
      `read_write on br-dev, ${round} CU`,
      "read_write on br-test, 1 CU",
      ...(round === 2 && !besideColleague ? ["restarted"] : []),
      "read_only on br-main, 1 CU",
      `read_only on ${round === 1 ? "br-main" : "br-dev"}, 1 CU`,
    ],
    shown: ({ own, project }) => {
      // The emulator's state has this list.
      const operations = project["operations"] as Json[];
      return own("endpoints").flatMap(({ id, branch_id, type, autoscaling_limit_max_cu: max }) => {
        const isRestart = ({ endpoint_id, action, status }: Json): boolean =>
          endpoint_id === id && action === "suspend_compute" && status === "finished";
        const wasRestarted = branch_id === "br-test" && operations.some(isRestart);
        return [{ text: `${type} on ${branch_id}, ${max} CU`, id }, ...(wasRestarted ? [{ text: "restarted" }] : [])];
      });
    },
  },
};
