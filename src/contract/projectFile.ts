/** Finds the Pulumi project: with `main`, Pulumi.yaml is above the folder that a program and its provider run in. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The project file in `start` or in a folder above. */
export function projectFile(start: string): string | undefined {
  const folder = resolve(start);
  const file = ["Pulumi.yaml", "Pulumi.yml"].map((name) => join(folder, name)).find(existsSync);
  if (file !== undefined || folder === dirname(folder)) return file;
  return projectFile(dirname(folder));
}

/** The folder of that file; undefined if there is none. */
export function projectFolder(start: string): string | undefined {
  const file = projectFile(start);
  return file === undefined ? undefined : dirname(file);
}
