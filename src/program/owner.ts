import * as pulumi from "@pulumi/pulumi";
import { wordFor } from "../helpers/given";

/**
 * What messages of the program call a resource: `ComputeEndpoint "api"`.
 * @throws without a name, of which the SDK would say more in a stack trace than in words.
 */
export function ownerOf(what: string, name: unknown): string {
  if (typeof name === "string" && name !== "") return `${what} "${name}"`;
  const given =
    name === undefined
      ? "is missing"
      : `must be a string${name === "" ? " that is not empty" : `, not ${wordFor(name)}`}`;
  throw new pulumi.RunError(`${what}: the name of the resource, the first argument, ${given}.`);
}
