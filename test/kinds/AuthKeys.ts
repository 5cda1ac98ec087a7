import { declaration, type AuthKeysShape } from "../../src/resources/authKeys/authKeysDeclaration";
import { authKeys } from "../../src/resources/authKeys/authKeysLifecycle";
import { PROJECT, PROVIDER, UNKNOWN } from "../support/harness";
import { KEYS, recordsOf } from "../support/rules/routes";
import { answeredOnly, ofIntegration } from "./answeredOnly";
import { anyLifecycle, PATIENCE, type KindCase } from "./KindCase";
import { free } from "./rules";

export const kindCase: KindCase<AuthKeysShape> = {
  kind: "AuthKeys",
  declaration,
  lifecycle: anyLifecycle(authKeys),
  ...answeredOnly,

  arguments: {
    ...ofIntegration,
    rotationTriggers: { value: ["2025-11"], other: ["2025-12"], change: "replaces", rule: free },
  },
  unknowns: { rotationTriggers: [UNKNOWN] },

  secretOutputs: ["secretServerKey"],
  plant: (call, { projectId }) => call("POST", KEYS, { project_id: projectId, auth_provider: PROVIDER }),
  // The service neither lists nor revokes them.
  look: () => undefined,

  mutations: [
    {
      title: "making keys",
      method: "POST",
      path: KEYS,
      to: { projectId: PROJECT, ...PATIENCE },
      // The first one belongs to the integration.
      happened: async (given) => (await recordsOf(given, "key_sets")).length > 1,
      onlyAnswered: true,
    },
  ],
  lost: /stay valid|revoke/,

  campaign: {
    lists: [],
    program: ({ round, project }) =>
      `const keys = new svc.AuthKeys("keys", { projectId: "${project}", rotationTriggers: [${round}] });
secrets.push(keys.secretServerKey);`,
    // The campaign counts how many were asked for.
    declared: () => [],
    shown: () => [],
  },
};
