/** The settings of the next `pulumi up`: the source of each, never its value. */
import { findKey, KEY_FORMS, keyName, keySource } from "../../contract/apiKey";
import { hostAndPort } from "../../contract/hostAndPort";
import {
  ENVIRONMENT,
  SETTING_NAMES,
  unknownSettings,
  type ReadSetting,
  type SettingName,
} from "../../contract/settings";
import { keysWithNearest } from "../../helpers/given";
import type { StackSettings } from "../stack/configuration";
import { failure, ok, warning, type Check } from "./check";

/** An encrypted key works: this is a hint. */
const BY_NAME =
  "The stack stores this key, encrypted. `pulumi config set svc:apiKeyEnv NAME` (then `pulumi config rm svc:apiKey`) stores the name of a variable alone, and a rotation needs no `pulumi up`.";
const CORRECT = "Correct it with `pulumi config set`, or in the environment.";
/** For a program whose providers are not in any state yet. */
const BEFORE_FIRST_UP =
  "If the program gives an svc.Provider to each resource, nothing is missing: the doctor sees that after the first `pulumi up`.";

export interface Sources {
  /** Where a setting is set. */
  readonly sourceOf: (name: SettingName) => string | undefined;
  readonly read: ReadSetting;
  readonly problems: readonly string[];
  /** The state has no resource yet, so it does not show whether the program has its own providers. */
  readonly isFirst: boolean;
}

/** In the order of contract/settings: the stack's configuration, then the environment. */
export function sourcesIn(configuration: StackSettings): Sources["sourceOf"] {
  return (name) => {
    if (isSet(configuration, name)) return `the stack's configuration (svc:${name})`;
    const variable = name === "apiKeyEnv" ? undefined : ENVIRONMENT[name];
    return variable === undefined || (process.env[variable] ?? "").trim() === ""
      ? undefined
      : `the environment (${variable})`;
  };
}

const isSet = (configuration: StackSettings, name: SettingName): boolean =>
  (configuration.get(name)?.value ?? "").trim() !== "";

export const isKeyForm = (name: SettingName): boolean => KEY_FORMS.some((form) => form === name);

/** `project`: the name of the Pulumi project. Its namespace in the configuration holds settings of its own. */
export function settingsChecks(
  configuration: StackSettings,
  project: string,
  { sourceOf, read, problems, isFirst }: Sources,
): Check[] {
  const checks: Check[] = [];
  if (isSet(configuration, "apiKey") && configuration.get("apiKey")?.secret === false) {
    const message =
      "is stored in plain text in the stack's configuration (svc:apiKey), and pulumi up copies it to the state";
    const remedy =
      "Set it again with `pulumi config set --secret svc:apiKey`, or remove it and name the variable that holds it with `pulumi config set svc:apiKeyEnv`; run `pulumi up`, then rotate the key.";
    checks.push(warning("API key", message, remedy));
  } else checks.push(...keyCheck(read, sourceOf));
  const ofAddress = sourceOf("baseUrl");
  const address = (configuration.get("baseUrl")?.value ?? "").trim() || (process.env[ENVIRONMENT.baseUrl] ?? "").trim();
  if (ofAddress !== undefined && URL.canParse(address))
    checks.push(ok("address", `${hostAndPort(address)}, from ${ofAddress}`));
  const others = SETTING_NAMES.filter((name) => !isKeyForm(name) && name !== "baseUrl");
  const set = others.flatMap((name) => sourceOf(name) ?? []);
  checks.push(
    problems.length > 0
      ? failure("settings", problems.join("; "), isFirst ? `${CORRECT} ${BEFORE_FIRST_UP}` : CORRECT)
      : ok("settings", set.length > 0 ? `also set: ${set.join(", ")}` : "nothing else is set"),
  );
  const unknown = unknownSettings(
    [...configuration.keys()].map((name) => `svc:${name}`),
    project,
  );
  if (unknown.length > 0) {
    const message = `not settings of pulumi-svc, so they have no effect: ${keysWithNearest("svc", unknown, SETTING_NAMES)}`;
    checks.push(warning("unknown settings", message, "Rename them, or remove them with `pulumi config rm`."));
  }
  return checks;
}

/** Which key is used, and its name. A name without a value is reported with the settings. */
function keyCheck(read: ReadSetting, sourceOf: Sources["sourceOf"]): Check[] {
  const source = keySource(read);
  if (source === undefined || findKey(read).key === undefined) return [];
  const { isConfigured, form } = source;
  const place = sourceOf(form);
  // The key belongs to a provider of the program, which has its own line.
  if (place === undefined) return [];
  if (form !== "apiKey") {
    return [ok("API key", `from ${keyName(source)}, which ${place} names, for pulumi up and preview`)];
  }
  return [ok("API key", `from ${place}, for pulumi up and preview`, isConfigured ? BY_NAME : undefined)];
}

/**
 * The variables that the SDK's gRPC reads (lower case only): without an exception it reaches the engine through the
 * proxy.
 */
export function proxyCheck(): Check {
  const [named] = setVariables(["grpc_proxy", "https_proxy", "http_proxy"]);
  if (named === undefined) return ok("proxy", "none between the Pulumi SDK and the engine");
  // gRPC matches the ends of names and does not trim them.
  const [exceptions = "no_proxy"] = setVariables(["no_grpc_proxy", "no_proxy"]);
  const excepted = (process.env[exceptions] ?? "").split(",");
  if (excepted.some((host) => host !== "" && "127.0.0.1".endsWith(host)))
    return ok("proxy", `${named} is set, and ${exceptions} excludes this machine`);
  return warning(
    "proxy",
    `${named} is set, and ${exceptions} does not contain 127.0.0.1: the Pulumi SDK would connect to the engine through the proxy`,
    `Set ${exceptions}=127.0.0.1,localhost in the environment, in addition to its present value, without spaces.`,
  );
}

/** Names only: a proxy's address may contain a password. */
function setVariables(names: readonly string[]): string[] {
  return names.filter((name) => (process.env[name] ?? "") !== "");
}
