import { isDeepStrictEqual } from "node:util";
import { isSecret, mapSecrets } from "../../contract/engineSecrets";
import { type Properties, visible } from "../../contract/hiddenKeys";
import { type Kind, pointer, typeToken } from "../../contract/pointer";
import { isReference, referenceName, type SecretReference } from "../../contract/references";
import type { ReadSetting, Settings } from "../../contract/settings";
import { STAND_INS } from "../../contract/standIns";
import { isPlain, problemText } from "../../runtime/arguments";
import { configured, problemsOf, topOf } from "../declarable";
import { type Argument, camelCase, Code, type DeclaredResource, kebabCase } from "./programText";
import { type ImportableObject, toolsOf } from "../../resources/tools";
import { containersOf, importedArguments, standardsOf } from "../declarations";
import { asSecret } from "../stack/state";

/** A value that the program reads from the stack's configuration. */
export interface Wanted {
  readonly key: string;
  readonly secret: boolean;
  /** The name of the resource that needs it. */
  readonly resource: string;
}

/** An object with the arguments for a program. */
export interface Observed {
  readonly object: ImportableObject;
  readonly args: Properties;
  /** Both as a refresh would store them, without the values that the service does not show. */
  readonly inputs: Properties;
  readonly outputs: Properties;
  /** The arguments that the service does not show, and whether each is a secret. */
  readonly hidden: ReadonlyMap<string, boolean>;
  /** Values at the service that no program can declare, such as a size that this version does not know. */
  readonly refused: readonly string[];
  /** False if the resource cannot exist without a refused value. */
  readonly isDeclarable: boolean;
}

/** Uses the lifecycle's `read` and `check`, so that the first plan shows no change and no error. */
export async function observe(
  object: ImportableObject,
  readSetting: ReadSetting,
  { authProvider }: Settings,
): Promise<Observed> {
  const { kind, id } = object;
  const provider = await configured(kind, readSetting);
  const { hidden = new Map<string, boolean>() } = object;
  const asked = importedArguments(kind).filter((argument) => !hidden.has(argument));
  const read = await provider.read(id, { __provider: pointer(kind), ...object.managed, __args: asked });
  // Values that the provider marks as secret are compared and declared unchanged.
  const shown = visible(mapSecrets(read.inputs ?? {}, (secret) => secret) as Properties);
  const standard: Properties = { ...standardsOf(kind), authProvider };
  const given = Object.fromEntries(
    asked
      .filter((argument) => shown[argument] !== undefined && !isDeepStrictEqual(shown[argument], standard[argument]))
      .map((argument) => [argument, shown[argument]]),
  );
  const inClear = Object.fromEntries([...hidden.keys()].map((argument) => [argument, NOT_SHOWN]));
  const wrong = await problemsOf(provider, { ...given, ...inClear });
  const names = new Set(wrong.map(({ path }) => topOf(path)));
  const args = without(given, names);
  const isDeclarable =
    !IDENTITY.some((name) => names.has(name)) && (await problemsOf(provider, { ...args, ...inClear })).length === 0;
  const refused = wrong.map(problemText);
  const stored = mapSecrets({ inputs: read.inputs, outputs: read.props }, asSecret) as Record<string, Properties>;
  const { inputs = {}, outputs = {} } = stored;
  return {
    object,
    args,
    inputs: Object.fromEntries(Object.keys(args).map((argument) => [argument, inputs[argument]])),
    outputs: without(outputs, names),
    hidden,
    refused,
    isDeclarable,
  };
}

/** Arguments that identify the object. Missing required arguments are found by another check. */
const IDENTITY = ["type", "authProvider"];

/** A container that the program declares. */
export interface DeclaredContainer {
  readonly kind: Kind;
  readonly name: string;
  readonly variable: string;
  readonly args: Properties;
}

interface ProgramContext {
  readonly name: string;
  readonly variable: string;
  readonly branchNames: ReadonlyMap<string, string | undefined>;
  /** The variables of the constants, by value. */
  readonly branchVariables: ReadonlyMap<string, string>;
  readonly containers: readonly DeclaredContainer[];
  /** The program keeps the protection that an import sets. */
  readonly isProtected: boolean;
  /** The environment variables used so far, if secrets are written as references. */
  readonly variables: Set<string> | undefined;
}

export interface ImportedResource {
  readonly entry: object;
  readonly declared: DeclaredResource;
  readonly wanted: readonly Wanted[];
  readonly notes: readonly string[];
}

export function importedResource(
  { object, args, inputs, outputs, hidden, refused }: Observed,
  place: ProgramContext,
): ImportedResource {
  const { kind, id } = object;
  const { comment, configurationKey } = toolsOf(kind);
  const { name, variable, variables, isProtected } = place;
  const own = { __provider: pointer(kind) };
  const keyOf = (argument: string): string => configurationKey ?? camelCase(`${variable}-${argument}`);
  const wanted: Wanted[] = [];
  /** Code in place of a secret, or of a value that the service does not show. */
  const elsewhere = (argument: string, secret: boolean): Code | SecretReference => {
    if (secret && variables !== undefined) return { fromEnv: newVariable(keyOf(argument), variables) };
    const others = wanted.filter(({ key }) => key.startsWith(keyOf(argument))).length;
    const key = keyOf(argument) + (others > 0 ? `-${others + 1}` : "");
    wanted.push({ key, secret, resource: name });
    return new Code(`config.${secret ? "requireSecret" : "require"}("${key}")`);
  };
  const given = new Map<string, unknown>(
    [...hidden].map(([argument, secret]) => [argument, elsewhere(argument, secret)]),
  );
  const standIns = Object.fromEntries(
    [...given].map(([argument, value]) => {
      const secret = hidden.get(argument) === true;
      return [argument, isReference(value) ? value : secret ? asSecret(NOT_SHOWN) : NOT_SHOWN];
    }),
  );
  const inProgram = (value: unknown, argument: string): unknown => {
    if (isSecret(value)) return elsewhere(argument, true);
    if (!isPlain(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([inner, one]) => [inner, inProgram(one, inner)]));
  };
  for (const argument of importedArguments(kind))
    if (Object.hasOwn(args, argument)) given.set(argument, inProgram(inputs[argument], argument));
  const declared = [...new Set([...importedArguments(kind), ...hidden.keys()])]
    .filter((argument) => given.has(argument))
    .map((argument) => declaredArgument([argument, asCode(given.get(argument))], kind, place));
  return {
    entry: {
      type: typeToken(kind),
      name,
      id,
      inputs: { ...withReferences(inputs, Object.fromEntries(given)), ...standIns, ...own },
      outputs: {
        ...withReferences(outputs, Object.fromEntries(given)),
        ...standIns,
        __args: [...Object.keys(args), ...hidden.keys()].sort(),
      },
    },
    declared: {
      ...{ kind, name, variable, args: declared, isProtected },
      ...(comment !== undefined && { comment }),
    },
    wanted,
    notes: refused.map((reason) => `"${name}": ${reason}. The program does not declare it`),
  };
}

/** `smtpPassword` becomes `SMTP_PASSWORD`, with a number if that name is taken. */
function newVariable(text: string, taken: Set<string>): string {
  const base = kebabCase(text)
    .replaceAll("-", "_")
    .toUpperCase()
    .replace(/^(?=\d)/, "_");
  let name = base;
  for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
  taken.add(name);
  return name;
}

/** References as code of the program. */
function asCode(value: unknown): unknown {
  if (isReference(value)) return new Code(`svc.fromEnv("${referenceName(value)}")`);
  if (!isPlain(value) || value instanceof Code) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, asCode(inner)]));
}

/** The stored values, with the program's references in their places. */
function withReferences(stored: Properties, given: Properties): Properties {
  const entries = Object.entries(stored).map(([name, value]) => {
    const inner = given[name];
    if (isReference(inner)) return [name, inner];
    return [name, isPlain(value) && isPlain(inner) ? withReferences(value, inner) : value];
  });
  return Object.fromEntries(entries) as Properties;
}

function declaredArgument([name, value]: readonly [string, unknown], kind: Kind, place: ProgramContext): Argument {
  // By its output, so that both are replaced together.
  const kindOfContainer = containersOf(kind).get(name);
  const container = place.containers.find((one) => one.kind === kindOfContainer && one.args[name] === value);
  if (container !== undefined) return [name, new Code(`${container.variable}.${name}`)];
  if (name === "projectId") return [name, new Code(name)];
  if (name !== "branchId") return [name, value];
  const constant = place.branchVariables.get(String(value));
  if (constant !== undefined) return [name, new Code(constant)];
  const comment = branchComment(String(value), place.branchNames);
  return comment === undefined ? [name, value] : [name, value, comment];
}

/** The name of a branch, if its id does not show it. */
export function branchComment(id: string, names: ReadonlyMap<string, string | undefined>): string | undefined {
  const name = names.get(id);
  return id === `br-${name}` ? undefined : name;
}

/**
 * A stand-in in the state until the first `pulumi up` sends the real value. Without it the engine would refuse an email
 * server without a password, and a refresh would report the missing value as drift. A secret is encrypted, and stays
 * encrypted if a refresh finds the real value, which a service may show (docs/design/api.md, Email server).
 */
const NOT_SHOWN = STAND_INS.notShown;

const without = (from: Properties, names: ReadonlySet<string>): Properties =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.has(name)));
