import { normalAddress } from "./address";
import { findKey, type FoundKey, givenText as text, type KeyForm } from "./apiKey";
import { SEGMENT } from "./identifiers";
import { isLoopback } from "./loopback";
import { isUnknown } from "./hiddenKeys";
import { isHarmless } from "./secretNames";

/** The service and the account (docs/design/api.md, Requests). Resolved anew at each call. */
export interface Settings extends FoundKey {
  /** The versioned API root in its one spelling, such as `https://api.example.com/api/v2` (address.ts). */
  readonly baseUrl: string;
  /** The one supported auth provider unless set otherwise. */
  readonly authProvider: string;
  /** No progress lines; what has happened is still reported. */
  readonly quiet: boolean;
  /** What a plan finds in the way of a creation is an error, not a warning (runtime/lookAhead.ts). */
  readonly strictPlan: boolean;
  /** A plan sends no requests. */
  readonly offlinePlan: boolean;
  /** Undefined: no limit. */
  readonly maxRequestsPerMinute: number | undefined;
}

/** The name of a setting in the namespace `svc`. */
export type SettingName = keyof typeof ENVIRONMENT | KeyForm;
export type ReadSetting = (name: SettingName) => string | undefined;

/** The environment variable of each setting, read if the stack configuration does not have it. */
export const ENVIRONMENT = {
  apiKey: "SVC_API_KEY",
  apiKeyFile: "SVC_API_KEY_FILE",
  baseUrl: "SVC_BASE_URL",
  authProvider: "SVC_AUTH_PROVIDER",
  /** Shows no progress lines. */
  quiet: "SVC_QUIET",
  /**
   * Allows `http://` to another host, which sends the API key unencrypted: for an emulator in another container.
   */
  allowHttp: "SVC_ALLOW_HTTP",
  /** Sends a compute size that this version does not know, with a warning. */
  allowUnlistedSizes: "SVC_ALLOW_UNLISTED_SIZES",
  /** A plan fails if it finds that a creation or an update would fail: for pull requests. */
  strictPlan: "SVC_STRICT_PLAN",
  /** A plan never asks the service. */
  offlinePlan: "SVC_OFFLINE_PLAN",
  maxRequestsPerMinute: "SVC_MAX_REQUESTS_PER_MINUTE",
  maxSizeCu: "SVC_MAX_SIZE_CU",
} as const;

/** All settings. `apiKeyEnv` names a variable and has none of its own. */
export const SETTING_NAMES: readonly SettingName[] = [
  ...(Object.keys(ENVIRONMENT) as (keyof typeof ENVIRONMENT)[]),
  "apiKeyEnv",
];

/**
 * The unknown names in a configuration's `svc` namespace, from its keys (`svc:strictplan`): they have no effect. A
 * project that is itself called `svc` has its own keys there.
 */
export function unknownSettings(keys: readonly string[], project: string): string[] {
  if (project === "svc") return [];
  const names = keys.flatMap((key) => (key.startsWith("svc:") ? key.slice("svc:".length) : []));
  return names.filter((name) => !SETTING_NAMES.some((known) => known === name));
}

const DEFAULT_AUTH_PROVIDER = "supported_provider";

/** A whole number, 10 or more. With fewer requests, a change and the polls of its wait would take minutes. */
const SHARE = /^[1-9]\d+$/;

/** A number of compute units (CU). It need not be a size that the service offers. */
const LIMIT_CU = /^(?=.*[1-9])\d+(\.\d+)?$/;

/** The settings, or all problems with them. If a setting is unknown (a preview), there are neither. */
export function resolveSettings(read: ReadSetting): { settings?: Settings; problems: string[] } {
  const get = (name: keyof typeof ENVIRONMENT): string | undefined =>
    text(read(name)) ?? text(process.env[ENVIRONMENT[name]]);
  const baseUrl = get("baseUrl");
  const share = get("maxRequestsPerMinute");
  const { key, problem: keyProblem } = findKey(read);
  if ((key === undefined && keyProblem === undefined) || isUnknown(baseUrl) || isUnknown(share))
    return { problems: [] };

  const problems: string[] = keyProblem === undefined ? [] : [keyProblem];
  if (baseUrl === undefined) {
    problems.push(
      "no base URL: set it with `pulumi config set svc:baseUrl https://…/api/v2`, in the environment as SVC_BASE_URL, or as `baseUrl` of an explicit svc.Provider",
    );
  } else {
    problems.push(...baseUrlProblems(baseUrl, isOn(get("allowHttp"))));
  }
  for (const name of ["quiet", "allowHttp", "allowUnlistedSizes", "strictPlan", "offlinePlan"] as const) {
    const flag = get(name);
    if (isFlag(flag)) continue;
    problems.push(`svc:${name} (or ${ENVIRONMENT[name]}) must be true or false (or 1 or 0)${butGiven(flag)}`);
  }
  const authProvider = get("authProvider") ?? DEFAULT_AUTH_PROVIDER;
  if (!SEGMENT.test(authProvider)) {
    problems.push("svc:authProvider (or SVC_AUTH_PROVIDER) must be the short name of an auth provider");
  }
  const maxRequestsPerMinute = share === undefined ? undefined : Number(share);
  if (share !== undefined && !SHARE.test(share)) {
    problems.push(
      "svc:maxRequestsPerMinute (or SVC_MAX_REQUESTS_PER_MINUTE) must be a whole number, 10 or more" + butGiven(share),
    );
  }
  const limit = get("maxSizeCu");
  if (limit !== undefined && !isUnknown(limit) && !LIMIT_CU.test(limit)) {
    problems.push(
      "svc:maxSizeCu (or SVC_MAX_SIZE_CU) must be a number of compute units (CU) above 0, such as 2" + butGiven(limit),
    );
  }
  if (problems.length > 0 || key === undefined || baseUrl === undefined) return { problems };
  const [quiet, strictPlan, offlinePlan] = [isOn(get("quiet")), isOn(get("strictPlan")), isOn(get("offlinePlan"))];
  const flags = { quiet, strictPlan, offlinePlan };
  const settings = { ...key, baseUrl: normalAddress(baseUrl), authProvider, ...flags, maxRequestsPerMinute };
  return { problems, settings };
}

/** Whether a compute may have a size that this version does not know (docs/design/decisions.md, Arguments). */
export function allowsUnlistedSizes(read: ReadSetting): boolean {
  return isOn(text(read("allowUnlistedSizes")) ?? text(process.env[ENVIRONMENT.allowUnlistedSizes]));
}

/** The largest size that a compute may have, in compute units (CU). Undefined: any, or not known or not valid. */
export function maxSizeCu(read: ReadSetting): number | undefined {
  const limit = text(read("maxSizeCu")) ?? text(process.env[ENVIRONMENT.maxSizeCu]);
  return limit !== undefined && LIMIT_CU.test(limit) ? Number(limit) : undefined;
}

/** Whether a plan fails on what would only warn otherwise. */
export function isStrictPlan(read: ReadSetting): boolean {
  return isOn(text(read("strictPlan")) ?? text(process.env[ENVIRONMENT.strictPlan]));
}

/** The messages never repeat the URL: it may contain a password. */
function baseUrlProblems(baseUrl: string, allowHttp: boolean): string[] {
  const where = "svc:baseUrl (or SVC_BASE_URL)";
  if (!/^https?:\/\//i.test(baseUrl)) return [`${where} must begin with https:// (or http:// for a local emulator)`];
  if (!URL.canParse(baseUrl)) return [`${where} is not a URL`];
  const url = new URL(baseUrl);
  const problems: string[] = [];
  if (url.protocol === "http:" && !allowHttp && !isLoopback(url.hostname)) {
    problems.push(
      `${where} must begin with https://: http:// would send the API key unencrypted to another host. For an emulator in another container, set svc:allowHttp to true (or SVC_ALLOW_HTTP=1)`,
    );
  }
  if (url.username !== "" || url.password !== "") problems.push(`${where} must not contain a user name or a password`);
  if (url.search !== "" || url.hash !== "") problems.push(`${where} must not contain a query or a fragment`);
  if (!/\/v2\/*$/.test(url.pathname)) {
    problems.push(`${where} must end in the version segment of the API, such as https://…/api/v2`);
  }
  return problems;
}

/** The given value, if it is a flag or a number: another text may be a key that was set under the wrong name. */
function butGiven(value: string | undefined): string {
  return isHarmless(value) ? `, not ${JSON.stringify(value)}` : "";
}

/** Whether it is absent, unknown, or one of the words for on and off. */
function isFlag(flag: string | undefined): boolean {
  return flag === undefined || isUnknown(flag) || ["true", "1", "false", "0"].includes(flag);
}

function isOn(flag: string | undefined): boolean {
  return flag === "1" || flag === "true";
}

/**
 * With `SVC_LOG=debug`: a function that shows a line for each request, on standard error unless the caller passes
 * another.
 */
export function requestTrace(
  show = (line: string): void => void process.stderr.write(`${line}\n`),
): ((line: string) => void) | undefined {
  return process.env["SVC_LOG"] === "debug" ? (line) => show(`${TRACED}${line}`) : undefined;
}

/** The prefix of trace lines: the engine's log also has lines of others. */
export const TRACED = "pulumi-svc: ";

/** Set by `pulumi-svc drift --repair`, which declares a part of a state instead of a program. */
export const REPAIR_VARIABLE = "SVC_DRIFT_REPAIR";

export function isRepair(): boolean {
  return process.env[REPAIR_VARIABLE] === "1";
}

/** The variable by which a person says, for one command, that projects are gone. */
const GONE_PROJECT_VARIABLE = "SVC_GONE_PROJECT";

/**
 * The ids of projects of which a person has said that they are gone, so that a 404 for a whole project is believed
 * (docs/design/rules.md, 3). It is no setting of a stack: there it would still be believed when the key is another one.
 */
export function goneProjects(): string[] {
  const named = process.env[GONE_PROJECT_VARIABLE] ?? "";
  return named.split(/[\s,]+/).filter((id) => id !== "");
}

/** Whether the Pulumi CLI has started this process as a program. Otherwise a program in it is one of the Automation API. */
export function isStartedByCli(): boolean {
  // The SDK's own script sets it before it loads a program.
  return process.env["PULUMI_NODEJS_MONITOR"] !== undefined;
}

/** Whether errors keep their stacks, for debugging this package. */
export function debugStacks(): boolean {
  return process.env["SVC_DEBUG"] === "1";
}
