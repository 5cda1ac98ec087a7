import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = config.get("projectId") ?? "prj-demo";
const branchId = config.get("branchId") ?? "br-dev";

/** The compute of a branch: it grows to 2 CU under load, and sleeps after five quiet minutes. */
const api = new svc.ComputeEndpoint("api", {
  projectId,
  branchId,
  size: { min: 0.5, max: 2 },
});

/** Managed auth, with its users synchronized into a database of the production branch, which the service knows. */
const auth = new svc.AuthIntegration("auth", {
  projectId,
  databaseName: "svcdb",
  roleName: "svcdb_owner",
});

export const host = api.host;
export const endpointId = api.endpointId;
export const jwksUrl = auth.jwksUrl;
/** Encrypted in the state, shown as [secret]. */
export const secretServerKey = auth.secretServerKey;
