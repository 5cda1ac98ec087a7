import { projectFolder } from "../../../contract/projectFile";
import { otherStacks as stacksBeside } from "../../stack/otherStacks";
import { programFolder } from "../../stack/projectFile";
import { pulumiIn } from "../../stack/pulumi";
import { deliver, EXIT_FAILURE } from "../deliver";
import type { Format } from "../formats";
import { type IgnoreFile, readIgnoreFile } from "../ignoreFile";
import { refreshedStacks, type RefreshedStack } from "../previewRefresh";
import { type Drifted, fingerprint, stackOf } from "../report";
import { selected } from "../selection";
import { withoutTolerated } from "../tolerated";
import { Component } from "./component";
import { STALE } from "./creation";
import { type Edited, editProgram, type Target } from "./edit";
import { notInGit } from "./git";
import { unifiedDiff } from "./patch";
import { Places } from "./places";
import { type Planned, plannedArguments, writtenIfProven } from "./proof";
import { ProjectFiles, typeScriptOf } from "./projectFiles";
import { type AcceptResult, exitCode, type LeftProperty, render, summary } from "./result";
import { shownText } from "./shownText";
import type { Rewritten } from "../writeFiles";

export interface AcceptFlags {
  /** Undefined: the selected one. */
  readonly stack: string | undefined;
  readonly dryRun?: true;
  /** Also files that git could not bring back. */
  readonly force?: true;
  /** In seconds: for the end of an update that runs. */
  readonly wait?: number;
  readonly format: Format;
  readonly out?: string;
}

/**
 * Edits the program, so that it declares what was changed at the service, and returns the exit code.
 * @param names of resources, or URNs; without any, all that drifted.
 * @throws where that cannot be found out or written, with a message for a person: then nothing is.
 */
export async function accept(names: readonly string[], flags: AcceptFlags): Promise<number> {
  const { stack, format, out, wait } = flags;
  try {
    // First: where it is wrong, nothing is asked.
    const ignored = readIgnoreFile();
    const [refreshed] = await refreshedStacks(stack === undefined ? [] : [stack], {
      withSecrets: false,
      waitSeconds: wait,
    });
    // One stack is asked, so one answers.
    const folder = process.cwd();
    const result = await acceptDrift(refreshed as RefreshedStack, {
      ...flags,
      names,
      ignored,
      folder,
      planned: (urns) => plannedArguments(pulumiIn(folder, stack), urns),
      others: (own) => stacksBeside(folder, own),
    });
    const isDelivered = await deliver(render(result, format), { out, summary: summary(result) });
    return isDelivered ? exitCode(result) : EXIT_FAILURE;
  } catch (error) {
    // A script gets it in its format, too.
    if (format !== "text") {
      const messages = (error instanceof Error ? error.message : String(error)).split("\n");
      process.stdout.write(render({ ...NOTHING, stack: stack ?? "", dryRun: flags.dryRun === true, messages }, format));
    }
    throw error;
  }
}

export interface Asked extends Pick<AcceptFlags, "dryRun" | "force"> {
  readonly names: readonly string[];
  /** What it covers is skipped, unless it is named. */
  readonly ignored: IgnoreFile;
  /** In the project, or below it. */
  readonly folder: string;
  /** The arguments that the program as it is now gives to resources of the stack. */
  readonly planned: Planned;
  /** The other stacks of the program. */
  readonly others: (own: string) => Promise<readonly string[]>;
}

const NOTHING: Omit<AcceptResult, "stack" | "dryRun"> = {
  accepted: [],
  left: [],
  files: [],
  otherStacks: [],
  patch: "",
  messages: [],
  fingerprint: "",
};

/** @throws as `accept`. */
export async function acceptDrift(
  { resources, state }: RefreshedStack,
  { names, ignored, folder, planned, others, dryRun, force }: Asked,
): Promise<AcceptResult> {
  const chosen = names.length > 0 ? selected(resources, names) : withoutTolerated(resources, ignored, new Date());
  const drift = chosen.flatMap((resource) => resource.drift ?? []);
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
  let targets = changed.map((resource): Target => targetOf(resource, Component.of(resource.urn, state), places, files));
  const unplaced = targets.flatMap(({ place, component, ...child }) => {
    const { kind, name } = component ?? child;
    return place === undefined ? [kind, name] : [];
  });
  const texts = unplaced.length === 0 ? new Map<string, string>() : files.having(unplaced);
  for (const { place } of targets) if (place !== undefined) texts.set(place.file, files.read(place.file));

  const otherStacks = await others(stack);
  let edited: Edited;
  let rewritten: (Rewritten & { readonly before: string })[];
  for (;;) {
    edited = await editProgram(typescript, texts, targets);
    refuseStale(edited);
    rewritten = [...edited.files].map(([name, after]) => {
      return { name, path: files.absolute(name), before: texts.get(name) ?? "", after };
    });
    if (dryRun === true || edited.accepted.length === 0) break;
    if (force !== true) await mustBeInGit(rewritten);
    const disproved = await writtenIfProven(rewritten, edited.accepted, { targets, planned });
    if (disproved.size === 0) break;
    // The others are edited again without them.
    targets = targets.map((target) => (disproved.has(target.urn) ? { ...target, isDisproved: true } : target));
  }
  const byUrn = new Map(changed.map((resource) => [resource.urn, resource]));
  const told = (urn: string, path: string) => {
    const { kind = "ComputeEndpoint", properties = [] } = byUrn.get(urn) ?? {};
    const { declared = null, found = null } = properties.find((property) => property.path === path) ?? {};
    return { kind, declared, found };
  };
  return {
    ...result,
    accepted: edited.accepted.map((one) => ({ ...one, ...told(one.urn, one.path) })),
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
    otherStacks: rewritten.length === 0 ? [] : [...otherStacks],
    patch: rewritten
      .map(({ name, before, after }) =>
        unifiedDiff(name, shownText(typescript, name, before), shownText(typescript, name, after)),
      )
      .join(""),
  };
}

function refuseStale({ told }: Edited): void {
  const stale = told.filter(({ reason }) => reason.startsWith(STALE));
  if (stale.length === 0) return;
  const sentences = stale.map(({ name, file = "", line, reason }) => `"${name}" at ${file}:${String(line)}: ${reason}`);
  throw new Error([...new Set(sentences)].join("\n"));
}

/** What no edit of an argument brings into the program. */
function leftAsWhole({ urn, kind, name, change, properties }: Drifted): LeftProperty[] {
  const left = (reason: string): LeftProperty[] => [
    { urn, kind, name, path: null, declared: null, found: null, file: null, line: null, reason, code: null },
  ];
  if (change === "deleted") {
    return left(
      "it does not exist any more. Remove it from the program and run pulumi up --refresh, or create it again with pulumi up --refresh or pulumi-svc drift --repair",
    );
  }
  if (change === "leftover") return left("a replacement could not delete it: the next pulumi up deletes it");
  return properties.length > 0
    ? []
    : left("no property differs, but a change that pulumi up started is not finished: pulumi up --refresh finishes it");
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
    isDisproved: false,
    changes: properties,
  };
}

async function mustBeInGit(files: readonly Rewritten[]): Promise<void> {
  const problems: string[] = [];
  for (const { name, path } of files) {
    const problem = await notInGit(path);
    if (problem !== undefined) problems.push(`${name} ${problem}`);
  }
  if (problems.length === 0) return;
  const advice = "Nothing was written. Commit first, so that the edit can be undone, or use --force";
  throw new Error(problems.map((problem) => `${problem}. ${advice}`).join("\n"));
}
