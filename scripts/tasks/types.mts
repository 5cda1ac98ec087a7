/**
 * Checks the types of projects in one process: `node types.mts <tsconfig.json> …`. Prints what `tsc` would print of each,
 * and ends with 1 if one has an error.
 */
import { resolve } from "node:path";
import ts from "typescript";
import { EXIT } from "../lib/console.mjs";

/**
 * By name and module format. The declarations of packages are most of what a small project reads, so they are parsed
 * once for all projects, as by `tsc -b`. That would leave a file beside each tsconfig.json.
 */
const declarations = new Map<string, ts.SourceFile | undefined>();

function problemsOf(project: string): readonly ts.Diagnostic[] {
  const unreadable: ts.Diagnostic[] = [];
  const onUnRecoverableConfigFileDiagnostic = (problem: ts.Diagnostic) => unreadable.push(problem);
  const parser = { ...ts.sys, onUnRecoverableConfigFileDiagnostic };
  const config = ts.getParsedCommandLineOfConfigFile(resolve(project), { noEmit: true }, parser);
  if (config === undefined) return unreadable;
  const host = ts.createCompilerHost(config.options);
  const { getSourceFile } = host;
  host.getSourceFile = (file, how, ...rest) => {
    if (!/\.d\.[cm]?ts$/.test(file)) return getSourceFile(file, how, ...rest);
    const key = `${file} ${typeof how === "object" ? how.impliedNodeFormat : ""}`;
    if (!declarations.has(key)) declarations.set(key, getSourceFile(file, how, ...rest));
    return declarations.get(key);
  };
  const { fileNames, options, errors } = config;
  const program = ts.createProgram({ rootNames: fileNames, options, host, configFileParsingDiagnostics: errors });
  return ts.getPreEmitDiagnostics(program);
}

const problems = process.argv.slice(2).flatMap(problemsOf);
process.stdout.write(
  ts.formatDiagnostics(problems, {
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getCanonicalFileName: (name) => name,
    getNewLine: () => "\n",
  }),
);
process.exitCode = problems.length === 0 ? EXIT.good : EXIT.failed;
