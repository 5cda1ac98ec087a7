export {
  ComputeGroup,
  type ComputeGroupArgs,
  type GroupComputeArgs,
  type GroupReplicaArgs,
} from "./components/ComputeGroup";
export { AuthIntegration, type AuthIntegrationArgs } from "./resources/AuthIntegration";
export { ComputeEndpoint, type ComputeEndpointArgs, type ComputeSettings } from "./resources/ComputeEndpoint";
export { Provider, type ProviderArgs } from "./resources/Provider";
export { computeSizes, localDiskGib, localFileCacheGb, ramGb, type ComputeSize } from "./helpers/computeSizes";
export { connectionUri, type ConnectionUriOptions } from "./helpers/connectionUri";
export { maxConnections } from "./helpers/maxConnections";
