import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { projectFile, projectFolder } from "../../contract/projectFile";

/** What Pulumi.yaml says; nothing where there is none. `folder` may be the one that its `main` names. */
export function projectText(folder: string): string {
  const file = projectFile(folder);
  return file === undefined ? "" : readFileSync(file, "utf8");
}

/** What Pulumi.yaml calls the project around `folder`; nothing where there is none. */
export function projectName(folder: string): string {
  return /^name:[ \t]*["']?([\w.-]+)/m.exec(projectText(folder))?.[1] ?? "";
}

/** The folder that the program around `start` runs in; undefined without a Pulumi.yaml there or above. */
export function programFolder(start: string): string | undefined {
  const main = mainOf(start);
  return main !== undefined && isFile(main) ? dirname(main) : main;
}

/**
 * The file in which the program around `start` begins, as the SDK finds it: also one that `main` of Pulumi.yaml names and that is
 * still to be written. Undefined where there is none.
 */
export function entryPoint(start: string): string | undefined {
  const main = mainOf(start);
  if (main === undefined || isFile(main) || /\.[cm]?[jt]s$/.test(main)) return main;
  const { main: named } = packageOf(main);
  const names = [...(typeof named === "string" ? [named] : []), ...INDEX_FILES];
  return names.map((name) => resolve(main, name)).find(isFile);
}

const INDEX_FILES = ["index.js", "index.mjs", "index.cjs", "index.ts", "index.mts", "index.cts"];

/** Whether Node loads a file of JavaScript, or what a file of TypeScript is compiled to, as an ES module. */
export function isModule(file: string): boolean {
  return /\.m[jt]s$/.test(file) || (!/\.c[jt]s$/.test(file) && packageOf(dirname(resolve(file))).type === "module");
}

/** What the package around a folder says; nothing where there is none. */
function packageOf(folder: string): { readonly main?: unknown; readonly type?: unknown } {
  const file = join(folder, "package.json");
  if (!isFile(file)) return folder === dirname(folder) ? {} : packageOf(dirname(folder));
  try {
    // Each property is looked at before it is used.
    return Object(JSON.parse(readFileSync(file, "utf8"))) as object;
  } catch {
    return {};
  }
}

/** What `main` of the Pulumi.yaml around `start` names, else its folder. */
function mainOf(start: string): string | undefined {
  const file = projectFile(start);
  if (file === undefined) return undefined;
  const [, main = "."] = /^main:[ \t]*["']?([^"'#\r\n]+?)["']?[ \t]*(?:#.*)?$/m.exec(readFileSync(file, "utf8")) ?? [];
  return resolve(dirname(file), main);
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/**
 * Where the provider's process begins a relative path, for a command that runs in `folder`: it looks for the project from the
 * folder of the program.
 */
export function startOfPaths(folder: string): string {
  const program = programFolder(folder) ?? folder;
  return projectFolder(program) ?? program;
}
