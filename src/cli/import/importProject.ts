import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, relative, resolve } from "node:path";
import { getSystemErrorMap } from "node:util";
import { Client } from "../../client";
import { isSameName } from "../../contract/forms";
import { programFolder } from "../../contract/projectFile";
import { nameInUrn, projectOf } from "../../contract/identifiers";
import { protocolOf, isOurEntry, type Kind, kindOfEntry, KINDS } from "../../contract/pointer";
import { type ReadSetting, requestTrace, resolveSettings, type Settings } from "../../contract/settings";
import {
  branchComment,
  type DeclaredContainer,
  importedResource,
  observe,
  type Observed,
  type Wanted,
} from "./importedResource";
import { type Constant, kebabCase, Names, programText } from "./programText";
import { inShell } from "../code";
import { gatherersOf, livesIn, objectForm } from "../declarations";
import { terminalJson } from "../output";
import { listProjectObjects } from "../projectObjects";
import { type Gathering, type ImportableObject, type Naming, type ProjectObject, toolsOf } from "../../resources/tools";
import { readSettings } from "../stack/configuration";
import { otherStacks } from "../stack/otherStacks";
import { stackNames } from "../stack/stackNames";
import { entryPoint, isModule, namesPlugin } from "../stack/projectFile";
import { pulumiIn } from "../stack/pulumi";
import { exportedState, StackState, type StoredResource } from "../stack/state";

export interface ImportOptions {
  readonly project: string;
  /** The file for `pulumi import`. */
  readonly out: string;
  /** @default the entry point of the Pulumi project, else a file beside it */
  readonly program?: string;
  /** The ids of the objects to import. */
  readonly only?: readonly string[];
  readonly authProvider?: string;
  /** The stack whose configuration is used. @default the selected one */
  readonly stack?: string;
  /** Import the redirect domains as one `Whitelist`. */
  readonly whitelist?: boolean;
  /** A file written by `pulumi stack export`. @default what the stack holds */
  readonly state?: string;
  /** Keep in the program the protection that an import sets. */
  readonly protect?: boolean;
  /** Write secrets as references to environment variables. */
  readonly fromEnv?: boolean;
  readonly force?: boolean;
}

export interface ImportReport {
  readonly project: string;
  /** Empty if there was nothing to import. */
  readonly files: readonly string[];
  readonly imported: readonly { kind: string; id: string; name: string; describe: string }[];
  /** Objects that the state already contains. */
  readonly held: readonly { kind: string; id: string; describe: string }[];
  /** Objects that a program cannot declare, with the reasons. They are in neither file. */
  readonly leftOut: readonly { kind: Kind; id: string; describe: string; reasons: readonly string[] }[];
  /** Configuration that the program needs for values that cannot be read. */
  readonly configuration: readonly Wanted[];
  /** The environment variables that the program names. */
  readonly variables: readonly string[];
  readonly notes: readonly string[];
  /** The next commands, in order. A step that is not a command begins with `#`. */
  readonly next: readonly string[];
}

/**
 * Writes an import file with all objects of a project, and the program that declares them.
 * @throws all problems, one on each line. Nothing is written then.
 */
export async function importProject(options: ImportOptions): Promise<ImportReport> {
  const { project, authProvider, protect: isProtected = false } = options;
  const entry = entryPoint(process.cwd()) ?? resolve(programFolder(process.cwd()) ?? ".", "index.ts");
  const file = options.program ?? programFile(entry);
  const { state, read, settings } = await checked({ ...options, program: file });
  const client = new Client({ ...settings, trace: requestTrace() });
  client.limitRequests(settings.maxRequestsPerMinute);
  const all = await listProjectObjects({
    client,
    projectId: project,
    authProvider: settings.authProvider,
    options: {},
  });
  const branches = (await client.projects.branches(project)) ?? [];
  const asked = chosen(all, options);
  const held = asked.filter((object) => state.holds(object)).map(({ kind, id, describe }) => ({ kind, id, describe }));
  const found = asked.filter((object) => !state.holds(object));
  const gatherer = gathererOf(options);
  const isForeign = ({ kind, authProvider = settings.authProvider }: ProjectObject): boolean =>
    kind === gatherer?.gathers.kind && !isSameName(authProvider, settings.authProvider);
  // A gatherer holds the objects of one auth provider, and a plan refuses a single one beside it.
  const foreign = found.filter(isForeign);
  const own = found.filter((object) => !foreign.includes(object));
  const objects = gatherer === undefined ? own : gathered(project, own, gatherer.gathers);
  const observed = await Promise.all(objects.map((object) => observe(object, read, settings)));
  const declarable = observed.filter(({ isDeclarable }) => isDeclarable);

  const branchNames = new Map(branches.map(({ id, name }) => [id, name]));
  const names = new Names(state.names);
  const naming: Naming = { kebab: kebabCase, branch: (id) => branchText(id, branchNames) };
  const named = declarable.map((one) => ({
    ...names.choose(one.object.word, ...one.object.names(naming)),
    one,
  }));
  // Last, because resource names do not depend on it.
  const constants = branchConstants(declarable, branchNames, names);
  const branchVariables = new Map(constants.map(({ value, variable }) => [value, variable]));
  // Objects refer to the container that the settings name.
  const containers = named.flatMap(({ name, variable, one: { object, args } }): DeclaredContainer[] => {
    const { kind, authProvider = settings.authProvider } = object;
    if (!isContainer(object) || !isSameName(authProvider, settings.authProvider)) return [];
    return [{ kind, name, variable, args }];
  });
  const variables = options.fromEnv === true ? new Set<string>() : undefined;
  const shared = { branchNames, branchVariables, containers, isProtected, variables };
  const resources = named.map(({ name, variable, one }) => importedResource(one, { name, variable, ...shared }));
  const configuration = resources.flatMap(({ wanted }) => wanted);
  const report = {
    project,
    files: [options.out, file],
    imported: named.map(({ name, one: { object } }) => ({ ...plain(object), name })),
    held,
    leftOut: [
      ...observed
        .filter(({ isDeclarable }) => !isDeclarable)
        .map(({ object, refused }) => ({ ...plain(object), reasons: refused })),
      ...foreign.map((object) => ({
        ...plain(object),
        reasons: [
          `a ${gatherer?.kind} holds only the ${gatherer?.gathers.noun} of auth provider ${settings.authProvider}`,
        ],
      })),
    ],
    configuration,
    variables: [...(variables ?? [])],
    notes: [
      ...resources.flatMap(({ notes }) => notes),
      ...notesOnContainers(named, containers, all),
      ...containers.flatMap(({ kind, name }) => toolsOf(kind).contains?.notImported(name) ?? []),
      ...(!state.isKnown && named.length > 0 ? [NO_STATE] : []),
    ],
    next: [...takenIn(file, entry), ...nextCommands(options.out, configuration, [...(variables ?? [])], authProvider)],
  };
  if (named.length === 0) return { ...report, files: [], next: [] };
  const program = programText(
    [{ variable: "projectId", value: project }, ...constants],
    resources.map(({ declared }) => declared),
    {
      readsConfiguration: configuration.length > 0,
      isCommonJs: /\.c?js$/.test(file) && !isModule(file),
      onlyOf: state.onlyOf,
    },
  );
  write([
    [options.out, `${terminalJson({ resources: resources.map((one) => one.entry) })}\n`],
    [file, program],
  ]);
  return report;
}

/** The entry point if it does not exist yet, otherwise a file beside it: existing files are not changed. */
function programFile(entry: string): string {
  const file = existsSync(entry) ? resolve(dirname(entry), `imported${extname(entry)}`) : entry;
  return relative(process.cwd(), file);
}

/** The step that makes the program load the file. Without it `pulumi up` would plan to delete what is imported. */
function takenIn(file: string, entry: string): string[] {
  const path = resolve(file);
  if (path === entry) return [];
  const asModule = isModule(entry);
  const [ending] = asModule ? (/(?<=\.[cm]?)[jt]s$/.exec(path) ?? []) : [];
  const bare = relative(dirname(entry), path)
    .replaceAll("\\", "/")
    .replace(/\.[cm]?[jt]s$/, "");
  const name = JSON.stringify(
    `${/^\.\.?\//.test(bare) ? "" : "./"}${bare}${ending === undefined ? "" : extname(path).replace("ts", "js")}`,
  );
  const line = /\.c?js$/.test(entry) && !asModule ? `require(${name});` : `import ${name};`;
  return [`# add to ${relative(process.cwd(), entry)}: ${line}`];
}

/** @throws for an id that matches no object of the project. */
function chosen(all: readonly ProjectObject[], { project, only }: ImportOptions): readonly ProjectObject[] {
  if (only === undefined) return all;
  // An email server has the id of its project.
  const namesOf = ({ kind, id }: ProjectObject): string[] =>
    id === project ? [kind] : [id, id.slice(project.length + 1)];
  const problems = only
    .filter((id) => !all.some((object) => namesOf(object).includes(id)))
    .map(
      (id) =>
        `--only ${id}: project ${project} has no such object. It has ${all.map((one) => namesOf(one).at(-1)).join(", ")}`,
    );
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return all.filter((object) => namesOf(object).some((name) => only.includes(name)));
}

/** The objects of a container that the written file does not declare. */
function notesOnContainers(
  named: readonly { name: string; one: Observed }[],
  declared: readonly DeclaredContainer[],
  all: readonly ProjectObject[],
): string[] {
  const isDeclared = ({ kind }: ProjectObject): boolean => declared.some((one) => one.kind === kind);
  const isFirst = ({ kind }: ProjectObject, at: number): boolean => all.findIndex((one) => one.kind === kind) === at;
  const missing = all.filter((one, at) => isContainer(one) && isFirst(one, at) && !isDeclared(one));
  return missing.flatMap(({ kind, id }) => {
    const inside = named.filter(({ one }) => livesIn(one.object.kind, kind));
    if (inside.length === 0) return [];
    return [
      `${inside.map(({ name }) => `"${name}"`).join(", ")}: the file does not declare the ${toolsOf(kind).contains?.noun} ${id}, which contains this. ` +
        "If the program declares it, pass its projectId instead of the constant, so that the order is right when it is replaced",
    ];
  });
}

const isContainer = ({ kind }: ImportableObject): boolean => toolsOf(kind).contains !== undefined;

/** The kind that gathers others, if an option asks for it. */
function gathererOf(options: ImportOptions): { kind: Kind; gathers: Gathering } | undefined {
  return KINDS.flatMap((kind) => {
    const { gathers } = toolsOf(kind);
    return gathers !== undefined && options[gathers.option] === true ? [{ kind, gathers }] : [];
  })[0];
}

const plain = ({ kind, id, describe }: ImportableObject) => ({ kind, id, describe });

const NATIVE =
  "this program uses the native plugin, and the program that this command writes does not: a program uses one kind of resource. " +
  "Find the ids with pulumi-svc drift --unmanaged, and import each object with pulumi import svc:index:KIND NAME ID";

const NO_STATE =
  "No stack is selected here, so objects that a stack already holds were not left out. If your stack is not empty, select it or use --stack: " +
  "otherwise those objects are imported a second time, under another name";

/** Reports all problems of the command line, the files and the settings at once, before any request to the service. */
async function checked(
  options: ImportOptions & { program: string },
): Promise<{ state: State; read: ReadSetting; settings: Settings }> {
  const problems = fileProblems(options);
  const orNoted = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };
  const state = await orNoted(() => stateOf(options));
  const configured = await orNoted(() => readSettings(process.cwd(), options.stack));
  const read: ReadSetting = (name) =>
    (name === "authProvider" ? options.authProvider : undefined) ?? configured?.(name);
  // If the stack could not be read, missing settings are unknown.
  const { settings, problems: ofSettings } =
    configured === undefined ? { settings: undefined, problems: [] } : resolveSettings(read);
  problems.push(...ofSettings);
  if (problems.length > 0 || state === undefined || settings === undefined) throw new Error(problems.join("\n"));
  return { state, read, settings };
}

interface State {
  readonly isKnown: boolean;
  /** The name of the stack, if other stacks run the same program: they would create the same objects. */
  readonly onlyOf?: string | undefined;
  readonly names: readonly string[];
  holds(object: ProjectObject): boolean;
}

/** What the stack contains, by type and id, and the names in use. */
async function stateOf(options: ImportOptions): Promise<State> {
  const { state: file, project, stack } = options;
  const { resources, onlyOf } =
    file === undefined ? await selectedStack(stack) : { resources: exportedResources(file) };
  const isNative = resources?.some((one) => isOurEntry(one) && protocolOf(one.type) === "native") === true;
  if (isNative || namesPlugin(process.cwd())) throw new Error(NATIVE);
  if (resources === undefined) return { isKnown: false, names: [], holds: () => false };
  const ours = resources.flatMap(({ id = "", ...one }) => {
    const kind = kindOfEntry(one);
    return kind === undefined ? [] : [{ kind, id, form: objectForm(kind, id) }];
  });
  const isHeld = (kind: Kind, id: string): boolean => ours.some(({ form }) => form === objectForm(kind, id));
  const gatherer = gathererOf(options);
  const single = gatherer?.gathers.kind;
  if (ours.some(({ kind, id }) => kind === single && isSameName(projectOf(id), project))) {
    throw new Error(
      `the stack holds a ${single} of the project, which excludes a ${gatherer?.kind} of the same project: leave out --${gatherer?.gathers.option}`,
    );
  }
  return {
    isKnown: true,
    onlyOf,
    names: resources.map(({ urn }) => nameInUrn(urn)),
    holds({ kind, id }) {
      // A gatherer holds all objects of its project.
      return isHeld(kind, id) || gatherersOf(kind).some((one) => isHeld(one, projectOf(id)));
    },
  };
}

const refuseUnseen = ({ message }: Error): never => {
  throw new Error(
    `it is not known what the stack here holds, because its backend does not answer: ${message}. What it holds would be imported a second time. ` +
      "Log in to the backend, or give the file of pulumi stack export with --state",
  );
};

/** What the stack around this folder contains; empty without a stack. @throws if that cannot be seen. */
async function selectedStack(
  stack: string | undefined,
): Promise<{ resources?: readonly StoredResource[]; onlyOf?: string | undefined }> {
  const folder = process.cwd();
  if (programFolder(folder) === undefined) return {};
  const pulumi = pulumiIn(folder, stack);
  // A named stack that does not exist is reported with the settings.
  const { ok, stdout } = await pulumi(["stack", "--show-name"]);
  if (!ok) {
    // It fails in the same way if the backend cannot be reached, and then a stack may hold any of the objects.
    if (stack === undefined) await stackNames(folder).catch(refuseUnseen);
    return {};
  }
  // As pulumi.getStack() returns it, without the organization.
  const own = stdout.trim().split("/").at(-1) ?? "";
  const { resources } = await exportedState(pulumi, false);
  return { resources, onlyOf: (await otherStacks(folder, own)).length === 0 ? undefined : own };
}

function exportedResources(file: string): readonly StoredResource[] {
  const text = withPlainError(`could not read ${file}`, () => readFileSync(file, "utf8"));
  try {
    return new StackState(text).resources;
  } catch {
    throw new Error(`${file} is not what pulumi stack export writes`);
  }
}

/** All objects of a kind as one resource, in the place of the first. */
function gathered(
  project: string,
  objects: readonly ProjectObject[],
  { kind, gathered }: Gathering,
): ImportableObject[] {
  const count = objects.filter((one) => one.kind === kind).length;
  const first = objects.findIndex((one) => one.kind === kind);
  return objects.flatMap((one, at): ImportableObject[] => {
    if (one.kind !== kind) return [one];
    return at === first ? [gathered(project, count)] : [];
  });
}

/** The branch's name if it yields a resource name, otherwise its id. */
const branchText = (id: string, names: ReadonlyMap<string, string | undefined>): string =>
  kebabCase(names.get(id)) || kebabCase(id.replace(/^br-/, ""));

/** For each branch that several resources use. */
function branchConstants(
  declarable: readonly Observed[],
  branchNames: ReadonlyMap<string, string | undefined>,
  names: Names,
): Constant[] {
  const ids = declarable.flatMap(({ args: { branchId } }) => (typeof branchId === "string" ? [branchId] : []));
  const repeated = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
  return repeated.map((value) => {
    const { variable } = names.choose("branch", `${branchText(value, branchNames)}-branch-id`);
    const comment = branchComment(value, branchNames);
    return { variable, value, ...(comment !== undefined && { comment }) };
  });
}

/** Imported resources are protected: until a program declares them, no `pulumi up` deletes them. */
function nextCommands(
  out: string,
  configuration: readonly Wanted[],
  variables: readonly string[],
  authProvider: string | undefined,
): string[] {
  return [
    ...(authProvider === undefined ? [] : [`pulumi config set svc:authProvider ${inShell(authProvider)}`]),
    ...configuration.map(({ key, secret }) => `pulumi config set ${secret ? "--secret " : ""}${inShell(key)}`),
    ...(variables.length === 0 ? [] : [`# set in the environment of pulumi preview and up: ${variables.join(", ")}`]),
    `pulumi import --file ${inShell(out)} --generate-code=false --yes`,
    "pulumi preview",
    "pulumi up",
  ];
}

function fileProblems({ out, program, force = false }: ImportOptions & { program: string }): string[] {
  const problems: string[] = [];
  if (resolve(out) === resolve(program)) problems.push("--out and --program name the same file");
  const files = [...new Set([out, program])];
  for (const file of files.filter((file) => !existsSync(dirname(resolve(file)))))
    problems.push(`could not write ${file}: no such file or directory`);
  const there = files.filter((file) => existsSync(file));
  const folders = there.filter((file) => statSync(file).isDirectory());
  problems.push(...folders.map((folder) => `${folder} is a folder`));
  const kept = there.filter((file) => !folders.includes(file));
  if (!force && kept.length > 0) {
    problems.push(
      `${kept.join(" and ")} ${kept.length === 1 ? "exists" : "exist"} already, and nothing was written. ` +
        "Choose other files with --out and --program, or overwrite with --force",
    );
  }
  return problems;
}

/** Writes all files or none: everything that can fail happens before the first rename. */
function write(files: readonly (readonly [path: string, text: string])[]): void {
  const written = files.map(([path]) => `${path}.${process.pid}.tmp`);
  try {
    for (const [index, [path, text]] of files.entries())
      withPlainError(`could not write ${path}`, () => writeFileSync(written[index] ?? path, text, { flag: "wx" }));
    for (const [index, [path]] of files.entries())
      withPlainError(`could not write ${path}`, () => renameSync(written[index] ?? path, path));
  } finally {
    for (const path of written) rmSync(path, { force: true });
  }
}

/** Reports an error of the file system without its stack trace and system call. */
function withPlainError<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // Only system calls fail here.
    const { errno = 0 } = error as NodeJS.ErrnoException;
    throw new Error(`${what}: ${getSystemErrorMap().get(errno)?.[1] ?? "it failed"}`, { cause: error });
  }
}
