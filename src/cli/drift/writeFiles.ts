import { randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";

export interface Rewritten {
  readonly name: string;
  /** Not a symbolic link. */
  readonly path: string;
  /** Undefined if the file does not exist yet. */
  readonly before: string | undefined;
  readonly after: string;
}

/**
 * Writes all files or none. Each text is written to a file beside its target, which it then replaces, with the same
 * mode.
 * @throws if a file was changed meanwhile or cannot be written.
 */
export function writeFiles(files: readonly Rewritten[]): void {
  const drafts: string[] = [];
  const draft = (path: string, text: string): string => {
    const file = `${path}.${randomBytes(6).toString("hex")}.tmp`;
    drafts.push(file);
    writeFileSync(file, text, { flag: "wx" });
    if (existsSync(path)) chmodSync(file, statSync(path).mode);
    return file;
  };
  const replaced: Rewritten[] = [];
  try {
    const steps = files.map((file) => ({ file, draft: attempt(file, () => draft(file.path, file.after)) }));
    for (const file of files) attempt(file, () => unchanged(file));
    for (const step of steps) {
      attempt(step.file, () => renameSync(step.draft, step.file.path));
      replaced.push(step.file);
    }
  } catch (error) {
    for (const { path, before } of replaced) {
      if (before === undefined) rmSync(path);
      else renameSync(draft(path, before), path);
    }
    throw error;
  } finally {
    for (const file of drafts) rmSync(file, { force: true });
  }
}

function unchanged({ path, before }: Rewritten): void {
  // A rename does not check whether the file is writable.
  if (before !== undefined) accessSync(path, constants.W_OK);
  if ((existsSync(path) ? readFileSync(path, "utf8") : undefined) !== before)
    throw new Error("it changed while the command ran. Run it again");
}

function attempt<Result>({ name }: Rewritten, step: () => Result): Result {
  try {
    return step();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // of Node, or ours above
    throw new Error(`${name} could not be written: ${code ?? message}. No file was changed`, { cause: error });
  }
}
