/**
 * Replacements (docs/design/rules.md, 9). The new object is created first wherever the service can hold both: then a
 * refusal loses nothing. Where old and new exclude each other, the old one is deleted first, and only once it is proven
 * that the service would accept the new one.
 */
import { Granted, type Permission, Unknown } from "../client";
import { ANY_AUTH_PROVIDER, type Claim } from "../contract/claims";
import { containsUnknown, type Properties } from "../contract/hiddenKeys";
import { specEntries } from "./arguments";
import type { Lifecycle, Replacing, Stored } from "./lifecycle";
import { compareWith } from "./state";

/**
 * Whether the old object must leave before the new one can be created: both are the same for the service, or that is not
 * known yet. `authProvider`: of the settings.
 */
export function excludeEachOther<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  { id, outs }: Pick<Stored<Args, Outputs>, "id" | "outs">,
  news: Properties,
  authProvider: string,
): boolean {
  const claimed = (args: Properties): string[] =>
    claimsOf(resource, args, authProvider).flatMap(({ object, shared }) => (shared === true ? [] : [object]));
  const before = claimed(outs as Properties);
  // What has nothing at the service takes no place there.
  if (before.length === 0 || resource.objects(id, outs).length === 0) return false;
  const isOpen = specEntries(resource.args).some(([name]) => containsUnknown(news[name]));
  const after = claimed(news);
  return after.some((object) => before.includes(object)) || (isOpen && after.length < before.length);
}

/** What these arguments declare, but for what only a creation takes over. */
function claimsOf<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  args: Properties,
  authProvider: string,
): readonly Claim[] {
  const names = specEntries(resource.args).flatMap(([name, { createOnly }]) => (createOnly === true ? [] : [name]));
  const own = names.flatMap((name) => (args[name] === undefined ? [] : [[name, args[name]] as const]));
  // Known arguments that have passed `check`, or that this provider has stored.
  const known = Object.fromEntries(own.filter(([, value]) => !containsUnknown(value))) as Partial<Args>;
  return resource.declares?.(known, authProvider, new Set(own.map(([name]) => name))) ?? [];
}

/**
 * What an entry of the state declares, in every form in which the program's process may have named it: that does not know
 * the auth provider of the settings.
 */
export function claimsOfEntry<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  outs: object,
  authProvider: string,
): readonly Claim[] {
  const { authProvider: _named, ...others } = outs as Properties;
  return [...claimsOf(resource, outs as Properties, authProvider), ...claimsOf(resource, others, ANY_AUTH_PROVIDER)];
}

/** Whether the old object may be deleted before the new one is created. `news`: all given arguments. */
export async function mayDeleteFirst<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  { stored, news, authProvider, ...asking }: Omit<Replacing<Args, Outputs>, "news"> & { readonly news: Properties },
): Promise<Permission> {
  if (resource.objects(stored.id, stored.outs).length === 0) return Granted.proven();
  const isOther = compareWith(resource, stored, news).replaces.size > 0;
  if (isOther && !excludeEachOther(resource, stored, news, authProvider))
    return Unknown.because({
      question: "whether the service accepts the new one",
      why: 'only its creation shows that, and the option "deleteBeforeReplace" deletes the old one before it',
      waysOut:
        "Leave the option out: then the new one is created first. If both cannot be there at once, remove the resource, run pulumi up, and add it again",
    });
  const known = Object.entries(news).filter(([, value]) => !containsUnknown(value));
  // They have passed `check`.
  const args = Object.fromEntries(known) as Partial<Args>;
  return resource.replaceable.ask({ ...asking, stored, news: args, authProvider });
}
