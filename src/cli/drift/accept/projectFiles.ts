import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isUtf8 } from "node:buffer";
import { compareText } from "../../output";
import type { TypeScript } from "./programFile";

const SOURCE = /(?<!\.d)\.(?:[mc]?[jt]s|[jt]sx)$/;
/** Folders with the output of compilers and test runs, besides the output folder in tsconfig.json. */
const WRITTEN = new Set(["node_modules", "dist", "build", "out", "coverage"]);

/** A test declares resources like a program, but is not one. */
const TEST = /\.(test|spec)\.(?:[mc]?[jt]s|[jt]sx)$/;

/** The compiler of the program. @throws an error that says how to install it if there is none. */
export function typeScriptOf(program: string): TypeScript {
  const found = loaded(program);
  if (typeof found?.createProgram === "function") return found;
  const what = found === undefined ? "TypeScript is missing" : `TypeScript ${found.version} has no API to parse a file`;
  throw new Error(
    `${what}, and the program is parsed with it. Run npm install --save-dev typescript@5 in the folder of the program`,
  );
}

function loaded(program: string): TypeScript | undefined {
  try {
    // The functions may be missing: each is checked before it is called.
    return createRequire(join(program, "_"))("typescript") as TypeScript;
  } catch {
    return undefined;
  }
}

/** The files of a project, by path relative to its folder. */
export class ProjectFiles {
  readonly #root: string;
  readonly #output: string | undefined;

  /** `project`: the folder of Pulumi.yaml; `program`: the folder that it runs. */
  constructor(
    project: string,
    readonly program: string,
    typescript: TypeScript,
  ) {
    this.#root = realpathSync(project);
    this.#output = outputFolder(program, typescript) ?? outputFolder(project, typescript);
  }

  absolute(name: string): string {
    return resolve(this.#root, name);
  }

  /**
   * The name of a file in the state; undefined if it does not exist here or is a compiler's output: then the source
   * must be searched.
   * @throws for a file outside the project.
   */
  named(path: string): string | undefined {
    if (!existsSync(path)) return undefined;
    const name = relative(this.#root, realpathSync(path));
    if (name === ".." || name.startsWith(`..${sep}`) || isAbsolute(name)) {
      throw new Error(
        `${name} is outside the folder of the project, and is not edited. Change it by hand, or name the resources that are declared elsewhere`,
      );
    }
    return this.#isWritten(name) || !SOURCE.test(name) ? undefined : name;
  }

  /** @throws if the file cannot be read or is not UTF-8. */
  read(name: string): string {
    const bytes = readFileSync(this.absolute(name));
    // In another encoding, unedited parts would change as well.
    if (!isUtf8(bytes)) throw new Error(`${name} is not a UTF-8 file. Convert it, or edit it by hand`);
    return bytes.toString("utf8");
  }

  /** The program's files that contain one of these words, with their texts. Links are not followed. */
  having(words: readonly string[]): Map<string, string> {
    const found = new Map<string, string>();
    const look = (folder: string): void => {
      const entries = readdirSync(folder, { withFileTypes: true });
      // The program of another project in a subfolder.
      if (folder !== this.#root && entries.some(({ name }) => /^Pulumi\.ya?ml$/.test(name))) return;
      for (const entry of entries.toSorted((left, right) => compareText(left.name, right.name))) {
        const path = join(folder, entry.name);
        const name = relative(this.#root, path);
        if (entry.name.startsWith(".") || entry.name === "__tests__" || this.#isWritten(name)) continue;
        if (entry.isDirectory()) look(path);
        if (!entry.isFile() || !SOURCE.test(entry.name) || TEST.test(entry.name)) continue;
        const text = readFileSync(path);
        if (words.some((word) => text.includes(word))) found.set(name, this.read(name));
      }
    };
    // The source of a compiled program is elsewhere in the project.
    const start = existsSync(this.program) ? realpathSync(this.program) : this.#root;
    look(this.#isWritten(relative(this.#root, start)) ? this.#root : start);
    return found;
  }

  #isWritten(name: string): boolean {
    if (name.split(sep).some((part) => WRITTEN.has(part))) return true;
    return this.#output !== undefined && `${this.absolute(name)}${sep}`.startsWith(this.#output + sep);
  }
}

/** The compiler's output folder, if tsconfig.json sets one that contains nothing else. */
function outputFolder(folder: string, typescript: TypeScript): string | undefined {
  const file = join(folder, "tsconfig.json");
  if (!existsSync(file)) return undefined;
  const { config } = typescript.readConfigFile(file, typescript.sys.readFile) as { config?: object };
  // Skips the list of files, which is not needed and slow.
  const host = { ...typescript.sys, readDirectory: () => [] };
  const { outDir } = typescript.parseJsonConfigFileContent(config ?? {}, host, folder).options;
  if (outDir === undefined || !existsSync(outDir)) return undefined;
  const output = realpathSync(outDir);
  return output === realpathSync(folder) ? undefined : output;
}
