import { type ComponentName, componentOfType } from "../../../contract/componentNames";
import { nameInUrn } from "../../../contract/identifiers";
import type { StackState } from "../../stack/state";

/** A component of this package. Its arguments in the program include those of its children. */
export interface Component {
  readonly kind: ComponentName;
  readonly name: string;
}

/** The component that is the resource's parent. */
export function componentOf(urn: string, { resources }: StackState): Component | undefined {
  const parent = resources.find((one) => one.urn === urn && one.delete !== true)?.parent;
  const kind = componentOfType(resources.find((one) => one.urn === parent)?.type ?? "");
  return kind && parent !== undefined ? { kind, name: nameInUrn(parent) } : undefined;
}
