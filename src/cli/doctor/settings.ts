/** The settings of the next `pulumi up`: each of them and where it comes from, never its value. */
import { findKey, KEY_FORMS, keyName, keySource } from "../../contract/apiKey";
import {
  ENVIRONMENT,
  SETTING_NAMES,
  unknownSettings,
  type ReadSetting,
  type SettingName,
} from "../../contract/settings";
import { keysWithNearest } from "../../helpers/given";
import type { StackSettings } from "../stack/configuration";
import { hostAndPort, setVariables } from "./asking";
import { failure, ok, warning, type Check } from "./check";

/** A key that is stored encrypted works: this is a hint. */
const BY_NAME =
  "The stack stores this key, encrypted. `pulumi config set svc:apiKeyEnv NAME` (then `pulumi config rm svc:apiKey`) stores the name of a variable alone, and a rotation needs no `pulumi up`.";
const CORRECT = "Correct it with `pulumi config set`, or in the environment.";
/** Of a program whose providers no state shows yet. */
const BEFORE_FIRST_UP =
  "If the program gives an svc.Provider to each resource, nothing is missing: the doctor sees that after the first `pulumi up`.";

export interface Sources {
  /** The place of a setting that is set. */
  readonly sourceOf: (name: SettingName) => string | undefined;
  readonly read: ReadSetting;
  readonly problems: readonly string[];
  /** No resource of the state shows whether the program has providers of its own. */
  readonly isFirst: boolean;
}

/** As contract/settings finds them: the stack's configuration, then the environment. */
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

/** `project`: its name, in whose namespace the configuration has settings of its own. */
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
    const message = `no settings of pulumi-svc, so they have no effect: ${keysWithNearest("svc", unknown, SETTING_NAMES)}`;
    checks.push(warning("unknown settings", message, "Rename them, or remove them with `pulumi config rm`."));
  }
  return checks;
}

/** Which key is used, and by which name. One that has no value is a problem of the settings. */
function keyCheck(read: ReadSetting, sourceOf: Sources["sourceOf"]): Check[] {
  const source = keySource(read);
  if (source === undefined || findKey(read).key === undefined) return [];
  const { isConfigured, form } = source;
  const place = sourceOf(form);
  // Of a Provider of the program, which has a line of its own.
  if (place === undefined) return [];
  if (form !== "apiKey") {
    return [ok("API key", `${keyName(source)} holds it, by its name in ${place}, for pulumi up and preview`)];
  }
  return [ok("API key", `from ${place}, for pulumi up and preview`, isConfigured ? BY_NAME : undefined)];
}

/** What the SDK's gRPC heeds (lower case only): without an exception for this machine it asks the proxy for the engine. */
export function proxyCheck(): Check {
  const [named] = setVariables(["grpc_proxy", "https_proxy", "http_proxy"]);
  if (named === undefined) return ok("proxy", "none between the Pulumi SDK and the engine");
  // It compares the ends of names, and trims nothing.
  const [exceptions = "no_proxy"] = setVariables(["no_grpc_proxy", "no_proxy"]);
  const excepted = (process.env[exceptions] ?? "").split(",");
  if (excepted.some((host) => host !== "" && "127.0.0.1".endsWith(host)))
    return ok("proxy", `${named} is set, and ${exceptions} excludes this machine`);
  return warning(
    "proxy",
    `${named} is set, and ${exceptions} does not contain 127.0.0.1: the Pulumi SDK would connect to the engine through the proxy`,
    `Set ${exceptions}=127.0.0.1,localhost in the environment, in addition to its present value, without blanks.`,
  );
}
