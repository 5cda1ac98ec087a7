import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "./cli";

/** An error or warning of the compiler. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/**
 * The compiler's diagnostics for modules, by path, using the sources of this package, so that no build is needed.
 * `options`: in addition to those of a strict program.
 */
export function problemsOf(files: ReadonlyMap<string, string>, options: ts.CompilerOptions = {}): Problem[] {
  const all: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    moduleDetection: ts.ModuleDetectionKind.Force,
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: ["node", "jest"],
    ...options,
    paths: {
      "pulumi-svc": [join(ROOT, "src", "index.ts")],
      "pulumi-svc/audit": [join(ROOT, "src", "audit", "rules.ts")],
      "pulumi-svc/emulator": [join(ROOT, "src", "emulator", "index.ts")],
      ...options.paths,
    },
  };
  const host = ts.createCompilerHost(all);
  const { fileExists, readFile } = host;
  host.getCurrentDirectory = () => ROOT;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  const program = ts.createProgram([...files.keys()], all, host);
  return [...files.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    return ts.getPreEmitDiagnostics(program, source).map(({ start = 0, messageText }) => {
      const line = (source?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
      return { file, line, text: ts.flattenDiagnosticMessageText(messageText, "\n") };
    });
  });
}
