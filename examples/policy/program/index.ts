import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();

/** policy-config.json accepts that it never sleeps. That it is not protected is reported. */
const api = new svc.ComputeEndpoint("api", {
  projectId: config.get("projectId") ?? "prj-demo",
  branchId: config.get("branchId") ?? "br-dev",
  size: config.getNumber("size") ?? 2,
  scaleToZero: false,
});

export const host = api.host;
