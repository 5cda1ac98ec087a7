/** The parts of a Pulumi package schema that programs depend on. */
export interface PackageSchema {
  readonly config: { readonly variables: Properties };
  readonly provider: { readonly inputProperties: Properties; readonly requiredInputs?: readonly string[] };
  readonly resources: Readonly<Record<string, ResourceSchema>>;
  readonly functions: Readonly<Record<string, { readonly inputs: ObjectSchema; readonly outputs: ObjectSchema }>>;
  readonly types: Readonly<Record<string, TypeSchema>>;
}

export interface ResourceSchema {
  readonly inputProperties: Properties;
  readonly requiredInputs: readonly string[];
  readonly properties: Properties;
  readonly required: readonly string[];
  readonly aliases: readonly { readonly type: string }[];
}

interface ObjectSchema {
  readonly properties?: Properties;
  readonly required?: readonly string[];
}

interface TypeSchema extends ObjectSchema {
  readonly type: string;
  readonly enum?: readonly { readonly name: string; readonly value: string }[];
}

type Properties = Readonly<Record<string, Property>>;

export interface Property {
  readonly type?: string;
  readonly $ref?: string;
  readonly items?: Property;
  readonly additionalProperties?: Property;
  readonly oneOf?: readonly Property[];
  readonly secret?: boolean;
  readonly [other: string]: unknown;
}

/** What a program may give, what it gets, or both: a type that properties refer to. */
type Direction = "input" | "output" | "both";

/** What could break a program that was written for the schema before, each with its place. Additions break nothing. */
export function schemaChanges(before: PackageSchema, after: PackageSchema): string[] {
  const variables = (schema: PackageSchema): ObjectSchema => ({ properties: schema.config.variables });
  const settings = ({ provider }: PackageSchema): ObjectSchema => inputsOf(provider);
  return [
    ...objectChanges("config", variables(before), variables(after), "input"),
    ...objectChanges("provider", settings(before), settings(after), "input"),
    ...eachChange(before.resources, after.resources, (token, old, now) => [
      ...objectChanges(token, inputsOf(old), inputsOf(now), "input"),
      ...objectChanges(token, old, now, "output"),
      ...old.aliases
        .filter(({ type }) => !now.aliases.some((alias) => alias.type === type))
        .map(({ type }) => `${token}: the alias ${type} was removed`),
    ]),
    ...eachChange(before.functions, after.functions, (token, old, now) => [
      ...objectChanges(token, old.inputs, now.inputs, "input"),
      ...objectChanges(token, old.outputs, now.outputs, "output"),
    ]),
    ...eachChange(before.types, after.types, (token, old, now) => [
      ...(old.type === now.type ? [] : [`${token}: changed its type`]),
      ...(old.enum ?? [])
        .filter(({ name, value }) => !now.enum?.some((each) => each.name === name && each.value === value))
        .map(({ value }) => `${token}: the value ${value} was removed or renamed`),
      ...objectChanges(token, old, now, "both"),
    ]),
  ];
}

const inputsOf = (one: {
  readonly inputProperties: Properties;
  readonly requiredInputs?: readonly string[];
}): ObjectSchema => ({ properties: one.inputProperties, required: one.requiredInputs ?? [] });

function eachChange<One>(
  before: Readonly<Record<string, One>>,
  after: Readonly<Record<string, One>>,
  changes: (name: string, old: One, now: One) => string[],
): string[] {
  return Object.entries(before).flatMap(([name, old]) => {
    const now = after[name];
    return now === undefined ? [`${name}: was removed`] : changes(name, old, now);
  });
}

function objectChanges(owner: string, before: ObjectSchema, after: ObjectSchema, direction: Direction): string[] {
  const what = direction === "both" ? "" : `${direction} `;
  const place = (name: string): string => `${owner}: ${what}${name}`;
  const missing = (names: readonly string[] = [], others: readonly string[] = []): string[] =>
    names.filter((name) => !others.includes(name));
  const gone = missing(before.required, after.required).filter((name) => after.properties?.[name] !== undefined);
  return [
    ...eachChange(before.properties ?? {}, after.properties ?? {}, (name, old, now) => [
      ...(shape(old) === shape(now) ? [] : [`${name} changed its type`]),
      ...(old.secret === true && now.secret !== true ? [`${name} is no longer secret`] : []),
    ]).map((change) => place(change.replace(/: was/, " was"))),
    ...(direction === "output" ? [] : missing(after.required, before.required)).map(
      (name) => `${place(name)} is now required`,
    ),
    ...(direction === "input" ? [] : gone).map((name) => `${place(name)} is no longer required`),
  ];
}

/** The type alone, without descriptions. */
function shape({ type, $ref, items, additionalProperties, oneOf }: Property): string {
  const parts = [items, additionalProperties].map((part) => part && shape(part));
  return JSON.stringify([type, $ref, ...parts, oneOf?.map(shape).sort()]);
}
