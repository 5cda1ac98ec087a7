import { join } from "node:path";
import * as ts from "typescript";

const ROOT = join(__dirname, "..", "..");
/** The file of a user of the package, whose types are the published ones. */
const USER = join(ROOT, "user.ts");

/** An editor that has one file open. */
function editor(): { show: (text: string) => ts.LanguageService } {
  let [content, version] = ["", 0];
  const read = (file: string) => (file === USER ? content : ts.sys.readFile(file));
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    types: [],
  };
  const service = ts.createLanguageService({
    getScriptFileNames: () => [USER],
    getScriptVersion: (file) => (file === USER ? String(version) : "1"),
    getScriptSnapshot: (file) => {
      const text = read(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => ROOT,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (file) => file === USER || ts.sys.fileExists(file),
    readFile: read,
  });
  return {
    show: (text) => {
      [content, version] = [text, version + 1];
      return service;
    },
  };
}

/** One for all tests: it reads dist and the SDK once. */
const { show } = editor();

test("an editor shows the words of every argument and output where a program reads one", () => {
  const begin = 'import * as svc from "./dist/index";\n';
  const program = show(begin).getProgram();
  const file = program?.getSourceFile(join(ROOT, "dist", "index.d.ts"));
  const checker = program?.getTypeChecker();
  if (file === undefined || checker === undefined) throw new Error("dist is missing: run `npm run build` first.");
  const exported = checker.getSymbolAtLocation(file);
  const isOurs = (node: ts.Node) => node.getSourceFile().fileName.startsWith(join(ROOT, "dist"));
  const read: string[] = [];
  for (const one of exported === undefined ? [] : checker.getExportsOfModule(exported)) {
    const symbol = one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one;
    if ((symbol.flags & ts.SymbolFlags.Class) === 0) continue;
    const properties = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol));
    const ours = properties.filter(({ declarations }) => declarations?.some(isOurs));
    read.push(...ours.map(({ name }) => `(undefined as unknown as svc.${one.name}).${name}`));
  }
  // The check is not empty: the arguments and the outputs, one that is both, a union, and a component.
  const named = ["ComputeEndpoint).size", "ComputeEndpoint).host", "ComputeEndpoint).type", "EmailServer).host"];
  for (const name of [...named, "ProjectAuth).integration"]) expect(read.join("\n")).toContain(name);

  const text = `${begin}${read.map((line) => `${line};\n`).join("")}`;
  const service = show(text);
  const silent = read.filter((line) => {
    const info = service.getQuickInfoAtPosition(USER, text.indexOf(`${line};`) + line.length - 1);
    return ts.displayPartsToString(info?.documentation) === "";
  });
  expect(silent).toEqual([]);
});

/** The text at a mark in a user's program, and what an editor offers there. */
function lookAt(program: string): { errors: string[]; offered: string[]; hover: string } {
  const text = `import * as svc from "./dist/index";\n${program.replace("|", "")}`;
  const at = text.length - (program.length - 1 - program.indexOf("|"));
  const service = show(text);
  const errors = service
    .getSemanticDiagnostics(USER)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
  const offered = service.getCompletionsAtPosition(USER, at, {})?.entries.map(({ name }) => name) ?? [];
  return { errors, offered, hover: ts.displayPartsToString(service.getQuickInfoAtPosition(USER, at)?.displayParts) };
}

test.each([
  ["ComputeEndpoint", '{ projectId: "p", branchId: "b", sise: 1 }'],
  ["ComputeEndpoint", '{ projectId: "p" }'],
  ["Whitelist", '{ projectId: "p" }'],
  ["AuthUser", '{ projectId: "p" }'],
  ["AuthIntegration", "{}"],
  ["OAuthProvider", '{ projectId: "p", providerId: "google", clientId: "x" }'],
  ["EmailServer", '{ projectId: "p", type: "standard" }'],
])("an error of new %s(…, %s) names its arguments as a reader knows them", (kind, args) => {
  const { errors, hover } = lookAt(`new svc.${kind.slice(0, 3)}|${kind.slice(3)}("x", ${args});`);
  expect(errors.join("\n")).toContain(`${kind}Args`);
  expect([...errors, hover].join("\n")).not.toMatch(/ArgumentsOf|Shape/);
  expect(hover).toContain(`args: svc.${kind}Args`);
});

test("an editor offers the sizes of today and the known OAuth providers", () => {
  const compute = 'new svc.ComputeEndpoint("x", { projectId: "p", branchId: "b", size: ';
  expect(lookAt(`${compute}| });`).offered).toEqual(expect.arrayContaining(["0.25", "16", "18", "56"]));
  const limits = lookAt(`${compute}{ min: 1, max: | } });`).offered;
  expect(limits).toContain("16");
  expect(limits).not.toContain("18");
  const provider = 'new svc.OAuthProvider("x", { projectId: "p", providerId: "|" });';
  expect(lookAt(provider).offered).toEqual(expect.arrayContaining(["google", "github", "microsoft"]));
  const auth = 'new svc.ProjectAuth("x", { projectId: "p", oauth: { | } });';
  expect(lookAt(auth).offered).toEqual(expect.arrayContaining(["google", "github", "microsoft"]));
});
