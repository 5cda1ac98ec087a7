import * as pulumi from "@pulumi/pulumi";
import { isObject, mustBe, wordFor } from "../helpers/given";

/** The engine does not pass `customTimeouts` on to the children of a component. */
export function childOptions(
  parent: pulumi.ComponentResource,
  { customTimeouts }: pulumi.ComponentResourceOptions = {},
): pulumi.CustomResourceOptions {
  return { parent, ...(customTimeouts !== undefined && { customTimeouts }) };
}

/** @throws all problems of a component at once. A program without types can give anything. */
export function refuse(owner: string, opts: unknown, problems: readonly string[]): void {
  const all = [
    ...problems,
    ...(opts === undefined || isObject(opts) ? [] : [`the options must be an object, not ${wordFor(opts)}`]),
    ...(isObject(opts) && opts["id"] !== undefined
      ? ['the option "id" looks up one resource, and a component consists of several. Remove it']
      : []),
  ];
  if (all.length > 0) throw new pulumi.RunError(`${owner}: ${all.join("; ")}`);
}

/** For arguments that decide which resources exist, so they must be known when the program runs. */
export function flagProblems(args: unknown, name: string): string[] {
  const value = isObject(args) ? args[name] : undefined;
  if (value === undefined || typeof value === "boolean") return [];
  return [`${name}: ${mustBe("true or false", "boolean", value)}`];
}
