import { setTimeout as pause } from "node:timers/promises";
import { fieldOf, type Fields, isGood, isMissingRoute, type Method, recordsIn } from "../exchanges";
import type { LiveKind } from "../LiveKind";
import type { Made } from "../objects";
import { probe, probeCreation } from "../requests";
import { REFUSABLE, type Run, type Step, step, stepIf } from "../run";
import { COMPUTES, computeStatements, ENDPOINT, OPERATION, OPERATIONS } from "./computeStatements";

const PRIMARY = "primary";

/** The smallest two sizes. */
const SIZE = 0.25;
const NEXT_SIZE = 0.5;

/** Settings that change nothing for anybody who has no session. */
const PG_SETTINGS = { statement_timeout: "600000", idle_in_transaction_session_timeout: "600000" };

const NOWHERE = "ep-pulumi-svc-live-none-00000000";

const idOf = ({ id }: Made): string => id.slice(id.indexOf("/") + 1);
const primaryId = ({ objects }: Run): string => idOf(objects.named(PRIMARY));

const one = (endpointId: string) => ({ params: { endpoint_id: endpointId } });

/** Sends a request for the primary. `as`: a name of its own for the statements, and for what follows. */
const send = (run: Run, method: Method, path: string, body?: object, as = run.exchanges.step) => {
  run.exchanges.step = as;
  return probe(run, method, ENDPOINT + path, { ...one(primaryId(run)), ...(body && { body }) });
};
const patch = (run: Run, endpoint: object, as?: string) => send(run, "PATCH", "", { endpoint }, as);
const act = (run: Run, action: string, as?: string) => send(run, "POST", `/${action}`, undefined, as);

/** Creates a compute by its lifecycle. */
const create = ({ objects, branchId, token }: Run, name: string, type: string, args: object) =>
  objects.create("ComputeEndpoint", name, { branchId, type, name: `${token}-${name}`, ...args });

/**
 * Sends a creation that the service should refuse. If it does not, the compute counts as made, and is removed with the
 * others. A compute that existed before is not created: a service may answer with the one that is in the way, which may
 * be somebody else's.
 */
async function tryToCreate(run: Run, name: string, body: object): Promise<void> {
  const { template } = COMPUTES;
  const before = await probe(run, "GET", template);
  if (!isGood(before.status)) throw new Error("the computes could not be listed, so nothing was sent");
  const { json } = await probeCreation(run, "ComputeEndpoint", () => probe(run, "POST", template, { body }));
  const id = fieldOf(json, "endpoint", "id");
  const existed = recordsIn(before.json, COMPUTES.field).some((each) => each["id"] === id);
  if (typeof id === "string" && !existed) await run.objects.take("ComputeEndpoint", name, `${run.projectId}/${id}`);
}

const smallest = ({ branchId: branch_id, token }: Run, type: string, name: string) => ({
  ...{ branch_id, type, name: `${token}-${name}` },
  ...{ autoscaling_limit_min_cu: SIZE, autoscaling_limit_max_cu: SIZE },
});

/** The primary as its list shows it; undefined if it does not. */
async function shownPrimary(run: Run): Promise<Fields | undefined> {
  const { json } = await probe(run, "GET", COMPUTES.template);
  return recordsIn(json, COMPUTES.field).find(({ id }) => id === primaryId(run));
}

/** Null and absent are the same. */
const isSettled = (shown?: Fields): boolean => (shown?.["pending_state"] ?? undefined) === undefined;

/** Polls until the list shows the primary so, by itself without a change going on. Whoever asks judges what it shows. */
async function settled(run: Run, passes = isSettled): Promise<Fields | undefined> {
  for (const began = performance.now(); ; await pause(run.pollMs)) {
    const shown = await shownPrimary(run);
    if (performance.now() - began > run.patienceMs || passes(shown)) return shown;
  }
}

async function untilActive(run: Run): Promise<void> {
  if ((await settled(run))?.["current_state"] === "active") return;
  await act(run, "start");
  await settled(run);
}

/** An update of the primary by its lifecycle. */
const updating = (options: Parameters<typeof stepIf>[0], name: string, does: string, changes: object): Step =>
  stepIf(options, name, does, ({ objects }) => objects.update(PRIMARY, { ...changes }));

const steps: readonly Step[] = [
  step("compute-create", `create a primary compute of ${SIZE} CU`, (run) =>
    create(run, PRIMARY, "read_write", { size: SIZE }),
  ),
  step("compute-read", "read it, in the list and alone", async (run) => {
    await run.objects.find(PRIMARY);
    await probe(run, "GET", ENDPOINT, one(primaryId(run)));
  }),
  step("second-primary", "ask for a second primary on the branch, which the service should refuse", (run) =>
    tryToCreate(run, "second primary", { endpoint: smallest(run, "read_write", "second") }),
  ),
  step("compute-rename", "rename it", async (run) => {
    const name = `${run.token}-renamed`;
    await run.objects.update(PRIMARY, { name });
    await settled(run, (shown) => shown?.["name"] === name);
  }),
  updating({}, "compute-resize", `resize it to ${NEXT_SIZE} CU, which restarts it`, { size: NEXT_SIZE }),
  updating(REFUSABLE, "compute-settings", "give it two Postgres settings", { settings: { pgSettings: PG_SETTINGS } }),
  stepIf({ needs: ["compute-settings"] }, "settings-replaced", "send one of the two settings alone", async (run) => {
    const { statement_timeout } = PG_SETTINGS;
    await patch(run, { settings: { pg_settings: { statement_timeout } } });
    await settled(run);
  }),
  updating(REFUSABLE, "compute-timeout", "suspend it after 10 minutes", { scaleToZero: { afterSeconds: 600 } }),
  updating(REFUSABLE, "compute-pooler", "switch its pooler on", { poolerEnabled: true }),
  step("compute-limits", "send a name of 64 characters, and one of 65 and a timeout of 59 s", async (run) => {
    await patch(run, { name: run.token.padEnd(64, "n") }, "longest-name");
    await patch(run, { name: run.token.padEnd(65, "n") }, "longer-name");
    await patch(run, { suspend_timeout_seconds: 59 }, "short-timeout");
    await settled(run);
  }),
  step("compute-region", "ask for a read replica in a region that does not exist", (run) => {
    const endpoint = { ...smallest(run, "read_only", "elsewhere"), region_id: "pulumi-svc-live-nowhere" };
    return tryToCreate(run, "replica elsewhere", { endpoint });
  }),
  step("replica-create", `create a read replica of ${SIZE} CU`, (run) =>
    create(run, "replica", "read_only", { size: SIZE }),
  ),
  stepIf(REFUSABLE, "replica-full", "create a second, disabled one with every argument set", async (run) => {
    const { region_id: regionId, provisioner } = (await shownPrimary(run)) ?? {};
    await create(run, "full", "read_only", {
      size: { min: SIZE, max: NEXT_SIZE },
      scaleToZero: { afterSeconds: 600 },
      poolerEnabled: true,
      poolerMode: "transaction",
      passwordlessAccess: true,
      disabled: true,
      settings: { pgSettings: PG_SETTINGS },
      ...(typeof regionId === "string" && { regionId }),
      ...(typeof provisioner === "string" && { provisioner }),
    });
  }),
  step("compute-restart", "restart it", async (run) => {
    await untilActive(run);
    await run.objects.update(PRIMARY, { restartTriggers: ["live"] });
  }),
  stepIf({ needs: ["compute-resize"] }, "operations", "read the list of operations, and one of them", async (run) => {
    const { json } = await probe(run, "GET", OPERATIONS.template);
    const id = recordsIn(json, OPERATIONS.field)[0]?.["id"];
    if (typeof id === "string") await probe(run, "GET", OPERATION, { params: { operation_id: id } });
  }),
  step("compute-suspend", "suspend it; suspend, restart and rename it while it is idle; start it", async (run) => {
    const { status } = await act(run, "suspend");
    if (isMissingRoute(status)) return;
    await settled(run);
    await act(run, "suspend", "idle-suspend");
    await act(run, "restart", "idle-restart");
    await settled(run);
    await patch(run, { name: `${run.token}-idle` });
    await act(run, "start", "compute-start");
    await settled(run);
  }),
  stepIf(REFUSABLE, "compute-disable", "disable it, and enable it again", async (run) => {
    await untilActive(run);
    await run.objects.update(PRIMARY, { disabled: true });
    run.exchanges.step = "compute-enable";
    await run.objects.update(PRIMARY, { disabled: false });
  }),
  stepIf({ option: "moveTo" }, "compute-move", "move it to the branch of --move-to", async (run) => {
    await untilActive(run);
    await run.objects.update(PRIMARY, { branchId: run.moveTo });
  }),
  step("compute-delete", "delete it while it is active; read and delete it once more", async (run) => {
    const made = run.objects.named(PRIMARY);
    await untilActive(run);
    await run.objects.remove(made);
    run.exchanges.step = "compute-gone";
    await probe(run, "GET", ENDPOINT, one(idOf(made)));
    await probe(run, "DELETE", ENDPOINT, one(idOf(made)));
  }),
  stepIf({ needs: [] }, "unknown-compute", "read a compute that does not exist", (run) =>
    probe(run, "GET", ENDPOINT, one(NOWHERE)),
  ),
  stepIf({ needs: [] }, "bad-body", "send a body that the service should refuse", (run) =>
    tryToCreate(run, "compute of an empty body", {}),
  ),
  stepIf({ needs: [] }, "bad-method", "use a method that a route does not have", (run) =>
    probe(run, "GET", `${ENDPOINT}/restart`, one(NOWHERE)),
  ),
];

export const live: LiveKind = {
  byHand: ({ projectId, rest }) => `DELETE /projects/${projectId}/endpoints/${rest}`,
  steps,
  needs: "compute-create",
  lists: [COMPUTES, OPERATIONS],
  statements: computeStatements,
};
