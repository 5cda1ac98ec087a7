import { ENDPOINT, ENDPOINTS, fieldOf, isGood, isMissingRoute, LISTS, recordsIn } from "./exchanges";
import type { Made } from "./objects";
import { computeNow, endpointIdIn, probe, probeCreation, settled, textIn, watching } from "./probe";
import type { Run, Step } from "./run";

const PRIMARY = "primary";
const REPLICA = "replica";
const FULL_REPLICA = "full replica";

/** The smallest two sizes. */
const SIZE = 0.25;
const NEXT_SIZE = 0.5;

/** Settings that change nothing for anybody who has no session. */
const PG_SETTINGS = { statement_timeout: "600000", idle_in_transaction_session_timeout: "600000" };

const idOf = ({ outs }: Made): string => textIn(outs, "endpointId");
const primaryId = ({ objects }: Run): string => idOf(objects.named(PRIMARY));

const one = (endpointId: string) => ({ params: { endpoint_id: endpointId } });

const patch = (run: Run, endpointId: string, endpoint: object, isOnce?: true) =>
  probe(run, "PATCH", ENDPOINT, { ...one(endpointId), body: { endpoint }, ...(isOnce && { isOnce }) });

const act = (run: Run, endpointId: string, action: "restart" | "start" | "suspend", isOnce?: true) =>
  probe(run, "POST", `${ENDPOINT}/${action}`, { ...one(endpointId), ...(isOnce && { isOnce }) });

/** Creates a compute by a request that the service should refuse. If it does not, the compute counts as made. */
const tryToCreate = (run: Run, name: string, endpoint: object): Promise<void> => send(run, name, { endpoint });

/**
 * What is created, although it should not be, is removed with the others. A compute that existed before is not created: a
 * service may answer with the one that is in the way, which may be somebody else's.
 */
async function send(run: Run, name: string, body: object): Promise<void> {
  const before = await probe(run, "GET", ENDPOINTS);
  if (!isGood(before.status)) throw new Error("the computes could not be listed, so nothing was sent");
  const { json } = await probeCreation(run, "ComputeEndpoint", ENDPOINTS, { body });
  const id = endpointIdIn(json);
  const existed = recordsIn(before.json, "endpoints").some((one) => one["id"] === id);
  if (id !== "" && !existed) await run.objects.take("ComputeEndpoint", name, `${run.projectId}/${id}`);
}

async function untilActive(run: Run): Promise<void> {
  const id = primaryId(run);
  const now = await settled(run, id);
  if (now?.["current_state"] === "active") return;
  await act(run, id, "start");
  await settled(run, id);
}

export const computeSteps: readonly Step[] = [
  {
    name: "compute-create",
    part: "compute",
    does: `create a primary compute of ${SIZE} CU`,
    run: (run) =>
      watching(
        run,
        {
          change: ["POST", ENDPOINTS],
          list: ENDPOINTS,
          shows: (list, accepted) => recordsIn(list, "endpoints").some(({ id }) => id === endpointIdIn(accepted)),
        },
        () => {
          const { projectId, branchId, token } = run;
          const args = { projectId, branchId, type: "read_write", name: `${token}-primary`, size: SIZE };
          return run.objects.create("ComputeEndpoint", PRIMARY, args);
        },
      ),
  },
  {
    name: "compute-read",
    part: "compute",
    does: "read it, in the list and alone",
    needs: ["compute-create"],
    run: async (run) => {
      if ((await run.objects.read(run.objects.named(PRIMARY))) === undefined)
        throw new Error("a refresh does not find it");
      await probe(run, "GET", ENDPOINT, one(primaryId(run)));
    },
  },
  {
    name: "second-primary",
    part: "compute",
    does: "ask for a second primary on the branch, which the service should refuse",
    needs: ["compute-create"],
    run: (run) =>
      tryToCreate(run, "second primary", {
        branch_id: run.branchId,
        type: "read_write",
        name: `${run.token}-second`,
        autoscaling_limit_min_cu: SIZE,
        autoscaling_limit_max_cu: SIZE,
      }),
  },
  {
    name: "compute-rename",
    part: "compute",
    does: "rename it",
    needs: ["compute-create"],
    run: (run) => {
      const name = `${run.token}-renamed`;
      const shows = (list: unknown): boolean =>
        recordsIn(list, "endpoints").some((each) => each["id"] === primaryId(run) && each["name"] === name);
      return watching(run, { change: ["PATCH", ENDPOINT], list: ENDPOINTS, shows }, () =>
        run.objects.update(PRIMARY, { name }),
      );
    },
  },
  {
    name: "compute-resize",
    part: "compute",
    does: `resize it to ${NEXT_SIZE} CU, which restarts it`,
    needs: ["compute-create"],
    run: (run) => run.objects.update(PRIMARY, { size: NEXT_SIZE }),
  },
  {
    name: "compute-settings",
    part: "compute",
    does: "give it two Postgres settings",
    needs: ["compute-create"],
    mayBeRefused: true,
    run: (run) => run.objects.update(PRIMARY, { settings: { pgSettings: PG_SETTINGS } }),
  },
  {
    name: "settings-replaced",
    part: "compute",
    does: "send one of the two settings alone",
    needs: ["compute-settings"],
    run: async (run) => {
      const { statement_timeout } = PG_SETTINGS;
      await patch(run, primaryId(run), { settings: { pg_settings: { statement_timeout } } });
      await settled(run, primaryId(run));
    },
  },
  {
    name: "compute-timeout",
    part: "compute",
    does: "change its suspend timeout to 10 minutes",
    needs: ["compute-create"],
    mayBeRefused: true,
    run: (run) => run.objects.update(PRIMARY, { scaleToZero: { afterSeconds: 600 } }),
  },
  {
    name: "compute-pooler",
    part: "compute",
    does: "switch its pooler on",
    needs: ["compute-create"],
    mayBeRefused: true,
    run: (run) => run.objects.update(PRIMARY, { poolerEnabled: true }),
  },
  {
    name: "compute-limits",
    part: "compute",
    does: "send a name of 64 characters, and a name of 65 and a timeout of 59 s, which the service should refuse",
    needs: ["compute-create"],
    run: async (run) => {
      const id = primaryId(run);
      await patch(run, id, { name: run.token.padEnd(64, "n") });
      await patch(run, id, { name: run.token.padEnd(65, "n") });
      await patch(run, id, { suspend_timeout_seconds: 59 });
      await settled(run, id);
    },
  },
  {
    name: "compute-region",
    part: "compute",
    does: "ask for a read replica in a region that does not exist, which the service should refuse",
    needs: ["compute-create"],
    run: (run) =>
      tryToCreate(run, "replica elsewhere", {
        branch_id: run.branchId,
        type: "read_only",
        name: `${run.token}-elsewhere`,
        region_id: "pulumi-svc-verify-nowhere",
        autoscaling_limit_min_cu: SIZE,
        autoscaling_limit_max_cu: SIZE,
      }),
  },
  {
    name: "replica-create",
    part: "compute",
    does: `create a read replica of ${SIZE} CU`,
    needs: ["compute-create"],
    run: ({ objects, projectId, branchId, token }) =>
      objects.create("ComputeEndpoint", REPLICA, {
        projectId,
        branchId,
        type: "read_only",
        name: `${token}-replica`,
        size: SIZE,
      }),
  },
  {
    name: "replica-full",
    part: "compute",
    does: `create a second, disabled read replica of ${SIZE} CU with every argument set`,
    needs: ["compute-create"],
    mayBeRefused: true,
    run: async (run) => {
      const { objects, projectId, branchId, token } = run;
      const shown = await computeNow(run, primaryId(run));
      const [regionId, provisioner] = [shown?.["region_id"], shown?.["provisioner"]];
      await objects.create("ComputeEndpoint", FULL_REPLICA, {
        projectId,
        branchId,
        type: "read_only",
        name: `${token}-full`,
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
    },
  },
  {
    name: "compute-restart",
    part: "compute",
    does: "restart it",
    needs: ["compute-create"],
    run: async (run) => {
      await untilActive(run);
      await run.objects.update(PRIMARY, { restartTriggers: ["verify"] });
    },
  },
  {
    name: "compute-lock",
    part: "compute",
    does: "restart it again, and change its name at the same time",
    needs: ["compute-create"],
    run: async (run) => {
      const id = primaryId(run);
      await untilActive(run);
      await act(run, id, "restart");
      await patch(run, id, { name: `${run.token}-locked` }, true);
      await settled(run, id);
    },
  },
  {
    name: "operations",
    part: "compute",
    does: "read the list of operations in pages, and one of them",
    needs: ["compute-resize"],
    run: async (run) => {
      const [operations] = LISTS.operations;
      const { status, json } = await probe(run, "GET", `${operations}?limit=1`);
      if (!isGood(status)) return;
      const cursor = fieldOf(json, "pagination", "cursor");
      // It is the service's own, and goes back to it.
      const query = typeof cursor === "string" ? `&cursor=${encodeURIComponent(cursor)}` : "";
      if (query !== "") await probe(run, "GET", `${operations}?limit=1${query}`);
      const id = recordsIn(json, "operations")[0]?.["id"];
      if (typeof id === "string")
        await probe(run, "GET", `${operations}/{operation_id}`, { params: { operation_id: id } });
    },
  },
  {
    name: "compute-suspend",
    part: "compute",
    does: "suspend it; suspend, restart and rename it while it is idle; start it",
    needs: ["compute-create"],
    run: async (run) => {
      const id = primaryId(run);
      const { status } = await act(run, id, "suspend");
      if (isMissingRoute(status)) return;
      await settled(run, id);
      await act(run, id, "suspend");
      await act(run, id, "restart");
      await settled(run, id);
      await patch(run, id, { name: `${run.token}-idle` });
      await act(run, id, "start");
      await settled(run, id);
    },
  },
  {
    name: "compute-disable",
    part: "compute",
    does: "disable it, and enable it again",
    needs: ["compute-create"],
    mayBeRefused: true,
    run: async (run) => {
      await untilActive(run);
      await run.objects.update(PRIMARY, { disabled: true });
      run.exchanges.step = "compute-enable";
      await run.objects.update(PRIMARY, { disabled: false });
    },
  },
  {
    name: "compute-move",
    part: "compute",
    does: "move it to the branch of --move-to",
    needs: ["compute-create"],
    leftOut: ({ moveTo }) => (moveTo === undefined ? "no second branch is given (--move-to)" : undefined),
    run: async (run) => {
      await untilActive(run);
      await run.objects.update(PRIMARY, { branchId: run.moveTo });
    },
  },
  {
    name: "compute-delete",
    part: "compute",
    does: "delete it while it is active; read and delete it once more",
    needs: ["compute-create"],
    run: async (run) => {
      const made = run.objects.named(PRIMARY);
      const id = idOf(made);
      await untilActive(run);
      await run.objects.remove(made);
      run.exchanges.step = "compute-gone";
      await probe(run, "GET", ENDPOINT, one(id));
      await probe(run, "DELETE", ENDPOINT, one(id));
    },
  },
  {
    name: "unknown-compute",
    part: "compute",
    does: "read a compute that does not exist",
    run: (run) => probe(run, "GET", ENDPOINT, one("ep-pulumi-svc-verify-none-00000000")),
  },
  {
    name: "bad-body",
    part: "compute",
    does: "send a body that the service should refuse",
    run: (run) => send(run, "compute of an empty body", {}),
  },
  {
    name: "bad-method",
    part: "compute",
    does: "use a method that a route does not have",
    run: (run) => probe(run, "GET", `${ENDPOINT}/restart`, one("ep-pulumi-svc-verify-none-00000000")),
  },
];
