import { type Origin, originsOf } from "../../../components/origins";
import { type ComponentName, componentOfType } from "../../../contract/componentNames";
import { nameInUrn } from "../../../contract/identifiers";
import type { Properties } from "../../../contract/hiddenKeys";
import { KINDS, type Kind, typeToken } from "../../../contract/pointer";
import { sameJson } from "../../../host/arguments";
import type { StackState } from "../../stack/state";

interface Child {
  readonly kind: Kind;
  readonly name: string;
  readonly urn: string;
}

/** A component of this package. The program has the arguments of its children among its own. */
export class Component {
  readonly name: string;

  private constructor(
    readonly kind: ComponentName,
    readonly urn: string,
    readonly children: readonly Child[],
  ) {
    this.name = nameInUrn(urn);
  }

  /** The one that a resource is a child of. */
  static of(urn: string, { resources }: StackState): Component | undefined {
    const parent = resources.find((one) => one.urn === urn && one.delete !== true)?.parent;
    const kind = componentOfType(resources.find((one) => one.urn === parent)?.type ?? "");
    if (kind === undefined || parent === undefined) return undefined;
    const children = resources.filter((one) => one.parent === parent && one.delete !== true);
    return new Component(
      kind,
      parent,
      children.flatMap(({ urn: child, type }) => {
        const childKind = KINDS.find((one) => typeToken(one) === type);
        return childKind === undefined ? [] : { kind: childKind, name: nameInUrn(child), urn: child };
      }),
    );
  }

  /** Where the arguments of a child stand among those of the component, by their names. `known`: what is known of these. */
  originsOf(child: { readonly kind: string; readonly name: string }, known: Properties): ReadonlyMap<string, Origin> {
    return originsOf(this.kind, { name: this.name, args: known }, child);
  }

  /** The other children that have an argument from the same place. */
  alsoFrom(origin: Origin, argument: string, urn: string, known: Properties): readonly Child[] {
    return this.children.filter(
      (child) => child.urn !== urn && sameJson(this.originsOf(child, known).get(argument), origin),
    );
  }
}
