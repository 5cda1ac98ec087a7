import { isKind, KINDS, nativeToken, typeToken, type Protocol, type Kind } from "../../../../src/contract/pointer";

/** Beside our kinds: a component that contains others, and somebody else's dynamic resource. */
export type AnyKind = Kind | "Group" | "Foreign";

const TYPES: Readonly<Record<AnyKind, string>> = {
  ...(Object.fromEntries(KINDS.map((kind) => [kind, typeToken(kind)])) as Record<Kind, string>),
  Group: "chance:index:Group",
  Foreign: "pulumi-nodejs:dynamic:Resource",
};

const PREFIX = "urn:pulumi:dev::proj::";

/** `parent`: its URN. */
export const urnOf = (kind: AnyKind, name: string, parent?: string, protocol?: Protocol): string =>
  childUrn(protocol === "native" && isKind(kind) ? nativeToken(kind) : TYPES[kind], name, parent);

const childUrn = (type: string, name: string, parent?: string): string =>
  `${PREFIX}${parent === undefined ? "" : `${typesIn(parent)}$`}${type}::${name}`;

/** The types from the outermost parent to the resource. */
const typesIn = (urn: string): string => urn.split("::")[2] ?? "";

const nameIn = (urn: string): string => urn.split("::").at(-1) ?? "";

/** A URN that a child had while its parent was `parentAlias`: a name that begins with the parent's follows it. */
export function inheritedAlias(child: string, parent: string, parentAlias: string): string {
  const [name, parentName] = [nameIn(child), nameIn(parent)];
  const former = name.startsWith(parentName) ? `${nameIn(parentAlias)}${name.slice(parentName.length)}` : name;
  return childUrn(typesIn(child).split("$").at(-1) ?? "", former, parentAlias);
}

export const renamedUrn = (urn: string, name: string): string => [...urn.split("::").slice(0, -1), name].join("::");
