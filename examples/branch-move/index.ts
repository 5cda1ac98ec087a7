import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();

/** The compute that an application connects to. Another `branchId` moves it: same id, same host, other data. */
const app = new svc.ComputeEndpoint("app", {
  projectId: config.get("projectId") ?? "prj-demo",
  branchId: config.get("branchId") ?? "br-dev",
  size: { min: 0.5, max: 2 },
});

export const branchId = app.branchId;
export const endpointId = app.endpointId;
export const host = app.host;
