import { computeObject } from "../../contract/claims";
import {
  BadRequestError,
  ConflictError,
  Gone,
  mustBeKnown,
  NotStartingError,
  OperationFailedError,
  requireGranted,
  Unknown,
  type ChangeOptions,
  type CreationRecovery,
  type EndpointRecord,
  type Expected,
} from "../../client";
import type { Call, Changes, Created, Limits, Stored } from "../../runtime/lifecycle";
import type { Properties } from "../../contract/hiddenKeys";
import type { Problem } from "../../runtime/arguments";
import { expectedOf, mayBeOpen, unconfirmed } from "../../runtime/confirmed";
import { isIgnored } from "../../runtime/ignored";
import { overwriteNote } from "../../runtime/overwritten";
import { define } from "../../runtime/define";
import { declaration, type ComputeEndpointShape } from "./computeEndpointDeclaration";
import { omitUndefined } from "../shared/omitUndefined";
import { schemas } from "./computeEndpointSchemas";
import { LARGEST_AUTOSCALING_CU, limitsOf } from "../../helpers/computeSizes";
import { computeFindings, computeReplaceable, updateFindings } from "./lookAhead";
import {
  addedSettings,
  inFormOf,
  isSettled,
  isUpdatable,
  sendsUnmanaged,
  stillAdded,
  toArguments,
  toAttributes,
  toOutputs,
} from "./mapping";
import {
  differing,
  differingWhenNew,
  leftToCompute,
  overwrittenAt,
  shownBy,
  toSend,
  type ComputeEndpointOuts,
} from "./sending";
import {
  alreadyExists,
  deletedLast,
  findComputeToAdopt,
  findOccupant,
  isBeside,
  isInPlaceOf,
  NEW_COMPUTE,
  occupiedBranch,
  orderAdvice,
  PRIMARY,
  refuseOccupiedBranch,
} from "./branchOccupancy";
import {
  computeCreateEffects,
  computeCreateWarnings,
  computeReplacement,
  computeRestarts,
  computeWarnings,
} from "./warnings";
import { namingBranches } from "../shared/branches";
import { splitId } from "../shared/identifiers";
import { createOrUseExisting } from "../shared/adoption";
import { goneError, createdAgo, notListedAdvice } from "../shared/conflictMessages";

/** A compute (docs/design/api.md). */
export const computeEndpoint = define(declaration, schemas, {
  rules: computeRules,
  replacement: computeReplacement,
  recreation: "the new compute has another id and another host",
  warnings: computeWarnings,
  restarts: computeRestarts,
  createWarnings: computeCreateWarnings,
  createEffects: computeCreateEffects,
  lookAhead: computeFindings,
  lookAtUpdate: updateFindings,

  objects: (id) => [computeObject(splitId(id).rest)],

  replaceable: computeReplaceable,

  async create(call, declared) {
    const args = call.withValues(declared);
    try {
      return stateOf(args, await createOrAdopt(call, args));
    } catch (error) {
      throw await namingBranches(call, error, args);
    }
  },

  async read(call, { id, outs, added, unfinished }) {
    const { projectId, rest } = splitId(id);
    const endpoint = mustBeKnown(await call.client.computes.find(projectId, rest, call));
    if (endpoint instanceof Gone) return endpoint;
    const failed = unfinished !== false && (await hasFailedChange(call, projectId, endpoint));
    call.added(stillAdded(endpoint, added));
    return {
      // The service may just not show a missing field: the stored value stays, and it is not drift.
      args: omitUndefined(toArguments(projectId, endpoint, outs.settings, added)),
      outputs: toOutputs(projectId, endpoint),
      ready: isSettled(endpoint) && failed === false && !suspensionFailed(outs, endpoint),
    };
  },

  /** Four steps after what `toSend` says, defined below under these names. */
  async update(call, stored, declared, changes) {
    const given = call.withValues(declared);
    const { projectId, rest } = splitId(stored.id);
    const found = mustBeKnown(await call.client.computes.find(projectId, rest, { ...call, since: performance.now() }));
    if (found instanceof Gone) throw goneError();
    const what = `ComputeEndpoint ${stored.id}`;
    const { args, names: planned, differ, permission } = toSend(given, found, { what, stored, changes });
    requireGranted(permission);
    const update: Update = { call, stored, given, args, changes, differ };

    const settled = await finishEarlierChange(update, found, planned.length > 0);
    const isOpen = stored.unfinished !== false;
    const failed = isOpen && (await hasFailedChange(call, projectId, settled));
    // What may have failed is sent again, too. Only what did fail is worth a restart.
    const mayHaveFailed = failed !== false || (isOpen && suspensionFailed(args, settled));
    const again = mayHaveFailed ? namesToSendAgain(update) : [];
    const changed = await sendAndRestart(update, settled, new Set([...planned, ...again]));
    const mended = failed === true ? await mendFailedOperation(update, changed) : changed;
    return toOutputs(projectId, mended);
  },

  async delete(call, { id }) {
    const { projectId, rest } = splitId(id);
    return call.client.computes.delete({ projectId, endpointId: rest }, { ...call, mayGo: call.mayDelete });
  },
});

/** Rules over several arguments (docs/design/api.md, Compute sizes). */
function computeRules(
  { size, scaleToZero, type, adopt }: Partial<ComputeEndpointShape>,
  _givenNames: ReadonlySet<string>,
  { maxSizeCu, ignored }: Limits,
): Problem[] {
  const problems: Problem[] = [];
  const largest = typeof size === "number" ? ["size"] : ["size", "max"];
  if (
    size !== undefined &&
    maxSizeCu !== undefined &&
    !isIgnored(ignored, ...largest) &&
    limitsOf(size).max > maxSizeCu
  ) {
    problems.push({
      path: largest.join("."),
      reason: `${limitsOf(size).max} CU is above the limit of svc:maxSizeCu, which is ${maxSizeCu} CU`,
    });
  }
  if (typeof size === "number" && size > LARGEST_AUTOSCALING_CU && scaleToZero !== undefined && scaleToZero !== false) {
    problems.push({
      path: "scaleToZero",
      reason: `must be false or left out for a size above ${LARGEST_AUTOSCALING_CU} CU, which cannot scale to zero`,
      unlisted: true,
    });
  }
  if (type === "read_only" && adopt === true) {
    problems.push({ path: "adopt", reason: 'must name a read replica by its id ("ep-…"): a branch can have several' });
  }
  return problems;
}

const stateOf = ({ projectId }: ComputeEndpointShape, endpoint: EndpointRecord): Created<ComputeEndpointOuts> => ({
  id: `${projectId}/${endpoint.id}`,
  outputs: toOutputs(projectId, endpoint),
});

function checkpoint(
  call: Call<ComputeEndpointOuts>,
  args: ComputeEndpointShape,
  { endpoint, shown }: { endpoint: EndpointRecord; shown?: Properties },
) {
  const { id, outputs } = stateOf(args, endpoint);
  call.checkpoint(id, outputs, shown);
}

/** A failed suspension leaves a disabled compute running. */
const suspensionFailed = (
  args: Partial<ComputeEndpointShape>,
  { disabled, current_state, pending_state }: EndpointRecord,
): boolean => args.disabled === true && disabled === true && current_state === "active" && pending_state === undefined;

/** Whether an effect of the last changes failed and nothing has repaired it since. */
const hasFailedChange = (
  call: Call<ComputeEndpointOuts>,
  projectId: string,
  endpoint: EndpointRecord,
): Promise<boolean | Unknown> =>
  call.client.projects.hasFailedChange(projectId, endpoint, { ...call, since: performance.now() });

interface Update {
  readonly call: Call<ComputeEndpointOuts>;
  readonly stored: Stored<ComputeEndpointShape, ComputeEndpointOuts>;
  /** What the program gives. */
  readonly given: ComputeEndpointShape;
  /** The same, with what the service has at the paths of `ignoreChanges`. */
  readonly args: ComputeEndpointShape;
  readonly changes: Changes<ComputeEndpointShape>;
  /** The arguments that the service showed with another value when the update began. */
  readonly differ: readonly string[];
}

/** Step 1: waits for what an earlier command left in progress. */
async function finishEarlierChange(
  { call, stored, args }: Update,
  endpoint: EndpointRecord,
  isSendingMore: boolean,
): Promise<EndpointRecord> {
  return stored.unfinished !== false && !isSettled(endpoint)
    ? getReady(call, args, { endpoint, isSendingMore })
    : endpoint;
}

/** Step 2: only a successful operation repairs a failed one, so everything that had been sent is sent again. */
function namesToSendAgain({ stored, args, changes }: Update): string[] {
  const isSent = (name: string): boolean => isUpdatable(name) && !isIgnored(changes.ignored, name);
  return Object.keys(args).filter((name) => mayBeOpen(stored, name) && isSent(name) && name !== "branchId");
}

/** Step 3: one request for all arguments, then the restart that a changed trigger requires. */
async function sendAndRestart(
  { call, stored, given, args, changes, differ }: Update,
  endpoint: EndpointRecord,
  names: ReadonlySet<string>,
): Promise<EndpointRecord> {
  // A resize restarts an active compute by itself.
  const resizes = names.has("size") && differ.includes("size") && endpoint.current_state === "active";
  const restarts = changes.changed.has("restartTriggers") && args.restartTriggers !== undefined && !resizes;
  const { restartTriggers } = stored.outs;
  // Until the restart is done, the state holds the previous triggers.
  const sender: typeof call = {
    ...call,
    checkpoint: (id, outputs, shown) =>
      call.checkpoint(id, outputs, { ...(restarts && { restartTriggers }), ...shown }),
  };
  let changed = endpoint;
  if (names.size > 0) {
    try {
      changed = await change(sender, given, { endpoint, names, update: { stored, changes } });
    } catch (error) {
      throw await namingBranches(call, error, args);
    }
  }
  return restarts ? restartActive(call, args, changed) : changed;
}

/** Step 4: the service starts no operation for values that it stores already. A restart applies them. */
async function mendFailedOperation({ call, args }: Update, endpoint: EndpointRecord): Promise<EndpointRecord> {
  if ((await hasFailedChange(call, args.projectId, endpoint)) !== true) return endpoint;
  const restarted = await restartActive(call, args, endpoint);
  if (restarted.current_state === "active" && (await hasFailedChange(call, args.projectId, restarted)) === true)
    throw new Error("its last operation failed, and a restart did not fix it. Check it at the service");
  return restarted;
}

/** `addedTo`: what the service has added of its own to an accepted compute. @default it is not known */
function changeOptions(
  call: Call<ComputeEndpointOuts>,
  args: ComputeEndpointShape,
  addedTo?: (endpoint: EndpointRecord) => string[] | undefined,
): ChangeOptions {
  return {
    deadline: call.deadline,
    onProgress: call.onProgress,
    onAccepted(endpoint) {
      const added = addedTo?.(endpoint);
      if (added !== undefined) call.added(added);
      checkpoint(call, args, { endpoint });
    },
    idleIsReady: args.type === "read_only" || args.disabled === true,
  };
}

/** The branch of a primary to be created already has one. */
class BranchOccupiedError extends Error {}

/** The branch of a read replica to be created already has one of its name. */
class NamesakeError extends Error {
  constructor(readonly namesake: EndpointRecord) {
    super();
  }
}

async function createOrAdopt(call: Call<ComputeEndpointOuts>, args: ComputeEndpointShape): Promise<EndpointRecord> {
  const { adopt } = args;
  const adopted = typeof adopt === "string" ? await findComputeToAdopt(call, adopt, args) : undefined;
  if (adopted !== undefined) return adoptCompute(call, args, adopted);
  for (;;) {
    try {
      return await createNew(call, args);
    } catch (error) {
      if (error instanceof NamesakeError) {
        const { namesake } = error;
        // What leaves in this run is not to be adopted.
        const object = computeObject(namesake.id);
        if (call.run.release(object) === undefined) throw alreadyExists(namesake);
        await call.run.waitUntilFree(object, `${namesake.id}, which has its name, was still being deleted`);
        continue;
      }
      if (!(error instanceof BranchOccupiedError)) throw error;
      const occupant = await findOccupant(call, args);
      if (occupant === undefined) continue;
      const order = orderAdvice(call, occupant);
      if (order !== "") throw new Error(`${occupiedBranch(occupant)}. Nothing was created. ${order}`);
      const left = call.run.leftBy(computeObject(occupant.id));
      if (adopt !== true)
        throw left === undefined ? alreadyExists(occupant) : new Error(deletedLast(occupant, left, NEW_COMPUTE));
      return adoptCompute(call, args, occupant);
    }
  }
}

function createNew(call: Call<ComputeEndpointOuts>, args: ComputeEndpointShape): Promise<EndpointRecord> {
  const { projectId, branchId, type = PRIMARY, name } = args;
  const { computes } = call.client;
  const isCandidate = isBeside(args);
  // A read replica that is created before the old one is deleted may have its name.
  const isReplaced = ({ id }: EndpointRecord): boolean => type !== PRIMARY && call.run.isReplaced(computeObject(id));
  const isDuplicate = (endpoint: EndpointRecord): boolean =>
    isInPlaceOf(args)(endpoint) && !isReplaced(endpoint) && !call.run.wasDeleted(computeObject(endpoint.id));
  const refuseDuplicate = (duplicate: EndpointRecord): never => {
    throw type === PRIMARY ? new BranchOccupiedError() : new NamesakeError(duplicate);
  };
  const declared: ComputeEndpointShape = { ...args, type };
  const differs = (endpoint: EndpointRecord): string => {
    const names = differingWhenNew(declared, endpoint);
    return names.length === 0 ? "" : `, with another ${names.map((one) => `"${one}"`).join(" and ")}`;
  };
  const recovery: CreationRecovery<EndpointRecord> = {
    checkListed: (listed) => listed.filter(isDuplicate).forEach(refuseDuplicate),
    isCandidate,
    isOurs: (endpoint) => differingWhenNew(declared, endpoint).length === 0,
    describe: (endpoint) =>
      `${endpoint.id} on ${endpoint.branch_id}${createdAgo(endpoint.created_at)}${differs(endpoint)}`,
    advice: ([first, ...others]) =>
      type === PRIMARY
        ? 'Set "adopt: true" to manage it here, or delete it'
        : `Set "adopt: '${others.length === 0 ? (first?.id ?? "") : "ep-…"}'" to manage one of them here, or delete them`,
    adviceIfLate:
      type === PRIMARY || name !== undefined
        ? undefined
        : `Before you run pulumi up again, look for a new read replica without a name on ${branchId}: the next run cannot recognize it and would create another one. Set "adopt: 'ep-…'" to manage it here, or delete it`,
    onFound: ({ id }) => call.note(`${id} was found after the response to its creation was lost`),
  };
  call.sending(Object.keys(args).filter(isUpdatable));
  const addedTo = (endpoint: EndpointRecord): string[] =>
    addedSettings(endpoint, { sent: args.settings, before: undefined, earlier: [] });
  const expected = expectedOfCompute(call, args, { sent: args, addedTo });
  const creation = { projectId, attributes: toAttributes(call, declared), recovery, expected };
  return createOrUseExisting<EndpointRecord, EndpointRecord>(call, {
    collection: call.client.collection("endpoints", projectId),
    matches: isDuplicate,
    useExisting: refuseDuplicate,
    create: () => computes.create(creation, changeOptions(call, args, addedTo)),
    advice: notListedAdvice(`the conflicting compute on ${branchId}`),
  });
}

/**
 * Takes over an existing compute and changes it to what is declared. The first accepted change stores it in the state.
 * @throws before anything is changed, if the change is not possible.
 */
async function adoptCompute(
  call: Call<ComputeEndpointOuts>,
  args: ComputeEndpointShape,
  endpoint: EndpointRecord,
): Promise<EndpointRecord> {
  const names = differing(args, endpoint);
  if (names.includes("regionId") && endpoint.region_id !== undefined) {
    throw new Error(
      `${endpoint.id} is in region ${endpoint.region_id}, and a region cannot be changed. Declare that one, or leave "regionId" out`,
    );
  }
  call.run.takeOver(computeObject(endpoint.id));
  // Everything must become as declared, including what is not sent yet if this is interrupted.
  call.sending(Object.keys(args).filter(isUpdatable));
  let adopted = endpoint;
  if (!isSettled(endpoint)) {
    // An interrupted command may have left it unfinished. This may start it, so it is stored first.
    checkpoint(call, args, { endpoint });
    adopted = await getReady(call, args, { endpoint, isSendingMore: names.some(isUpdatable) });
  }
  let updates = differing(args, adopted).filter(isUpdatable);
  let added: readonly string[] = [];
  while (updates.length > 0) {
    const before = adopted;
    adopted = await change(call, args, { endpoint: before, names: new Set(updates) });
    added = addedSettings(adopted, { sent: args.settings, before, earlier: added });
    // The change waited for its turn: somebody may have changed the rest meanwhile.
    updates = unconfirmed(declaration.args, { sent: args, shown: shownBy(args, adopted, added) }).filter(isUpdatable);
  }
  return adopted;
}

interface Sending {
  readonly endpoint: EndpointRecord;
  readonly names: ReadonlySet<string>;
  readonly update?: Pick<Update, "stored" | "changes">;
}

/** Sends the named arguments. */
async function change(
  call: Call<ComputeEndpointOuts>,
  args: ComputeEndpointShape,
  { endpoint, names, update: of }: Sending,
): Promise<EndpointRecord> {
  const { stored, changes: { ignored = [] } = {} } = of ?? {};
  const sent = Object.fromEntries(Object.entries(args).filter(([name]) => names.has(name)));
  /** The compute as it was right before the request, if it was read then. */
  let before: EndpointRecord | undefined;
  const attributesOf = (now: EndpointRecord) =>
    toAttributes(call, leftToCompute({ projectId: args.projectId, ...sent }, now, ignored).args, now);
  const addedTo = (now: EndpointRecord): string[] =>
    addedSettings(now, { sent: args.settings, before: before ?? endpoint, earlier: stored?.added ?? [] });
  // A request with the settings replaces all of them, so what is there afterwards and was not before is the service's
  // own. Without them, somebody may have added something while this waited for its turn.
  const replacesSettings = names.has("settings");
  const isManaged = args.settings?.pgSettings !== undefined;
  const isRead = sendsUnmanaged(sent) || ignored.length > 0 || (isManaged && !replacesSettings);
  const update = {
    projectId: args.projectId,
    endpointId: endpoint.id,
    attributes: attributesOf(endpoint),
    rebuild: isRead ? (now: EndpointRecord) => attributesOf((before = now)) : undefined,
    known: endpoint,
    expected: expectedOfCompute(call, args, { sent, addedTo, stored, ignored }),
  };
  call.sending(names);
  const options = changeOptions(call, args, (now) =>
    before === undefined && !replacesSettings ? undefined : addedTo(now),
  );
  const send = async (): Promise<EndpointRecord> => {
    const changed = await call.client.computes.update(update, options);
    if (of === undefined) return changed;
    const replaced = before ?? endpoint;
    const about = { ...of, args: leftToCompute(args, replaced, ignored).args, names: [...names] };
    const note = overwriteNote(endpoint.id, overwrittenAt(replaced, about));
    if (note !== undefined) call.note(note);
    return changed;
  };
  if (!names.has("branchId")) return send();
  // A compute that moves to its old branch waits for this move, as this one waits for the primary of its new branch.
  return call.run.whileReleasing([computeObject(endpoint.id)], false, async () => {
    await refuseOccupiedBranch(call, args, endpoint);
    return send();
  });
}

interface Awaited {
  readonly sent: Partial<ComputeEndpointShape>;
  /** What the service has added of its own to the compute. */
  readonly addedTo: (endpoint: EndpointRecord) => string[];
  readonly stored?: Update["stored"] | undefined;
  readonly ignored?: readonly string[];
}

const expectedOfCompute = (
  call: Call<ComputeEndpointOuts>,
  args: ComputeEndpointShape,
  { sent, addedTo, stored, ignored = [] }: Awaited,
): Expected<EndpointRecord> =>
  expectedOf(declaration.args, {
    sent,
    stored,
    ignored,
    // The service may just not show a missing field.
    argumentsOf(now) {
      const shown = shownBy(args, now, addedTo(now));
      return ignored.length === 0 ? shown : inFormOf(args, shown);
    },
    checkpoint: (shown, now) => checkpoint(call, args, { endpoint: now, shown }),
  });

/**
 * Waits for a compute that an earlier command left unfinished, and starts it again if nothing is in progress any more
 * (a disabled one cannot be started). `isSendingMore`: a change follows, which the start may need, so a failed start
 * does not prevent it.
 */
async function getReady(
  call: Call<ComputeEndpointOuts>,
  args: ComputeEndpointShape,
  { endpoint, isSendingMore }: { endpoint: EndpointRecord; isSendingMore: boolean },
): Promise<EndpointRecord> {
  const { computes } = call.client;
  const options = { ...changeOptions(call, args), idleIsReady: true };
  if (isSendingMore) {
    if (endpoint.disabled === true) return endpoint;
    try {
      // No checkpoint: the change itself is still to be sent.
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
    const started = await computes.start(args.projectId, endpoint.id, changeOptions(call, args));
    if (started === undefined) throw error;
    return started;
  }
}

/** An idle compute is not restarted: its next start applies everything. It may also go idle during the call. */
async function restartActive(
  call: Call<ComputeEndpointOuts>,
  args: ComputeEndpointShape,
  endpoint: EndpointRecord,
): Promise<EndpointRecord> {
  const { computes } = call.client;
  call.sending([]);
  const noteSkipped = ({ current_state, pending_state }: EndpointRecord): void => {
    const state = pending_state === "idle" ? "going idle" : current_state;
    call.note(`${endpoint.id} is ${state} and was not restarted: its next start applies all changes`);
  };
  if (endpoint.current_state !== "active") {
    noteSkipped(endpoint);
    return endpoint;
  }
  try {
    return await computes.restart(args.projectId, endpoint.id, changeOptions(call, args));
  } catch (error) {
    if (!(error instanceof BadRequestError || error instanceof ConflictError)) throw error;
    const now = await computes.find(args.projectId, endpoint.id, { ...call, since: performance.now() });
    if (now instanceof Gone || now instanceof Unknown) throw error;
    if (now.current_state !== "idle" && now.pending_state !== "idle") throw error;
    noteSkipped(now);
    return now;
  }
}
