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
  type ProjectAuthProviders,
} from "./components/ProjectAuth";
export {
  getAuthIntegration,
  getAuthIntegrationOutput,
  getAuthIntegrations,
  getAuthIntegrationsOutput,
} from "./lookups/authIntegrations";
export { getBranches, getBranchesOutput, getDefaultBranch, getDefaultBranchOutput } from "./lookups/branches";
export {
  getComputeEndpoint,
  getComputeEndpointOutput,
  getComputeEndpoints,
  getComputeEndpointsOutput,
} from "./lookups/computeEndpoints";
export { connectionUriOutput } from "./lookups/connectionUriOutput";
export { getEmailServer, getEmailServerOutput } from "./lookups/emailServer";
export type { LookupOptions } from "./lookups/lookupOptions";
export { getOAuthProviders, getOAuthProvidersOutput } from "./lookups/oauthProviders";
export { getWhitelistDomains, getWhitelistDomainsOutput } from "./lookups/whitelistDomains";
export type {
  AuthIntegrationResult,
  BranchResult,
  ComputeEndpointResult,
  EmailServerOutputResult,
  EmailServerResult,
  GetAuthIntegrationArgs,
  GetAuthIntegrationsArgs,
  GetBranchesArgs,
  GetComputeEndpointArgs,
  GetComputeEndpointsArgs,
  GetDefaultBranchArgs,
  GetEmailServerArgs,
  GetOAuthProvidersArgs,
  GetWhitelistDomainsArgs,
  OAuthProviderResult,
  ProjectLookupArgs,
  WhitelistDomainResult,
} from "./lookups/queries/types";
export { AuthIntegration, type AuthIntegrationArgs } from "./resources/authIntegration/AuthIntegration";
export { AuthKeys, type AuthKeysArgs } from "./resources/authKeys/AuthKeys";
export {
  AuthOwnershipTransfer,
  type AuthOwnershipTransferArgs,
} from "./resources/authOwnershipTransfer/AuthOwnershipTransfer";
export { AuthUser, type AuthUserArgs } from "./resources/authUser/AuthUser";
export {
  ComputeEndpoint,
  type ComputeEndpointArgs,
  type ComputeSettings,
} from "./resources/computeEndpoint/ComputeEndpoint";
export {
  EmailServer,
  type EmailServerArgs,
  type SharedEmailServerArgs,
  type StandardEmailServerArgs,
} from "./resources/emailServer/EmailServer";
export {
  OAuthProvider,
  type OAuthProviderArgs,
  type OAuthProviderId,
  type SharedOAuthProviderArgs,
  type StandardOAuthProviderArgs,
} from "./resources/oauthProvider/OAuthProvider";
export { Provider, type ProviderArgs } from "./program/Provider";
export { fromEnv, fromFile, type SecretReference } from "./program/secretReferences";
export { Whitelist, type DatedDomain, type WhitelistArgs } from "./resources/whitelist/Whitelist";
export { WhitelistDomain, type WhitelistDomainArgs } from "./resources/whitelist/WhitelistDomain";
export {
  computeSizes,
  localDiskGib,
  localFileCacheGb,
  ramGb,
  type AutoscalingCu,
  type ComputeCu,
  type ComputeSize,
} from "./helpers/computeSizes";
export { connectionUri, type ConnectionUriOptions } from "./helpers/connectionUri";
export { maxConnections } from "./helpers/maxConnections";
