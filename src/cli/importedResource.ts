import { isDeepStrictEqual } from "node:util";
import type { EndpointRecord } from "../client";
import { type Properties, visible } from "../contract/hiddenKeys";
import { pointer, typeToken } from "../contract/pointer";
import type { Settings } from "../contract/settings";
import { STAND_INS } from "../contract/standIns";
import { load } from "../provider";
import { type Argument, camelCase, Code, type Declared, kebabCase } from "./importProgram";
import type { ProjectObject } from "./projectObjects";
import { asSecret } from "./secretSignature";

type Kind = ProjectObject["kind"];

/** The arguments that a program gives where the service shows them, in the order of the program. */
const ARGUMENTS: Readonly<Record<Kind, readonly string[]>> = {
  ComputeEndpoint: [
    "projectId",
    "branchId",
    "type",
    "name",
    "size",
    "scaleToZero",
    "poolerEnabled",
    "disabled",
    "passwordlessAccess",
    "settings",
  ],
  AuthIntegration: ["projectId", "authProvider", "branchId", "databaseName"],
  OAuthProvider: ["projectId", "providerId"],
  WhitelistDomain: ["projectId", "domain"],
  EmailServer: ["projectId", "type", "host", "port", "username", "password", "senderEmail", "senderName"],
};

/** What a new object has where the program says nothing: such a value needs no argument. */
const STANDARD: Properties = {
  type: "read_write",
  scaleToZero: true,
  poolerEnabled: false,
  disabled: false,
  passwordlessAccess: true,
  databaseName: "svcdb",
};

/** A value that the program takes from the configuration of the stack. */
export interface Wanted {
  readonly key: string;
  readonly secret: boolean;
  /** Of which resource, by its name. */
  readonly resource: string;
}

interface Place {
  readonly name: string;
  readonly variable: string;
  readonly branchNames: ReadonlyMap<string, string | undefined>;
  readonly settings: Settings;
  /** The variable of the integration that the program declares. */
  readonly integration: string | undefined;
}

export interface ImportedResource {
  readonly entry: object;
  readonly declared: Declared;
  readonly wanted: readonly Wanted[];
  readonly notes: readonly string[];
}

/** As a refresh would store it, so that the first plan finds nothing. */
export async function importedResource(object: ProjectObject, place: Place): Promise<ImportedResource> {
  const { kind, id } = object;
  const { name, variable, branchNames, settings } = place;
  const provider = load(kind);
  await provider.configure({ config: configOf(settings) });
  const wanted = wantedOf(object);
  const own = { __provider: pointer(kind) };
  const asked = ARGUMENTS[kind].filter((argument) => !wanted.has(argument));
  const read = await provider.read(id, { ...own, ...managedParts(object), __args: asked });
  const shown = visible(read.inputs ?? {});
  const standard: Properties = { ...STANDARD, authProvider: settings.authProvider };
  const given = asked.filter(
    (argument) => shown[argument] !== undefined && !isDeepStrictEqual(shown[argument], standard[argument]),
  );
  const hidden = Object.fromEntries(
    [...wanted].map(([argument, { secret }]) => [argument, secret ? asSecret(NOT_SHOWN) : NOT_SHOWN]),
  );
  const inClear = Object.fromEntries([...wanted.keys()].map((argument) => [argument, NOT_SHOWN]));
  const { refused, notes } = await refusedOf(provider, name, { ...pick(shown, given), ...inClear });
  const managed = given.filter((argument) => !refused.has(argument));
  const outputs = { ...without(read.props ?? {}, refused), ...hidden };
  const args = [...new Set([...ARGUMENTS[kind], ...wanted.keys()])].flatMap((argument): Argument[] => {
    const key = wanted.get(argument);
    if (key !== undefined)
      return [[argument, new Code(`config.${key.secret ? "requireSecret" : "require"}("${key.key}")`)]];
    if (!managed.includes(argument)) return [];
    if (argument === "projectId") return [[argument, new Code(containerOf(kind, place))]];
    const branch = argument === "branchId" ? branchNames.get(String(shown[argument])) : undefined;
    const isTelling = branch !== undefined && shown[argument] !== `br-${branch}`;
    return [isTelling ? [argument, shown[argument], branch] : [argument, shown[argument]]];
  });
  return {
    entry: {
      type: typeToken(kind),
      name,
      id,
      inputs: { ...pick(shown, managed), ...hidden, ...own },
      outputs: { ...outputs, __args: [...managed, ...wanted.keys()].sort() },
    },
    declared: { kind, name, variable, args, ...(kind === "AuthIntegration" && { comment: NO_KEYS }) },
    wanted: [...wanted.values()].map((key) => ({ ...key, resource: name })),
    notes,
  };
}

/**
 * In the state, until the first `pulumi up` sends the real value. Left out, the engine would refuse an e-mail server
 * without a password, and a refresh would take what is missing for drift. A secret is encrypted, and stays so where a refresh
 * finds the real value, which a service may show (docs/design/api.md, Email server).
 */
const NOT_SHOWN = STAND_INS.notShown;

const NO_KEYS = ["Its keys cannot be read: secretServerKey and pubClientKey are empty."];

/** What lives in an integration names it by its output, so that both are replaced together. */
const containerOf = (kind: Kind, { integration }: Place): string =>
  kind === "ComputeEndpoint" || kind === "AuthIntegration" || integration === undefined
    ? "projectId"
    : `${integration}.projectId`;

const configOf = ({ authProvider }: Settings) => {
  const get = (key: string): string | undefined => (key === "svc:authProvider" ? authProvider : undefined);
  return { get, require: (key: string): string => get(key) ?? "" };
};

/** What the service does not show, by argument. */
function wantedOf(object: ProjectObject): Map<string, Omit<Wanted, "resource">> {
  const { kind, record } = object;
  if (kind === "OAuthProvider" && record.type !== "shared") {
    const key = (name: string): string => camelCase(`${kebabCase(record.id)}-${name}`);
    return new Map([
      ["clientId", { key: key("clientId"), secret: false }],
      ["clientSecret", { key: key("clientSecret"), secret: true }],
    ]);
  }
  return new Map(kind === "EmailServer" ? [["password", { key: "smtpPassword", secret: true }]] : []);
}

/** Of the settings of a compute, a read shows the parts that are managed: those that are set. */
function managedParts({ kind, record }: ProjectObject): Properties {
  if (kind !== "ComputeEndpoint") return {};
  const { pg_settings: pg = {}, preload_libraries: libraries = {} }: NonNullable<EndpointRecord["settings"]> =
    record.settings ?? {};
  const preloadLibraries = {
    ...(libraries.use_defaults !== undefined && { useDefaults: true }),
    ...(libraries.enabled_libraries !== undefined && { enabledLibraries: [] }),
  };
  const settings = {
    ...(Object.keys(pg).length > 0 && { pgSettings: {} }),
    ...(Object.keys(preloadLibraries).length > 0 && { preloadLibraries }),
  };
  return Object.keys(settings).length > 0 ? { settings } : {};
}

/** What the service shows and no program can declare, such as a size that this version does not know. */
async function refusedOf(
  provider: ReturnType<typeof load>,
  name: string,
  inputs: Properties,
): Promise<{ refused: Set<string>; notes: string[] }> {
  const { failures = [] } = await provider.check({}, inputs);
  const refused = failures.map(({ reason }) => /^\w*/.exec(reason)?.[0] ?? "").filter((argument) => argument in inputs);
  const notes = failures.map(({ reason }) => `"${name}": ${reason}. The program does not declare it`);
  return { refused: new Set(refused), notes };
}

const pick = (from: Properties, names: readonly string[]): Properties =>
  Object.fromEntries(names.map((name) => [name, from[name]]));

const without = (from: Properties, names: ReadonlySet<string>): Properties =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.has(name)));
