import { fresh, type Query } from "./query";
import type { GetWhitelistDomainsArgs, WhitelistDomainResult } from "./types";

export const getWhitelistDomainsQuery: Query<GetWhitelistDomainsArgs, WhitelistDomainResult[]> = {
  name: "getWhitelistDomains",
  others: [],
  find: async ({ client }, { projectId }) => {
    const listed = await client.auth.domains(projectId).list(fresh());
    return listed.map(({ domain, auth_provider }) => ({ domain, authProvider: auth_provider }));
  },
};
