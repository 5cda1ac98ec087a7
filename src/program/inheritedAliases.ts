import * as pulumi from "@pulumi/pulumi";

/**
 * The options with the aliases that follow from those of the parent: where a parent `old` is `new` now, its child
 * `new-primary` was `old-primary`. The engine derives the same ones, but not once the state holds the parent under its new
 * name; and an `up` without the alias leaves it there, although its children could not be created
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
  // Without an alias of the parent they are the resource's own, which are best left as they were given.
  return all.length > aliases.length ? { ...opts, aliases: all } : opts;
}
