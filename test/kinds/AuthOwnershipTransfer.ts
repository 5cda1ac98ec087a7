import { declaration, type AuthOwnershipTransferShape } from "../../src/resources/authOwnershipTransfer/declaration";
import { authOwnershipTransfer } from "../../src/resources/authOwnershipTransfer/lifecycle";
import { PROJECT, PROVIDER, UNKNOWN, type Harness, type Json } from "../support/harness";
import { INTEGRATIONS, recordsOf, removedWithIntegration, TRANSFER } from "../support/rules/routes";
import { anyLifecycle, PATIENCE, type KindCase } from "./KindCase";
import { free, segment } from "./rules";

/** Nothing is transferred by it: the emulator keeps what it has answered. */
const wasAsked = async (given: Harness): Promise<boolean> =>
  (await recordsOf(given, "integrations")).some((found) => "transfer_token_hashes" in found);

export const authOwnershipTransferCase: KindCase<AuthOwnershipTransferShape> = {
  kind: "AuthOwnershipTransfer",
  declaration,
  lifecycle: anyLifecycle(authOwnershipTransfer),
  inIntegration: true,

  arguments: {
    projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
    authProvider: { value: PROVIDER, other: "another", change: "replaces", rule: segment },
    triggers: { value: ["first"], other: ["second"], change: "replaces", rule: free },
  },
  least: ({ projectId }) => ({ projectId }),
  unknowns: { triggers: UNKNOWN },
  // Asking again is harmless.
  adopts: {},

  secretArguments: {},
  secretOutputs: ["url"],
  idIn: (projectId) => `${projectId}/${PROVIDER}/abc`,
  sendsNothing: ["update", "delete"],

  list: INTEGRATIONS,
  planLists: [INTEGRATIONS],
  deletion: undefined,
  stands: wasAsked,
  vanish: removedWithIntegration,
  plant: (call, { projectId }) => call("POST", TRANSFER, { project_id: projectId, auth_provider: PROVIDER }),
  // What is to be handed over stays. The emulator keeps a list under this name.
  look: ({ integrations }) => (integrations as Json[]).map((one) => one["auth_provider"]),

  mutations: [
    {
      title: "asking for a transfer",
      method: "POST",
      path: TRANSFER,
      to: { projectId: PROJECT, ...PATIENCE },
      happened: wasAsked,
      onlyAnswered: true,
    },
  ],
  updates: [],
  lost: undefined,
  takeovers: [],
  creations: [],
  twins: [],
  distinct: ({ projectId }) => [{ projectId }, { projectId }],
  heldTwice: [],
  several: undefined,
};
