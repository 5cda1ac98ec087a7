import { PROVIDER } from "../support/harness";
import { INTEGRATIONS, removedWithIntegration } from "../support/rules/routes";
import type { KindCase } from "./KindCase";
import { segment } from "./rules";

/** The arguments of requests that contain only the name of an integration. */
export const ofIntegration = {
  projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
  authProvider: { value: PROVIDER, other: "another", change: "replaces", rule: segment },
} satisfies Partial<KindCase["arguments"]>;

/**
 * For objects that exist in one response only: the service cannot list, change or revoke them. So nothing can be
 * adopted, and several can be declared side by side.
 */
export const answeredOnly = {
  inIntegration: true,
  least: ({ projectId }) => ({ projectId }),
  adopts: undefined,
  coexists: true,
  secretArguments: {},
  byReference: [],
  idIn: (projectId) => `${projectId}/${PROVIDER}/abc`,
  sendsNothing: ["update", "delete"],
  list: INTEGRATIONS,
  planLists: [INTEGRATIONS],
  deletion: undefined,
  standing: () => [],
  vanish: removedWithIntegration,
  updates: [],
  takeovers: [],
  creations: [],
  twins: [],
  distinct: ({ projectId }) => [{ projectId }, { projectId }],
  heldTwice: [],
  several: undefined,
} satisfies Partial<KindCase>;
