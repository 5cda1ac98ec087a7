import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The project file around `folder`: there or in a folder above. */
function projectFile(folder: string): string | undefined {
  const file = ["Pulumi.yaml", "Pulumi.yml"].map((name) => join(folder, name)).find(existsSync);
  if (file !== undefined || folder === dirname(folder)) return file;
  return projectFile(dirname(folder));
}

/** The folder of the Pulumi.yaml around `start`; undefined where there is none. */
export function projectFolder(start: string): string | undefined {
  const file = projectFile(resolve(start));
  return file === undefined ? undefined : dirname(file);
}

/** What Pulumi.yaml says; nothing where there is none. `folder` may be the one that its `main` names. */
export function projectText(folder: string): string {
  const file = projectFile(resolve(folder));
  return file === undefined ? "" : readFileSync(file, "utf8");
}

/** The folder that the program around `start` runs in; undefined without a Pulumi.yaml there or above. */
export function programFolder(start: string): string | undefined {
  const file = projectFile(resolve(start));
  if (file === undefined) return undefined;
  const [, main = "."] = /^main:[ \t]*["']?([^"'#\r\n]+?)["']?[ \t]*(?:#.*)?$/m.exec(readFileSync(file, "utf8")) ?? [];
  const entry = resolve(dirname(file), main);
  return existsSync(entry) && statSync(entry).isFile() ? dirname(entry) : entry;
}
