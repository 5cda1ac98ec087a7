import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { visible } from "../../../contract/hiddenKeys";
import { nameInUrn } from "../../../contract/identifiers";
import { kindOfEntry } from "../../../contract/pointer";
import { programFolder, projectFolder } from "../../../contract/projectFile";
import { ownValue } from "../../../contract/propertyPath";
import { sameJson } from "../../../host/arguments";
import { type Configuration, configurationOf } from "../../stack/configuration";
import type { StoredResource } from "../../stack/state";
import { otherStacks as stacksBeside } from "../../stack/otherStacks";
import { pulumiIn } from "../../stack/pulumi";
import { deliver, EXIT_FAILURE } from "../deliver";
import type { Format } from "../formats";
import { type IgnoreFile, readIgnoreFile } from "../ignoreFile";
import { refreshedStacks, type RefreshedStack } from "../previewRefresh";
import { type Drifted, fingerprint, stackOf, unfinishedText } from "../report";
import { selected } from "../selection";
import { judged, withoutTolerated } from "../tolerated";
import { Component } from "./component";
import { STALE } from "./creation";
import { mustDifferInKeys, StackFile } from "./configured";
import { type Around, type Edited, editProgram, type Target } from "./edit";
import { notInGit } from "./git";
import { Places } from "./places";
import { type Planned, plannedArguments, writtenIfProven } from "./proof";
import { ProjectFiles, typeScriptOf } from "./projectFiles";
import { type AcceptResult, COMMIT_FIRST, exitCode, type LeftProperty, render, summary } from "./result";
import { shownText, shownYaml } from "./shownText";
import type { Rewritten } from "../writeFiles";

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
    // One stack was requested, so there is one result.
    const folder = process.cwd();
    const result = await acceptDrift(refreshed as RefreshedStack, {
      ...flags,
      names,
      ignored,
      folder,
      planned: (urns) => plannedArguments(pulumiIn(folder, stack), urns),
      configured: () =>
        configurationOf(pulumiIn(folder, stack)).catch((error: Error) => {
          throw new Error(`the configuration of the stack cannot be read: ${error.message}`);
        }),
      others: (own) => stacksBeside(folder, own),
    });
    const isDelivered = await deliver(render(result, format), { out, summary: summary(result) });
    return isDelivered ? exitCode(result) : EXIT_FAILURE;
  } catch (error) {
    // A script also gets the error in its format.
    if (format !== "text") {
      const messages = (error instanceof Error ? error.message : String(error)).split("\n");
      process.stdout.write(render({ ...NOTHING, stack: stack ?? "", dryRun: flags.dryRun === true, messages }, format));
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
  /** The arguments that the current program gives to resources of the stack. */
  readonly planned: Planned;
  /** The stack's current configuration. */
  readonly configured?: () => Promise<Configuration>;
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
export async function acceptDrift(
  { resources, state }: RefreshedStack,
  { names, ignored, folder, planned, configured, others, dryRun, force }: Asked,
): Promise<AcceptResult> {
  const chosen = names.length > 0 ? selected(resources, names) : withoutTolerated(resources, ignored, new Date());
  const drift = chosen.flatMap((resource) => resource.drift ?? []);
  const { tolerated } = judged(resources, undefined, ignored, new Date());
  const toleratedUrns = [...new Set(tolerated.map(({ urn }) => urn))];
  const { project, stack } = stackOf(resources[0]?.urn ?? "");
  const whole = drift.flatMap(leftAsWhole);
  const changed = drift.filter(({ change, properties }) => change === "changed" && properties.length > 0);
  const result = {
    ...NOTHING,
    stack,
    dryRun: dryRun === true,
    left: whole,
    fingerprint: fingerprint({ project, stack, drift, unmanaged: [] }),
  };
  if (changed.length === 0) return result;

  const [projectAt, programAt] = [projectFolder(folder), programFolder(folder)];
  if (projectAt === undefined || programAt === undefined) throw new Error("no Pulumi.yaml in this folder or above");
  const typescript = typeScriptOf(programAt);
  const files = new ProjectFiles(projectAt, programAt, typescript);
  const places = new Places(state, projectAt);
  const providers = new Map(chosen.map(({ urn, provider }) => [urn, provider]));
  let targets = changed.map((resource): Target => ({
    ...targetOf(resource, Component.of(resource.urn, state), places, files),
    readSetting: state.settingsOf(providers.get(resource.urn) ?? ""),
  }));
  const unplaced = targets.flatMap(({ place, component, ...child }) => {
    const { kind, name } = component ?? child;
    return place === undefined ? [kind, name] : [];
  });
  const texts = unplaced.length === 0 ? new Map<string, string>() : files.having(unplaced);
  for (const { place } of targets) if (place !== undefined) texts.set(place.file, files.read(place.file));

  const otherStacks = await others(stack);
  // Most programs that read the configuration mention the class.
  const values = [...texts.values()].some((text) => text.includes("Config")) ? await configured?.() : undefined;
  const refused = new Map<string, string>();
  const around: Around | undefined = values && {
    ...{ configuration: { project, values }, refused },
    having: (text) => files.having([text]),
  };
  const stackFile = new StackFile(projectAt, stack);
  let edited: Edited;
  let rewritten: Rewritten[];
  let refusals: string[] = [];
  for (;;) {
    edited = await editProgram(typescript, texts, targets, around);
    refuseStale(edited);
    rewritten = [...edited.files].map(([name, after]) => {
      return { name, path: files.absolute(name), before: texts.get(name) ?? "", after };
    });
    const configuration = stackFile.with(edited.configuration, project);
    if ("refused" in configuration) {
      refused.set(configuration.refused, "which is written there in a form that cannot be edited");
      continue;
    }
    rewritten.push(...configuration.files);
    if (edited.accepted.length === 0) break;
    if (force !== true) refusals = await notRestorable(rewritten);
    if (dryRun === true) break;
    if (refusals.length > 0)
      throw new Error(refusals.map((refusal) => `${refusal}. Nothing was written. ${COMMIT_FIRST}`).join("\n"));
    const settings = edited.configuration;
    const own = new Set(edited.accepted.map(({ urn }) => urn));
    const beside = settings.length === 0 ? [] : state.resources.filter((one) => isOurs(one) && !own.has(one.urn));
    const refusedNow = new Map<string, string>();
    const disproved = await writtenIfProven(rewritten, edited.accepted, {
      targets,
      planned: (urns) => planned([...urns, ...beside.map(({ urn }) => urn)]),
      written: async () => {
        if (settings.length > 0) mustDifferInKeys(values ?? {}, (await configured?.()) ?? {}, settings);
      },
      // The text of the program does not show every use of a value.
      refused: (given) => {
        for (const { urn, inputs } of beside)
          for (const { key, value, urn: accepted } of settings)
            if (gains(given.get(urn), visible(inputs ?? {}), value)) {
              const reason = `which changes the plan of ${JSON.stringify(nameInUrn(urn))}, too`;
              refused.set(key, reason);
              refusedNow.set(accepted, reason);
            }
        return refusedNow;
      },
    });
    if (disproved.size === 0) break;
    // The other resources are edited again without these.
    targets = targets.map((target) =>
      refusedNow.has(target.urn) ? target : { ...target, disproof: disproved.get(target.urn) ?? target.disproof },
    );
  }
  const byUrn = new Map(changed.map((resource) => [resource.urn, resource]));
  const told = (urn: string, path: string) => {
    const resource = byUrn.get(urn);
    if (resource === undefined) throw new Error(`${urn} was accepted, and does not differ`);
    const { declared = null, found = null } = resource.properties.find((property) => property.path === path) ?? {};
    return { kind: resource.kind, declared, found };
  };
  return {
    ...result,
    accepted: edited.accepted.map(({ key, isEdited: _isEdited, ...one }) => ({
      ...one,
      ...told(one.urn, one.path),
      ...(key !== undefined && stackFile.placeOf(key, project)),
    })),
    left: [
      ...edited.told.map((one) => ({
        ...one,
        ...told(one.urn, one.path),
        file: one.file ?? null,
        line: one.line ?? null,
        code: one.code ?? null,
      })),
      ...whole,
    ],
    files: rewritten.map(({ name }) => name),
    refusals,
    tolerated: toleratedUrns.filter((urn) => edited.accepted.every((one) => one.urn !== urn)),
    // The configuration belongs to this stack only.
    otherStacks: edited.files.size === 0 ? [] : [...otherStacks],
    patch: rewritten
      .map(({ name, before = "", after }) => {
        const shown = (text: string) => (name === stackFile.name ? shownYaml(text) : shownText(typescript, name, text));
        return unifiedDiff(name, shown(before), shown(after));
      })
      .join(""),
  };
}

/** In git's format; empty if the texts are equal. */
function unifiedDiff(name: string, before: string, after: string): string {
  if (before === after) return "";
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after, undefined, undefined, options);
}

/** A resource of this package that the program declares. */
const isOurs = (entry: StoredResource): boolean =>
  kindOfEntry(entry) !== undefined && entry.delete !== true && Object.keys(visible(entry.inputs ?? {})).length > 0;

/** Whether the value occurs anywhere in the planned arguments but was not deployed there. */
function gains(planned: unknown, deployed: unknown, value: unknown): boolean {
  if (sameJson(planned, deployed)) return false;
  if (sameJson(planned, value)) return true;
  if (typeof planned !== "object" || planned === null) return false;
  return Object.entries(planned).some(([key, inner]) => gains(inner, ownValue(deployed, key), value));
}

function refuseStale({ told }: Edited): void {
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

function targetOf(
  { kind, name, urn, properties }: Drifted,
  component: Component | undefined,
  places: Places,
  files: ProjectFiles,
): Target {
  const place = places.of(urn);
  const file = place === undefined ? undefined : files.named(place.file);
  return {
    kind,
    name,
    urn,
    component,
    place: place === undefined || file === undefined ? undefined : { ...place, file },
    isShared: places.isShared(urn, component),
    disproof: undefined,
    changes: properties,
  };
}

/** Why git could not restore these files. */
async function notRestorable(files: readonly Rewritten[]): Promise<string[]> {
  const problems = await Promise.all(files.map(async ({ name, path }) => [name, await notInGit(path)] as const));
  return problems.flatMap(([name, problem]) => (problem === undefined ? [] : [`${name} ${problem}`]));
}
