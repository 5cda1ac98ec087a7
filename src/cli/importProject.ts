import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { getSystemErrorMap, isDeepStrictEqual } from "node:util";
import { Client, type EndpointRecord } from "../client";
import { type Properties, visible } from "../contract/hiddenKeys";
import { pointer, typeToken } from "../contract/pointer";
import { resolveSettings, type Settings } from "../contract/settings";
import { load } from "../provider";
import { type Argument, camelCase, Code, type Declared, kebabCase, Names, programText } from "./importProgram";
import { CANNOT_BE_LISTED, listProjectObjects, type ProjectObject } from "./projectObjects";

export interface ImportOptions {
  readonly project: string;
  /** The file for `pulumi import`. */
  readonly out: string;
  readonly program: string;
  readonly authProvider?: string;
  /** What `pulumi stack export` has written. */
  readonly state?: string;
  readonly force?: boolean;
}

export interface ImportReport {
  readonly project: string;
  /** Empty where there was nothing to import. */
  readonly files: readonly string[];
  readonly imported: readonly { kind: string; id: string; name: string; describe: string }[];
  /** What the given state holds already. */
  readonly held: readonly { kind: string; id: string; describe: string }[];
  /** Configuration that the program asks for: what cannot be read. */
  readonly configuration: readonly Wanted[];
  readonly notes: readonly string[];
  /** The commands that come next, in their order. */
  readonly next: readonly string[];
}

/** A value that the program takes from the configuration of the stack. */
interface Wanted {
  readonly key: string;
  readonly secret: boolean;
  /** Of which resource, by its name. */
  readonly resource: string;
}

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

/** Another resource name where two objects would have the same one. */
const WORDS: Readonly<Record<Kind, string>> = {
  ComputeEndpoint: "compute",
  AuthIntegration: "auth",
  OAuthProvider: "oauth",
  WhitelistDomain: "domain",
  EmailServer: "mail",
};

/**
 * Writes an import file with everything of a project, and the program that declares it.
 * @throws in words, and nothing is written then.
 */
export async function importProject(options: ImportOptions): Promise<ImportReport> {
  refuseToOverwrite(options);
  const { project, authProvider } = options;
  const settings = settingsOf(options);
  const state = stateOf(options.state);
  const client = new Client(settings);
  client.limitRequests(settings.maxRequestsPerMinute);
  const [all, branches = []] = await Promise.all([
    listProjectObjects(client, project, settings.authProvider),
    client.projects.branches(project),
  ]);
  const objects = all.filter((object) => !state.holds(object));
  const held = all.filter((object) => state.holds(object)).map(({ kind, id, describe }) => ({ kind, id, describe }));

  const branchNames = new Map(branches.map(({ id, name }) => [id, name]));
  const names = new Names(state.names);
  const named = objects.map((object) => ({
    ...names.choose(WORDS[object.kind], ...texts(object, branchNames)),
    object,
  }));
  const integration = named.find(
    ({ object: { kind, record } }) => kind === "AuthIntegration" && isOf(record, settings.authProvider),
  );
  const resources = await Promise.all(
    named.map(({ name, variable, object }) =>
      importedResource(object, { name, variable, branchNames, settings, integration: integration?.variable }),
    ),
  );
  const configuration = resources.flatMap(({ wanted }) => wanted);
  const report = {
    project,
    files: [options.out, options.program],
    imported: named.map(({ name, object: { kind, id, describe } }) => ({ kind, id, name, describe })),
    held,
    configuration,
    notes: [
      ...resources.flatMap(({ notes }) => notes),
      ...(integration === undefined ? [] : notesOnKeys(integration.name)),
      ...(options.state === undefined && objects.length > 0 ? [NO_STATE] : []),
    ],
    next: nextCommands(options.out, configuration, authProvider),
  };
  if (objects.length === 0) return { ...report, files: [], next: [] };
  const file = { resources: resources.map(({ entry }) => entry) };
  const program = programText(
    project,
    resources.map(({ declared }) => declared),
    configuration.length > 0,
  );
  write([
    [options.out, `${JSON.stringify(file, undefined, 2)}\n`],
    [options.program, program],
  ]);
  return report;
}

const isOf = (record: object, authProvider: string): boolean =>
  "auth_provider" in record && record.auth_provider === authProvider;

const notesOnKeys = (name: string): string[] => [
  `"${name}": the service shows the keys of an integration only once, so its outputs secretServerKey and pubClientKey are empty here. ` +
    "The keys in use stay valid. For a key set of the stack's own, declare svc.AuthKeys, which makes a new one",
  `Neither file has ${CANNOT_BE_LISTED}: they stay as they are`,
];

const NO_STATE =
  "Is the stack empty? What it holds already would be imported a second time, under another name. " +
  "Otherwise run pulumi stack export --file state.json, and this command with --state state.json";

/** The environment alone: no stack is asked. */
function settingsOf({ authProvider }: ImportOptions): Settings {
  const missing = ["SVC_API_KEY", "SVC_BASE_URL"].filter((name) => (process.env[name] ?? "").trim() === "");
  if (missing.length > 0) {
    const keys: Record<string, string> = { SVC_API_KEY: "svc:apiKey", SVC_BASE_URL: "svc:baseUrl" };
    const inStack = missing.map((name) => `export ${name}="$(pulumi config get ${keys[name] ?? ""})"`).join("; ");
    const advice = existsSync("Pulumi.yaml") ? `. Where the stack is configured: ${inStack}` : "";
    throw new Error(
      `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not set in the environment, and this command reads no stack configuration${advice}`,
    );
  }
  const { settings, problems } = resolveSettings((name) => (name === "authProvider" ? authProvider : undefined));
  if (settings === undefined) throw new Error(problems.join("; "));
  return settings;
}

interface State {
  readonly names: readonly string[];
  holds(object: ProjectObject): boolean;
}

/** Only types, ids and names are looked at. */
function stateOf(file: string | undefined): State {
  if (file === undefined) return { names: [], holds: () => false };
  const resources = exportedResources(file);
  const held = new Set(resources.map(({ type, id = "" }) => `${type} ${id}`));
  return {
    names: resources.map(({ urn }) => urn.slice(urn.lastIndexOf("::") + 2)),
    holds({ kind, id }) {
      // A Whitelist holds all domains of its project.
      const isListed = kind === "WhitelistDomain" && held.has(`${typeToken("Whitelist")} ${id.split("/", 1)[0] ?? ""}`);
      return isListed || held.has(`${typeToken(kind)} ${id}`);
    },
  };
}

function exportedResources(file: string): { urn: string; type: string; id?: string }[] {
  const text = inWords(`could not read ${file}`, () => readFileSync(file, "utf8"));
  try {
    // What is missing is noticed here; the rest of the file is not used.
    const { deployment } = JSON.parse(text) as { deployment: { resources?: { urn: string; type: string }[] } };
    const resources = deployment.resources ?? [];
    if (resources.every(({ urn, type }) => typeof urn === "string" && typeof type === "string")) return resources;
  } catch {
    // Said below, without the text: it may hold secrets.
  }
  throw new Error(`${file} is not what pulumi stack export writes`);
}

/** What a name is made from, the best first. */
function texts(object: ProjectObject, branchNames: ReadonlyMap<string, string | undefined>): (string | undefined)[] {
  switch (object.kind) {
    case "ComputeEndpoint": {
      const { name, branch_id, type } = object.record;
      const replica = type === "read_write" ? "" : "-replica";
      const ofBranch = branchNames.get(branch_id) ?? "";
      return [name, ofBranch && ofBranch + replica, branch_id.replace(/^br-/, "") + replica];
    }
    case "OAuthProvider":
      return [object.record.id];
    case "WhitelistDomain":
      return [object.id.replace(/^.*:\/\//, "")];
    default:
      return [];
  }
}

interface Place {
  readonly name: string;
  readonly variable: string;
  readonly branchNames: ReadonlyMap<string, string | undefined>;
  readonly settings: Settings;
  /** The variable of the integration that the program declares. */
  readonly integration: string | undefined;
}

interface ImportedResource {
  readonly entry: object;
  readonly declared: Declared;
  readonly wanted: readonly Wanted[];
  readonly notes: readonly string[];
}

/** As a refresh would store it, so that the first plan finds nothing. */
async function importedResource(object: ProjectObject, place: Place): Promise<ImportedResource> {
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
 * without a password, and a refresh would take what is missing for drift.
 */
const NOT_SHOWN = "(not shown by the service)";

/**
 * As the engine reads it: encrypted in the state. It stays so where a refresh finds the real value, which a service may
 * show (docs/design/api.md, Email server).
 */
const asSecret = (value: string) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  plaintext: JSON.stringify(value),
});

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

function nextCommands(out: string, configuration: readonly Wanted[], authProvider: string | undefined): string[] {
  return [
    ...(authProvider === undefined ? [] : [`pulumi config set svc:authProvider ${inShell(authProvider)}`]),
    ...configuration.map(({ key, secret }) => `pulumi config set ${secret ? "--secret " : ""}${inShell(key)}`),
    `pulumi import --file ${inShell(out)} --generate-code=false --protect=false --yes`,
    "pulumi preview",
    "pulumi up",
  ];
}

const inShell = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Before anything is asked: a long wait for nothing would be a pity. */
function refuseToOverwrite({ out, program, force = false }: ImportOptions): void {
  if (out === program) throw new Error("--out and --program name the same file");
  const there = [out, program].filter((file) => existsSync(file));
  const folder = there.find((file) => statSync(file).isDirectory());
  if (folder !== undefined) throw new Error(`${folder} is a folder`);
  if (force || there.length === 0) return;
  throw new Error(
    `${there.join(" and ")} ${there.length === 1 ? "exists" : "exist"} already, and nothing was written. ` +
      "Choose other files with --out and --program, or overwrite with --force",
  );
}

/** All of them or none: what can fail comes before the first file has its name. */
function write(files: readonly (readonly [path: string, text: string])[]): void {
  const written = files.map(([path]) => `${path}.${process.pid}.tmp`);
  try {
    for (const [index, [path, text]] of files.entries())
      inWords(`could not write ${path}`, () => writeFileSync(written[index] ?? path, text, { flag: "wx" }));
    for (const [index, [path]] of files.entries())
      inWords(`could not write ${path}`, () => renameSync(written[index] ?? path, path));
  } finally {
    for (const path of written) rmSync(path, { force: true });
  }
}

/** What the system says is put in words, without the stack trace and the call. */
function inWords<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // Only the system fails here.
    const { errno = 0 } = error as NodeJS.ErrnoException;
    throw new Error(`${what}: ${getSystemErrorMap().get(errno)?.[1] ?? "it failed"}`, { cause: error });
  }
}
