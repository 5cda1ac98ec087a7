import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();

/** One compute to write, two to read from. The replicas are sized by themselves and sleep when nobody reads. */
const computes = new svc.ComputeGroup("orders", {
  projectId: config.get("projectId") ?? "prj-demo",
  branchId: config.get("branchId") ?? "br-dev",
  primary: { size: { min: 1, max: 4 }, scaleToZero: false },
  replicas: [
    { key: "api", size: { min: 0.5, max: 2 } },
    { key: "reports", size: 1, scaleToZero: { afterSeconds: 60 } },
  ],
});

/** A password is a secret, and so is whatever holds one. */
const password = config.getSecret("databasePassword") ?? pulumi.secret("set databasePassword");

const uriOf = ({ host }: svc.ComputeEndpoint): pulumi.Output<string> =>
  pulumi
    .all([host, password])
    .apply(([address, secret]) =>
      svc.connectionUri({ host: address, database: "svcdb", role: "svcdb_owner", password: secret, pooled: true }),
    );

export const hosts = computes.hosts;
export const connectionUri = uriOf(computes.primary);
export const replicaUris = computes.replicas.map(uriOf);
