import { PROVIDER } from "../support/harness";
import { INTEGRATIONS, removedWithIntegration } from "../support/rules/routes";
import type { KindCase } from "./KindCase";
import { segment } from "./rules";

/** The arguments of what is asked for with the name of an integration and nothing else. */
export const ofIntegration = {
  projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
  authProvider: { value: PROVIDER, other: "another", change: "replaces", rule: segment },
} satisfies Partial<KindCase["arguments"]>;

/**
 * What stands in one answer and nowhere else: the service lists none, changes none and takes none back. So there is nothing
 * to take over, and any number of them can be declared beside each other.
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
