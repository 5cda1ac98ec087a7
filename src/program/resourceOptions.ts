/** Prepares the options of a resource or component for the SDK. */
import * as pulumi from "@pulumi/pulumi";
import type { Timeouts } from "../contract/hiddenKeys";
import { typeInOtherProtocol, urnInOtherProtocol } from "../contract/pointer";

/**
 * Adds the aliases that follow from those of the parent: if the parent `new` has the alias `old`, its child
 * `new-primary` was `old-primary`. The engine derives the same aliases, but no longer once the state holds the parent
 * under its new name. An `up` without the alias stores that name even if the children could not be created
 * (docs/design/engine.md, Options).
 */
export function withInheritedAliases<Options extends pulumi.ResourceOptions>(
  name: string,
  type: string,
  opts: Options,
): Options {
  const { parent, aliases = [] } = opts;
  if (!pulumi.Resource.isInstance(parent)) return opts;
  const all = pulumi.allAliases(aliases, name, type, parent, pulumi.resourceName(parent));
  // Without an alias of the parent these are the resource's own, which stay as given.
  return all.length > aliases.length ? { ...opts, aliases: all } : opts;
}

/**
 * Adds the aliases with which the state of a program that used the other protocol is found: each URN that the resource has,
 * or has had by its aliases, with the types of that protocol. So the import is all that changes.
 */
export function withOtherProtocol<Options extends pulumi.ResourceOptions>(
  name: string,
  type: string,
  opts: Options,
): Options {
  const inherited = withInheritedAliases(name, type, opts);
  const { parent, aliases = [] } = inherited;
  const urnOf = (alias: pulumi.Input<pulumi.Alias | string>): pulumi.Output<string> =>
    pulumi.output(alias).apply((known) => {
      if (typeof known === "string") return pulumi.output(known);
      const under = "parent" in known ? known.parent : parent;
      return pulumi.createUrn(known.name ?? name, known.type ?? type, under, known.project, known.stack);
    });
  const own = parent === undefined ? [] : [pulumi.createUrn(name, type, parent)];
  const others = [...own, ...aliases.map(urnOf)].map((urn) => urn.apply(urnInOtherProtocol));
  // Without a parent it is all that differs. After a run that has moved only the parent it is, too.
  const ofOtherType = { type: typeInOtherProtocol(type) };
  return { ...inherited, aliases: [...aliases, ofOtherType, ...others] };
}

/** `customTimeouts`, in seconds. */
export function timeoutsOf(timeouts: pulumi.CustomTimeouts | undefined): Timeouts | undefined {
  if (timeouts === undefined) return undefined;
  const { create, update, delete: remove, read } = timeouts;
  return {
    ...(create !== undefined && { create: durationSeconds(create) }),
    ...(update !== undefined && { update: durationSeconds(update) }),
    ...(remove !== undefined && { delete: durationSeconds(remove) }),
    ...(read !== undefined && { read: durationSeconds(read) }),
  };
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1, ms: 0.001 };

/**
 * Parses a duration of `customTimeouts` into seconds: `"10m"`, `"1h30m"`, `"2.5s"`.
 * @throws when it is anything else; the message says what was expected.
 */
export function durationSeconds(text: string): number {
  if (!/^(\d+(\.\d+)?(ms|h|m|s))+$/.test(text)) {
    throw new pulumi.RunError(`customTimeouts: "${text}" is not a duration such as "10m", "1h30m" or "45s"`);
  }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  return parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_SECONDS[unit] ?? 0), 0);
}
