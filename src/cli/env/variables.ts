/** What an application needs from the resources of a stack, and the names that it has as environment variables. */
import { isUnknown } from "../../contract/hiddenKeys";
import { isSecret } from "../../contract/engineSecrets";
import { nameInUrn } from "../../contract/identifiers";
import { type Kind, KINDS, typeToken } from "../../contract/pointer";
import { standInsIn } from "../../contract/standIns";
import { connectionUri, pooledHost } from "../../helpers/connectionUri";
import { compareText } from "../output";
import { clearText, type StackState } from "../stack/state";

/** Who connects to what: no state holds it. */
export interface Login {
  readonly role?: string | undefined;
  readonly database?: string | undefined;
  readonly password?: string | undefined;
}

/** In a connection string, where nothing is given. Plain letters: they stand in a URI as they are. */
export const PLACEHOLDERS: Record<keyof Login, string> = { role: "ROLE", database: "DATABASE", password: "PASSWORD" };

/** What a variable is made from. */
interface Source {
  readonly output: string;
  /** The output in the state. @default the same */
  readonly from?: string;
  readonly by?: (stored: string, login: Login) => string;
  /** Whatever the state says. */
  readonly isSecret?: true;
  readonly isUri?: true;
  /** The service may not show it. */
  readonly isOptional?: true;
}

const uri = (host: string, login: Login, pooled: boolean): string => {
  const { role = PLACEHOLDERS.role, database = PLACEHOLDERS.database, password = PLACEHOLDERS.password } = login;
  const complete = connectionUri({ host, role, database, password, pooled });
  // That of a gate (SVC_POSTGRES_GATE). Lines of a dotenv file cannot hold an "&", and the gate declines TLS in any case.
  return complete.replace("?sslmode=disable&", "?");
};

const KEYS: readonly Source[] = [
  { output: "jwksUrl" },
  { output: "pubClientKey" },
  { output: "secretServerKey", isSecret: true },
  { output: "authProviderProjectId", isOptional: true },
  { output: "schemaName", isOptional: true },
  { output: "tableName", isOptional: true },
];

/** By kind: what an application connects to, or signs its users in with. The other kinds hold nothing of the sort. */
const SOURCES: Partial<Record<Kind, readonly Source[]>> = {
  ComputeEndpoint: [
    { output: "host" },
    { output: "pooledHost", from: "host", by: pooledHost },
    { output: "connectionUri", from: "host", by: (host, login) => uri(host, login, false), isUri: true },
    { output: "pooledConnectionUri", from: "host", by: (host, login) => uri(host, login, true), isUri: true },
  ],
  AuthIntegration: KEYS,
  AuthKeys: KEYS,
};

export interface Variable {
  readonly urn: string;
  readonly output: string;
  /** Undefined where the state has none, or has it encrypted. */
  readonly value: string | undefined;
  readonly isSecret: boolean;
  /** A connection string. */
  readonly isUri: boolean;
  /** That it has no value is nothing to tell. */
  readonly isOptional: boolean;
}

/** Of all resources that stand, those too that are only looked up. */
export function variablesOf({ resources }: StackState, login: Login): Variable[] {
  const standing = resources.filter((one) => one.delete !== true && one.pendingReplacement !== true);
  return standing.flatMap(({ urn, type, outputs }) => {
    const kind = KINDS.find((one) => typeToken(one) === type);
    const sources = (kind && SOURCES[kind]) ?? [];
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

/** `api.host`, as `--map` takes it. */
export const labelOf = ({ urn, output }: Variable): string => `${nameInUrn(urn)}.${output}`;

/** `--map`: another name for an output of a resource, which is told by its name or its URN. */
export interface Mapping {
  readonly resource: string;
  readonly output: string;
  readonly name: string;
}

export interface NamedVariable extends Variable {
  readonly name: string;
  /** The name is given by `--map`. */
  readonly isMapped: boolean;
}

/**
 * Sorted by name.
 * @throws for all at once that is wrong: an entry of `--map` that fits no output or several, and variables of one name.
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

/** `API_POOLED_HOST` of the output `pooledHost` of the resource `api`; of `authProviderProjectId` of `auth` the word once. */
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

/** Of what is written, now or with the secrets. */
function clashes(all: readonly NamedVariable[]): string[] {
  const shown = all.filter(({ value, isSecret }) => value !== undefined || isSecret);
  return [...new Set(shown.map(({ name }) => name))].flatMap((name) => {
    const same = shown.filter((one) => one.name === name);
    if (same.length === 1) return [];
    // Names of resources tell them apart, or only their URNs do.
    const labels = new Set(same.map(labelOf));
    const which = labels.size === same.length ? [...labels] : same.map(({ urn, output }) => `${urn}.${output}`);
    return [`${name} is the name of ${which.join(" and ")}: give another name, with --map '${which[0]}=NAME'`];
  });
}
