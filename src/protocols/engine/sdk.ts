import { createRequire } from "node:module";

/**
 * Loads modules of the program's Pulumi SDK, and what it depends on: grpc-js and google-protobuf are dependencies of
 * the SDK, not ours. The SDK itself is resolved and not loaded.
 */
export const ofSdk = (): NodeJS.Require => createRequire(require.resolve("@pulumi/pulumi"));
