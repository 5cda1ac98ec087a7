import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import type { EmulatorOptions } from "../../src/emulator";
import { ROOT } from "./cli";
import { Stack, type StackOptions } from "./Stack";

/** A stack whose program is the file in examples/, without its types, which `npm run check` checks. */
export function exampleStack(
  name: string,
  emulator: EmulatorOptions = {},
  { configured = true, ownProcess = false }: Pick<StackOptions, "configured" | "ownProcess"> = {},
): Promise<Stack> {
  return typeScriptStack(readFileSync(join(ROOT, "examples", name, "index.ts"), "utf8"), {
    emulator,
    configured,
    ownProcess,
  });
}

/** A stack whose program is the one in the README. */
export function readmeStack(): Promise<Stack> {
  const [, program] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
  if (program === undefined) throw new Error("README.md shows no TypeScript program");
  return typeScriptStack(program);
}

async function typeScriptStack(source: string, options: Omit<StackOptions, "program"> = {}): Promise<Stack> {
  const stack = await Stack.create({ ...options, program: "" });
  const compilerOptions = { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022, esModuleInterop: true };
  stack.write("index.js", transpileModule(source, { compilerOptions }).outputText);
  return stack;
}
