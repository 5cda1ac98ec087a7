export {
  ComputeGroup,
  type ComputeGroupArgs,
  type GroupComputeArgs,
  type GroupReplicaArgs,
} from "./components/ComputeGroup";
export { AuthIntegration, type AuthIntegrationArgs } from "./resources/AuthIntegration";
export { AuthKeys, type AuthKeysArgs } from "./resources/AuthKeys";
export { AuthOwnershipTransfer, type AuthOwnershipTransferArgs } from "./resources/AuthOwnershipTransfer";
export { AuthUser, type AuthUserArgs } from "./resources/AuthUser";
export { ComputeEndpoint, type ComputeEndpointArgs, type ComputeSettings } from "./resources/ComputeEndpoint";
export { OAuthProvider, type OAuthProviderArgs } from "./resources/OAuthProvider";
export { Provider, type ProviderArgs } from "./resources/Provider";
export { computeSizes, localDiskGib, localFileCacheGb, ramGb, type ComputeSize } from "./helpers/computeSizes";
export { connectionUri, type ConnectionUriOptions } from "./helpers/connectionUri";
export { maxConnections } from "./helpers/maxConnections";
