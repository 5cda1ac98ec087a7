import type * as pulumi from "@pulumi/pulumi";

/** The engine hands no `customTimeouts` on to the children of a component. */
export function childOptions(
  parent: pulumi.ComponentResource,
  { customTimeouts }: pulumi.ComponentResourceOptions = {},
): pulumi.CustomResourceOptions {
  return { parent, ...(customTimeouts !== undefined && { customTimeouts }) };
}
