import { projectFolder } from "../../contract/projectFile";
import { globSource } from "../glob";
import { projectName } from "../stack/projectFile";
import { type Pulumi, pulumiIn } from "../stack/pulumi";
import { stackNames } from "../stack/stackNames";

/** A stack of the backend. */
export interface FleetStack {
  /** As the backend names it, with its organization and project. */
  readonly name: string;
  /** A folder of its program; undefined if no folder of its project is known. */
  readonly folder: string | undefined;
  readonly pulumi: Pulumi;
}

/**
 * The stacks of the programs in these folders; without a folder, all stacks of the backend.
 * @param patterns keeps those that match one of these
 * @throws if a folder or a pattern names none: a check of nothing must not succeed.
 */
export async function fleetStacks(folders: readonly string[], patterns: readonly string[]): Promise<FleetStack[]> {
  const stacks = folders.length === 0 ? await stacksOfBackend() : await stacksOf(folders);
  const unmatched = patterns.filter((pattern) => !stacks.some(({ name }) => matches(pattern, name)));
  if (unmatched.length > 0) throw new Error(unmatched.map((pattern) => `no stack matches "${pattern}"`).join("\n"));
  const chosen = stacks.filter(({ name }) => patterns.length === 0 || patterns.some((one) => matches(one, name)));
  if (chosen.length === 0) throw new Error("the backend has no stack. Log in to the backend that has them");
  return chosen;
}

/** The working directory may be that of one of the programs. */
async function stacksOfBackend(): Promise<FleetStack[]> {
  const folder = process.cwd();
  const own = projectName(folder);
  return (await namesIn(folder, "--all")).map((name) => ({
    name,
    folder: own !== "" && projectIn(name) === own ? folder : undefined,
    pulumi: pulumiIn(folder, name),
  }));
}

async function stacksOf(folders: readonly string[]): Promise<FleetStack[]> {
  const byProject = new Map<string, string>();
  for (const folder of folders) {
    if (projectFolder(folder) === undefined) throw new Error(`${folder} has no Pulumi.yaml in it or above`);
    const project = projectName(folder);
    const other = byProject.get(project);
    // Each would count for the stacks of both.
    if (other !== undefined) throw new Error(`${other} and ${folder} are programs of the same project, ${project}`);
    byProject.set(project, folder);
  }
  const all = await Promise.all(
    folders.map(async (folder) => {
      const names = await namesIn(folder);
      if (names.length === 0) throw new Error(`the backend has no stack of the program in ${folder}`);
      return names.map((name) => ({ name, folder, pulumi: pulumiIn(folder, name) }));
    }),
  );
  return all.flat();
}

const namesIn = (folder: string, ...options: readonly string[]): Promise<string[]> =>
  stackNames(folder, "--fully-qualify-stack-names", ...options);

/** The project in `organization/project/stack`; undefined for a backend without projects. */
const projectIn = (name: string): string | undefined => name.split("/").at(-2);

/** A pattern is a whole name or its end, from a slash on. `*` stands for any text without a slash. */
export function matches(pattern: string, name: string): boolean {
  return new RegExp(`(^|/)${globSource(pattern, "[^/]*")}$`, "s").test(name);
}
