import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();
const projectId = config.get("projectId") ?? "prj-demo";
const stack = pulumi.getStack();

/** What a pull request has of its own: a compute on its branch, and the address of its site, to which a sign-in returns. */
function preview(): { host: pulumi.Output<string> } {
  new svc.WhitelistDomain("site", { projectId, domain: config.require("site") });
  const compute = new svc.ComputeEndpoint("compute", {
    projectId,
    branchId: config.require("branchId"),
    name: stack,
    size: { min: 0.25, max: 1 },
  });
  return { host: compute.host };
}

/** What all pull requests share: the users, and how they sign in. */
function application(): { jwksUrl: pulumi.Output<string> } {
  const auth = new svc.AuthIntegration("auth", { projectId, branchId: config.get("branchId") ?? "br-main" });
  return { jwksUrl: auth.jwksUrl };
}

// The outputs. Stacks of other names are the application itself.
export = /^pr-\d+$/.test(stack) ? preview() : application();
