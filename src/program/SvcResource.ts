import * as pulumi from "@pulumi/pulumi";
import { isObject, isOutput, unknownNames, wordFor } from "../helpers/given";
import { timeoutsOf, withInheritedAliases } from "./resourceOptions";
import { previewMark } from "./declared";
import { checkInstallation } from "./installation";
import { pointer, typeToken } from "../contract/pointer";
import { isReference } from "../contract/references";
import type { ArgumentRules, Declaration, Derived } from "../contract/declaration";

/** In place of the arguments of a resource that is only looked up (`get`): a constructor has no other way to say "none". */
export const NO_ARGUMENTS = undefined as never;

/** The table of a resource, whatever its types. */
type Table = Declaration<Record<string, unknown>, Record<string, unknown>>;

/** Whether an argument that is left out has no value: the service shows none. */
const isOnlyIfGiven = ({ createOnly, local, onlyIfGiven }: ArgumentRules<unknown>): boolean =>
  createOnly === true || local === true || onlyIfGiven === true;

/** The properties that are made when a program asks for them. */
function lazyProperties({ args, outputs }: Table): Map<string, Derived> {
  const lazy = new Map<string, Derived>();
  for (const [name, rules] of Object.entries(args)) {
    if (isOnlyIfGiven(rules)) lazy.set(name, { from: "id", by: () => undefined });
  }
  for (const [name, { derived }] of Object.entries(outputs)) if (derived !== undefined) lazy.set(name, derived);
  return lazy;
}

/**
 * The arguments as properties of a resource object; of one that is an output too, the output's type counts. Both types are
 * exported, and apart: where the published types can name them, editors show the comments of the declaration. `Names`
 * is a parameter, since TypeScript would otherwise make a union of properties of a shape that is one.
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
 * The base class of a resource: its arguments as a program may give them (`Args`), and its properties by its declaration.
 * The hidden inputs but the pointer are optional to the provider side: a program in another language that declares the
 * same type and pointer works as well.
 */
export function resource<Args extends object, Shape extends object, Outputs extends object>(
  declaration: Declaration<Shape, Outputs>,
) {
  const table = declaration as Table;
  const lazy = lazyProperties(table);

  abstract class SvcResource extends pulumi.CustomResource {
    constructor(name: string, args: object | undefined, options?: pulumi.CustomResourceOptions) {
      const { kind } = declaration;
      const type = typeToken(kind);
      const opts = withInheritedAliases(name, type, checkedOptions(`${kind} "${name}"`, args, options));
      if (opts.import !== undefined) {
        throw new Error(
          `${kind} "${name}": the option "import" does not work for dynamic resources. Use "adopt: true" if the resource has it, "pulumi-svc import" for a whole project, or ${kind}.get to look it up.`,
        );
      }
      checkInstallation();
      const unknown = surplus(table, args);
      const times = timeoutsOf(opts.customTimeouts);
      const props = {
        ...inputs(table, args),
        ...(unknown !== undefined && { __surplus: unknown }),
        __provider: pointer(kind),
        __urn: urnOf(name, type, opts.parent),
        ...(times !== undefined && { __timeouts: times }),
        ...((opts.replaceOnChanges?.length ?? 0) > 0 && { __replaceOnChanges: true }),
        // The engine puts the old reference back, and the value behind it is compared all the same.
        ...((opts.ignoreChanges?.length ?? 0) > 0 &&
          holdsReference(table, args) && { __ignoreChanges: opts.ignoreChanges }),
        // Nothing else tells the provider: a preview and its update are the same calls of `check`.
        ...(pulumi.runtime.isDryRun() && opts.id === undefined && { __preview: previewMark(kind) }),
      };
      // The SDK formats a stack trace, through source maps, for each of the four promises of each property. Nothing shows
      // them, and with one line each they cost a fifth.
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 1;
      try {
        super(type, name, props, withDefaults(table, opts, args));
      } catch (error) {
        Error.stackTraceLimit = stackTraceLimit;
        addCallers(error, new.target);
        throw error;
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
      }
      for (const [property, derived] of lazy) {
        // What is given, or what a transformation adds, is the SDK's.
        if (!Object.hasOwn(this, property)) defineLazily(this, property, derived);
      }
    }
  }
  // The SDK puts the properties that the inputs name on the object; a class cannot say so of computed names. Not `abstract
  // new`: the compiler that the SDK brings along cannot read that.
  return SvcResource as unknown as new (
    name: string,
    args: Args,
    opts?: pulumi.CustomResourceOptions,
  ) => pulumi.CustomResource & ArgumentProperties<Shape, Outputs> & OutputProperties<Outputs>;
}

/** Adds the lines of the program to an error that knows only the one where it was thrown. */
function addCallers(error: unknown, constructor: abstract new (...args: never) => unknown): void {
  if (!(error instanceof Error)) return;
  const callers = { stack: "" };
  Error.captureStackTrace(callers, constructor);
  const [, ...lines] = callers.stack.split("\n");
  error.stack = [error.stack, ...lines].join("\n");
}

/** Its own and enumerable: a resource that a program exports as a whole is shown, and stored, by its keys. */
function defineLazily(resource: object, name: string, { from, by }: Derived): void {
  Object.defineProperty(resource, name, {
    configurable: true,
    enumerable: true,
    get(this: Record<string, pulumi.Output<unknown>>) {
      // The declaration names a property that the resource has, and what takes its value.
      return this[from]?.apply((value) => (value === undefined || value === null ? undefined : by(value as never)));
    },
    // A subclass may have its own.
    set(this: object, value: unknown) {
      Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
    },
  });
}

/** @throws when a program without types gives arguments or options that are none, or looks up without an id. */
function checkedOptions(owner: string, args: unknown, opts: unknown = {}): pulumi.CustomResourceOptions {
  if (!isObject(opts)) throw new Error(`${owner}: the options must be an object, not ${wordFor(opts)}.`);
  if (args !== undefined && !isObject(args) && !isOutput(args)) {
    throw new Error(`${owner}: the arguments must be an object, not ${wordFor(args)}.`);
  }
  const { id } = opts;
  if ("id" in opts && (id === undefined || id === "" || !["string", "object"].includes(typeof id) || id === null)) {
    throw new Error(`${owner}: the id to look up must be a string that is not empty.`);
  }
  if (args === undefined && id === undefined) throw new Error(`${owner}: the arguments are missing.`);
  // An object; its properties are not checked here.
  return opts as pulumi.CustomResourceOptions;
}

/** The names (never the values) of unknown properties: `check` refuses them with all other problems. */
function surplus({ args: declared }: Table, args: object | undefined): pulumi.Input<string[] | undefined> {
  const unknown = (given: unknown): string[] | undefined => {
    const found = isObject(given) && !pulumi.isUnknown(given) ? unknownNames(given, Object.keys(declared)) : [];
    return found.length > 0 ? found : undefined;
  };
  if (!pulumi.Output.isInstance<unknown>(args)) return unknown(args);
  // The second parameter is internal in the SDK's types; lifting a property uses it too. The names are known in a preview
  // although some value is not.
  type Apply = (names: typeof unknown, runWithUnknowns: boolean) => pulumi.Output<string[] | undefined>;
  return (args.apply as Apply).call(args, unknown, true);
}

/** By name: `args` may be an Output, whose internals a spread would take (docs/design/engine.md, Inputs and outputs). */
function inputs({ args: declared, outputs }: Table, args: object | undefined): pulumi.Inputs {
  // Reading a property of an Output lifts it, so this works for a plain object and for an Output of one.
  const given = (args ?? {}) as Record<string, unknown>;
  // An output that is not named here would not be on the resource object.
  const prepared = Object.entries(outputs).filter(([, { derived }]) => derived === undefined);
  const props: pulumi.Inputs = Object.fromEntries(prepared.map(([name]) => [name, undefined]));
  for (const [name, rules] of Object.entries(declared)) {
    if (given[name] === undefined && isOnlyIfGiven(rules)) continue;
    props[name] = isSecret(rules, given[name]) ? pulumi.secret(given[name]) : given[name];
  }
  return props;
}

/** A reference is none: a plan shows it. One that comes as an Output is not known here, and stays marked. */
const isSecret = (rules: ArgumentRules<unknown>, given: unknown): boolean =>
  rules.secret === true && given !== undefined && !isReference(given);

/** Whether a reference is given as it is. One in an Output is not looked for. */
function holdsReference({ args: declared }: Table, args: object | undefined): boolean {
  return Object.entries(declared).some(([name, { reference }]) => {
    const given: unknown = args === undefined ? undefined : Reflect.get(args, name);
    if (reference === undefined || reference === true) return reference === true && isReference(given);
    return Object.values(Object(Reflect.get(Object(given), reference.valuesOf))).some(isReference);
  });
}

function withDefaults(
  { args: declared, outputs, deleteBeforeReplace }: Table,
  opts: pulumi.CustomResourceOptions,
  args: object | undefined,
): pulumi.CustomResourceOptions {
  // The provider marks them by itself (host/secrets.ts). This shows them as secrets in a preview, too, where they are unknown.
  const additionalSecretOutputs = Object.keys(outputs).filter((name) => outputs[name]?.secret === true);
  // The engine asks no provider before it deletes, and begins with what depends on the resource. Where it knows of the
  // protection, the plan fails for all that is protected, and nothing is deleted.
  const isProtected = Object.keys(declared).some(
    (name) => declared[name]?.protects === true && Reflect.get(args ?? {}, name) === true,
  );
  return pulumi.mergeOptions(
    {
      ...(deleteBeforeReplace && { deleteBeforeReplace }),
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
