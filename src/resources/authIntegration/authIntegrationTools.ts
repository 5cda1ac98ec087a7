import { oauthProviderId, SHARED_FROM_THE_START } from "../../contract/oauthProviderId";
import { keySources } from "../shared/keySet";
import type { Tools } from "../shared/tools";

export const authIntegration: Tools = {
  contains: {
    // An older state does not record it.
    isHome: ({ authProviderProjectId: own }, { authProviderProjectId: home }) => home === undefined || home === own,
    fromTheStart: (projectId) =>
      SHARED_FROM_THE_START.map((name) => ({ kind: "OAuthProvider", id: oauthProviderId(projectId, name), name })),
  },
  envSources: keySources,
};
