import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import type { EmulatorOptions } from "../../src/emulator";
import { ROOT } from "./cli";
import { Stack } from "./Stack";

/** A stack whose program is the very file of examples/, without its types: they are checked by `npm run check`. */
export async function exampleStack(name: string, emulator: EmulatorOptions = {}): Promise<Stack> {
  const stack = await Stack.create({ program: "", emulator });
  const source = readFileSync(join(ROOT, "examples", name, "index.ts"), "utf8");
  const compilerOptions = { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022, esModuleInterop: true };
  stack.write("index.js", transpileModule(source, { compilerOptions }).outputText);
  return stack;
}
