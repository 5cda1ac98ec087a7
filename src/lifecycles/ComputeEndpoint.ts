import type { Endpoint } from "../client";
import type { Call, Lifecycle, Observed, Stored } from "../dynamic/lifecycle";
import type { ComputeEndpointShape } from "../resources/ComputeEndpoint";
import { withoutAbsent } from "./absent";
import { adopt } from "./computeAdoption";
import { computeArguments, computeRules } from "./computeArguments";
import {
  attributeNames,
  changeOptions,
  differing,
  isSettled,
  isUpdatable,
  pulumiId,
  type ComputeOutputs as Outputs,
} from "./computeChanges";
import { refuseOccupiedBranch, standing } from "./computeConflicts";
import { noteDeleted } from "./computeDeletions";
import { whileLeaving } from "./computeDepartures";
import { finish, runsOn, startAnyway } from "./computeFinish";
import { toArguments, toAttributes, toOutputs } from "./computeMapping";
import { restartActive } from "./computeRestart";
import { computeRemarks, computeWarnings } from "./computeWarnings";
import { gone, unseen } from "./conflictWords";
import { creatingUnlisted } from "./creatingUnlisted";
import { splitId } from "./identifiers";

type Shape = ComputeEndpointShape;

/** A compute (service.md 2.7, 3, 4.5, 8.1). */
export const computeEndpoint: Lifecycle<Shape, Outputs> = {
  kind: "ComputeEndpoint",
  version: 1,
  args: computeArguments,
  // A branch has one primary at most, so the old one must be gone first.
  deleteBeforeReplace: true,
  rules: computeRules,
  warnings: computeWarnings,
  remarks: computeRemarks,

  async create(call, args) {
    const found = await standing(call, args);
    const endpoint =
      found.adopted === undefined ? await createNew(call, args, found.before) : await adopt(call, args, found.adopted);
    return { id: pulumiId(args.projectId, endpoint), outputs: toOutputs(args.projectId, endpoint) };
  },

  async read(call, { id, outs }) {
    const { projectId, rest } = splitId(id);
    const endpoint = await call.client.findEndpoint(projectId, rest, { deadline: call.deadline });
    return endpoint && observed(projectId, endpoint, outs);
  },

  async update(call, { id, outs, managed, unfinished }, args, { changed, added }) {
    const { projectId, rest } = splitId(id);
    // Beginning to give triggers is no change of one, and a resize restarts an active compute by itself (service.md 3).
    const triggered =
      changed.has("restartTriggers") && managed.has("restartTriggers") && outs.restartTriggers !== undefined;
    const restart = triggered && !changed.has("size");
    let endpoint = await found(call, projectId, rest);
    const secretsIn = [outs, endpoint];
    // What an unfinished change has sent may not have been applied, and what was not managed may have changed since it was
    // stored: there the service is asked, not the state. Of settings, a part that is no longer given is none of ours.
    const differ = differing(args, endpoint);
    const asked = [...differ].filter((name) => unfinished || added.has(name));
    const sent = [...changed].filter((name) => name !== "settings" || differ.has(name));
    const again = unfinished && runsOn(args, endpoint) ? (["disabled"] as const) : [];
    const names = new Set([...sent, ...asked, ...again].filter(isUpdatable));
    if (names.size > 0) {
      if (unfinished && !isSettled(endpoint)) await startAnyway(call, args, endpoint, secretsIn);
      const options = changeOptions(call, args, { secretsIn, notYet: restart ? ["restartTriggers"] : [] });
      const attributes = toAttributes(args, names, endpoint);
      const send = () => call.client.updateEndpoint(projectId, rest, attributes, options);
      endpoint = names.has("branchId") ? await move(call, args, endpoint, send) : await send();
    } else if (unfinished) {
      endpoint = await finish(call, args, endpoint, secretsIn);
    }
    if (restart) endpoint = await restartActive(call, projectId, endpoint, changeOptions(call, args, { secretsIn }));
    return toOutputs(projectId, endpoint);
  },

  async delete({ client, deadline, progress }, { id, outs }) {
    const { projectId, rest } = splitId(id);
    await whileLeaving(client, projectId, rest, undefined, () =>
      client.deleteEndpoint(projectId, rest, { deadline, onProgress: progress, secretsIn: [outs] }),
    );
    noteDeleted(client, projectId, rest);
  },
};

function createNew(call: Call<Outputs>, args: Shape, before: readonly Endpoint[]): Promise<Endpoint> {
  const attributes = { ...toAttributes(args, attributeNames(args)), type: args.type ?? "read_write" };
  const options = { ...changeOptions(call, args), known: before };
  return creatingUnlisted({
    create: () => call.client.createEndpoint(args.projectId, attributes, options),
    look: async () => (await standing(call, args, true)).adopted,
    standing: (adopted) => adopt(call, args, adopted),
    advice: unseen(`what is in the way on ${args.branchId}`),
  });
}

/** Others who want the branch that it leaves wait for that, as it waits for who leaves the one that it goes to. */
function move(call: Call<Outputs>, args: Shape, endpoint: Endpoint, send: () => Promise<Endpoint>): Promise<Endpoint> {
  const { projectId, branchId } = args;
  return whileLeaving(call.client, projectId, endpoint.id, branchId, async () => {
    await refuseOccupiedBranch(call, projectId, endpoint, branchId);
    return send();
  });
}

function observed(
  projectId: string,
  endpoint: Endpoint,
  outs: Stored<Shape, Outputs>["outs"],
): Observed<Shape, Outputs> {
  return {
    // What the record lacks, the service may just not show: it keeps what is stored, and is no drift.
    args: withoutAbsent(toArguments(projectId, endpoint, outs.settings)),
    outputs: toOutputs(projectId, endpoint),
    ready: isSettled(endpoint) && !runsOn(outs, endpoint),
  };
}

async function found({ client, deadline }: Call<Outputs>, projectId: string, endpointId: string): Promise<Endpoint> {
  const endpoint = await client.findEndpoint(projectId, endpointId, { fresh: true, deadline });
  if (endpoint === undefined) {
    throw gone();
  }
  return endpoint;
}
