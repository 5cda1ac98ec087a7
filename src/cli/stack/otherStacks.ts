import { readdirSync } from "node:fs";
import { z } from "zod";
import { projectFolder } from "../../contract/projectFile";
import { compareText } from "../output";
import { pulumiIn } from "./pulumi";

const listed = z.array(z.object({ name: z.string() }));

/**
 * The names of the program's other stacks: those that the backend lists, and those that have a file beside Pulumi.yaml,
 * because they may be in another backend.
 */
export async function otherStacks(folder: string, own: string): Promise<string[]> {
  const { ok, stdout } = await pulumiIn(folder, undefined)(["stack", "ls", "--json"]);
  const { data: inBackend = [] } = listed.safeParse(ok ? JSON.parse(stdout) : []);
  const project = projectFolder(folder);
  const files = project === undefined ? [] : readdirSync(project);
  const configured = files.flatMap((file) => /^Pulumi\.(.+)\.ya?ml$/.exec(file)?.[1] ?? []);
  // The same stack may be listed with and without its organization.
  const byName = new Map([...configured, ...inBackend.map(({ name }) => name)].map((name) => [shortName(name), name]));
  byName.delete(own);
  return [...byName.values()].toSorted(compareText);
}

const shortName = (name: string): string => name.split("/").at(-1) ?? "";
