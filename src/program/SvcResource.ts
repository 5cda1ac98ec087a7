import * as pulumi from "@pulumi/pulumi";
import { isObject, isOutput, unknownNames, wordFor } from "../helpers/given";
import { timeoutsOf, withOtherProtocol } from "./resourceOptions";
import { previewMark } from "./declared";
import { tellDeclared } from "./declaredObjects";
import { usedProtocol } from "./protocol";
import { ownerOf } from "./owner";
import { checkInstallation } from "./installation";
import { nativeToken, pointer, typeToken, type Kind } from "../contract/pointer";
import { isReference } from "../contract/references";
import type { ArgumentRules, Declaration, Derived } from "../contract/declaration";

/**
 * Passed for the arguments of a resource that is only looked up (`get`): a constructor cannot express "none" otherwise.
 */
export const NO_ARGUMENTS = undefined as never;

/** The table of a resource, regardless of its types. */
type Table = Declaration<Record<string, unknown>, Record<string, unknown>>;

/** Whether an omitted argument has no value because the service shows none. */
const isOnlyIfGiven = ({ createOnly, local, onlyIfGiven }: ArgumentRules<unknown>): boolean =>
  createOnly === true || local === true || onlyIfGiven === true;

/** The properties that are computed when a program reads them. */
function lazyProperties({ args, outputs }: Table): Map<string, Derived> {
  const lazy = new Map<string, Derived>();
  for (const [name, rules] of Object.entries(args)) {
    if (isOnlyIfGiven(rules)) lazy.set(name, { from: "id", by: () => undefined });
  }
  for (const [name, { derived }] of Object.entries(outputs)) if (derived !== undefined) lazy.set(name, derived);
  return lazy;
}

/**
 * The arguments as properties of a resource object. If an argument is also an output, the output's type counts. Both
 * types are exported separately: if the published types can name them, editors show the comments of the declaration.
 * `Names` is a parameter because TypeScript would otherwise make a union of properties from a shape that is a union.
 */
export type ArgumentProperties<
  Shape extends object,
  Outputs extends object,
  Names extends keyof Shape = Exclude<keyof Shape, keyof Outputs>,
> = { readonly [Name in Names]-?: pulumi.Output<Shape[Name]> };

/** The outputs as properties of a resource object. */
export type OutputProperties<Outputs extends object> = {
  readonly [Name in keyof Outputs]-?: pulumi.Output<Outputs[Name]>;
};

/**
 * The base class of a resource: its arguments as a program may give them (`Args`), and its properties by its
 * declaration. Except the pointer, the provider's side does not need the hidden inputs: a program in another language
 * that declares the same type and pointer works as well.
 */
export function resource<Args extends object, Shape extends object, Outputs extends object>(
  declaration: Declaration<Shape, Outputs>,
) {
  const table = declaration as Table;
  const lazy = lazyProperties(table);

  abstract class SvcResource extends pulumi.CustomResource {
    constructor(name: string, args: object | undefined, options?: pulumi.CustomResourceOptions) {
      const { kind } = declaration;
      const opts = ofArgumentsAlone(table, checkedOptions(ownerOf(kind, name), args, options));
      const isNative = usedProtocol() === "native";
      const type = isNative ? nativeToken(kind) : typeToken(kind);
      if (opts.import !== undefined && !isNative) {
        throw new pulumi.RunError(
          `${kind} "${name}": the option "import" does not work for dynamic resources. Use "adopt: true" if the resource has it, "pulumi-svc import" for a whole project, or ${kind}.get to look it up.`,
        );
      }
      checkInstallation();
      const unknown = surplus(table, args);
      const props = {
        ...inputs(table, args),
        ...(unknown !== undefined && { __surplus: unknown }),
        ...(!isNative && hidden(kind, { name, type, opts })),
      };
      // The SDK formats a stack trace, through source maps, for each of the four promises of each property. These are
      // never shown, and with one line each they cost a fifth.
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 1;
      try {
        super(type, name, props, withOtherProtocol(name, type, withDefaults(table, opts, args)));
        if (opts.id === undefined) tellDeclared(declaration, urnOf(name, type, opts.parent), props);
      } catch (error) {
        Error.stackTraceLimit = stackTraceLimit;
        addCallers(error, new.target);
        throw error;
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
      }
      for (const [property, derived] of lazy) {
        // If the program or a transformation gives the property, the SDK has set it already.
        if (!Object.hasOwn(this, property)) defineLazily(this, property, derived);
      }
      if (opts.id !== undefined && args !== undefined) void pulumi.log.warn(onlyLookedUp(kind, name), this);
    }
  }
  // The SDK sets the properties that the inputs name; a class cannot declare computed names. Not `abstract new`: the
  // compiler that ships with the SDK cannot parse it.
  return SvcResource as unknown as new (
    name: string,
    args: Args,
    opts?: pulumi.CustomResourceOptions,
  ) => pulumi.CustomResource & ArgumentProperties<Shape, Outputs> & OutputProperties<Outputs>;
}

const isGiven = (paths: readonly string[] | undefined): boolean => (paths?.length ?? 0) > 0;

/** For the option `id` beside arguments: TypeScript allows it, and the engine then reads and declares nothing. */
const onlyLookedUp = (kind: Kind, name: string): string =>
  `${kind} "${name}": with the option "id" it is only looked up. Its arguments have no effect, and nothing is created, changed or deleted. Remove "id" to declare it; to look it up, use ${kind}.get("${name}", id)`;

/** What the engine does not tell a dynamic provider. */
function hidden(
  kind: Kind,
  { name, type, opts }: { name: string; type: string; opts: pulumi.CustomResourceOptions },
): pulumi.Inputs {
  const times = timeoutsOf(opts.customTimeouts);
  return {
    __provider: pointer(kind),
    __urn: urnOf(name, type, opts.parent),
    ...(times !== undefined && { __timeouts: times }),
    ...(isGiven(opts.replaceOnChanges) && { __replaceOnChanges: opts.replaceOnChanges }),
    ...(opts.retainOnDelete === true && { __retains: true }),
    ...(opts.deleteBeforeReplace !== undefined && { __deletesFirst: opts.deleteBeforeReplace }),
    // The engine restores the earlier inputs there, and says nothing of a misspelled path: an update must not send them.
    ...(isGiven(opts.ignoreChanges) && { __ignoreChanges: opts.ignoreChanges }),
    // The provider has no other way to know: a preview and its update make the same calls of `check`.
    ...(pulumi.runtime.isDryRun() && opts.id === undefined && { __preview: previewMark(kind) }),
  };
}

/** Adds the program's lines to an error that knows only the line where it was thrown. */
function addCallers(error: unknown, constructor: abstract new (...args: never) => unknown): void {
  if (!(error instanceof Error)) return;
  const callers = { stack: "" };
  Error.captureStackTrace(callers, constructor);
  const [, ...lines] = callers.stack.split("\n");
  error.stack = [error.stack, ...lines].join("\n");
}

/** An own, enumerable property: a resource that a program exports as a whole is shown, and stored, by its keys. */
function defineLazily(resource: object, name: string, { from, by }: Derived): void {
  Object.defineProperty(resource, name, {
    configurable: true,
    enumerable: true,
    get(this: Record<string, pulumi.Output<unknown>>) {
      // The declaration names an existing property and a function that takes its value.
      return this[from]?.apply((value) => (value === undefined || value === null ? undefined : by(value as never)));
    },
    // A subclass may define its own.
    set(this: object, value: unknown) {
      Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
    },
  });
}

/** @throws when a program without types gives invalid arguments or options, or looks up without an id. */
function checkedOptions(owner: string, args: unknown, opts: unknown = {}): pulumi.CustomResourceOptions {
  if (!isObject(opts)) throw new pulumi.RunError(`${owner}: the options must be an object, not ${wordFor(opts)}.`);
  if (args !== undefined && !isObject(args) && !isOutput(args)) {
    throw new pulumi.RunError(`${owner}: the arguments must be an object, not ${wordFor(args)}.`);
  }
  const { id } = opts;
  if ("id" in opts && (id === undefined || id === "" || !["string", "object"].includes(typeof id) || id === null)) {
    throw new pulumi.RunError(`${owner}: the id to look up must be a string that is not empty.`);
  }
  if (args === undefined && id === undefined) throw new pulumi.RunError(`${owner}: the arguments are missing.`);
  for (const option of ["ignoreChanges", "replaceOnChanges"]) {
    const paths = opts[option];
    if ((paths ?? undefined) === undefined || Array.isArray(paths)) continue;
    // The engine would ignore it without a word.
    throw new pulumi.RunError(`${owner}: the option "${option}" must be a list of paths, not ${wordFor(paths)}.`);
  }
  // An object; its other properties are the SDK's to check.
  return opts as pulumi.CustomResourceOptions;
}

/**
 * With `ignoreChanges: ["*"]` the engine would also remove hidden inputs that the state lacks
 * (docs/design/engine.md, Dynamic resources).
 */
function ofArgumentsAlone(
  { args }: Table,
  { ignoreChanges, ...opts }: pulumi.CustomResourceOptions,
): pulumi.CustomResourceOptions {
  if (!Array.isArray(ignoreChanges)) return { ...opts, ...(ignoreChanges !== undefined && { ignoreChanges }) };
  return { ...opts, ignoreChanges: ignoreChanges.flatMap((path) => (path === "*" ? Object.keys(args) : [path])) };
}

/** The names (never the values) of unknown properties: `check` refuses them together with all other problems. */
function surplus({ args: declared }: Table, args: object | undefined): pulumi.Input<string[] | undefined> {
  const unknown = (given: unknown): string[] | undefined => {
    const found = isObject(given) && !pulumi.isUnknown(given) ? unknownNames(given, Object.keys(declared)) : [];
    return found.length > 0 ? found : undefined;
  };
  if (!pulumi.Output.isInstance<unknown>(args)) return unknown(args);
  // The second parameter is internal in the SDK's types; lifting a property uses it too. In a preview the names are
  // known even if some values are not.
  type Apply = (names: typeof unknown, runWithUnknowns: boolean) => pulumi.Output<string[] | undefined>;
  return (args.apply as Apply).call(args, unknown, true);
}

/**
 * Read by name: `args` may be an Output, and a spread would copy its internals
 * (docs/design/engine.md, Inputs and outputs).
 */
function inputs({ args: declared, outputs }: Table, args: object | undefined): pulumi.Inputs {
  // Reading a property of an Output lifts it, so this works for a plain object and for an Output of one.
  const given = (args ?? {}) as Record<string, unknown>;
  // An output that is not named here would be missing on the resource object.
  const prepared = Object.entries(outputs).filter(([, { derived }]) => derived === undefined);
  const props: pulumi.Inputs = Object.fromEntries(prepared.map(([name]) => [name, undefined]));
  for (const [name, rules] of Object.entries(declared)) {
    if (given[name] === undefined && isOnlyIfGiven(rules)) continue;
    props[name] = isSecret(rules, given[name]) ? pulumi.secret(given[name]) : given[name];
  }
  return props;
}

/**
 * References are not marked secret: a plan shows them. Inside an Output they cannot be recognised, so they stay secret.
 */
const isSecret = (rules: ArgumentRules<unknown>, given: unknown): boolean =>
  rules.secret === true && given !== undefined && !isReference(given);

function withDefaults(
  { args: declared, outputs }: Table,
  opts: pulumi.CustomResourceOptions,
  args: object | undefined,
): pulumi.CustomResourceOptions {
  // The provider marks them itself (runtime/secrets.ts). This also marks them in a preview, while they are unknown.
  const additionalSecretOutputs = Object.keys(outputs).filter((name) => outputs[name]?.secret === true);
  // The engine does not ask the provider before it deletes, and deletes dependants first. If it knows about the
  // protection, the plan fails for everything protected, and nothing is deleted.
  const isProtected = Object.keys(declared).some(
    (name) => declared[name]?.protects === true && Reflect.get(args ?? {}, name) === true,
  );
  return pulumi.mergeOptions(
    {
      ...(isProtected && opts.protect === undefined && { protect: true }),
      additionalSecretOutputs,
    },
    opts,
  );
}

/**
 * A raw promise: an Output would depend on a parent that is a custom resource, and be unknown while that is replaced
 * (docs/design/engine.md, Lines to the user).
 */
function urnOf(name: string, type: string, parent: pulumi.Resource | undefined): Promise<string> {
  // `promise()` is marked internal in the SDK's types; it is public on every Output since 1.0.
  return (pulumi.createUrn(name, type, parent) as pulumi.Output<string> & { promise(): Promise<string> }).promise();
}
