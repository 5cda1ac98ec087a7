/** Finds the Pulumi project: with `main`, Pulumi.yaml is above the folder that a program and its provider run in. */
import { existsSync, readFileSync, statSync } from "node:fs";
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

/** The path in `main` of the Pulumi.yaml around `start`, otherwise its folder. */
export function mainOf(start: string): string | undefined {
  const file = projectFile(start);
  if (file === undefined) return undefined;
  const [, main = "."] = /^main:[ \t]*["']?([^"'#\r\n]+?)["']?[ \t]*(?:#.*)?$/m.exec(readFileSync(file, "utf8")) ?? [];
  return resolve(dirname(file), main);
}

export const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** The folder that the program around `start` runs in; undefined without a Pulumi.yaml there or above. */
export function programFolder(start: string): string | undefined {
  const main = mainOf(start);
  return main !== undefined && isFile(main) ? dirname(main) : main;
}
