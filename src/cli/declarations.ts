/** Facts about each kind from its declaration, for commands that handle all kinds. */
import type { Kind } from "../contract/pointer";
import { idForm } from "../contract/objectIds";
import { presentId } from "../contract/oauthProviderId";
import { isImported } from "../host/imported";
import { argumentRules, lifecycleOf } from "../resources/lifecycles";

/** The names of a kind's arguments. */
export const argumentsOf = (kind: Kind): string[] => Object.keys(argumentRules(kind));

/** Whether an object of this kind belongs to an auth integration and is deleted with it. */
export const livesInIntegration = (kind: Kind): boolean => argumentRules(kind)["projectId"]?.replaces === "container";

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
  // A provider that is declared absent, but exists, is in the state nevertheless: that is drift.
  return `${kind} ${kind === "OAuthProvider" ? presentId(form).id : form}`;
}
