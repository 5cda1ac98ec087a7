import type * as ts from "typescript";
import { sameJson } from "../../../runtime/arguments";
import type { Obstacle } from "./propertyPlace";
import type { ProgramFile } from "./programFile";
import type { Action } from "./splices";
import { codeOf, literalValue, quoteOf } from "./value";

/**
 * The edits that change a list in the program to the found one: element by element if the order matters, or if no
 * element remains to insert after.
 * @param values `current`: the normalised elements
 */
export function listActions(
  file: ProgramFile,
  node: ts.ArrayLiteralExpression,
  { current, found }: { readonly current: readonly unknown[]; readonly found: readonly unknown[] },
): { readonly node: ts.Node; readonly actions: readonly Action[] } | Obstacle {
  const added: unknown[] = [...found];
  const kept = node.elements.filter((_element, index) => {
    const at = added.findIndex((value) => sameJson(value, current[index]));
    if (at !== -1) added.splice(at, 1);
    return at !== -1;
  });
  const order = [...kept.map((element) => current[node.elements.indexOf(element)]), ...added];
  const isInPlace = !sameJson(order, found) || kept.length === 0;
  const changed = node.elements.filter((element, index) =>
    isInPlace ? !sameJson(current[index], found[index]) : !kept.includes(element),
  );
  if (changed.some((element) => literalValue(file, element) === undefined))
    return { node, reason: "an element of the list that differs is not a literal" };
  const actions = changed.map((element): Action => {
    const index = node.elements.indexOf(element);
    if (!isInPlace || index >= found.length) return { remove: element, list: node };
    return { replace: element, by: codeOf(found[index], quoteOf(file, element)) };
  });
  const [first] = node.elements;
  const quote = first === undefined ? file.quote : quoteOf(file, first);
  const rest = isInPlace ? found.slice(node.elements.length) : added;
  return { node, actions: [...actions, ...rest.map((value) => ({ add: codeOf(value, quote), list: node }))] };
}
