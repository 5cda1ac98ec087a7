import * as pulumi from "@pulumi/pulumi";
import { durationSeconds } from "./durations";
import { checkPointerResolves } from "./pointerCheck";
import { warnOfPlainKey } from "./plainKeyCheck";
import { pointer, typeToken, type Kind } from "./pointer";
import type { Timeouts } from "./properties";

/** In place of the arguments of a resource that is only looked up (`get`): a constructor has no other way to say "none". */
export const NO_ARGUMENTS = undefined as never;

/** The program side of a resource: its names, and which of them are secrets. */
export interface Declaration {
  readonly kind: Kind;
  readonly args: readonly string[];
  readonly outputs: readonly string[];
  /** Arguments that are encrypted in the state whatever the program wraps them in. */
  readonly secretArgs?: readonly string[];
  readonly secretOutputs?: readonly string[];
  /** The service refuses the twin, so a replacement deletes first; the program's own option wins. */
  readonly deleteBeforeReplace: boolean;
}

/**
 * A resource of this package: a custom resource whose `__provider` input points at `pulumi-svc/provider` (pointer.ts).
 * What it adds to the arguments are hidden inputs, all of them optional to the provider side: a program in another
 * language that declares the same type and pointer works as well.
 */
export abstract class SvcResource extends pulumi.CustomResource {
  protected constructor(
    declaration: Declaration,
    name: string,
    args: object | undefined,
    opts: pulumi.CustomResourceOptions = {},
  ) {
    const { kind } = declaration;
    const type = typeToken(kind);
    if (opts.import !== undefined) {
      throw new Error(
        `${kind} "${name}": the option "import" does not work for dynamic resources. Take the object over with "adopt: true" where the resource has it, or look it up with ${kind}.get.`,
      );
    }
    if (opts.id === undefined && args === undefined) {
      throw new Error(`${kind} "${name}": the arguments are missing.`);
    }
    checkPointerResolves();
    warnOfPlainKey();
    super(
      type,
      name,
      {
        ...inputs(declaration, args),
        __provider: pointer(kind),
        __urn: urnOf(name, type, opts.parent),
        __timeouts: timeouts(opts.customTimeouts),
      },
      options(declaration, opts),
    );
  }
}

/** By name: spreading `args` would drag the internals of an Output into the inputs when all of it is one (engine.md 3). */
function inputs({ args: names, outputs, secretArgs = [] }: Declaration, args: object | undefined): pulumi.Inputs {
  // Reading a property of an Output lifts it, so this works for a plain object and for an Output of one.
  const given = (args ?? {}) as Record<string, unknown>;
  const props: pulumi.Inputs = {};
  // An output that is not declared here would not be on the resource object.
  for (const name of outputs) props[name] = undefined;
  for (const name of names) {
    props[name] = secretArgs.includes(name) && given[name] !== undefined ? pulumi.secret(given[name]) : given[name];
  }
  return props;
}

function options(
  { secretArgs = [], secretOutputs = [], deleteBeforeReplace }: Declaration,
  opts: pulumi.CustomResourceOptions,
): pulumi.CustomResourceOptions {
  return pulumi.mergeOptions(
    // Secret arguments too: a read (`get`) brings no secret marks along (engine.md 3).
    { ...(deleteBeforeReplace && { deleteBeforeReplace }), additionalSecretOutputs: [...secretArgs, ...secretOutputs] },
    opts,
  );
}

/**
 * As a raw promise, which carries no dependency: an Output would depend on a parent that is a custom resource, and be
 * unknown while that is replaced (engine.md 2).
 */
function urnOf(name: string, type: string, parent: pulumi.Resource | undefined): Promise<string> {
  // `promise()` is marked internal in the SDK's types; it is public on every Output since 1.0.
  return (pulumi.createUrn(name, type, parent) as pulumi.Output<string> & { promise(): Promise<string> }).promise();
}

function timeouts(given: pulumi.CustomTimeouts | undefined): Timeouts | undefined {
  if (given === undefined) return undefined;
  const { create, update, delete: remove } = given;
  return {
    ...(create !== undefined && { create: durationSeconds(create) }),
    ...(update !== undefined && { update: durationSeconds(update) }),
    ...(remove !== undefined && { delete: durationSeconds(remove) }),
  };
}
