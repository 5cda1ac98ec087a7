import {
  declaration,
  type AuthOwnershipTransferShape,
} from "../../src/resources/authOwnershipTransfer/authOwnershipTransferDeclaration";
import { authOwnershipTransfer } from "../../src/resources/authOwnershipTransfer/authOwnershipTransferLifecycle";
import { PROJECT, PROVIDER, UNKNOWN, type Harness, type Json } from "../support/harness";
import { recordsOf, TRANSFER } from "../support/rules/routes";
import { answeredOnly, ofIntegration } from "./answeredOnly";
import { anyLifecycle, PATIENCE, type KindCase } from "./KindCase";
import { free } from "./rules";

/** The request alone transfers nothing: the emulator stores its response. */
const wasAsked = async (given: Harness): Promise<boolean> =>
  (await recordsOf(given, "integrations")).some((found) => "transfer_token_hashes" in found);

export const kindCase: KindCase<AuthOwnershipTransferShape> = {
  kind: "AuthOwnershipTransfer",
  declaration,
  lifecycle: anyLifecycle(authOwnershipTransfer),
  // A repeated request is harmless.
  ...answeredOnly,

  arguments: {
    ...ofIntegration,
    triggers: { value: ["first"], other: ["second"], change: "replaces", rule: free },
  },
  unknowns: { triggers: UNKNOWN },

  secretOutputs: ["url"],
  plant: (call, { projectId }) => call("POST", TRANSFER, { project_id: projectId, auth_provider: PROVIDER }),
  // The integration stays. The emulator's state has this list.
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
  lost: undefined,

  campaign: {
    lists: [],
    program: ({ round, project }) =>
      `const transfer = new svc.AuthOwnershipTransfer("transfer", { projectId: "${project}", triggers: [${round}] });
secrets.push(transfer.url);`,
    // The campaign counts how many were asked for.
    declared: () => [],
    shown: () => [],
  },
};
