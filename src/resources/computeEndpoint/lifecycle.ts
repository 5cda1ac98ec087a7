import {
  BadRequestError,
  ConflictError,
  hasFailed,
  NotStartingError,
  OperationFailedError,
  type ChangeOptions,
  type CreationRecovery,
  type EndpointRecord,
} from "../../client";
import type { Call, Lifecycle } from "../../host/lifecycle";
import type { Properties } from "../../contract/hiddenKeys";
import { notShown, requireShown } from "../../host/shown";
import { declaration, type ComputeEndpointOutputs, type ComputeEndpointShape } from "./declaration";
import { omitUndefined } from "../shared/omitUndefined";
import { computeArguments, computeRules } from "./arguments";
import { toArguments, toAttributes, toOutputs } from "./mapping";
import {
  adoptedObject,
  computeObject,
  inTheWay,
  named,
  occupantOf,
  primaryObject,
  refuseOccupiedBranch,
} from "./place";
import { computeRemarks, computeReplacement, computeWarnings } from "./warnings";
import { claim, splitId } from "../shared/identifiers";
import { createOrStanding, gone, madeAgo, unseen } from "../shared/standing";

type Shape = ComputeEndpointShape;
type Outputs = ComputeEndpointOutputs & Partial<Shape>;

const PRIMARY = "read_write";
/** Where it goes, what only this provider knows, and what a PATCH does not take (docs/design/api.md). */
const NOT_UPDATABLE: ReadonlySet<string> = new Set<keyof Shape>([
  "projectId",
  "restartTriggers",
  "adopt",
  "type",
  "regionId",
]);

/** A compute (docs/design/api.md). */
export const computeEndpoint: Lifecycle<Shape, Outputs> = {
  kind: declaration.kind,
  args: computeArguments,
  deleteBeforeReplace: declaration.deleteBeforeReplace,
  rules: computeRules,
  replacement: computeReplacement,
  warnings: computeWarnings,
  remarks: computeRemarks,

  declares({ projectId, branchId, type, adopt }, _authProvider, given) {
    const primaryOf = type === PRIMARY || !given.has("type") ? projectId : undefined;
    return [
      ...claim('a primary compute with the same "projectId" and "branchId"', primaryObject, primaryOf, branchId),
      ...claim('the compute that "adopt" names', adoptedObject, typeof adopt === "string" ? adopt : undefined),
    ];
  },
  objects: (id) => [computeObject(splitId(id).rest)],

  async create(call, args) {
    const endpoint = await createOrAdopt(call, args);
    return { id: pulumiId(args.projectId, endpoint), outputs: toOutputs(args.projectId, endpoint) };
  },

  async read(call, { id, outs, unfinished }) {
    const { projectId, rest } = splitId(id);
    const endpoint = await call.client.computes.find(projectId, rest, call);
    if (endpoint === undefined) return undefined;
    const failed = unfinished && (await newestFailed(call, projectId, endpoint));
    return {
      // What the record lacks, the service may just not show: it keeps what is stored, and is no drift.
      args: omitUndefined(toArguments(projectId, endpoint, outs.settings)),
      outputs: toOutputs(projectId, endpoint),
      ready: isSettled(endpoint) && !failed && !suspensionFailed(outs, endpoint),
    };
  },

  async update(call, { id, outs, unfinished }, args, { changed, added }) {
    const { projectId, rest } = splitId(id);
    call.run.checkOwn(computeObject(rest));
    let endpoint = await call.client.computes.find(projectId, rest, { ...call, since: performance.now() });
    if (endpoint === undefined) throw gone();
    const differ = differing(args, endpoint);
    // What an unfinished change has sent may not have been applied, and what was not managed may have changed since it was
    // stored: there the service is asked, not the state. Of settings, a part that is no longer given is none of ours.
    const sent = [...changed].filter((name) => name !== "settings" || differ.includes(name));
    const asked = unfinished ? differ : [...added].filter((name) => differ.includes(name));
    const names = new Set<string>([...sent, ...asked].filter(isUpdatable));
    if (unfinished && !isSettled(endpoint)) endpoint = await getReady(call, args, endpoint, names.size > 0);
    // Nothing but an operation that ends well mends one that failed: all that is managed is sent again.
    const failed = unfinished && (await newestFailed(call, projectId, endpoint));
    if (failed || (unfinished && suspensionFailed(args, endpoint)))
      for (const name of Object.keys(args)) if (isUpdatable(name) && name !== "branchId") names.add(name);
    // A resize restarts an active compute by itself.
    const resizes = names.has("size") && differ.includes("size") && endpoint.current_state === "active";
    const restart = changed.has("restartTriggers") && args.restartTriggers !== undefined && !resizes;
    const beforeRestart: typeof call = {
      ...call,
      checkpoint: (id, outputs, shown) =>
        call.checkpoint(id, outputs, { restartTriggers: outs.restartTriggers, ...shown }),
    };
    if (names.size > 0) endpoint = await change(restart ? beforeRestart : call, args, endpoint, names);
    if (restart) endpoint = await restartActive(call, args, endpoint);
    if (failed && (await newestFailed(call, projectId, endpoint))) {
      // The service began nothing for what it stores already: a restart applies it.
      endpoint = await restartActive(call, args, endpoint);
      if (endpoint.current_state === "active" && (await newestFailed(call, projectId, endpoint)))
        throw new Error("its last operation failed, and a restart has not mended that. Look into it at the service");
    }
    return toOutputs(projectId, endpoint);
  },

  async delete(call, { id }) {
    const { projectId, rest } = splitId(id);
    await call.client.computes.delete(projectId, rest, call.beforeDelete, call);
  },
};

const pulumiId = (projectId: string, endpoint: EndpointRecord): string => `${projectId}/${endpoint.id}`;

const keep = (call: Call<Outputs>, projectId: string, endpoint: EndpointRecord, shown?: Properties): void =>
  call.checkpoint(pulumiId(projectId, endpoint), toOutputs(projectId, endpoint), shown);

const isUpdatable = (name: string): boolean => !NOT_UPDATABLE.has(name);

/** The arguments that the service does not show as the program gives them, whatever the state says. */
function differing(args: Shape, endpoint: EndpointRecord): string[] {
  return notShown(computeArguments, args, toArguments(args.projectId, endpoint, args.settings), { proof: true });
}

/** Whether nothing is under way any more, as far as the record tells. */
const isSettled = ({ current_state, pending_state }: EndpointRecord): boolean =>
  pending_state === undefined && ["active", "idle"].includes(current_state);

/** A suspension that has failed leaves a disabled compute running. */
const suspensionFailed = (args: Partial<Shape>, { disabled, current_state, pending_state }: EndpointRecord): boolean =>
  args.disabled === true && disabled === true && current_state === "active" && pending_state === undefined;

/** Whether the last operation of a compute ended badly, and the compute does not show what it was to lead to all the same. */
async function newestFailed(call: Call<Outputs>, projectId: string, endpoint: EndpointRecord): Promise<boolean> {
  const since = performance.now();
  const newest = await call.client.projects.newestOperation(projectId, endpoint.id, { ...call, since });
  if (newest === undefined || !hasFailed(newest)) return false;
  const led = newest.action === "suspend_compute" ? "idle" : newest.action === "start_compute" ? "active" : undefined;
  return led === undefined || endpoint.current_state !== led;
}

function changeOptions(call: Call<Outputs>, { projectId, type, disabled }: Shape): ChangeOptions {
  return {
    deadline: call.deadline,
    onProgress: call.onProgress,
    onAccepted: (endpoint) => keep(call, projectId, endpoint),
    idleIsReady: type === "read_only" || disabled === true,
  };
}

/** A primary stands on the branch where one is to be created. */
class OccupiedError extends Error {}

async function createOrAdopt(call: Call<Outputs>, args: Shape): Promise<EndpointRecord> {
  const { projectId, branchId, adopt } = args;
  const adopted = typeof adopt === "string" ? await named(call, adopt, args) : undefined;
  if (adopted !== undefined) return adoptCompute(call, args, adopted);
  for (;;) {
    try {
      return await createNew(call, args);
    } catch (error) {
      if (!(error instanceof OccupiedError)) throw error;
      const occupant = await occupantOf(call, projectId, branchId);
      if (occupant === undefined) continue;
      if (adopt !== true) throw inTheWay(occupant);
      return adoptCompute(call, args, occupant);
    }
  }
}

async function createNew(call: Call<Outputs>, args: Shape): Promise<EndpointRecord> {
  const { projectId, branchId, type = PRIMARY, name } = args;
  const { computes } = call.client;
  const isCandidate = (endpoint: EndpointRecord): boolean => endpoint.branch_id === branchId && endpoint.type === type;
  const isTwin = (endpoint: EndpointRecord): boolean =>
    isCandidate(endpoint) &&
    (type === PRIMARY || (name !== undefined && endpoint.name === name)) &&
    !call.run.wasDeleted(computeObject(endpoint.id));
  const refuse = (twin: EndpointRecord): never => {
    throw type === PRIMARY ? new OccupiedError() : inTheWay(twin);
  };
  const whole: Shape = { ...args, type };
  const differs = (endpoint: EndpointRecord): string => {
    const names = differing(whole, endpoint);
    return names.length === 0 ? "" : `, with another ${names.map((one) => `"${one}"`).join(" and ")}`;
  };
  const recovery: CreationRecovery<EndpointRecord> = {
    checkListed: (listed) => listed.filter(isTwin).forEach(refuse),
    isCandidate,
    isOurs: (endpoint) => differing(whole, endpoint).length === 0,
    describe: (endpoint) =>
      `${endpoint.id} on ${endpoint.branch_id}${madeAgo(endpoint.created_at)}${differs(endpoint)}`,
    advice: ([first, ...others]) =>
      type === PRIMARY
        ? 'Set "adopt: true" to manage it here, or delete it'
        : `Set "adopt: '${others.length === 0 ? (first?.id ?? "") : "ep-…"}'" to manage one of them here, or delete them`,
    onFound: ({ id }) => call.note(`${id} was found after the answer to its creation was lost`),
  };
  return createOrStanding<EndpointRecord, EndpointRecord>(call, {
    collection: computes.collection(projectId),
    isIt: isTwin,
    standing: refuse,
    create: async () => {
      const endpoint = await computes.create(projectId, toAttributes(whole), recovery, changeOptions(call, args));
      return untilShown(call, args, endpoint, args);
    },
    advice: unseen(`what is in the way on ${branchId}`),
  });
}

/**
 * Takes over a compute that stands, and brings it to what is declared. It is in the state from the accepted change on.
 * @throws before anything is changed, when it cannot be brought there.
 */
async function adoptCompute(call: Call<Outputs>, args: Shape, endpoint: EndpointRecord): Promise<EndpointRecord> {
  const names = differing(args, endpoint);
  if (names.includes("regionId") && endpoint.region_id !== undefined) {
    throw new Error(
      `${endpoint.id} is in region ${endpoint.region_id}, and a region cannot be changed. Declare that one, or leave "regionId" out`,
    );
  }
  call.run.take(computeObject(endpoint.id));
  const updates = new Set(names.filter(isUpdatable));
  let adopted = endpoint;
  if (!isSettled(endpoint)) {
    // An interrupted command may have left it. From here on it may be started, whatever comes of that.
    keep(call, args.projectId, endpoint);
    adopted = await getReady(call, args, endpoint, updates.size > 0);
  }
  return updates.size > 0 ? change(call, args, adopted, updates) : adopted;
}

async function change(
  call: Call<Outputs>,
  args: Shape,
  endpoint: EndpointRecord,
  names: ReadonlySet<string>,
): Promise<EndpointRecord> {
  const { projectId, branchId } = args;
  const sent: Partial<Shape> = Object.fromEntries(Object.entries(args).filter(([name]) => names.has(name)));
  const attributes = toAttributes(sent, endpoint);
  const isShown = (now: EndpointRecord): boolean => !differing(args, now).some((name) => names.has(name));
  const send = async (): Promise<EndpointRecord> => {
    const options = { ...changeOptions(call, args), before: endpoint };
    try {
      return await call.client.computes.update(projectId, endpoint.id, attributes, isShown, options);
    } catch (error) {
      if (!(error instanceof NotStartingError) || endpoint.disabled === true) throw error;
      return start(call, args, endpoint, error);
    }
  };
  const moving = async (): Promise<EndpointRecord> =>
    // Others who want the branch that it leaves wait for that, as it waits for who leaves the one that it goes to.
    call.run.whileLeaving([computeObject(endpoint.id)], false, async () => {
      await refuseOccupiedBranch(call, projectId, endpoint, branchId);
      return send();
    });
  const changed = await (names.has("branchId") ? moving() : send());
  return untilShown(call, args, changed, sent);
}

/** What the service shows after a change is what was sent; lists may lag. */
async function untilShown(
  call: Call<Outputs>,
  { projectId, settings }: Shape,
  endpoint: EndpointRecord,
  sent: Partial<Shape>,
): Promise<EndpointRecord> {
  let last = endpoint;
  const now = () => toArguments(projectId, last, settings);
  // What the record lacks, the service may just not show.
  const isShown = (): boolean => notShown(computeArguments, sent, now()).length === 0;
  if (isShown()) return endpoint;
  await call.client.computes.collection(projectId).pollWithinLag((listed) => {
    last = listed.find(({ id }) => id === endpoint.id) ?? last;
    return isShown() || undefined;
  }, call);
  requireShown(computeArguments, sent, now(), (shown) => keep(call, projectId, last, shown));
  return last;
}

/**
 * Goes on waiting for a compute that an earlier command has left unfinished, and starts it again where nothing is under way
 * any more, which a disabled one refuses. `changes`: something is to be sent yet, which may be what a start lacked, so
 * nothing keeps it from being sent.
 */
async function getReady(
  call: Call<Outputs>,
  args: Shape,
  endpoint: EndpointRecord,
  changes: boolean,
): Promise<EndpointRecord> {
  const { computes } = call.client;
  const options = { ...changeOptions(call, args), idleIsReady: true };
  if (changes) {
    if (endpoint.disabled === true) return endpoint;
    try {
      // Nothing to keep: the change itself is still to be sent.
      return (await computes.start(args.projectId, endpoint.id, { ...options, onAccepted: undefined })) ?? endpoint;
    } catch (error) {
      const kinds = [BadRequestError, ConflictError, OperationFailedError, NotStartingError];
      if (!kinds.some((kind) => error instanceof kind)) throw error;
      return endpoint;
    }
  }
  try {
    return await computes.waitFor(args.projectId, endpoint.id, options);
  } catch (error) {
    const isOver = error instanceof OperationFailedError || error instanceof NotStartingError;
    if (!isOver || endpoint.disabled === true) throw error;
    return start(call, args, endpoint, error);
  }
}

/** `why`: what is to be said of a service that cannot be asked to. */
async function start(call: Call<Outputs>, args: Shape, { id }: EndpointRecord, why: Error): Promise<EndpointRecord> {
  const started = await call.client.computes.start(args.projectId, id, changeOptions(call, args));
  if (started === undefined) throw why;
  return started;
}

/** An idle one starts afresh by itself, so nothing is called; it may also go idle while the call is on its way. */
async function restartActive(call: Call<Outputs>, args: Shape, endpoint: EndpointRecord): Promise<EndpointRecord> {
  const { computes } = call.client;
  const skip = ({ current_state, pending_state }: EndpointRecord): void => {
    const state = pending_state === "idle" ? "going idle" : current_state;
    call.note(`${endpoint.id} is ${state}, so it was not restarted: its next start applies everything anyway`);
  };
  if (endpoint.current_state !== "active") {
    skip(endpoint);
    return endpoint;
  }
  try {
    return await computes.restart(args.projectId, endpoint.id, changeOptions(call, args));
  } catch (error) {
    if (!(error instanceof BadRequestError || error instanceof ConflictError)) throw error;
    const now = await computes.find(args.projectId, endpoint.id, { ...call, since: performance.now() });
    if (now?.current_state !== "idle" && now?.pending_state !== "idle") throw error;
    skip(now);
    return now;
  }
}
