import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = config.get("projectId") ?? "prj-demo";

const api = new svc.ComputeEndpoint("api", {
  projectId,
  branchId: config.get("branchId") ?? "br-dev",
  size: { min: 0.5, max: 2 },
});

const auth = new svc.AuthIntegration("auth", { projectId });

/** A new integration offers these two with the shared keys of the service. Nobody is to sign in with them. */
for (const providerId of ["google", "github"]) {
  new svc.OAuthProvider(providerId, { projectId: auth.projectId, providerId, absent: true, adopt: true });
}

/** The whole list: a domain that somebody adds by hand is drift. */
const domains = new svc.Whitelist("domains", {
  projectId: auth.projectId,
  domains: ["https://app.example.com"],
});

export const host = api.host;
export const redirectDomains = domains.domains;
