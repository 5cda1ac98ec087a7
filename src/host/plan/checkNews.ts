/** The inputs of a resource by themselves: checked, normalised, and as far as they are known. */
import { type Properties, containsUnknown } from "../../contract/hiddenKeys";
import { allowsUnlistedSizes, maxSizeCu, resolveSettings } from "../../contract/settings";
import { checkArguments, problemText, type Problem } from "../arguments";
import type { Limits } from "../lifecycle";
import { SecretValues } from "../references";
import type { Wrong } from "../requests";
import type { Hosted } from "../session";

/** The result of checking the inputs alone. */
export interface Checked<Args> {
  readonly args: Properties;
  /** The known, well-formed arguments. */
  readonly known: Partial<Args>;
  /** Problems that only `svc:allowUnlistedSizes` permits. */
  readonly allowed: readonly Problem[];
  readonly authProvider: string;
}

export const limitsOf = <Args extends object, Outputs extends object>(
  { readSetting }: Hosted<Args, Outputs>,
  ignored: readonly string[],
): Limits => ({ maxSizeCu: maxSizeCu(readSetting), ignored });

export function checkNews<Args extends object, Outputs extends object>(
  { resource, readSetting }: Hosted<Args, Outputs>,
  news: Properties,
  limits: Limits,
): Omit<Checked<Args>, "authProvider"> & { problems: Problem[] } {
  const { args, problems: found } = checkArguments(resource.kind, resource.args, news);
  const allows = allowsUnlistedSizes(readSetting);
  const isAllowed = ({ unlisted = false }: Problem): boolean => unlisted && allows;
  const bad = new Set(found.filter((problem) => !isAllowed(problem)).map(({ path }) => path.split(/[.[]/)[0]));
  const good = Object.entries(args).filter(([name, value]) => !bad.has(name) && !containsUnknown(value));
  // Each of these arguments has passed its own schema.
  const known = Object.fromEntries(good) as Partial<Args>;
  found.push(...(resource.rules?.(known, new Set(Object.keys(news)), limits) ?? []));
  const problems = found.filter((problem) => !isAllowed(problem));
  return { args, known, problems, allowed: found.filter(isAllowed) };
}

/** The arguments of a change, which have passed `check`. @throws all their problems at once. */
export function checkedArgs<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  news: Properties,
): Args {
  const { args, problems } = checkNews(hosted, news, { maxSizeCu: undefined, ignored: [] });
  if (problems.length > 0) throw new Error(problems.map(problemText).join("; "));
  // Just checked, argument by argument.
  return args as Args;
}

export const valuesOf = <Args extends object, Outputs extends object>({
  resource,
}: Hosted<Args, Outputs>): SecretValues =>
  // Nothing is sent to the service, so no message can repeat a value.
  new SecretValues(resource.args, () => undefined);

/** A problem of no argument. */
export const ofWhole = (reason: string): Wrong => ({ path: "", reason });

export const authProviderOf = <Args extends object, Outputs extends object>({
  readSetting,
}: Hosted<Args, Outputs>): string => resolveSettings(readSetting).settings?.authProvider ?? "";
