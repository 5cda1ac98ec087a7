/** Objects of the service that several entries of one state hold: each can change and delete them for the others. */
import { serviceOf } from "../../contract/address";
import { nameInUrn } from "../../contract/identifiers";
import { type Kind, kindOfEntry } from "../../contract/pointer";
import { ENVIRONMENT } from "../../contract/settings";
import { listed } from "../../contract/untrusted";
import { storedFrom } from "../../runtime/state";
import { lifecycleOf } from "../../resources/lifecycles";
import { compareText } from "../output";
import { isCurrent, type StackState } from "./state";

interface Holder {
  readonly urn: string;
  readonly kind: Kind;
  readonly name: string;
  readonly id: string;
}

export interface SharedObject {
  /** As messages name them. Two whitelists may share many. */
  readonly objects: readonly string[];
  /** Which of them the program declares, the state does not say. */
  readonly resources: readonly Holder[];
}

/** What the state has twice, for example after a rename without an alias, with `adopt` and `--target`. */
export function sharedObjectsIn(state: StackState): SharedObject[] {
  const held = new Map<string, { object: string; holders: Map<string, Holder> }>();
  for (const resource of state.resources) {
    const { urn, id = "", outputs, provider = "", external } = resource;
    const kind = kindOfEntry(resource);
    // A look-up holds nothing, nor does what a replacement has left or deleted.
    if (kind === undefined || id === "" || external === true || !isCurrent(resource)) continue;
    const lifecycle = lifecycleOf(kind);
    for (const object of lifecycle.objects(id, storedFrom(lifecycle, id, outputs ?? {}).outs)) {
      const key = JSON.stringify([serviceFor(state, provider), object]);
      const one = held.get(key) ?? { object, holders: new Map<string, Holder>() };
      one.holders.set(urn, { urn, kind, name: nameInUrn(urn), id });
      held.set(key, one);
    }
  }
  const groups = new Map<string, { objects: string[]; resources: Holder[] }>();
  for (const { object, holders } of held.values()) {
    if (holders.size < 2) continue;
    const resources = [...holders.values()].toSorted((left, right) => compareText(left.urn, right.urn));
    const key = JSON.stringify(resources);
    const group = groups.get(key) ?? { objects: [], resources };
    group.objects.push(object);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Another service may have an object of the same name. */
function serviceFor(state: StackState, provider: string): string {
  const address = state.settingsOf(provider)("baseUrl") ?? process.env[ENVIRONMENT.baseUrl] ?? "";
  return URL.canParse(address) ? serviceOf(address) : address;
}

const MOST_OBJECTS = 3;

/** For messages. */
export const objectsText = ({ objects }: Pick<SharedObject, "objects">): string => listed(objects, MOST_OBJECTS);

/** The command that removes an entry from the state. It deletes nothing at the service. */
export const removalOf = ({ urn }: Pick<Holder, "urn">): string =>
  `pulumi state delete '${urn.replaceAll("'", `'\\''`)}'`;
