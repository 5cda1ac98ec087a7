/** A program, and what its constructors give the SDK. */
import { isKind, pointer, urnInOtherProtocol, type Protocol } from "../../../../src/contract/pointer";
import type { ArgumentRules } from "../../../../src/contract/declaration";
import type { Properties } from "../../../../src/contract/hiddenKeys";
import { isReference } from "../../../../src/contract/references";
import { isSecret } from "../../../../src/contract/engineSecrets";
import { KIND_CASES } from "../../../kinds";
import { asSecret } from "../../engineMarks";
import { inheritedAlias, urnOf, type AnyKind } from "./urns";

/** A former name; with a parent if it was another one (null: none). */
export type Alias = string | { readonly name: string; readonly parent: string | null };

/** Resource options. Names are those of earlier resources in the program. */
export interface Options {
  readonly parent?: string;
  readonly dependsOn?: readonly string[];
  readonly protect?: boolean;
  readonly retainOnDelete?: boolean;
  readonly deletedWith?: string;
  readonly ignoreChanges?: readonly string[];
  readonly replaceOnChanges?: readonly string[];
  readonly deleteBeforeReplace?: boolean;
  readonly additionalSecretOutputs?: readonly string[];
  /** In seconds. */
  readonly customTimeouts?: Readonly<Record<string, number>>;
  /** A transform that marks each text argument of this name secret. */
  readonly transform?: string;
  /** The name of an explicit Provider, which has the same account. */
  readonly provider?: string;
}

/** One `new svc.Kind(name, inputs, options)`. */
export interface Declared<Of extends AnyKind = AnyKind> {
  readonly kind: Of;
  readonly name: string;
  /** Plain values, secrets (`asSecret`), references, and `output(...)` of earlier resources. */
  readonly inputs: Properties;
  readonly aliases?: readonly Alias[];
  readonly options?: Options;
  /** Of the resources of ours. @default "dynamic" */
  readonly protocol?: Protocol | undefined;
}

export type Program = readonly Declared[];

/** An output of another resource as an input. */
export class Output {
  constructor(
    readonly name: string,
    readonly property: string,
  ) {}
}
export const output = (name: string, property: string): Output => new Output(name, property);

/** A resource as it is registered. */
export interface Registered {
  readonly declared: Declared;
  readonly urn: string;
  readonly parent: string | undefined;
  /** Former URNs. */
  readonly aliases: readonly string[];
  /** The resources that must be registered before. */
  readonly waitsFor: readonly string[];
  readonly dependsOn: readonly string[];
  readonly deletedWith: string | undefined;
  readonly protect: boolean;
  readonly deleteBeforeReplace: boolean | undefined;
  readonly ignoreChanges: readonly string[];
  readonly secretOutputs: readonly string[];
}

/** `urns` and `aliases` of the earlier ones. @throws if two wait for each other, as the SDK does */
export function registered(program: Program): Registered[] {
  const found: Registered[] = [];
  for (const declared of program) {
    const { kind, name, inputs, options = {}, protocol } = declared;
    const parent = found.find((one) => one.declared.name === options.parent);
    const urn = urnOf(kind, name, parent?.urn, protocol);
    const depends = (options.dependsOn ?? []).flatMap((other) => inside(program, other));
    const dependsOn = [...new Set(depends)].filter((other) => other !== name);
    const from = Object.values(inputs).flatMap((value) => (value instanceof Output ? [value.name] : []));
    const { deletedWith } = options;
    const waitsFor = [
      ...dependsOn,
      ...(options.dependsOn ?? []),
      ...from,
      ...[options.parent, deletedWith].filter((one) => one !== undefined),
    ];
    const rules = rulesOf(kind);
    found.push({
      declared,
      urn,
      parent: parent?.urn,
      aliases: aliasesOf(declared, urn, parent),
      waitsFor,
      dependsOn,
      deletedWith,
      protect: options.protect ?? Object.keys(inputs).some((one) => rules[one]?.protects && inputs[one] === true),
      deleteBeforeReplace: options.deleteBeforeReplace,
      ignoreChanges: ignoredBy(declared),
      secretOutputs: [...secretOutputs(kind), ...(options.additionalSecretOutputs ?? [])],
    });
  }
  const circle = found.find(({ declared: { name } }) => reaches(found, name, name));
  if (circle !== undefined) throw new Error(`"${circle.declared.name}" depends on itself: the program never ends`);
  return found;
}

/** Whoever depends on a component depends on all that is in it, and not on the component. */
function inside(program: Program, name: string): string[] {
  if (program.find((one) => one.name === name)?.kind !== "Group") return [name];
  return program.filter(({ options }) => options?.parent === name).flatMap((child) => inside(program, child.name));
}

function reaches(all: readonly Registered[], from: string, to: string, seen = new Set<string>()): boolean {
  if (seen.has(from)) return false;
  seen.add(from);
  const { waitsFor = [] } = all.find(({ declared }) => declared.name === from) ?? {};
  return waitsFor.some((other) => other === to || reaches(all, other, to, seen));
}

function aliasesOf({ kind, aliases = [], protocol }: Declared, urn: string, parent: Registered | undefined): string[] {
  const own = aliases.map((alias) => {
    if (typeof alias === "string") return urnOf(kind, alias, parent?.urn, protocol);
    // All components have the same type, so the URN tells only whether there was one.
    return urnOf(kind, alias.name, alias.parent === null ? undefined : urnOf("Group", alias.parent), protocol);
  });
  const inherited = (parent?.aliases ?? []).flatMap((former) =>
    [urn, ...own].map((child) => inheritedAlias(child, parent?.urn ?? "", former)),
  );
  const inOneProtocol = [...own, ...inherited];
  // Added by a constructor of ours (src/program/resourceOptions.ts).
  const inOther = isKind(kind) ? [urn, ...inOneProtocol].map(urnInOtherProtocol) : [];
  return [...new Set([...inOneProtocol, ...inOther])].filter((alias) => alias !== urn);
}

/** A constructor of ours names all arguments in place of `*`. */
const ignoredBy = ({ kind, options: { ignoreChanges = [] } = {} }: Declared): string[] =>
  ignoreChanges.flatMap((path) => (path === "*" && isKind(kind) ? Object.keys(rulesOf(kind)) : [path]));

type Rules = Readonly<Record<string, ArgumentRules<unknown> | undefined>>;

interface Table {
  readonly args: Rules;
  readonly outputs: Readonly<Record<string, { readonly secret?: true }>>;
}

const tableOf = (kind: AnyKind): Table | undefined =>
  // A case keeps the declaration without its types.
  kind === "Group" || kind === "Foreign" ? undefined : (KIND_CASES[kind].declaration as unknown as Table);
const rulesOf = (kind: AnyKind): Rules => tableOf(kind)?.args ?? {};
const secretOutputs = (kind: AnyKind): string[] =>
  Object.entries(tableOf(kind)?.outputs ?? {}).flatMap(([name, { secret }]) => (secret ? [name] : []));

/** The inputs with their hidden ones, once the outputs of other resources are known. `preview`: the mark of a preview. */
export function sentInputs(
  { declared: { kind, inputs, options = {}, protocol }, urn, ignoreChanges }: Registered,
  given: Properties,
  preview: true | number | undefined,
): Properties {
  if (kind === "Group") return {};
  const { transform = "", customTimeouts, replaceOnChanges = [], retainOnDelete, deleteBeforeReplace } = options;
  const args = Object.entries(given).map(([name, value]): [string, unknown] => {
    const isMarked = isSecretArgument(kind, name, value) || (name === transform && isText(inputs[name]));
    return [name, isMarked && !isSecret(value) ? asSecret(value) : value];
  });
  if (kind === "Foreign" || protocol === "native") return Object.fromEntries(args);
  return {
    ...Object.fromEntries(args),
    __provider: pointer(kind),
    __urn: urn,
    ...(customTimeouts !== undefined && { __timeouts: customTimeouts }),
    ...(replaceOnChanges.length > 0 && { __replaceOnChanges: replaceOnChanges }),
    ...(retainOnDelete === true && { __retains: true }),
    ...(deleteBeforeReplace !== undefined && { __deletesFirst: deleteBeforeReplace }),
    ...(ignoreChanges.length > 0 && { __ignoreChanges: ignoreChanges }),
    ...(preview !== undefined && { __preview: preview }),
  };
}

const isSecretArgument = (kind: AnyKind, name: string, value: unknown): boolean =>
  rulesOf(kind)[name]?.secret === true && value !== undefined && !isReference(value);
/** An output and a secret are none in a transform. */
const isText = (value: unknown): boolean => typeof value === "string";

/** Whether its transform returns other properties, which depend on nothing (docs/design/engine.md, Options). */
export const isTransformed = ({ declared: { kind, inputs, options } }: Registered): boolean => {
  const name = options?.transform ?? "";
  return isText(inputs[name]) && !isSecretArgument(kind, name, inputs[name]);
};
