import { protocolOf, isOurEntry } from "../../contract/pointer";
import { namesPlugin } from "./projectFile";
import type { StackState } from "./state";

/**
 * Why the engine may not find the plugin that it reads and deletes native resources with, and what to do; undefined if
 * Pulumi.yaml names it, or the state holds none. The plugin may still be on PATH.
 */
export function missingPackage(folder: string, { resources }: StackState): MissingPackage | undefined {
  const isNative = resources.some((one) => isOurEntry(one) && protocolOf(one.type) === "native");
  return isNative && !namesPlugin(folder) ? MISSING : undefined;
}

interface MissingPackage {
  readonly what: string;
  readonly remedy: string;
}

const MISSING: MissingPackage = {
  what: "the stack holds native resources, and Pulumi.yaml names no package",
  remedy:
    'Add "packages: { svc: ./node_modules/pulumi-svc/plugin }" to Pulumi.yaml. If the program imports pulumi-svc by now, run a whole pulumi up, and then remove the entry.',
};
