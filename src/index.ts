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
  type AuthIntegrationResult,
  type GetAuthIntegrationArgs,
  type GetAuthIntegrationsArgs,
} from "./functions/authIntegrations";
export {
  getBranches,
  getBranchesOutput,
  getDefaultBranch,
  getDefaultBranchOutput,
  type BranchResult,
  type GetBranchesArgs,
  type GetDefaultBranchArgs,
} from "./functions/branches";
export {
  getComputeEndpoint,
  getComputeEndpointOutput,
  getComputeEndpoints,
  getComputeEndpointsOutput,
  type ComputeEndpointResult,
  type GetComputeEndpointArgs,
  type GetComputeEndpointsArgs,
} from "./functions/computeEndpoints";
export { connectionUriOutput } from "./functions/connectionUriOutput";
export {
  getEmailServer,
  getEmailServerOutput,
  type EmailServerOutputResult,
  type EmailServerResult,
  type GetEmailServerArgs,
} from "./functions/emailServer";
export type { LookupOptions, ProjectLookupArgs } from "./functions/lookupOptions";
export {
  getOAuthProviders,
  getOAuthProvidersOutput,
  type GetOAuthProvidersArgs,
  type OAuthProviderResult,
} from "./functions/oauthProviders";
export {
  getWhitelistDomains,
  getWhitelistDomainsOutput,
  type GetWhitelistDomainsArgs,
  type WhitelistDomainResult,
} from "./functions/whitelistDomains";
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
