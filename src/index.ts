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
} from "./functions/authIntegrations";
export { getBranches, getBranchesOutput, getDefaultBranch, getDefaultBranchOutput } from "./functions/branches";
export {
  getComputeEndpoint,
  getComputeEndpointOutput,
  getComputeEndpoints,
  getComputeEndpointsOutput,
} from "./functions/computeEndpoints";
export { connectionUriOutput } from "./functions/connectionUriOutput";
export { getEmailServer, getEmailServerOutput } from "./functions/emailServer";
export type { LookupOptions } from "./functions/lookupOptions";
export { getOAuthProviders, getOAuthProvidersOutput } from "./functions/oauthProviders";
export { getWhitelistDomains, getWhitelistDomainsOutput } from "./functions/whitelistDomains";
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
} from "./queries/types";
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
