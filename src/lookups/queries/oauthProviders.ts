import { fresh, type Query } from "./query";
import type { GetOAuthProvidersArgs, OAuthProviderResult } from "./types";

export const getOAuthProvidersQuery: Query<GetOAuthProvidersArgs, OAuthProviderResult[]> = {
  name: "getOAuthProviders",
  others: [],
  find: async ({ client }, { projectId }) => {
    const listed = await client.auth.oauthProviders(projectId).list(fresh());
    return listed.map(({ id, type }) => ({ providerId: id, type }));
  },
};
