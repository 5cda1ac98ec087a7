import { declaration, type AuthKeysShape } from "../../src/resources/authKeys/declaration";
import { authKeys } from "../../src/resources/authKeys/lifecycle";
import { PROJECT, PROVIDER, UNKNOWN } from "../support/harness";
import { INTEGRATIONS, KEYS, recordsOf, removedWithIntegration } from "../support/rules/routes";
import { anyLifecycle, PATIENCE, type KindCase } from "./KindCase";
import { free, segment } from "./rules";

export const authKeysCase: KindCase<AuthKeysShape> = {
  kind: "AuthKeys",
  declaration,
  lifecycle: anyLifecycle(authKeys),
  inIntegration: true,

  arguments: {
    projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
    authProvider: { value: PROVIDER, other: "another", change: "replaces", rule: segment },
    rotationTriggers: { value: ["2025-11"], other: ["2025-12"], change: "replaces", rule: free },
  },
  least: ({ projectId }) => ({ projectId }),
  unknowns: { rotationTriggers: [UNKNOWN] },
  // Each has a key set of its own.
  adopts: {},

  secretArguments: {},
  secretOutputs: ["secretServerKey"],
  idIn: (projectId) => `${projectId}/${PROVIDER}/abc`,
  sendsNothing: ["update", "delete"],

  list: INTEGRATIONS,
  planLists: [INTEGRATIONS],
  deletion: undefined,
  stands: async (given) => (await recordsOf(given, "key_sets")).length > 1,
  vanish: removedWithIntegration,
  plant: (call, { projectId }) => call("POST", KEYS, { project_id: projectId, auth_provider: PROVIDER }),
  // The service lists none, and revokes none.
  look: () => undefined,

  mutations: [
    {
      title: "making keys",
      method: "POST",
      path: KEYS,
      to: { projectId: PROJECT, ...PATIENCE },
      // The first one is that of the integration.
      happened: async (given) => (await recordsOf(given, "key_sets")).length > 1,
      onlyAnswered: true,
    },
  ],
  updates: [],
  lost: /stay valid|revoke/,
  takeovers: [],
  creations: [],
  twins: [],
  distinct: ({ projectId }) => [{ projectId }, { projectId }],
  heldTwice: [],
  several: undefined,
};
