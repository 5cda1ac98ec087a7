import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { programFolder, projectFolder } from "../../../contract/projectFile";
import { otherStacks as stacksBeside } from "../../stack/otherStacks";
import { pulumiIn } from "../../stack/pulumi";
import type { StackState } from "../../stack/state";
import { type Format, publish, render } from "../../report/render";
import { type IgnoreFile, readIgnoreFile } from "../ignoreFile";
import { refreshedStacks, type RefreshedStack } from "../previewRefresh";
import { type Drifted, fingerprint, stackOf, unfinishedText } from "../report";
import { selected } from "../selection";
import { judged, withoutTolerated } from "../tolerated";
import { componentOf } from "./component";
import { STALE } from "./creation";
import { type Candidate, candidatesIn, dropped, textsWith, type Told } from "./edit";
import { notInGit } from "./git";
import { besideIn, placeOf } from "./places";
import type { TypeScript } from "./programFile";
import { type Planned, planOfStack, writeProven } from "./proof";
import { ProjectFiles, typeScriptOf } from "./projectFiles";
import { acceptReport, type AcceptResult, COMMIT_FIRST, type LeftProperty } from "./result";
import { shownText } from "./shownText";
import type { Target } from "./target";

export interface AcceptFlags {
  /** Undefined: the selected one. */
  readonly stack: string | undefined;
  readonly dryRun?: true;
  /** Also edit files that git could not restore. */
  readonly force?: true;
  /** How many seconds to wait for the end of a running update. */
  readonly wait?: number;
  readonly format: Format;
  readonly out?: string;
}

/**
 * Edits the program so that it declares what was changed at the service, and returns the exit code.
 * @param names names or URNs of resources; without any, all that drifted
 * @throws a message for the user if the drift cannot be determined or the files cannot be written: then nothing is
 * written.
 */
export async function accept(names: readonly string[], flags: AcceptFlags): Promise<number> {
  const { stack, format, out, wait } = flags;
  try {
    // First: an invalid file stops the command before any request.
    const ignored = readIgnoreFile();
    const [refreshed] = await refreshedStacks(stack === undefined ? [] : [stack], {
      withSecrets: false,
      waitSeconds: wait,
    });
    const folder = process.cwd();
    // One stack was requested, so there is one result.
    const result = await acceptDrift(refreshed as RefreshedStack, {
      ...flags,
      names,
      ignored,
      folder,
      planned: () => planOfStack(pulumiIn(folder, stack)),
      others: (own) => stacksBeside(folder, own),
    });
    return await publish(acceptReport(result), format, out);
  } catch (error) {
    // A script also gets the error in its format.
    if (format !== "text") {
      const messages = (error instanceof Error ? error.message : String(error)).split("\n");
      const failed = { ...NOTHING, stack: stack ?? "", dryRun: flags.dryRun === true, messages };
      process.stdout.write(render(acceptReport(failed), format));
    }
    throw error;
  }
}

export interface Asked extends Pick<AcceptFlags, "dryRun" | "force"> {
  readonly names: readonly string[];
  /** Drift that the file covers is skipped unless the user names the resource. */
  readonly ignored: IgnoreFile;
  /** A folder in the project. */
  readonly folder: string;
  readonly planned: Planned;
  /** The program's other stacks. */
  readonly others: (own: string) => Promise<readonly string[]>;
}

const NOTHING: Omit<AcceptResult, "stack" | "dryRun"> = {
  accepted: [],
  left: [],
  files: [],
  otherStacks: [],
  tolerated: [],
  refusals: [],
  patch: "",
  messages: [],
  fingerprint: "",
};

/** @throws as `accept`. */
export async function acceptDrift({ resources, state }: RefreshedStack, asked: Asked): Promise<AcceptResult> {
  const { names, ignored, dryRun } = asked;
  const chosen = names.length > 0 ? selected(resources, names) : withoutTolerated(resources, ignored, new Date());
  const drift = chosen.flatMap((resource) => resource.drift ?? []);
  const of = stackOf(resources[0]?.urn ?? "");
  const whole = drift.flatMap(leftAsWhole);
  const changed = drift.filter(({ change, properties }) => change === "changed" && properties.length > 0);
  const result = {
    ...NOTHING,
    stack: of.stack,
    dryRun: dryRun === true,
    left: whole,
    fingerprint: fingerprint({ ...of, drift, unmanaged: [] }),
  };
  if (changed.length === 0) return result;
  const program = programIn(asked.folder);
  const settings = new Map(chosen.map(({ urn, provider }) => [urn, state.settingsOf(provider)]));
  const targets = changed.map((one) => targetOf(one, { state, program, readSetting: settings.get(one.urn) }));
  const edited = await editedProgram(targets, program, { ...asked, stack: of.stack });
  const tolerated = new Set(judged(resources, undefined, ignored, new Date()).tolerated.map(({ urn }) => urn));
  for (const { urn } of edited.accepted) tolerated.delete(urn);
  return { ...result, ...edited, left: [...edited.left, ...whole], tolerated: [...tolerated] };
}

interface Program {
  readonly project: string;
  readonly typescript: TypeScript;
  readonly files: ProjectFiles;
}

function programIn(folder: string): Program {
  const [project, program] = [projectFolder(folder), programFolder(folder)];
  if (project === undefined || program === undefined) throw new Error("no Pulumi.yaml in this folder or above");
  const typescript = typeScriptOf(program);
  return { project, typescript, files: new ProjectFiles(project, program, typescript) };
}

function targetOf(
  { kind, name, urn, properties }: Drifted,
  { state, program, readSetting }: { state: StackState; program: Program } & Pick<Target, "readSetting">,
): Target {
  const place = placeOf(state, urn, program.project);
  const file = place === undefined ? undefined : program.files.named(place.file);
  const { stack, project } = stackOf(urn);
  const component = componentOf(urn, state);
  return {
    ...{ kind, name, urn, component, stack: { name: stack, project } },
    // The children of a component have one place, and different arguments.
    beside: component === undefined ? besideIn(state, urn, program.project) : [],
    place: place === undefined || file === undefined ? undefined : { ...place, file },
    changes: properties,
    readSetting,
  };
}

type Outcome = Pick<AcceptResult, "accepted" | "left" | "files" | "otherStacks" | "refusals" | "patch">;

/** Edits the program, and keeps what the plan of the stack confirms. */
async function editedProgram(
  targets: readonly Target[],
  { typescript, files }: Program,
  { stack, force, dryRun, planned, others }: Asked & { readonly stack: string },
): Promise<Outcome> {
  const { candidates, told } = await candidatesIn(typescript, textsFor(targets, files), targets);
  refuseStale(told);
  const otherStacks = await others(stack);
  const refusals = force === true ? [] : await notRestorable([...textsWith(candidates).keys()], files);
  if (refusals.length > 0 && dryRun !== true)
    throw new Error(refusals.map((refusal) => `${refusal}. Nothing was written. ${COMMIT_FIRST}`).join("\n"));
  const isTried = candidates.length > 0 && dryRun !== true;
  const disproved = isTried ? await writeProven(candidates, { planned, files }) : new Map<string, string>();
  const kept = candidates.filter(({ target }) => !disproved.has(target.urn));
  const undone = candidates.flatMap((one) => {
    const reason = disproved.get(one.target.urn);
    return reason === undefined ? [] : dropped(one, reason);
  });
  const texts = textsWith(kept);
  return {
    accepted: kept.map(acceptedOf),
    left: [...told, ...undone].map((one) => leftOf(one, targets)),
    files: [...texts.keys()],
    otherStacks: texts.size === 0 ? [] : [...otherStacks],
    refusals,
    patch: patchOf(typescript, kept, texts),
  };
}

/** The texts of the files that may create these resources. */
function textsFor(targets: readonly Target[], files: ProjectFiles): ReadonlyMap<string, string> {
  const words = targets.flatMap(({ place, component, ...child }) => {
    const { kind, name } = component ?? child;
    return place === undefined ? [kind, name] : [];
  });
  const placed = targets.flatMap(({ place }) => (place === undefined ? [] : place.file));
  const searched = words.length === 0 ? [] : files.having(words);
  return new Map([...searched, ...placed.map((file) => [file, files.read(file)] as const)]);
}

function acceptedOf({
  target: { urn, kind, name },
  property,
  file,
  line,
}: Candidate): AcceptResult["accepted"][number] {
  const { path, declared, found } = property;
  return { urn, kind, name, path, declared, found, file: file.name, line };
}

function leftOf(told: Told, targets: readonly Target[]): LeftProperty {
  const target = targets.find(({ urn }) => urn === told.urn);
  if (target === undefined) throw new Error(`${told.urn} is not edited, and does not differ`);
  const { declared = null, found = null } = target.changes.find(({ path }) => path === told.path) ?? {};
  const { file = null, line = null, code = null } = told;
  return { ...told, kind: target.kind, declared, found, file, line, code };
}

/** In git's format, without what may be secret. */
const patchOf = (
  typescript: TypeScript,
  candidates: readonly Candidate[],
  texts: ReadonlyMap<string, string>,
): string => {
  const before = new Map(candidates.map(({ file }) => [file.name, file.text]));
  const diffs = [...texts].map(([name, after]) => {
    const [one, other] = [before.get(name) ?? "", after].map((text) => shownText(typescript, name, text));
    if (one === other) return "";
    const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
    return createTwoFilesPatch(`a/${name}`, `b/${name}`, one ?? "", other ?? "", undefined, undefined, options);
  });
  return diffs.join("");
};

function refuseStale(told: readonly Told[]): void {
  const stale = told.filter(({ reason }) => reason.startsWith(STALE));
  if (stale.length === 0) return;
  const sentences = stale.map(({ name, file = "", line, reason }) => `"${name}" at ${file}:${String(line)}: ${reason}`);
  throw new Error([...new Set(sentences)].join("\n"));
}

/** Drift that no edit of an argument can accept. */
function leftAsWhole({ urn, kind, name, change, properties, unfinished }: Drifted): LeftProperty[] {
  const left = (reason: string): LeftProperty[] => [
    { urn, kind, name, path: null, declared: null, found: null, file: null, line: null, reason, code: null },
  ];
  if (change === "deleted") {
    return left(
      "it does not exist any more. Remove it from the program and run pulumi up --refresh, or create it again with pulumi up --refresh or pulumi-svc drift --repair",
    );
  }
  if (change === "leftover") return left("a replacement could not delete it: the next pulumi up deletes it");
  if (unfinished !== undefined) return left(`${unfinishedText(unfinished)}. Run pulumi up, which finishes it`);
  return properties.length > 0 ? [] : left("no property differs, but pulumi up --refresh has to update it");
}

/** Why git could not restore these files. */
async function notRestorable(names: readonly string[], files: ProjectFiles): Promise<string[]> {
  const problems = await Promise.all(names.map(async (name) => [name, await notInGit(files.absolute(name))] as const));
  return problems.flatMap(([name, problem]) => (problem === undefined ? [] : [`${name} ${problem}`]));
}
