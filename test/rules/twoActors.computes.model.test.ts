/**
 * One compute of ours and a colleague who resizes, moves, renames or configures it right before any request of ours,
 * also between two attempts of a request: what a step does not change stays as he left it.
 *
 * SVC_MODEL_RUNS, SVC_MODEL_SEED and SVC_MODEL_PATH as in twoActors.model.test.ts.
 */
import fc from "fast-check";
import { ENDPOINTS, endpointId } from "../support/computeCases";
import type { Harness, Json } from "../support/harness";
import { cut, json } from "../support/rules/hostile";
import { COMPUTE } from "../kinds/ComputeEndpoint";
import { ENDPOINT, recordsOf } from "../support/rules/routes";
import { computeScene } from "../support/rules/scenes";
import { up, wordsOf } from "../support/rules/steps";

const RUNS = Number(process.env["SVC_MODEL_RUNS"] ?? 60);
const SEED = Number(process.env["SVC_MODEL_SEED"] ?? 20_240_801);
const PATH = process.env["SVC_MODEL_PATH"];
const LANES = 6;

const DEEDS = ["resize", "move", "rename", "libraries"] as const;
type Deed = (typeof DEEDS)[number];
interface Step {
  readonly change: "size" | "memory" | "nothing";
  readonly fault: "none" | "locked" | "failed" | "cut";
  readonly deed: Deed;
  /** Before which request of ours; null: not at all. */
  readonly at: number | null;
}

/** What the service shows, in this test's own terms. */
interface Shown {
  readonly resize: unknown;
  readonly move: unknown;
  readonly rename: unknown;
  readonly libraries: unknown;
  readonly memory: unknown;
}

async function recordOf(given: Harness, id: string): Promise<Json> {
  // The route answers one record under this key.
  return (await given.get(`${ENDPOINTS}/${id}`))["endpoint"] as Json;
}

function shownBy(record: Json): Shown {
  // Both parts are objects at the emulator, or left out.
  const { pg_settings = {}, preload_libraries = {} } = (record["settings"] ?? {}) as Record<string, Json>;
  return {
    resize: record["autoscaling_limit_max_cu"],
    move: record["branch_id"],
    rename: record["name"],
    libraries: preload_libraries["enabled_libraries"],
    memory: pg_settings["work_mem"],
  };
}

async function play(ignoresSize: boolean, steps: readonly Step[]): Promise<void> {
  const { given, network } = await computeScene({ variants: { restartToApply: true } });
  let size = 2;
  let memory = 4;
  const program = () => ({ ...COMPUTE, size, name: "ours", settings: { pgSettings: { work_mem: `${memory}MB` } } });
  let state = await given.create(program());
  const id = endpointId(state);
  let count = 0;
  const act = async (deed: Deed): Promise<void> => {
    count += 1;
    const record = await recordOf(given, id);
    const cu = 8 + (count % 3);
    const set = {
      resize: { autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu },
      move: { branch_id: record["branch_id"] === "br-test" ? "br-dev" : "br-test" },
      rename: { name: `theirs ${count}` },
      libraries: {
        settings: { ...(record["settings"] as Json), preload_libraries: { enabled_libraries: [`theirs_${count}`] } },
      },
    }[deed];
    await given.edit({ kind: "endpoint", id, set });
  };
  // Settings of theirs from the beginning: a half that the service does not show is not sent along.
  await act("libraries");
  /** What failed steps have sent, and may send again. */
  const open = new Set<string>();
  for (const [i, { change, fault, deed, at }] of steps.entries()) {
    if (change === "size" && !ignoresSize) size = size === 2 ? 4 : 2;
    else if (change !== "nothing") memory += 4;
    const before = shownBy(await recordOf(given, id));
    const ours = new Set([...open, ...(change === "size" && !ignoresSize ? ["size"] : [])]);
    let seen = 0;
    let theirs: Partial<Shown> = {};
    let isDue = at !== null;
    const fire = async () => {
      if (!isDue) return;
      isDue = false;
      await act(deed);
      theirs = { [deed]: shownBy(await recordOf(given, id))[deed] };
    };
    const locked = json({ code: "LOCKED", message: "another operation is running" }, 423);
    const patch = { method: "PATCH", path: ENDPOINT, nth: 1 };
    // An attempt that is not carried out: he comes between it and the next one.
    if (fault === "locked") network.on({ ...patch, executed: false, answer: locked, before: fire });
    network.on({
      when: ({ method }) => {
        seen += 1;
        // Nothing can be done about settings that change between the last list and the change that sends them along.
        return isDue && at !== null && seen > at && !(method === "PATCH" && deed === "libraries");
      },
      before: fire,
    });
    if (fault === "cut") network.on({ ...patch, answer: cut });
    if (fault === "failed")
      await given.fault({ operation: { action: "apply_config", status: "failed", error: "later" } });
    const end = await up(given, state, program());
    network.calm();
    await given.clearFaults();
    if (end.state === undefined) throw new Error("the state is lost");
    state = end.state;
    const record = await recordOf(given, id);
    const after = shownBy(record);
    const wasOurs = { resize: ours.has("size") && !ignoresSize, move: false, rename: false, libraries: false };
    for (const field of DEEDS) {
      if (wasOurs[field]) continue;
      const kept = { ...before, ...theirs }[field];
      if (JSON.stringify(after[field]) !== JSON.stringify(kept))
        throw new Error(
          `step ${i}: "${field}" is ${JSON.stringify(after[field])}, and was ${JSON.stringify(kept)}, which no step of ours changed`,
        );
    }
    const all = await recordsOf(given, "endpoints");
    if (all.length !== 2) throw new Error(`step ${i}: ${all.length} computes`);
    if (end.outcome.ended === "badly") {
      if (wordsOf(end.outcome) === "") throw new Error(`step ${i}: a failure without words`);
      for (const name of ours) open.add(name);
      continue;
    }
    open.clear();
    if (after.memory !== `${memory}MB`) throw new Error(`step ${i}: green, and work_mem is ${String(after.memory)}`);
    if (wasOurs.resize && theirs.resize === undefined && after.resize !== size)
      throw new Error(`step ${i}: green, and the size is ${String(after.resize)}`);
    const own = (await recordsOf(given, "operations")).filter(({ endpoint_id }) => endpoint_id === id);
    const failed = own.findLastIndex(({ status }) => status === "failed");
    const mended = own.findLastIndex(
      ({ action, status }) => status === "finished" && ["apply_config", "suspend_compute"].includes(String(action)),
    );
    if (failed > mended) throw new Error(`step ${i}: green, and nothing has mended ${JSON.stringify(own[failed])}`);
  }
}

const step: fc.Arbitrary<Step> = fc.record({
  change: fc.constantFrom("size" as const, "memory" as const, "memory" as const, "nothing" as const),
  fault: fc.constantFrom("none" as const, "locked" as const, "failed" as const, "failed" as const, "cut" as const),
  deed: fc.constantFrom(...DEEDS),
  at: fc.option(fc.nat({ max: 5 }), { freq: 4 }),
});

test("what a colleague changes of our compute between any two of our requests stays, unless this step changes it", async () => {
  const lanes = PATH === undefined ? LANES : 1;
  const settings = PATH === undefined ? { numRuns: Math.ceil(RUNS / lanes) } : { numRuns: 1, path: PATH };
  const ends = await Promise.allSettled(
    Array.from({ length: lanes }, (_, lane) =>
      fc.assert(fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 2, maxLength: 4 }), play), {
        ...settings,
        seed: SEED + lane,
        endOnFailure: true,
      }),
    ),
  );
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}, 600_000);
