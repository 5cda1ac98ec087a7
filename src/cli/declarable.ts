/** Whether a program can declare what the service shows: the check of a plan decides, with the settings of the stack. */
import type { Properties } from "../contract/hiddenKeys";
import type { Kind } from "../contract/pointer";
import { segmentsOf } from "../contract/propertyPath";
import type { ReadSetting, SettingName } from "../contract/settings";
import { problemText } from "../runtime/arguments";
import type { Wrong } from "../runtime/requests";
import { load } from "../provider";
import type { ProjectObject } from "../resources/tools";

type Provider = ReturnType<typeof load>;

/** The provider of a kind, with these settings. */
export async function configured(kind: Kind, read: ReadSetting): Promise<Provider> {
  const provider = load(kind);
  // The lifecycles only read settings, all in this namespace.
  const get = (key: string): string | undefined => read(key.replace(/^svc:/, "") as SettingName);
  await provider.configure({ config: { get, require: (key) => get(key) ?? "" } });
  return provider;
}

/** What the check has against these arguments, but not what it has against the settings. */
export const problemsOf = async (provider: Provider, args: Properties): Promise<readonly Wrong[]> =>
  (await provider.problems(args)).filter(({ path }) => path !== "");

/** The argument that a path leads into. */
export const topOf = (path: string): string => String(segmentsOf(path)[0]);

/** Why no program can adopt the object; undefined: one can. */
export async function refusalToDeclare(
  { kind, identity }: ProjectObject,
  read: ReadSetting,
): Promise<string | undefined> {
  const provider = await configured(kind, read);
  // What else it needs is up to the program.
  const [problem] = (await problemsOf(provider, identity)).filter(({ path }) => Object.hasOwn(identity, topOf(path)));
  return problem && `no program can declare it: ${problemText(problem)}`;
}
