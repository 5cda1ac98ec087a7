import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = config.get("projectId") ?? "prj-demo";

/** Reports read from the production branch, whichever that is. */
const production = svc.getDefaultBranchOutput({ projectId });

const reports = new svc.ComputeEndpoint("reports", {
  projectId,
  branchId: production.branchId,
  type: "read_only",
  size: { min: 0.5, max: 2 },
});

export const host = reports.host;
