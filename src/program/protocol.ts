/** The protocol through which the resources of this program go: one for the whole process. */
import type { Protocol } from "../contract/pointer";
import { shownAlone } from "../helpers/shownAlone";

let protocol: Protocol = "dynamic";
let isUsed = false;

/** The protocol, for a resource that is declared now. */
export function usedProtocol(): Protocol {
  isUsed = true;
  return protocol;
}

/** @throws when resources are declared already: half of a program would be native. */
export function chooseNative(): void {
  if (isUsed && protocol === "dynamic") {
    throw shownAlone(
      new Error(
        'pulumi-svc/native: this program has already declared resources by "pulumi-svc". Import "pulumi-svc/native" in its place, or before anything that declares resources.',
      ),
    );
  }
  protocol = "native";
}
