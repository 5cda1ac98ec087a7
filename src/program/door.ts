/** The door through which the resources of this program go: one for the whole process. */
import type { Door } from "../contract/pointer";
import { shownAlone } from "../helpers/shownAlone";

let door: Door = "dynamic";
let isUsed = false;

/** The door, for a resource that is declared now. */
export function usedDoor(): Door {
  isUsed = true;
  return door;
}

/** @throws when resources are declared already: half of a program would be native. */
export function chooseNative(): void {
  if (isUsed && door === "dynamic") {
    throw shownAlone(
      new Error(
        'pulumi-svc/native: this program has already declared resources by "pulumi-svc". Import "pulumi-svc/native" in its place, or before anything that declares resources.',
      ),
    );
  }
  door = "native";
}
