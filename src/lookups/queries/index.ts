/** All queries, by the names of the functions. */
import { getAuthIntegrationQuery, getAuthIntegrationsQuery } from "./authIntegrations";
import { getBranchesQuery, getDefaultBranchQuery } from "./branches";
import { getComputeEndpointQuery, getComputeEndpointsQuery } from "./computeEndpoints";
import { getEmailServerQuery } from "./emailServer";
import { getOAuthProvidersQuery } from "./oauthProviders";
import type { Query } from "./query";
import type { ProjectLookupArgs } from "./types";
import { getWhitelistDomainsQuery } from "./whitelistDomains";

export const QUERIES: readonly Query<ProjectLookupArgs, object>[] = [
  getAuthIntegrationQuery,
  getAuthIntegrationsQuery,
  getBranchesQuery,
  getDefaultBranchQuery,
  getComputeEndpointQuery,
  getComputeEndpointsQuery,
  getEmailServerQuery,
  getOAuthProvidersQuery,
  getWhitelistDomainsQuery,
];
