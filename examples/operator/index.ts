import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = config.get("projectId") ?? "prj-demo";
// Nobody looks at a plan before the operator deploys it: a deletion of one of these, or a replacement, has to fail.
const deletionProtection = config.getBoolean("deletionProtection") ?? true;

const compute = new svc.ComputeEndpoint("api", {
  projectId,
  branchId: config.get("branchId") ?? "br-dev",
  size: { min: 0.25, max: 2 },
  deletionProtection,
});

const auth = new svc.AuthIntegration("auth", { projectId, deletionProtection });
new svc.WhitelistDomain("app", {
  projectId: auth.projectId,
  domain: config.get("appOrigin") ?? "https://app.example.com",
});

export const host = compute.host;
export const jwksUrl = auth.jwksUrl;
