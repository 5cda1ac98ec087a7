import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = config.get("projectId") ?? "prj-demo";

/** What the application's queries run on. */
const compute = new svc.ComputeEndpoint("app", {
  projectId,
  branchId: config.get("branchId") ?? "br-dev",
  size: config.getNumber("size") ?? 0.5,
});

/** Who signs in, and whose tokens the application takes. */
const auth = new svc.AuthIntegration("auth", { projectId });

/** Where users come back to after they have signed in. */
new svc.WhitelistDomain("app", {
  projectId: auth.projectId,
  domain: config.get("origin") ?? "https://app.example.com",
});

/** With the emulator, its gate: SVC_POSTGRES_GATE is set for what `--exec` runs. */
export const databaseUrl = svc.connectionUriOutput({
  host: compute.host,
  database: "svcdb",
  role: "svcdb_owner",
  password: config.requireSecret("databasePassword"),
});
export const jwksUrl = auth.jwksUrl;
export const audience = auth.authProviderProjectId;
