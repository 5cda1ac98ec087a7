import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = config.get("projectId") ?? "prj-demo";

const api = new svc.ComputeEndpoint("api", {
  projectId,
  branchId: config.get("branchId") ?? "br-dev",
  size: { min: 0.5, max: 2 },
});

/** The whole list: a domain that somebody adds by hand is drift. */
const domains = new svc.Whitelist("domains", {
  projectId: new svc.AuthIntegration("auth", { projectId }).projectId,
  domains: ["https://app.example.com"],
});

export const host = api.host;
export const redirectDomains = domains.domains;
