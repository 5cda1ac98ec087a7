import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { getSystemErrorMap } from "node:util";
import { Client } from "../client";
import { typeToken } from "../contract/pointer";
import { resolveSettings, type Settings } from "../contract/settings";
import { importedResource, type Wanted } from "./importedResource";
import { Names, programText } from "./importProgram";
import { CANNOT_BE_LISTED, listProjectObjects, type ProjectObject, projectOf } from "./projectObjects";

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

/** Another resource name where two objects would have the same one. */
const WORDS: Readonly<Record<ProjectObject["kind"], string>> = {
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
  const all = await listProjectObjects(client, project, settings.authProvider);
  const branches = (await client.projects.branches(project)) ?? [];
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
      const isListed = kind === "WhitelistDomain" && held.has(`${typeToken("Whitelist")} ${projectOf(id)}`);
      return isListed || held.has(`${typeToken(kind)} ${id}`);
    },
  };
}

function exportedResources(file: string): { urn: string; type: string; id?: string }[] {
  const text = orSay(`could not read ${file}`, () => readFileSync(file, "utf8"));
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
  if (resolve(out) === resolve(program)) throw new Error("--out and --program name the same file");
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
      orSay(`could not write ${path}`, () => writeFileSync(written[index] ?? path, text, { flag: "wx" }));
    for (const [index, [path]] of files.entries())
      orSay(`could not write ${path}`, () => renameSync(written[index] ?? path, path));
  } finally {
    for (const path of written) rmSync(path, { force: true });
  }
}

/** What the system says is put in words, without the stack trace and the call. */
function orSay<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // Only the system fails here.
    const { errno = 0 } = error as NodeJS.ErrnoException;
    throw new Error(`${what}: ${getSystemErrorMap().get(errno)?.[1] ?? "it failed"}`, { cause: error });
  }
}
