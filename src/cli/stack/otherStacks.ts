import { readdirSync } from "node:fs";
import { projectFolder } from "../../contract/projectFile";
import { compareText } from "../output";
import { stackNames } from "./stackNames";

/**
 * The names of the program's other stacks: those that the backend lists, and those that have a file beside Pulumi.yaml,
 * because they may be in another backend.
 * @throws if the backend does not list its stacks.
 */
export async function otherStacks(folder: string, own: string): Promise<string[]> {
  const inBackend = await stackNames(folder);
  const project = projectFolder(folder);
  const files = project === undefined ? [] : readdirSync(project);
  const configured = files.flatMap((file) => /^Pulumi\.(.+)\.ya?ml$/.exec(file)?.[1] ?? []);
  // The same stack may be listed with and without its organization.
  const byName = new Map([...configured, ...inBackend].map((name) => [shortName(name), name]));
  byName.delete(own);
  return [...byName.values()].toSorted(compareText);
}

const shortName = (name: string): string => name.split("/").at(-1) ?? "";
