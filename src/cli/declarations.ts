/** Facts about each kind from its declaration and tools, for commands that handle all kinds. */
import type { Container } from "../contract/claims";
import { type Kind, KINDS } from "../contract/pointer";
import { idForm } from "../contract/objectIds";
import { isImported } from "../runtime/imported";
import { argumentRules, lifecycleOf } from "../resources/lifecycles";
import { toolsOf } from "../resources/tools";

/** The names of a kind's arguments. */
export const argumentsOf = (kind: Kind): string[] => Object.keys(argumentRules(kind));

/** The arguments that name a container of the object, and the kind of each container: the object is deleted with it. */
export const containersOf = (kind: Kind): ReadonlyMap<string, Container> =>
  new Map(
    Object.entries(argumentRules(kind)).flatMap(([name, { container }]) => (container ? [[name, container]] : [])),
  );

/** Whether an object of this kind lives in one of that kind. */
export const livesIn = (kind: Kind, container: Kind): boolean =>
  [...containersOf(kind).values()].some((one) => one === container);

/** The kinds whose resource declares all objects of this kind in its project. Its id is the project. */
export const gatherersOf = (kind: Kind): Kind[] => KINDS.filter((one) => toolsOf(one).gathers?.kind === kind);

/** The arguments that an imported program sets: those that the service shows and an update sends. */
export const importedArguments = (kind: Kind): string[] =>
  Object.entries(argumentRules(kind)).flatMap(([name, rules]) => (isImported(rules) ? [name] : []));

/** The values of arguments that a new object has anyway. An imported program does not set them. */
export const standardsOf = (kind: Kind): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(argumentRules(kind)).map(([name, { standard, assumed }]) => [name, standard ?? assumed]),
  );

/** The one form of all ids that mean the same object of this kind. */
export function objectForm(kind: Kind, id: string): string {
  const { id: rules } = lifecycleOf(kind);
  const form = rules === undefined ? id : idForm(rules, argumentRules(kind), id);
  return `${kind} ${toolsOf(kind).objectId?.(form) ?? form}`;
}
