/** What an import declares of an object that was looked up. */
import type { ArgumentRules } from "../contract/declaration";
import { isPlain, sameArgument, specEntries } from "./arguments";
import type { Lifecycle } from "./lifecycle";
import type { ReadResult } from "./requests";

/** Whether an imported program sets the argument: the service shows it, and an update sends it. */
export const isImported = ({ createOnly, local, unreadable, imported }: ArgumentRules<unknown>): boolean =>
  createOnly !== true && local !== true && unreadable !== true && imported !== false;

/** Leaves out what a new object has anyway. The state then has only what is left as managed. */
export function asImported<Args extends object, Outputs extends object>(
  { args: specs }: Lifecycle<Args, Outputs>,
  { outs, args: found }: ReadResult,
): ReadResult {
  const declared = specEntries(specs).flatMap(([name, spec]) => {
    const value = found[name];
    const standard = spec.standard ?? spec.assumed;
    const isEmpty = value === undefined || (isPlain(value) && Object.keys(value).length === 0);
    const isStandard = standard !== undefined && sameArgument(spec, standard, value);
    return isImported(spec) && !isEmpty && !isStandard ? [[name, value] as const] : [];
  });
  return { outs: { ...outs, __args: declared.map(([name]) => name).sort() }, args: Object.fromEntries(declared) };
}
