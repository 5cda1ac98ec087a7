import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { declaration, type ComputeEndpointShape, type ComputeEndpointOutputs } from "./computeEndpointDeclaration";

export type { ComputeSettings } from "./computeEndpointDeclaration";

export interface ComputeEndpointArgs extends ArgumentsOf<ComputeEndpointShape> {
  projectId: pulumi.Input<string>;
}

/**
 * The Postgres compute of a branch: its primary, or a read replica. Its Pulumi id is `<project>/<endpoint id>`.
 *
 * A creation and a change wait until the compute is active (a disabled one, and a new replica, may be idle), within
 * `customTimeouts`, 10 minutes by default. Destroying deletes the compute, also if it was adopted (unless
 * `retainOnDelete` is set). A compute that is created again has another host.
 *
 * The program of examples/quickstart declares one.
 *
 * @example
 * ```ts
 * const api = new svc.ComputeEndpoint("api", {
 *   projectId: "prj-demo",
 *   branchId: "br-dev",
 *   size: { min: 0.5, max: 2 },
 *   scaleToZero: true,
 * });
 * export const host = api.host;
 * ```
 */
export class ComputeEndpoint extends resource<ComputeEndpointArgs, ComputeEndpointShape, ComputeEndpointOutputs>(
  declaration,
) {
  /** Looks up a compute by its id `<project>/<endpoint id>`. It is not managed. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): ComputeEndpoint {
    return new ComputeEndpoint(name, NO_ARGUMENTS, { ...opts, id });
  }
}
