export {
  ComputeGroup,
  type ComputeGroupArgs,
  type GroupComputeArgs,
  type GroupReplicaArgs,
} from "./components/ComputeGroup";
export {
  ProjectAuth,
  type ProjectAuthArgs,
  type ProjectAuthEmail,
  type ProjectAuthProvider,
} from "./components/ProjectAuth";
export type { AuthIntegrationResult } from "./functions/authIntegrationResult";
export { connectionUriOutput } from "./functions/connectionUriOutput";
export type { BranchResult } from "./functions/branchResult";
export type { ComputeEndpointResult } from "./functions/computeEndpointResult";
export {
  getAuthIntegration,
  getAuthIntegrationOutput,
  type GetAuthIntegrationArgs,
} from "./functions/getAuthIntegration";
export {
  getAuthIntegrations,
  getAuthIntegrationsOutput,
  type GetAuthIntegrationsArgs,
} from "./functions/getAuthIntegrations";
export { getBranches, getBranchesOutput, type GetBranchesArgs } from "./functions/getBranches";
export {
  getComputeEndpoint,
  getComputeEndpointOutput,
  type GetComputeEndpointArgs,
} from "./functions/getComputeEndpoint";
export {
  getComputeEndpoints,
  getComputeEndpointsOutput,
  type GetComputeEndpointsArgs,
} from "./functions/getComputeEndpoints";
export { getDefaultBranch, getDefaultBranchOutput, type GetDefaultBranchArgs } from "./functions/getDefaultBranch";
export {
  getEmailServer,
  getEmailServerOutput,
  type EmailServerOutputResult,
  type EmailServerResult,
  type GetEmailServerArgs,
} from "./functions/getEmailServer";
export {
  getOAuthProviders,
  getOAuthProvidersOutput,
  type GetOAuthProvidersArgs,
  type OAuthProviderResult,
} from "./functions/getOAuthProviders";
export {
  getWhitelistDomains,
  getWhitelistDomainsOutput,
  type GetWhitelistDomainsArgs,
  type WhitelistDomainResult,
} from "./functions/getWhitelistDomains";
export type { LookupOptions, ProjectLookupArgs } from "./functions/lookupOptions";
export { AuthIntegration, type AuthIntegrationArgs } from "./resources/AuthIntegration";
export { AuthKeys, type AuthKeysArgs } from "./resources/AuthKeys";
export { AuthOwnershipTransfer, type AuthOwnershipTransferArgs } from "./resources/AuthOwnershipTransfer";
export { AuthUser, type AuthUserArgs } from "./resources/AuthUser";
export { ComputeEndpoint, type ComputeEndpointArgs, type ComputeSettings } from "./resources/ComputeEndpoint";
export { EmailServer, type EmailServerArgs } from "./resources/EmailServer";
export { OAuthProvider, type OAuthProviderArgs } from "./resources/OAuthProvider";
export { Provider, type ProviderArgs } from "./resources/Provider";
export { Whitelist, type WhitelistArgs } from "./resources/Whitelist";
export { WhitelistDomain, type WhitelistDomainArgs } from "./resources/WhitelistDomain";
export { computeSizes, localDiskGib, localFileCacheGb, ramGb, type ComputeSize } from "./helpers/computeSizes";
export { connectionUri, type ConnectionUriOptions } from "./helpers/connectionUri";
export { maxConnections } from "./helpers/maxConnections";
