/**
 * A plan's warning if a refresh has shown that a resource was renamed or moved without an alias (docs/design/engine.md,
 * Options).
 */
import { componentOfType, MAIN_CHILD } from "../contract/componentNames";
import { kindOfType } from "../contract/pointer";
import { nameInUrn, typeInUrn } from "../contract/identifiers";

/** `urn` is new in the program, and declares what the state holds as `oldUrn`. Undefined if no advice would help. */
export function renamedWarning(urn: string, oldUrn: string): string | undefined {
  const [name, oldName] = [nameInUrn(urn), nameInUrn(oldUrn)];
  const alias = aliasFor(urn, oldUrn);
  if (alias === undefined) return undefined;
  return (
    `"${name}" declares an object that the stack holds as "${oldName}". If this plan deletes "${oldName}", the resource was ` +
    `renamed or moved: add aliases: [${alias.line}] to the options of ${alias.of}, and nothing is created or deleted`
  );
}

function aliasFor(urn: string, oldUrn: string): { line: string; of: string } | undefined {
  const [name, oldName] = [nameInUrn(urn), nameInUrn(oldUrn)];
  const [parents, oldParents] = [parentTypes(urn), parentTypes(oldUrn)];
  const component = componentOfType(parents.at(-1) ?? "");
  const isSamePlace = parents.join() === oldParents.join();
  // An alias leaves the old URN in the state, so the present name may be an earlier one.
  if (isSamePlace && name === oldName) return undefined;
  const named = name === oldName ? "" : `name: ${JSON.stringify(oldName)}`;
  if (component !== undefined) {
    // A program can give an alias only to the component, and one warning is enough for everything that it makes.
    const { kind, suffix } = MAIN_CHILD[component];
    if (!isSamePlace || kindOfType(typeInUrn(urn)) !== kind) return undefined;
    if (!name.endsWith(suffix) || !oldName.endsWith(suffix)) return undefined;
    const [of, old] = [name, oldName].map((one) => one.slice(0, one.length - suffix.length));
    return { line: `{ name: ${JSON.stringify(old)} }`, of: `the ${component} "${of}"` };
  }
  const of = `"${name}"`;
  if (isSamePlace) return { line: `{ ${named} }`, of };
  const line = ["parent: pulumi.rootStackResource", named].filter((part) => part !== "").join(", ");
  return { line: oldParents.length === 0 ? `{ ${line} }` : JSON.stringify(oldUrn), of };
}

/** The types of a resource's parents, from the outermost. */
const parentTypes = (urn: string): string[] => urn.split("::")[2]?.split("$").slice(0, -1) ?? [];
