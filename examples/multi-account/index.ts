import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();

interface TenantArgs {
  projectId: string;
  branchId: string;
  /** The largest size in compute units. */
  largest: number;
}

/** What each account gets. All in it goes where its provider goes: nothing here names an account. */
class Tenant extends pulumi.ComponentResource {
  readonly host: pulumi.Output<string>;

  constructor(name: string, { projectId, branchId, largest }: TenantArgs, opts: pulumi.ComponentResourceOptions) {
    super("multi-account:index:Tenant", name, {}, opts);
    const compute = new svc.ComputeEndpoint(
      `${name}-api`,
      { projectId, branchId, size: { min: 0.5, max: largest } },
      { parent: this },
    );
    new svc.ProjectAuth(
      `${name}-auth`,
      { projectId, redirectDomains: [`https://${name}.example.com`] },
      { parent: this },
    );
    this.host = compute.host;
    this.registerOutputs({ host: this.host });
  }
}

const hosts: Record<string, pulumi.Output<string>> = {};
const defaultBranches: Record<string, pulumi.Output<string>> = {};
for (const { name, apiKeyEnv, largest } of [
  { name: "staging", apiKeyEnv: "STAGING_SVC_KEY", largest: 1 },
  { name: "production", apiKeyEnv: "PRODUCTION_SVC_KEY", largest: 4 },
]) {
  const projectId = config.require(`${name}ProjectId`);
  // One provider for each account, with the name of its key. Settings that it is not given come from the stack's svc:
  // settings.
  const provider = new svc.Provider(name, { apiKeyEnv, baseUrl: config.require(`${name}BaseUrl`) });
  hosts[name] = new Tenant(
    name,
    { projectId, branchId: config.require(`${name}BranchId`), largest },
    { provider },
  ).host;
  // A function, too, uses the default account unless it is given another provider.
  defaultBranches[name] = svc.getDefaultBranchOutput({ projectId }, { provider }).branchId;
}

export { hosts, defaultBranches };
