import type { EndpointAttributes, EndpointRecord } from "../../client";
import { derivedOutputs } from "../../contract/declaration";
import { settingForm } from "../../contract/forms";
import { ruleOf } from "../../runtime/arguments";
import { pathOf } from "../../runtime/differences";
import type { Call } from "../../runtime/lifecycle";
import { type ComputeSize, limitsOf } from "../../helpers/computeSizes";
import {
  type ComputeEndpointOutputs,
  type ComputeEndpointShape,
  type ComputeSettings,
  declaration,
  effectiveSeconds,
  suspendTimeoutSeconds,
} from "./computeEndpointDeclaration";
import { omitUndefined } from "../shared/omitUndefined";

/** Whether a PATCH accepts the argument (docs/design/api.md). */
export function isUpdatable(name: string): boolean {
  const { replaces, local, createOnly } = ruleOf(declaration.args, name) ?? {};
  return replaces === undefined && local !== true && createOnly !== true;
}

/** Whether the record shows no operation in progress. */
export const isSettled = ({ current_state, pending_state }: EndpointRecord): boolean =>
  pending_state === undefined && ["active", "idle"].includes(current_state);

/** The attributes of a request (docs/design/api.md). */
export function toAttributes(
  { resolve }: Pick<Call<never>, "resolve">,
  args: Partial<ComputeEndpointShape>,
  current?: EndpointRecord,
): EndpointAttributes {
  const { size, scaleToZero, settings } = args;
  const attributes: EndpointAttributes = {
    branch_id: args.branchId,
    type: args.type,
    name: args.name,
    region_id: args.regionId,
    autoscaling_limit_min_cu: typeof size === "object" ? size.min : size,
    autoscaling_limit_max_cu: typeof size === "object" ? size.max : size,
    suspend_timeout_seconds: scaleToZero === undefined ? undefined : suspendTimeoutSeconds(scaleToZero),
    settings: settings === undefined ? undefined : toSettings(resolve, settings, current?.settings),
    pooler_enabled: args.poolerEnabled,
    pooler_mode: args.poolerMode,
    disabled: args.disabled,
    passwordless_access: args.passwordlessAccess,
    provisioner: args.provisioner,
  };
  return omitUndefined(attributes);
}

/** Whether the settings are sent with unmanaged parts, which must be read right before. */
export function sendsUnmanaged({ settings }: Partial<ComputeEndpointShape>): boolean {
  if (settings === undefined) return false;
  const { pgSettings, preloadLibraries: { useDefaults, enabledLibraries } = {} } = settings;
  return [pgSettings, useDefaults, enabledLibraries].includes(undefined);
}

/**
 * Adds the documented parts that are not managed (docs/design/decisions.md, Arguments): the service replaces each part
 * as a whole.
 */
function toSettings(
  resolve: Call<never>["resolve"],
  { pgSettings, preloadLibraries }: ComputeSettings,
  current: EndpointRecord["settings"] = {},
) {
  const values = pgSettings && Object.entries(pgSettings).map(([name, value]) => [name, resolve(value)] as const);
  const pg = values === undefined ? current.pg_settings : Object.fromEntries<unknown>(values);
  const { use_defaults, enabled_libraries } = current.preload_libraries ?? {};
  const libraries = omitUndefined({
    use_defaults: preloadLibraries?.useDefaults ?? use_defaults,
    enabled_libraries: preloadLibraries?.enabledLibraries ?? enabled_libraries,
  });
  return {
    ...(pg !== undefined && { pg_settings: pg }),
    ...(Object.keys(libraries).length > 0 && { preload_libraries: libraries }),
  };
}

const pathOfSetting = (name: string): string => pathOf("settings", ["pgSettings", settingForm(name)]);

/** The Postgres settings of a record, by path. */
export const settingsOf = ({ settings }: EndpointRecord): string[] =>
  Object.keys(settings?.pg_settings ?? {}).map(pathOfSetting);

/**
 * The settings that the service has added of its own to a compute (`Call.added`): it shows them right after a change,
 * which had not sent them, and had not shown them right before. `earlier`: those that it had added before.
 */
export function addedSettings(
  now: EndpointRecord,
  change: {
    readonly sent: ComputeSettings | undefined;
    readonly before: EndpointRecord | undefined;
    readonly earlier: readonly string[];
  },
): string[] {
  const sent = Object.keys(change.sent?.pgSettings ?? {}).map(pathOfSetting);
  const before = change.before === undefined ? [] : settingsOf(change.before);
  const others = new Set([...sent, ...before.filter((path) => !change.earlier.includes(path))]);
  return settingsOf(now).filter((path) => !others.has(path));
}

/** Those of the settings that the service has added that it still shows. */
export const stillAdded = (endpoint: EndpointRecord, added: readonly string[]): string[] =>
  settingsOf(endpoint).filter((path) => added.includes(path));

/**
 * The arguments as the service shows them; from the settings, only the parts that `managed` has, without those that the
 * service has `added`.
 */
export function toArguments(
  projectId: string,
  endpoint: EndpointRecord,
  managed: ComputeSettings | undefined,
  added: readonly string[] = [],
) {
  return {
    projectId,
    branchId: endpoint.branch_id,
    // The service has only `read_write` and `read_only`; any other value would show as drift.
    type: endpoint.type as NonNullable<ComputeEndpointShape["type"]>,
    name: endpoint.name,
    size: toSize(endpoint),
    scaleToZero: toScaleToZero(endpoint.suspend_timeout_seconds),
    poolerEnabled: endpoint.pooler_enabled,
    // As above: there is only one mode.
    poolerMode: endpoint.pooler_mode as ComputeEndpointShape["poolerMode"],
    disabled: endpoint.disabled,
    passwordlessAccess: endpoint.passwordless_access,
    regionId: endpoint.region_id,
    provisioner: endpoint.provisioner,
    settings: managed && endpoint.settings && managedSettings(endpoint.settings, managed, added),
  };
}

function toSize({
  autoscaling_limit_min_cu: min,
  autoscaling_limit_max_cu: max,
}: EndpointRecord): ComputeSize | undefined {
  if (min === undefined || max === undefined) return undefined;
  return min === max ? max : { min, max };
}

function toScaleToZero(seconds: number | undefined): boolean | { afterSeconds: number } | undefined {
  if (seconds === undefined) return undefined;
  if (seconds < 0) return false;
  return seconds === 0 ? true : { afterSeconds: seconds };
}

function managedSettings(
  settings: NonNullable<EndpointRecord["settings"]>,
  { pgSettings, preloadLibraries }: ComputeSettings,
  added: readonly string[],
): ComputeSettings {
  const { pg_settings: pg = {}, preload_libraries: libraries = {} } = settings;
  const given = Object.keys(pgSettings ?? {}).map(pathOfSetting);
  const isShown = (path: string): boolean => given.includes(path) || !added.includes(path);
  const shown = Object.entries(pg).filter(([name]) => isShown(pathOfSetting(name)));
  return {
    ...(pgSettings !== undefined && {
      pgSettings: Object.fromEntries(shown.map(([name, value]) => [name, String(value)])),
    }),
    ...(preloadLibraries !== undefined && {
      preloadLibraries: {
        ...(preloadLibraries.useDefaults !== undefined && { useDefaults: libraries.use_defaults ?? true }),
        ...(preloadLibraries.enabledLibraries !== undefined && { enabledLibraries: libraries.enabled_libraries ?? [] }),
      },
    }),
  };
}

interface Forms {
  readonly size?: ComputeSize | undefined;
  readonly scaleToZero?: boolean | { afterSeconds: number } | undefined;
}

/** Values in the form in which the program gives them, so that a path of `ignoreChanges` finds their parts. */
export function inFormOf<Shown extends Forms>({ size, scaleToZero }: Forms, shown: Shown): Shown {
  return {
    ...shown,
    ...(typeof size === "object" && shown.size !== undefined && { size: limitsOf(shown.size) }),
    ...(typeof scaleToZero === "object" &&
      shown.scaleToZero !== undefined && { scaleToZero: { afterSeconds: effectiveSeconds(shown.scaleToZero) } }),
  };
}

/** The outputs, and every argument as the service shows it, managed or not. */
export function toOutputs(
  projectId: string,
  endpoint: EndpointRecord,
): ComputeEndpointOutputs & Partial<ComputeEndpointShape> {
  const { settings: _managedOnly, ...observed } = toArguments(projectId, endpoint, undefined);
  const { id, host, proxy_host } = endpoint;
  const derived = derivedOutputs(declaration.outputs, { id: `${projectId}/${id}`, host, size: observed.size });
  return omitUndefined({
    ...observed,
    // Everything that the declaration derives from these three.
    ...(derived as Pick<ComputeEndpointOutputs, "endpointId" | "pooledHost" | "proxyHost" | "maxConnections">),
    host,
    ...(proxy_host !== undefined && { proxyHost: proxy_host }),
    autoscalingLimitMinCu: endpoint.autoscaling_limit_min_cu,
    autoscalingLimitMaxCu: endpoint.autoscaling_limit_max_cu,
    suspendTimeoutSeconds: endpoint.suspend_timeout_seconds,
    creationSource: endpoint.creation_source,
    createdAt: endpoint.created_at,
  });
}
