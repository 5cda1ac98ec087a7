/** What an application needs from a stack's resources, and the names of its environment variables. */
import { isUnknown } from "../../contract/hiddenKeys";
import { isSecret } from "../../contract/engineSecrets";
import { nameInUrn } from "../../contract/identifiers";
import { kindOfEntry } from "../../contract/pointer";
import { standInsIn } from "../../contract/standIns";
import { type Login, toolsOf } from "../../resources/tools";
import { compareText } from "../output";
import { clearText, isCurrent, type StackState } from "../stack/state";

export interface Variable {
  readonly urn: string;
  readonly output: string;
  /** Undefined if the state has no value, or only an encrypted one. */
  readonly value: string | undefined;
  readonly isSecret: boolean;
  /** A connection string. */
  readonly isUri: boolean;
  /** A missing value is not reported. */
  readonly isOptional: boolean;
}

/** For all current resources, including those that are only read (`get`). */
export function variablesOf({ resources }: StackState, login: Login): Variable[] {
  return resources.filter(isCurrent).flatMap(({ urn, outputs, ...entry }) => {
    const kind = kindOfEntry(entry);
    const sources = (kind && toolsOf(kind).envSources) ?? [];
    return sources.map(({ output, from = output, by, isSecret: always = false, isUri = false, isOptional = false }) => {
      const stored = outputs?.[from];
      const text = clearText(stored);
      const isKnown = text !== undefined && text !== "" && !isUnknown(text) && standInsIn(text).length === 0;
      return {
        urn,
        output,
        value: !isKnown ? undefined : by === undefined ? text : by(text, login),
        isSecret: always || isSecret(stored) || (isUri && login.password !== undefined),
        isUri,
        isOptional,
      };
    });
  });
}

/** `api.host`, as in `--map`. */
export const labelOf = ({ urn, output }: Variable): string => `${nameInUrn(urn)}.${output}`;

/** `--map`: another name for an output of a resource, which is given by name or URN. */
export interface Mapping {
  readonly resource: string;
  readonly output: string;
  readonly name: string;
}

export interface NamedVariable extends Variable {
  readonly name: string;
  /** The name is from `--map`. */
  readonly isMapped: boolean;
}

/**
 * Sorted by name.
 * @throws one error for all problems: an entry of `--map` that matches no output or several, and variables with the
 * same name.
 */
export function named(variables: readonly Variable[], mappings: readonly Mapping[]): NamedVariable[] {
  const problems: string[] = [];
  const given = new Map<Variable, string>();
  for (const { resource, output, name } of mappings) {
    const entry = `--map ${resource}.${output}=${name}`;
    const matching = variables.filter(
      (one) => one.output === output && (one.urn === resource || nameInUrn(one.urn) === resource),
    );
    const [variable, ...others] = matching;
    if (variable === undefined) {
      problems.push(`${entry}: the stack has no ${resource}.${output}. It has ${variables.map(labelOf).join(", ")}`);
    } else if (others.length > 0) {
      const urns = matching.map(({ urn }) => urn).join(", ");
      problems.push(`${entry}: several resources have the name "${resource}". Give the URN of one: ${urns}`);
    } else if (given.has(variable)) {
      problems.push(`${entry}: ${labelOf(variable)} has the name ${given.get(variable)} already`);
    } else {
      given.set(variable, name);
    }
  }
  const all = variables.map((one) => ({
    ...one,
    name: given.get(one) ?? nameOf(one),
    isMapped: given.has(one),
  }));
  if (problems.length === 0) problems.push(...clashes(all));
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return all.toSorted((left, right) => compareText(left.name, right.name));
}

/**
 * `API_POOLED_HOST` for the output `pooledHost` of the resource `api`; a repeated word, as in `authProviderProjectId`
 * of `auth`, appears once.
 */
function nameOf({ urn, output }: Variable): string {
  const name = `${screaming(nameInUrn(urn))}_${screaming(output)}`.replace(
    /(?<=^|_)AUTH_(?=AUTH_PROVIDER_PROJECT_ID$)/,
    "",
  );
  return /^\d/.test(name) ? `_${name}` : name;
}

function screaming(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_|_$/g, "")
    .toUpperCase();
}

/** Among the variables that are written, with or without the secrets. */
function clashes(all: readonly NamedVariable[]): string[] {
  const shown = all.filter(({ value, isSecret }) => value !== undefined || isSecret);
  return [...new Set(shown.map(({ name }) => name))].flatMap((name) => {
    const same = shown.filter((one) => one.name === name);
    if (same.length === 1) return [];
    // The resources differ by name, or only by URN.
    const labels = new Set(same.map(labelOf));
    const which = labels.size === same.length ? [...labels] : same.map(({ urn, output }) => `${urn}.${output}`);
    return [`${name} is the name of ${which.join(" and ")}: set another name with --map '${which[0]}=NAME'`];
  });
}
