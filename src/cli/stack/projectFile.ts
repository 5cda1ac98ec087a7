import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { projectFile, projectFolder } from "../../contract/projectFile";

/** What Pulumi.yaml says; nothing where there is none. `folder` may be the one that its `main` names. */
export function projectText(folder: string): string {
  const file = projectFile(folder);
  return file === undefined ? "" : readFileSync(file, "utf8");
}

/** The folder that the program around `start` runs in; undefined without a Pulumi.yaml there or above. */
export function programFolder(start: string): string | undefined {
  const file = projectFile(start);
  if (file === undefined) return undefined;
  const [, main = "."] = /^main:[ \t]*["']?([^"'#\r\n]+?)["']?[ \t]*(?:#.*)?$/m.exec(readFileSync(file, "utf8")) ?? [];
  const entry = resolve(dirname(file), main);
  return existsSync(entry) && statSync(entry).isFile() ? dirname(entry) : entry;
}

/**
 * Where the provider's process begins a relative path, for a command that runs in `folder`: it looks for the project from the
 * folder of the program.
 */
export function startOfPaths(folder: string): string {
  const program = programFolder(folder) ?? folder;
  return projectFolder(program) ?? program;
}
