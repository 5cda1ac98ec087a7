import { type Origin, originsOf } from "../../../components/origins";
import { type ComponentName, componentOfType } from "../../../contract/componentNames";
import { nameInUrn } from "../../../contract/identifiers";
import type { Properties } from "../../../contract/hiddenKeys";
import { type Kind, kindOfEntry } from "../../../contract/pointer";
import { sameJson } from "../../../host/arguments";
import { argumentsOf } from "../../declarations";
import type { StackState } from "../../stack/state";

interface Child {
  readonly kind: Kind;
  readonly name: string;
  readonly urn: string;
}

/** A component of this package. Its arguments in the program include those of its children. */
export class Component {
  readonly name: string;

  private constructor(
    readonly kind: ComponentName,
    readonly urn: string,
    readonly children: readonly Child[],
  ) {
    this.name = nameInUrn(urn);
  }

  /** The component that is the resource's parent. */
  static of(urn: string, { resources }: StackState): Component | undefined {
    const parent = resources.find((one) => one.urn === urn && one.delete !== true)?.parent;
    const kind = componentOfType(resources.find((one) => one.urn === parent)?.type ?? "");
    if (kind === undefined || parent === undefined) return undefined;
    const children = resources.filter((one) => one.parent === parent && one.delete !== true);
    return new Component(
      kind,
      parent,
      children.flatMap(({ urn: child, ...entry }) => {
        const childKind = kindOfEntry(entry);
        return childKind === undefined ? [] : { kind: childKind, name: nameInUrn(child), urn: child };
      }),
    );
  }

  /**
   * The positions of a child's arguments in those of the component, by name. `known`: the component's known arguments.
   */
  originsOf(child: { readonly kind: Kind; readonly name: string }, known: Properties): ReadonlyMap<string, Origin> {
    return originsOf(this.kind, { name: this.name, args: known }, child, argumentsOf(child.kind));
  }

  /** The other children that get an argument from the same place. */
  alsoFrom(origin: Origin, argument: string, urn: string, known: Properties): readonly Child[] {
    return this.children.filter(
      (child) => child.urn !== urn && sameJson(this.originsOf(child, known).get(argument), origin),
    );
  }
}
