import { KEY_FORMS, keySource } from "../../contract/apiKey";
import { hostAndPort } from "../../contract/hostAndPort";
import { routeTo } from "../../contract/proxy";
import { resolveSettings, type ReadSetting, type SettingName, type Settings } from "../../contract/settings";
import { fromProgram, type StackSettings } from "../stack/configuration";
import { Asking, forbiddenIn, isRefused, OTHER_ACCOUNT, projectChecks, remedyOf, wordsOf } from "./asking";
import { failure, ok, skipped, type Check } from "./check";
import { isKeyForm, proxyCheck, settingsChecks, sourcesIn } from "./settings";
import type { StoredProvider } from "./stack";
import { explicitChecks, storedKeyCheck } from "./stored";

const REFUSED_KEY =
  "Set the key again where the line `API key` says that it comes from: with `pulumi config set --secret svc:apiKey`, in the variable or file that is named, or as SVC_API_KEY in the environment. The stack's configuration takes precedence.";

/**
 * Placeholders for what the program passes to each provider, so that problems with the other settings are still found.
 */
const GIVEN: Partial<Record<SettingName, string>> = { apiKey: "given", baseUrl: "https://given.invalid/v2" };

export interface Known {
  /** The stack's configuration. Undefined if it could not be read. */
  readonly configuration: StackSettings | undefined;
  /** The providers of our resources in the state. Undefined if the state was not read. */
  readonly providers: readonly StoredProvider[] | undefined;
  /** The name of the Pulumi project; empty without a project. */
  readonly projectName: string;
}

/** Checks the settings, then the configured key and the keys in the state against the service. */
export async function serviceChecks(
  { configuration, providers: found, projectName }: Known,
  project: string | undefined,
): Promise<Check[]> {
  if (configuration === undefined) {
    const why = "the stack's configuration could not be read";
    return ["settings", "service", "credentials", "projects"].map((name) => skipped(name, why));
  }
  const providers = found ?? [];
  const explicit = providers.filter(({ isDefault }) => !isDefault);
  const ofDefault = providers.filter(({ isDefault }) => isDefault);
  const sourceOf = sourcesIn(configuration);
  // If each resource has an `svc.Provider`, the program passes what is not configured.
  const hasKey = KEY_FORMS.some((form) => sourceOf(form) !== undefined);
  const isLacking = !hasKey || sourceOf("baseUrl") === undefined;
  const own = isLacking && ofDefault.length === 0 ? explicit : [];
  const configured = fromProgram(process.cwd(), (name) => configuration.get(name)?.value);
  // The forms of a key are one setting: setting two of them is an error.
  const isGiven = (name: SettingName): boolean => (isKeyForm(name) ? hasKey : sourceOf(name) !== undefined);
  const read: ReadSetting = (name) => configured(name) ?? (own.length === 0 || isGiven(name) ? undefined : GIVEN[name]);
  const { settings, problems } = resolveSettings(read);
  const isFirst = isLacking && found?.length === 0;
  const checks = settingsChecks(configuration, projectName, { sourceOf, read, problems, isFirst });

  const askedOf = ({ projects }: StoredProvider): readonly string[] =>
    project === undefined ? projects : projects.filter((id) => id === project);
  const isOfExplicit = explicit.some((provider) => askedOf(provider).length > 0);
  const elsewhere = project === undefined || isOfExplicit ? [] : [project];
  const asking = new Asking();
  if (settings === undefined) {
    const why = "not checked: the settings are incomplete";
    checks.push(...["service", "credentials", "projects"].map((name) => skipped(name, why)));
  } else if (own.length > 0) {
    const names = own.map(({ name }) => `"${name}"`).join(", ");
    const why = `every resource of the stack uses an explicit svc.Provider (${names}), and the configuration lacks the key or the base URL`;
    checks.push(skipped("credentials", why), proxyCheck(), ...routeChecks(providers));
  } else {
    const asked = [...new Set([...ofDefault.flatMap(askedOf), ...elsewhere])];
    checks.push(proxyCheck(), ...routeChecks(providers, settings));
    checks.push(...(await configuredChecks(settings, asking, { projects: asked, isOfExplicit })));
  }
  const isDown = checks.some(({ name, status }) => name === "service" && status === "failure");
  const isBad = checks.some(({ name, status }) => name === "credentials" && status === "failure");
  const next = { configured: settings, source: keySource(read), isDown, isBad };
  for (const provider of ofDefault) checks.push(await storedKeyCheck(provider, asking, next));
  for (const provider of explicit) {
    const projects = own.length > 0 ? [...askedOf(provider), ...elsewhere] : askedOf(provider);
    checks.push(...(await explicitChecks(provider, asking, projects)));
  }
  return checks;
}

/**
 * The proxy that leads to each service, that of the configuration and those that the state names; nothing where the
 * environment names none.
 */
function routeChecks(providers: readonly StoredProvider[], configured?: Settings): Check[] {
  const stored = providers.flatMap(({ read }) => resolveSettings(read).settings ?? []);
  const addresses = [configured, ...stored].flatMap((settings) => settings?.baseUrl ?? []);
  return [...new Set(addresses.map((address) => new URL(address).origin))].flatMap((address) => {
    const name = "service proxy";
    const [route, where] = [routeTo(address), hostAndPort(address)];
    switch (route.through) {
      case "nothing":
        return route.because === undefined ? [] : ok(name, `none to ${where}: ${route.because}`);
      case "proxy":
        return ok(name, `${route.proxy.where} to ${where}, from ${route.proxy.variable}`);
      case "unusable":
        return failure(
          name,
          route.problem,
          `Correct it, or except ${new URL(address).hostname} from it with NO_PROXY.`,
        );
    }
  });
}

/** `isOfExplicit`: the projects are read with other settings. */
async function configuredChecks(
  settings: Settings,
  asking: Asking,
  { projects, isOfExplicit }: { projects: readonly string[]; isOfExplicit: boolean },
): Promise<Check[]> {
  const { baseUrl } = settings;
  const { answers, failed, tells } = await asking.ask(settings, projects);
  if (failed !== undefined) {
    const unasked = projects.map((other) => skipped(`project ${other}`, "not checked"));
    if (isRefused(failed)) {
      const refused = failure("credentials", "the service refuses the key (401)", REFUSED_KEY);
      return [ok("service", `${hostAndPort(baseUrl)} answers`), refused, ...unasked];
    }
    const check = failure("service", wordsOf(failed), remedyOf(failed, baseUrl));
    return [check, skipped("credentials", "not checked"), ...unasked];
  }
  const checks = [ok("service", `${hostAndPort(baseUrl)} answers`)];
  if (projects.length === 0) {
    const why = "no project is known: name one with --project";
    const credentials = tells === "nothing" ? skipped("credentials", why) : ok("credentials", "the key is not refused");
    return [...checks, credentials, ...(isOfExplicit ? [] : [skipped("projects", why)])];
  }
  const forbidden = forbiddenIn(answers);
  checks.push(
    forbidden.length > 0
      ? failure("credentials", `the key may not read ${forbidden.join(", ")} (403)`, OTHER_ACCOUNT)
      : ok("credentials", "the service accepts the key"),
  );
  return [...checks, ...projectChecks(answers)];
}
