import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type * as ts from "typescript";
import { ROOT } from "../support/cli";
import { codeBlocks } from "../support/codeBlocks";

jest.setTimeout(120_000); // Two programs of a compiler, each with the SDK's types.

const sdk = dirname(require.resolve("@pulumi/pulumi/package.json"));
/** The compiler that the Pulumi SDK uses for a program without its own TypeScript. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- There are no types of it; what is used here is the same today.
const old = require(join(sdk, "vendor", "typescript@3.8.3", "typescript.js")) as typeof ts;

/** The compiler's words on a program, and on the declarations of this package that it reads. */
function problemsIn(text: string): string[] {
  const name = join(ROOT, "program.ts");
  const options: ts.CompilerOptions = {
    target: old.ScriptTarget.ES2020,
    module: old.ModuleKind.CommonJS,
    moduleResolution: old.ModuleResolutionKind.NodeJs,
    strict: true,
    noEmit: true,
    types: [],
    baseUrl: ROOT,
    paths: { "pulumi-svc": ["dist/index.d.ts"] },
  };
  const host = old.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => file === name || fileExists(file);
  host.readFile = (file) => (file === name ? text : readFile(file));
  host.getSourceFile = (file, ...rest) =>
    file === name ? old.createSourceFile(file, text, old.ScriptTarget.ES2020) : getSourceFile(file, ...rest);
  const program = old.createProgram([name], options, host);
  const ours = program.getSourceFiles().filter(({ fileName }) => {
    return fileName === name || fileName.startsWith(join(ROOT, "dist"));
  });
  return ours.flatMap((file) =>
    old.getPreEmitDiagnostics(program, file).map(({ start = 0, messageText }) => {
      const line = file.getLineAndCharacterOfPosition(start).line + 1;
      return `${file.fileName.slice(ROOT.length + 1)}:${line}: ${old.flattenDiagnosticMessageText(messageText, "\n")}`;
    }),
  );
}

test("the compiler that the Pulumi SDK brings along reads the types of this package, and finds what is wrong", () => {
  expect(old.version).toBe("3.8.3");
  expect(existsSync(join(ROOT, "dist", "index.d.ts"))).toBe(true);
  const [readme] = codeBlocks("README.md").filter(({ language }) => language === "ts");
  expect(problemsIn(readme?.text ?? "")).toEqual([]);
  const wrong = 'import * as svc from "pulumi-svc";\nnew svc.ComputeEndpoint("a", { projectId: 1, branchId: "b" });\n';
  expect(problemsIn(wrong)).toEqual(["program.ts:2: Type 'number' is not assignable to type 'Input<string>'."]);
});
