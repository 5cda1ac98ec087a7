import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isFile, mainOf, programFolder, projectFile, projectFolder } from "../../contract/projectFile";

/** The text of Pulumi.yaml; empty if there is none. `folder` may be the one that its `main` names. */
export function projectText(folder: string): string {
  const file = projectFile(folder);
  return file === undefined ? "" : readFileSync(file, "utf8");
}

/** The name of the project around `folder`; empty if there is none. */
export function projectName(folder: string): string {
  return /^name:[ \t]*["']?([\w.-]+)/m.exec(projectText(folder))?.[1] ?? "";
}

/** Whether Pulumi.yaml names the native plugin. */
export const namesPlugin = (folder: string): boolean => NAMES_PLUGIN.some((form) => form.test(projectText(folder)));

/** In `packages`, as a block or on one line, and in `plugins`, the older form. */
const NAMES_PLUGIN = [
  /^packages:[ \t]*(?:#.*)?\r?\n(?:[ \t#].*\r?\n)*?[ \t]+["']?svc["']?[ \t]*:/m,
  /^packages:[ \t]*\{(?:[^}]*[\s,])?["']?svc["']?[ \t]*:/m,
  /^plugins:[ \t]*(?:#.*)?\r?\n(?:[ \t#-].*\r?\n)*?[ \t-]+name:[ \t]*["']?svc["']?[ \t]*(?:#.*)?$/m,
];

/**
 * The entry point of the program around `start`, resolved like the SDK does it, including one named by `main` in
 * Pulumi.yaml that does not exist yet. Undefined if there is none.
 */
export function entryPoint(start: string): string | undefined {
  const main = mainOf(start);
  if (main === undefined || isFile(main) || /\.[cm]?[jt]s$/.test(main)) return main;
  const { main: named } = packageOf(main);
  const names = [...(typeof named === "string" ? [named] : []), ...INDEX_FILES];
  return names.map((name) => resolve(main, name)).find(isFile);
}

const INDEX_FILES = ["index.js", "index.mjs", "index.cjs", "index.ts", "index.mts", "index.cts"];

/** Whether Node loads a JavaScript file, or the compiled form of a TypeScript file, as an ES module. */
export function isModule(file: string): boolean {
  return /\.m[jt]s$/.test(file) || (!/\.c[jt]s$/.test(file) && packageOf(dirname(resolve(file))).type === "module");
}

/** The package.json around a folder; empty if there is none. */
function packageOf(folder: string): { readonly main?: unknown; readonly type?: unknown } {
  const file = join(folder, "package.json");
  if (!isFile(file)) return folder === dirname(folder) ? {} : packageOf(dirname(folder));
  try {
    // Each property is validated before use.
    return Object(JSON.parse(readFileSync(file, "utf8"))) as object;
  } catch {
    return {};
  }
}

/**
 * The folder to which the provider process resolves relative paths, for a command that runs in `folder`: it looks for
 * the project from the folder of the program.
 */
export function startOfPaths(folder: string): string {
  const program = programFolder(folder) ?? folder;
  return projectFolder(program) ?? program;
}
