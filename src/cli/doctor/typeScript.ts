import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { entryPoint, projectText } from "../stack/projectFile";
import { failure, ok, skipped, warning, type Check } from "./check";

/** The parts of the compiler's API used here. TypeScript 7 has none of them. */
interface Compiler {
  readonly version?: string;
  readonly sys?: object;
  readConfigFile?(file: string, read: (file: string) => string): { config?: object; error?: Diagnostic };
  parseJsonConfigFileContent?(json: object, host: object | undefined, folder: string): { errors: Diagnostic[] };
}
interface Diagnostic {
  readonly messageText: string | { readonly messageText: string };
}

const NAME = "TypeScript";
const INSTALL = "Run `npm install --save-dev typescript@5` in the folder of the program.";
const DO_WITHOUT =
  "Or set `typescript: false` in Pulumi.yaml and compile or run the program yourself (docs/toolchains.md).";

/**
 * Which compiler the SDK runs the program with, and whether it supports the options in tsconfig.json. `sdk`: the SDK's
 * folder.
 */
export function typeScriptCheck(folder: string, sdk: string | undefined): Check {
  if (sdk === undefined) return skipped(NAME, "without the Pulumi SDK nothing compiles the program");
  const project = projectText(folder);
  if (/\btypescript:[ \t]*false\b/.test(project)) return skipped(NAME, "Pulumi.yaml says typescript: false");

  // Otherwise the SDK loads the compiler before any program, also before one in JavaScript or with a loader of its own.
  const installed = load(sdk, "typescript");
  if (installed !== undefined && installed.parseJsonConfigFileContent === undefined) {
    const version = installed.version ?? "the installed version";
    return failure(NAME, `${version} has no API that the Pulumi SDK can load`, `${INSTALL} ${DO_WITHOUT}`);
  }
  const entry = entryPoint(folder);
  if (!/\.[cm]?ts$/.test(entry ?? "")) return skipped(NAME, "the program is not in TypeScript");
  const compiler = installed ?? ownCompiler(sdk);
  const version = compiler?.version ?? "of an unknown version";
  const found = installed === undefined ? `none is installed; the Pulumi SDK uses its own, ${version}` : version;
  const [, tsconfig = "tsconfig.json"] = /\btsconfig:[ \t]*["']?([^"'\s#]+)/.exec(project) ?? [];
  const [problem] = compiler === undefined ? [] : problemsOf(compiler, resolve(folder, tsconfig));
  if (problem !== undefined) return failure(NAME, `${found}, which does not accept ${tsconfig}: ${problem}`, INSTALL);
  if (installed !== undefined) return ok(NAME, version);
  return warning(NAME, `${found}, which supports neither current syntax nor current tsconfig.json options`, INSTALL);
}

/** Loads it like the SDK, from the SDK's folder. */
function load(sdk: string, name: string): Compiler | undefined {
  try {
    // The functions may be missing: each is checked before it is called.
    return createRequire(join(sdk, "_"))(name) as Compiler;
  } catch {
    return undefined;
  }
}

/** The SDK's bundled compiler, for programs without their own. */
function ownCompiler(sdk: string): Compiler | undefined {
  const vendor = join(sdk, "vendor");
  const name = existsSync(vendor) ? readdirSync(vendor).find((entry) => entry.startsWith("typescript@")) : undefined;
  return name === undefined ? undefined : load(sdk, `./vendor/${name}/typescript.js`);
}

function problemsOf(compiler: Compiler, tsconfig: string): string[] {
  if (!existsSync(tsconfig)) return [];
  const read = compiler.readConfigFile?.(tsconfig, (file) => readFileSync(file, "utf8"));
  const parsed = read?.config && compiler.parseJsonConfigFileContent?.(read.config, compiler.sys, dirname(tsconfig));
  const errors = [...(read?.error === undefined ? [] : [read.error]), ...(parsed?.errors ?? [])];
  return errors.map(({ messageText: text }) => (typeof text === "string" ? text : text.messageText));
}
